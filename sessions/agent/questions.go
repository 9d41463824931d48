package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// questions are those that a call of Claude Code asks at once, as its hook tells them, and
// what was answered so far. They're asked one after the other, and the hook is told all
// answers with the last.
type questions struct {
	asked []oneQuestion
	given []string // by question, "": nothing was chosen; as many as are answered
}

// oneQuestion is one of them.
type oneQuestion struct {
	Question string `json:"question"`
	Header   string `json:"header"`
	Multi    bool   `json:"multiSelect"`
	Options  []struct {
		Label       string `json:"label"`
		Description string `json:"description"`
	} `json:"options"`
}

// questionsOf reads the input of a call; nil: it isn't one that asks several questions
// which can be told apart.
func questionsOf(input json.RawMessage) *questions {
	var call struct {
		Questions []oneQuestion `json:"questions"`
	}
	if json.Unmarshal(input, &call) != nil || len(call.Questions) < 2 {
		return nil
	}
	had := map[string]bool{}
	for _, q := range call.Questions {
		if squeezed(q.Question) == "" || had[q.Question] || len(q.Options) == 0 { // the answers go by it
			return nil
		}
		had[q.Question] = true
	}
	return &questions{asked: call.Questions}
}

// shownBy returns which of the questions a dialog draws, -1: none, as it draws something
// that the call doesn't say, or somebody answers at the pane.
func (q *questions) shownBy(f *form, d *sessions.Dialog) int {
	var tabs strings.Builder
	tabs.WriteString("←")
	for _, one := range q.asked {
		tabs.WriteString("☐" + one.Header) // ☒ was answered there
	}
	tabs.WriteString("✔Submit→")
	if f == nil || d.Unseen || d.Typed != "" || d.Marked == len(d.Listed) || squeezed(d.Tabs) != squeezed(tabs.String()) {
		return -1
	}
	return slices.IndexFunc(q.asked, func(one oneQuestion) bool { return one.draws(f, d) })
}

// draws reports whether a dialog draws nothing but this question.
func (q *oneQuestion) draws(f *form, d *sessions.Dialog) bool {
	multi := f.Kind == sessions.PromptMulti
	if multi != q.Multi || squeezed(d.Body+d.Title) != squeezed(q.Question) || !d.Cut && len(d.Listed) < len(q.Options) {
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

// dialog is the question that's to be answered next, where the dialog on the screen shows
// one of them.
func (q *questions) dialog(d *sessions.Dialog, shows int, call string) *sessions.Dialog {
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
	next.Call, next.Whole, next.Nth = call, q.said(), i+1
	next.Cut, next.Unseen, next.Partial, next.Marked = false, false, false, -1
	if i != shows { // else the same was asked before its record came
		next.Body = fmt.Sprintf("%s, question %d", call, i+1)
		next.Print = printOf(&next)
		next.Body = ""
	}
	return &next
}

// anyText is what Claude Code calls the entry for text.
const anyText = "Type something"

// said are the other questions, as people read them.
func (q *questions) said() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Question %d of %d.", len(q.given)+1, len(q.asked))
	for i, one := range q.asked {
		switch {
		case i < len(q.given) && q.given[i] == "":
			fmt.Fprintf(&b, "\n\n%d. %s\n   → none", i+1, oneRow(one.Question))
		case i < len(q.given):
			fmt.Fprintf(&b, "\n\n%d. %s\n   → %s", i+1, oneRow(one.Question), oneRow(q.given[i]))
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
	said := a.Text
	if said == "" {
		var labels []string
		for _, n := range a.Options {
			if n < 0 || n >= len(q.asked[i].Options) {
				return false, false
			}
			labels = append(labels, q.asked[i].Options[n].Label)
		}
		said = strings.Join(labels, ", ")
	}
	given := append(slices.Clone(q.given), said)
	if done = len(given) == len(q.asked); done && !slices.ContainsFunc(given, func(s string) bool { return s != "" }) {
		return false, false
	}
	q.given = given
	return done, true
}

// answered are the answers by the questions' texts.
func (q *questions) answered() map[string]string {
	out := map[string]string{}
	for i, said := range q.given {
		if said != "" {
			out[q.asked[i].Question] = said
		}
	}
	return out
}

// asksSeveral is a dialog with one of several questions as their call has it, if a hook that
// waits tells that call and no other's does; else it's as it's drawn. o.known.mu is held.
func (o *Observer) asksSeveral(f *form, d *sessions.Dialog) *sessions.Dialog {
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
	if of == nil {
		return d
	}
	return of.several.dialog(d, shows, of.call)
}
