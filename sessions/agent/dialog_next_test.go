package agent

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// stage is a dialog of a program that takes keys as the real ones do. It notes what
// was taken.
type stage struct {
	f       *dialogForm
	labels  []string
	checked []bool
	entry   int // index among the stops of the entry for text; -1: none
	mark    int // stop that's marked
	open    bool
	typed   string
	taken   []int
	said    string
	over    bool
	wraps   bool
}

// stops are the options, the entry, and what submits.
func (s *stage) stops() int {
	n := len(s.labels)
	if s.entry >= 0 && s.f.Text.Field == nil {
		n++
	}
	if s.f.Submit != nil && s.f.Submit.Row != nil {
		n++
	}
	return n
}

// dialog is what a look would read.
func (s *stage) dialog() *sessions.Dialog {
	d := &sessions.Dialog{Kind: s.f.Kind, Form: s.f.Form, Marked: s.mark, Typed: s.typed}
	for i, l := range s.labels {
		o := sessions.DialogOption{Label: l, Checked: s.checked[i]}
		if s.f.Answer == byDigit {
			o.Key = fmt.Sprint(i + 1)
		}
		d.Options = append(d.Options, o)
	}
	if s.entry >= 0 {
		d.Text = "Type something."
		if s.f.Text.Field == nil {
			d.TextKey = fmt.Sprint(len(s.labels) + 1)
		} else if s.open {
			d.Marked = len(s.labels)
		}
	} else if s.mark == len(s.labels) && s.f.Submit != nil {
		d.Marked = len(s.labels) + 1
	}
	return d
}

func (s *stage) inEntry() bool {
	return s.entry >= 0 && (s.open || s.f.Text.Field == nil && s.mark == len(s.labels))
}

func (s *stage) press(key string) {
	n := s.stops()
	back, forth := "Up", "Down"
	if s.f.Answer == bySideways {
		back, forth = "Left", "Right"
	}
	switch {
	case key == back || key == forth:
		step := map[bool]int{true: 1, false: -1}[key == forth]
		if next := s.mark + step; s.wraps || next >= 0 && next < n {
			s.mark = (next + n) % n
		}
	case s.f.Text != nil && key == s.f.Text.Open && s.labels[s.mark] == "None of the above":
		s.open = true
	case s.inEntry() && key == "Enter":
		s.said, s.over = s.typed, true
	case s.inEntry():
		s.typed += key
	case len(key) == 1 && key >= "1" && key <= "9" && s.f.Answer == byDigit:
		s.digit(int(key[0] - '1'))
	case key == s.f.Toggle:
		s.checked[s.mark] = !s.checked[s.mark]
	case key == "Enter":
		s.enter()
	case s.f.Submit != nil && key == s.f.Submit.Key:
		s.submit()
	default:
		panic("a key of no meaning: " + key)
	}
}

func (s *stage) digit(i int) {
	switch {
	case i == len(s.labels) && s.entry >= 0:
		s.mark = i
	case i >= len(s.labels):
	case s.f.Kind != sessions.PromptMulti:
		s.taken, s.over = []int{i}, true
	case s.f.Toggle != "":
		s.mark = i
	default:
		s.checked[i] = !s.checked[i]
	}
}

func (s *stage) enter() {
	switch {
	case s.f.Kind != sessions.PromptMulti:
		s.taken, s.over = []int{s.mark}, true
	case s.f.Submit.Row == nil && s.f.Submit.Key == "Enter" || s.mark == len(s.labels):
		s.submit()
	default:
		s.checked[s.mark] = !s.checked[s.mark]
	}
}

func (s *stage) submit() {
	s.over = true
	for i, c := range s.checked {
		if c {
			s.taken = append(s.taken, i)
		}
	}
}

// Whatever is marked and checked at first, and however the mark moves, exactly what was
// wanted is taken, and not before the last step.
func TestNextTakesWhatWasWanted(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	drawtest.Check(t, func(rt *rapid.T) {
		p := set.Get(rapid.SampledFrom([]string{"claude", "codex", "gemini", "opencode", "qwen", "demo"}).Draw(rt, "agent"))
		f := &p.spec.Prompts[rapid.IntRange(0, len(p.spec.Prompts)-1).Draw(rt, "form")]
		if f.Answer == byKeys || f.Text != nil && f.Text.Detail {
			return
		}
		s := &stage{f: f, entry: -1, wraps: f.Round || rapid.Bool().Draw(rt, "wraps")}
		for i := range rapid.IntRange(2, 5).Draw(rt, "options") {
			s.labels = append(s.labels, fmt.Sprint("option ", i))
			s.checked = append(s.checked, rapid.Bool().Draw(rt, "checked"))
		}
		if f.Text != nil && f.Kind != sessions.PromptMulti {
			s.entry = len(s.labels)
			if f.Text.Field != nil {
				s.labels[len(s.labels)-1] = "None of the above"
			}
		}
		s.mark = rapid.IntRange(0, s.stops()-1).Draw(rt, "mark")
		a := wanted(rt, s)
		for steps := 0; !s.over; steps++ {
			step, err := p.Next(s.dialog(), a)
			if err != nil || steps > 40 {
				rt.Fatalf("step %d: %v (%+v)", steps, err, s)
			}
			if step.Text != "" {
				s.typed += step.Text
			}
			for _, k := range step.Keys {
				s.press(k)
			}
			if s.over != step.Last {
				rt.Fatalf("last is %v at %+v, but over is %v", step.Last, step, s.over)
			}
		}
		if slices.Sort(a.Options); !slices.Equal(s.taken, a.Options) && len(s.taken)+len(a.Options) > 0 || s.said != a.Text {
			rt.Fatalf("took %v and %q, wanted %v and %q", s.taken, s.said, a.Options, a.Text)
		}
	})
}

// wanted draws an answer that the dialog takes.
func wanted(rt *rapid.T, s *stage) sessions.Answer {
	switch {
	case s.entry >= 0 && rapid.Bool().Draw(rt, "as text"):
		return sessions.Answer{Text: rapid.SampledFrom([]string{"no", "2", "use the other one, please"}).Draw(rt, "text")}
	case s.f.Kind == sessions.PromptMulti:
		a := sessions.Answer{Options: []int{}}
		for i := range s.labels {
			if rapid.Bool().Draw(rt, "want") {
				a.Options = append(a.Options, i)
			}
		}
		return a
	}
	return sessions.Answer{Options: []int{rapid.IntRange(0, len(s.labels)-1).Draw(rt, "want")}}
}

func TestNextSaysWhyNot(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	options := []sessions.DialogOption{{Label: "Allow once"}, {Label: "Reject"}}
	question := func(marked int, typed string) *sessions.Dialog {
		return &sessions.Dialog{Form: "question", Kind: sessions.PromptChoice, Options: []sessions.DialogOption{{Label: "Yes", Key: "1"}}, Text: "Type something.", TextKey: "2", Marked: marked, Typed: typed}
	}
	for name, tt := range map[string]struct {
		agent  string
		dialog *sessions.Dialog
		answer sessions.Answer
		unseen bool // the mark is to be seen first
	}{
		"the mark isn't known":          {"opencode", &sessions.Dialog{Form: "permission", Options: options, Marked: -1}, sessions.Answer{Options: []int{0}}, true},
		"no mark can be seen":           {"claude", &sessions.Dialog{Form: "trust", Options: options, Marked: -1}, sessions.Answer{Options: []int{0}}, true},
		"there's no such option":        {"claude", question(0, ""), sessions.Answer{Options: []int{1}}, false},
		"two of a single choice":        {"claude", question(0, ""), sessions.Answer{Options: []int{0, 0}}, false},
		"it takes no text":              {"claude", &sessions.Dialog{Form: "permission", Options: options}, sessions.Answer{Text: "yes"}, false},
		"another's text":                {"claude", question(1, "rm it"), sessions.Answer{Text: "no"}, false},
		"an option over another's text": {"claude", question(1, "rm it"), sessions.Answer{Options: []int{0}}, false},
		"the form isn't known":          {"claude", &sessions.Dialog{Form: "of another profile", Options: options}, sessions.Answer{Options: []int{0}}, false},
	} {
		if step, err := set.Get(tt.agent).Next(tt.dialog, tt.answer); err == nil || errors.Is(err, sessions.ErrInvalid) == tt.unseen {
			t.Errorf("%s: %+v, %v", name, step, err)
		}
	}
}

// What's on the way to an option may be taken by a key that a person presses meanwhile: no
// way to a refusal leads over what's allowed for good.
func TestTheWayToARefusal(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	p := set.Get("opencode")
	screen, styled := screenOf(t, "testdata/dialogs/opencode-permission.txt")
	d := p.Prompt(screen, styled)
	if d == nil || d.Marked != 0 || len(d.Options) != 3 || d.Options[2].Label != "Reject" {
		t.Fatalf("%+v", d)
	}
	for from, want := range []string{"Left", "Right", "Enter"} {
		d.Marked = from
		if step, err := p.Next(d, sessions.Answer{Options: []int{2}}); err != nil || !slices.Equal(step.Keys, []string{want}) {
			t.Errorf("from option %d: %+v, %v; want %s", from, step, err, want)
		}
	}
}
