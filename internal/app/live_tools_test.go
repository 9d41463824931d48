package app_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
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

// Real agent programs ask whether they may call a tool of an MCP server, with hooks and without:
// all that it's called with is shown, and is what it's called with when that's allowed, or only a
// refusal is taken.
func TestLiveTools(t *testing.T) { eachLiveAgent(t, liveTools) }

func liveTools(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	if !slices.Contains([]string{"claude", "gemini", "qwen", "opencode"}, name) {
		t.Skip("its calls of tools are asked about otherwise, or not at all")
	}
	for _, hooks := range []bool{true, false} {
		t.Run(fmt.Sprint("hooks ", hooks), func(t *testing.T) { liveToolsWith(t, name, hooks, random) })
	}
}

func liveToolsWith(t *testing.T, name string, hooks bool, random *rand.Rand) {
	t.Helper()
	rounds := 6
	if drawtest.Stressed() {
		rounds = 50
	}
	m := liveMode{agent: name, width: 100, height: 40, hooks: hooks, orders: true, mcp: true}
	if a := agentlab.Agents()[name]; a.Inline && a.Alt && random.IntN(2) == 0 {
		m.screen = agentlab.Inline
	}
	k := promptRigOf(t, m, random)
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.plain(momentIdle, k.word("say")) // meanwhile it's told of the tools
	k.calm()
	// What these draw whole is read whole, in a taller pane if need be.
	whole := hooks || name == "claude" || name == "qwen" && agentlab.Agents()[name].Version() != "0.15.10"
	recorded, allowed, refused, unseen := 0, 0, 0, 0
	for range rounds {
		if t.Failed() {
			return // a question that stands open would have each of the others wait for minutes
		}
		o := k.word("tool")
		k.plain(momentIdle, o)
		p, ok := k.asksAbout(o.tag)
		if !ok {
			t.Errorf("no question about %s; prompts %+v; screen:\n%s", o, k.seen.all(), k.screen(k.Context()))
			return
		}
		for end := time.Now().Add(20 * time.Second); whole && p.Unseen && time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			if open := k.seen.open(); len(open) == 1 {
				p = open[0]
			}
		}
		args := agentlab.OrderTool(o.tag)
		said, _ := json.Marshal(args)
		t.Logf("%s: %d bytes, recorded %t, disputed %t, unseen %t, cut %t", o, len(said), p.Recorded, p.Disputed, p.Unseen, p.Cut)
		if p.Disputed || !p.Unseen && !saysAll(p.Body, args) || hooks && !p.Recorded || whole == p.Unseen {
			t.Errorf("it asks about\n%s\nand this is shown, %+v:\n%s\non the screen\n%s", said, p, p.Body, k.screen(k.Context()))
		}
		if p.Recorded && !p.Disputed {
			recorded++
		}
		yes := !p.Unseen && random.IntN(3) > 0
		if p.Unseen {
			unseen++
			allows := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return !o.Refuses })
			if _, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: allows + 1}}); err == nil {
				t.Errorf("%+v was allowed, and not all of it was shown", p)
			}
		}
		option := slices.IndexFunc(p.Options, func(o api.PromptOption) bool { return o.Refuses != yes })
		if done, err := k.api.Answer(k.Context(), p.ID, api.AnswerRequest{Option: &api.PromptChoice{N: option + 1}}); err != nil || done.State != sessions.PromptAnswered {
			t.Errorf("answer %+v: %v; screen:\n%s", p, err, k.screen(k.Context()))
		}
		if yes {
			allowed++
		} else {
			refused++
		}
		k.calm()
		k.checkPut(o, args, yes)
	}
	t.Logf("%d calls: %d recorded, %d allowed, %d refused, %d not seen whole; hooks %t", rounds, recorded, allowed, refused, unseen, hooks)
}

// checkPut wants the tool to have been called with just this, or not at all.
func (k *promptRig) checkPut(o order, args map[string]any, yes bool) {
	k.Helper()
	text, err := os.ReadFile(filepath.Join(k.run.Cwd, agentlab.OrderFile(o.tag)))
	if ran := err == nil; ran != yes {
		k.Errorf("%s ran: %t, want %t; screen:\n%s", o, ran, yes, k.screen(k.Context()))
		return
	}
	if !yes {
		return
	}
	want, err := json.Marshal(args)
	k.must(err)
	var is, wanted any
	if json.Unmarshal(text, &is) != nil || json.Unmarshal(want, &wanted) != nil || !reflect.DeepEqual(is, wanted) {
		k.Errorf("it was called with\n%s\nand not\n%s", text, want)
	}
}

// toolEscapes are how programs write what can't stand in a row.
var toolEscapes = regexp.MustCompile(`\\(?:u[0-9a-f]{4}|.)`)

// saysAll reports whether a question says all names and texts that a tool is called with, but for
// signs and blanks, which programs draw each in their own way.
func saysAll(body string, args map[string]any) bool {
	plain := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return r
			}
			return -1
		}, toolEscapes.ReplaceAllString(s, ""))
	}
	said := plain(body)
	for name, value := range args {
		texts := []string{name}
		if text, ok := value.(string); ok {
			texts = append(texts, strings.Split(text, "\u202e")...)
		} else {
			b, err := json.Marshal(value)
			if err != nil {
				return false
			}
			texts = append(texts, string(b))
		}
		for _, text := range texts {
			for _, part := range strings.FieldsFunc(text, func(r rune) bool { return unicode.Is(unicode.Cf, r) }) {
				if !strings.Contains(said, plain(part)) {
					return false
				}
			}
		}
	}
	return true
}
