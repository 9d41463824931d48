package telegram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
)

// What was written more than 24 hours before somebody reads again is gone, and that's said, once
// for each absence that was too long: whether the daemon was away or Telegram couldn't be reached.
func TestWhatWasWrittenTooLongAgoIsGoneAndThatIsSaid(t *testing.T) {
	for name, absent := range map[string]func(o *office, passes func()){
		"the daemon was away": func(o *office, passes func()) {
			o.Close()
			passes()
			o.Open()
		},
		"Telegram couldn't be reached": func(o *office, passes func()) {
			o.fate.Store(new(func(string, []byte) faults.Fate { return faults.Fate{Lost: true, End: faults.Reset} }))
			passes()
			o.fate.Store(nil)
		},
	} {
		t.Run(name, func(t *testing.T) {
			inOffice(t, false, func(o *office) {
				said := func() (notices int) {
					for _, m := range o.See(telegramtest.Place{Chat: o.forum}) {
						if strings.HasPrefix(m.Text, "panebridge couldn't read here for") {
							notices++
							if !m.Rang || !strings.Contains(m.Text, "for 27 h, and what's written is kept for 24 h only") {
								t.Errorf("it's said that %q, with a ring: %v", m.Text, m.Rang)
							}
						}
					}
					return notices
				}
				o.Say("in time", "")
				o.Pass(time.Minute)
				absent(o, func() {
					o.Pass(time.Hour)
					o.Say("too early", "")
					o.Pass(26 * time.Hour)
					o.Say("late", "")
				})
				o.Pass(2 * time.Minute)
				if n := said(); n != 1 {
					t.Errorf("it was said %d times", n)
				}
				var typed []string
				for _, x := range o.Keyboard().Typed() {
					typed = append(typed, x.Text)
				}
				if got := strings.Join(typed, ", "); got != "in time, late" {
					t.Errorf("typed: %s", got)
				}
				o.Restart()
				absent(o, func() { o.Pass(23 * time.Hour) })
				o.Pass(2 * time.Minute)
				if n := said(); n != 1 {
					t.Errorf("after a short absence it has been said %d times", n)
				}
			})
		})
	}
}
