package continuing

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/sessions"
)

const id = sessions.ID("pb_0123456789ab")

// house has a session as people, its agent and the typist leave it, and a continuer over a real database. What's
// typed reaches the pane when the typist comes to it, unless a dialog or a half-typed text holds it.
type house struct {
	mu      sync.Mutex
	session sessions.Session
	asks    bool // a dialog is open
	half    bool // something stands in the input box
	queue   []*sessions.Receipt
	typed   []string // what the pane got, in order
	notes   []string
	feed    sessions.Feed
	store   *store.Store
	killAt  string // the step at which the daemon is killed
	kill    func()
	wrong   string // what may not be
}

func newHouse(tb testing.TB) *house {
	tb.Helper()
	db, err := storetest.Open(context.Background(), filepath.Join(tb.TempDir(), "db"))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	h := &house{store: db, session: sessions.Session{ID: id, Name: "api", State: sessions.StateIdle, Turn: sessions.Turn{Number: 3}, CreatedAt: time.Now(), Source: claudes("1")}}
	if err := h.store.PutSession(context.Background(), h.session); err != nil {
		tb.Fatal(err)
	}
	return h
}

// claudes is the source of text while claude has a conversation.
func claudes(conversation string) sessions.Source {
	return sessions.Source{Program: "claude", Transcript: "/t/" + conversation, Conversation: conversation}
}

func (h *house) Get(string) (sessions.Session, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.session, nil
}

func (h *house) Waiting(sessions.ID) (out []sessions.Receipt) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.queue {
		if !r.Final() {
			out = append(out, *r)
		}
	}
	return out
}

func (h *house) PromptOf(sessions.ID) (sessions.Prompt, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return sessions.Prompt{}, h.asks
}

func (h *house) Input(ctx context.Context, _ sessions.ID, req sessions.InputRequest) (sessions.Receipt, error) {
	if r, err := h.store.ReceiptByKey(ctx, req.Key); err == nil {
		return r, nil
	}
	h.step("before the input")
	h.mu.Lock()
	if h.session.Source != claudes("1") {
		h.wrong = fmt.Sprintf("%q was sent to %+v", req.Text, h.session.Source)
	}
	r := &sessions.Receipt{
		ID: fmt.Sprintf("in_%012d", len(h.queue)), Session: id, Text: req.Text, Submit: true, Author: req.Author, Key: req.Key,
		State: sessions.ReceiptStored, CreatedAt: time.Now(), UpdatedAt: time.Now(),
	}
	h.queue = append(h.queue, r)
	out := *r
	h.mu.Unlock()
	err := h.store.PutReceipt(ctx, out)
	h.step("behind the input")
	return out, err
}

func (h *house) Receipt(_ context.Context, id string) (sessions.Receipt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.queue {
		if r.ID == id {
			return *r, nil
		}
	}
	return sessions.Receipt{}, sessions.ErrUnknown
}

func (h *house) Cancel(_ context.Context, id string) (sessions.Receipt, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.queue {
		if r.ID == id && (r.State == sessions.ReceiptStored || r.State == sessions.ReceiptHeld) {
			r.State = sessions.ReceiptCancelled
			return *r, nil
		}
	}
	return sessions.Receipt{}, sessions.Refuse("it's typed")
}

func (h *house) Note(_ context.Context, _ sessions.ID, text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.notes = append(h.notes, text)
	return nil
}

// step kills the daemon, if it's to be killed here.
func (h *house) step(name string) {
	if h.killAt == name {
		h.killAt = ""
		h.kill()
		panic(errKilled)
	}
}

var errKilled = errors.New("killed")

// change changes the session, as the daemon hears of it.
func (h *house) change(f func()) {
	h.mu.Lock()
	f()
	s := h.session
	h.mu.Unlock()
	h.feed.PublishSession(s)
}

// typeNext has the typist hold, or type, what's first.
func (h *house) typeNext() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, r := range h.queue {
		if r.Final() {
			continue
		}
		if h.asks || h.half || h.session.Source.Program == "" {
			r.State, r.Reason = sessions.ReceiptHeld, "a dialog is open, something half-typed stands there, or its agent has ended"
			return
		}
		if h.session.Turn.Open && r.Key != "" {
			h.wrong = fmt.Sprintf("%q was typed while the agent works", r.Text)
		}
		r.State = sessions.ReceiptSubmitted
		h.typed = append(h.typed, r.Text)
		h.session.Turn = sessions.Turn{Number: h.session.Turn.Number + 1, Open: true}
		h.session.State = sessions.StateWorking
		return
	}
}

func (h *house) limit(until time.Time) {
	h.change(func() {
		h.session.Usage = &sessions.Usage{Agent: "claude", Limit: &sessions.UsageLimit{At: time.Now(), Until: until}}
		h.session.Turn.Open, h.session.State = false, sessions.StateError // its turn has failed
	})
}

// daemon is one run of the daemon: its continuer, and what ends it.
type daemon struct {
	c    *Continuer
	stop context.CancelFunc
	done chan struct{}
}

func (h *house) start(tb testing.TB) *daemon {
	tb.Helper()
	h.feed = sessions.Feed{}
	d := &daemon{done: make(chan struct{})}
	d.c = New(Options{Sessions: h, Store: h.store, Text: func() string { return "continue" }, Changed: func(sessions.Session) {}})
	if err := d.c.Load(context.Background()); err != nil {
		tb.Fatal(err)
	}
	d.c.Follow(&h.feed)
	var ctx context.Context
	ctx, d.stop = context.WithCancel(context.Background())
	h.kill = d.stop
	go func() {
		defer close(d.done)
		defer func() {
			if r := recover(); r != nil && r != any(errKilled) {
				panic(r)
			}
		}()
		_ = d.c.Run(ctx)
	}()
	return d
}

func (d *daemon) end() {
	d.stop()
	<-d.done
}

// deed is one step of a history; n is how long, or where.
type deed struct {
	what string
	n    int
}

// Whatever people, the agent, clocks and kills do: a text that waits for a limit is typed once at most, not before
// its time, and never into a dialog, beside a text, or where somebody has spoken; and it is typed where none of
// that happened.
func TestASessionGoesOnOnce(t *testing.T) {
	deeds := rapid.Custom(func(rt *rapid.T) deed {
		return deed{
			rapid.SampledFrom([]string{"wait", "wait", "wait long", "restart", "kill at", "dialog", "half", "speak", "terminal", "answered", "cancel", "type", "type", "agent ends", "agent begins"}).Draw(rt, "what"),
			rapid.IntRange(0, 7200).Draw(rt, "n"),
		}
	})
	drawtest.CheckTimes(t, drawtest.Times(2000, 80, 25), func(rt *rapid.T) {
		seconds, history := rapid.IntRange(1, 7200).Draw(rt, "seconds until"), rapid.SliceOfN(deeds, 0, 12).Draw(rt, "history")
		problem := ""
		synctest.Test(t, func(t *testing.T) { problem = playHistory(t, time.Duration(seconds)*time.Second, history) })
		if problem != "" {
			rt.Fatal(problem)
		}
	})
}

// player plays a history.
type player struct {
	*house
	*testing.T
	d        *daemon
	due      time.Time
	spoke    bool // somebody did before it was sent
	taken    bool // it was taken back
	hindered bool // something was in the way for a while
	problem  string
}

func playHistory(t *testing.T, until time.Duration, history []deed) string {
	t.Helper()
	h := newHouse(t)
	p := &player{house: h, T: t, due: time.Now().Add(until)}
	p.d = h.start(t)
	defer func() { p.d.end() }()
	h.limit(p.due)
	if _, err := p.d.c.Schedule(t.Context(), id, "cli", "Ada"); err != nil {
		return err.Error()
	}
	for _, one := range history {
		p.do(one)
		synctest.Wait()
		select {
		case <-p.d.done: // it was killed
			p.d = h.start(t)
		default:
		}
		if p.check(); p.problem != "" {
			return p.problem
		}
	}
	h.mu.Lock()
	h.asks, h.half, h.killAt = false, false, ""
	h.mu.Unlock()
	for range 20 {
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		p.typeNext()
		p.check()
	}
	time.Sleep(time.Minute)
	synctest.Wait()
	if _, waits := p.d.c.ContinuationOf(id); waits && p.problem == "" {
		return "it waits still"
	}
	if left, err := h.store.Continuations(t.Context()); err != nil || len(left) > 0 {
		return fmt.Sprintf("the database has %v, %v", left, err)
	}
	if p.problem == "" && !p.spoke && !p.taken && !p.hindered && (len(h.typed) == 0 || h.typed[0] != "continue" || len(h.notes) > 0) {
		return fmt.Sprintf("nothing was in the way, and %q was typed, notes %q", h.typed, h.notes)
	}
	return p.problem
}

// do does one thing.
func (p *player) do(one deed) {
	switch h := p.house; one.what {
	case "wait":
		time.Sleep(time.Duration(one.n%100+1) * time.Second)
	case "wait long":
		time.Sleep(time.Duration(one.n) * time.Second)
	case "restart":
		p.d.end()
		time.Sleep(time.Duration(one.n/2) * time.Second)
		p.d = h.start(p.T)
	case "kill at":
		h.killAt = []string{"before the input", "behind the input"}[one.n%2]
	case "dialog":
		p.hindered = true
		h.change(func() { h.asks = !h.asks })
	case "half":
		p.hindered = true
		h.change(func() { h.half = !h.half })
	case "speak":
		p.spoke = p.spoke || !p.sent()
		h.mu.Lock()
		r := &sessions.Receipt{ID: fmt.Sprintf("in_%012d", len(h.queue)), Session: id, Text: "hello", Submit: true, State: sessions.ReceiptStored, CreatedAt: time.Now()}
		h.queue = append(h.queue, r)
		if one.n%3 == 0 { // typed before anybody looks, and no turn begins
			r.State = sessions.ReceiptSubmitted
		}
		told := *r
		h.mu.Unlock()
		if err := h.store.PutReceipt(p.Context(), told); err != nil {
			p.problem = err.Error()
		}
		h.feed.PublishReceipt(told)
	case "terminal":
		p.spoke = p.spoke || !p.sent()
		h.change(func() { h.session.Turn.Number++ })
	case "answered":
		p.spoke = p.spoke || !p.sent()
		h.change(func() { h.session.Usage = &sessions.Usage{} })
	case "agent ends": // a shell has its place
		p.hindered = true
		h.change(func() { h.session.Source = sessions.Source{} })
	case "agent begins": // and goes on with its conversation, or with another
		p.hindered = true
		h.change(func() { h.session.Source = claudes(fmt.Sprint(1 + one.n%2)) })
	case "cancel":
		if _, err := p.d.c.Cancel(p.Context(), id); err == nil {
			p.taken = true
		}
	case "type":
		p.typeNext()
	}
}

// sent reports whether the text is on its way.
func (p *player) sent() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.ContainsFunc(p.queue, func(r *sessions.Receipt) bool { return r.Key != "" })
}

// check notes what may not be.
func (p *player) check() {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, text := range p.typed {
		if text == "continue" {
			n++
		}
	}
	switch {
	case p.wrong != "":
		p.problem = p.wrong
	case n > 1:
		p.problem = fmt.Sprintf("typed %d times: %q", n, p.typed)
	case n == 1 && (time.Now().Before(p.due) || p.taken):
		p.problem = fmt.Sprintf("typed at %s, due %s, taken back: %v", time.Now(), p.due, p.taken)
	case n == 1 && p.spoke:
		p.problem = fmt.Sprintf("typed though somebody spoke: %q", p.typed)
	}
}

// Where a question is open at that time, nothing is sent, and the session says so.
func TestNothingIsSentIntoADialog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		d := h.start(t)
		defer func() { d.end() }()
		h.limit(time.Now().Add(time.Hour))
		if _, err := d.c.Schedule(t.Context(), id, "telegram:1", "Ada"); err != nil {
			t.Fatal(err)
		}
		h.change(func() { h.asks = true })
		time.Sleep(2 * time.Hour)
		synctest.Wait()
		h.change(func() { h.asks = false })
		time.Sleep(2 * time.Hour)
		if len(h.queue) > 0 || len(h.notes) != 1 || !strings.Contains(h.notes[0], "a question is open") {
			t.Errorf("%d inputs, notes %q", len(h.queue), h.notes)
		}
	})
}

// The wall clock counts, whatever a timer says: the day on which clocks are put forward is an hour shorter, and a
// clock that's set, or a machine that sleeps, makes it due at once.
func TestTheWallClockCounts(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		c := New(Options{Sessions: h, Store: h.store, Text: func() string { return "continue" }, Changed: func(sessions.Session) {}})
		now := time.Date(2027, 3, 27, 23, 0, 0, 0, berlin) // clocks are put forward that night
		due := time.Date(2027, 3, 28, 3, 0, 0, 0, berlin)
		h.limit(due)
		c.keep(sessions.Continuation{Session: id, Due: due, LimitAt: h.session.Usage.Limit.At, Turn: 3, Text: "continue", CreatedAt: now})
		for _, at := range []time.Time{now, now.Add(2*time.Hour + 59*time.Minute + 59*time.Second), now.Add(-24 * time.Hour)} {
			if c.lookAt(t.Context(), at); len(h.queue) > 0 {
				t.Fatalf("sent at %s", at)
			}
		}
		if c.lookAt(t.Context(), now.Add(3*time.Hour)); len(h.queue) != 1 {
			t.Fatalf("%d inputs when it was due", len(h.queue))
		}
		for range 5 {
			c.lookAt(t.Context(), now.Add(time.Duration(rand.IntN(100))*time.Hour))
		}
		if len(h.queue) != 1 {
			t.Errorf("%d inputs", len(h.queue))
		}
	})
}

// Who asks twice has one; without a limit, or a time, there's none.
func TestWhatCanBeScheduled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		d := h.start(t)
		defer func() { d.end() }()
		if _, err := d.c.Schedule(t.Context(), id, "cli", ""); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("without a limit: %v", err)
		}
		h.limit(time.Time{})
		if _, err := d.c.Schedule(t.Context(), id, "cli", ""); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("without a time: %v", err)
		}
		h.limit(time.Now().Add(time.Minute))
		h.session.Source = sessions.Source{}
		if _, err := d.c.Schedule(t.Context(), id, "cli", ""); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("without its agent: %v", err)
		}
		h.session.Source = claudes("1")
		one, err := d.c.Schedule(t.Context(), id, "cli", "")
		again, err2 := d.c.Schedule(t.Context(), id, "web", "")
		if err != nil || err2 != nil || one != again {
			t.Errorf("%+v, %v; then %+v, %v", one, err, again, err2)
		}
		if !one.Due.Equal(time.Now().Add(2 * time.Minute)) {
			t.Errorf("due %s: the minute that the limit ends in isn't over", one.Due)
		}
		if _, err := d.c.Cancel(t.Context(), id); err != nil {
			t.Error(err)
		}
		if _, err := d.c.Cancel(t.Context(), id); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("taken back twice: %v", err)
		}
		h.limit(time.Now().Add(-time.Minute))
		if _, err := d.c.Schedule(t.Context(), id, "cli", ""); !errors.Is(err, sessions.ErrConflict) {
			t.Errorf("a limit that's over: %v", err)
		}
	})
}
