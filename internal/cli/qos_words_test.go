package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/qos"
)

// TestEveryHoldHasWords, and none prints the name that the API has for it alone.
func TestEveryHoldHasWords(t *testing.T) {
	for kind := qos.HoldOthers; kind.String() != "invalid"; kind++ {
		text := holdText(api.Hold{Kind: kind.String(), Until: time.Now(), Count: 2, Every: 3}, api.Explanation{})
		if !strings.Contains(text, " ") || strings.HasPrefix(text, kind.String()+" ") {
			t.Errorf("%v is said as %q", kind, text)
		}
	}
}

func TestAnExplanationIsPrinted(t *testing.T) {
	now := time.Date(2026, 1, 1, 14, 3, 0, 0, time.Local)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	knobs := []api.Knob{{Path: "adapters.telegram.qos.group_mpm", Value: "20"}}
	x := api.Explanation{
		Adapter: "telegram", Chat: "-1", At: now, Mode: "strict", Tick: 3.8, ActiveSessions: 2.6, Reserve: 2, Multiplier: 0.7,
		Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 18}},
		Call:    &api.CallBegun{Session: "api", Class: "final", Began: in(-time.Second), Deadline: in(19 * time.Second)},
		Next: []api.NextCall{
			{Class: "interactive", Age: 0.2, At: in(time.Second), Holds: []api.Hold{{Kind: "call"}}},
			{
				Session: "web", Class: "stream", Age: 12.3, At: in(7 * time.Second),
				Holds: []api.Hold{{Kind: "others", Until: in(time.Second), Count: 1, Every: 3.8, Knobs: knobs}, {Kind: "penalty", Until: in(5 * time.Second)}},
			},
			{Session: "db", Class: "stream", Age: 60, Holds: []api.Hold{{Kind: "ending"}}},
		},
	}
	out := new(bytes.Buffer)
	if err := (&invocation{stdio: Stdio{Out: out}}).printExplanation(x); err != nil {
		t.Fatal(err)
	}
	want := `telegram:-1: mode strict, 18 of 20 calls per 60s used, a tick of 3.8s, a reserve of 2, 2.6 sessions active, at 70 % of its pace after a penalty
A call for session api: the end of a turn (final) is under way since 14:02:59, and is given up at 14:03:19.

1. a reply or question (interactive), waits for 200ms; next at 14:03:01
   There's one call at a time, and one is under way.
   Nothing you can set.

2. session web: text (stream), waits for 12.3s; next at 14:03:07
   It waits for its turn: 1 other is called before it, one call every 3.8s.
   What would change it: adapters.telegram.qos.group_mpm: 20
   The chat is silent until 14:03:05, since the platform ordered it ("too many requests").
   Nothing you can set: it's the platform's order.

3. session db: text (stream), waits for 1m0s; it isn't known when it's next
   The daemon ends; text goes on after its next start.
   Nothing you can set.
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}
