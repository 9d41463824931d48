package inbox_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
)

// director is a director's agent, whose hooks are answered in virtual time.
type director struct {
	t    *testing.T
	db   *store.Inbox
	with *inbox.Reminders
	busy []string // members that are at work
}

// direct runs a director in a bubble.
func direct(t *testing.T, do func(d *director)) {
	t.Helper()
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		d := &director{t: t, db: openInbox(t, dir), busy: []string{"work (working)"}}
		d.restart()
		do(d)
	})
}

// restart is that of the daemon.
func (d *director) restart() {
	d.t.Helper()
	var err error
	if d.with, err = inbox.LoadReminders(d.t.Context(), d.db); err != nil {
		d.t.Fatal(err)
	}
}

func (d *director) usesTool() (reminded bool) {
	d.t.Helper()
	text, err := d.with.AfterTool(d.t.Context(), "pb_lead", func() []string { return d.busy })
	if err != nil || text != "" && !strings.Contains(text, "work (working). Nobody listens") {
		d.t.Fatal(text, err)
	}
	return text != ""
}

func (d *director) listens() (stop func()) {
	d.t.Helper()
	id, err := d.db.AddListener(d.t.Context(), inbox.Listener{Session: "pb_lead", Process: inbox.Self(), Bell: "none"})
	if err != nil {
		d.t.Fatal(err)
	}
	return func() {
		if _, err := d.db.DropListener(context.Background(), id); err != nil {
			d.t.Fatal(err)
		}
	}
}

// TestReminded: a director's agent is reminded after a tool while members are at work and it
// doesn't listen, at most every 30 s, also over a restart of the daemon.
func TestReminded(t *testing.T) {
	direct(t, func(d *director) {
		expect := func(what string, want bool) {
			t.Helper()
			if d.usesTool() != want {
				t.Errorf("%s: reminded: %v", what, !want)
			}
		}
		working := d.busy
		d.busy = nil
		expect("nobody is at work", false)
		d.busy = working
		expect("the first tool", true)
		expect("the next one", false)
		time.Sleep(29900 * time.Millisecond)
		expect("30 s aren't over", false)
		d.restart()
		expect("and it has begun anew", false)
		time.Sleep(100 * time.Millisecond)
		expect("30 s are over", true)
		stop := d.listens()
		time.Sleep(time.Minute)
		expect("it listens", false)
		d.restart()
		expect("it still listens", false)
		stop()
		expect("it doesn't any more", true)
	})
}

// TestRemindedOnce: of tools that end at the same time one reminds.
func TestRemindedOnce(t *testing.T) {
	direct(t, func(d *director) {
		var mu sync.Mutex
		var all sync.WaitGroup
		reminded := 0
		for range 20 {
			all.Go(func() {
				if d.usesTool() {
					mu.Lock()
					reminded++
					mu.Unlock()
				}
			})
		}
		all.Wait()
		if reminded != 1 {
			t.Errorf("reminded %d times", reminded)
		}
	})
}

// TestRemindedInTime: however tools, listeners, restarts and work follow each other, a tool
// reminds if, and only if, somebody is at work, nobody listens and 30 s have passed.
func TestRemindedInTime(t *testing.T) {
	drawtest.Check(t, func(r *rapid.T) {
		direct(t, func(d *director) {
			var last time.Time
			var stop func()
			for range rapid.IntRange(1, 30).Draw(r, "steps") {
				time.Sleep(time.Duration(rapid.IntRange(0, 40).Draw(r, "seconds")) * time.Second)
				switch rapid.IntRange(0, 5).Draw(r, "what") {
				case 0:
					d.restart()
				case 1:
					if d.busy = nil; rapid.Bool().Draw(r, "at work") {
						d.busy = []string{"work (working)"}
					}
				case 2:
					if stop != nil {
						stop()
						stop = nil
					} else {
						stop = d.listens()
					}
				default:
					want := len(d.busy) > 0 && stop == nil && (last.IsZero() || time.Since(last) >= inbox.RemindEvery)
					if got := d.usesTool(); got != want {
						r.Fatalf("reminded %v, wanted %v", got, want)
					}
					if want {
						last = time.Now()
					}
				}
			}
			if stop != nil {
				stop()
			}
		})
	})
}

// TestToldHowToListen: each conversation is told once, also over a restart.
func TestToldHowToListen(t *testing.T) {
	direct(t, func(d *director) {
		begins := func(conversation string) string {
			t.Helper()
			text, err := d.with.AtStart(t.Context(), "pb_lead", conversation, []string{"web", "api"}, inbox.Parties{})
			if err != nil {
				t.Fatal(err)
			}
			return text
		}
		if text := begins("c1"); !strings.Contains(text, "fleet web and api (members: )") || !strings.Contains(text, "`panebridge listen`") {
			t.Errorf("told %q", text)
		}
		d.restart()
		if text := begins("c1"); text != "" {
			t.Errorf("told again: %q", text)
		}
		if !d.usesTool() || begins("c2") == "" {
			t.Error("another conversation isn't told")
		}
		d.restart()
		if d.usesTool() {
			t.Error("reminded at once")
		}
	})
}
