package typing

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

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

// readInputBox reads the input box of the session's program.
func (t *typist) readInputBox(s *sessions.Snapshot) sessions.Box {
	if t.readBox == nil {
		return sessions.Box{}
	}
	b := t.readBox(s)
	if b.Open {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.boxSeen = true
	}
	return b
}

// blank reports whether nothing is on the screen.
func blank(s *sessions.Snapshot) bool { return s.HistorySize == 0 && noRows(s) }

// noRows reports the same, whatever has left the screen.
func noRows(s *sessions.Snapshot) bool {
	return !slices.ContainsFunc(s.Rows, func(row string) bool { return strings.TrimSpace(row) != "" })
}

// isYoung reports whether a session has just been made.
func isYoung(s *sessions.Session) bool { return time.Since(s.CreatedAt) < blankFor }

// wasBoxSeen reports whether the box was ever seen in the session.
func (h *Hand) wasBoxSeen() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.boxSeen
}

// errPartShown says that a shell has read a text's letters as commands of its own.
var errPartShown = errors.New("the shell has taken the text for something else, as one does in vi's command mode; Enter was not pressed, and what came of it may stand in its line: look at the session")

// isPartShown reports whether what stands in a shell's line is only a part of the text, or
// something else: it hasn't the text's beginning, up to the first character that a shell may
// draw otherwise. Of a text of several rows a shell may show some; tabs may have completed
// words; a "<" says that the line was moved to the side; and the cursor may stand on the
// last letter. Characters without width may take the shell's marks with them: then all of the
// cursor's line is looked at.
func (t *typist) isPartShown(s *sessions.Snapshot, b sessions.Box) bool {
	line := b.Text
	if !b.Known && t.frontOf(s).Kind == sessions.ProgramShell {
		if first, at, ok := s.CursorLine(); ok {
			line = strings.Join(s.Rows[first:at+1], "")
		}
	} else if !b.Shell || !b.Open {
		return false
	}
	plain := t.receipt.Text
	if at := strings.IndexFunc(plain, func(r rune) bool { return r > unicode.MaxASCII }); at >= 0 {
		plain = plain[:at]
	}
	own := sessions.Letters(plain)
	return line != "" && !strings.ContainsAny(t.receipt.Text, "\n\t") && b.Unfinished == "" &&
		!strings.HasPrefix(line, "<") && own != "" && !strings.Contains(sessions.Letters(line), own[:len(own)-1])
}

// errNotShown says that a program has read a text and done something else with it.
var errNotShown = errors.New("the program has read the text, but it doesn't stand in its input box; Enter was not pressed, look at the session")

// awaitShown waits until the text stands in the program's box, where that can be seen: some
// programs read what's typed while they begin, and show it later, or never. While the box
// is away, nobody knows: the program draws its screen anew, say.
func (t *typist) awaitShown(ctx context.Context) error {
	if !t.boxed || strings.IndexFunc(t.receipt.Text, unicode.IsLetter) < 0 {
		return nil
	}
	frozen, part, drawn := true, false, t.before.Activity
	var away time.Time // since when the box isn't on the screen; zero: it is
	for begin := time.Now(); time.Since(begin) < shownWithin || frozen && time.Since(begin) < frozenWithin; {
		s, err := t.lookAtPane(ctx)
		if err != nil {
			return err
		}
		pause, b := lookEvery, t.readInputBox(&s)
		part = t.isPartShown(&s, b)
		switch {
		case part:
		case b.Text != "", b.Shell && !b.Open, !b.Known, !b.Open && !b.Torn && (t.alone || t.opt.Dialog(s.Rows) != ""):
			return nil // it stood there, or a dialog has opened: that's looked at before Enter
		case b.Open || b.Torn:
			away = time.Time{}
		case away.IsZero():
			away, begin = time.Now(), time.Now()
		default:
			begin = time.Now() // it takes its time from when the box is back
			if time.Since(away) >= awayFor {
				t.giveKeyboardBack()
				t.holdBack(ctx, heldNoBox, sessions.ReceiptTyped, "the program shows something else than its input box; Enter is pressed when the box is back")
				pause = heldEvery
			}
		}
		frozen, drawn = frozen && (t.size.broken() || sameScreen(&t.before, &s)), s.Activity
		if err := t.waitForOthers(ctx, heldUnshown, pause); err != nil {
			return err
		}
	}
	if part {
		return errPartShown
	}
	if frozen {
		t.noteUnshown(drawn)
	}
	return errNotShown
}

// noteUnshown notes that a program has read a text and has drawn nothing since a second:
// it may show that later.
func (h *Hand) noteUnshown(drawn int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unshown, h.drawn = true, drawn
}

// mayShow reports whether a program that has read a text before may still show it: it has
// drawn nothing since.
func (h *Hand) mayShow(s *sessions.Snapshot) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.unshown = h.unshown && s.Activity == h.drawn
	return h.unshown
}

// awayFor is how long a box must be away until it's more than half drawn.
const awayFor = 500 * time.Millisecond

// hasLeft reports whether the text has left the program's box: it's empty, or something
// else has taken its place. An Enter may only have taken a completion, which changes the
// screen too.
func (t *typist) hasLeft(s *sessions.Snapshot) bool {
	b := t.readInputBox(s)
	t.queued = t.queued || b.Queued
	if b.Torn || t.size.broken() {
		t.away, t.empty = time.Time{}, 0
		return false
	}
	if t.lacksText(s, b) {
		t.empty++ // a screen that's half drawn may show an old box without its text
		return t.empty > 1
	}
	t.empty = 0
	if b.Open {
		t.away = time.Time{}
		return false
	}
	if t.away.IsZero() {
		t.away = time.Now()
	}
	return time.Since(t.away) >= awayFor
}

// lacksText reports whether a box is there without the text: it's empty, or something else
// has taken the text's place, where that was seen to stand in it.
func (t *typist) lacksText(s *sessions.Snapshot, b sessions.Box) bool {
	return b.Open && (b.Text == "" || t.alone && t.lineState(s) == lineWithout || t.strict && !t.isIn(b) && b.Text != t.readInputBox(&t.at).Text)
}

// submittedHow is what's to be known of a text that was submitted.
func (t *typist) submittedHow() verdict {
	switch {
	case t.queued && !t.ended:
		return verdict{sessions.CauseQueued, "queued: the agent is at work, and takes it up when it has time"}
	case t.isProved():
		return verdict{}
	case t.ended:
		return endedWithIt
	case t.resized:
		return unverified("the pane got another size as Enter was pressed")
	}
	return verdict{}
}

// guardScreen says when something may be typed, and whether a dialog is open instead. Where
// the program's box is on the screen a dialog's phrase there is only quoted: no program
// draws both. Then the guard sees to it that the box is still there.
func (t *typist) guardScreen(s *sessions.Snapshot) (g sessions.Guard, dialog bool) {
	g = sessions.Guard{Pane: t.pane, Server: s.Server, Phrases: t.opt.Phrases, Saw: s, Front: s.Front}
	if t.opt.Dialog(s.Rows) == "" {
		return g, false
	}
	if row := t.lineAskedAt(s); row >= 0 { // a program that reads lines has no dialog
		g.Rows, g.Phrases = []int{row}, absent(t.opt.Phrases, s)
		return g, false
	}
	b := t.readInputBox(s)
	if !tells(b) {
		return g, true
	}
	g.Rows, g.Phrases = b.Rows, absent(t.opt.Phrases, s)
	return g, false
}

// lineAskedAt is the row of a screen in which the session's program asks for a line, as is
// known; -1: none is.
func (h *Hand) lineAskedAt(s *sessions.Snapshot) int {
	d := h.shownDialog()
	row := s.HistorySize + s.CursorY - s.First
	if d == nil || d.Kind != sessions.PromptLine || row < 0 || row >= len(s.Rows) || !strings.HasPrefix(strings.TrimSpace(s.Rows[row]), d.Title) {
		return -1
	}
	return row
}

// asksWith reports whether a session's program asks for a line with a row, behind which
// nothing stands yet.
func (h *Hand) asksWith(row string) bool {
	d := h.shownDialog()
	return d != nil && d.Kind == sessions.PromptLine && strings.TrimSpace(row) == d.Title
}

// absent are the phrases that aren't on a screen.
func absent(phrases []string, s *sessions.Snapshot) (out []string) {
	screen := strings.ToLower(strings.Join(s.Rows, "\n"))
	for _, phrase := range phrases {
		if !strings.Contains(screen, phrase) {
			out = append(out, phrase)
		}
	}
	return out
}

// guardOwnPhrases is guardScreen for a program whose box isn't known, where the only phrases on the
// screen are those of the text that was just pasted there: none stood there before.
func (t *typist) guardOwnPhrases(s *sessions.Snapshot) (g sessions.Guard, dialog bool) {
	g = sessions.Guard{Pane: t.pane, Server: s.Server, Saw: s, Front: s.Front}
	if t.boxed || t.readInputBox(s).Known || t.opt.Dialogs.Read(t.id(), s, nil) != nil {
		return g, true
	}
	if !t.onlyOwn(s.Rows) {
		return g, true
	}
	g.Phrases = absent(t.opt.Phrases, s)
	return g, false
}

// isCovered reports whether a dialog has taken the box's place before it was seen whether
// the text had left the box: it may have come while the text stood there still. A text
// that stands on the screen as often as with the box was submitted.
func (t *typist) isCovered(before, now *sessions.Snapshot) bool {
	if t.readInputBox(now).Open || t.opt.Dialog(now.Rows) == "" {
		return false
	}
	text := sessions.Letters(t.receipt.Text)
	text = text[:min(len(text), coveredBytes)]
	count := func(s *sessions.Snapshot) int { return strings.Count(sessions.Letters(strings.Join(s.Rows, "")), text) }
	n := count(now)
	return text == "" || n == 0 || n < count(before)
}

// errTakenAway says that Enter waited for something, and then there was nothing to submit.
var errTakenAway = errors.New("it was typed, but is no longer in the session's input box: somebody at the pane may have sent it, or taken it away; look at the session")

// errEmptied says that the program has emptied its box behind a dialog: the text is to be typed again.
var errEmptied = errors.New("the program has emptied its input box behind a dialog")

// explainEmptied is why a text doesn't stand in its box behind a dialog that opened before Enter. Some
// programs draw the box before they ask something as they start, and begin anew when that's answered:
// Gemini CLI asks so whether it may trust the folder. Where the program had just begun, no Enter was pressed, the box stays empty,
// and nothing of the text is seen anywhere, it's typed again, once.
func (t *typist) explainEmptied(ctx context.Context) error {
	if t.entered || t.again || !t.early || sessions.Letters(t.receipt.Text) == "" {
		return errTakenAway
	}
	for began, since := time.Now(), time.Now(); time.Since(since) < emptyFor; {
		s, err := t.lookAtPane(ctx)
		if err != nil {
			return err
		}
		b := t.readInputBox(&s)
		switch {
		case b.Text != "", t.isHeardOf(&t.before, &s), time.Since(began) > readyWithin:
			return errTakenAway
		case !b.Open:
			since = time.Now()
		}
		if err := t.wait(ctx, lookEvery); err != nil {
			return err
		}
	}
	return errEmptied
}

// emptyFor is how long a box must stay empty behind a dialog until it isn't one that's half drawn.
const emptyFor = 2 * time.Second

// coveredBytes is how much of a text is looked for: more may be cut.
const coveredBytes = 40

// awaitUncovered waits while a dialog is there. Somebody may answer it.
func (t *typist) awaitUncovered(ctx context.Context) error {
	t.giveKeyboardBack()
	t.holdBack(ctx, heldByDialog, sessions.ReceiptTyped, "a dialog has opened; whether the text was submitted shows when it has closed")
	return t.wait(ctx, heldEvery)
}

// A program that starts may draw its input box before it works in what it reads, and may
// empty the box when it's done: Qwen Code was seen to lose a text so. That the box is empty
// doesn't tell then that a text was submitted: something else has to be seen of the first
// that a run of a program takes, and of those in its first readyWithin and in as long behind
// that one: one that's slow to begin may be at it still.

// lostAtStart is what's known of a text that left its box, of which nothing else was seen.
var lostAtStart = unverified("the text has left the input box, but the program had just begun and shows nothing else of it; look at the session before you send it again") //nolint:gochecknoglobals // a constant

// leftLate is what's known of a text that left its box long behind Enter, of which nothing
// else was seen. A program may have refused it, and somebody at the pane taken it away.
var leftLate = unverified("the text has left the input box, but long after Enter was pressed, and the program shows nothing else of it; somebody at the pane may have taken it away") //nolint:gochecknoglobals // a constant

// confirmTaken waits, where the text is the first that this run of the program takes, or it was
// taken late, until something of it is seen elsewhere than in its box. It returns what's to
// be known of it.
func (t *typist) confirmTaken(ctx context.Context, before *sessions.Snapshot) (verdict, error) {
	first := t.isFirst(before)
	if !first && !t.late || t.ended || t.strict {
		return verdict{}, nil
	}
	stands := lineWithout
	for began := time.Now(); time.Since(began) < lateWithin; {
		s, err := t.lookAtPane(ctx)
		if err != nil {
			return verdict{}, err
		}
		if t.wasEnded(&s) {
			t.ended = true
			return verdict{}, nil
		}
		if t.isHeardOf(before, &s) {
			t.noteTaken(t.into.Run)
			return verdict{}, nil
		}
		stands = t.lineState(&s)
		if err := t.wait(ctx, lookEvery); err != nil {
			return verdict{}, err
		}
	}
	switch has := stands == lineHasIt || stands == lineHasMore; {
	case has && !first:
		return verdict{}, errNotTaken
	case t.late:
		return leftLate, nil
	case has:
		return verdict{}, errors.New("the program had just begun and has taken the text without its Enter; it stands in the session's input box: send it or take it away there")
	}
	return lostAtStart, nil
}

// isFirst reports whether no text was seen to be taken by this run of a program with an
// input box, or it may still be starting. A command of the program's own may show nothing,
// and there's nothing to be seen of a text without letters.
func (t *typist) isFirst(s *sessions.Snapshot) bool {
	if b := t.readInputBox(s); !b.Known || b.Shell || strings.HasPrefix(t.receipt.Text, "/") || sessions.Letters(t.receipt.Text) == "" {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return !t.hasTaken || t.takenBy != t.into.Run || time.Since(t.into.Started) < readyWithin || time.Since(t.takenAt) < readyWithin
}

// isHeardOf reports whether the program has the text: it says so, shows it, or keeps some
// text until it has time, or has begun to work since Enter was pressed. The last two may be
// others' texts where this one was taken late.
func (t *typist) isHeardOf(before, now *sessions.Snapshot) bool {
	if t.isProved() || !t.late && (t.queued || t.readInputBox(now).Queued || t.desk.TurnBeganSince(before.At)) {
		return true
	}
	text := sessions.Letters(t.receipt.Text)
	text = text[:min(len(text), coveredBytes)]
	count := func(rows []string) int { return strings.Count(sessions.Letters(strings.Join(rows, "")), text) }
	b := t.readInputBox(now)
	n := count(now.Rows) - count([]string{b.Text})
	return n > 0 && n >= count(before.Rows)
}

// noteTaken notes that a run of a program has taken a text.
func (h *Hand) noteTaken(run string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.hasTaken || h.takenBy != run {
		h.hasTaken, h.takenBy, h.takenAt = true, run, time.Now()
	}
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

// see takes in a look.
func (p *paneSize) see(s *sessions.Snapshot, at time.Time) {
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

// broken reports whether the screen is one that nobody has drawn.
func (p *paneSize) broken() bool { return !p.changed.IsZero() }
