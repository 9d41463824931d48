package agent

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"

	"github.com/panebridge/panebridge/sessions"
)

// dialogForm says how a dialog of one kind is recognised, taken apart and answered. A
// dialog is of the first form that fits.
type dialogForm struct {
	Form string              `yaml:"form"` // its name, unique within the profile
	Kind sessions.PromptKind `yaml:"kind"`
	// Frame has one group: what of a row is content. The rows that it doesn't match are
	// drawn around it. None: all of a row is content.
	Frame *pattern `yaml:"frame"`
	// Match must be found in the content.
	Match pattern `yaml:"match"`
	// Title has one group, the question, in one row above the options, the lowest that
	// there is. None: the question is the last paragraph above them.
	Title *pattern `yaml:"title"`
	// Headed says that the question stands above what it's about: it's the uppermost such
	// row.
	Headed bool `yaml:"headed"`
	// Skip are rows above the options that don't belong to what it's about.
	Skip []pattern `yaml:"skip"`
	// Option is the first row of an option. Its groups are mark, number, check, more, label
	// and detail, of which only label must be there. Numbers count from 1, top to bottom.
	// More is a sign beside an option that others are hidden there: ↓ or ↑.
	Option *pattern `yaml:"option"`
	// Apart says that options without numbers have a blank row between them: the rows
	// below an option's first are its own.
	Apart bool `yaml:"apart"`
	// Row is a row that has all options side by side: its group has the labels, with at
	// least two blanks between them.
	Row *pattern `yaml:"row"`
	// Round says that the mark of a row goes round at the ends. The less it's moved, the less
	// can a key that a person presses meanwhile take what lies on the way.
	Round bool `yaml:"round"`
	// Fixed are options that aren't drawn as such, in place of Option and Row.
	Fixed []fixedOption `yaml:"fixed"`
	// Below says what stands in the rows below an option's first: the rest of its label,
	// or what explains it.
	Below belowOption `yaml:"below"`
	// Strip is cut off labels: the key that they name, say.
	Strip *pattern `yaml:"strip"`
	// Window is a row that says that a list shows only some of its options.
	Window *pattern `yaml:"window"`
	// Hidden is a row above the options that says that a part of what it's about isn't
	// shown.
	Hidden *pattern `yaml:"hidden"`
	// Keeps are rows above the options that say more than the record does: where it runs, say. They
	// stand before it.
	Keeps *pattern `yaml:"keeps"`
	// Command must be found above the options of a dialog about a command. Own are rows there
	// that the program writes of itself: a row's group, if there is one, is the call's all the
	// same. Between are rows between which all is the call's. What's the call's must occur in
	// the agent's own record of it.
	// Alone says that such a dialog draws nothing else of the call than its command.
	Command *pattern `yaml:"command"`
	Alone   bool     `yaml:"alone"`
	// All says that a dialog which isn't about a command draws all that the call says, in the
	// record's order. Else each of its texts that's drawn must be drawn whole.
	All     bool      `yaml:"all"`
	Own     []pattern `yaml:"own"`
	Between *pattern  `yaml:"between"`
	// Params are how what a tool is called with is drawn. What such a dialog is about is never
	// seen whole without the agent's record of the call, unless they say so.
	Params *paramForm `yaml:"params"`
	// Unseen says that it's never sure that all of what it's about is drawn.
	Unseen bool `yaml:"unseen"`
	// Raw says that control characters are drawn as what they do: what's on the screen may have been
	// written over. Without a record of the call the transcript has to say that it has none.
	Raw bool `yaml:"raw"`
	// Tools says that it may be about a tool of an MCP server, of which it draws the name.
	Tools bool `yaml:"tools"`
	// Tool has one group: what the tool is called in the uppermost row. Only records of that
	// tool are the dialog's.
	Tool *pattern `yaml:"tool"`
	// Changes are how changes of files are drawn.
	Changes []changeForm `yaml:"changes"`
	// Partial is all of what it's about while the rest of that is yet to be drawn.
	Partial *pattern `yaml:"partial"`
	// Full is how many rows there are at most between title and options: so many may be a
	// part of what it's about. Filled is the same without the blank ones at the end. 0: all
	// of that is shown.
	Full   int `yaml:"full"`
	Filled int `yaml:"filled"`
	// Foot is a row below the options with which the dialog ends. None: it ends with the
	// options.
	Foot *pattern `yaml:"foot"`
	// Under are rows that may stand below the dialog. With any other, it's a text that's
	// only quoted.
	Under []pattern `yaml:"under"`
	// Styled says that colours alone show what's marked.
	Styled bool `yaml:"styled"`
	// Answer is how an option is taken.
	Answer means `yaml:"answer"`
	// Toggle is pressed on an option that's marked, to check it. "": its number does.
	Toggle string `yaml:"toggle"`
	// Submit is what submits the checked options.
	Submit *submitForm `yaml:"submit"`
	Text   *textEntry  `yaml:"text"`
	// Recorded says that such a dialog is read only with the agent's record of its call: the
	// screen shows its end alone.
	Recorded bool `yaml:"recorded"`
	// Tabs is a row above the options that names the questions which are asked at once.
	// Beside is the label of what the program adds to the options of a question.
	Tabs   *pattern `yaml:"tabs"`
	Beside *pattern `yaml:"beside"`
	// Untouched is that row while nobody has answered any. Asked is what the program adds to
	// the text of a question.
	Untouched *untouchedTabs `yaml:"untouched"`
	Asked     *pattern       `yaml:"asked"`
	// Allow and Deny are the labels of the options that a permission hook which waits can
	// take: Deny ends the turn, too.
	Allow *pattern `yaml:"allow"`
	Deny  *pattern `yaml:"deny"`
	// Corrects is what a text is called by which such a hook refuses, and tells the model
	// what to do instead; the dialog itself takes none.
	Corrects string `yaml:"corrects"`
	// Saves is a row, with a group for what it names, of a dialog that asks whether a call is
	// to be allowed for good, where that's for all that a tool does. Else it draws what is:
	// a row for each pattern, behind a dash.
	Saves *pattern `yaml:"saves"`
	// Refuse is the label of an option that allows nothing, whatever the question is. None:
	// where the labels are the program's own, what programs call that.
	Refuse *pattern `yaml:"refuse"`
}

// allows reports whether a dialog of a kind allows something: a permission or a plan.
func allows(kind sessions.PromptKind) bool {
	return kind == sessions.PromptPermission || kind == sessions.PromptPlan
}

// refusals are what programs call what refuses.
var refusals = regexp.MustCompile(`^(?:No|No[, ].*|Reject|Cancel|Dismiss|Don.t trust|Continue without trusting.*)$`)

// refuses reports whether an option allows nothing. What a question asks is the model's to
// say, and so are its options.
func (f *dialogForm) refuses(label string) bool {
	switch {
	case f.Refuse != nil:
		return f.Refuse.whole.MatchString(label)
	case allows(f.Kind), f.Kind == sessions.PromptSetup, len(f.Fixed) > 0:
		return refusals.MatchString(label)
	}
	return false
}

// untouchedTabs are what stands before the names of questions, before each, and behind them.
type untouchedTabs struct {
	Before string `yaml:"before"`
	Each   string `yaml:"each"` // "": the row doesn't tell which were answered
	After  string `yaml:"after"`
	// Count is the row where it says which question that is, {nth}, of how many, {all}, and
	// that so many weren't answered.
	Count string `yaml:"count"`
}

// means is how an option is taken.
type means string

const (
	byDigit    means = "digit"    // its number acts at once; of a multi: toggles, or goes to it
	byArrows   means = "arrows"   // Up and Down go to it, Enter takes it
	bySideways means = "sideways" // Left and Right go to it, Enter takes it
	byKeys     means = "keys"     // of fixed options
)

type belowOption string

const (
	belowLabel  belowOption = "label"
	belowDetail belowOption = "detail"
)

// fixedOption is an option with its key.
type fixedOption struct {
	Label string `yaml:"label"`
	Key   string `yaml:"key"`
}

// submitForm is what submits a choice of several.
type submitForm struct {
	// Row is a row that Down goes to, with the group mark, before the key is pressed.
	// None: the key does it wherever the mark is.
	Row *pattern `yaml:"row"`
	Key string   `yaml:"key"`
}

// textEntry is what takes free text: one of the options, which isn't counted among
// them, or a field that a key opens.
type textEntry struct {
	// Label is the entry's label as long as nothing stands in it.
	Label pattern `yaml:"label"`
	// Above is a row below the entry, and Hint one that's there while the entry is
	// marked: by these it's known though a text has its label's place.
	Above *pattern `yaml:"above"`
	Hint  *pattern `yaml:"hint"`
	// Detail: its field is the row below it, which is there once it takes text.
	Detail bool `yaml:"detail"`
	// Field is a row below the options that's there once it takes text, with a group for
	// the text. Then Label is that of an option, which counts as one too, on which Open
	// is pressed.
	Field *pattern `yaml:"field"`
	Open  string   `yaml:"open"`
	// Empty is what stands in the field before a text does.
	Empty *pattern `yaml:"empty"`
}

var (
	promptKinds = []sessions.PromptKind{ //nolint:gochecknoglobals // a constant table
		sessions.PromptPermission, sessions.PromptChoice, sessions.PromptMulti, sessions.PromptText, sessions.PromptPlan, sessions.PromptSetup,
	}
	answerMeans = []means{byDigit, byArrows, bySideways, byKeys} //nolint:gochecknoglobals // a constant table
	// keyNames are the keys that forms press.
	keyNames = regexp.MustCompile(`^(?:Enter|Escape|Tab|BTab|Space|Up|Down|Left|Right|[!-~])$`)
)

// checkForms returns what's wrong with forms, and with which first, or "".
func checkForms(forms []dialogForm) (which int, problem string) {
	names := map[string]int{}
	for i, f := range forms {
		problem := f.check()
		if first, known := names[f.Form]; problem == "" && known {
			i, problem = first, "its name must be another than that of the others"
		}
		if problem != "" {
			return i, fmt.Sprintf("prompt %s: %s", cmp.Or(f.Form, "without a name"), problem)
		}
		names[f.Form] = i
	}
	return 0, ""
}

func (f *dialogForm) check() string {
	switch {
	case f.Form == "":
		return "form must be given: a name"
	case !slices.Contains(promptKinds, f.Kind):
		return fmt.Sprintf("kind must be one of %s, not %q", list(promptKinds), f.Kind)
	case f.Match.Regexp == nil:
		return "match must be given"
	case !slices.Contains(answerMeans, f.Answer):
		return fmt.Sprintf("answer must be one of %s, not %q", list(answerMeans), f.Answer)
	case f.Below != "" && f.Below != belowLabel && f.Below != belowDetail:
		return fmt.Sprintf("below must be label or detail, not %q", f.Below)
	case f.Frame != nil && f.Frame.NumSubexp() < 1:
		return "frame must have a group: a row's content"
	case f.Title != nil && f.Title.NumSubexp() < 1:
		return "title must have a group: the question"
	case f.Tool != nil && f.Tool.NumSubexp() < 1:
		return "tool must have a group: what the tool is called"
	}
	if f.Params != nil {
		if problem := f.Params.check(); problem != "" {
			return problem
		}
	}
	for _, c := range f.Changes {
		if c.Head.Regexp == nil || c.Head.SubexpIndex("path") < 0 || c.Asks.Regexp != nil && c.Asks.SubexpIndex("path") < 0 {
			return "changes: each needs a head with a group named path"
		}
	}
	if problem := f.checkOptions(); problem != "" {
		return problem
	}
	return f.checkKeys()
}

// checkOptions looks at where the options come from.
func (f *dialogForm) checkOptions() string {
	ways := 0
	for _, has := range []bool{f.Option != nil, f.Row != nil, len(f.Fixed) > 0} {
		if has {
			ways++
		}
	}
	switch {
	case ways != 1:
		return "one of option, row and fixed must be given"
	case f.Option != nil && f.Option.SubexpIndex("label") < 0:
		return "option must have a group named label"
	case f.Row != nil && f.Row.SubexpIndex("labels") < 0:
		return "row must have a group named labels"
	case f.Apart && (f.Option == nil || f.Option.SubexpIndex("number") >= 0):
		return "apart needs an option without a group named number"
	case f.Answer == byDigit && (f.Option == nil || f.Option.SubexpIndex("number") < 0):
		return "answer: digit needs an option with a group named number"
	case f.Answer == byArrows && (f.Option == nil || f.Option.SubexpIndex("mark") < 0):
		return "answer: arrows needs an option with a group named mark"
	case f.Round && f.Row == nil:
		return "round goes with row"
	case f.Answer == bySideways && (f.Row == nil || !f.Styled):
		return "answer: sideways needs row and styled"
	case (f.Answer == byKeys) != (len(f.Fixed) > 0):
		return "answer: keys goes with fixed"
	}
	return ""
}

// checkKeys looks at what's pressed.
func (f *dialogForm) checkKeys() string {
	keys := []string{f.Toggle}
	for _, o := range f.Fixed {
		if o.Label == "" || o.Key == "" {
			return "fixed: each must have label and key"
		}
		keys = append(keys, o.Key)
	}
	if f.Kind == sessions.PromptMulti {
		if f.Submit == nil || f.Submit.Key == "" || f.Option == nil || f.Option.SubexpIndex("check") < 0 {
			return "kind: multi needs submit with a key, and an option with a group named check"
		}
		if f.Answer != byDigit && (f.Answer != byArrows || f.Toggle == "") {
			return "kind: multi needs answer: digit, or answer: arrows and toggle"
		}
		if f.Submit.Row != nil && f.Submit.Row.SubexpIndex("mark") < 0 {
			return "submit: row must have a group named mark"
		}
		keys = append(keys, f.Submit.Key)
	}
	if t := f.Text; t != nil {
		if t.Label.Regexp == nil || f.Option == nil || f.Option.SubexpIndex("mark") < 0 && !t.Detail {
			return "text needs label, and an option with a group named mark"
		}
		if (t.Field != nil) != (t.Open != "") || t.Field != nil && t.Field.NumSubexp() < 1 {
			return "text: field needs a group, and open, the key that opens it"
		}
		keys = append(keys, t.Open)
	}
	for _, k := range keys {
		if k != "" && !keyNames.MatchString(k) {
			return fmt.Sprintf("a key must be Enter, Escape, Tab, Space, an arrow or one character, not %q", k)
		}
	}
	return ""
}
