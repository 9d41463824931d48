package intake

import (
	"container/heap"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// QueueOptions configure a Queue.
type QueueOptions struct {
	Journal Journal
	// Bot is whose updates are kept, where a platform counts each bot's for itself: another bot's may have the same
	// keys. "": keys are alike for all bots.
	Bot string
	// Decode reads an update; false: it's none of our business. It's pure: the same
	// update gives the same event. An error sets the update aside.
	Decode func(raw []byte) (Event, bool, error)
	// Handle does what an event asks for, and returns when that's stored. The same
	// event comes again after an error, a panic or a crash: at once and for as long as
	// it takes if the error wraps sessions.ErrUnavailable, else a few times. An album
	// that was handled may come again with fewer of its files. It's called for several
	// places at a time, and for one place one after the other. It must return soon
	// after ctx ends. What passes others is handled beside them.
	Handle func(ctx context.Context, e Event) error
	// GaveUp hears of events that are set aside, so that somebody can be told; of the
	// same one again after a crash. It must return at once. Nil: nobody is told.
	GaveUp func(e Event)
	Logger *slog.Logger // nil: silent
	// Commands are those that people give. They and buttons pass what their place has been busy with for long, such as a
	// recording that's transcribed: it may be a command to stop. Other events wait for all that came before them.
	Commands []CommandInfo
	// Places is how many are handled at a time; 0: 16.
	Places int
}

const (
	defaultPlaces = 16
	// maxTries of an update that fails: with the rests in between, some two minutes.
	// Later ones of its place have to wait for it.
	maxTries = 8
	// handleFor bounds one call of Handle. The longest thing it does is to fetch ten
	// files of 20 MB, the most that Telegram's bots may fetch; those it has got stay.
	handleFor = 5 * time.Minute
	// maxWaiting bounds the updates that wait. Platforms keep what we don't take
	// (Telegram for 24 h).
	maxWaiting = 20_000
	// scanPage is how many updates are read at a time on start.
	scanPage = 100
	// writeFor bounds a write to the journal when all else ends.
	writeFor = 5 * time.Second
	// Telegram sends an update again for 24 h at most
	// (core.telegram.org/bots/api#getting-updates); a week leaves room for machines
	// that sleep.
	keepKeysFor     = 7 * 24 * time.Hour
	keepKeys        = 100_000
	forgetKeysEvery = time.Hour
)

// ErrTooMany says that no more updates are taken until some that wait have been
// handled.
var ErrTooMany = errors.New("too many updates wait to be handled; they're taken when there are fewer")

// Queue hands the updates of one adapter to Handle: each at least once, those of a
// place in order, places at the same time, and the parts of an album (album.go) as one.
// A place whose first update fails rests for a while; others don't wait for it. It
// holds no content in memory but what's under way.
type Queue struct {
	opts QueueOptions
	log  *slog.Logger

	keeping chan struct{} // holds a token while somebody keeps: numbers must come in order
	woken   chan struct{} // there's something in arrived
	done    chan attempt

	mu      sync.Mutex
	arrived []ticket
	stats   Stats

	// What follows belongs to Run's goroutine.
	order  placeOrder
	newest int64 // the greatest number in order, ever
}

// Stats is what a queue has done since it was made, and what waits.
type Stats struct {
	Waiting    int    // updates that aren't settled
	Failing    int    // places that rest because their first update failed
	Handled    uint64 // updates
	Ignored    uint64 // updates that were none of our business
	SetAside   uint64 // updates that can't be handled
	Failures   uint64 // tries that failed
	Duplicates uint64 // updates that came again
}

// NewQueue makes a queue; Run runs it.
func NewQueue(o QueueOptions) *Queue {
	if o.Places <= 0 {
		o.Places = defaultPlaces
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.GaveUp == nil {
		o.GaveUp = func(Event) {}
	}
	return &Queue{
		opts: o, log: o.Logger,
		keeping: make(chan struct{}, 1), woken: make(chan struct{}, 1), done: make(chan attempt),
		order: newPlaceOrder(),
	}
}

// ticket stands for an update that waits.
type ticket struct {
	seq   int64
	place adapters.Target
	album string    // that it's a part of; "": none
	until time.Time // if so: when other parts aren't waited for any more
	// passesAt is when it needn't wait any longer for what came before it; zero: it has to.
	passesAt time.Time
}

// botEnd is between a bot and what its platform calls an update.
const botEnd = ":"

// UpdateKey returns the journal's key of an update of a bot; key is the platform's. See QueueOptions.Bot.
func UpdateKey(bot, key string) string {
	if bot == "" {
		return key
	}
	return bot + botEnd + key
}

// Keep stores updates durably and has them handled. When it returns nil the platform may be told that they
// have come. It does disk I/O. It may be called at any time, and again with the same updates.
func (q *Queue) Keep(ctx context.Context, updates []Update) error {
	select {
	case q.keeping <- struct{}{}:
		defer func() { <-q.keeping }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if q.Stats().Waiting >= maxWaiting {
		return fmt.Errorf("keep %d updates: %w", len(updates), ErrTooMany)
	}
	updates, now := slices.Clone(updates), time.Now()
	for i := range updates {
		updates[i].KeptAt, updates[i].Key = now, UpdateKey(q.opts.Bot, updates[i].Key)
	}
	fresh, err := q.opts.Journal.Keep(ctx, updates)
	if err != nil {
		return fmt.Errorf("keep %d updates: %w", len(updates), err)
	}
	tickets := make([]ticket, 0, len(fresh))
	for _, u := range fresh {
		tickets = append(tickets, q.ticketOf(u, now.Add(albumWithin)))
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrived = append(q.arrived, tickets...)
	q.stats.Waiting += len(fresh)
	q.stats.Duplicates += uint64(len(updates) - len(fresh))
	select {
	case q.woken <- struct{}{}:
	default:
	}
	return nil
}

// ticketOf finds an update's place. All that isn't an event shares one that's none.
func (q *Queue) ticketOf(u Update, until time.Time) ticket {
	e, ok, err := q.decodeUpdate(u)
	if err != nil || !ok {
		return ticket{seq: u.Seq}
	}
	t := ticket{seq: u.Seq, place: e.Place, album: albumOf(e), until: until}
	if q.mayPass(e) {
		t.passesAt = time.Now().Add(passAfter)
	}
	return t
}

// Stats returns the figures as they are.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.stats
}

// Run hands out updates: first those that were left over, in order. It blocks until ctx ends, and returns
// when all that it started has ended. It's called once.
func (q *Queue) Run(ctx context.Context) error {
	var children sync.WaitGroup
	defer children.Wait()
	children.Go(func() { q.forgetOld(ctx) })
	q.loadWaiting(ctx)
	timer := time.NewTimer(0)
	defer timer.Stop()
	running := 0
	for ctx.Err() == nil {
		q.admitArrived()
		now := time.Now()
		q.order.letPass(now)
		for ; running < q.opts.Places; running++ {
			l, first := q.order.takeNext(now)
			if l == nil {
				break
			}
			children.Go(func() { q.done <- q.tryUpdate(ctx, l, first) })
		}
		// With no room for another, who has rested waits for one that's done.
		if due, ok := q.order.nextDue(); ok && running < q.opts.Places {
			timer.Reset(time.Until(due))
		}
		select {
		case <-ctx.Done():
		case <-q.woken:
		case <-timer.C:
		case a := <-q.done:
			running--
			q.noteAttempt(ctx, a)
		}
	}
	for ; running > 0; running-- {
		<-q.done
	}
	return nil
}

// loadWaiting takes up what was left over from before.
func (q *Queue) loadWaiting(ctx context.Context) {
	for fails := 0; ; {
		page, err := q.opts.Journal.Waiting(ctx, q.newest, scanPage)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			fails++
			q.log.WarnContext(ctx, "reading the updates that wait failed; it's tried again", "err", err)
			if sessions.Pause(ctx, BackOff(fails)) != nil {
				return
			}
			continue
		case len(page) == 0:
			return
		}
		for _, u := range page {
			q.order.addTicket(q.ticketOf(u, time.Now().Add(albumAfterStart)))
			q.newest = u.Seq
		}
		q.mu.Lock()
		q.stats.Waiting += len(page)
		q.mu.Unlock()
	}
}

// admitArrived takes in what has arrived. What came while loadWaiting read is there already.
func (q *Queue) admitArrived() {
	q.mu.Lock()
	arrived := q.arrived
	q.arrived = nil
	for _, t := range arrived {
		if t.seq <= q.newest {
			q.stats.Waiting--
		}
	}
	q.mu.Unlock()
	for _, t := range arrived {
		if t.seq > q.newest {
			q.order.addTicket(t)
			q.newest = t.seq
		}
	}
}

// noteAttempt takes a lane back from a try.
func (q *Queue) noteAttempt(ctx context.Context, a attempt) {
	wasFailing := a.lane.fails > 0
	q.order.putBack(a, time.Now())
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case wasFailing && a.err == nil:
		q.stats.Failing--
	case !wasFailing && a.err != nil:
		q.stats.Failing++
	}
	if a.err != nil {
		q.stats.Failures++
		level := slog.LevelDebug
		if !wasFailing {
			level = slog.LevelWarn
		}
		q.log.Log(ctx, level, "an update failed; it's tried again, and its place waits", "seq", a.seq, "target", a.lane.place.String(), "fails", a.lane.fails, "err", a.err)
		return
	}
	q.stats.Waiting -= len(a.of)
	n := uint64(len(a.of))
	switch {
	case a.outcome == SetAside:
		q.stats.SetAside += n
	case a.ignored:
		q.stats.Ignored += n
	default:
		q.stats.Handled += n
	}
}

// forgetOld drops what nobody needs to know any more, now and then.
func (q *Queue) forgetOld(ctx context.Context) {
	for {
		if err := q.opts.Journal.Forget(ctx, time.Now().Add(-keepKeysFor), keepKeys); err != nil && ctx.Err() == nil {
			q.log.WarnContext(ctx, "forgetting old updates failed; it's tried again in an hour", "err", err)
		}
		if sessions.Pause(ctx, forgetKeysEvery) != nil {
			return
		}
	}
}

// placeLane is a place with updates that wait. What has passed them has a lane of its own.
type placeLane struct {
	place   adapters.Target
	waiting []ticket // in order; the first is tried, with the rest of its album
	fails   int      // tries of the first that failed
	rests   time.Time

	// verdict is what became of the first, if only that couldn't be written down.
	verdict *updateVerdict
}

// updateVerdict is what became of an update, or of the parts of an album.
type updateVerdict struct {
	of      []int64 // their numbers, in order
	outcome UpdateOutcome
	ignored bool // it was none of our business
}

// attempt is what came of a try of what a lane has first.
type attempt struct {
	lane *placeLane
	seq  int64 // of its first update
	updateVerdict
	err error // it's to be tried again
}

// placeOrder says which place is next. Those that could go take turns, one update at a
// time. Those that failed rest, and so do those whose first is an album that may not be
// all there. It's for one goroutine.
type placeOrder struct {
	lanes   map[adapters.Target]*placeLane
	ready   []*placeLane
	resting restingLanes

	busy    map[*placeLane]struct{}        // those of lanes whose first is under way, or failed and rests
	passing map[adapters.Target]*placeLane // of what has passed others (pass.go)
}

func newPlaceOrder() placeOrder {
	return placeOrder{lanes: map[adapters.Target]*placeLane{}, busy: map[*placeLane]struct{}{}, passing: map[adapters.Target]*placeLane{}}
}

// addTicket appends an update to its place's.
func (o *placeOrder) addTicket(t ticket) { o.addTo(o.lanes, t) }

// addTo appends an update to its place's lane among these, which is made if there's none.
func (o *placeOrder) addTo(lanes map[adapters.Target]*placeLane, t ticket) {
	l := lanes[t.place]
	if l == nil {
		l = &placeLane{place: t.place}
		lanes[t.place] = l
		o.ready = append(o.ready, l)
	}
	l.waiting = append(l.waiting, t)
}

// takeNext takes out the place whose turn it is, and the updates that are; nil: none.
func (o *placeOrder) takeNext(now time.Time) (*placeLane, []int64) {
	for len(o.resting) > 0 && !o.resting[0].rests.After(now) {
		o.ready = append(o.ready, heap.Pop(&o.resting).(*placeLane)) //nolint:forcetypeassert // what Push took
	}
	for len(o.ready) > 0 {
		l := o.ready[0]
		o.ready = o.ready[1:]
		if o.isPassed(l) {
			continue // it's put back when what has passed it is done
		}
		of, until := l.firstUpdates()
		if !until.After(now) {
			if o.lanes[l.place] == l {
				o.busy[l] = struct{}{}
			}
			return l, of
		}
		l.rests = until
		heap.Push(&o.resting, l)
	}
	o.ready = nil // let go of the array
	return nil, nil
}

// nextDue returns when the next place has rested, or something may pass what its place is busy with.
func (o *placeOrder) nextDue() (due time.Time, ok bool) {
	due = o.nextPass()
	if len(o.resting) > 0 && (due.IsZero() || o.resting[0].rests.Before(due)) {
		due = o.resting[0].rests
	}
	return due, !due.IsZero()
}

// putBack puts a place back after a try.
func (o *placeOrder) putBack(a attempt, now time.Time) {
	l := a.lane
	if a.err != nil {
		l.fails++
		l.rests = now.Add(BackOff(l.fails))
		heap.Push(&o.resting, l)
		return
	}
	l.fails, l.verdict = 0, nil
	delete(o.busy, l)
	switch l.dropUpdates(a.of); {
	case o.passing[l.place] == l:
		o.endPass(l)
	case len(l.waiting) == 0:
		delete(o.lanes, l.place)
	default:
		o.ready = append(o.ready, l)
	}
}

// restingLanes is a heap: the first has rested first.
type restingLanes []*placeLane

func (r restingLanes) Len() int           { return len(r) }
func (r restingLanes) Less(i, j int) bool { return r[i].rests.Before(r[j].rests) }
func (r restingLanes) Swap(i, j int)      { r[i], r[j] = r[j], r[i] }
func (r *restingLanes) Push(x any)        { *r = append(*r, x.(*placeLane)) } //nolint:forcetypeassert // heap.Push is given such

func (r *restingLanes) Pop() any {
	last := (*r)[len(*r)-1]
	(*r)[len(*r)-1] = nil
	*r = (*r)[:len(*r)-1]
	return last
}

// BackOff returns how long to rest after so many failures in a row: from a second to a minute, less up to a
// third by chance, so that places that failed together don't come back together.
func BackOff(fails int) time.Duration {
	d := min(time.Second<<min(fails-1, 6), time.Minute)
	return d - rand.N(d/3)
}

// tryUpdate handles the first update of a place, with the rest of its album, and writes down
// what became of it. The tries are counted before they're made, so that an update that
// takes the whole process down is set aside, too.
func (q *Queue) tryUpdate(ctx context.Context, l *placeLane, first []int64) attempt {
	a := attempt{lane: l, seq: first[0]}
	if l.verdict == nil {
		v, err := q.judgeUpdate(ctx, first)
		if err != nil {
			a.err = err
			return a
		}
		l.verdict = &v
	}
	a.updateVerdict = *l.verdict
	// The verdict is written down even if all else ends: the work has been done.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	for _, seq := range slices.Backward(a.of) {
		if err := q.opts.Journal.Settle(ctx, seq, a.outcome); err != nil {
			a.err = fmt.Errorf("write down that update %d was %s: %w", seq, a.outcome, err)
			return a
		}
	}
	return a
}

// judgeUpdate handles an update, with the rest of its album. An error says that it's to be
// tried again.
func (q *Queue) judgeUpdate(ctx context.Context, seqs []int64) (updateVerdict, error) {
	v := updateVerdict{of: seqs[:1:1], outcome: Handled}
	u, there, err := q.loadUpdate(ctx, seqs[0])
	if err != nil {
		return updateVerdict{}, err
	}
	if !there {
		v.ignored = true // it's settled already
		return v, nil
	}
	e, ok, err := q.decodeUpdate(u)
	switch {
	case err != nil:
		q.log.ErrorContext(ctx, "an update that can't be read was set aside", "seq", u.Seq, "bytes", len(u.Raw), "err", err)
		v.outcome = SetAside
		return v, nil
	case !ok:
		v.ignored = true
		return v, nil
	}
	parts, events, err := q.loadAlbum(ctx, u, seqs[1:])
	if err != nil {
		return updateVerdict{}, err
	}
	for _, p := range parts {
		v.of = append(v.of, p.Seq)
	}
	whole := joinParts(append([]Event{e}, events...))
	if u.Tries >= maxTries {
		// All of them ended the process, or were ended with it.
		return q.giveUp(ctx, v, u, whole, errors.New("the daemon ended at each try")), nil
	}
	if err := q.countTry(ctx, u, parts); err != nil {
		return updateVerdict{}, err
	}
	err = q.handleEvent(ctx, whole)
	switch {
	case err == nil:
		return v, nil
	case ctx.Err() != nil, errors.Is(err, sessions.ErrUnavailable):
		return updateVerdict{}, errors.Join(err, q.uncountTry(ctx, u, albumOf(e) != ""))
	case u.Tries+1 >= maxTries:
		return q.giveUp(ctx, v, u, whole, err), nil
	default:
		return updateVerdict{}, err
	}
}

// loadUpdate reads an update that waits.
func (q *Queue) loadUpdate(ctx context.Context, seq int64) (u Update, there bool, err error) {
	list, err := q.opts.Journal.Waiting(ctx, seq-1, 1)
	switch {
	case err != nil:
		return Update{}, false, fmt.Errorf("load update %d: %w", seq, err)
	case len(list) == 0 || list[0].Seq != seq:
		return Update{}, false, nil
	}
	return list[0], true, nil
}

// uncountTry takes back that an update was tried: it's not its fault. Of an album it must
// stay known that it was begun.
func (q *Queue) uncountTry(ctx context.Context, u Update, album bool) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), writeFor)
	defer cancel()
	tries := u.Tries
	if album {
		tries = max(tries, 1)
	}
	return q.opts.Journal.Try(ctx, u.Seq, tries)
}

func (q *Queue) giveUp(ctx context.Context, v updateVerdict, u Update, e Event, err error) updateVerdict {
	q.log.ErrorContext(ctx, "an update that fails at each try was set aside", "seq", u.Seq, "target", e.Place.String(), "bytes", len(u.Raw), "err", err)
	q.opts.GaveUp(e)
	v.outcome = SetAside
	return v
}

func (q *Queue) decodeUpdate(u Update) (e Event, ok bool, err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok, err = Event{}, false, sessions.PanicError(r)
		}
	}()
	e, ok, err = q.opts.Decode(u.Raw)
	if bot, _, is := strings.Cut(u.Key, botEnd); is && q.opts.Bot != "" && ok {
		e.Key = bot + " " + e.Key // the one that it was kept for, which may be another than is there now
	}
	if e.At.IsZero() {
		e.At = u.KeptAt
	}
	return e, ok, err
}

func (q *Queue) handleEvent(ctx context.Context, e Event) (err error) {
	ctx, cancel := context.WithTimeout(ctx, handleFor)
	defer cancel()
	defer func() {
		if r := recover(); r != nil {
			err = sessions.PanicError(r)
			q.log.ErrorContext(ctx, "handling an update panicked", "key", e.Key, "err", err, "stack", string(debug.Stack()))
		}
	}()
	return q.opts.Handle(ctx, e)
}
