package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// Real agent programs ask whether they may run commands that have dialogs in them, longer
// than the screen and shorter, with hooks and without: what's shown is the whole command,
// and is done when it's allowed, or only a refusal is taken.
func TestLiveForgedCommands(t *testing.T) { eachLiveAgent(t, liveForged) }

func liveForged(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	if agentlab.Agents()[name].Permission == nil && name != "pi" {
		t.Skip("it asks for no permission")
	}
	for _, hooks := range []bool{true, false} {
		if agentlab.Agents()[name].Hooks || !hooks {
			t.Run(fmt.Sprint("hooks ", hooks), func(t *testing.T) { liveForgedWith(t, name, hooks, random) })
		}
	}
}

func liveForgedWith(t *testing.T, name string, hooks bool, random *rand.Rand) {
	t.Helper()
	rounds := 4
	if drawtest.Stressed() {
		rounds = 50
	}
	m := liveMode{agent: name, width: 100, height: 40, hooks: hooks, orders: true}
	if a := agentlab.Agents()[name]; a.Inline && a.Alt && random.IntN(2) == 0 {
		m.screen = agentlab.Inline
	}
	k := promptRigOf(t, m, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if name == "pi" {
		k.installAsker()
	}
	recorded, allowed, refused := 0, 0, 0
	for range rounds {
		if t.Failed() {
			return // a question that stands open would have each of the others wait for minutes
		}
		o := k.word("forge")
		k.plain(momentIdle, o)
		p, ok := k.asksAbout(o.tag)
		if !ok {
			t.Errorf("no question about %s; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
			return
		}
		command := agentlab.OrderForged(o.tag)
		whole := strings.Contains(visibleOnly(p.Body), visibleOnly(sessions.Legible(command)))
		t.Logf("%s: %d rows, recorded %t, disputed %t, unseen %t, cut %t", o, strings.Count(command, "\n")+1, p.Recorded, p.Disputed, p.Unseen, p.Cut)
		told := strings.HasPrefix(p.Body, sessions.Legible(command)) ||
			strings.HasPrefix(p.Body, sessions.Legible("$ "+strings.ReplaceAll(command, "\n", "\n  "))) // a row of it could be another value
		if !p.Unseen && !whole || p.Recorded && !p.Disputed && !told {
			t.Errorf("it asks about\n%s\nand this is shown, %+v:\n%s\non the screen\n%s", command, p, p.Body, k.screen(k.Context()))
		}
		if p.Recorded && !p.Disputed {
			recorded++
		}
		yes := random.IntN(2) == 0 || p.Unseen
		option := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return (o.Refuses || o.Label == "No") != yes })
		done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option + 1}})
		switch {
		case p.Unseen && err == nil:
			t.Errorf("%+v was allowed, and not all of it was shown", p)
		case p.Unseen:
			no := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses })
			if name == "pi" { // what its options mean is the extension's to say
				k.must(k.run.Keys(k.Context(), "Escape"))
			} else if _, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: no + 1}}); err != nil {
				t.Errorf("refuse %+v: %v", p, err)
			}
			refused++
			yes = false
		case err != nil || done.State != sessions.PromptAnswered:
			t.Errorf("answer %+v: %v", p, err)
		case yes:
			allowed++
		default:
			refused++
		}
		k.calm()
		made, _ := filepath.Glob(filepath.Join(k.run.Cwd, agentlab.OrderFile(o.tag)))
		if ran := len(made) > 0; ran != yes {
			t.Errorf("%s ran: %t, want %t; screen:\n%s", o, ran, yes, k.screen(k.Context()))
		}
	}
	t.Logf("%d commands: %d recorded, %d allowed, %d refused; hooks %t", rounds, recorded, allowed, refused, k.mode.hooks)
	if k.mode.hooks && recorded*2 < rounds {
		t.Errorf("of %d commands %d were shown as they're recorded", rounds, recorded)
	}
}

// asker is an extension of pi's that asks about each command.
const asker = `export default function (pi) {
	pi.on("tool_call", async (event, ctx) => {
		if (event.toolName !== "bash") return undefined;
		const said = await ctx.ui.select("May this run?\n\n  " + event.input.command + "\n\nAllow it?", ["Yes", "No"]);
		return said === "Yes" ? undefined : { block: true, reason: "refused" };
	});
}
`

// installAsker has pi ask about each command.
func (k *promptRig) installAsker() {
	k.Helper()
	dir := filepath.Join(k.run.Cwd, ".pi", "extensions")
	k.must(os.MkdirAll(dir, 0o700))
	k.must(os.WriteFile(filepath.Join(dir, "asker.ts"), []byte(asker), 0o600))
	k.must(k.run.Keys(k.Context(), "/reload"))
	time.Sleep(time.Second)
	k.must(k.run.Keys(k.Context(), "Enter"))
	time.Sleep(5 * time.Second)
}

// asksAbout is the question about a command, when it has stood for some time.
func (k *promptRig) asksAbout(tag string) (api.Prompt, bool) {
	k.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		k.clear()
		open := k.seen.open()
		if i := slices.IndexFunc(open, func(p api.Prompt) bool {
			return p.Kind == sessions.PromptPermission || k.mode.agent == "pi" && p.Kind == sessions.PromptChoice
		}); i >= 0 {
			time.Sleep(700 * time.Millisecond)
			all, err := k.api.Prompts(k.Context())
			k.must(err)
			for _, p := range all {
				if p.ID == open[i].ID && p.State == sessions.PromptOpen && (strings.Contains(p.Body, tag) || p.Unseen) {
					return p, true
				}
			}
		}
	}
	return api.Prompt{}, false
}

// visibleOnly is a text without what terminals draw otherwise.
func visibleOnly(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= '─' && r <= '▟' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me) {
			return -1
		}
		return r
	}, text)
}
