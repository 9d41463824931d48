package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// openRequest is a permission that opencode asks for.
type openRequest struct {
	id, conversation, command string
	forged                    bool // there's no such request
	waits                     *decider
}

// requestPlay is an opencode with conversations of which one is shown, and what its plug-in
// and others tell of it.
type requestPlay struct {
	*rapid.T
	o    *Observer
	p    *Profile
	open []*openRequest
	next int
	told map[string]int
}

// Several conversations and sub-agents of one opencode ask at once, some for the same; hooks
// come late, again and of requests that there aren't: an answer goes to the request whose
// dialog stands there, or by keys.
func TestForgedRequests(t *testing.T) {
	o, p := newReader(t, "opencode")
	runs := 1
	if drawtest.Stressed() {
		runs = 50
	}
	told := map[string]int{}
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			o.known.deciders, o.known.calls, o.known.replies, o.known.settled = nil, nil, nil, nil
			r := &requestPlay{T: rt, o: o, p: p, told: told}
			for range rapid.IntRange(1, 12).Draw(rt, "steps") {
				switch rapid.IntRange(0, 3).Draw(rt, "step") {
				case 0, 1:
					r.ask()
				case 2:
					r.stray()
				default:
					r.answer()
				}
			}
			r.answer()
		})
	}
	t.Log(told)
	if told["by its request"]+10 < 5*told["by keys, though alone"] { // 10: few are drawn with -short
		t.Errorf("answered: %v", told)
	}
}

// hook is what the plug-in tells, read as it's read from there.
func (r *requestPlay) hook(q *openRequest, event string, more map[string]any) Hook {
	fields := map[string]any{"sessionID": q.conversation, "directory": "/srv/project"}
	if event == "permission.asked" {
		fields["id"], fields["permission"] = q.id, "bash"
		fields["metadata"], fields["args"] = map[string]string{"command": q.command}, map[string]string{"command": q.command, "description": "Run it"}
		fields["always"], fields["patterns"] = []string{"ls *"}, []string{q.command}
	} else {
		fields["requestID"] = q.id
	}
	maps.Copy(fields, more)
	text, err := json.Marshal(fields)
	if err != nil {
		r.Fatal(err)
	}
	h, err := ParseHook("opencode", event, text, func(string) string { return "" }, time.Time{})
	if err != nil {
		r.Fatal(err)
	}
	return h
}

// ask has a conversation ask, or somebody tell that one does.
func (r *requestPlay) ask() {
	r.next++
	q := &openRequest{
		id:           fmt.Sprintf("per_%d", r.next),
		conversation: rapid.SampledFrom([]string{"ses_a", "ses_b", "ses_sub"}).Draw(r.T, "conversation"),
		command:      rapid.SampledFrom([]string{"ls -la", "make test", "curl -fsS http://127.0.0.1/x | sh", "rm -rf build"}).Draw(r.T, "command"),
		forged:       rapid.IntRange(0, 5).Draw(r.T, "forged") == 0,
	}
	if rapid.IntRange(0, 9).Draw(r.T, "nobody tells") == 0 {
		r.open = append(r.open, q)
		return
	}
	h := r.hook(q, "permission.asked", nil)
	r.o.takeHook(h)
	if rapid.IntRange(0, 5).Draw(r.T, "again") == 0 {
		r.o.takeHook(h)
	}
	if h.Waits() && rapid.IntRange(0, 9).Draw(r.T, "its hook has ended") > 0 {
		q.waits = newDecider(h, letters(h.Text))
		r.o.known.deciders = append(r.o.known.deciders, q.waits)
	}
	r.open = append(r.open, q)
}

// stray has other hooks come: of another conversation, or of what's over.
func (r *requestPlay) stray() {
	q := &openRequest{id: fmt.Sprintf("per_%d", rapid.IntRange(0, r.next).Draw(r.T, "of")), conversation: "ses_c"}
	event := rapid.SampledFrom([]string{"chat.message", "session.created", "panebridge.replied"}).Draw(r.T, "event")
	r.o.takeHook(r.hook(q, event, map[string]any{"outcome": "given", "text": "hello"}))
}

// answer shows the first request of a conversation, and answers it.
func (r *requestPlay) answer() {
	shown := rapid.SampledFrom([]string{"ses_a", "ses_b", "ses_sub"}).Draw(r.T, "shown")
	i := slices.IndexFunc(r.open, func(q *openRequest) bool { return q.conversation == shown && !q.forged })
	if i < 0 {
		return
	}
	q := r.open[i]
	dialog := []string{
		"     I run it.", "", "  ┃", "  ┃  △ Permission required", "  ┃    # Shell command", "  ┃", "  ┃  $ " + q.command, "  ┃", "  ┃",
		"  ┃   Allow once   Allow always   Reject     ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃",
	}
	d := r.o.recorded(r.p.Prompt(&sessions.Snapshot{Width: 100, Height: len(dialog), Rows: dialog}, nil))
	if d == nil {
		r.Fatal("it isn't read")
	}
	a := sessions.Answer{Options: []int{rapid.IntRange(0, 2).Draw(r.T, "option")}}
	if d.Text != "" && rapid.Bool().Draw(r.T, "a text") {
		a = sessions.Answer{Text: "do it otherwise"}
	}
	like := 0
	for _, other := range r.open {
		if other.command == q.command {
			like++
		}
	}
	_, decided := r.o.decide(r.p.formOf(d), d, a)
	for _, other := range r.open {
		if other.waits == nil || len(other.waits.told) == 0 {
			continue
		}
		told := <-other.waits.told
		other.waits = nil
		alike := slices.ContainsFunc(r.open, func(o *openRequest) bool { return o != other && !o.forged && o.command == other.command })
		if !other.forged && alike { // the plug-in hands no such answer on
			continue
		}
		if !other.forged && other != q {
			r.Fatalf("%s is told %+v, but %s stands there", other.id, told, q.id)
		}
		want := Told{Decision: Allow}
		switch {
		case a.Text != "":
			want = Told{Decision: Deny, Message: a.Text}
		case a.Options[0] == 2:
			want = Told{Decision: Deny}
		}
		if told.Decision != want.Decision || told.Message != want.Message || told.Interrupt || decided != sessions.DecidedHere {
			r.Fatalf("it's told %+v, want %+v", told, want)
		}
		if other == q {
			r.told["by its request"]++
		}
	}
	switch alone := q.waits != nil && like == 1 && (a.Text != "" || a.Options[0] != 1); {
	case decided == sessions.NotDecided && alone:
		r.told["by keys, though alone"]++
	case decided == sessions.NotDecided:
		r.told["by keys"]++
	}
	reply := map[string]any{"reply": "once"}
	r.o.tellWaitingHooks(d)
	r.o.takeHook(r.hook(q, "permission.replied", reply))
	if rapid.IntRange(0, 4).Draw(r.T, "it's told once more, too late") == 0 {
		r.o.takeHook(r.hook(q, "permission.asked", nil))
	}
	r.o.tellWaitingHooks(nil)
	if slices.ContainsFunc(r.o.known.calls, func(one call) bool { return slices.Contains(one.requests, q.id) || one.over > 0 }) {
		r.Fatalf("%s was answered, and is kept: %+v", q.id, r.o.known.calls)
	}
	if slices.ContainsFunc(r.o.known.deciders, func(w *decider) bool { return w.request == q.id }) {
		r.Fatalf("a hook waits for %s, which was answered", q.id)
	}
	r.open = slices.Delete(r.open, i, i+1)
}
