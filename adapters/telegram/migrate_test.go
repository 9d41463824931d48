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
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/faults"
)

// A group becomes a supergroup in the middle of a conversation: with a message that grows, a
// question that's open, a call under way, and texts before and after. Nothing is lost or stands
// there twice without a mark, each text is typed once, and the question can be answered at the new
// place. In a third of the histories the answers of calls are lost for 3 or 10 s, in half of them
// there's a restart or a kill, in a quarter updates come late, so that the calls learn of it first, and in
// another those of the move don't come at all.
func TestAGroupMovesInTheMiddleOfAConversation(t *testing.T) {
	for seed := range drawtest.Seeds(t, drawtest.Times(2000, 40, 15)) {
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
			var lost, late time.Duration // for how long the answers of calls are lost, and updates are late
			if random.IntN(3) == 0 {
				lost = []time.Duration{3 * time.Second, 10 * time.Second}[random.IntN(2)]
			}
			if random.IntN(4) == 0 {
				late = time.Duration(random.Int64N(int64(5 * time.Second)))
			}
			restarts, kill := random.IntN(2) == 0, random.IntN(2) == 0
			if late > 0 { // and how long it takes until they're asked for again
				room.Hears = 15 * time.Second
			}
			room.Unheard = random.IntN(4) == 0
			room.Unanswered = lost > 0 || restarts && kill
			room.Meanwhile = func() {
				w.troubles(lost, late)
				var to int64
				migrate := func() {
					var err error
					if to, err = w.ada.Migrate(w.group, false); err != nil {
						w.Error(err)
					}
				}
				if room.Unheard {
					w.Unheard(migrate)
				} else {
					migrate()
				}
				old, o.at.Chat = here(), to
				for i := range old {
					old[i].Gone = true
				}
				if !restarts {
					return
				}
				after(time.Duration(random.Int64N(int64([]time.Duration{time.Second, 5 * time.Second, 20 * time.Second}[random.IntN(3)]))))
				if kill {
					o.Kill()
				} else {
					o.Restart()
				}
			}
			platformtest.Talk(w.T, o.Office, room, seed)
			if !o.In.KnowsChat(target(o.at.Chat, 0)) {
				w.Error("what's kept for the group didn't follow it")
			}
		})
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// troubles breaks the connections of calls that change something, behind their effect, for so long,
// and those of calls that ask for updates.
func (w *world) troubles(lost, late time.Duration) {
	begins := time.Now()
	fate := func(method string, _ []byte) faults.Fate {
		changes := strings.HasPrefix(method, "send") || strings.HasPrefix(method, "edit")
		if changes && time.Since(begins) < lost || method == "getUpdates" && time.Since(begins) < late {
			return faults.Fate{End: faults.Reset}
		}
		return faults.Fate{}
	}
	w.fate.Store(&fate)
}
