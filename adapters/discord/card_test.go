package discord_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
)

// A session that somebody has begun has its thread within three seconds, with one card in it;
// where the thread comes late, the card comes with it, also over a restart.
func TestACardStandsInTheThreadOfANewSession(t *testing.T) {
	for _, late := range []time.Duration{0, 10 * time.Minute} {
		inOffice(t, false, func(o *office) {
			if late > 0 {
				remove := o.Inject(discordtest.Fault{Call: "StartThread", Status: 500})
				time.AfterFunc(late, remove)
			}
			if err := o.House.BeginOwned("pb_000000000009", "fresh"); err != nil {
				t.Fatal(err)
			}
			o.Pass(3 * time.Second)
			if late > 0 {
				o.Pass(3 * late)
			}
			cards := func() (n int) {
				for _, m := range o.Messages(o.thread(o.agents, "fresh").ID) {
					if len(m.Rows) > 0 && strings.HasPrefix(m.Content, "**fresh** · a shell in") {
						n++
					}
				}
				return n
			}
			if n := cards(); n != 1 {
				t.Errorf("late by %s: there are %d cards", late, n)
			}
			o.Close()
			o.Pass(time.Hour)
			o.Open()
			o.Pass(time.Minute)
			if n := cards(); n != 1 {
				t.Errorf("late by %s: after a restart there are %d cards", late, n)
			}
		})
	}
}
