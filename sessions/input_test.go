package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/store"
	"github.com/panebridge/panebridge/internal/store/storetest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
	"github.com/panebridge/panebridge/sessions/typing"
)

// pane is a tmux server with one pane, whose program takes what's typed.
type pane struct {
	sessionstest.Tmux

	mu   sync.Mutex
	box  string
	sent []string
	held bool // a dialog is open
}

var run = sessionstest.Run

func (p *pane) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return sessions.Snapshot{Server: run, Pane: "%1", Rows: append(slices.Clone(p.sent), "> "+p.box)}, nil
}

func (p *pane) Paste(_ context.Context, _ sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.held {
		return sessions.Held, nil
	}
	p.box += text
	return sessions.Done, nil
}

func (p *pane) Press(context.Context, sessions.PaneGuard, ...string) (sessions.GuardOutcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.box != "" {
		p.sent, p.box = append(p.sent, p.box), ""
	}
	return sessions.Done, nil
}

func (p *pane) hold(held bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.held = held
}

// nobody stands for pollers and sink.
type nobody struct{}

func (nobody) Start(sessions.Session) error            { return nil }
func (nobody) Stop(context.Context, sessions.ID) error { return nil }
func (nobody) NoteTyped(sessions.ID, string)           {}
func (nobody) ServerGone(string)                       {}

// Note keeps a line, and what was in the pane's box when it came.
func (b *bed) AppendLines(_ context.Context, _ sessions.ID, lines []sessions.Line, _ *sessions.Gap) ([]sessions.Line, []sessions.Gap, error) {
	b.pane.mu.Lock()
	defer b.pane.mu.Unlock()
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.mute {
		return nil, nil, sessions.ErrUnavailable
	}
	for i := range lines {
		lines[i].N = int64(len(b.lines)) + 1
		b.lines, b.boxes = append(b.lines, lines[i]), append(b.boxes, b.pane.box)
	}
	return lines, nil, nil
}

// full is a store whose disk can be full for receipts.
type full struct {
	*store.Store

	mu     sync.Mutex
	refuse func(sessions.Receipt) bool
}

func (f *full) set(refuse func(sessions.Receipt) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refuse = refuse
}

func (f *full) PutReceipt(ctx context.Context, r sessions.Receipt) error {
	f.mu.Lock()
	no := f.refuse != nil && f.refuse(r)
	f.mu.Unlock()
	if no {
		return sessions.ErrUnavailable
	}
	return f.Store.PutReceipt(ctx, r)
}

// bed is a manager with one session.
type bed struct {
	*testing.T
	pane    *pane
	store   *full
	manager *sessions.Manager
	id      sessions.ID

	mu    sync.Mutex
	told  []string
	lines []sessions.Line // that were noted
	boxes []string
	mute  bool // nothing can be
}

// options are those of a manager and of its hands.
type options struct {
	sessions.Options

	Hands typing.Options
}

// manager makes the manager.
func (o options) manager() *sessions.Manager {
	o.Hand, o.Dialogs = typing.New(o.Hands), o.Hands.Dialogs
	return sessions.NewManager(o.Options)
}

func withBed(t *testing.T, test func(b *bed)) {
	t.Helper()
	p := &pane{}
	withPane(t, p, p, nil, test)
}

// withPane is withBed with a server that may do more than its pane.
func withPane(t *testing.T, p *pane, srv sessions.TmuxServer, change func(*options), test func(b *bed)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := storetest.Open(t.Context(), filepath.Join(t.TempDir(), "db"))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = db.Close() }()
		b := &bed{T: t, pane: p, store: &full{Store: db}}
		opt := options{Hands: typing.Options{Dialog: func([]string) string { return "" }}}
		opt.Options = sessions.Options{
			Servers: []sessions.TmuxServer{srv}, Store: b.store, Pollers: nobody{}, Notes: b, Feed: new(sessions.Feed), Shell: "sh",
		}
		opt.Feed.OnReceipt(func(r sessions.Receipt) {
			b.mu.Lock()
			defer b.mu.Unlock()
			told := fmt.Sprint(r.Text, " ", r.State)
			if r.Anyway != "" && r.State == sessions.ReceiptSubmitted {
				told += " anyway"
			}
			b.told = append(b.told, told)
		})
		if change != nil {
			change(&opt)
		}
		b.manager = opt.manager()
		if err := b.manager.Load(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { defer close(ended); _ = b.manager.Run(ctx) }()
		defer func() { stop(); <-ended }()
		s, err := b.manager.New(t.Context(), sessions.NewRequest{Name: "s", Cwd: "/"})
		if err != nil {
			t.Fatal(err)
		}
		b.id = s.ID
		test(b)
	})
}

func (b *bed) input(text, key string) (sessions.Receipt, error) {
	return b.manager.Input(b.Context(), b.id, sessions.InputRequest{Text: text, Submit: true, Author: "a", Key: key})
}

func (b *bed) pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func (b *bed) wantSent(want ...string) {
	b.Helper()
	b.pane.mu.Lock()
	defer b.pane.mu.Unlock()
	if !slices.Equal(b.pane.sent, want) {
		b.Errorf("submitted %q, want %q", b.pane.sent, want)
	}
}

// wantReceipt: a receipt's state and reason begin like this; "submitted" alone has no reason.
func (b *bed) wantReceipt(id, want string) {
	b.Helper()
	r, err := b.manager.Receipt(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	got := string(r.State)
	if r.Reason != "" {
		got += ": " + r.Reason
	}
	if !strings.HasPrefix(got, want) || want == "submitted" && got != want {
		b.Errorf("the receipt is %s; want %s", got, want)
	}
}

func TestTheSameKeyGivesTheSameReceipt(t *testing.T) {
	withBed(t, func(b *bed) {
		var all sync.WaitGroup
		var mu sync.Mutex
		ids := map[string]bool{}
		for range 50 {
			all.Go(func() {
				r, err := b.input("once", "k")
				mu.Lock()
				defer mu.Unlock()
				ids[r.ID] = true
				if err != nil {
					b.Error(err)
				}
			})
		}
		all.Wait()
		b.pass(time.Minute)
		r, err := b.input("something else", "k")
		if err != nil || r.State != sessions.ReceiptSubmitted || r.Text != "once" || r.Key != "k" {
			b.Errorf("receipt %+v, %v; want the submitted one", r, err)
		}
		if ids[r.ID] = true; len(ids) != 1 {
			b.Errorf("receipts %v, want one", ids)
		}
		b.pass(time.Minute)
		b.wantSent("once")
		for range 2 { // without a key each is an input of its own
			if _, err := b.input("twice", ""); err != nil {
				b.Error(err)
			}
		}
		b.pass(time.Minute)
		b.wantSent("once", "twice", "twice")
	})
}

func TestEachChangeOfAReceiptIsToldInOrder(t *testing.T) {
	withBed(t, func(b *bed) {
		b.pane.hold(true)
		if _, err := b.input("x", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(2 * time.Second)
		b.pane.hold(false)
		b.pass(time.Minute)
		b.mu.Lock()
		defer b.mu.Unlock()
		got := strings.Join(slices.Compact(b.told), ", ")
		// While it's held each try is announced: the intent comes before the look.
		got = strings.ReplaceAll(got, "x typing, x held, ", "")
		if want := "x stored, x typing, x typed, x submitted"; got != want {
			b.Errorf("told %s; want %s", got, want)
		}
	})
}

// What couldn't be announced isn't done: after a crash nobody would know of it.
func TestNothingIsTypedUnlessItsIntentIsStored(t *testing.T) {
	withBed(t, func(b *bed) {
		b.store.set(func(r sessions.Receipt) bool { return r.State == sessions.ReceiptTyping })
		if _, err := b.input("x", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(time.Minute)
		b.wantSent()
		b.store.set(nil)
		b.pass(time.Minute)
		b.wantSent("x")
	})
}

func TestAnInputIsNotTakenBackUnlessThatIsStored(t *testing.T) {
	withBed(t, func(b *bed) {
		b.pane.hold(true)
		r, err := b.input("x", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Second)
		b.store.set(func(r sessions.Receipt) bool { return r.State == sessions.ReceiptCancelled })
		if _, err := b.manager.Cancel(b.Context(), r.ID); !errors.Is(err, sessions.ErrUnavailable) {
			b.Errorf("cancel on a full disk: %v, want unavailable", err)
		}
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.Final() {
			b.Errorf("receipt %+v, %v; want an open one", r, err)
		}
		b.store.set(nil)
		if _, err := b.manager.Cancel(b.Context(), r.ID); err != nil {
			b.Error(err)
		}
		b.pane.hold(false)
		b.pass(time.Minute)
		b.wantSent()
	})
}
