package store

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
)

// What one transaction takes at most; the rest of the queue gets the next one.
// 5000 rows commit in about 16 ms (BenchmarkCatchUp, two cores), which is what anybody may have to wait
// behind a session that catches up.
const (
	maxBatchRequests = 256
	maxBatchRows     = 5000
)

// errInterrupted is what a request fails with whose leader panicked.
var errInterrupted = errors.New("interrupted by a panic in another write")

// writeRequest is one caller's write.
type writeRequest struct {
	rows    int                             // about how many rows it writes
	apply   func(ctx context.Context) error // writes, within a transaction; called again when that was rolled back
	durable bool                            // see durable.go
	alone   bool                            // apply is to run outside of transactions, and beside no other
	err     error
	leader  bool      // asked to commit the next batch, of which it is the first
	woken   chan bool // true: lead; false: done, and err is valid
}

// queue is the group commit: see the package comment. At most one goroutine at
// a time is the leader; only the leader calls commit.
type queue struct {
	commit func(ctx context.Context, batch []*writeRequest) // sets err of each

	mu      sync.Mutex
	waiting []*writeRequest
	leading bool // somebody commits, or was asked to
	closed  bool
	idle    sync.Cond // leading has become false
}

func newQueue(commit func(ctx context.Context, batch []*writeRequest)) *queue {
	q := &queue{commit: commit}
	q.idle.L = &q.mu
	return q
}

// do has apply committed and returns when it is, or has failed. A context that
// ends before a transaction has begun withdraws the request; later it's ignored,
// and do returns what happened.
func (q *queue) do(ctx context.Context, rows int, apply func(ctx context.Context) error) error {
	return q.submit(ctx, &writeRequest{rows: rows, apply: apply})
}

// doAlone is do for what no transaction may be open beside.
func (q *queue) doAlone(ctx context.Context, apply func(ctx context.Context) error) error {
	return q.submit(ctx, &writeRequest{apply: apply, alone: true})
}

// submit does the work of do.
func (q *queue) submit(ctx context.Context, r *writeRequest) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r.woken = make(chan bool, 1)
	lead, err := q.enter(r)
	if err != nil {
		return err
	}
	if lead {
		runtime.Gosched() // who was woken with this one and is about to write too comes into the same batch
	} else {
		lead = q.wait(ctx, r)
	}
	if lead {
		// The batch is others' too. And a context that can't end costs SQLite's
		// driver no goroutine per statement.
		q.lead(context.WithoutCancel(ctx))
	}
	return r.err
}

func (q *queue) enter(r *writeRequest) (lead bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false, ErrClosed
	}
	q.waiting = append(q.waiting, r)
	lead = !q.leading
	q.leading = true
	return lead, nil
}

// wait returns true if r has to lead, false if r.err is valid.
func (q *queue) wait(ctx context.Context, r *writeRequest) (lead bool) {
	select {
	case lead = <-r.woken:
		return lead
	case <-ctx.Done():
	}
	if q.withdraw(r) {
		r.err = ctx.Err()
		return false
	}
	return <-r.woken
}

// withdraw takes r out of the queue unless its transaction has begun, or it
// has to lead.
func (q *queue) withdraw(r *writeRequest) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	i := slices.Index(q.waiting, r)
	if i < 0 || r.leader {
		return false
	}
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return true
}

// lead commits one batch, the first of which is the caller's own request, and
// hands over. It leads once only: under steady load a caller would otherwise
// never get away.
func (q *queue) lead(ctx context.Context) {
	batch := q.take()
	defer q.handOver(batch) // deferred: should commit panic, nobody may wait for ever
	q.commit(ctx, batch)
}

func (q *queue) take() []*writeRequest {
	q.mu.Lock()
	defer q.mu.Unlock()
	n, rows := 0, 0
	for n < len(q.waiting) && n < maxBatchRequests && (n == 0 || rows+q.waiting[n].rows <= maxBatchRows) {
		rows += q.waiting[n].rows
		q.waiting[n].err = errInterrupted
		if n++; q.waiting[n-1].alone || n < len(q.waiting) && q.waiting[n].alone {
			break
		}
	}
	batch := q.waiting[:n:n]
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil // let go of the array
	}
	return batch
}

// handOver lets the next leader begin, then tells the batch's callers.
func (q *queue) handOver(batch []*writeRequest) {
	q.mu.Lock()
	if len(q.waiting) > 0 {
		q.waiting[0].leader = true
		q.waiting[0].woken <- true
	} else {
		q.leading = false
		q.idle.Broadcast()
	}
	q.mu.Unlock()
	for _, r := range batch[1:] {
		r.woken <- false
	}
}

// drain refuses new requests and waits for those that are queued.
func (q *queue) drain() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for q.leading {
		q.idle.Wait()
	}
}

// Most of what's written here tells about this machine, and a power loss that
// takes back the last moments takes them back from tmux, too. Two things tell what
// a chat platform has seen, and it forgets nothing: the slot of a call and the
// intent to make it. They must be on the disk before the call goes out, or a
// machine that comes back would send more than a window allows, and the same lines
// again without saying so.
//
// Such a write has its transaction committed with synchronous=FULL: SQLite then
// waits until the write-ahead log is on the disk, and with it all that was committed
// before. The rest of the group waits too, once for all of it; groups without such
// a write don't. Measured (BenchmarkDurable, two cores, an SSD): the commit takes
// 0.6 ms instead of 0.06, and output that comes at the same moment waits 0.24 ms
// instead of 0.04, 4 ms instead of 1 in one of a hundred cases. A call needs two such
// commits, and a group gets 20 calls a minute. So there's no reason for a second
// file, which would have to be kept in step with this one.

// doDurable is do for what must survive a crash of the machine when it returns.
func (q *queue) doDurable(ctx context.Context, rows int, apply func(ctx context.Context) error) error {
	return q.submit(ctx, &writeRequest{rows: rows, apply: apply, durable: true})
}

// waitForDisk has the next commit wait for the disk if one of its requests needs
// that. It's outside of transactions, where SQLite allows the change. It isn't a
// prepared statement, because it takes effect when it's compiled.
func (w *writeConn) waitForDisk(ctx context.Context, batch []*writeRequest) error {
	need := slices.ContainsFunc(batch, func(r *writeRequest) bool { return r.durable })
	if need == w.full {
		return nil
	}
	level := "PRAGMA synchronous = NORMAL"
	if need {
		level = "PRAGMA synchronous = FULL"
	}
	if _, err := w.conn.ExecContext(ctx, level); err != nil {
		return err
	}
	w.full = need
	return nil
}
