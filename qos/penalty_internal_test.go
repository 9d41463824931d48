package qos

import (
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// TestThePaceIsWholeWhenItIsSaidToBe: whatever penalties a chat had, of its own and from elsewhere, its streams and finals
// keep to the slow start for exactly as many accepted calls as the status tells.
func TestThePaceIsWholeWhenItIsSaidToBe(t *testing.T) {
	random := drawtest.Rand(t, 17)
	opt := Options{Limits: Limits{
		Bot: Limit{Windows: []Window{{Calls: 30, Per: time.Second}}}, Private: Limit{Windows: []Window{{Calls: 60, Per: time.Minute}}},
	}}
	e, err := NewSlotEngine(opt, NewLocalBudget(nil), nil)
	if err != nil {
		t.Fatal(err)
	}
	for range drawtest.Times(20_000, 2000, 500) {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		c := e.chatOf("-1")
		c.lastPaced, c.throttle = now, throttle{}
		th := &c.throttle
		for range 1 + random.IntN(30) {
			switch random.IntN(5) {
			case 4:
				for range random.IntN(2 * cleanCalls) {
					th.succeeded(now, now)
				}
			case 0:
				th.silence(now)
				th.reduce(now, th.probing)
			case 1:
				th.heard(Penalty{Until: now, Multiplier: []float64{0.3, 0.49, 0.5, 0.7, 0.85, 1}[random.IntN(6)]}, now)
			default:
				th.succeeded(now, now)
			}
		}
		th.succeeded(now, now) // it may be the probe, which keeps to no pace
		said := th.callsToFull()
		calls := 0
		for ; !e.slowUntil(now, c).IsZero() && calls <= said+1; calls++ {
			th.succeeded(now, now)
		}
		if calls != said {
			t.Fatalf("said to be whole after %d calls, was after %d: %+v", said, calls, *th)
		}
	}
}
