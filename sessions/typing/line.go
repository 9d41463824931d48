package typing

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// Why a text waits, whatever the program.
const (
	notReady  = "the program isn't ready for input yet"
	halfTyped = "something half-typed stands in the session's input line; it's typed when that was sent or taken away"
)

// asks is a row up to the cursor that ends with a sign by which programs ask for a line,
// or with a box's edge.
var asks = regexp.MustCompile(`(?:[:?>$#%\])}»❯›➜…|│┃~]|\.\.\.)\s*$`)

// asksLine is one of a command of a shell's own that reads a line. What a shell runs may
// end with other signs.
var asksLine = regexp.MustCompile(`[:?\])…]\s*$`)

// rowObstacle is findObstacle for a program whose input box isn't known: what stands before
// the cursor tells whether somebody has begun to write.
func (t *personal) rowObstacle(s *sessions.Snapshot) obstacle {
	before, _ := aroundCursor(s)
	if t.asksWith(before) {
		return obstacle{}
	}
	half := strings.TrimSpace(before) != "" && !asks.MatchString(before)
	if t.frontOf(s).Kind == sessions.ProgramShell {
		switch {
		case t.term.Canonical: // one of its own commands may read a line
		case time.Since(t.began) < promptWithin:
			return obstacle{why: notReady, state: sessions.ReceiptStored}
		default:
			return obstacle{why: "the shell reads something else than a command: a search, say, or a single key", state: sessions.ReceiptHeld, unsure: true}
		}
		half = strings.TrimSpace(before) != "" && !asksLine.MatchString(before)
	}
	if half && !t.isBare(before) {
		return obstacle{why: halfTyped, state: sessions.ReceiptHeld, unsure: true}
	}
	return obstacle{}
}

// promptObstacle is findObstacle for a shell that shows no prompt that's known.
func (t *personal) promptObstacle(s *sessions.Snapshot) obstacle {
	before, behind := aroundCursor(s)
	if strings.TrimSpace(before+behind) == "" {
		switch {
		case !t.term.Canonical: // it edits a line, behind a prompt that's empty
			return obstacle{}
		case time.Since(t.began) < readyWithin: // it reads its files, say
			return obstacle{why: notReady, state: sessions.ReceiptStored}
		}
	}
	if strings.TrimSpace(behind) == "" && t.term.Canonical && asksLine.MatchString(before) {
		return obstacle{} // one of its own commands reads a line: read, say
	}
	if s.Alternate {
		return obstacle{
			why:   "a program that was ended has left its full screen on, where the shell's prompt can't be told from what stood there; 'reset' in the session ends it",
			state: sessions.ReceiptHeld, unsure: true,
		}
	}
	return obstacle{
		why:   "the shell's prompt isn't known here (sessions.prompts can say what it looks like), so something half-typed may stand there",
		state: sessions.ReceiptHeld, unsure: true,
	}
}

// isBare reports whether somebody has said that a row like this is an empty prompt.
func (h *Hand) isBare(before string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.bare, func(known barePart) bool { return known.of(before) })
}

// atBare reports whether the cursor stands behind a row that somebody has said to be an
// empty prompt.
func (t *personal) atBare(s *sessions.Snapshot) bool {
	before, _ := aroundCursor(s)
	return t.isBare(before)
}

// beganCommand reports whether the command that a shell's line goes on with is what was
// endSubmitted last from here: a here-document, say.
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

// of reports whether a row is such a prompt.
func (p barePart) of(before string) bool {
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

// pastObstacle reports whether somebody has looked at the very screen, and sends the text
// though it can't be seen here that nothing is in its way.
func (t *personal) pastObstacle(o obstacle) bool {
	s := &t.before
	if !o.unsure || t.ahead == nil || t.ahead.Revival != "" || t.printScreen(s) != t.ahead.Quoted || t.isRestless(s) {
		return false
	}
	t.by = t.ahead.By
	before, _ := aroundCursor(s)
	t.learnBare(before)
	return true
}

// holdForObstacle says what's in the way. If that isn't sure the text may be sent anyway
// once the screen stands still.
func (t *personal) holdForObstacle(ctx context.Context, o obstacle) {
	s := &t.before
	now := t.printScreen(s)
	stands := o.unsure && now == t.stood && !t.isRestless(s) && t.asked.Unix()-s.Activity >= stillSeconds
	t.stood = now
	if !stands {
		t.holdBack(ctx, heldElse, o.state, o.why)
		return
	}
	t.holdBackAs(ctx, heldElse, o.state, o.why, now)
}

// What somebody types while a command runs is echoed where the cursor stands then, and
// waits in the terminal for the shell's next line. A shell that edits its line shows it
// there. One that lets the kernel do that (dash) draws its prompt behind it, and the line
// looks empty: "half-# ".

// typedAhead says that something may have been typed so.
const typedAhead = "something stands before the shell's prompt, which may have been typed while a command ran, and would be run with the text; it's typed when a new prompt stands there"

// maxPrompts bounds the prompts of a session that are known.
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

// places are where a text, or its end, stands among the letters and digits of a box:
// those before and behind it; nil: it doesn't, or isn't shown as it was typed.
func places(text, box string) (around []string) {
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

// lastLetters are the last letters and digits of a text.
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
