package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// questions are those that a call asks at once, as its hook tells them, and what was
// answered so far. They're asked one after the other, and the hook is told all answers with
// the last.
type questions struct {
	asked []oneQuestion
	given [][]string // by question: what was chosen; as many as are answered
}

// oneQuestion is one of them.
type oneQuestion struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Multi    bool   `json:"multiSelect"` // as Claude Code calls it
	Multiple bool   `json:"multiple"`    // as opencode does
	Custom   *bool  `json:"custom"`      // whether it takes a text, too, as opencode says; nil: it does
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// questionsOf reads the input of a call; nil: it isn't one that asks so many questions at
// least, which can be told apart.
func questionsOf(input json.RawMessage, least int) *questions {
	var call struct {
		Questions []oneQuestion `json:"questions"`
	}
	if json.Unmarshal(input, &call) != nil || len(call.Questions) < least {
		return nil
	}
	had := map[string]bool{}
	for i, q := range call.Questions {
		call.Questions[i].Multi = q.Multi || q.Multiple
		if squeezed(q.Question) == "" || had[q.Question] || len(q.Options) == 0 { // the answers go by it
			return nil
		}
		had[q.Question] = true
	}
	return &questions{asked: call.Questions}
}

// shownBy returns which of the questions a dialog draws, -1: none, as it draws something
// that the call doesn't say, or somebody answers at the pane.
func (q *questions) shownBy(f *dialogForm, d *sessions.Dialog) int {
	if f == nil || d.Unseen || d.Typed != "" || d.Marked == len(d.Listed) {
		return -1
	}
	if f.Untouched == nil && len(q.asked) > 1 {
		return -1
	}
	i := slices.IndexFunc(q.asked, func(one oneQuestion) bool { return one.isDrawn(f, d) })
	if i < 0 || squeezed(d.Tabs) != squeezed(q.untouched(f.Untouched, i)) {
		return -1
	}
	if i > 0 && f.Untouched.Each == "" && f.Untouched.Count == "" { // the first may have been answered there
		return -1
	}
	return i
}

// untouched is the row above a question of a dialog of which nobody has answered any.
func (q *questions) untouched(u *untouchedTabs, nth int) string {
	switch {
	case u == nil:
		return ""
	case u.Count != "":
		return strings.NewReplacer("{nth}", strconv.Itoa(nth+1), "{all}", strconv.Itoa(len(q.asked))).Replace(u.Count)
	case len(q.asked) == 1 && !q.asked[0].Multi:
		return ""
	}
	row := []string{u.Before}
	for _, one := range q.asked {
		row = append(row, u.Each, one.Header)
	}
	return strings.Join(append(row, u.After), "")
}

// isDrawn reports whether a dialog draws nothing but this question.
func (q *oneQuestion) isDrawn(f *dialogForm, d *sessions.Dialog) bool {
	multi := f.Kind == sessions.PromptMulti
	asked := d.Body + d.Title
	if f.Asked != nil {
		asked = f.Asked.ReplaceAllString(asked, "")
	}
	if multi != q.Multi || squeezed(asked) != squeezed(q.Question) || !d.Cut && len(d.Listed) < len(q.Options) {
		return false
	}
	next := 0
	for _, o := range d.Listed {
		if f.Beside != nil && next == len(q.Options) && f.Beside.whole.MatchString(o.Label) {
			continue
		}
		for d.Cut && next < len(q.Options) && squeezed(q.Options[next].Label) != squeezed(o.Label) {
			next++ // of a list that goes on some aren't shown
		}
		if o.Checked || next == len(q.Options) || squeezed(q.Options[next].Label) != squeezed(o.Label) ||
			squeezed(q.Options[next].Description) != squeezed(o.Detail) && (!d.Cut || o.Detail != "") {
			return false
		}
		next++
	}
	return d.Cut || next == len(q.Options)
}

// nextQuestion is the question that's to be answered next, where the dialog on the screen shows
// one of them.
func (q *questions) nextQuestion(d *sessions.Dialog, shows int, call string) *sessions.Dialog {
	i := len(q.given)
	one := q.asked[i]
	next := *d
	next.Kind, next.Title, next.Text, next.Options = sessions.PromptChoice, oneRow(one.Question), anyText, nil
	if one.Multi {
		next.Kind = sessions.PromptMulti
	}
	for _, o := range one.Options {
		next.Options = append(next.Options, sessions.DialogOption{Label: oneRow(o.Label), Detail: oneRow(o.Description)})
	}
	next.Call, next.Whole, next.Nth = call, q.otherQuestions(), i+1
	if one.Custom != nil && !*one.Custom {
		next.Text = ""
	}
	next.Cut, next.Unseen, next.Partial, next.Marked = false, false, false, -1
	if i != shows { // else the same was asked before its record came
		next.Body = fmt.Sprintf("%s, question %d", call, i+1)
		next.Print, next.Loose = printOf(&next), looseOf(&next)
		next.Body = ""
	}
	return &next
}

// anyText is what the entry for text is called.
const anyText = "Type something"

// otherQuestions are the other questions, as people read them.
func (q *questions) otherQuestions() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Question %d of %d.", len(q.given)+1, len(q.asked))
	for i, one := range q.asked {
		switch {
		case i < len(q.given) && len(q.given[i]) == 0:
			fmt.Fprintf(&b, "\n\n%d. %s\n   → none", i+1, oneRow(one.Question))
		case i < len(q.given):
			fmt.Fprintf(&b, "\n\n%d. %s\n   → %s", i+1, oneRow(one.Question), oneRow(strings.Join(q.given[i], ", ")))
		case i > len(q.given):
			fmt.Fprintf(&b, "\n\n%d. %s", i+1, oneRow(one.Question))
			for _, o := range one.Options {
				fmt.Fprintf(&b, "\n   - %s", oneRow(o.Label))
				if o.Description != "" {
					fmt.Fprintf(&b, " — %s", oneRow(o.Description))
				}
			}
		}
	}
	return b.String()
}

// oneRow is a text on one row.
func oneRow(text string) string { return printable(strings.Join(strings.Fields(text), " ")) }

// answer takes in the answer to a dialog of the questions; done says that it was the last,
// and all of them are what the hook is to be told. False: it isn't one to the question that
// comes next, or nothing was chosen of any.
func (q *questions) answer(d *sessions.Dialog, a sessions.Answer) (done, ok bool) {
	i := len(q.given)
	if d.Nth != i+1 || i >= len(q.asked) {
		return false, false
	}
	said, ok := q.asked[i].chosen(a)
	if !ok {
		return false, false
	}
	given := append(slices.Clone(q.given), said)
	if done = len(given) == len(q.asked); done && !slices.ContainsFunc(given, func(s []string) bool { return len(s) > 0 }) {
		return false, false
	}
	q.given = given
	return done, true
}

// answerAlone takes in the answer to a dialog that asks the only question as it's drawn.
func (q *questions) answerAlone(a sessions.Answer) bool {
	if len(q.asked) != 1 {
		return false
	}
	said, ok := q.asked[0].chosen(a)
	if !ok || len(said) == 0 {
		return false
	}
	q.given = [][]string{said}
	return true
}

// chosen is what an answer says: a text, or the labels of options; false: it has others.
func (q *oneQuestion) chosen(a sessions.Answer) ([]string, bool) {
	if a.Text != "" {
		return []string{a.Text}, q.Custom == nil || *q.Custom
	}
	if !q.Multi && len(a.Options) != 1 {
		return nil, false
	}
	out := []string{}
	for _, n := range a.Options {
		if n < 0 || n >= len(q.Options) {
			return nil, false
		}
		out = append(out, q.Options[n].Label)
	}
	return out, true
}

// answered are the answers by the questions' texts.
func (q *questions) answered() map[string]string {
	out := map[string]string{}
	for i, said := range q.given {
		if len(said) > 0 {
			out[q.asked[i].Question] = strings.Join(said, ", ")
		}
	}
	return out
}

// asksOf is a dialog with a question as its call has it, if a hook that waits tells that call
// and no other's does; else it's as it's drawn. Of several the one is asked that's next; one
// alone is asked as it's drawn, and bound to its call. o.known.mu is held.
func (o *Observer) asksOf(f *dialogForm, d *sessions.Dialog) *sessions.Dialog {
	var of *decider
	shows := -1
	for _, waits := range o.known.deciders {
		switch {
		case waits.several == nil && waits.input != nil: // it can't be told apart from others
			return d
		case waits.several == nil:
			continue
		}
		if i := waits.several.shownBy(f, d); i >= 0 {
			if of != nil {
				return d
			}
			of, shows = waits, i
		}
	}
	switch {
	case of == nil:
		return d
	case len(of.several.asked) == 1:
		bound := *d
		bound.Call = of.call
		return &bound
	}
	return of.several.nextQuestion(d, shows, of.call)
}
