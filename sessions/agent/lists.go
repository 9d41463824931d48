package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/panebridge/panebridge/sessions"
)

// listsOf are the questions of a call that have options.
func listsOf(input json.RawMessage) []oneQuestion {
	var call struct {
		Questions []oneQuestion `json:"questions"`
	}
	if json.Unmarshal(input, &call) != nil {
		return nil
	}
	return slices.DeleteFunc(call.Questions, func(q oneQuestion) bool { return len(q.Options) == 0 })
}

// listDialog is a dialog that shows a part of a list, with all of the list as the record of its
// call has it; nil: no record is surely that of this dialog. Where the part has none of the
// options it has to be that of the call whose dialog was shown before.
func (c calls) listDialog(f *dialogForm, d *sessions.Dialog, shown string) *sessions.Dialog {
	var of *oneQuestion
	sum := ""
	for i := range c {
		if c[i].gone {
			continue
		}
		for n := range c[i].lists {
			if d.Window.First > len(c[i].lists[n].Options) && c[i].sum != shown || !c[i].lists[n].drawsPart(f, d) {
				continue
			}
			if of != nil {
				return nil
			}
			of, sum = &c[i].lists[n], c[i].sum
		}
	}
	if of == nil {
		return nil
	}
	return of.wholeDialog(f, d, sum)
}

// drawsPart reports whether a dialog draws this question and a run of its options, each in
// its place.
func (q *oneQuestion) drawsPart(f *dialogForm, d *sessions.Dialog) bool {
	if f == nil || d.Unseen || (f.Kind == sessions.PromptMulti) != q.Multi || squeezed(d.Body+d.Title) != squeezed(q.Question) {
		return false
	}
	for k, o := range d.Listed {
		switch i := d.Window.First - 1 + k; {
		case i == len(q.Options) && f.Beside != nil && f.Beside.whole.MatchString(o.Label):
		case i >= len(q.Options):
			return false
		case squeezed(o.Label) != squeezed(q.Options[i].Label), squeezed(o.Detail) != squeezed(q.Options[i].Description):
			return false
		}
	}
	return true
}

// wholeDialog is a dialog with all options of the question. Those that aren't on the screen are
// Hidden where any number can be chosen.
func (q *oneQuestion) wholeDialog(f *dialogForm, d *sessions.Dialog, call string) *sessions.Dialog {
	all := *d
	all.Kind, all.Call, all.Options, all.Cut, all.Text = f.Kind, call, nil, false, ""
	for i, one := range q.Options {
		o := sessions.DialogOption{Label: oneRow(one.Label), Detail: oneRow(one.Description), Key: strconv.Itoa(i + 1)}
		if at := i - (d.Window.First - 1); at >= 0 && at < len(d.Listed) {
			o.Checked = d.Listed[at].Checked
		} else {
			o.Hidden = q.Multi
		}
		all.Options = append(all.Options, o)
	}
	if !q.Multi {
		all.Text, all.TextKey = anyText, strconv.Itoa(len(q.Options)+1)
	}
	all.Marked = -1
	switch n := d.Window.Marked; {
	case d.Window.Submit:
		all.Marked = len(q.Options) + 1
	case n > 0 && n <= len(q.Options):
		all.Marked = n - 1
	case n > 0 && (!q.Multi || n > len(q.Options)+1): // behind them Gemini CLI has "All of the above" where any number can be chosen
		all.Marked = len(q.Options)
	}
	all.Print, all.Loose = printOf(&all), looseOf(&all)
	return &all
}

// checkList goes through a list of which a part is on the screen: to each option that wasn't
// seen, has each that isn't as it's wanted checked by its number, and goes to what submits.
func (f *dialogForm) checkList(d *sessions.Dialog, want []int) (sessions.DialogStep, error) {
	if len(d.Options) == 0 {
		return sessions.DialogStep{}, fmt.Errorf("%w answer: only a part of the list is on the screen, and no hook told of the rest; answer it in the session", sessions.ErrInvalid)
	}
	wanted, err := wantedOf(d, want)
	if err != nil {
		return sessions.DialogStep{}, err
	}
	if d.Window.Marked == 0 {
		return sessions.DialogStep{}, errUnseen
	}
	way := func(i int) int { return max(i+1-d.Window.Marked, d.Window.Marked-i-1) }
	unseen := -1 // the nearest to the mark of those that weren't seen
	for i, o := range d.Options {
		switch {
		case o.Hidden && (unseen < 0 || way(i) < way(unseen)):
			unseen = i
		case !o.Hidden && o.Checked != wanted[i]:
			return f.toggleOption(d, i)
		}
	}
	switch {
	case unseen >= 0 && unseen < d.Window.Marked-1:
		return sessions.DialogStep{Keys: []string{"Up"}}, nil
	case unseen < 0 && d.Window.Submit:
		return sessions.DialogStep{Keys: []string{f.Submit.Key}, Last: true}, nil
	}
	return sessions.DialogStep{Keys: []string{"Down"}}, nil
}
