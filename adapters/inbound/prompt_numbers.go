package inbound

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// A question whose buttons a place refuses says how it's answered with numbers, as #2. They count
// wherever somebody answers the question's message, unless they've said that their next
// message is a text; a bare 2 does where the question takes no text.

// numbersNote says how a question is answered with numbers; "": it has no options.
func numbersNote(d sessions.Dialog) string {
	shown := shownOptions(d)
	switch {
	case len(shown) == 0:
		return ""
	case d.Kind == sessions.PromptMulti:
		return "Reply to this message with the numbers that you choose, as in “#1 #3”."
	case d.Kind == sessions.PromptUnread, len(shown) > len(d.Options)/2:
		return fmt.Sprintf("Reply to this message with a number to answer, as in “#%d”.", shown[0]+1)
	default: // some of the list can't be chosen here
		var numbers []string
		for _, i := range shown {
			numbers = append(numbers, "#"+strconv.Itoa(i+1))
		}
		return "Reply to this message with " + strings.Join(numbers, " or ") + " to answer."
	}
}

// keyList are the keys of a dialog that isn't recognised, with their numbers.
func keyList(d sessions.Dialog) string {
	var all []string
	for i, o := range d.Options {
		all = append(all, fmt.Sprintf("%d %s", i+1, wording.Plain(wording.OneLine(o.Label))))
	}
	return strings.Join(all, " · ")
}

// optionsOf reads which options of a question a text chooses by their numbers, counted from
// one: indexes, sorted. ok is false if the text is something else, or chooses what the place
// doesn't offer. A question that takes a text may be answered with a number as well: it's an
// option there only behind a "#".
func (in *Inbound) optionsOf(p sessions.Prompt, place adapters.Target, text string) (chosen []int, ok bool) {
	shape := in.opt.Hub.Shape(place)
	if !canShow(promptText("", p, nil, shape, "", true), p, shape) {
		p.Dialog.Unseen = true
	}
	offered := shownOptions(p.Dialog)
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == ',' || r == '\n' }) {
		number, marked := strings.CutPrefix(strings.TrimSuffix(word, "."), "#")
		n, err := strconv.Atoi(number)
		if err != nil || !marked && p.Dialog.Text != "" || !slices.Contains(offered, n-1) || slices.Contains(chosen, n-1) {
			return nil, false
		}
		chosen = append(chosen, n-1)
	}
	slices.Sort(chosen)
	return chosen, len(chosen) == 1 || len(chosen) > 1 && p.Dialog.Kind == sessions.PromptMulti
}
