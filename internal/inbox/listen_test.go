package inbox_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/store"
)

// ears are a database with bells.
type ears struct {
	t     *testing.T
	db    *store.Inbox
	bells inbox.Bells
}

func newEars(t *testing.T) *ears {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // a socket's path is short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return &ears{t, openInbox(t, dir), inbox.Bells{Folder: filepath.Join(dir, inbox.BellFolder)}}
}

func (e *ears) notify(msg string) {
	e.t.Helper()
	if err := inbox.Notify(e.t.Context(), e.db, e.bells, inbox.Notice{To: "pb_lead", At: time.Now(), From: "work", Type: inbox.Info, Msg: msg}); err != nil {
		e.t.Error(err)
	}
}

func (e *ears) listen(ctx context.Context, tell func([]inbox.Notice) error) (bool, error) {
	return inbox.Listening{Store: e.db, Bells: e.bells, Print: tell}.Run(ctx, "pb_lead", false)
}

// TestListenAtOnce prints what's there, in order, and it's gone.
func TestListenAtOnce(t *testing.T) {
	e := newEars(t)
	for _, msg := range []string{"one", "two", "three"} {
		e.notify(msg)
	}
	var got []string
	told, err := e.listen(t.Context(), func(all []inbox.Notice) error {
		for _, n := range all {
			if n.Redelivered {
				t.Errorf("%+v", n)
			}
			got = append(got, n.Msg)
		}
		return nil
	})
	if err != nil || !told || !slices.Equal(got, []string{"one", "two", "three"}) {
		t.Errorf("%v, %v: %q", told, err, got)
	}
	if left, err := e.db.Undelivered(t.Context()); left != 0 || err != nil {
		t.Errorf("%d are left, %v", left, err)
	}
	if all, err := e.db.Listeners(t.Context()); len(all) != 0 || err != nil {
		t.Errorf("listeners %+v are left, %v", all, err)
	}
	if files, err := os.ReadDir(e.bells.Folder); len(files) != 0 || err != nil {
		t.Errorf("bells %v are left, %v", files, err)
	}
}

// TestListenWakes measures how soon a waiting listener has a notice.
func TestListenWakes(t *testing.T) {
	e := newEars(t)
	var took []time.Duration
	for range 40 {
		began := make(chan time.Time, 1)
		go func() {
			time.Sleep(15 * time.Millisecond) // it waits by then
			began <- time.Now()
			e.notify("now")
		}()
		told, err := e.listen(t.Context(), func([]inbox.Notice) error { return nil })
		if err != nil || !told {
			t.Fatal(told, err)
		}
		took = append(took, time.Since(<-began))
	}
	slices.Sort(took)
	t.Logf("median %s, p95 %s, most %s", took[20], took[38], took[39])
	if took[38] > 100*time.Millisecond {
		t.Errorf("p95 is %s", took[38])
	}
}

func TestListenTimesOut(t *testing.T) {
	e := newEars(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	began := time.Now()
	told, err := e.listen(ctx, func([]inbox.Notice) error { return errors.New("nothing is there") })
	if told || err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v, %v after %s", told, err, time.Since(began))
	}
}

// A time that's over before anybody listens is over as well.
func TestListenTimesOutBeforeItBegins(t *testing.T) {
	e := newEars(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if told, err := e.listen(ctx, func([]inbox.Notice) error { return nil }); told || err != nil {
		t.Errorf("%v, %v", told, err)
	}
}

// TestNotPrinted has the printing fail: the notice comes again, marked.
func TestNotPrinted(t *testing.T) {
	e := newEars(t)
	e.notify("precious")
	broken := errors.New("broken pipe")
	if _, err := e.listen(t.Context(), func([]inbox.Notice) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	told, err := e.listen(t.Context(), func(all []inbox.Notice) error {
		if len(all) != 1 || !all[0].Redelivered || all[0].Msg != "precious" {
			t.Errorf("%+v", all)
		}
		return nil
	})
	if !told || err != nil {
		t.Error(told, err)
	}
}

// TestStaleListener: what a listener holds whose process is gone is told by the next,
// though another process may have its id by now.
func TestStaleListener(t *testing.T) {
	e := newEars(t)
	e.notify("held")
	self := inbox.Self()
	stale := inbox.Listener{Session: "pb_lead", Process: inbox.ProcessID{PID: self.PID, Started: self.Started + 1}, Bell: "gone"}
	var err error
	if stale.ID, err = e.db.AddListener(t.Context(), stale); err != nil {
		t.Fatal(err)
	}
	if taken, err := e.db.TakeNotices(t.Context(), stale, 10); len(taken) != 1 || err != nil {
		t.Fatal(taken, err)
	}
	if heard, err := inbox.Listens(t.Context(), e.db, "pb_lead"); heard || err != nil {
		t.Errorf("a dead listener counts: %v", err)
	}
	told, err := e.listen(t.Context(), func(all []inbox.Notice) error {
		if len(all) != 1 || !all[0].Redelivered {
			t.Errorf("%+v", all)
		}
		return nil
	})
	if !told || err != nil {
		t.Error(told, err)
	}
}

// TestLivingListener: what a listener holds that lives is nobody else's.
func TestLivingListener(t *testing.T) {
	e := newEars(t)
	e.notify("held")
	holder := inbox.Listener{Session: "pb_lead", Process: inbox.Self(), Bell: "none"}
	var err error
	if holder.ID, err = e.db.AddListener(t.Context(), holder); err != nil {
		t.Fatal(err)
	}
	if _, err := e.db.TakeNotices(t.Context(), holder, 10); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if told, err := e.listen(ctx, func([]inbox.Notice) error { return nil }); told || err != nil {
		t.Errorf("another was told: %v, %v", told, err)
	}
}
