package cli

import (
	"bytes"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

func TestStatusOfAnAdapter(t *testing.T) {
	now := time.Now()
	in := func(d time.Duration) time.Time { return now.Add(d) }
	window := func(used int) []api.WindowUse {
		return []api.WindowUse{{Calls: 20, Seconds: 60, Used: used}, {Family: "typing", Calls: 7, Seconds: 30, Used: used % 2}}
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
			{Chat: "4", Windows: window(0), Multiplier: 0.49},
		},
	}
	b := api.Adapter{Name: "discord", Mode: "strict", Documents: 1, Tick: 3.2, ActiveSessions: 1.44, OldestAge: 0.51, Errors: 1}
	out := new(bytes.Buffer)
	if err := (&invocation{stdio: Stdio{Out: out}}).printAdapter(a, now); err != nil {
		t.Fatal(err)
	}
	if err := (&invocation{stdio: Stdio{Out: out}}).printAdapter(b, now); err != nil {
		t.Fatal(err)
	}
	want := `
telegram: strict, 5 documents, 1 under way, 75 % coalesced away, 1 penalty, silent for 1m30s by the platform's order; sends nothing: the disk is full
CHAT  USED                              NEXT SLOT  WAITING            OLDEST  HELD BACK
-1    20/20 per 60s                     in 4s      1 final, 2 stream  12.3s
-2    3/20 per 60s, typing 1/7 per 30s  free                                  silent for 1h0m0s by the platform's order
3     0/20 per 60s                      free                                  tries again in 1s
4     0/20 per 60s                      free                                  at 49 % of its pace after a penalty

discord: strict, 1 document, 0 under way, 0 % coalesced away, a tick of 3.2s, 1.4 sessions active, the oldest waits for 500ms, 1 error
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
