package telegram_test

import (
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// Ten minutes of silence end with one message: a digest beside a file that has it all.
func TestAPenaltyEndsWithOneDigest(t *testing.T) {
	inBubble(t, telegramtest.Options{}, func(w *world) {
		b := w.bridge(adapters.MirrorRule{Session: "agent-0", To: target(w.group, 0)})
		b.Start()
		defer func() { b.Stop() }()
		b.Begin(first, "agent-0")
		b.Print(first, adaptertest.Output{Lines: lines(0, 2), Ends: true})
		after(time.Minute)
		w.Inject(telegramtest.Fault{Times: 1, Chat: w.group, RetryAfter: 11 * time.Minute})
		from, to := time.Now(), time.Time{}
		for n := range 12 {
			to = time.Now()
			b.Print(first, adaptertest.Output{Lines: lines(100*n, 100), Ends: n%4 == 3})
			after(55 * time.Second)
		}
		before := len(b.seen(telegramtest.Place{Chat: w.group}))
		after(5 * time.Minute)
		all := b.seen(telegramtest.Place{Chat: w.group})
		digest := all[len(all)-1]
		if len(all) != 2 || before > len(all) || !digest.Rang || digest.Data == nil {
			w.Fatalf("%d messages, the last of them %+v", len(all), digest)
		}
		want := "[1200 lines, from " + from.Format("15:04") + " to " + to.Format("15:04") + ", are in the attached file]"
		text := strings.Split(digest.Text, "\n")
		if text[0] != want || !strings.HasPrefix(text[len(text)-1], "3 turns done · the last took ") ||
			!strings.Contains(digest.Text, lines(1199, 1)[0]) {
			w.Errorf("the digest is %q", digest.Text)
		}
		b.compare(telegramtest.Place{Chat: w.group}, first)
		w.noRefusals()
	})
}
