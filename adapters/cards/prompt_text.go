package cards

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

const (
	maxButton   = 40  // characters of a button that are shown everywhere
	maxQuestion = 300 // runes of a question
	maxOption   = 250 // runes of an option in a text
	maxDetail   = 150 // runes of what's explained below it
	// SpareUnits are left free of a message, for marks and masks.
	SpareUnits = 60
)

// asksWhat says what sort of question it is.
func asksWhat(k sessions.PromptKind) string {
	switch k {
	case sessions.PromptPermission:
		return "asks for permission"
	case sessions.PromptChoice:
		return "asks you to choose"
	case sessions.PromptMulti:
		return "asks you to choose any number"
	case sessions.PromptText:
		return "asks for a text"
	case sessions.PromptPlan:
		return "asks whether its plan is right"
	case sessions.PromptSetup:
		return "asks about its own setup"
	case sessions.PromptUnread:
		return "needs you"
	case sessions.PromptLine:
		return "asks for a line"
	case sessions.PromptCall:
		return "has a program that asks for something"
	case sessions.PromptInquiry:
		return "asks, in its own words"
	default:
		return "asks"
	}
}

// Why a question has fewer buttons than options.
const (
	disputedNote = "⚠ What its dialog shows isn’t in the agent’s own record of the call. Both are below. Only what refuses can be chosen here; look at it in the session."
	unseenNote   = "⚠ Not all of what it’s about can be seen, so only what refuses can be chosen here. Look at it in the session."
)

// How a program's question for a line is answered.
const (
	lineNote   = "What’s written to the session is typed there."
	hiddenNote = "It doesn’t show what’s typed: a password, perhaps, which is better typed in the session, since a chat keeps what’s written. What’s written to the session here is typed there."
)

// questionText is what the message of a question says, in Markdown, cut to fit. lead
// stands at its top; "": nothing does. byNumber says that it has no buttons: people answer it
// with numbers.
func questionText(name string, p sessions.Prompt, checked []int, shape adapters.Shape, lead string, byNumber bool) string {
	head := fmt.Sprintf("**%s %s**", wording.Plain(name), asksWhat(p.Dialog.Kind))
	if lead != "" {
		head = lead + "\n\n" + head
	}
	if p.Dialog.Kind == sessions.PromptUnread && byNumber && !p.Final() {
		return strings.Join([]string{unreadText(head, p), keyList(p.Dialog), numbersNote(p.Dialog)}, "\n\n")
	}
	if p.Dialog.Kind == sessions.PromptUnread {
		return unreadText(head, p)
	}
	if p.Dialog.Title != "" && p.Dialog.Kind != sessions.PromptInquiry { // all of whose words stand below, apart from panebridge's
		head += "\n\n" + wording.Plain(wording.CutEnd(p.Dialog.Title, maxQuestion))
	}
	if p.Dialog.Folder != "" {
		head += "\n\nIn " + wording.Plain(wording.CutBegin(wording.OneLine(p.Dialog.Folder), maxQuestion))
	}
	if p.Dialog.Note != "" && !p.Final() {
		head += "\n\n" + wording.Plain(wording.CutEnd(wording.OneLine(p.Dialog.Note), maxQuestion))
	}
	switch {
	case p.Final():
	case p.Dialog.Kind == sessions.PromptLine && p.Dialog.Hidden:
		head += "\n\n" + hiddenNote
	case p.Dialog.Kind == sessions.PromptLine:
		head += "\n\n" + lineNote
	case p.Dialog.Disputed:
		head += "\n\n" + disputedNote
	case p.Dialog.Unseen:
		head += "\n\n" + unseenNote
	}
	var foot string
	switch {
	case p.Final():
		foot = wording.Plain(OutcomeText(p))
	case numbered(p.Dialog), byNumber && len(p.Dialog.Options) > 0:
		foot, _ = optionList(p.Dialog, checked, shape)
	}
	if note := numbersNote(p.Dialog); byNumber && !p.Final() && note != "" {
		foot += "\n\n" + note
	}
	room := shape.MaxLen - shape.Len(head) - shape.Len(foot) - SpareUnits
	parts := []string{head}
	if body := fitting(p.Dialog, shape.Len, room); body != "" {
		parts = append(parts, body)
	}
	if foot != "" {
		parts = append(parts, foot)
	}
	return strings.Join(parts, "\n\n")
}

// unreadText is what stands below the picture of a screen.
func unreadText(head string, p sessions.Prompt) string {
	switch {
	case p.Final():
		return head + "\n\n" + wording.Plain(OutcomeText(p))
	case len(p.Dialog.Options) == 0:
		return head + ": its screen asks for something that's typed there only, a key or a code perhaps. Answer it in the session."
	case p.Dialog.Title != "":
		head += ": " + wording.Plain(wording.CutEnd(p.Dialog.Title, maxQuestion))
	default:
		head += ": its screen looks like a question."
	}
	return head + "\n\npanebridge doesn't know this dialog. Each button presses its key, while this very screen stands."
}

// numbered says that the options stand in the text: a button can't hold all of them.
func numbered(d sessions.Dialog) bool {
	return slices.ContainsFunc(d.Options, func(o sessions.DialogOption) bool {
		return utf8.RuneCountInString(wording.OneLine(o.Label)) > maxButton || o.Detail != ""
	})
}

// optionList is the options as a list, as many as fit into half of a message; all says that these are all.
func optionList(d sessions.Dialog, checked []int, shape adapters.Shape) (list string, all bool) {
	var rows []string
	for i, o := range d.Options {
		row := fmt.Sprintf("%d. %s", i+1, wording.Plain(wording.CutEnd(wording.OneLine(o.Label), maxOption)))
		if slices.Contains(checked, i) {
			row += " ✓"
		}
		if o.Detail != "" {
			row += " — " + wording.Plain(wording.CutEnd(wording.OneLine(o.Detail), maxDetail))
		}
		if shape.Len(strings.Join(append(rows, row), "\n")) > shape.MaxLen/2 {
			more := fmt.Sprintf("and %d more", len(d.Options)-i)
			switch {
			case !isOnNoScreen(d.Kind):
				more += ", on the screen"
			case shape.MaxFile > 0:
				more += ", in the file"
			}
			return strings.Join(append(rows, more), "\n"), false
		}
		rows = append(rows, row)
	}
	return strings.Join(rows, "\n"), true
}

// fitting is what a question is about, as code of at most so many units: its beginning,
// with "…" for what there's no room for. "": there's nothing, or no room at all.
func fitting(d sessions.Dialog, length func(string) int, room int) string {
	body := strings.Trim(d.About(), "\n")
	if strings.TrimSpace(body) == "" {
		return ""
	}
	if d.Cut && d.Whole == "" {
		body = "…\n" + body
	}
	code := codeOf(d)
	if whole := code(body); length(whole) <= room {
		return whole
	}
	runes := []rune(body)
	low, high := 0, len(runes) // so many runes fit; so many and one more don't
	for low < high {
		mid := (low + high + 1) / 2
		if length(code(string(runes[:mid])+"\n…")) <= room {
			low = mid
		} else {
			high = mid - 1
		}
	}
	cut := string(runes[:low])
	if i := strings.LastIndexByte(cut, '\n'); i > len(cut)/2 {
		cut = cut[:i]
	}
	if strings.Trim(cut, "…\n ") == "" {
		return ""
	}
	return code(cut + "\n…")
}

// codeOf shows what a question is about as it is.
func codeOf(d sessions.Dialog) func(text string) string {
	if d.IsDiff() {
		return wording.Diff
	}
	return wording.Code
}

// buttonLabel is how an option is shown on a button.
func buttonLabel(d sessions.Dialog, i int, checked []int) string {
	label := optionLabel(d, i, maxButton)
	if slices.Contains(checked, i) {
		label = "✓ " + label
	}
	return wording.CutEnd(label, maxButton)
}

// optionLabel is what an option is called, in so many characters at most.
func optionLabel(d sessions.Dialog, i, most int) string {
	label := wording.OneLine(d.Options[i].Label)
	switch {
	case numbered(d):
		label = fmt.Sprintf("%d. %s", i+1, label)
	case label == "":
		label = fmt.Sprintf("Option %d", i+1)
	}
	return wording.CutEnd(label, most)
}

// ChosenText returns what an answer says, as people read it.
func ChosenText(d sessions.Dialog, a sessions.Answer) string {
	if a.Text != "" {
		return "“" + wording.CutEnd(wording.OneLine(a.Text), maxOption) + "”"
	}
	var labels []string
	for _, i := range a.Options {
		if i < 0 || i >= len(d.Options) {
			labels = append(labels, fmt.Sprintf("option %d", i+1))
			continue
		}
		labels = append(labels, wording.CutEnd(wording.OneLine(d.Options[i].Label), maxOption))
	}
	if len(labels) == 0 {
		return "none of them"
	}
	return strings.Join(labels, ", ")
}

// WhoAnswered returns what the person of an answer is called.
func WhoAnswered(a sessions.Answer) string {
	if a.Name != "" {
		return a.Name
	}
	return a.Author
}

// OutcomeText returns what became of a question, as a sentence.
func OutcomeText(p sessions.Prompt) string {
	switch {
	case p.State == sessions.PromptAnswered && p.Answer != nil:
		if p.Dialog.Kind == sessions.PromptUnread {
			return WhoAnswered(*p.Answer) + " pressed " + ChosenText(p.Dialog, *p.Answer) + "."
		}
		return "Answered by " + WhoAnswered(*p.Answer) + ": " + wording.FullStop(ChosenText(p.Dialog, *p.Answer))
	case p.Reason != "":
		return wording.Sentence(p.Reason)
	case p.State == sessions.PromptAnswered:
		return "It was answered."
	case p.State == sessions.PromptClosed:
		return "The question is closed."
	case p.State == sessions.PromptAnswering && p.Answer != nil:
		return WhoAnswered(*p.Answer) + " is answering: " + wording.FullStop(ChosenText(p.Dialog, *p.Answer))
	default:
		return "The question is open."
	}
}

// A question whose buttons a place refuses says how it's answered with numbers, as #2. They count
// wherever somebody answers the question's message, unless they've said that their next
// message is a text; a bare 2 does where the question takes no text.

// numbersNote says how a question is answered with numbers; "": it has no options.
func numbersNote(d sessions.Dialog) string {
	shown := OptionsShown(d)
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

// OptionsIn returns the options that a text chooses by their numbers, which count from one: sorted indexes.
// ok is false if the text is something else, or names an option that the place doesn't offer. Where a
// question takes a text, too, an option's number has a "#" before it.
func (k *Clerk) OptionsIn(p sessions.Prompt, place adapters.Target, text string) (chosen []int, ok bool) {
	shape := k.Hub.Shape(place)
	if !canShow(questionText("", p, nil, shape, "", true), p, shape) {
		p.Dialog.Unseen = true
	}
	offered := OptionsShown(p.Dialog)
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

// fewOptions is how many options have a button each where there are menus too: with the
// row of other buttons below them, they fill a message on Discord.
const fewOptions = 4

// waysToAnswer are the ways to answer a question in a place: options as buttons, or as menus where
// there are menus, and any number may be chosen or there are many. text is what the message says.
func (ps *questionCards) waysToAnswer(ctx context.Context, p sessions.Prompt, m PromptMessage, text string) (menus []adapters.Menu, rows [][]adapters.Button, err error) {
	add := func(label string, o Offer) (b adapters.Button) {
		if err == nil {
			o.Session = p.Session
			b, err = ps.clerk.MakeOffer(ctx, m.Place, label, o)
		}
		return b
	}
	shape := ps.clerk.Hub.Shape(m.Place)
	if !canShow(text, p, shape) { // then nobody here knows what they'd allow
		p.Dialog.Unseen = true
	}
	multi, may := p.Dialog.Kind == sessions.PromptMulti && !p.Dialog.Unseen, RoleToAnswer(p)
	shown := OptionsShown(p.Dialog)
	if p.Dialog.Kind == sessions.PromptUnread {
		rows = keyRows(p, func(i int) adapters.Button {
			return add(p.Dialog.Options[i].Label, Offer{Do: "answer", Args: fmt.Sprintf("%s %d", p.ID, i), Role: access.Approver})
		})
	} else if shape.Menus > 0 && len(shown) > 0 && (multi || len(shown) > fewOptions) {
		menus = choices(p, m, shown, shape, func(args string) string {
			do := "answer-chosen"
			if multi {
				do = "choose"
			}
			return add("", Offer{Do: do, Args: args, Role: may}).Data
		})
	} else {
		do := "answer"
		if multi {
			do = "toggle"
		}
		for _, i := range shown {
			b := add(buttonLabel(p.Dialog, i, m.Checked), Offer{Do: do, Args: fmt.Sprintf("%s %d", p.ID, i), Role: may})
			rows = append(rows, []adapters.Button{b})
		}
	}
	var last []adapters.Button
	if multi {
		last = append(last, add("Send", Offer{Do: "send-chosen", Args: p.ID, Role: may}))
	}
	if p.Dialog.OffersText() {
		last = append(last, add("Write an answer…", Offer{Do: "write-answer", Args: p.ID, Role: may}))
	}
	if len(last) > 1 { // four are too many beside each other on a phone
		rows, last = append(rows, last), nil
	}
	last = append(last, add("Screen", Offer{Do: "screen", Role: access.Viewer}))
	if !isOnNoScreen(p.Kind()) && !p.Dialog.Hidden && (p.Dialog.Kind != sessions.PromptUnread || len(shown) > 0) { // no code goes by keys of a chat
		last = append(last, add("Keys", Offer{Do: "command", Args: "keys ", Role: access.Operator}))
	}
	return menus, append(rows, last), err
}

// isOnNoScreen reports whether a question is none of the pane's: no key answers it.
func isOnNoScreen(k sessions.PromptKind) bool {
	return k == sessions.PromptCall || k == sessions.PromptInquiry
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

// RoleToAnswer returns the role that answering a question takes: Admin for what gives access to others.
func RoleToAnswer(p sessions.Prompt) access.Role {
	if p.Access {
		return access.Admin
	}
	return access.Approver
}

// OptionsShown returns the indexes of the options that can be chosen. The one that takes a text is none of
// them.
func OptionsShown(d sessions.Dialog) []int {
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
			menu.Options = append(menu.Options, adapters.MenuOption{
				Label: optionLabel(p.Dialog, i, adapters.MaxOption), Detail: wording.CutEnd(wording.OneLine(o.Detail), adapters.MaxOption),
				Value: strconv.Itoa(i), Chosen: slices.Contains(m.Checked, i),
			})
		}
		out = append(out, menu)
	}
	return out
}
