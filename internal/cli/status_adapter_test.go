package cli

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

func TestStatusOfAnAdapter(t *testing.T) {
	now := time.Now()
	in := func(d time.Duration) time.Time { return now.Add(d) }
	window := func(used int) []api.WindowUse {
		return []api.WindowUse{{Calls: 20, Seconds: 60, Used: used, FreeAt: in(3500 * time.Millisecond)}, {Family: "typing", Calls: 7, Seconds: 30, Used: used % 2}}
	}
	a := api.Adapter{
		Name: "telegram", Mode: "strict", Documents: 5, InFlight: 1, PenaltyUntil: in(90 * time.Second), Error: "the disk is full",
		Totals: api.CallTotals{Updates: 200, Coalesced: 150, Penalties: 1},
		Chats: []api.Chat{
			{
				Chat: "-1", Windows: window(20), NextSlot: in(3100 * time.Millisecond), Multiplier: 1,
				Waiting: map[string]api.Waiting{"stream": {Count: 2, OldestAge: 12.34}, "final": {Count: 1, OldestAge: 1}},
			},
			{Chat: "-2", Windows: window(3), PenaltyUntil: in(time.Hour), Multiplier: 0.7},
			{Chat: "3", Windows: window(0), BackoffUntil: in(time.Second), Multiplier: 1},
			{Chat: "4", Windows: window(0), Multiplier: 0.49, CallsToPace: 5, InFlight: true},
		},
	}
	b := api.Adapter{Name: "discord", Mode: "strict", Documents: 1, Tick: 3.2, ActiveSessions: 1.44, OldestAge: 0.51, Errors: 1}
	out := new(bytes.Buffer)
	if err := (&invocation{stdio: Stdio{Out: out}}).printAdapter(a, false, now); err != nil {
		t.Fatal(err)
	}
	if err := (&invocation{stdio: Stdio{Out: out}}).printAdapter(b, false, now); err != nil {
		t.Fatal(err)
	}
	want := `
telegram: mode strict, 5 mirrors, 1 call under way, 75 % of the updates needed no call of their own, 1 penalty, silent for 1m30s by the platform's order; sends nothing: the disk is full
CHAT  USED                              NEXT LOOK       WAITING            OLDEST  HELD BACK
-1    20/20 per 60s                     in 4s           1 final, 2 stream  12.3s   all calls are used for 4s
-2    3/20 per 60s, typing 1/7 per 30s                                             silent for 1h0m0s by the platform's order
3     0/20 per 60s                                                                 tries again in 1s
4     0/20 per 60s                      call under way                             at 49 % of its pace after a penalty, for 5 more calls

discord: mode strict, 1 mirror, 0 calls under way, 0 % of the updates needed no call of their own, text every 3.2s in the slowest chat, 1.4 sessions active, the oldest waits for 500ms, 1 error
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestStatusOfALoadedAdapter: -v says per chat what's reckoned with, and what of that the sum is.
func TestStatusOfALoadedAdapter(t *testing.T) {
	a := api.Adapter{
		Name: "telegram", Mode: "strict", Documents: 9, Tick: 4.5, ActiveSessions: 9, Pace: 0.5, Reserve: 7,
		Waiting: map[string]api.Waiting{"stream": {Count: 2, OldestAge: 12.34}},
		Totals: api.CallTotals{
			Calls: map[string]uint64{"stream": 40, "final": 2}, Outcomes: map[string]uint64{"delivered": 35, "throttled": 1, "uncertain": 6},
			Updates: 100, Coalesced: 58, Penalties: 1,
		},
		Chats: []api.Chat{
			{Chat: "-1", Tick: 6.4, ActiveSessions: 2, Reserve: 1, Multiplier: 0.5, CallsToPace: 1},
			{Chat: "-2", Tick: 4.5, ActiveSessions: 7, Reserve: 7, Multiplier: 1},
		},
	}
	out := new(bytes.Buffer)
	p := &invocation{stdio: Stdio{Out: out}}
	if err := errors.Join(p.printAdapter(a, true, time.Now()), p.printLoad(a)); err != nil {
		t.Fatal(err)
	}
	want := `
telegram: mode strict, 9 mirrors, 0 calls under way, 58 % of the updates needed no call of their own, text every 4.5s in the slowest chat, 9.0 sessions active, 1 penalty
CHAT  TICK  ACTIVE  RESERVE  USED  NEXT LOOK  WAITING  OLDEST  HELD BACK
-1    6.4s  2.0     1                                          at 50 % of its pace after a penalty, for 1 more call
-2    4.5s  7.0     7
  pace     text every 4.5s, at 50 % of the full pace, 7 calls left to what matters more, 9.0 sessions active
           (of the chats that have something to send the slowest, the lowest and the most; the sum of the sessions)
  waiting  2 stream for 12.3s
  calls    0 interactive, 2 final, 40 stream, 0 cosmetic; since the daemon's start
  updates  100 came, 58 of which needed no call of their own; 1 penalty; 0 signs of life were left out
  errors   1 throttled ("too many requests"), 6 uncertain (no answer, or one that leaves open whether it was done, as a server's error does)
` + legend + ``
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
