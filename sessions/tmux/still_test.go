package tmux_test

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// A guard that wants nothing to have come out of the pane sees also what's drawn where
// nothing stood, with the cursor where it was, and what changes nothing at all.
func TestGuardSeesThatSomethingCame(t *testing.T) {
	t.Parallel()
	for name, draws := range map[string]string{
		"more rows":  `\0337\033[4;1Hdo you want to proceed?\033[5;1H 1. Yes\0338`,
		"no change":  `\0337\0338`,
		"one letter": `\0337\033[9;9Hx\0338`,
	} {
		t.Run(name, func(t *testing.T) {
			s := startServer(t)
			p := s.pane("still", `stty raw -echo; printf 'it said: do you want to proceed?\r\n% '; while :; do [ "$(head -c 1)" = x ] && printf '`+draws+`'; done`)
			s.await("rows", s.shows(p, "% "))
			var saw sessions.Snapshot
			s.await("a screen that stands still", func() bool {
				asked := time.Now().Unix()
				saw = s.snapshot(p)
				return asked > saw.Activity
			})
			press := func(still bool, key string) sessions.GuardOutcome {
				t.Helper()
				out, err := s.client.Press(s.ctx(), sessions.PaneGuard{Pane: p, Saw: &saw, Rows: []int{0, 1}, Still: still}, key)
				if err != nil {
					t.Fatal(err)
				}
				return out
			}
			if out := press(true, "x"); out != sessions.Done {
				t.Errorf("as it was seen: %s", out)
			}
			s.await("output", func() bool { return s.snapshot(p).Activity > saw.Activity })
			if out := press(false, "y"); out != sessions.Done {
				t.Errorf("cursor, history and these rows are as they were, and it's %s", out)
			}
			if out := press(true, "y"); out != sessions.Moved {
				t.Errorf("something came, and it's %s", out)
			}
		})
	}
}
