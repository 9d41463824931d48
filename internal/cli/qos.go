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
	errs := []error{p.printf("%s:%s: %s\n", x.Adapter, x.Chat, strings.Join(chatNow(x), ", "))}
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
		errs = append(errs, p.printf("Nothing waits.\n"))
	}
	for i, n := range x.Next {
		errs = append(errs, p.printf("\n%d. %s, waits for %s; %s\n", i+1, whose(n.Session, n.Class), waited(n.Age), whenNext(n, x.At)))
		for _, h := range n.Holds {
			errs = append(errs, p.printf("   %s.\n   %s\n", holdText(h, x), knobsText(h)))
		}
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
	if x.Tick > 0 {
		parts = append(parts, fmt.Sprintf("a tick of %gs", x.Tick))
	}
	if x.Reserve > 0 {
		parts = append(parts, fmt.Sprintf("a reserve of %d", x.Reserve))
	}
	if x.ActiveSessions > 0 {
		parts = append(parts, fmt.Sprintf("%.1f sessions active", x.ActiveSessions))
	}
	if x.Multiplier < 1 {
		parts = append(parts, fmt.Sprintf("at %.0f %% of its pace after a penalty", 100*x.Multiplier))
	}
	return parts
}

// whose says what a call is for.
func whose(session, class string) string {
	what := map[string]string{
		"interactive": "a reply or question", "final": "the end of a turn", "stream": "text", "cosmetic": "a sign of life",
	}[class]
	if session == "" {
		return what + " (" + class + ")"
	}
	return fmt.Sprintf("session %s: %s (%s)", session, what, class)
}

func whenNext(n api.NextCall, now time.Time) string {
	switch {
	case n.At.IsZero():
		return "it isn't known when it's next"
	case len(n.Holds) == 0:
		return "next at once"
	default:
		return "next at " + clock(n.At, now)
	}
}

// holdText says in a sentence why a call isn't made yet.
func holdText(h api.Hold, x api.Explanation) string { //nolint:cyclop // a table in words
	until := "until " + clock(h.Until, x.At)
	every := fmt.Sprintf("%gs", h.Every)
	switch h.Kind {
	case "others":
		text := fmt.Sprintf("It waits for its turn: %s called before it", count(h.Count, "other is", "others are"))
		if h.Every > 0 {
			text += ", one call every " + every
		}
		return text
	case "call":
		return "There's one call at a time, and one is under way"
	case "asked":
		return "The budget is asked for a call, and hasn't answered yet"
	case "penalty":
		return "The chat is silent " + until + ", since the platform ordered it (\"too many requests\")"
	case "backoff":
		return "Back-off after " + count(h.Count, "failed call", "failed calls") + ": it's tried again at " + clock(h.Until, x.At)
	case "slow_start":
		return "After the platform's silence text and ends of turns come back slowly, one every " + every + ", " + until
	case "asleep":
		return "The document sleeps " + until + ": what waits can't be shown before"
	case "session_tick":
		return "A session's text is sent every " + every + " at most"
	case "rest":
		return fmt.Sprintf("It rests until the others had their turn: %s the chat, one call every %s", count(h.Count, "session shares", "sessions share"), every)
	case "live":
		return "Only its screen was redrawn, which is sent every " + every + " at most"
	case "rounding":
		return "There's one call every " + every + " at most for a session and chat"
	case "pace":
		return "Text is paced: one call every " + every
	case "supply":
		return "Many replies were sent lately, and text gives way for them, call by call, " + until
	case "window":
		if h.Count == 1 {
			return "Calls are kept " + every + " apart"
		}
		return fmt.Sprintf("All %d calls of %s are used; the next comes back at %s", h.Count, every, clock(h.Until, x.At))
	case "reserve":
		return fmt.Sprintf("A reply or the end of a turn keeps %d of %s calls free, %s", h.Count, windowCalls(x), until)
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
		return "All calls of the bot are used " + until
	case "bot_pace":
		return "The bot's calls are kept apart, " + until
	case "bot_busy":
		return fmt.Sprintf("The bot makes %d calls at a time, and all are under way", h.Count)
	case "probe":
		return "After the platform's silence one call of the bot is on its way to try"
	case "ahead":
		return "The end of a turn waits for its session's turn: the session has had more than its share of the chat's calls"
	case "ending":
		return "The daemon ends; text goes on after its next start"
	default:
		return h.Kind + " " + until
	}
}

func windowCalls(x api.Explanation) string {
	for _, w := range x.Windows {
		if w.Family == "" {
			return fmt.Sprint(w.Calls)
		}
	}
	return "the"
}

// knobsText names the keys that would change a hold.
func knobsText(h api.Hold) string {
	if len(h.Knobs) == 0 {
		return map[bool]string{
			true:  "Nothing you can set: it's the platform's order.",
			false: "Nothing you can set.",
		}[h.Kind == "penalty" || h.Kind == "learned" || h.Kind == "slow_start"]
	}
	var keys []string
	for _, k := range h.Knobs {
		keys = append(keys, k.Path+": "+k.Value)
	}
	return "What would change it: " + strings.Join(keys, ", ")
}
