package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// asksSome is a call of Claude Code with questions.
type asksSome struct {
	Questions []oneQuestion `json:"questions"`
}

// someQuestions draws a call.
func someQuestions(rt *rapid.T) asksSome {
	words := []string{
		"Parser", "Writer", "Submit", "Type something.", "Chat about this", "1. Yes", "❯ 1. [ ] Alpha", "[✔] All", "漢字", "Way", "a, b", "☒ Way", "← ☐ Way", "✔ Submit  →",
		"Enter to select · ↑/↓ to navigate · Esc to cancel", "Do you want to proceed?", "e\u0301 a\u200bb", "x  y", "**bold** `code`", "Review your answers",
	}
	word := func(name string) string { return rapid.SampledFrom(words).Draw(rt, name) }
	var call asksSome
	for i := range rapid.IntRange(2, 4).Draw(rt, "questions") {
		q := oneQuestion{Header: word("header"), Multi: rapid.Bool().Draw(rt, "multi"), Question: fmt.Sprintf("Which way should %s go?", word("question"))}
		if rapid.IntRange(0, 4).Draw(rt, "like another") > 0 {
			q.Question += fmt.Sprintf(" (%d)", i)
		}
		if rapid.IntRange(0, 9).Draw(rt, "in two parts") == 0 {
			q.Question = word("before") + "\n\n" + q.Question
		}
		for n := range rapid.IntRange(1, 4).Draw(rt, "options") {
			q.Options = append(q.Options, struct {
				Label       string `json:"label"`
				Description string `json:"description"`
			}{fmt.Sprintf("%s %d", word("label"), n), rapid.SampledFrom([]string{"", "It is so", word("description"), strings.Repeat("long ", 30)}).Draw(rt, "detail")})
		}
		call.Questions = append(call.Questions, q)
	}
	return call
}

// clone is another call that's the same.
func (c asksSome) clone() asksSome {
	c.Questions = slices.Clone(c.Questions)
	for i := range c.Questions {
		c.Questions[i].Options = slices.Clone(c.Questions[i].Options)
	}
	return c
}

// forged is a call that's nearly the same.
func (c asksSome) forged(rt *rapid.T) asksSome {
	out := c.clone()
	q := &out.Questions[rapid.IntRange(0, len(out.Questions)-1).Draw(rt, "the one that's forged")]
	switch rapid.IntRange(0, 6).Draw(rt, "how") {
	case 0:
		q.Question += " Or not?"
	case 1:
		q.Options[0].Label = "Another"
	case 2:
		slices.Reverse(q.Options)
	case 3:
		q.Multi = !q.Multi
	case 4:
		q.Options[len(q.Options)-1].Description = "Deletes all"
	case 5:
		slices.Reverse(out.Questions)
	default:
		out.Questions = append(out.Questions, oneQuestion{Question: "May all be deleted?", Header: "All", Options: q.Options})
	}
	return out
}

func (c asksSome) input(rt *rapid.T) json.RawMessage {
	out, err := json.Marshal(c)
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

// drawn draws the dialog as Claude Code does: with its question nth, and those that were
// answered at the pane.
func (c asksSome) drawn(nth, width int, done map[int]bool, checked bool) []string {
	tabs := "←"
	for i, q := range c.Questions {
		sign := " ☐ "
		if done[i] {
			sign = " ☒ "
		}
		tabs += " " + sign + q.Header
	}
	q := c.Questions[nth]
	rule := strings.Repeat("─", width)
	rows := []string{"● I have a question.", rule, tabs + "  ✔ Submit  →", ""}
	rows = append(rows, indented(strings.Split(q.Question, "\n"), "", "", width)...)
	rows = append(rows, "")
	n := 0
	option := func(label, detail string) {
		n++
		mark, check, indent := " ", "", "     "
		if n == 1 {
			mark = "❯"
		}
		if q.Multi {
			check, indent = "[ ] ", "         "
			if checked && n == 1 {
				check = "[✔] "
			}
		}
		rows = append(rows, indented([]string{label}, fmt.Sprintf("%s %d. %s", mark, n, check), indent, width)...)
		if detail != "" {
			rows = append(rows, indented([]string{detail}, indent, indent, width)...)
		}
	}
	for _, o := range q.Options {
		option(o.Label, o.Description)
	}
	if q.Multi {
		option("Type something", "")
		rows = append(rows, "     Submit")
	} else {
		option("Type something.", "")
	}
	return append(rows, rule, fmt.Sprintf("  %d. Chat about this", n+1), "", "Enter to select · Tab/Arrow keys to navigate · Esc to cancel")
}

// newReader is an observer of a pane in which an agent runs, and the agent's profile.
func newReader(t *testing.T, agent string) (*Observer, *Profile) {
	t.Helper()
	h := newHost(t)
	o, p := h.pane(1).o, h.w.opt.Profiles.Get(agent)
	o.known.dialogs = p
	return o, p
}

// forgedQuestions has hooks that wait tell of the call that a dialog asks about, of others
// and of some that there aren't: what's asked by a record is what the call asks, and its
// hook alone is told what was answered.
func forgedQuestions(t *testing.T, runs int) {
	t.Helper()
	o, p := newReader(t, "claude")
	counts := map[string]int{}
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			call := someQuestions(rt)
			nth := rapid.IntRange(0, len(call.Questions)-1).Draw(rt, "shown")
			done, checked := map[int]bool{}, rapid.IntRange(0, 9).Draw(rt, "checked") == 0 && call.Questions[nth].Multi
			for i := range call.Questions {
				if rapid.IntRange(0, 9).Draw(rt, "answered there") == 0 {
					done[i] = true
				}
			}
			width := rapid.SampledFrom([]int{60, 100, 140}).Draw(rt, "width")
			rows := call.drawn(nth, width, done, checked)
			height := rapid.SampledFrom([]int{14, 40, 600}).Draw(rt, "height")
			cut := len(rows)-height > 1 // its first row is the second
			rows = rows[max(0, len(rows)-height):]
			screen := &sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}
			tell := []asksSome{}
			own := rapid.IntRange(0, 4).Draw(rt, "its own waits") > 0
			if own {
				tell = append(tell, call)
				if rapid.IntRange(0, 4).Draw(rt, "again") == 0 {
					tell = append(tell, call.clone())
				}
			}
			for range rapid.IntRange(0, 2).Draw(rt, "others") {
				tell = append(tell, call.forged(rt))
			}
			o.known.deciders = nil
			var ours *decider
			for i, c := range rapid.Permutation(tell).Draw(rt, "order") {
				hook := Hook{Agent: "claude", Tool: claudeQuestion, Input: c.input(rt)}
				d := &decider{input: hook.Input, several: questionsOf(hook.Input, 2), told: make(chan Told, 1)}
				if d.several != nil {
					d.call = sumOf(hook)
				}
				o.known.deciders = append(o.known.deciders, d)
				if own && d.call == sumOf(Hook{Tool: claudeQuestion, Input: call.input(rt)}) {
					ours = o.known.deciders[i]
				}
			}
			var asked []string
			answers := map[string]string{}
			for range call.Questions {
				d := o.recorded(p.Prompt(screen, nil))
				if d == nil || d.Nth == 0 {
					break
				}
				if own && ours != nil && d.Call != ours.call {
					rt.Fatalf("another call's question is asked in place of\n%s\n%s", strings.Join(rows, "\n"), shown(d))
				}
				if cut || len(done) > 0 || checked {
					rt.Fatalf("it's asked elsewhere, though not all is seen (%v), or somebody answers at the pane (%v, %v):\n%s", cut, done, checked, strings.Join(rows, "\n"))
				}
				if !own { // whoever can call hooks can forge one, but for what's drawn
					i := slices.IndexFunc(o.known.deciders, func(w *decider) bool { return w.call == d.Call })
					if forged := o.known.deciders[i].several.asked; !slices.ContainsFunc(forged, func(q oneQuestion) bool { return reflect.DeepEqual(q, call.Questions[nth]) }) {
						rt.Fatalf("what's drawn isn't in what's asked:\n%s\n%s", strings.Join(rows, "\n"), shown(d))
					}
					return
				}
				q := call.Questions[len(asked)]
				if d.Title != oneRow(q.Question) || len(d.Options) != len(q.Options) || (d.Kind == sessions.PromptMulti) != q.Multi || d.Unseen || !strings.Contains(d.Whole, fmt.Sprintf("Question %d of %d.", len(asked)+1, len(call.Questions))) {
					rt.Fatalf("asked is %+v, want\n%s", q, shown(d))
				}
				for i, other := range call.Questions {
					if i > len(asked) && !strings.Contains(d.Whole, oneRow(other.Question)) {
						rt.Fatalf("%q isn't told:\n%s", other.Question, d.Whole)
					}
				}
				asked = append(asked, d.Print)
				option := rapid.IntRange(0, len(q.Options)-1).Draw(rt, "choice")
				answers[q.Question] = q.Options[option].Label
				if step, err := o.w.Next("pb_1", d, sessions.Answer{Options: []int{option}}); err == nil {
					rt.Fatalf("%v is pressed", step)
				}
				if o.w.Decide(t.Context(), "pb_1", d, sessions.Answer{Options: []int{option}}) != sessions.DecidedHere {
					rt.Fatalf("it isn't answered: %s", shown(d))
				}
				if o.w.Decide(t.Context(), "pb_1", d, sessions.Answer{Options: []int{option}}) != sessions.NotDecided {
					rt.Fatalf("it's answered twice: %s", shown(d))
				}
			}
			prints := slices.Compact(slices.Sorted(slices.Values(asked)))
			switch {
			case len(asked) == 0 && len(tell) == 1 && own && !cut && len(done) == 0 && !checked:
				counts["not recognised"]++
			case len(asked) == 0:
				counts["as drawn"]++
				for _, d := range o.known.deciders {
					if len(d.told) > 0 {
						rt.Fatal("a hook is told something")
					}
				}
				return
			case len(asked) != len(call.Questions) || len(prints) != len(asked):
				rt.Fatalf("%d of %d questions were asked (%q)", len(asked), len(call.Questions), asked)
			default:
				counts["recorded"]++
				told := whatIsTold(rt, ours)
				var out struct {
					asksSome
					Answers map[string]string `json:"answers"`
				}
				if err := json.Unmarshal(told.Input, &out); err != nil || told.Decision != Allow || !maps.Equal(out.Answers, answers) || len(out.Questions) != len(call.Questions) {
					rt.Fatalf("it's told %s %s (%v), want %v", told.Decision, told.Input, err, answers)
				}
			}
		})
	}
	t.Logf("%v", counts)
	if counts["recorded"]+10 < 5*counts["not recognised"] { // 10: few are drawn with -short
		t.Errorf("the calls' own records: %v", counts)
	}
}

// whatIsTold is what was told to who waits for an answer. Nothing was: rt fails.
func whatIsTold(rt *rapid.T, to *decider) Told {
	select {
	case told := <-to.told:
		return told
	default:
		rt.Fatalf("nothing is told to who asks %s", to.input)
		return Told{}
	}
}

// askedByCodex is the call as Codex asks it of its app server's clients: its questions have
// ids, and take one choice each.
func (c asksSome) askedByCodex(rt *rapid.T) json.RawMessage {
	var all []any
	for i, q := range c.Questions {
		all = append(all, map[string]any{
			"id": fmt.Sprintf("q%d", i), "question": q.Question, "header": q.Header, "options": q.Options, "isOther": true, "isSecret": false,
		})
	}
	out, err := json.Marshal(map[string]any{"threadId": ourThread, "itemId": "call_1", "questions": all})
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

// drawnByCodex draws the dialog as Codex does: with its question nth, of which so many are
// answered at the pane, and a note that somebody types there, nil: nobody does.
func (c asksSome) drawnByCodex(nth, width, answered int, note *string) []string {
	q, n := c.Questions[nth], len(c.Questions)
	rows := []string{"• I have a question.", "", ""}
	count := fmt.Sprintf("  Question %d/%d", nth+1, n)
	if answered < n {
		count += fmt.Sprintf(" (%d unanswered)", n-answered)
	}
	rows = append(rows, count)
	rows = append(rows, indented(strings.Split(q.Question, "\n"), "  ", "  ", width)...)
	rows = append(rows, "")
	options := slices.Clone(q.Options)
	options = append(options, struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	}{codexNone, codexNoneSays})
	wide := 0
	for _, o := range options {
		wide = max(wide, displaywidth.String(o.Label))
	}
	for i, o := range options {
		mark := " "
		if i == 0 && note == nil || i == len(options)-1 && note != nil {
			mark = "›"
		}
		lead := fmt.Sprintf("  %s %d. %s%s  ", mark, i+1, o.Label, strings.Repeat(" ", wide-displaywidth.String(o.Label)))
		rows = append(rows, indented([]string{o.Description}, lead, strings.Repeat(" ", displaywidth.String(lead)), width)...)
	}
	switch {
	case note != nil:
		rows = append(rows, "", "  › "+*note, "", "  tab or esc to clear notes | enter to submit answer")
	case n == 1:
		rows = append(rows, "", "  tab to add notes | enter to submit answer | esc to interrupt")
	default:
		rows = append(rows, "", "  tab to add notes | enter to submit answer | ←/→ to navigate questions | esc to interrupt")
	}
	return rows
}

// forgedCodexQuestions has Codex' app server ask what a dialog asks, and what others do that
// are nearly the same; people answer here and at the pane, and connections break: what's asked
// by a record is what the call asks, and its request alone is answered, once, and whole.
func forgedCodexQuestions(t *testing.T, runs int) {
	t.Helper()
	o, p := newReader(t, "codex")
	counts := map[string]int{}
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			call := someQuestions(rt)
			call.Questions = call.Questions[:rapid.IntRange(1, min(3, len(call.Questions))).Draw(rt, "asked")]
			for i := range call.Questions {
				call.Questions[i].Multi = false
			}
			nth := rapid.IntRange(0, len(call.Questions)-1).Draw(rt, "shown")
			answered, width := 0, rapid.SampledFrom([]int{60, 100, 140}).Draw(rt, "width")
			if rapid.IntRange(0, 4).Draw(rt, "somebody answers at the pane") == 0 {
				answered = rapid.IntRange(1, len(call.Questions)).Draw(rt, "so many")
			}
			var note *string
			if rapid.IntRange(0, 9).Draw(rt, "somebody types at the pane") == 0 {
				note = new(rapid.SampledFrom([]string{"Add notes", "my own"}).Draw(rt, "note"))
			}
			height := rapid.SampledFrom([]int{10, 40, 600}).Draw(rt, "height")
			read := func() *sessions.Dialog {
				rows := call.drawnByCodex(nth, width, answered, note)
				rows = rows[max(0, len(rows)-height):]
				return o.recorded(p.Prompt(&sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}, nil))
			}
			cut := len(call.drawnByCodex(nth, width, answered, note))-height > 3
			tell := []asksSome{}
			own := rapid.IntRange(0, 4).Draw(rt, "its own waits") > 0
			if own {
				tell = append(tell, call)
			}
			again := own && rapid.IntRange(0, 9).Draw(rt, "again") == 0
			if again {
				tell = append(tell, call)
			}
			for range rapid.IntRange(0, 2).Draw(rt, "others") {
				tell = append(tell, call.forged(rt))
			}
			o.known.deciders = nil
			var asks []*codexAsk
			var says []func(Told) any
			ours := -1
			for i, c := range rapid.Permutation(tell).Draw(rt, "order") {
				hook, says1 := (&codexLink{thread: ourThread}).readRequest(serverMessage{Method: "item/tool/requestUserInput", Params: c.askedByCodex(rt)})
				if says1 == nil {
					rt.Fatalf("not read: %s", c.askedByCodex(rt))
				}
				a := &codexAsk{hook: hook, decider: &decider{told: make(chan Told, 1), served: true}}
				o.addServed(fmt.Sprint(i), a)
				if asks, says = append(asks, a), append(says, says1); reflect.DeepEqual(c, call) {
					ours = i
				}
			}
			quiet := func(why string) {
				for _, a := range asks {
					if len(a.decider.told) > 0 {
						rt.Fatalf("the server is told something, though %s", why)
					}
				}
			}
			want := map[string]any{}
			for asked := 0; ; asked++ {
				d := read()
				bound := d != nil && d.Call != ""
				if bound && (cut || answered > 0 || note != nil || again) {
					rt.Fatalf("its record is taken, though not all is seen (%v), %d were answered at the pane, somebody types there (%v), or there are two of it (%v):\n%s", cut, answered, note != nil, again, shown(d))
				}
				if bound && own && d.Call != asks[ours].decider.call {
					rt.Fatalf("another call's question is asked:\n%s", shown(d))
				}
				if !bound {
					if counts["as drawn"]++; asked == 0 && own && len(tell) == 1 && !cut && answered == 0 && note == nil {
						counts["not recognised"]++
					}
					if d != nil && d.Nth > 0 {
						rt.Fatalf("a question of several that nobody waits for: %s", shown(d))
					}
					quiet("nothing was answered here")
					return
				}
				i := slices.IndexFunc(asks, func(a *codexAsk) bool { return a.decider.call == d.Call })
				is := asks[i].decider.several
				if len(is.given) != asked { // the question that's looked at now is another call's, of which nothing is answered
					if own || len(is.given) > 0 {
						rt.Fatalf("%d answers are given to a call that has %d:\n%s", asked, len(is.given), shown(d))
					}
					counts["another call's"]++
					quiet("not all is answered")
					return
				}
				q := is.asked[len(is.given)]
				if !own && !reflect.DeepEqual(squeezed(is.asked[nth].Question), squeezed(call.Questions[nth].Question)) {
					rt.Fatalf("what's drawn isn't in what's asked: %s", shown(d))
				}
				if d.Nth > 0 && (d.Nth != len(is.given)+1 || d.Title != oneRow(q.Question) || len(d.Options) != len(q.Options)) {
					rt.Fatalf("asked is %+v, want\n%s", q, shown(d))
				}
				answer, said := sessions.Answer{Options: []int{rapid.IntRange(0, len(q.Options)-1).Draw(rt, "choice")}}, []any(nil)
				if rapid.IntRange(0, 3).Draw(rt, "a text") == 0 {
					answer = sessions.Answer{Text: rapid.SampledFrom([]string{"my own", "x, y", "user_note: a", "漢字"}).Draw(rt, "text")}
					said = []any{codexNone, codexNote + answer.Text}
				} else {
					said = []any{q.Options[answer.Options[0]].Label}
				}
				if o.w.Decide(t.Context(), "pb_1", d, answer) != sessions.DecidedHere {
					rt.Fatalf("it isn't answered: %s", shown(d))
				}
				want[fmt.Sprintf("q%d", asked)] = map[string]any{"answers": said}
				if last := asked == len(is.asked)-1; last {
					if o.w.Decide(t.Context(), "pb_1", d, answer) != sessions.NotDecided {
						rt.Fatalf("it's answered twice: %s", shown(d))
					}
					var got any
					text, _ := json.Marshal(says[i](whatIsTold(rt, asks[i].decider)))
					if err := json.Unmarshal(text, &got); err != nil || !reflect.DeepEqual(got, map[string]any{"answers": want}) {
						rt.Fatalf("it's told %s, want %v", text, want)
					}
					counts["answered"]++
					quiet("it was told")
					return
				}
				quiet("not all is answered")
				switch rapid.IntRange(0, 5).Draw(rt, "between the answers") {
				case 0: // somebody answers there
					answered = 1
				case 1: // the connection ends
					for i, a := range asks {
						o.dropServed(fmt.Sprint(i), a, false)
					}
					own = false
				case 2: // another of the questions is looked at there
					nth = rapid.IntRange(0, len(call.Questions)-1).Draw(rt, "shown then")
				}
			}
		})
	}
	t.Logf("%v", counts)
	if counts["answered"]+10 < 2*counts["not recognised"] { // 10: few are drawn with -short
		t.Errorf("the calls' own records: %v", counts)
	}
}
