package telegram_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/adapters/platformtest"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/faults"
)

// A group becomes a supergroup in the middle of a conversation: with a message that grows, a
// question that's open, a call under way, and texts before and after. Nothing is lost or stands
// there twice, each text is typed once, and the question can be answered at the new place. In a third
// of the histories the answers of calls are lost for three seconds; in a third there's a restart.
func TestAGroupMovesInTheMiddleOfAConversation(t *testing.T) {
	for seed := range uint64(adaptertest.Times(2000, 150, 15)) {
		dir := t.TempDir()
		travel := adaptertest.Latency(seed, 800*time.Millisecond)
		inBubble(t, telegramtest.Options{Latency: func(string, int64) (here, back time.Duration) { return travel() }}, func(w *world) {
			random := rand.New(rand.NewPCG(seed, 14))
			o := w.office(dir, w.group)
			o.Open()
			defer func() { o.Close() }()
			o.Begin(asking, "agent")
			o.at.Chat = w.group
			room, old := o.room(), []platformtest.Sight{}
			here := room.Seen
			room.Seen = func() []platformtest.Sight { return append(slices.Clone(old), here()...) }
			room.Unanswered = random.IntN(3) == 0
			room.Meanwhile = func() (restarted bool) {
				if room.Unanswered { // the answers of calls are lost
					w.answersAreLost(3 * time.Second)
				}
				to, err := w.ada.Migrate(w.group, false)
				if err != nil {
					w.Fatal(err)
				}
				old, o.at.Chat = here(), to
				for i := range old {
					old[i].Gone = true
				}
				if restarted = !room.Unanswered && random.IntN(2) == 0; restarted {
					after(time.Duration(random.IntN(5000)) * time.Millisecond)
					o.Restart()
				}
				return restarted
			}
			platformtest.Talk(w.T, o.Office, room, seed)
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// answersAreLost breaks the connections of calls that change something, behind their effect.
func (w *world) answersAreLost(lasts time.Duration) {
	until := time.Now().Add(lasts)
	fate := func(method string, _ []byte) faults.Fate {
		if (strings.HasPrefix(method, "send") || strings.HasPrefix(method, "edit")) && time.Now().Before(until) {
			return faults.Fate{End: faults.Reset}
		}
		return faults.Fate{}
	}
	w.fate.Store(&fate)
}
