package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// liveAsks is how often each agent asks, and as many texts are given to it besides those
// that have it ask.
func liveAsks() int {
	if drawtest.Stressed() {
		return 50
	}
	return 6
}

// Real agent programs are given texts of random kinds at random moments, from the chats
// and from here, and ask for permissions and decisions, which are answered at random from
// the chats, from here, on the keyboard, at both at once, or not at all: the agents do
// what was answered and nothing else, each dialog is shown and closed in time, and each
// text comes to the model once, or is said not to have been submitted.
func TestLivePrompts(t *testing.T) { eachLiveAgent(t, livePrompts) }

// eachLiveAgent plays something with each of the real agent programs.
func eachLiveAgent(t *testing.T, play func(t *testing.T, name string, random *rand.Rand)) {
	t.Helper()
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "qwen", "pi"} {
		if only := os.Getenv("PANEBRIDGE_AGENT"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			play(t, name, drawtest.Rand(t, 0))
		})
	}
}

func livePrompts(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	k := beginPromptRig(t, name, random)
	k.input(momentStart, k.word("say"))
	if err := k.run.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	k.calm()
	t.Logf("%v", k.inputs)
	asks, says := liveAsks(), liveAsks()
	if !k.asks() {
		asks = 0
	}
	for asks+says > 0 && !t.Failed() {
		if k.random.IntN(asks+says) < asks {
			asks--
			k.ask()
		} else {
			says--
			k.tell()
		}
	}
	k.check()
	if t.Failed() {
		k.dump(k.logged())
	}
}

// promptRig is a live rig whose agent asks.
type promptRig struct {
	*liveRig

	random    *rand.Rand
	seen      *promptWatch
	inputs    []*liveInput
	questions []*question
	passing   []string // prompts that stood for a moment only
}

// beginPromptRig starts an agent in a random mode, and what it asks is watched.
func beginPromptRig(t *testing.T, name string, random *rand.Rand) *promptRig {
	t.Helper()
	a := agentlab.Agents()[name]
	m := liveMode{agent: name, width: 100, height: 40, hooks: a.Hooks && random.IntN(2) == 0, orders: true}
	if a.Inline && a.Alt && random.IntN(2) == 0 {
		m.screen = agentlab.Inline
	}
	m.daemon = name == "codex" && !m.hooks && random.IntN(2) == 0
	return promptRigOf(t, m, random)
}

// promptRigOf starts an agent in a mode, and what it asks is watched.
func promptRigOf(t *testing.T, m liveMode, random *rand.Rand) *promptRig {
	t.Helper()
	t.Logf("%v", m)
	k := &promptRig{liveRig: beginLiveRig(t, m), random: random}
	k.watch()
	return k
}

// asks reports whether the agent ever asks for a permission.
func (k *promptRig) asks() bool { return agentlab.Agents()[k.mode.agent].Permission != nil }

// askMoment is what the agent is doing when it's given a text.
type askMoment string

const (
	momentStart  askMoment = "start-up"
	momentIdle   askMoment = "idle"
	momentBusy   askMoment = "busy"
	momentDialog askMoment = "dialog"
)

// order is what the model is to do.
type order struct{ kind, tag string }

func (o order) String() string { return "(" + o.kind + " " + o.tag + ")" }

func (k *promptRig) word(kind string) order {
	tag := []byte("t")
	for range 8 {
		tag = append(tag, agentlab.OrderLetters[k.random.IntN(len(agentlab.OrderLetters))])
	}
	return order{kind, string(tag)}
}

// tell gives the agent a text, idle or at work.
func (k *promptRig) tell() {
	k.Helper()
	at := momentIdle
	if k.random.IntN(2) == 0 {
		at = momentBusy
		k.busy()
	}
	k.input(at, k.word("say"))
	if k.random.IntN(3) == 0 {
		k.input(at, k.word("say"))
	}
	k.calm()
}

// busy has the agent work for some seconds.
func (k *promptRig) busy() {
	k.Helper()
	o := k.word("slow")
	k.plain(momentIdle, o)
	for end := time.Now().Add(patience); k.run.Model.Ordered(o.tag) == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			k.must(fmt.Errorf("the model wasn't asked %s; inputs %v; screen:\n%s", o, k.inputs, k.screen(k.Context())))
		}
	}
	time.Sleep(time.Duration(k.random.Int64N(int64(4 * time.Second))))
}

// ask has the agent ask, and answers.
func (k *promptRig) ask() {
	k.Helper()
	at := momentIdle
	if k.random.IntN(3) == 0 {
		at = momentBusy
		k.busy()
	}
	o := k.word([]string{"run", "run", "write", "ask", "ask", "multi", "two"}[k.random.IntN(7)])
	k.input(at, o)
	qs := []*question{{kind: o.kind, tag: o.tag}}
	if o.kind == "two" {
		second := &question{kind: "run", tag: o.tag + "2", pair: true}
		qs = []*question{{kind: "run", tag: o.tag + "1", other: second, pair: true}, second}
	}
	began := time.Now()
	for i, q := range qs {
		if !k.comes(q) {
			if i == 1 && qs[0].denied() {
				k.Logf("%s: it didn't ask for the second, as the first was refused", o)
				break
			}
			k.Errorf("no question of %s within %s; prompts %+v; screen:\n%s", o, time.Since(began), k.seen.all(), k.screen(k.Context()))
			return
		}
		if i == 1 && qs[0].denied() && k.isTakenBack(q) {
			k.Logf("%s: it took the second back, as the first was refused", o)
			break
		}
		k.questions = append(k.questions, q)
		if k.random.IntN(3) == 0 {
			k.input(momentDialog, k.word("say"))
			time.Sleep(time.Duration(k.random.Int64N(int64(3 * time.Second))))
		}
		k.answer(q)
	}
	k.finish(qs)
	k.calm()
}

// isTakenBack reports whether a question goes away within two seconds without an answer: opencode 1.18.33
// may draw the second of two dialogs for a moment when a refusal of the first ends both.
func (k *promptRig) isTakenBack(q *question) bool {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if !slices.ContainsFunc(k.seen.open(), func(p api.Prompt) bool { return p.ID == q.prompt.ID }) {
			return true
		}
	}
	return false
}

// finish submits what's asked once more when all is chosen.
func (k *promptRig) finish(qs []*question) {
	k.Helper()
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		for _, p := range k.seen.open() {
			if p.Kind == sessions.PromptPermission || slices.ContainsFunc(qs, func(q *question) bool { return q.prompt.ID == p.ID }) {
				continue
			}
			q := &question{kind: "review", tag: qs[0].tag, prompt: p}
			k.questions = append(k.questions, q)
			q.how, q.options = "api", []int{0}
			k.answerHere(q)
			end = time.Now().Add(3 * time.Second)
		}
	}
}

// comes waits until a question is known.
func (k *promptRig) comes(q *question) bool {
	k.Helper()
	for end := time.Now().Add(90 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		p, ok := k.seen.find(q.tag)
		if other := q.other; !ok && other != nil { // of two at once the second may come first
			if p, ok = k.seen.find(other.tag); ok {
				q.tag, other.tag = other.tag, q.tag
			}
		}
		if ok && !k.stays(p, q.other != nil) {
			continue
		}
		if ok {
			q.prompt, q.other = p, nil
			k.Logf("%s: %s %s %q, options %v, text %q", q.tag, p.ID, p.Kind, p.Title, labels(p), p.Text)
			return true
		}
		k.clear()
		if len(q.tag) == 10 && q.other == nil && !k.run.Model.Busy() && len(k.seen.open()) == 0 && time.Since(k.seen.lastChange()) > 5*time.Second {
			return false // refused with the first
		}
		if k.Context().Err() != nil {
			return false
		}
	}
	return false
}

// stays reports whether a question is still open when it's all drawn, and the order of two
// is settled: Gemini CLI may show the second for a moment first.
func (k *promptRig) stays(p api.Prompt, two bool) bool {
	settled := 400 * time.Millisecond
	if two {
		settled = 1500 * time.Millisecond
	}
	time.Sleep(settled)
	if slices.ContainsFunc(k.seen.open(), func(o api.Prompt) bool { return o.ID == p.ID }) {
		return true
	}
	k.passing = append(k.passing, p.ID)
	return false
}

// calm waits until nothing is asked, and nothing waits to be typed.
func (k *promptRig) calm() {
	k.Helper()
	quiet := time.Now()
	for end := time.Now().Add(patience); time.Since(quiet) < 2*time.Second; time.Sleep(100 * time.Millisecond) {
		k.clear()
		if why := k.stir(); why != "" || time.Since(k.seen.lastChange()) < 1500*time.Millisecond {
			quiet = time.Now()
			if time.Now().After(end) {
				k.Errorf("it doesn't come to rest: %s; inputs %s; screen:\n%s", why, k.pending(), k.screen(k.Context()))
				return
			}
		}
	}
}

// stir is what's still going on; "": nothing is.
func (k *promptRig) stir() string {
	if k.run.Model.Busy() {
		return "the model answers"
	}
	if open := k.seen.open(); len(open) > 0 {
		return fmt.Sprintf("open questions %+v", open)
	}
	for _, in := range k.inputs {
		if k.refresh(in); !in.over() {
			return fmt.Sprintf("the text %s is %s", in.order, in.state())
		}
	}
	return ""
}

func (k *promptRig) pending() string {
	var out []string
	for _, in := range k.inputs {
		if !in.over() {
			out = append(out, fmt.Sprintf("%s by %s: %s", in.order, in.via, in.state()))
		}
	}
	return strings.Join(out, "; ")
}
