package polling_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// quoter is an asker that knows a dialog's words.
type quoter struct{ *asker }

func (quoter) Dialog(rows []string) string {
	if strings.Contains(strings.Join(rows, "\n"), "proceed?") {
		return "proceed?"
	}
	return ""
}

// A shell at its prompt doesn't wait for a person because a dialog's words stand above
// it; a program does, and so does a dialog that's recognised.
func TestWordsThatAreQuotedAskNothing(t *testing.T) {
	for name, c := range map[string]struct {
		obs  sessions.Observation
		want sessions.State
	}{
		"a shell at its prompt":   {sessions.Observation{Quiet: 2 * time.Second}, sessions.StateIdle},
		"a program":               {sessions.Observation{}, sessions.StateWaiting},
		"a dialog over the shell": {sessions.Observation{Quiet: 2 * time.Second, Prompt: &sessions.Dialog{Print: "1"}, Prompts: true}, sessions.StateWaiting},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				mem, src := &memLog{}, newFakeSource("%1")
				r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
				c.obs.Text = sessions.TextPane
				q := quoter{&asker{obs: c.obs}}
				target := polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: func([]byte) (polling.Observer, error) { return q, nil }}
				if err := r.coord.Start(target); err != nil {
					r.Fatal(err)
				}
				src.print("%1", "do you want to proceed?", false)
				r.after(10 * time.Second)
				var last sessions.State
				for _, ev := range r.owner.all() {
					if ev.State != "" {
						last = ev.State
					}
				}
				if last != c.want {
					r.Errorf("it's %s, want %s", last, c.want)
				}
			})
		})
	}
}
