package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

func newQoS(p *invocation) *cobra.Command {
	return newGroup("qos", "When which text is sent to chats", newQoSExplain(p))
}

func newQoSExplain(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "explain CHAT",
		Short: "Say who's next in a chat, when, and what would change it",
		Long: `Say whose text is sent next to a chat, when, why not before, and which keys of the
configuration would change that, if nothing else happens meanwhile.

CHAT is one as "panebridge status" lists it or a session's binding has it, with its adapter or
without, a part that only one has, or the name of a session that's mirrored there.`,
		Example: "  panebridge qos explain web\n  panebridge qos explain ADAPTER:CHAT",
		Args:    takes(1, 1),
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			x, err := c.Explain(ctx, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(x)
			}
			return p.printExplanation(x)
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printExplanation prints what a chat allows now, and then who's next.
func (p *invocation) printExplanation(x api.Explanation) error {
	errs := []error{p.printf("%s:%s at %s: %s\n", x.Adapter, x.Chat, clock(x.At, x.At), strings.Join(chatNow(x), ", "))}
	if x.Mode == "off" {
		errs = append(errs, p.printf("Nothing is held back but by the platform's order: mode: off.\n"))
	}
	if x.Error != "" {
		errs = append(errs, p.printf("Nothing is sent, since the budget fails: %s.\n", x.Error))
	}
	if c := x.Call; c != nil {
		errs = append(errs, p.printf("A call for %s is under way since %s, and is given up at %s.\n",
			whose(c.Session, c.Class), clock(c.Began, x.At), clock(c.Deadline, x.At)))
	}
	if len(x.Next) == 0 {
		return errors.Join(append(errs, p.printf("Nothing waits.\n"))...)
	}
	errs = append(errs, p.printf("What waits, and when it's sent if nothing else comes and no call fails:\n"))
	for i, n := range x.Next {
		errs = append(errs, p.printf("\n%d. %s; %s\n", i+1, whatWaits(n), whenNext(n, x.At)))
		for _, h := range holdsToTell(n) {
			errs = append(errs, p.printf("   %s.\n", holdText(h, n, x)))
		}
	}
	return errors.Join(append(errs, p.printChanges(x))...)
}

// holdsToTell are what decides when a call is made, who's before it, and what lasts as long as that. What ends before
// changes nothing.
func holdsToTell(n api.NextCall) []api.Hold {
	var out []api.Hold
	for i, h := range n.Holds {
		end := n.Holds[0].Until
		if end.IsZero() {
			end = n.At
		}
		if i == 0 || h.Kind == "others" || h.Until.IsZero() || !h.Until.Before(end) {
			out = append(out, h)
		}
	}
	return out
}

// printChanges says what would change what decides, once for all that share it.
func (p *invocation) printChanges(x api.Explanation) error {
	var texts []string
	numbers := map[string][]string{}
	for i, n := range x.Next {
		if len(n.Holds) == 0 {
			continue
		}
		text := knobsText(n.Holds[0])
		if numbers[text] == nil {
			texts = append(texts, text)
		}
		numbers[text] = append(numbers[text], fmt.Sprint(i+1))
	}
	if len(texts) == 0 {
		return nil
	}
	errs := []error{p.printf("\nWhat would have them sent earlier:\n")}
	for _, text := range texts {
		errs = append(errs, p.printf("%s: %s\n", strings.Join(numbers[text], ", "), text))
	}
	return errors.Join(errs...)
}

// chatNow is how a chat stands.
func chatNow(x api.Explanation) []string {
	parts := []string{"mode " + x.Mode}
	for _, w := range x.Windows {
		if w.Family == "" {
			parts = append(parts, fmt.Sprintf("%d of %d calls per %gs used", w.Used, w.Calls, w.Seconds))
		}
	}
	if x.PenaltyUntil.After(x.At) {
		parts = append(parts, "silent until "+clock(x.PenaltyUntil, x.At)+" by the platform's order")
	}
	if x.Tick > 0 {
		text := fmt.Sprintf("text every %gs on average", x.Tick)
		if x.Reserve > 0 && x.Multiplier == 1 { // else it's more
			text += fmt.Sprintf(" (which leaves some %s to what's more important)", count(x.Reserve, "call", "calls"))
		}
		parts = append(parts, text)
	}
	if x.ActiveSessions > 0 {
		parts = append(parts, fmt.Sprintf("%.1f sessions active lately", x.ActiveSessions))
	}
	if x.Multiplier < 1 {
		text := fmt.Sprintf("which is %.0f %% of the full pace, after the platform's silence: whole again after %s; right behind the silence calls stand closer together, to make up for it",
			100*x.Multiplier, count(x.CallsToPace, "more call", "more calls"))
		parts = append(parts, text)
	}
	return parts
}

// whatWaits says what a call that waits is for.
func whatWaits(n api.NextCall) string {
	for _, h := range n.Holds {
		if h.Kind == "ahead" {
			return "session " + n.Session + ": the end of a turn, in its turn as text is (stream)"
		}
	}
	return whose(n.Session, n.Class)
}

// whose says what a call is for.
func whose(session, class string) string {
	what := map[string]string{
		"interactive": "a reply, a question or a new topic", "final": "the end of a turn", "stream": "text", "cosmetic": "a sign of life",
	}[class]
	if session == "" {
		return what + " (" + class + ")"
	}
	return fmt.Sprintf("session %s: %s (%s)", session, what, class)
}

func whenNext(n api.NextCall, now time.Time) string {
	text := "has waited for " + waited(n.Age)
	if n.LastCall.After(now.Add(-time.Duration(n.Age * float64(time.Second)))) {
		text += " (its last call, at " + clock(n.LastCall, now) + ", didn't bring all of it)"
	}
	what := "sent"
	for _, h := range n.Holds {
		if h.Kind == "backoff" {
			what = "tried"
		}
	}
	switch {
	case n.At.IsZero():
		return text + ", it isn't known when it's sent"
	case len(n.Holds) == 0:
		return text + ", sent at once"
	default:
		return fmt.Sprintf("%s, %s in %s, at %s", text, what, waited(n.At.Sub(now).Seconds()), clock(n.At, now))
	}
}

// holdText says in a sentence why a call isn't made yet.
func holdText(h api.Hold, n api.NextCall, x api.Explanation) string { //nolint:cyclop // a table in words
	until := "until " + clock(h.Until, x.At)
	every := fmt.Sprintf("%gs", h.Every)
	switch h.Kind {
	case "others":
		others := count(h.Count, "other is", "others are")
		if h.Count > 1 && h.Every > 0 {
			return fmt.Sprintf("It waits for its turn: %s sent before it, one every %s, the last at %s", others, every, clock(h.Until, x.At))
		}
		return fmt.Sprintf("It waits for its turn: %s sent before it, at %s", others, clock(h.Until, x.At))
	case "call":
		return "There's one call at a time, and one is under way"
	case "asked":
		return "The budget is asked for a call, and hasn't answered yet"
	case "penalty":
		return "The chat is silent " + until + ", since the platform ordered it (\"too many requests\")"
	case "backoff":
		return "The chat's " + lastCalls(h.Count) + " failed, and the next is tried at " + clock(h.Until, x.At) +
			", then again and again, half a minute apart at most; `panebridge status` says what's wrong"
	case "slow_start":
		return "After the platform's silence text and ends of turns come back slowly, one every " + every + ", " + until
	case "asleep":
		return "What waits can't be shown before " + clock(h.Until, x.At)
	case "session_tick":
		return "A session's text is sent once in " + every + " at most, so not before " + clock(h.Until, x.At)
	case "rest":
		last := "It has had a call"
		if !n.LastCall.IsZero() {
			last = "Its last call was at " + clock(n.LastCall, x.At)
		}
		return fmt.Sprintf("%s, and it rests until %s for the others' turns: %s the chat, one call every %s", last, clock(h.Until, x.At),
			count(h.Count, "session shares", "sessions share"), every)
	case "live":
		return "Only its screen was redrawn, which is sent once in " + every + " at most, so not before " + clock(h.Until, x.At)
	case "rounding":
		return "There's at most one call in " + every + " for a session and chat"
	case "pace":
		return "Text is paced: one call every " + every + " in this chat, the next at " + clock(h.Until, x.At)
	case "supply":
		return fmt.Sprintf("The chat's calls of all kinds together are kept a little below the limit: one every %.1fs on average, and the next for text at %s", h.Every, clock(h.Until, x.At))
	case "window":
		if h.Count == 1 {
			return "Calls are kept " + every + " apart"
		}
		return fmt.Sprintf("All %d calls of %s are used; the next comes back at %s", h.Count, every, clock(h.Until, x.At))
	case "reserve":
		return fmt.Sprintf("Of the chat's %s %s kept free now for replies and ends of turns, and all others are used %s", windowCalls(x), count(h.Count, "is", "are"), until)
	case "may_arrive":
		return "A call that wasn't answered may still arrive, " + until + ", and mustn't be overtaken"
	case "learned":
		return "The platform said that the limit is used up " + until
	case "budget":
		if x.Error != "" {
			return "The budget fails (" + x.Error + "), and is asked again at " + clock(h.Until, x.At)
		}
		return "The budget has no call left " + until + ": other processes' calls count, too"
	case "bot_window":
		return "The bot's limit for all its chats together allows no call " + until
	case "bot_pace":
		return "The bot's calls are kept apart, " + until
	case "bot_busy":
		return fmt.Sprintf("The bot makes %d calls at a time, and all are under way", h.Count)
	case "probe":
		return "After the platform's silence one call of the bot is on its way to try"
	case "ahead":
		return "The session has had more than its share of the chat's calls, so its ends of turns don't go first: they wait for its turn, as its text would, and are told together"
	case "ending":
		return "The daemon ends; text goes on after its next start"
	default:
		return h.Kind + " " + until
	}
}

func lastCalls(n int) string {
	if n == 1 {
		return "last call"
	}
	return fmt.Sprintf("last %d calls", n)
}

// windowCalls is how many calls a chat's messages get.
func windowCalls(x api.Explanation) string {
	for _, w := range x.Windows {
		if w.Family == "" {
			return fmt.Sprintf("%d calls", w.Calls)
		}
	}
	return "calls"
}

// knobsText names the keys that would change a hold.
func knobsText(h api.Hold) string {
	if len(h.Knobs) == 0 {
		return map[bool]string{
			true:  "nothing you can set: it's the platform's order.",
			false: "nothing you can set.",
		}[h.Kind == "penalty" || h.Kind == "learned" || h.Kind == "slow_start"]
	}
	var keys []string
	for _, k := range h.Knobs {
		if k.Try == "higher" || k.Try == "lower" {
			keys = append(keys, fmt.Sprintf("a %s %s (now %s)", k.Try, k.Path, k.Value))
		} else {
			key := fmt.Sprintf("%s: %s (now %s)", k.Path, k.Try, k.Value)
			if k.Try == "off" {
				key += ", which keeps to no limit"
			}
			keys = append(keys, key)
		}
	}
	return strings.Join(keys, ", or ")
}
