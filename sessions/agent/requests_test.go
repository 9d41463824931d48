package agent

import (
	"context"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// asksFor is a hook of opencode's plug-in that waits, of a session with opencode.
type asksFor struct {
	*testing.T
	w    *Watchers
	o    *Observer
	told chan Told
}

func withRequest(t *testing.T, event, record string, test func(r *asksFor)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		h := newHost(t)
		o := h.pane(1).o
		o.known.dialogs = h.w.opt.Profiles.Get("opencode")
		r := &asksFor{T: t, w: h.w, o: o, told: make(chan Told, 1)}
		ctx, cancel := context.WithTimeout(t.Context(), WaitFor)
		defer cancel()
		hook := r.hook(event, record)
		if !hook.Waits() {
			t.Fatalf("%+v doesn't wait", hook)
		}
		o.takeHook(hook)
		go func() { r.told <- h.w.AwaitDecision(ctx, hook) }()
		synctest.Wait()
		test(r)
	})
}

func (r *asksFor) hook(event, record string) Hook {
	h, err := ParseHook("opencode", event, []byte(record), func(string) string { return "" }, time.Now())
	if err != nil {
		r.Fatal(err)
	}
	h.Session = "pb_1"
	return h
}

// dialog is what's on the screen.
func (r *asksFor) dialog(rows ...string) *sessions.Dialog {
	rows = append([]string{"     I do it.", ""}, rows...)
	d := r.o.recorded(r.o.known.dialogs.Prompt(&sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}, nil))
	if d == nil {
		r.Fatal("the dialog isn't read")
	}
	return d
}

// decide answers, and returns what comes of it once the plug-in has told that, if it does.
func (r *asksFor) decide(d *sessions.Dialog, a sessions.Answer, back ...Hook) sessions.Decided {
	came := make(chan sessions.Decided, 1)
	go func() { came <- r.w.Decide(r.Context(), "pb_1", d, a) }()
	synctest.Wait()
	for _, h := range back {
		r.o.takeHook(h)
	}
	return <-came
}

const (
	runsMake = `{"id":"per_1","sessionID":"ses_1","permission":"bash","patterns":["make test"],"always":["make *"],"metadata":{"command":"make test"},"tool":{"callID":"call_1"}}`
	asksTwo  = `{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which way?","header":"Way","options":[{"label":"Left","description":""},{"label":"Right","description":""}]},{"question":"And what?","header":"Load","multiple":true,"options":[{"label":"Bread","description":""},{"label":"Salt","description":""}]}]}`
	asksOne  = `{"id":"que_1","sessionID":"ses_1","questions":[{"question":"Which way?","header":"Way","options":[{"label":"Left","description":""},{"label":"Right","description":""}]}]}`
)

func (r *asksFor) makeDialog() *sessions.Dialog {
	return r.dialog("  ┃", "  ┃  △ Permission required", "  ┃    # Shell command", "  ┃", "  ┃  $ make test", "  ┃", "  ┃   Allow once   Allow always   Reject     ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃")
}

func (r *asksFor) still() bool {
	synctest.Wait()
	return len(r.told) == 0
}

// It waits until its request is answered, whether its dialog is seen or not.
func TestARequestWaits(t *testing.T) {
	withRequest(t, "permission.asked", runsMake, func(r *asksFor) {
		time.Sleep(time.Minute)
		r.o.tellWaitingHooks(r.makeDialog())
		r.o.tellWaitingHooks(nil) // somebody looks at another conversation
		time.Sleep(time.Minute)
		if !r.still() {
			t.Error("it has ended")
		}
		r.o.takeHook(r.hook("permission.replied", `{"sessionID":"ses_1","requestID":"per_2","reply":"once"}`))
		if !r.still() {
			t.Error("it has ended with another")
		}
		r.o.takeHook(r.hook("permission.replied", `{"sessionID":"ses_1","requestID":"per_1","reply":"once"}`))
		if told := <-r.told; told.Decision != "" {
			t.Errorf("it's told %+v", told)
		}
		if d := r.makeDialog(); d.Call != "" || d.Text != "" {
			t.Errorf("it's still bound: %s", shown(d))
		}
	})
}

// Its record is forgotten when it was answered, whichever of the two ways to hear of that
// comes: a later one that would save the same is told by its own.
func TestARequestThatWasAnsweredIsForgotten(t *testing.T) {
	for name, tt := range map[string]struct {
		event, record string
		again         bool // it stands still
	}{
		"opencode says so": {"permission.replied", `{"sessionID":"ses_2","requestID":"per_1","reply":"reject"}`, false},
		"given":            {"panebridge.replied", `{"sessionID":"ses_2","requestID":"per_1","outcome":"given"}`, false},
		"late":             {"panebridge.replied", `{"sessionID":"ses_2","requestID":"per_1","outcome":"late"}`, false},
		"failed":           {"panebridge.replied", `{"sessionID":"ses_2","requestID":"per_1","outcome":"failed"}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			withRequest(t, "permission.asked", runsMake, func(r *asksFor) {
				r.o.tellWaitingHooks(r.makeDialog())
				r.o.takeHook(r.hook(tt.event, tt.record))
				r.o.tellWaitingHooks(nil)
				second := `{"id":"per_2","sessionID":"ses_1","permission":"bash","patterns":["make all"],"always":["make *"],"metadata":{"command":"make all"},"tool":{"callID":"call_2"}}`
				r.o.takeHook(r.hook("permission.asked", second))
				sure := r.dialog("  ┃", "  ┃  △ Always allow", "  ┃", "  ┃  This will allow the following patterns until OpenCode is restarted", "  ┃", "  ┃  - make *", "  ┃", "  ┃   Confirm   Cancel      ⇆ select  enter confirm", "  ┃")
				if bound := sure.Call != ""; bound == tt.again {
					t.Errorf("what's to be saved for good is bound to one request: %t", bound)
				}
			})
		})
	}
}

// Who answers is told what came of it: it counted, a key was faster, or keys have to do it.
func TestWhatCameOfARequest(t *testing.T) {
	for name, tt := range map[string]struct {
		event, record string // "": nothing is told
		want          sessions.Decided
	}{
		"given":           {"panebridge.replied", `{"requestID":"per_1","outcome":"given"}`, sessions.DecidedHere},
		"late":            {"panebridge.replied", `{"requestID":"per_1","outcome":"late"}`, sessions.DecidedElsewhere},
		"failed":          {"panebridge.replied", `{"requestID":"per_1","outcome":"failed"}`, sessions.NotDecided},
		"by somebody":     {"permission.replied", `{"requestID":"per_1","reply":"once"}`, sessions.DecidedElsewhere},
		"nothing":         {"", "", sessions.DecidedHere}, // the screen says whether
		"of another":      {"panebridge.replied", `{"requestID":"per_2","outcome":"late"}`, sessions.DecidedHere},
		"by us, not said": {"permission.replied", `{"requestID":"per_1","reply":"once","own":true}`, sessions.DecidedHere},
	} {
		t.Run(name, func(t *testing.T) {
			withRequest(t, "permission.asked", runsMake, func(r *asksFor) {
				var back []Hook
				if tt.event != "" {
					back = append(back, r.hook(tt.event, tt.record))
				}
				if got := r.decide(r.makeDialog(), sessions.Answer{Options: []int{0}}, back...); got != tt.want {
					t.Errorf("it came to %q, want %q", got, tt.want)
				}
				if told := <-r.told; told.Decision != Allow {
					t.Errorf("it's told %+v", told)
				}
			})
		})
	}
}

// What's told is what was chosen.
func TestARequestIsTold(t *testing.T) {
	dialogs := map[string][]string{
		"permission": {"  ┃", "  ┃  △ Permission required", "  ┃    # Shell command", "  ┃", "  ┃  $ make test", "  ┃", "  ┃   Allow once   Allow always   Reject     ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃"},
		"always":     {"  ┃", "  ┃  △ Always allow", "  ┃", "  ┃  This will allow the following patterns until OpenCode is restarted", "  ┃", "  ┃  - make *", "  ┃", "  ┃   Confirm   Cancel      ⇆ select  enter confirm", "  ┃"},
		"more":       {"  ┃", "  ┃  △ Always allow", "  ┃", "  ┃  This will allow the following patterns until OpenCode is restarted", "  ┃", "  ┃  - make *", "  ┃  - rm *", "  ┃", "  ┃   Confirm   Cancel      ⇆ select  enter confirm", "  ┃"},
		"question":   {"  ┃", "  ┃  Which way?", "  ┃", "  ┃  1. Left", "  ┃  2. Right", "  ┃  3. Type your own answer", "  ┃", "  ┃  ↑↓ select  enter submit  esc dismiss", "  ┃"},
		"other":      {"  ┃", "  ┃  Which way?", "  ┃", "  ┃  1. Left", "  ┃  2. Back", "  ┃  3. Type your own answer", "  ┃", "  ┃  ↑↓ select  enter submit  esc dismiss", "  ┃"},
	}
	for name, tt := range map[string]struct {
		dialog, event, record string
		answer                sessions.Answer
		want                  Told
	}{
		"once":               {"permission", "permission.asked", runsMake, sessions.Answer{Options: []int{0}}, Told{Decision: Allow}},
		"always is a key":    {"permission", "permission.asked", runsMake, sessions.Answer{Options: []int{1}}, Told{}},
		"reject":             {"permission", "permission.asked", runsMake, sessions.Answer{Options: []int{2}}, Told{Decision: Deny}},
		"reject, and why":    {"permission", "permission.asked", runsMake, sessions.Answer{Text: "use go test"}, Told{Decision: Deny, Message: "use go test"}},
		"confirm":            {"always", "permission.asked", runsMake, sessions.Answer{Options: []int{0}}, Told{Decision: AllowAlways}},
		"cancel is a key":    {"always", "permission.asked", runsMake, sessions.Answer{Options: []int{1}}, Told{}},
		"confirm more":       {"more", "permission.asked", runsMake, sessions.Answer{Options: []int{0}}, Told{}},
		"a choice":           {"question", "question.asked", asksOne, sessions.Answer{Options: []int{1}}, Told{Decision: Allow, Answers: [][]string{{"Right"}}}},
		"a text":             {"question", "question.asked", asksOne, sessions.Answer{Text: "up, then \"left\""}, Told{Decision: Allow, Answers: [][]string{{"up, then \"left\""}}}},
		"another question":   {"other", "question.asked", asksOne, sessions.Answer{Options: []int{1}}, Told{}},
		"one of a call's":    {"question", "question.asked", asksTwo, sessions.Answer{Options: []int{1}}, Told{}},
		"another's question": {"question", "permission.asked", runsMake, sessions.Answer{Options: []int{0}}, Told{}},
	} {
		t.Run(name, func(t *testing.T) {
			withRequest(t, tt.event, tt.record, func(r *asksFor) {
				want := sessions.NotDecided
				if tt.want.Decision != "" {
					want = sessions.DecidedHere
				}
				d := r.dialog(dialogs[tt.dialog]...)
				if got := r.decide(d, tt.answer); got != want {
					t.Errorf("it came to %q, want %q: %s", got, want, shown(d))
				}
				r.o.takeHook(r.hook("permission.replied", `{"requestID":"per_1"}`))
				r.o.takeHook(r.hook("question.replied", `{"requestID":"que_1"}`))
				if told := <-r.told; !reflect.DeepEqual(told, tt.want) {
					t.Errorf("it's told %+v, want %+v", told, tt.want)
				}
			})
		})
	}
}

// Several questions are asked one after the other, and told at once.
func TestARequestIsToldSeveralAnswers(t *testing.T) {
	rows := func(mark, title string, options ...string) []string {
		out := []string{"  ┃", "  ┃   Way   Load   Confirm", "  ┃", "  ┃  " + title, "  ┃"}
		for _, o := range options {
			out = append(out, "  ┃  "+o+mark)
			mark = ""
		}
		return append(out, "  ┃", "  ┃  ⇆ tab  ↑↓ select  enter confirm  esc dismiss", "  ┃")
	}
	first := []string{"1. Left", "2. Right", "3. Type your own answer"}
	withRequest(t, "question.asked", asksTwo, func(r *asksFor) {
		for _, not := range [][]string{
			rows(" ✓", "Which way?", first...), // somebody has answered it at the pane
			rows("", "And what? (select all that apply)", "1. [ ] Bread", "2. [ ] Salt", "3. [ ] Type your own answer"),
		} {
			if d := r.dialog(not...); d.Nth != 0 || d.Call != "" {
				t.Errorf("it's asked as the call has it: %s", shown(d))
			}
		}
		d := r.dialog(rows("", "Which way?", first...)...)
		if d.Nth != 1 {
			t.Fatalf("it's asked as it's drawn: %s", shown(d))
		}
		if got := r.decide(d, sessions.Answer{Options: []int{0}}); got != sessions.DecidedHere || !r.still() {
			t.Errorf("the first answer came to %q", got)
		}
		d = r.dialog(rows("", "Which way?", first...)...)
		if d.Nth != 2 || d.Kind != sessions.PromptMulti || d.Title != "And what?" {
			t.Fatalf("asked second is %s", shown(d))
		}
		r.decide(d, sessions.Answer{Options: []int{0, 1}})
		if told, want := <-r.told, (Told{Decision: Allow, Answers: [][]string{{"Left"}, {"Bread", "Salt"}}}); !reflect.DeepEqual(told, want) {
			t.Errorf("it's told %+v, want %+v", told, want)
		}
	})
}
