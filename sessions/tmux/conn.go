package tmux

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// request is one command line and its reply. A line has several commands and
// gets a block for each; it ends with its last block, or with the first that
// failed, because tmux drops the rest of a line then.
type request struct {
	line   string
	blocks int                    // how many commands the line has; unused with a token
	token  string                 // the line ends with the block that starts with this word: for lines with if-shell, whose branches reply too
	rows   func(done []block) int // lines of the next block's body, -1: up to the guard; nil: all up to the guard
	done   chan struct{}          // closed when reply and err are set
	reply  []block
	err    error

	written   time.Time // zero: still in the queue. Guarded by conn.mu
	last      bool      // of its write. Guarded by conn.mu
	abandoned bool      // nobody waits any more. Guarded by conn.mu
}

// maxLinesPerWrite bounds how long the server is kept busy at a stretch.
const maxLinesPerWrite = 100

// conn is one connection to a tmux server. Its reader goroutine owns the
// stream; the queue is shared under mu.
type conn struct {
	stdin  *os.File
	parser *parser
	notify func(line string)

	mu       sync.Mutex
	queue    []*request // not written yet
	pressing bool       // one in the queue must be written now
	inflight []*request // written, in the order the replies come
	answered []*request // in full, while others of the same write aren't
	err      error      // set once, when the connection has ended
	wake     chan struct{}
	ended    chan struct{}
	lastOK   time.Time // of the last reply
}

func newConn(stdin *os.File, stdout io.Reader, notify func(string)) *conn {
	return &conn{
		stdin: stdin, parser: newParser(stdout), notify: notify,
		wake: make(chan struct{}, 1), ended: make(chan struct{}),
	}
}

// run reads and writes until the stream ends. It returns what ended it.
func (c *conn) run() error {
	writerDone := make(chan struct{})
	go func() {
		defer close(writerDone)
		c.write()
	}()
	err := c.read()
	c.fail(err)
	_ = c.stdin.Close() // frees a writer that's blocked on a stopped server
	<-writerDone
	return err
}

// fail ends the connection: every request gets err.
func (c *conn) fail(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return
	}
	c.err = err
	close(c.ended)
	c.handOut()
	for _, r := range c.inflight {
		r.err = fmt.Errorf("ask tmux: %w (%w): %w", sessions.ErrUnavailable, sessions.ErrUncertain, err)
		close(r.done)
	}
	for _, r := range c.queue {
		r.err = fmt.Errorf("%w: %w", errNotSent, err)
		close(r.done)
	}
	c.inflight, c.queue = nil, nil
}

// do sends a request and waits for its reply. When ctx ends first, a request
// that is still in the queue is withdrawn (errNotSent); one that was written
// runs all the same, and its reply is thrown away.
func (c *conn) do(ctx context.Context, r *request) ([]block, error) {
	r.done = make(chan struct{})
	if err := c.enqueue(r); err != nil {
		return nil, err
	}
	return c.wait(ctx, r)
}

// wait is the second half of do.
func (c *conn) wait(ctx context.Context, r *request) ([]block, error) {
	select {
	case <-r.done:
		return r.reply, r.err
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	select {
	case <-r.done:
		return r.reply, r.err
	default:
	}
	if slices.Contains(c.answered, r) {
		return r.reply, r.err
	}
	r.abandoned = true
	if r.written.IsZero() {
		return nil, fmt.Errorf("%w: %w", errNotSent, ctx.Err())
	}
	return nil, fmt.Errorf("wait for tmux: %w: %w", sessions.ErrUncertain, ctx.Err())
}

// errNotSent: the command line never reached tmux.
var errNotSent = fmt.Errorf("%w: tmux takes no commands at the moment; nothing was sent", sessions.ErrUnavailable)

// enqueue adds a request and has it written.
func (c *conn) enqueue(r *request) error {
	if err := c.add(r, true); err != nil {
		return err
	}
	select {
	case c.wake <- struct{}{}:
	default:
	}
	return nil
}

// addQuietly adds a request that's written together with the next.
func (c *conn) addQuietly(r *request) error { return c.add(r, false) }

func (c *conn) add(r *request, pressing bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return fmt.Errorf("%w: %w", errNotSent, c.err)
	}
	c.queue = append(c.queue, r)
	c.pressing = c.pressing || pressing
	return nil
}

// write sends what is queued, many lines in one write. It lets others run first:
// who was woken by the same look asks in the same moment. One write is answered
// in one burst, and each wake-up saved, here and of the tmux server, which walks
// all its windows then, is worth more than a capture.
func (c *conn) write() {
	for {
		select {
		case <-c.wake:
		case <-c.ended:
			return
		}
		runtime.Gosched()
		for batch := c.take(); batch != ""; batch = c.take() {
			if _, err := io.WriteString(c.stdin, batch); err != nil {
				c.fail(fmt.Errorf("write to tmux: %w", err))
				return
			}
		}
	}
}

// take moves queued requests to those in flight and returns their lines.
func (c *conn) take() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.pressing {
		return ""
	}
	var b strings.Builder
	now := time.Now()
	n := 0
	for _, r := range c.queue {
		if n == maxLinesPerWrite {
			break
		}
		c.queue = c.queue[1:]
		if r.abandoned {
			continue
		}
		r.written = now
		c.inflight = append(c.inflight, r)
		b.WriteString(r.line)
		b.WriteByte('\n')
		n++
	}
	c.pressing = len(c.queue) > 0
	if n > 0 {
		c.inflight[len(c.inflight)-1].last = true
	}
	return b.String()
}

// read hands replies to their requests until the stream ends.
func (c *conn) read() error {
	for {
		b, note, err := c.parser.next(c.expectedRows)
		if err != nil {
			if errors.Is(err, io.EOF) {
				return errServerGone
			}
			return err
		}
		switch {
		case b == nil:
			if note == "%exit" || strings.HasPrefix(note, "%exit ") {
				return errServerGone
			}
			c.notify(note)
		case b.ours:
			if err := c.deliver(*b); err != nil {
				return err
			}
		}
	}
}

// errServerGone: the tmux server ended, or threw this client out.
var errServerGone = errors.New("the tmux server has ended the connection")

func (c *conn) head() *request {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.inflight) == 0 {
		return nil
	}
	return c.inflight[0]
}

func (c *conn) expectedRows() int {
	r := c.head()
	if r == nil || r.rows == nil {
		return -1
	}
	return r.rows(r.reply)
}

// deliver adds a block to the request at the head and closes it if that was its
// last.
func (c *conn) deliver(b block) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.err != nil {
		return c.err
	}
	if len(c.inflight) == 0 {
		return fmt.Errorf("%w: a reply nobody asked for", errProtocol)
	}
	r := c.inflight[0]
	r.reply = append(r.reply, b)
	if b.failed {
		r.err = &CommandError{Message: strings.Join(b.lines, " ")}
	}
	if b.failed || r.complete(b) {
		c.inflight = c.inflight[1:]
		c.lastOK = time.Now()
		if c.answered = append(c.answered, r); r.last {
			c.handOut()
		}
	}
	return nil
}

// handOut hands out the replies to one write, all at once: what their pollers do
// next they do together too, and what they bring becomes one commit.
func (c *conn) handOut() {
	for _, r := range c.answered {
		close(r.done)
	}
	clear(c.answered)
	c.answered = c.answered[:0]
}

func (r *request) complete(b block) bool {
	if r.token != "" {
		return len(b.lines) > 0 && strings.HasPrefix(b.lines[0], r.token)
	}
	return len(r.reply) >= r.blocks
}

// waiting returns since when the oldest written request has been unanswered.
func (c *conn) waiting() (since time.Time, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.inflight) == 0 {
		return time.Time{}, false
	}
	return c.inflight[0].written, true
}

// CommandError is tmux's own refusal of a command.
type CommandError struct{ Message string }

func (e *CommandError) Error() string { return "tmux: " + e.Message }
