package discord_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/chatview/chatviewtest"
)

// 425 lines take two screens of a phone at most on Discord, too, whose messages are shorter.
func TestLongOutputTakesTwoScreensOfAPhone(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	for _, polls := range []int{1, 25} {
		t.Run(fmt.Sprintf("in %d polls", polls), func(t *testing.T) {
			var server *discordtest.Server
			place := ""
			inBubble(t, discordtest.Options{}, func(w *world) {
				rule := adapters.MirrorRule{Session: "*", To: target(w.agents, "")}
				rule.Work.Output = adapters.LengthUsual
				b := w.bridge(rule)
				b.Start()
				b.Begin(sessionID(0), "shell")
				for i := range polls {
					var rows []string
					for n := range 425 / polls {
						rows = append(rows, fmt.Sprintf("ok  \texample.com/panebridge/adapters/part%d\t0.%03[1]ds", i*425/polls+n+1))
					}
					b.Print(sessionID(0), adaptertest.Output{Lines: rows, Ends: i == polls-1})
					after(2 * time.Second)
				}
				after(time.Minute)
				b.Stop()
				w.noRefusals()
				server, place = w.Server, fmt.Sprintf("#%s/%s", w.agents, b.thread(w.agents, "shell").ID)
			})
			screens := chatviewtest.Screens(t, discordtest.NewView(server, chatviewtest.Token), place)
			t.Logf("%.2f screens", screens)
			if screens > 2 {
				t.Errorf("425 lines take %.2f screens of a phone, want 2 at most", screens)
			}
		})
	}
}
