package app_test

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// promptWatch knows what's on the agent's screen and what the daemon tells of questions.
type promptWatch struct {
	mu      sync.Mutex
	look    *dialogLook
	screens []liveScreen
	prompts []watchedPrompt // in the order in which they came
}

type liveScreen struct {
	at   time.Time
	text string
}

type watchedPrompt struct {
	api.Prompt
	came, went time.Time // as it was told; zero: not yet
}

// dialogLook is how the test sees by itself that a dialog is open: where it begins, and
// what's in each.
type dialogLook struct{ begin, foot *regexp.Regexp }

func dialogLooks() map[string]*dialogLook {
	look := func(begin, foot string) *dialogLook {
		return &dialogLook{regexp.MustCompile("(?m)" + begin), regexp.MustCompile(foot)}
	}
	return map[string]*dialogLook{
		"claude":   look(`^─{10,}$`, `Esc to cancel · Tab to amend|Enter to select ·|Review your answers`),
		"codex":    look(`^  (?:Would you like to|Question \d)`, `Press enter to confirm or esc|enter to submit`),
		"gemini":   look(`^ ?╭─{10,}`, `Allow execution of|Apply this change|Enter to (?:select|submit)|Review your answers`),
		"opencode": look(`^\n(?: *┃.*\n)+(?: .*\n|\n)*\z`, `Permission required|esc dismiss|Always allow`),
		"qwen":     look(`^(?: *╭─{10,}|  \? \S)`, `Allow execution of|Apply this change|↑/↓: Navigate|Ready to submit`),
		"pi":       look(`^never$`, `^never$`),
	}
}

// shows says whether a screen has a dialog that names a tag.
func (l *dialogLook) shows(screen, tag string) bool {
	at := l.begin.FindAllStringIndex(screen, -1)
	if at == nil {
		return false
	}
	from := at[0][0]
	if !strings.HasPrefix(l.begin.String(), "(?m)^─") {
		from = at[len(at)-1][0]
	}
	return l.foot.MatchString(screen[from:]) && strings.Contains(screen[from:], "-"+tag)
}

// watch begins to look at the screen and to listen to the daemon.
func (k *promptRig) watch() {
	ctx, cancel := context.WithCancel(context.Background())
	k.Cleanup(cancel)
	k.seen = &promptWatch{look: dialogLooks()[k.mode.agent]}
	go func() {
		for ctx.Err() == nil {
			if s, err := k.run.Screen(ctx); err == nil {
				k.seen.screen(s)
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	go func() {
		for ctx.Err() == nil {
			_ = k.api.Events(ctx, "", "", func(e client.Event) error {
				var p api.Prompt
				if e.Name == api.EventPrompt && json.Unmarshal(e.Data, &p) == nil {
					k.seen.told(p)
				}
				return nil
			})
			time.Sleep(100 * time.Millisecond)
		}
	}()
}

func (w *promptWatch) screen(text string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if n := len(w.screens); n == 0 || w.screens[n-1].text != text {
		w.screens = append(w.screens, liveScreen{time.Now(), text})
	}
}

func (w *promptWatch) told(p api.Prompt) {
	w.mu.Lock()
	defer w.mu.Unlock()
	final := p.State == sessions.PromptAnswered || p.State == sessions.PromptClosed
	i := slices.IndexFunc(w.prompts, func(o watchedPrompt) bool { return o.ID == p.ID })
	if i < 0 {
		i = len(w.prompts)
		w.prompts = append(w.prompts, watchedPrompt{came: time.Now()})
	}
	w.prompts[i].Prompt = p
	if final && w.prompts[i].went.IsZero() {
		w.prompts[i].went = time.Now()
	}
}

func (w *promptWatch) lastChange() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.screens) == 0 {
		return time.Now()
	}
	return w.screens[len(w.screens)-1].at
}

func (w *promptWatch) all() []watchedPrompt {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.prompts)
}

func (w *promptWatch) open() []api.Prompt {
	var out []api.Prompt
	for _, p := range w.all() {
		if p.went.IsZero() {
			out = append(out, p.Prompt)
		}
	}
	return out
}

func (w *promptWatch) get(id string) watchedPrompt {
	for _, p := range w.all() {
		if p.ID == id {
			return p
		}
	}
	return watchedPrompt{}
}

// find is the newest question that names a tag.
func (w *promptWatch) find(tag string) (api.Prompt, bool) {
	for _, p := range slices.Backward(w.all()) {
		if strings.Contains(p.Title+"\n"+p.Body+"\n"+strings.Join(labels(p.Prompt), "\n"), tag) {
			return p.Prompt, true
		}
	}
	return api.Prompt{}, false
}

func labels(p api.Prompt) []string {
	var out []string
	for _, o := range p.Options {
		out = append(out, o.Label)
	}
	return out
}

// stood are the times between which a dialog that names a tag was last on the screen; gone
// is zero while it's there.
func (w *promptWatch) stood(tag string) (drawn, gone time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.screens {
		switch shows := w.look.shows(s.text, tag); {
		case shows && (drawn.IsZero() || !gone.IsZero() && s.at.Sub(gone) > time.Second):
			drawn, gone = s.at, time.Time{}
		case shows:
			gone = time.Time{}
		case !drawn.IsZero() && gone.IsZero():
			gone = s.at
		}
	}
	return drawn, gone
}
