package app_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// boxRig is a live rig whose agent's input box has something in it.
type boxRig struct {
	*liveRig
	guesses int // times that the program's own guess stood there when a text came
	said    int
}

// Texts come to real agents whose input boxes show what the program itself writes there,
// a placeholder or a guess at what's asked next: none waits for that. Where a person has
// begun to write, wherever the cursor stands, all wait until that's gone.
func TestLiveBoxes(t *testing.T) {
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	turns := 5
	if drawtest.Stressed() {
		turns = 20
	}
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "qwen", "pi"} {
		if only := os.Getenv("PANEBRIDGE_AGENT"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			m := liveMode{agent: name, width: 100, height: 30, hooks: agentlab.Agents()[name].Hooks}
			m.env = []string{"CLAUDE_CODE_ENABLE_PROMPT_SUGGESTION=1"}
			k := &boxRig{liveRig: newLiveRig(t, m)}
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(10+turns)*time.Minute)
			defer cancel()
			for range turns {
				k.freely(ctx)
			}
			held := 0
			for _, half := range k.halves() {
				k.idle(ctx)
				if half.text == "" && !k.guessed(ctx) {
					continue
				}
				k.behind(ctx, half)
				held++
				k.freely(ctx) // and then the box has its guess again
			}
			t.Logf("%s %s: %d texts, 0 held, of which %d came while its guess stood there; %d came behind something half-typed, all held", name, k.run.Agent.Version(), k.said-held, k.guesses, held)
			want := turns - 2
			if name == "claude" { // it guesses nothing behind a turn that ended while another pane had the focus: every other one
				want = turns/2 - 1
			}
			if k.guessing() && k.guesses < want {
				t.Errorf("its guess stood there only %d times", k.guesses)
			}
		})
	}
}

// ask gives the agent a text, once it stands still.
func (k *boxRig) ask(ctx context.Context) (text string, receipt sessions.Receipt) {
	k.Helper()
	k.said++
	text = fmt.Sprintf("Please say hello, for the time number %d", k.said)
	receipt, err := k.api.Input(ctx, string(k.id), text, true)
	k.must(err)
	return text, receipt
}

// idle waits until the agent has answered all, and shows what it shows then.
func (k *boxRig) idle(ctx context.Context) {
	k.Helper()
	k.focus(true) // else some guess nothing
	k.must(k.run.Answered(ctx, k.said))
	k.must(k.run.Still(ctx, 2*time.Second))
	if k.said > 1 && k.guessing() { // it asks the model for it behind the turn
		within(ctx, 15*time.Second, func() bool { return k.guessed(ctx) })
	}
	k.focus(k.said%2 == 0)
	k.must(k.run.Still(ctx, time.Second))
}

// focus tells the program that its pane has the focus, or another has, as tmux does where
// focus-events is on: some put their cursors away then.
func (k *boxRig) focus(has bool) {
	k.Helper()
	if !slices.Contains([]string{"claude", "gemini", "qwen"}, k.mode.agent) {
		return // it hasn't asked to be told
	}
	last := "4f"
	if has {
		last = "49"
	}
	k.tmux("send-keys", "-t", k.run.Pane, "-H", "1b", "5b", last)
}

// guessing reports whether the program guesses what's asked next.
func (k *boxRig) guessing() bool {
	name := k.mode.agent
	return name == "claude" || name == "qwen" && !strings.HasPrefix(k.run.Agent.Version(), "0.15.")
}

// guessed reports whether its guess is on the screen.
func (k *boxRig) guessed(ctx context.Context) bool {
	return strings.Contains(k.screen(ctx), agentlab.Guess)
}

// freely gives it a text that nothing is in the way of.
func (k *boxRig) freely(ctx context.Context) {
	k.Helper()
	k.idle(ctx)
	if k.guessed(ctx) {
		k.guesses++
	}
	text, r := k.ask(ctx)
	for !r.Final() {
		if r.State == sessions.ReceiptHeld {
			k.Fatalf("%q is held: %s\n%s", text, r.Reason, k.screen(ctx))
		}
		r = k.later(ctx, r)
	}
	k.submitted(ctx, text, r)
}

func (k *boxRig) later(ctx context.Context, r sessions.Receipt) sessions.Receipt {
	k.Helper()
	time.Sleep(20 * time.Millisecond)
	now, err := k.api.Receipt(ctx, r.ID)
	if err != nil {
		k.must(fmt.Errorf("%w; screen:\n%s", err, k.screen(context.WithoutCancel(ctx))))
	}
	return now
}

// submitted wants the model to have been asked just that.
func (k *boxRig) submitted(ctx context.Context, text string, r sessions.Receipt) {
	k.Helper()
	if r.State != sessions.ReceiptSubmitted {
		k.Fatalf("%q: %s %s\n%s", text, r.State, r.Reason, k.screen(ctx))
	}
	k.must(k.run.Answered(ctx, k.said))
	if asked := strings.TrimSpace(k.last().User); !strings.HasSuffix("\n"+asked, "\n"+text) { // Gemini CLI puts its context before the first
		k.Fatalf("the model was asked %q, not %q", asked, text)
	}
}

// half is something that a person has begun to write.
type half struct {
	text string
	keys []string // pressed behind it
}

func (k *boxRig) halves() []half {
	out := []half{
		{keys: []string{"Tab"}}, // which takes the guess
		{text: "half"},
		{text: "half", keys: []string{"C-a"}},
		{text: "half a sentence 漢字 👋", keys: []string{"Left", "Left"}},
		{text: agentlab.Guess},
		{text: agentlab.Guess, keys: []string{"C-a"}},
	}
	for _, own := range []string{`Try "edit <filepath> to…"`, "Type your message", "Ask anything", "Ask Codex to do anything"} {
		out = append(out, half{text: own, keys: []string{"C-a"}})
	}
	return out
}

// looks is the screen with its colours and its cursor.
func (k *boxRig) looks() string {
	k.Helper()
	return k.tmux("display-message", "-p", "-t", k.run.Pane, "#{cursor_x} #{cursor_y}") + k.tmux("capture-pane", "-p", "-e", "-t", k.run.Pane)
}

// behind gives it a text while something half-typed stands there, and takes that away.
func (k *boxRig) behind(ctx context.Context, h half) {
	k.Helper()
	if h.text != "" {
		before := k.looks()
		k.must(k.run.Paste(ctx, h.text))
		if !within(ctx, time.Minute, func() bool { return k.looks() != before }) { // its guess has the same letters
			k.Fatalf("%q isn't drawn:\n%s", h.text, k.screen(ctx))
		}
	}
	if len(h.keys) > 0 {
		time.Sleep(time.Second)
		k.must(k.run.Keys(ctx, h.keys...))
	}
	k.must(k.run.Still(ctx, time.Second))
	text, r := k.ask(ctx)
	for r.State != sessions.ReceiptHeld {
		if r.Final() || r.State == sessions.ReceiptTyped {
			k.Fatalf("%q is %s while %q stands there (%v): %s\n%s", text, r.State, h.text, h.keys, r.Reason, k.screen(ctx))
		}
		r = k.later(ctx, r)
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); r = k.later(ctx, r) {
		if r.State != sessions.ReceiptHeld {
			k.Fatalf("%q is %s while %q stands there (%v): %s\n%s", text, r.State, h.text, h.keys, r.Reason, k.screen(ctx))
		}
	}
	if slices.ContainsFunc(k.run.Model.Requests(), func(q agentlab.Request) bool { return strings.Contains(q.User, text) }) {
		k.Fatalf("the model was asked %q", text)
	}
	k.must(k.run.Keys(ctx, "C-e", "C-u"))
	for !r.Final() {
		r = k.later(ctx, r)
	}
	k.submitted(ctx, text, r)
}
