package sessions_test

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// fakeDisk is files of which one diff can be made at a time.
type fakeDisk struct {
	mu         sync.Mutex
	diff, note string
	made       int
}

func (k *fakeDisk) set(diff, note string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.diff, k.note = diff, note
}

func (k *fakeDisk) make(sessions.Session, []sessions.FileEdit) (diff, note string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.made++
	return k.diff, k.note
}

func withDisk(t *testing.T, test func(d *desk, k *fakeDisk)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		k := &fakeDisk{diff: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n"}
		d := newDesk(t, &asker{lag: 10 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}}, func(o *options) { o.Diff = k.make })
		defer d.stop()
		test(d, k)
	})
}

func editAsked() *question {
	q := permission(0)
	q.call, q.body = "edit x", "x"
	return q
}

// A question about files shows the diff that was made when it was first told, until it's answered.
func TestAQuestionShowsItsDiff(t *testing.T) {
	withDisk(t, func(d *desk, k *fakeDisk) {
		p := d.asks(editAsked())
		if !p.Dialog.IsDiff() || p.Dialog.About() != k.diff {
			t.Errorf("it shows %q", p.Dialog.About())
		}
		d.pane.with(func() { d.pane.spinner++ })
		d.pass(5 * time.Second)
		if k.made != 1 {
			t.Errorf("it was made %d times", k.made)
		}
		done, err := d.answer(p.ID, "ann", 0)
		if err != nil || done.State != sessions.PromptAnswered || done.Dialog.Diff != k.diff {
			t.Errorf("answered: %+v, %v", done, err)
		}
		if kept, err := d.manager.Prompt(t.Context(), p.ID); err != nil || kept.Dialog.Diff != k.diff {
			t.Errorf("kept: %+v, %v", kept, err)
		}
	})
}

// What's allowed is what was shown: if the file has changed since, nothing is pressed, and the question shows what would
// change now. To refuse nobody has to look again.
func TestAChangedFileIsShownBeforeItIsAllowed(t *testing.T) {
	withDisk(t, func(d *desk, k *fakeDisk) {
		for _, now := range [][2]string{{strings.Replace(k.diff, "one", "uno", 1), ""}, {"", "The file x doesn’t have it."}} {
			p := d.asks(editAsked())
			was := k.diff
			k.set(now[0], now[1])
			got, err := d.answer(p.ID, "ann", 0)
			if !errors.Is(err, sessions.ErrConflict) || got.State != sessions.PromptOpen || got.Dialog.Diff != now[0] || got.Dialog.Note != now[1] {
				t.Errorf("answered to what isn't so any more: %+v, %v", got, err)
			}
			if d.pane.keys > 0 || len(d.pane.took) > 0 {
				t.Errorf("%d keys were pressed", d.pane.keys)
			}
			if open := d.open(); open.ID != p.ID || open.Dialog.Diff != now[0] || open.Dialog.Note != now[1] {
				t.Errorf("it's open as %+v", open)
			}
			k.set("another", "")
			if now[0] == "" { // there's the record alone, as before
				k.set("", now[1])
			}
			done, err := d.answer(p.ID, "ann", 2)
			if err != nil || done.State != sessions.PromptAnswered {
				t.Errorf("refused: %+v, %v", done, err)
			}
			k.set(was, "")
			d.pane.with(func() { d.pane.keys, d.pane.took = 0, nil })
			d.pass(10 * time.Second)
		}
	})
}

// So it is in the next run of the daemon, which has the question from its store: before it has read the screen, too.
func TestAChangedFileIsShownAfterARestart(t *testing.T) {
	for _, read := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			k := &fakeDisk{diff: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-one\n+two\n"}
			pane, db := &asker{lag: 10 * time.Millisecond}, &memory{prompts: map[string]sessions.Prompt{}}
			disk := func(o *options) { o.Diff = k.make }
			first := newDesk(t, pane, db, disk)
			p := first.asks(editAsked())
			first.stop()
			next := newDesk(t, pane, db, disk)
			defer next.stop()
			next.mu.Lock()
			next.shown = "?" // what its poller tells first is news
			next.mu.Unlock()
			if read {
				next.pass(3 * time.Second)
			}
			k.set(strings.Replace(k.diff, "one", "uno", 1), "")
			if got, err := next.answer(p.ID, "ann", 0); !errors.Is(err, sessions.ErrConflict) {
				t.Errorf("its screen was read: %v; answered to what isn't so any more: %+v, %v", read, got, err)
			}
			next.pass(3 * time.Second)
			if pane.keys > 0 || len(pane.took) > 0 {
				t.Errorf("%d keys were pressed", pane.keys)
			}
			if open := next.open(); open.ID != p.ID || read && open.Dialog.Diff != k.diff {
				t.Errorf("it's open as %+v", open)
			}
		})
	}
}
