package adaptertest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Stage is a platform with people on it, and a daemon that shows one session's questions
// at one place there. What the daemon keeps outlives its processes.
type Stage interface {
	// Session is the session's id; Questions are those that it asks.
	Session() sessions.ID
	Questions() *Questions
	// Seen is what people see of the daemon's messages at the place.
	Seen() []Posted
	// Press presses the button of that label below a message, as a person with the role
	// approver, or as another who's known; it returns what the person was told in passing,
	// or an error if there's no such button.
	Press(approver bool, message, label string) (string, error)
	// Choose chooses, as the approver, exactly these of the options that stand below a
	// message, by what their labels begin with: with a press each, or all at once in a menu.
	// It returns what the person was told in passing.
	Choose(message string, labels ...string) (string, error)
	// Forge sends a press of any data, as the approver, as a hostile program can; it returns
	// what the person was told.
	Forge(message, data string) string
	// Say writes a message at the place as the approver; replyTo "": it answers none.
	Say(text, replyTo string)
	// Data is what the button of that label below a message sends.
	Data(message, label string) string
	// Restart ends the process at once, and begins another.
	Restart()
	// Pass lets time pass, and what happens in it.
	Pass(d time.Duration)
}

// Posted is a message as people see it.
type Posted struct {
	ID, Text string
	Buttons  []string // labels, in order
	Chosen   []string // labels of options that are chosen, without a mark
	ReplyTo  string
	Rang     bool
	Edited   bool
}

// Prompts is the conformance suite of what platforms show of questions: with buttons,
// answered, closed everywhere, over restarts. stage runs a test on a new stage.
func Prompts(t *testing.T, stage func(t *testing.T, test func(s Stage))) {
	t.Helper()
	for name, test := range map[string]func(t *testing.T, s Stage){
		"a question is shown, answered by its button, and closed": askedAndAnswered,
		"a question that's answered elsewhere is closed":          answeredElsewhere,
		"buttons outlive the daemon, and no question rings twice": questionOverRestart,
		"nobody answers who may not, and nothing that's closed":   refusedAnswers,
		"any number of options is chosen and then sent":           severalChosen,
		"a text is the answer":                                    textAnswers,
		"a long question is cut, with all its options":            longQuestion,
	} {
		t.Run(name, func(t *testing.T) {
			stage(t, func(s Stage) { test(t, s) })
		})
	}
}

// Permission is a question as agents ask it.
func Permission() sessions.Dialog {
	return sessions.Dialog{
		Kind: sessions.PromptPermission, Title: "Do you want to make this edit to main_test.go?", Body: "- a := 1 * 2\n+ a := `x`_y",
		Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "Yes, allow all edits (shift+tab)"}, {Label: "No"}}, Text: "Type here to tell it what to do",
	}
}

// ask makes the session ask, and returns the message that shows it.
func ask(t *testing.T, s Stage, id string, d sessions.Dialog) Posted {
	t.Helper()
	before := len(s.Seen())
	s.Questions().Change(sessions.Prompt{ID: id, Session: s.Session(), Dialog: d, State: sessions.PromptOpen, OpenedAt: time.Now()})
	s.Pass(10 * time.Second)
	seen := s.Seen()
	if len(seen) != before+1 {
		t.Fatalf("there are %d messages, want one more than %d: %+v", len(seen), before, seen)
	}
	return seen[before]
}

// message is one as it's seen now.
func message(t *testing.T, s Stage, id string) Posted {
	t.Helper()
	for _, m := range s.Seen() {
		if m.ID == id {
			return m
		}
	}
	t.Fatalf("there's no message %s", id)
	return Posted{}
}

// pressed presses, and wants the person to be told something that begins so.
func pressed(t *testing.T, s Stage, approver bool, id, label, want string) {
	t.Helper()
	told, err := s.Press(approver, id, label)
	if err != nil || !strings.HasPrefix(told, want) {
		t.Errorf("pressed %q: %v, told %q, want %q", label, err, told, want)
	}
}

// closed wants a message to have no buttons, and to end so.
func closed(t *testing.T, s Stage, id, want string) {
	t.Helper()
	if m := message(t, s, id); len(m.Buttons) != 0 || !m.Edited || !strings.HasSuffix(strings.TrimSpace(m.Text), want) {
		t.Errorf("the message is %+v, want an edit without buttons that ends with %q", m, want)
	}
}

func (q *Questions) wantNone(t *testing.T) {
	t.Helper()
	if got := q.Took(); len(got) > 0 {
		t.Errorf("these counted: %+v", got)
	}
}

func askedAndAnswered(t *testing.T, s Stage) {
	t.Helper()
	m := ask(t, s, "pr_000000000001", Permission())
	t.Logf("%s\n%q", m.Text, m.Buttons)
	for _, part := range []string{"asks for permission", "Do you want to make this edit to main_test.go?", "- a := 1 * 2\n+ a := `x`_y"} {
		if !strings.Contains(m.Text, part) {
			t.Errorf("there's no %q in %q", part, m.Text)
		}
	}
	want := []string{"Yes", "Yes, allow all edits (shift+tab)", "No", "Write an answer…", "Screen", "Keys"}
	if !slices.Equal(m.Buttons, want) || !m.Rang {
		t.Errorf("the message is %+v, want one that rings with %q", m, want)
	}
	pressed(t, s, true, m.ID, "Yes, allow all edits (shift+tab)", "Answered: Yes, allow all edits (shift+tab).")
	s.Pass(10 * time.Second)
	if got := s.Questions().Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{1}) || got[0].Name == "" {
		t.Errorf("answers %+v", got)
	}
	closed(t, s, m.ID, ": Yes, allow all edits (shift+tab).")
	t.Log(message(t, s, m.ID).Text)
}

func answeredElsewhere(t *testing.T, s Stage) {
	t.Helper()
	m := ask(t, s, "pr_000000000001", Permission())
	yes := s.Data(m.ID, "Yes")
	p, err := s.Questions().Prompt(t.Context(), "pr_000000000001")
	if err != nil {
		t.Fatal(err)
	}
	p.State, p.Reason = sessions.PromptClosed, "answered in the pane"
	s.Questions().Change(p)
	s.Pass(10 * time.Second)
	closed(t, s, m.ID, "Answered in the pane.")
	if told := s.Forge(m.ID, yes); told != "This question is closed. Answered in the pane." {
		t.Errorf("told %q", told)
	}
	s.Questions().wantNone(t)
}

func questionOverRestart(t *testing.T, s Stage) {
	t.Helper()
	one := ask(t, s, "pr_000000000001", Permission())
	two := ask(t, s, "pr_000000000002", Permission())
	s.Restart()
	s.Pass(time.Minute)
	if n := len(s.Seen()); n != 2 {
		t.Errorf("there are %d messages after a restart, want 2", n)
	}
	pressed(t, s, true, one.ID, "No", "Answered: No.")
	pressed(t, s, true, two.ID, "Yes", "Answered: Yes.")
	s.Pass(10 * time.Second)
	closed(t, s, one.ID, ": No.")
	closed(t, s, two.ID, ": Yes.")
}

func refusedAnswers(t *testing.T, s Stage) {
	t.Helper()
	m := ask(t, s, "pr_000000000001", Permission())
	yes := s.Data(m.ID, "Yes")
	pressed(t, s, false, m.ID, "Yes", "This takes the role approver.")
	for _, forged := range []string{"o:0123456789abcdef", "o:" + strings.Repeat("0", 17), "x", yes + "0"} {
		if told := s.Forge(m.ID, forged); told == "" || strings.HasPrefix(told, "Answered") {
			t.Errorf("forged %q, and was told %q", forged, told)
		}
	}
	s.Questions().wantNone(t)
	if got := message(t, s, m.ID); got.Edited {
		t.Errorf("the message was changed to %+v", got)
	}
	if told := s.Forge(m.ID, yes); told != "Answered: Yes." {
		t.Errorf("told %q", told)
	}
	s.Pass(10 * time.Second)
	s.Questions().Took()
	if told := s.Forge(m.ID, yes); !strings.HasPrefix(told, "This question is closed. Answered by ") {
		t.Errorf("told %q", told)
	}
	s.Questions().wantNone(t)
}

func severalChosen(t *testing.T, s Stage) {
	t.Helper()
	d := sessions.Dialog{Kind: sessions.PromptMulti, Title: "Which of these?"}
	for i := range 8 {
		d.Options = append(d.Options, sessions.DialogOption{Label: fmt.Sprint("thing ", i), Detail: "what it's for"})
	}
	m := ask(t, s, "pr_000000000001", d)
	t.Logf("%s\n%q", m.Text, m.Buttons)
	choose := func(labels ...string) {
		t.Helper()
		if told, err := s.Choose(m.ID, labels...); err != nil || told != "" {
			t.Errorf("chose %q: %v, told %q", labels, err, told)
		}
		s.Pass(10 * time.Second)
		if got := message(t, s, m.ID); !slices.Equal(got.Chosen, labels) || got.Rang != m.Rang {
			t.Errorf("the message is %+v, want one where %q are chosen", got, labels)
		}
	}
	choose("3. thing 2", "4. thing 3", "7. thing 6")
	choose("4. thing 3", "7. thing 6")
	s.Restart()
	s.Pass(time.Minute)
	pressed(t, s, true, m.ID, "Send", "Answered: thing 3, thing 6.")
	s.Pass(10 * time.Second)
	if got := s.Questions().Took(); len(got) != 1 || !slices.Equal(got[0].Options, []int{3, 6}) {
		t.Errorf("answers %+v", got)
	}
	closed(t, s, m.ID, ": thing 3, thing 6.")
}

func textAnswers(t *testing.T, s Stage) {
	t.Helper()
	m := ask(t, s, "pr_000000000001", Permission())
	s.Say("by a *reply*", m.ID)
	s.Pass(10 * time.Second)
	if got := s.Questions().Took(); len(got) != 1 || got[0].Text != "by a *reply*" {
		t.Errorf("answers %+v", got)
	}
	closed(t, s, m.ID, ": “by a *reply*”.")
	m = ask(t, s, "pr_000000000002", Permission())
	pressed(t, s, true, m.ID, "Write an answer…", "")
	s.Pass(10 * time.Second)
	if seen := s.Seen(); !slices.Contains(seen[len(seen)-1].Buttons, "Cancel") {
		t.Errorf("the last message is %+v", seen[len(seen)-1])
	}
	s.Say("by the next message", "")
	s.Pass(10 * time.Second)
	if got := s.Questions().Took(); len(got) != 1 || got[0].Text != "by the next message" {
		t.Errorf("answers %+v", got)
	}
	closed(t, s, m.ID, ": “by the next message”.")
}

func longQuestion(t *testing.T, s Stage) {
	t.Helper()
	d := Permission()
	d.Kind, d.Title, d.Text = sessions.PromptPlan, strings.Repeat("Is this plan *right*? ", 40), ""
	d.Body = strings.Repeat("a line of the plan with **marks** and ``` in it\n", 500)
	d.Options = nil
	for i := range 30 {
		d.Options = append(d.Options, sessions.DialogOption{Label: fmt.Sprintf("option %d, which is much longer than what a button shows", i)})
	}
	m := ask(t, s, "pr_000000000001", d)
	if !strings.Contains(m.Text, "…") || !strings.Contains(m.Text, "more, on the screen") && !strings.Contains(m.Text, "30. option 29") {
		t.Errorf("says %q", m.Text)
	}
	told, err := s.Choose(m.ID, "24. option 23, which is much longer tha")
	if err != nil || !strings.HasPrefix(told, "Answered: option 23, which is much longer than what a button shows.") {
		t.Errorf("told %q, %v", told, err)
	}
	s.Pass(10 * time.Second)
	closed(t, s, m.ID, "option 23, which is much longer than what a button shows.")
}

// Questions stands for what the Manager knows of questions that agents ask. Of several
// answers the first counts. They outlive processes.
type Questions struct {
	mu   sync.Mutex
	all  []sessions.Prompt
	told func(sessions.Prompt)
	took []sessions.Answer
	fail error
}

// Prompts returns those that are open.
func (q *Questions) Prompts() []sessions.Prompt {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(q.all), sessions.Prompt.Final)
}

// Prompt returns one.
func (q *Questions) Prompt(_ context.Context, id string) (sessions.Prompt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.find(id); p != nil {
		return *p, nil
	}
	return sessions.Prompt{}, fmt.Errorf("%w question", sessions.ErrUnknown)
}

func (q *Questions) find(id string) *sessions.Prompt {
	i := slices.IndexFunc(q.all, func(p sessions.Prompt) bool { return p.ID == id })
	if i < 0 {
		return nil
	}
	return &q.all[i]
}

// Answer takes the first answer.
func (q *Questions) Answer(_ context.Context, id string, a sessions.Answer) (sessions.Prompt, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	p := q.find(id)
	switch {
	case p == nil:
		return sessions.Prompt{}, fmt.Errorf("%w question", sessions.ErrUnknown)
	case p.Final():
		return *p, fmt.Errorf("%w: it's answered", sessions.ErrConflict)
	case q.fail != nil:
		return *p, q.fail
	}
	p.State, p.Answer, p.ClosedAt = sessions.PromptAnswered, &a, time.Now()
	q.took = append(q.took, a)
	if q.told != nil {
		q.told(*p)
	}
	return *p, nil
}

// Tell says who hears of changes, as sessions.Options.Prompt; nil: nobody.
func (q *Questions) Tell(to func(sessions.Prompt)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.told = to
}

// Fail makes every answer fail with an error; nil ends that.
func (q *Questions) Fail(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.fail = err
}

// Change replaces a question, and tells of it.
func (q *Questions) Change(p sessions.Prompt) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if was := q.find(p.ID); was != nil {
		*was = p
	} else {
		q.all = append(q.all, p)
	}
	if q.told != nil {
		q.told(p)
	}
}

// Took returns the answers that counted, and forgets them.
func (q *Questions) Took() []sessions.Answer {
	q.mu.Lock()
	defer q.mu.Unlock()
	out := q.took
	q.took = nil
	return out
}
