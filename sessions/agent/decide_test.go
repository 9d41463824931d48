package agent

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// permission is a dialog of Claude Code as its form reads it.
func permission(command string) *sessions.Dialog {
	return &sessions.Dialog{
		Kind: sessions.PromptPermission, Form: "permission", Title: "Do you want to proceed?", Body: "Bash command\n  " + command,
		Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "Yes, and don't ask again"}, {Label: "No"}},
	}
}

// waiting is a hook that waits in a session with Claude Code.
type waiting struct {
	*testing.T
	w    *Watchers
	o    *Observer
	done chan HookDecision
}

func withWaiting(t *testing.T, command string, test func(w *waiting)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		o := h.pane(1).o
		o.known.dialogs = h.w.opt.Profiles.Get("claude")
		w := &waiting{T: t, w: h.w, o: o, done: make(chan HookDecision, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), WaitFor)
		defer cancel()
		go func() {
			w.done <- h.w.AwaitDecision(ctx, Hook{Agent: "claude", Event: "PermissionRequest", Signal: Asking, Text: command, Session: "pb_1"}).Decision
		}()
		synctest.Wait()
		test(w)
	})
}

func (w *waiting) decide(d *sessions.Dialog, option int) bool {
	return w.w.Decide(w.Context(), "pb_1", d, sessions.Answer{Options: []int{option}}) == sessions.DecidedHere
}

// told is what the hook was told; "still": it waits.
func (w *waiting) told() HookDecision {
	synctest.Wait()
	select {
	case d := <-w.done:
		return d
	default:
		return "still"
	}
}

func (w *waiting) want(want HookDecision) {
	w.Helper()
	if got := w.told(); got != want {
		w.Errorf("the hook is told %q, want %q", got, want)
	}
}

func TestAHookAllows(t *testing.T) {
	withWaiting(t, "make test", func(w *waiting) {
		w.o.tellWaitingHooks(permission("make test"))
		time.Sleep(time.Minute)
		w.want("still")
		for _, option := range []int{1, 2} {
			if w.decide(permission("make test"), option) {
				w.Errorf("option %d was told by the hook", option)
			}
		}
		if w.decide(permission("rm -rf build"), 0) {
			w.Error("another dialog was answered by it")
		}
		if !w.decide(permission("make test"), 0) {
			w.Error("it doesn't allow")
		}
		w.want(Allow)
		if w.decide(permission("make test"), 0) {
			w.Error("it allows twice")
		}
	})
}

// A program without a screen isn't held up, and none whose dialog was answered otherwise.
func TestAHookDoesNotWaitForNothing(t *testing.T) {
	withWaiting(t, "make test", func(w *waiting) {
		time.Sleep(shownWithin + time.Millisecond)
		w.want("")
	})
	withWaiting(t, "make test", func(w *waiting) {
		w.o.tellWaitingHooks(permission("make test"))
		time.Sleep(time.Minute)
		w.o.tellWaitingHooks(nil)
		w.want("")
	})
	withWaiting(t, "make test", func(w *waiting) {
		w.o.tellWaitingHooks(permission("make test"))
		time.Sleep(WaitFor)
		w.want("")
	})
}

// Of two that wait it can't be told which dialog stands there.
func TestTwoHooksThatWaitDecideNothing(t *testing.T) {
	withWaiting(t, "make test", func(w *waiting) {
		go w.w.AwaitDecision(w.Context(), Hook{Agent: "claude", Event: "PermissionRequest", Signal: Asking, Text: "make", Session: "pb_1"})
		synctest.Wait()
		w.o.tellWaitingHooks(permission("make test"))
		if w.decide(permission("make test"), 0) {
			w.Error("one was chosen")
		}
		w.o.tellWaitingHooks(nil)
		w.want("")
	})
}

// Where calls are recorded, a hook decides about its own and no other: not about one whose
// dialog shows the same, nor one that its dialog contradicts.
func TestAHookDecidesAboutItsCall(t *testing.T) {
	hook := func(command string) Hook {
		input, err := json.Marshal(map[string]string{"command": command})
		if err != nil {
			t.Fatal(err)
		}
		return Hook{Agent: "claude", Event: "PermissionRequest", Signal: Asking, Tool: "Bash", Text: "make", Session: "pb_1", Input: input}
	}
	withWaiting(t, "make", func(w *waiting) { // one that doesn't tell its call, and two that do
		calls := []Hook{hook("make test"), hook("make test && make install")}
		told := make([]chan HookDecision, len(calls))
		for i, h := range calls {
			told[i] = make(chan HookDecision, 1)
			go func() { told[i] <- w.w.AwaitDecision(w.Context(), h).Decision }()
		}
		synctest.Wait()
		d := permission("make test")
		d.Call = sumOf(calls[1])
		w.o.tellWaitingHooks(d)
		other, disputed := *d, *d
		other.Call, disputed.Disputed = "of another", true
		for _, not := range []*sessions.Dialog{&other, &disputed, permission("make test")} {
			if w.decide(not, 0) {
				t.Errorf("it's decided about %+v", not)
			}
		}
		if !w.decide(d, 0) {
			t.Error("nothing is decided")
		}
		if got := <-told[1]; got != Allow {
			t.Errorf("the hook of the call is told %q", got)
		}
		synctest.Wait()
		select {
		case got := <-told[0]:
			t.Errorf("the other is told %q", got)
		default:
		}
		w.o.tellWaitingHooks(nil)
	})
}

// "No" ends the turn, so the hook says that too; not where the call isn't surely its own, and
// not of a sub-agent's, whose turn goes on after a "No".
func TestAHookRefuses(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(h *Hook, d *sessions.Dialog)
		option int
		want   Told
	}{
		"no":           {nil, 2, Told{Decision: Deny, Interrupt: true}},
		"of a part":    {func(_ *Hook, d *sessions.Dialog) { d.Unseen = true }, 2, Told{Decision: Deny, Interrupt: true}},
		"yes for ever": {nil, 1, Told{}},
		"no, and more": {func(_ *Hook, d *sessions.Dialog) { d.Options[2].Label = "No, and tell Claude what to do" }, 2, Told{}},
		"disputed":     {func(_ *Hook, d *sessions.Dialog) { d.Disputed = true }, 2, Told{}},
		"another call": {func(_ *Hook, d *sessions.Dialog) { d.Call = "another" }, 2, Told{}},
		"no record":    {func(h *Hook, d *sessions.Dialog) { h.Input, d.Call = nil, "" }, 2, Told{}},
		"a sub-agent":  {func(h *Hook, _ *sessions.Dialog) { h.Sub = true }, 2, Told{}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newHost(t)
				o := host.pane(1).o
				o.known.dialogs = host.w.opt.Profiles.Get("claude")
				h := Hook{Agent: "claude", Event: "PermissionRequest", Signal: Asking, Tool: "Bash", Text: "make test", Session: "pb_1", Input: json.RawMessage(`{"command":"make test"}`)}
				d := permission("make test")
				d.Call = sumOf(h)
				if tt.change != nil {
					tt.change(&h, d)
				}
				told := make(chan Told, 1)
				go func() { told <- host.w.AwaitDecision(t.Context(), h) }()
				synctest.Wait()
				o.tellWaitingHooks(d)
				if did := host.w.Decide(t.Context(), "pb_1", d, sessions.Answer{Options: []int{tt.option}}) == sessions.DecidedHere; did != (tt.want.Decision != "") {
					t.Errorf("answered by the hook: %v", did)
				}
				o.tellWaitingHooks(nil)
				time.Sleep(shownWithin)
				if got := <-told; got.Decision != tt.want.Decision || got.Interrupt != tt.want.Interrupt || got.Input != nil {
					t.Errorf("it's told %+v, want %+v", got, tt.want)
				}
			})
		})
	}
}

// A plan is approved by its hook in the one way that leaves each edit to be asked about: the
// mode says so, as the one before the plan may ask less.
func TestAHookApprovesAPlan(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(d *sessions.Dialog)
		answer sessions.Answer
		want   bool
	}{
		"with edits asked about": {nil, sessions.Answer{Options: []int{1}}, true},
		"in auto mode":           {nil, sessions.Answer{Options: []int{0}}, false},
		"changed":                {nil, sessions.Answer{Text: "Yes, manually approve edits"}, false},
		"not bound":              {func(d *sessions.Dialog) { d.Call = "" }, sessions.Answer{Options: []int{1}}, false},
		"of another call":        {func(d *sessions.Dialog) { d.Call = "another" }, sessions.Answer{Options: []int{1}}, false},
		"in another dialog":      {func(d *sessions.Dialog) { d.Form = "permission" }, sessions.Answer{Options: []int{1}}, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newHost(t)
				o := host.pane(1).o
				o.known.dialogs = host.w.opt.Profiles.Get("claude")
				h := Hook{
					Agent: "claude", Event: "PermissionRequest", Signal: Asking, Tool: "ExitPlanMode", Text: "1. Build the parser", Session: "pb_1",
					Input: json.RawMessage(`{"plan":"1. Build the parser","planFilePath":"/p.md"}`),
				}
				d := &sessions.Dialog{
					Kind: sessions.PromptPlan, Form: "written plan", Title: "Would you like to proceed?", Body: "1. Build the parser", Text: "Tell Claude what to change", Call: sumOf(h),
					Options: []sessions.DialogOption{{Label: "Yes, and use auto mode"}, {Label: "Yes, manually approve edits"}},
				}
				if tt.change != nil {
					tt.change(d)
				}
				told := make(chan Told, 1)
				go func() { told <- host.w.AwaitDecision(t.Context(), h) }()
				synctest.Wait()
				o.tellWaitingHooks(d)
				if did := host.w.Decide(t.Context(), "pb_1", d, tt.answer) == sessions.DecidedHere; did != tt.want {
					t.Errorf("answered by the hook: %v", did)
				}
				o.tellWaitingHooks(nil)
				time.Sleep(shownWithin)
				got := <-told
				if want := (Told{Decision: Allow, Input: h.Input, Mode: "default"}); tt.want && !reflect.DeepEqual(got, want) || !tt.want && got.Decision != "" {
					t.Errorf("it's told %+v", got)
				}
			})
		})
	}
}

// A question is answered by its hook with the labels that were chosen, or a text, if it's the
// very one that the dialog asks.
func TestAHookAnswersAQuestion(t *testing.T) {
	const input = `{"questions":[{"question":"Which parts should be built, given all of it?","header":"Parts","multiSelect":true,"options":[{"label":"Parser","description":"x"},{"label":"Writer"},{"label":"A long one"}]}],"metadata":{"source":"x"}}`
	dialog := func() *sessions.Dialog {
		return &sessions.Dialog{
			Kind: sessions.PromptMulti, Form: "multi", Title: "Which parts should be built, given all of it?", Text: "Type something",
			Options: []sessions.DialogOption{{Label: "Parser"}, {Label: "Writer"}, {Label: "A  long one"}, {Label: "Chat about this"}},
		}
	}
	for name, tt := range map[string]struct {
		change func(d *sessions.Dialog)
		answer sessions.Answer
		want   string // "": it's for keys
	}{
		"one":                  {nil, sessions.Answer{Options: []int{1}}, "Writer"},
		"two":                  {nil, sessions.Answer{Options: []int{0, 2}}, "Parser, A long one"},
		"a text":               {nil, sessions.Answer{Text: "both, \"please\""}, `both, "please"`},
		"none":                 {nil, sessions.Answer{Options: []int{}}, ""},
		"what isn't a choice":  {nil, sessions.Answer{Options: []int{3}}, ""},
		"another question":     {func(d *sessions.Dialog) { d.Title = "Which parts should be built, given all of it? Or none?" }, sessions.Answer{Options: []int{0}}, ""},
		"one with other words": {func(d *sessions.Dialog) { d.Options[1].Label = "Writer, too" }, sessions.Answer{Options: []int{0}}, ""},
		"one that isn't seen":  {func(d *sessions.Dialog) { d.Unseen = true }, sessions.Answer{Options: []int{0}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := newHost(t)
				o := h.pane(1).o
				o.known.dialogs = h.w.opt.Profiles.Get("claude")
				told := make(chan Told, 1)
				go func() {
					told <- h.w.AwaitDecision(t.Context(), Hook{
						Agent: "claude", Event: "PermissionRequest", Signal: Asking, Tool: "AskUserQuestion", Session: "pb_1",
						Text: "Which parts should be built, given all of it?", Input: json.RawMessage(input),
					})
				}()
				synctest.Wait()
				d := dialog()
				o.tellWaitingHooks(d)
				if tt.change != nil {
					tt.change(d)
				}
				if did := h.w.Decide(t.Context(), "pb_1", d, tt.answer) == sessions.DecidedHere; did != (tt.want != "") {
					t.Fatalf("answered by the hook: %v", did)
				}
				o.tellWaitingHooks(nil)
				got := <-told
				if tt.want == "" {
					if got.Decision != "" {
						t.Errorf("it's told %+v", got)
					}
					return
				}
				var out struct {
					Questions []json.RawMessage
					Answers   map[string]string
					Metadata  map[string]string
				}
				if err := json.Unmarshal(got.Input, &out); err != nil || got.Decision != Allow || len(out.Questions) != 1 || out.Metadata["source"] != "x" ||
					len(out.Answers) != 1 || out.Answers[d.Title] != tt.want {
					t.Errorf("it's told %s %s, %v; want %q", got.Decision, got.Input, err, tt.want)
				}
			})
		})
	}
}
