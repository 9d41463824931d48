package typing

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// How a program's input box is waited for.
const (
	// readyWithin is how long a program may take to show its box: opencode took up to
	// 20 s. One whose box was never seen by then is of a release that draws it otherwise.
	readyWithin = 25 * time.Second
	// shownWithin is how long a text that was read may take to stand in the box: on a machine
	// with six times as much to do as it has processors opencode took over 5 s.
	shownWithin = 15 * time.Second
	// promptWithin is how long a shell that has the foreground may take to show a prompt.
	promptWithin = 3 * time.Second
	// blankFor is how long a new session may show nothing at all. Programs that draw
	// screens do so while they load, in a terminal that still makes lines: what's typed
	// then stands in their boxes later, and its Enter is a line break there.
	blankFor = 5 * time.Second
)

func (t *typist) readInputBox(s *sessions.Snapshot) sessions.InputBox {
	if t.readBox == nil {
		return sessions.InputBox{}
	}
	b := t.readBox(s)
	if b.Open {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.boxSeen = true
	}
	return b
}

// isBlankScreen reports whether nothing is on the screen.
func isBlankScreen(s *sessions.Snapshot) bool { return s.HistorySize == 0 && isEmptyScreen(s) }

// isEmptyScreen reports the same, whatever has left the screen.
func isEmptyScreen(s *sessions.Snapshot) bool {
	return !slices.ContainsFunc(s.Rows, func(row string) bool { return strings.TrimSpace(row) != "" })
}

func (h *Hand) wasBoxSeen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.boxSeen
}

// redrawWithin is how long a program that's at work may take to draw itself anew when its
// pane gets another size.
const redrawWithin = frozenWithin

// paneSize follows the size of a typist's pane. One that has just got another shows what
// tmux has made of the rows that stood there: a box that was broken in two may look empty.
type paneSize struct {
	width, height int
	changed       time.Time         // when it got this one, and the program hasn't drawn since; zero: it has
	first         sessions.Snapshot // the first look at it
	count         int               // of changes
}

func (p *paneSize) noteSize(s *sessions.Snapshot, at time.Time) {
	switch {
	case p.width == 0:
		p.width, p.height = s.Width, s.Height
	case p.width != s.Width || p.height != s.Height:
		p.width, p.height, p.changed, p.first = s.Width, s.Height, at, *s
		p.count++
	case p.changed.IsZero():
	case drawnAnew(&p.first, s), at.Sub(p.changed) > redrawWithin:
		p.changed, p.first = time.Time{}, sessions.Snapshot{}
	}
}

// drawnAnew reports whether a program has drawn more than a sign that it's at work, which
// has a row, and leaves the cursor where it was.
func drawnAnew(first, now *sessions.Snapshot) bool {
	if first.CursorX != now.CursorX || first.CursorY != now.CursorY || first.Alternate != now.Alternate || len(first.Rows) != len(now.Rows) {
		return true
	}
	rows := 0
	for i := range first.Rows {
		if first.Rows[i] != now.Rows[i] {
			rows++
		}
	}
	return rows > 1
}

// sameScreen compares what a person would see.
func sameScreen(a, b *sessions.Snapshot) bool {
	return a.CursorX == b.CursorX && a.CursorY == b.CursorY && a.HistorySize == b.HistorySize &&
		a.Alternate == b.Alternate && slices.Equal(a.Rows, b.Rows)
}

// isBroken reports whether the screen is one that nobody has drawn.
func (p *paneSize) isBroken() bool { return !p.changed.IsZero() }

// lineState says what stands in the line or box that a text was typed into.
type lineState int

const (
	lineHidden  lineState = iota // it can't be seen
	lineWithout                  // nothing of the text
	lineHasIt                    // the text, and nothing else
	lineHasMore                  // the text and something else, or what may be a part of it
)

// lineState reads the line once.
func (t *typist) lineState(s *sessions.Snapshot) lineState {
	b, own := t.readInputBox(s), withoutSpace(t.receipt.Text)
	switch {
	case b.Known && !b.Open:
		return lineHidden
	case !b.Known:
		return t.rowState(s)
	case withoutSpace(b.Text) == own:
		return lineHasIt
	case b.Text == "":
		return lineWithout
	case cutAround(t.receipt.Text, b.Text) != nil, strings.HasPrefix(b.Text, "["), strings.Contains(own, withoutSpace(b.Text)):
		return lineHasMore
	}
	return lineWithout
}

// rowState reads the row before the cursor, of a program whose input box isn't known. Of a
// text of several lines the last is there alone: the others are lines that were read.
func (t *typist) rowState(s *sessions.Snapshot) lineState {
	before, _ := aroundCursor(s)
	text := lastLine(t.receipt.Text)
	prompt, ok := strings.CutSuffix(strings.TrimRight(before, " "), strings.TrimRight(text, " "))
	switch {
	case t.term.Canonical && !t.term.Echo:
		return lineHasMore // nobody can see what stands there
	case !ok && text != "" && strings.Contains(before, text):
		return lineHasMore
	case !ok || strings.TrimSpace(text) == "":
		return lineWithout
	case strings.TrimSpace(prompt) == "", asksPattern.MatchString(prompt), t.isBare(prompt):
		return lineHasIt
	}
	return lineHasMore
}

// lineOrBox reads the box, or the row before the cursor where the program's box isn't
// known, but the text was seen to stand in that row.
func (t *typist) lineOrBox(s *sessions.Snapshot) sessions.InputBox {
	b := t.readInputBox(s)
	if b.Known || !t.inRow {
		return b
	}
	before, _ := aroundCursor(s)
	text := lastLine(t.receipt.Text)
	at := strings.LastIndex(before, text)
	if at < 0 {
		return b
	}
	return sessions.InputBox{Known: true, Open: true, Text: strings.TrimSpace(t.receipt.Text + before[at+len(text):])}
}

// noteAlone notes that the text stands in a box that can be read, or before the cursor of
// a program whose box isn't known: then what else stands there is somebody's. The box had
// nothing in it before.
func (t *typist) noteAlone(s *sessions.Snapshot) {
	b := t.readInputBox(s)
	if before, _ := aroundCursor(s); !b.Known && strings.TrimSpace(lastLine(t.receipt.Text)) != "" && strings.Contains(before, lastLine(t.receipt.Text)) {
		t.alone, t.inRow = true, true
		return
	}

	own := sessions.Letters(t.receipt.Text)
	t.whole = t.whole || b.Open && withoutSpace(b.Text) == withoutSpace(t.receipt.Text)
	t.alone = t.alone || b.Open && own != "" && (sessions.Letters(b.Text) == own || t.boxed && cutAround(t.receipt.Text, b.Text) != nil)
}

// tornLooks is in how many looks an input box must have the end of a text alone until it isn't
// one that's half drawn.
const tornLooks = 5

// errTorn says that only the end of a text has come to stand in its input box: what opened as
// it was typed has taken the rest as keys.
var errTorn = errors.New("its beginning went to something that opened as it was typed, a question perhaps; the rest was not submitted")

// isTorn reports whether only the end of the text has come to stand in an agent's box. That
// readInputBox has one row: of a text of several some programs show the last ones. A sign that the
// text begins with may have changed what the box is for.
func (t *typist) isTorn(s *sessions.Snapshot) bool {
	b, own := t.readInputBox(s), withoutSpace(t.receipt.Text)
	if !t.boxed || t.whole || !b.Open || b.Shell || b.Text == "" || strings.Contains(b.Text, "\n") {
		return false
	}
	head, ok := strings.CutSuffix(own, withoutSpace(b.Text))
	return ok && sessions.Letters(head) != ""
}

// isIn reports whether the text is seen in its box, or something that the program shows in place of a
// long one.
func (t *typist) isIn(b sessions.InputBox) bool {
	return cutAround(t.receipt.Text, b.Text) != nil || strings.HasPrefix(b.Text, "[") && strings.HasSuffix(b.Text, "]")
}

func (t *typist) hasMoreBeside(b sessions.InputBox) bool {
	around := cutAround(t.receipt.Text, b.Text)
	return around != nil && (around[0] != "" || around[1] != "" && !mayComplete(t.receipt.Text))
}

// mayComplete reports whether a program may put something behind a text: the rest of the
// file or command that its last word begins.
func mayComplete(text string) bool {
	words := strings.Fields(text)
	return len(words) == 0 || strings.HasPrefix(words[len(words)-1], "@") || strings.HasPrefix(words[len(words)-1], "/")
}

func (t *typist) sameBox(before, s *sessions.Snapshot) bool {
	was, now := t.readInputBox(before), t.readInputBox(s)
	return was.Open && now.Open && was.Text == now.Text && before.CursorX == s.CursorX
}

func lastLine(text string) string { return text[strings.LastIndexByte(text, '\n')+1:] }

// asksPattern is a row up to the cursor that ends with a sign by which programs ask for a line,
// or with a box's edge.
var asksPattern = regexp.MustCompile(`(?:[:?>$#%\])}»❯›➜…|│┃~]|\.\.\.)\s*$`)

// asksLinePattern is one of a command of a shell's own that reads a line. What a shell runs may
// end with other signs.
var asksLinePattern = regexp.MustCompile(`[:?\])…]\s*$`)

// isBare reports whether somebody has said that a row like this is an empty prompt.
func (h *Hand) isBare(before string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.bare, func(known barePart) bool { return known.matches(before) })
}

// beganCommand reports whether the command that a shell's line goes on with is what was
// submitted last from here: a here-document, say.
func (h *Hand) beganCommand(unfinished string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.begun != "" && sessions.Letters(h.begun) == sessions.Letters(unfinished)
}

// noteSubmitted notes what was submitted in a shell, behind what it goes on with.
func (h *Hand) noteSubmitted(text string, goesOn bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if goesOn {
		text = h.begun + "\n" + text
	}
	h.begun = text
}

// learnBare notes that a row is an empty prompt: somebody has looked.
func (h *Hand) learnBare(before string) {
	part := barePartOf(before)
	h.mu.Lock()
	defer h.mu.Unlock()
	if part != (barePart{}) && !slices.Contains(h.bare, part) {
		h.bare = append(h.bare, part)
	}
}

// barePart is that by which an empty prompt is known again: the signs that it ends with
// ("›"), behind which what somebody types would stand; or, where it ends with a letter, all
// of it but for its numbers ("ctrl+c to exit").
type barePart struct {
	text string
	all  bool
}

func barePartOf(before string) barePart {
	row := strings.TrimRight(before, " ")
	word := row[strings.LastIndexByte(row, ' ')+1:]
	if r, size := utf8.DecodeRuneInString(word); size == len(word) && r > unicode.MaxASCII && !unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) {
		return barePart{text: word} // "λ" is a letter
	}
	letter := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || r == ' ' }
	if signs := row[len(strings.TrimRightFunc(row, func(r rune) bool { return !letter(r) })):]; signs != "" {
		return barePart{text: signs}
	}
	return barePart{text: withoutDigits(row), all: true}
}

// matches reports whether a row is such a prompt.
func (p barePart) matches(before string) bool {
	row := strings.TrimRight(before, " ")
	if p.all {
		return withoutDigits(row) == p.text
	}
	return strings.HasSuffix(row, p.text)
}

func withoutDigits(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsDigit(r) {
			return -1
		}
		return r
	}, s)
}

// What somebody types while a command runs is echoed where the cursor stands then, and
// waits in the terminal for the shell's next line. A shell that edits its line shows it
// there. One that lets the kernel do that (dash) draws its prompt behind it, and the line
// looks empty: "half-# ".

// typedAhead says that something may have been typed so.
const typedAhead = "something stands before the shell's prompt, which may have been typed while a command ran, and would be run with the text; it's typed when a new prompt stands there"

const maxPrompts = 8

// promptAlone are prompts before which nothing stands surely: a sign alone, the shell's name,
// or the words of a folder or a host.
var promptAlone = regexp.MustCompile(`^\s*(?:\S*sh(?:-[\d.]+)?|.*[/@:~].*|.*[\])}])?\s*\S\s*$`)

// mayBeAhead reports whether something may have been typed before the prompt that ends at
// the cursor of a shell that doesn't edit its line. What surely hasn't is known from then on.
func (h *Hand) mayBeAhead(s *sessions.Snapshot, term sessions.Terminal) bool {
	if !term.Canonical || len(s.Marks) > 0 {
		return false
	}
	prompt, _ := aroundCursor(s)
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case slices.Contains(h.prompts, prompt):
		return false
	case len(h.prompts) == 0 && !promptAlone.MatchString(prompt),
		slices.ContainsFunc(h.prompts, func(known string) bool { return strings.HasSuffix(prompt, known) }):
		return true
	}
	h.prompts = append(h.prompts, prompt)
	h.prompts = h.prompts[max(0, len(h.prompts)-maxPrompts):]
	return false
}

// endRunes is how many letters and digits are the end of a text: a box may not show
// all of it.
const endRunes = 20

// cutAround are where a text, or its end, stands among the letters and digits of a box:
// those before and behind it; nil: it doesn't, or isn't shown as it was typed.
func cutAround(text, box string) (around []string) {
	all, shown := sessions.Letters(text), sessions.Letters(box)
	if before, behind, ok := strings.Cut(shown, all); ok {
		return []string{before, behind}
	}
	end := lastLetters(text)
	if at := strings.LastIndex(shown, end); at >= 0 && end != "" {
		return []string{"", shown[at+len(end):]}
	}
	return nil
}

func lastLetters(text string) string {
	runes := []rune(sessions.Letters(text))
	return string(runes[max(0, len(runes)-endRunes):])
}

// aroundCursor is the cursor's row before and from the cursor on. A wide character counts
// as one cell, which errs to the side of seeing text.
func aroundCursor(s *sessions.Snapshot) (before, behind string) {
	y := s.HistorySize + s.CursorY - s.First
	if y < 0 || y >= len(s.Rows) {
		return "", ""
	}
	row, n := s.Rows[y], s.CursorX
	for i := range row {
		if n == 0 {
			return row[:i], row[i:]
		}
		n--
	}
	return row, ""
}

// withoutSpace is a text as it's compared with what a box shows of it, which breaks rows
// where it likes.
func withoutSpace(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// wipeText takes the text out of the line that it stands in alone, and returns why with what
// came of that.
func (t *typist) wipeText(ctx context.Context, why error) error {
	finishing, cancel := withFinishTime(ctx)
	defer cancel()
	return fmt.Errorf("%w; %w", why, runSteps(finishing, &wiping{typist: t}))
}

// What came of taking a text out of its line.
var (
	errWiped      = errors.New("it was taken out of the input line again")
	errNotWiped   = errors.New("it stands in the input line still: send it or take it away there")
	errWipeUnseen = errors.New("it may stand there still: look at the session")
	errWipeFailed = errors.New("it stands there still: look at the session")
)

// wiping takes a text out of its line. Each step is pressed only while the screen is the one
// that was seen. It ends with one of the errors above.
type wiping struct {
	*typist

	steps, moved int
}

func (t *wiping) nextStep(context.Context) (paneStep, error) {
	s := t.before
	if t.steps++; t.steps > wipeSteps || t.moved > movedTries || !t.endsWithOwn(&s) {
		return paneStep{}, errNotWiped
	}
	g := sessions.PaneGuard{Pane: t.pane, Server: s.Server, Phrases: absentPhrases(t.opt.Phrases, &s), Saw: &s, Front: s.Front}
	return paneStep{srv: t.srv, guard: g, keys: t.wipeKeys(&s)}, nil
}

func (t *wiping) afterStep(ctx context.Context, did paneStep, out sessions.GuardOutcome, err error) (done bool, failed error) {
	if err != nil || out == sessions.Dead {
		return false, errWipeFailed
	}
	if out != sessions.Done {
		t.moved++
	}
	for began := time.Now(); time.Since(began) < reactWithin; {
		if sessions.Pause(ctx, lookEvery) != nil {
			return false, errWipeUnseen
		}
		if t.before, err = t.lookAtPane(ctx); err != nil {
			return false, errWipeUnseen
		}
		if out != sessions.Done || t.term.Unread == 0 && !sameScreen(did.guard.Saw, &t.before) {
			break
		}
	}
	if t.lineState(&t.before) == lineWithout {
		return false, errWiped
	}
	return false, nil
}

// endsWithOwn reports whether all that stands in the line is the text, or its beginning:
// what's left of it while it's taken away. Of one that lost its beginning it's the end.
func (t *typist) endsWithOwn(s *sessions.Snapshot) bool {
	b := t.readInputBox(s)
	if !b.Known {
		return t.lineState(s) == lineHasIt
	}
	return b.Open && b.Text != "" && strings.HasPrefix(withoutSpace(t.receipt.Text), withoutSpace(b.Text)) || t.isTorn(s)
}

// wipeKeys empty a line: the kernel's own key where it makes the lines; else to the end
// of the row, all of it, and the line break before it.
func (t *typist) wipeKeys(s *sessions.Snapshot) []string {
	switch {
	case t.term.Canonical:
		return []string{"C-u"}
	case strings.Contains(t.readInputBox(s).Text, "\n"):
		return []string{"C-e", "C-u", "BSpace"}
	}
	return []string{"C-e", "C-u"}
}
