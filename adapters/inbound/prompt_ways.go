package inbound

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// fewOptions is how many options have a button each where there are menus too: with the
// row of other buttons below them, they fill a message on Discord.
const fewOptions = 4

// ways are the ways to answer a question in a place: options as buttons, or as menus where
// there are menus, and any number may be chosen or there are many. text is what the message says.
func (ps *prompts) ways(ctx context.Context, p sessions.Prompt, m PromptMessage, text string) (menus []adapters.Menu, rows [][]adapters.Button, err error) {
	add := func(label string, o offer) (b adapters.Button) {
		if err == nil {
			o.Session = p.Session
			b, err = ps.in.offer(ctx, m.Place, label, o)
		}
		return b
	}
	shape := ps.in.opt.Hub.Shape(m.Place)
	if !canShow(text, p, shape) { // then nobody here knows what they'd allow
		p.Dialog.Unseen = true
	}
	multi, may := p.Dialog.Kind == sessions.PromptMulti && !p.Dialog.Unseen, answerRole(p)
	shown := shownOptions(p.Dialog)
	if p.Dialog.Kind == sessions.PromptUnread {
		rows = keyRows(p, func(i int) adapters.Button {
			return add(p.Dialog.Options[i].Label, offer{Do: "answer", Args: fmt.Sprintf("%s %d", p.ID, i), Role: access.Approver})
		})
	} else if shape.Menus > 0 && len(shown) > 0 && (multi || len(shown) > fewOptions) {
		menus = choices(p, m, shown, shape, func(args string) string {
			do := "answer-chosen"
			if multi {
				do = "choose"
			}
			return add("", offer{Do: do, Args: args, Role: may}).Data
		})
	} else {
		do := "answer"
		if multi {
			do = "toggle"
		}
		for _, i := range shown {
			b := add(buttonLabel(p.Dialog, i, m.Checked), offer{Do: do, Args: fmt.Sprintf("%s %d", p.ID, i), Role: may})
			rows = append(rows, []adapters.Button{b})
		}
	}
	var last []adapters.Button
	if multi {
		last = append(last, add("Send", offer{Do: "send-chosen", Args: p.ID, Role: may}))
	}
	if p.Dialog.OffersText() {
		last = append(last, add("Write an answer…", offer{Do: "write-answer", Args: p.ID, Role: may}))
	}
	if len(last) > 1 { // four are too many beside each other on a phone
		rows, last = append(rows, last), nil
	}
	last = append(last, add("Screen", offer{Do: "screen", Role: access.Viewer}))
	if p.Kind() != sessions.PromptCall && !p.Dialog.Hidden && (p.Dialog.Kind != sessions.PromptUnread || len(shown) > 0) { // no code goes by keys of a chat
		last = append(last, add("Keys", offer{Do: "command", Args: "keys ", Role: access.Operator}))
	}
	return menus, append(rows, last), err
}

// How the keys of a dialog that isn't recognised stand below its picture: Discord takes five
// rows of five.
const (
	keysInRow = 4
	keyRowsOf = 4
)

// keyRows are the keys of a dialog that isn't recognised: the first ones four in a row, as
// on a keyboard, and so many of the others as fit.
func keyRows(p sessions.Prompt, button func(i int) adapters.Button) (rows [][]adapters.Button) {
	for i := range p.Dialog.Options {
		last := len(rows) - 1
		if last < 0 || len(rows[last]) >= keysInRow+last/2 {
			if len(rows) == keyRowsOf {
				break
			}
			rows, last = append(rows, nil), last+1
		}
		rows[last] = append(rows[last], button(i))
	}
	return rows
}

// answerRole is what a person needs to answer a question: nobody gives access who couldn't
// give it themselves.
func answerRole(p sessions.Prompt) access.Role {
	if p.Access {
		return access.Admin
	}
	return access.Approver
}

// shownOptions are the options that can be chosen, by index: not the one that takes a text.
func shownOptions(d sessions.Dialog) []int {
	var out []int
	for i, o := range d.Options {
		if d.Offers(i) && (d.Text == "" || wording.OneLine(o.Label) != wording.OneLine(d.Text)) {
			out = append(out, i)
		}
	}
	return out
}

// choices are the options as menus, as many as fit: their hints count the others. The values are the options' indexes;
// the arguments of a menu's offer are the question's id and the indexes that are in it.
func choices(p sessions.Prompt, m PromptMessage, shown []int, shape adapters.Shape, data func(args string) string) []adapters.Menu {
	var out []adapters.Menu
	for part := range slices.Chunk(shown, shape.MenuOptions) {
		if len(out) == shape.Menus {
			break
		}
		menu := adapters.Menu{Hint: "Choose one", Least: 1, Most: 1}
		if p.Dialog.Kind == sessions.PromptMulti {
			menu.Hint, menu.Least, menu.Most = "Choose any number, then press Send", 0, len(part)
		}
		if len(shown) > shape.MenuOptions {
			menu.Hint += fmt.Sprintf(" (%d to %d of %d)", part[0]+1, part[len(part)-1]+1, len(p.Dialog.Options))
		}
		menu.Data = data(fmt.Sprintf("%s %d %d", p.ID, part[0], part[len(part)-1]))
		for _, i := range part {
			o := p.Dialog.Options[i]
			menu.Options = append(menu.Options, adapters.Option{
				Label: optionLabel(p.Dialog, i, adapters.MaxOption), Detail: wording.CutEnd(wording.OneLine(o.Detail), adapters.MaxOption),
				Value: strconv.Itoa(i), Chosen: slices.Contains(m.Checked, i),
			})
		}
		out = append(out, menu)
	}
	return out
}

// chosenOf reads what was chosen of a menu of choices: the question, the indexes that were
// in the menu, and those that were chosen, sorted.
func (a *ask) chosenOf() (id string, from, to int, chosen []int, err error) {
	id, in, _ := strings.Cut(a.args, " ")
	if _, err = fmt.Sscanf(in, "%d %d", &from, &to); err != nil {
		return id, 0, 0, nil, fmt.Errorf("read what a menu is about: %w", err)
	}
	p, err := a.in.opt.Sessions.Prompt(a.ctx, id)
	if err != nil {
		return id, 0, 0, nil, a.in.whyClosed(a.ctx, id)
	}
	press, _ := a.event.Action.(intake.Pressed)
	for _, value := range press.Chosen {
		i, err := strconv.Atoi(value)
		if err != nil || i < from || i > to || slices.Contains(chosen, i) || !slices.Contains(shownOptions(p.Dialog), i) {
			return id, 0, 0, nil, fmt.Errorf("%w: that isn't an option of this menu", sessions.ErrInvalid)
		}
		chosen = append(chosen, i)
	}
	slices.Sort(chosen)
	return id, from, to, chosen, nil
}

// answerChosen answers with the one option that was chosen of a menu.
func answerChosen(a *ask) error {
	id, _, _, chosen, err := a.chosenOf()
	switch {
	case err != nil:
		return err
	case len(chosen) != 1:
		return fmt.Errorf("%w: one option is to be chosen, not %d", sessions.ErrInvalid, len(chosen))
	}
	return a.give(id, sessions.Answer{Options: chosen})
}

// chooseOptions has exactly those options of a menu be chosen that were.
func chooseOptions(a *ask) error {
	id, from, to, chosen, err := a.chosenOf()
	if err != nil {
		return err
	}
	found := a.in.prompts.change(id, a.event, func(m *shown) {
		others := slices.DeleteFunc(slices.Clone(m.Checked), func(i int) bool { return i >= from && i <= to })
		m.Checked = append(others, chosen...)
		slices.Sort(m.Checked)
	})
	if !found {
		return a.in.whyClosed(a.ctx, id)
	}
	return nil
}
