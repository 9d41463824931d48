package commands

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// workKinds are the kinds of a session's work, as people write them.
func workKinds() []string { return []string{"tools", "thinking", "prompts"} }

// extents are how much of each can be shown.
func extents() []string {
	return []string{string(adapters.ExtentAll), string(adapters.ExtentBrief), string(adapters.ExtentNone)}
}

// output is what people call what's printed in one go, and lengths are how much of it is offered: all, or rows of a phone.
const output = "output"

func lengths() []string {
	return []string{string(adapters.LengthAll), string(adapters.LengthUsual), "100"}
}

var errShow = errors.New("write /show tools brief; there are tools, thinking (what an agent thinks before it answers) and prompts (what's written to it elsewhere), " +
	"and of each all, brief (one line that counts them) or none; and output, what's printed in one go, of which all is shown or the head and the tail: " +
	"/show output 30 is 30 rows of a phone, from 10 to 500")

// showWork says how much of a session's work the place shows, and changes it.
func showWork(a *Invocation) error {
	change, err := readWork(strings.Fields(strings.ToLower(a.args)))
	if err != nil {
		return err
	}
	b, err := a.bindingHere()
	if err != nil {
		return err
	}
	if b.Resting {
		return errors.New("this place rests because somebody closed it; write /reopen first")
	}
	if change != (adapters.WorkShown{}) {
		if b, err = a.runner.Hub.BindAs(a.Ctx, b.Session, b.Target, adapters.BindingWish{View: b.View, Input: b.Input, Work: change}); err != nil {
			return err
		}
	}
	return a.ReplaceText("Of "+wording.Bold(a.Session.Name)+" this place shows "+workText(b.Work)+".", a.workButtons(b.Work)...)
}

// readWork reads pairs of a kind and an extent, or of output and a length.
func readWork(words []string) (w adapters.WorkShown, err error) {
	if len(words)%2 != 0 {
		return w, errShow
	}
	for i := 0; i < len(words); i += 2 {
		if words[i] == output {
			if w.Output, err = adapters.ParseLength(words[i+1]); err != nil {
				return w, errShow
			}
			continue
		}
		e, err := adapters.ParseExtent(words[i+1])
		into := extentIn(&w, words[i])
		if err != nil || into == nil {
			return w, errShow
		}
		*into = e
	}
	return w, nil
}

// extentIn is the extent of a kind; nil: there's none of that name.
func extentIn(w *adapters.WorkShown, kind string) *adapters.Extent {
	switch kind {
	case "tools":
		return &w.Tools
	case "thinking":
		return &w.Thinking
	case "prompts":
		return &w.Prompts
	default:
		return nil
	}
}

// workText says how much of a session's work is shown.
func workText(w adapters.WorkShown) string {
	w = w.Whole()
	var parts []string
	for _, kind := range workKinds() {
		parts = append(parts, fmt.Sprintf("%s: %s", kind, *extentIn(&w, kind)))
	}
	return strings.Join(parts, ", ") + ", " + outputText(w.Output) + "; what isn't shown is in /history. What a program prints of which panebridge reads no record isn't counted"
}

// outputText says how much of what's printed in one go is shown.
func outputText(l adapters.Length) string {
	if l == adapters.LengthAll {
		return "output: all"
	}
	return fmt.Sprintf("output: head and tail in %s rows of a phone", l)
}

// workButtons change it: one for each extent that's not so now, a row for each kind.
func (a *Invocation) workButtons(w adapters.WorkShown) (rows [][]adapters.Button) {
	w = w.Whole()
	for _, kind := range workKinds() {
		var row []adapters.Button
		for _, e := range extents() {
			if e != string(*extentIn(&w, kind)) {
				row = append(row, a.makeOffer(kind+": "+e, cards.Offer{Do: "show", Session: a.Session.ID, Role: access.Operator, Args: kind + " " + e}))
			}
		}
		rows = append(rows, row)
	}
	var row []adapters.Button
	for _, l := range lengths() {
		if l != string(w.Output) {
			row = append(row, a.makeOffer(output+": "+l, cards.Offer{Do: "show", Session: a.Session.ID, Role: access.Operator, Args: output + " " + l}))
		}
	}
	return append(rows, row)
}

// unfoldWork shows what a message only counts, or the whole output of which it shows the ends: the button below it carries
// all there's to know, so it works for as long as the log has the lines. It shows no more than /history does.
func (r *Runner) unfoldWork(a *Invocation, u adapters.Unfolding) (EventResult, error) {
	d := EventResult{What: "unfold", Outcome: "done"}
	b, ok := r.unfoldedBinding(&a.Event, u.Binding)
	switch {
	case !ok:
		d.Outcome = "other place"
		return d, a.AnswerPress("This place doesn't show that session any more; /history NAME shows its lines.")
	case !a.Roles.Has(access.Viewer):
		d.Outcome = "role"
		return d, a.AnswerPress("This takes the role " + string(access.Viewer) + ".")
	case time.Since(a.Event.At) > r.StaleAfter:
		d.Outcome = "stale"
		return d, a.AnswerPress("It was pressed " + wording.Age(time.Since(a.Event.At)) + " ago, while panebridge couldn't see it. Press it again.")
	}
	d.Session = b.Session
	s, err := r.Sessions.Get(string(b.Session))
	if err != nil {
		d.Outcome = "no session"
		return d, a.AnswerPress("That session isn't there any more.")
	}
	a.Session = s
	lines, more, err := r.readUnfolded(a, u)
	if err != nil {
		return EventResult{}, err // it's tried again
	}
	if len(lines) == 0 {
		d.Outcome = "dropped"
		return d, a.AnswerPress("These lines aren't in the log any more: it keeps the newest (sessions.log_max_lines).")
	}
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	first, last := lines[0].N, lines[len(lines)-1].N
	what, name := "the work in lines", "work"
	if u.IsOutput() {
		what, name = "lines", "lines"
	}
	heading := fmt.Sprintf("%s, %s %d to %d", wording.Bold(s.Name), what, first, last)
	if more {
		heading += fmt.Sprintf("; of more, the first %d lines", len(lines))
	}
	if err := a.showLines(heading, texts, fmt.Sprintf("%s-%d-%d.txt", name, first, last)); err != nil {
		d.Outcome = "failed"
		return d, a.AnswerPress(wording.Sentence(err.Error()))
	}
	if !a.answered {
		r.answerPress(a.Ctx, a.Event, "")
	}
	return d, nil
}

// unfoldedBinding is the binding below one of whose messages a button was pressed, if it's at that place. A message that's too
// old may be told without its thread.
func (r *Runner) unfoldedBinding(ev *intake.Event, id adapters.BindingID) (adapters.Binding, bool) {
	for _, st := range r.Hub.Status("") {
		if st.Binding.ID != id || st.Binding.Unbound {
			continue
		}
		if st.Target == ev.Place || st.Target.WholeChat() == ev.Place {
			ev.Place = st.Target
			return st.Binding, true
		}
	}
	return adapters.Binding{}, false
}

// mostUnfolded is how many lines a press of a button shows at most: a message is about fewer (adapters, mostFolded), unless the
// button is forged.
const mostUnfolded = 5000

// readUnfolded reads the lines of it, masked, and of those that were counted what the last call returned. more says that there
// are more than mostUnfolded.
func (r *Runner) readUnfolded(a *Invocation, u adapters.Unfolding) (lines []sessions.Line, more bool, err error) {
	const atOnce = 1000
	for from := u.From; ; {
		out, err := r.Store.Read(a.Ctx, a.Session.ID, from, atOnce)
		if err != nil {
			return nil, false, fmt.Errorf("read the work of %s: %w", a.Session.ID, err)
		}
		for _, l := range out.Lines {
			switch {
			case l.N > u.To && (u.IsOutput() || !u.Has(l) || l.Begins && (l.Tool == nil || l.Tool.Part != sessions.ToolReturned)):
				return lines, false, nil
			case l.N-u.From >= mostUnfolded:
				return lines, true, nil
			case u.Has(l):
				lines = append(lines, l)
			}
		}
		if len(out.Lines) == 0 {
			return lines, false, nil
		}
		from = out.Lines[len(out.Lines)-1].N + 1
	}
}
