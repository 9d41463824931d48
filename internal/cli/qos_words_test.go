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
		text := holdText(api.Hold{Kind: kind.String(), Until: time.Now(), Count: 2, Every: 3}, api.NextCall{}, api.Explanation{})
		if !strings.Contains(text, " ") || strings.HasPrefix(text, kind.String()+" ") {
			t.Errorf("%v is said as %q", kind, text)
		}
	}
}

func TestAnExplanationIsPrinted(t *testing.T) {
	now := time.Date(2026, 1, 1, 14, 3, 0, 0, time.Local)
	in := func(d time.Duration) time.Time { return now.Add(d) }
	knobs := []api.Knob{{Path: "adapters.telegram.qos.group_mpm", Value: "20", Try: "higher"}, {Path: "adapters.telegram.qos.mode", Value: "strict", Try: "coalesce_only"}}
	penalty := api.Hold{Kind: "penalty", Until: in(5 * time.Second)}
	x := api.Explanation{
		Adapter: "telegram", Chat: "-1", At: now, Mode: "strict", Tick: 3.8, ActiveSessions: 2.6, Reserve: 2, Multiplier: 1,
		Windows: []api.WindowUse{{Calls: 20, Seconds: 60, Used: 18}},
		Call:    &api.CallBegun{Session: "api", Class: "final", Began: in(-time.Second), Deadline: in(19 * time.Second)},
		Next: []api.NextCall{
			{Class: "interactive", Age: 0.2, At: in(time.Second), Holds: []api.Hold{{Kind: "call"}}},
			{
				Session: "web", Class: "stream", Age: 12.3, At: in(7 * time.Second),
				Holds: []api.Hold{{Kind: "others", Until: in(time.Second), Count: 1, Every: 3.8, Knobs: knobs}, penalty},
			},
			{Session: "job", Class: "stream", Age: 12.3, At: in(11 * time.Second), Holds: []api.Hold{
				{Kind: "ahead", Knobs: knobs}, {Kind: "others", Until: in(7 * time.Second), Count: 2, Every: 3, Knobs: knobs}, penalty,
			}},
			{Session: "doc", Class: "stream", Age: 3, LastCall: in(-31 * time.Second), At: in(90 * time.Second), Holds: []api.Hold{{
				Kind: "session_tick", Until: in(89 * time.Second), Every: 120,
				Knobs: []api.Knob{{Path: "adapters.telegram.qos.min_session_tick_s", Value: "120", Try: "lower"}},
			}, {Kind: "pace", Until: in(time.Second), Every: 3.8, Knobs: knobs}}},
			{Session: "big", Class: "stream", Age: 97, LastCall: in(-31 * time.Second), At: in(95 * time.Second), Holds: []api.Hold{
				{Kind: "rest", Until: in(95 * time.Second), Count: 12, Every: 3.2, Knobs: knobs},
			}},
			{Session: "db", Class: "stream", Age: 60, Holds: []api.Hold{{Kind: "ending"}}},
		},
	}
	out := new(bytes.Buffer)
	if err := (&invocation{stdio: Stdio{Out: out}}).printExplanation(x); err != nil {
		t.Fatal(err)
	}
	want := `telegram:-1 at 14:03:00: mode strict, 18 of 20 calls per 60s used, text every 3.8s on average (which leaves some 2 calls to what's more important), 2.6 sessions active lately
A call for session api: the end of a turn (final) is under way since 14:02:59, and is given up at 14:03:19.
What waits, and when it's sent if nothing else comes and no call fails:

1. a reply, a question or a new topic (interactive); has waited for 200ms, sent in 1s, at 14:03:01
   There's one call at a time, and one is under way.

2. session web: text (stream); has waited for 12.3s, sent in 7s, at 14:03:07
   It waits for its turn: 1 other is sent before it, at 14:03:01.
   The chat is silent until 14:03:05, since the platform ordered it ("too many requests").

3. session job: the end of a turn, in its turn as text is (stream); has waited for 12.3s, sent in 11s, at 14:03:11
   The session has had more than its share of the chat's calls, so its ends of turns don't go first: they wait for its turn, as its text would, and are told together.
   It waits for its turn: 2 others are sent before it, one every 3s, the last at 14:03:07.

4. session doc: text (stream); has waited for 3s, sent in 1m30s, at 14:04:30
   A session's text is sent once in 120s at most, so not before 14:04:29.

5. session big: text (stream); has waited for 1m37s (its last call, at 14:02:29, didn't bring all of it), sent in 1m35s, at 14:04:35
   Its last call was at 14:02:29, and it rests until 14:04:35 for the others' turns: 12 sessions share the chat, one call every 3.2s.

6. session db: text (stream); has waited for 1m0s, it isn't known when it's sent
   The daemon ends; text goes on after its next start.

What would have them sent earlier:
1, 6: nothing you can set.
2, 3, 5: a higher adapters.telegram.qos.group_mpm (now 20), or adapters.telegram.qos.mode: coalesce_only (now strict)
4: a lower adapters.telegram.qos.min_session_tick_s (now 120)
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out, want)
	}
}

// TestAChatWithoutAFullPaceSaysNoReserve, since it keeps more than that from text.
func TestAChatWithoutAFullPaceSaysNoReserve(t *testing.T) {
	got := strings.Join(chatNow(api.Explanation{Mode: "strict", Tick: 6.4, Reserve: 1, Multiplier: 0.5, CallsToPace: 5}), ", ")
	want := "mode strict, text every 6.4s on average, which is 50 % of the full pace, after the platform's silence: " +
		"whole again after 5 more calls; right behind the silence calls stand closer together, to make up for it"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}
