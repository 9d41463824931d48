package sessions

import (
	"strconv"
	"strings"
	"time"
	"unicode"
)

// PromptKind says what a question is about.
type PromptKind string

// The kinds of prompt.
const (
	PromptPermission PromptKind = "permission" // may the agent do something
	PromptChoice     PromptKind = "choice"     // one of the options
	PromptMulti      PromptKind = "multi"      // any number of the options
	PromptText       PromptKind = "text"       // only text can be given
	PromptPlan       PromptKind = "plan"       // is what the agent means to do right
	PromptSetup      PromptKind = "setup"      // of the program about itself: trust a folder, log in
	// PromptUnread is a dialog that isn't recognised. Its options are keys, which are pressed
	// only on the very screen that was shown: none where a key or a code is asked for. Body is
	// that screen.
	PromptUnread PromptKind = "unread"
	// PromptLine is a program that no profile knows, which waits for a line at the terminal.
	// What's written to the session answers it, as any text is typed: it takes no Answer.
	// Title is its row as the program has printed it, without what's typed behind that.
	PromptLine PromptKind = "line"
	PromptCall PromptKind = "call" // may a program in the pane have panebridge do something; it's on no screen
	// PromptInquiry is what a program asks people by panebridge: see Inquiry. It's on no screen, and
	// Body is all of what it says.
	PromptInquiry PromptKind = "inquiry"
)

// Dialog is an open dialog as it stands on a session's screen.
type Dialog struct {
	Kind  PromptKind `json:"kind"`
	Title string     `json:"title"` // the question, on one line
	// Body is what it's about: the command, the changes, the plan; lines joined with "\n",
	// as they're drawn. Cut says that a part of the dialog isn't on the screen: its
	// beginning, or some of the options. Unseen says that what it's about isn't surely all
	// of that: then only what refuses can be chosen.
	Body   string `json:"body,omitempty"`
	Cut    bool   `json:"cut,omitempty"`
	Unseen bool   `json:"unseen,omitempty"`
	// Whole is what it's about by the agent's own record of the call, with all that isn't on
	// the screen; "": no record is surely that of this dialog. Disputed says that the dialog
	// draws something that isn't in the record: then neither is to be believed alone, and
	// it's Unseen. Call tells the call from others.
	Whole    string `json:"whole,omitempty"`
	Disputed bool   `json:"disputed,omitempty"`
	Call     string `json:"call,omitempty"`
	// Only is the one option that allows which can be chosen, as the call's own hook is told it, since no key
	// is pressed for what isn't seen whole; "": any.
	Only string `json:"only,omitempty"`
	// Diff is what it would change in files as they were on the disk when it was asked, as a unified
	// diff that git apply takes in the root of the session's repository; Note is why there's none
	// though files would change, as a sentence. Folder is where a command would run, as the record says.
	Diff   string `json:"diff,omitempty"`
	Note   string `json:"note,omitempty"`
	Folder string `json:"folder,omitempty"`
	// Masked says that a secret is hidden in what people see of it, and with it something that
	// could do more than be one: then, too, only what refuses can be chosen.
	Masked bool `json:"masked,omitempty"`
	// Was is the call by whose record the question was told before, where now there's none, or
	// a disputed one; "": none.
	Was string `json:"was,omitempty"`
	// Tall says that it was read whole in a taller pane, since the screen shows a part of
	// it: the Print of what stood there. What allows is pressed only on that, in a taller
	// pane again; Print is that of the part. "": the screen shows it.
	Tall string `json:"tall,omitempty"`
	// High says that for this a very high pane was needed.
	High    bool           `json:"high,omitempty"`
	Options []DialogOption `json:"options"` // as they're drawn, top to bottom
	// Text is the label of what takes free text; "": it takes none.
	Text string `json:"text,omitempty"`
	// Hidden says that a PromptLine doesn't show what's typed: a password, say.
	Hidden bool `json:"hidden,omitempty"`
	// Print is the same for the same dialog, whatever of it is marked or checked, and
	// hardly ever for another: letters and digits.
	Print string `json:"print"`
	// Loose is what it says, with single blanks and its rows' ends, as it was drawn on a screen of
	// Wide cells.
	Loose string `json:"-"`
	Wide  int    `json:"-"`
	// Edits are what it would change in files, as the record says; Kept are the rows that it draws
	// besides what the record says.
	Edits []FileEdit `json:"-"`
	Kept  []string   `json:"-"`
	// Marked is the index of the option that Enter would take; len(Options): the entry
	// for text, which then takes what's pasted; len(Options)+1: what submits a
	// PromptMulti; -1: it isn't known, or none is.
	Marked int `json:"-"`
	// Styled says that colours alone show what's marked.
	Styled bool `json:"-"`
	// Partial says that what it's about is probably still being drawn.
	Partial bool `json:"-"`
	// First and Last are the visible rows that it stands in, from 0.
	First int `json:"-"`
	Last  int `json:"-"`
	// Drawn are the rows that have to be in the record of the call; Command: it's one that
	// runs a command; Apart: the rows are the command's alone.
	Drawn   []string `json:"-"`
	Command bool     `json:"-"`
	// Above are the rows above the options but for a question below them, where the first of them is
	// surely the dialog's, or a tool is asked about; Headless: it isn't surely that.
	Above    []string `json:"-"`
	Headless bool     `json:"-"`
	// Surely are those of Drawn that are the dialog's wherever it begins.
	Surely []string `json:"-"`
	Apart  bool     `json:"-"`
	All    bool     `json:"-"` // the rows are all that the call says
	// Tabs is the row that names the questions which are asked at once, "": there's none;
	// Listed are all options that are drawn. Nth counts from 1 the question of several that
	// the agent's hook is to be told together: no key answers it. 0: it's none of those.
	Tabs   string         `json:"-"`
	Listed []DialogOption `json:"-"`
	Nth    int            `json:"-"`
	// Window is where the options on the screen are among all of a list, nil: all are there.
	Window *ListWindow `json:"-"`
	// What Dialogs.Next goes by: the form by which it was read, the key that goes to the
	// entry for text ("": none does), and what stands in it.
	Form    string `json:"-"`
	TextKey string `json:"-"`
	Typed   string `json:"-"`
}

// DialogOption is one that can be chosen.
type DialogOption struct {
	Label   string `json:"label"`             // without number, mark and key
	Detail  string `json:"detail,omitempty"`  // what's explained below it
	Refuses bool   `json:"refuses,omitempty"` // it allows nothing, whatever the question is
	Checked bool   `json:"-"`                 // of PromptMulti: as it stands
	Hidden  bool   `json:"-"`                 // of PromptMulti: it isn't on the screen, and whether it's checked isn't known
	Key     string `json:"-"`                 // that takes it, by tmux's name; "": it's gone to
}

// ListWindow is the part of a list of options that's on the screen.
type ListWindow struct {
	First  int  // the number of the first option there, from 1
	Marked int  // the number of the marked row, as if all had one; 0: it isn't known
	Submit bool // the marked row is the one that submits
}

// TellsAs reports whether another reading of a dialog tells people the same.
func (d *Dialog) TellsAs(other *Dialog) bool {
	return d.Print == other.Print && d.Call == other.Call && d.Unseen == other.Unseen && d.Disputed == other.Disputed && d.Only == other.Only && d.Masked == other.Masked && d.Tall == other.Tall && d.Text == other.Text &&
		d.Diff == other.Diff && d.Note == other.Note && d.Folder == other.Folder
}

// Asks reports whether another reading is of the same question: the same is drawn, and not
// for another call, and not as a part of another whole; or permission for the same call is
// asked for in the same words, however much of it is drawn.
func (d *Dialog) Asks(other *Dialog) bool {
	if d.Print != other.Print && !d.isReflowOf(other) {
		return d.sameCall(other)
	}
	if d.Disputed && other.Disputed && d.Call != other.Call || d.Tall != "" && other.Tall != "" && d.Tall != other.Tall {
		return false
	}
	a, b := d.toldCall(), other.toldCall()
	return a == "" || b == "" || a == b
}

// toldCall is the call by whose record the question was told last; "": by none.
func (d *Dialog) toldCall() string {
	if d.Call != "" && !d.Disputed {
		return d.Call
	}
	return d.Was
}

// isReflowOf reports whether both are drawn alike but for where rows are broken, at other widths: at one
// width other rows or blanks are another question.
func (d *Dialog) isReflowOf(other *Dialog) bool {
	return d.Wide != other.Wide && d.Wide > 0 && other.Wide > 0 && d.Loose != "" && equalButForRows(d.Loose, other.Loose)
}

// equalButForRows reports whether two texts are the same but for where their rows end: where one ends, the
// other has an end, a blank, or goes on.
func equalButForRows(a, b string) bool {
	for a != "" && b != "" {
		switch {
		case a[0] == b[0], a[0] == '\n' && b[0] == ' ', a[0] == ' ' && b[0] == '\n':
			a, b = a[1:], b[1:]
		case a[0] == '\n':
			a = a[1:]
		case b[0] == '\n':
			b = b[1:]
		default:
			return false
		}
	}
	return strings.Trim(a, "\n") == "" && strings.Trim(b, "\n") == ""
}

// sameCall reports whether both ask for permission for one call, whose record has all that
// they draw; before it may stand what only the whole dialog draws.
func (d *Dialog) sameCall(other *Dialog) bool {
	return d.Kind == PromptPermission && d.Call != "" && d.Call == other.Call && !d.Disputed && !other.Disputed &&
		(strings.HasSuffix(d.Whole, other.Whole) || strings.HasSuffix(other.Whole, d.Whole)) && d.Tall == "" && other.Tall == "" && d.AsksLike(other)
}

// About is what it's about as far as that's known, in characters that are seen where they
// stand.
func (d *Dialog) About() string {
	text := d.Body
	switch {
	case d.Disputed:
		text = "On the screen:\n" + d.Body + "\n\nIn the agent's record of the call:\n" + d.Whole
	case d.IsDiff():
		text = d.Diff
	case d.Whole != "":
		text = d.Whole
	}
	return d.Legible(text)
}

// IsDiff reports whether About is a diff.
func (d *Dialog) IsDiff() bool { return d.Diff != "" && !d.Disputed }

// Legible is a text of the dialog's as people are shown it: see the function of that name. Of what may
// be a command a blank that's none to a shell is shown as its number, too.
func (d *Dialog) Legible(text string) string {
	if d.Kind == PromptPermission {
		return legible(text, func(before, r rune) bool { return isIllegible(before, r) || r != ' ' && unicode.Is(unicode.Zs, r) })
	}
	return Legible(text)
}

// Offers reports whether an option can be chosen by somebody who knows of the dialog what
// it says.
func (d *Dialog) Offers(option int) bool {
	o := d.Options[option]
	return o.Refuses || !d.Unseen && !d.Masked && (d.Only == "" || o.Label == d.Only) && (d.Kind != PromptPermission || !o.isCut())
}

// isCut reports whether the program shows a part of the option's label: what it would allow stands
// nowhere.
func (o *DialogOption) isCut() bool {
	label := strings.TrimSpace(o.Label)
	return strings.HasSuffix(label, "…") || strings.HasSuffix(label, "...")
}

// OffersText reports the same of a free text.
func (d *Dialog) OffersText() bool { return d.Text != "" && !d.Unseen && !d.Masked }

// Answer is what somebody chose.
type Answer struct {
	// Options are indexes of Dialog.Options: one, or any number of a PromptMulti.
	Options []int  `json:"options,omitempty"`
	Text    string `json:"text,omitempty"` // free text; then there are no options
	Author  string `json:"author"`         // who: "web", "cli", "telegram:123"
	Name    string `json:"name"`           // what people call them; "": Author
	Origin  string `json:"-"`              // the place, as a target of adapters; "": none of theirs
}

// Decided says what came of an answer that was to be given without a key.
type Decided string

// What may come of it.
const (
	NotDecided       Decided = ""          // nothing was told: it's for keys
	DecidedHere      Decided = "here"      // the program was told
	DecidedElsewhere Decided = "elsewhere" // the program says that it was answered before
)

// PromptState says what became of a prompt.
type PromptState string

// The states of a prompt. The last two are final.
const (
	PromptOpen      PromptState = "open"
	PromptAnswering PromptState = "answering" // somebody's answer counts, and is being given
	PromptAnswered  PromptState = "answered"  // that answer was given
	PromptClosed    PromptState = "closed"    // it went without an answer given here: see Reason
)

// Prompt is a question that an agent asks in its pane.
type Prompt struct {
	ID       string      `json:"id"` // "pr_" and 12 hexadecimal digits
	Session  ID          `json:"session"`
	Dialog   Dialog      `json:"dialog"`
	State    PromptState `json:"state"`
	Reason   string      `json:"reason,omitempty"` // why it's closed, as a sentence
	Answer   *Answer     `json:"answer,omitempty"` // the one that counts
	OpenedAt time.Time   `json:"opened_at"`
	ClosedAt time.Time   `json:"closed_at,omitzero"`
	// Access says that it's about access for others: only who may give that can answer.
	Access bool `json:"-"`
}

// Final reports whether the prompt will not change any more.
func (p Prompt) Final() bool { return p.State == PromptAnswered || p.State == PromptClosed }

// Kind says what the prompt is about.
func (p Prompt) Kind() PromptKind { return p.Dialog.Kind }

// Dialogs knows the dialogs of the programs that run in sessions' panes.
type Dialogs interface {
	// Read reads the dialog on a session's screen; nil: none is open, or none that can be
	// answered. styled is the same screen with its colours; without it Marked may be -1.
	Read(id ID, s *Snapshot, styled *Screen) *Dialog
	// Next says what to do next on the way to an answer, given how the dialog stands now.
	// An error says why the answer can't be given (ErrInvalid), or how the dialog must
	// first be seen.
	Next(id ID, d *Dialog, a Answer) (DialogStep, error)
}

// DialogStep is one step on the way to an answer: keys, or text. After each the screen
// is read again.
type DialogStep struct {
	Keys []string // by tmux's names
	Text string   // pasted; "": none
	// Last says that the dialog is answered with this step: it goes away, or another
	// takes its place.
	Last bool
	// Toggles is the number, from 1, of the option that this step checks, or takes the check of;
	// 0: it does neither.
	Toggles int
}

// What joins letters and emoji, or keeps them apart.
const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// Legible is a text in which nothing is hidden, or drawn elsewhere than it stands: of what
// people agree to, each character has to be seen in its place. Those that turn the direction
// of writing, are drawn as nothing, do something in a terminal, or that nobody knows are written as
// their numbers. Lines, tabs and marks above letters stay, and what joins letters or emoji between
// such.
func Legible(text string) string { return legible(text, isIllegible) }

// legible writes those characters as numbers of which illegible says so, by the character that stands
// before each, but for marks.
func legible(text string, illegible func(before, r rune) bool) string {
	var b strings.Builder
	before, from := ' ', 0
	for i, r := range text {
		if illegible(before, r) {
			b.WriteString(text[from:i])
			q := strconv.QuoteRuneToASCII(r)
			b.WriteString(q[1 : len(q)-1])
			from = i + len(string(r))
			before = ' '
		} else if !unicode.IsMark(r) && r != zwnj && r != zwj {
			before = r
		}
	}
	if from == 0 {
		return text
	}
	return b.String() + text[from:]
}

func isIllegible(before, r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case r == zwnj || r == zwj || unicode.Is(unicode.Variation_Selector, r):
		return !mayBeJoined(before)
	case unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || r == '\u2800' || r == '\U0001d159': // no ink
		return true
	case unicode.IsSpace(r):
		return unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp)
	}
	return !unicode.IsPrint(r) && !unicode.Is(unicode.Zs, r)
}

// mayBeJoined reports whether a character may be joined to the next, or be drawn in several ways: an emoji,
// or a letter of a script that's written so.
func mayBeJoined(r rune) bool {
	return unicode.In(r, unicode.So, unicode.Sk, unicode.Lo, unicode.Lm) && r > unicode.MaxLatin1 &&
		!unicode.In(r, unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
}
