package agent

import (
	"errors"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// errUnseen says that the mark must first be seen: the screen's colours may show it.
var errUnseen = errors.New("what's marked in the dialog can't be seen; read it with its colours")

// Next says what to do next on the way to an answer to a dialog of the profile, as
// sessions.Dialogs has it. Enter is pressed only where the mark is known to stand on
// what's wanted.
func (p *Profile) Next(d *sessions.Dialog, a sessions.Answer) (sessions.DialogStep, error) {
	f := p.formOf(d)
	switch {
	case f == nil:
		return sessions.DialogStep{}, fmt.Errorf("%w answer: nothing is known of how this dialog is answered", sessions.ErrInvalid)
	case a.Text != "" && d.Text == "":
		return sessions.DialogStep{}, fmt.Errorf("%w answer: this dialog takes no text", sessions.ErrInvalid)
	case a.Text != "" && len(a.Options) > 0:
		return sessions.DialogStep{}, fmt.Errorf("%w answer: it's options or a text, not both", sessions.ErrInvalid)
	case a.Text != "":
		return f.typeInto(d, a.Text)
	case f.Kind == sessions.PromptMulti && d.Window != nil:
		return f.checkList(d, a.Options)
	case f.Kind == sessions.PromptMulti:
		return f.checkAll(d, a.Options)
	case len(a.Options) != 1 || a.Options[0] < 0 || a.Options[0] >= len(d.Options):
		return sessions.DialogStep{}, fmt.Errorf("%w answer: it must be one of the dialog's options", sessions.ErrInvalid)
	}
	return f.takeOption(d, a.Options[0])
}

// takeOption takes one option.
func (f *dialogForm) takeOption(d *sessions.Dialog, want int) (sessions.DialogStep, error) {
	if d.Typed != "" || f.Text != nil && f.Text.Field != nil && d.Marked == len(d.Options) {
		return sessions.DialogStep{}, fmt.Errorf("%w answer: a text is being typed into the dialog; clear it in the session first", sessions.ErrInvalid)
	}
	if d.Options[want].Key != "" && !f.entered(d) {
		return sessions.DialogStep{Keys: []string{d.Options[want].Key}, Last: true}, nil
	}
	return f.goTo(d, want, true)
}

// entered reports whether the entry for text has the keys: a digit would be text there.
func (f *dialogForm) entered(d *sessions.Dialog) bool {
	return f.Answer == byDigit && f.Text != nil && d.Marked == len(d.Options)
}

// goTo moves the mark by one step, the shorter way, or presses Enter on what's marked.
func (f *dialogForm) goTo(d *sessions.Dialog, want int, last bool) (sessions.DialogStep, error) {
	back, forth := "Up", "Down"
	if f.Answer == bySideways {
		back, forth = "Left", "Right"
	}
	switch {
	case d.Marked == want:
		return sessions.DialogStep{Keys: []string{"Enter"}, Last: last}, nil
	case d.Marked < 0:
		return sessions.DialogStep{}, errUnseen
	case d.Marked > want != f.overTheEnd(d, want):
		return sessions.DialogStep{Keys: []string{back}}, nil
	}
	return sessions.DialogStep{Keys: []string{forth}}, nil
}

// overTheEnd reports whether the way to an option is shorter over the end.
func (f *dialogForm) overTheEnd(d *sessions.Dialog, want int) bool {
	way := max(d.Marked-want, want-d.Marked)
	return f.Round && len(d.Options)-way < way
}

// checkAll checks what's wanted of several options, one after the other, and submits
// them.
func (f *dialogForm) checkAll(d *sessions.Dialog, want []int) (sessions.DialogStep, error) {
	wanted, err := wantedOf(d, want)
	if err != nil {
		return sessions.DialogStep{}, err
	}
	for i, o := range d.Options {
		if o.Checked != wanted[i] {
			return f.toggleOption(d, i)
		}
	}
	if f.entered(d) && f.Submit.Row == nil {
		return sessions.DialogStep{Keys: []string{"Up"}}, nil
	}
	if f.Submit.Row == nil || d.Marked == len(d.Options)+1 {
		return sessions.DialogStep{Keys: []string{f.Submit.Key}, Last: true}, nil
	}
	if d.Marked < 0 {
		return sessions.DialogStep{}, errUnseen
	}
	return sessions.DialogStep{Keys: []string{"Down"}}, nil
}

// wantedOf says of each option of a dialog whether it's wanted. No text may stand in it.
func wantedOf(d *sessions.Dialog, want []int) ([]bool, error) {
	wanted := make([]bool, len(d.Options))
	for _, i := range want {
		if i < 0 || i >= len(d.Options) {
			return nil, fmt.Errorf("%w answer: there is no option %d", sessions.ErrInvalid, i+1)
		}
		wanted[i] = true
	}
	if d.Typed != "" {
		return nil, fmt.Errorf("%w answer: a text stands in the dialog; clear it in the session first", sessions.ErrInvalid)
	}
	return wanted, nil
}

// toggleOption checks an option, or takes its check away.
func (f *dialogForm) toggleOption(d *sessions.Dialog, i int) (sessions.DialogStep, error) {
	switch {
	case f.entered(d):
		return sessions.DialogStep{Keys: []string{"Up"}}, nil // a digit would be text there
	case f.Answer == byArrows && d.Marked != i:
		return f.goTo(d, i, false)
	case d.Options[i].Key == "" && f.Answer == byDigit:
		return sessions.DialogStep{}, fmt.Errorf("%w answer: no key is known for option %d", sessions.ErrInvalid, i+1)
	case f.Toggle != "" && d.Marked == i:
		return sessions.DialogStep{Keys: []string{f.Toggle}, Toggles: i + 1}, nil
	}
	return sessions.DialogStep{Keys: []string{d.Options[i].Key}, Toggles: i + 1}, nil
}

// typeInto goes to the entry for text, and types one.
func (f *dialogForm) typeInto(d *sessions.Dialog, text string) (sessions.DialogStep, error) {
	switch {
	case d.Marked == len(d.Options) && d.Typed == "":
		return sessions.DialogStep{Text: text}, nil
	case d.Marked == len(d.Options) && shows(d.Typed, text):
		return sessions.DialogStep{Keys: []string{"Enter"}, Last: true}, nil
	case d.Typed != "":
		return sessions.DialogStep{}, fmt.Errorf("%w answer: another text stands in the dialog; clear it in the session first", sessions.ErrInvalid)
	case d.TextKey != "":
		return sessions.DialogStep{Keys: []string{d.TextKey}}, nil
	case f.Text == nil || f.Text.Field == nil:
		return sessions.DialogStep{}, fmt.Errorf("%w answer: it isn't known how text is typed into this dialog", sessions.ErrInvalid)
	}
	for i, o := range d.Options {
		if f.Text.Label.whole.MatchString(o.Label) {
			step, err := f.goTo(d, i, false)
			if err == nil && d.Marked == i {
				step.Keys = []string{f.Text.Open}
			}
			return step, err
		}
	}
	return sessions.DialogStep{}, fmt.Errorf("%w answer: the option that takes text isn't there", sessions.ErrInvalid)
}

// surely is how many letters of a field are surely of a text.
const surely = 16

// shows reports whether a field shows a text: all of it, a part where the field is
// shorter, or what agents put in the place of long ones: "[Pasted text #1 +61 lines]".
func shows(field, text string) bool {
	f, t := signs(field), signs(text)
	return f == t || len(f) >= surely && strings.Contains(t, f) || strings.HasPrefix(field, "[Pasted ")
}
