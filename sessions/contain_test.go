package sessions_test

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// faulty is a pane at which panebridge's own work panics when one text is pasted.
type faulty struct{ *pane }

func (p faulty) Paste(ctx context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	if text == "boom" {
		return sessions.GuardOutcome([]string{}[len(g.Rows)]), nil // a fault as they come
	}
	return p.pane.Paste(ctx, g, text)
}

// A fault in the typing of one text fails that text, is told and counted, and the next one
// is typed.
func TestAPanicFailsOneText(t *testing.T) {
	p := &pane{}
	var mu sync.Mutex
	var counted []string
	change := func(o *options) {
		o.Panicked = func(worker string) {
			mu.Lock()
			defer mu.Unlock()
			counted = append(counted, worker)
		}
	}
	withPane(t, p, faulty{p}, change, func(b *bed) {
		bad, err := b.input("boom", "")
		if err != nil {
			b.Fatal(err)
		}
		good, err := b.input("behind it", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		b.wantReceipt(bad.ID, "failed: panebridge failed while it typed this")
		b.wantReceipt(good.ID, "submitted")
		b.wantSent("behind it")
		if !slices.Equal(counted, []string{sessions.WorkerTypist}) {
			b.Errorf("counted %q", counted)
		}
		if !slices.ContainsFunc(b.lines, func(l sessions.Line) bool { return strings.Contains(l.Text, "had a fault") }) {
			b.Errorf("nothing tells of it: %+v", b.lines)
		}
	})
}

// A session may be forgotten while its inputs end and its questions are answered.
func TestASessionIsForgottenWhileItsInputEnds(t *testing.T) {
	withBed(t, func(b *bed) {
		if _, err := b.input("x", ""); err != nil {
			b.Fatal(err)
		}
		if err := b.manager.Close(b.Context(), b.id); err != nil {
			b.Fatal(err)
		}
		if err := b.manager.Forget(b.Context(), b.id); err != nil {
			b.Fatal(err)
		}
		b.pass(time.Minute)
	})
}
