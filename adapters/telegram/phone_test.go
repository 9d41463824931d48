package telegram_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/chatview/chatviewtest"
)

// 425 lines, of a shell's command, take two screens of a phone at most, whether they come at once or over a minute, and of all
// widths.
func TestLongOutputTakesTwoScreensOfAPhone(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	for name, line := range map[string]string{"tests": "ok  \texample.com/panebridge/adapters/part%d\t0.%03[1]ds", "numbers": "%d"} {
		for _, o := range []struct {
			output adapters.Length
			polls  int
			most   float64
		}{{adapters.LengthUsual, 1, 2}, {adapters.LengthUsual, 25, 2}, {adapters.LengthAll, 25, 1e9}} {
			t.Run(fmt.Sprintf("%s, output %s in %d polls", name, o.output, o.polls), func(t *testing.T) {
				var server *telegramtest.Server
				var chat int64
				inBubble(t, telegramtest.Options{}, func(w *world) {
					rule := adapters.MirrorRule{Session: "*", To: target(w.group, 0)}
					rule.Work.Output = o.output
					b := w.bridge(rule)
					b.Start()
					b.Begin(first, "shell")
					for i := range o.polls {
						var lines []string
						for n := range 425 / o.polls {
							lines = append(lines, fmt.Sprintf(line, i*425/o.polls+n+1))
						}
						b.Print(first, adaptertest.Output{Lines: lines, Ends: i == o.polls-1})
						after(2 * time.Second)
					}
					after(time.Minute)
					b.Stop()
					w.noRefusals()
					server, chat = w.Server, w.group
				})
				screens := chatviewtest.Screens(t, telegramtest.NewView(server, chatviewtest.Token), fmt.Sprintf("#%d/0", chat))
				t.Logf("%.2f screens", screens)
				if screens > o.most {
					t.Errorf("425 lines take %.2f screens of a phone, want %.0f at most", screens, o.most)
				}
			})
		}
	}
}
