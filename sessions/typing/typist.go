package typing

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
)

// typist types one text.
type typist struct {
	*Hand

	policy  policy
	readBox func(s *sessions.Snapshot) sessions.InputBox // nil: no box can be read
	receipt sessions.Receipt                             // says what's typed; a preview's is kept nowhere
	// strict says that it's a preview: what can't be told speaks against it, and it's for the
	// program that it's pasted into alone. The session's keyboard is taken all the while.
	strict  bool
	pane    string
	srv     sessions.TmuxServer
	term    sessions.Terminal
	before  sessions.Snapshot // the look the paste was decided on
	echoed  bool
	entered bool              // Enter was pressed
	young   bool              // the session has just been made
	early   bool              // the program had just begun when it was pasted
	again   bool              // it was pasted a second time, or mustn't be
	ended   bool              // the program ended behind Enter
	stands  bool              // the text stood in its line when that was looked at last behind Enter
	stirred int               // times that Enter wasn't pressed because the screen had changed
	front   string            // Snapshot.Front when it was pasted
	into    sessions.Program  // that it was pasted into
	boxed   bool              // the text was pasted into an input box that can be read
	shell   bool              // that's a shell, and Enter wasn't pressed yet
	goesOn  bool              // its line goes on with an unfinished command
	alone   bool              // it was seen to stand there alone
	whole   bool              // it was seen to stand there whole
	beside  bool              // something else was seen to stand beside it
	inRow   bool              // it was seen before the cursor of a program whose box isn't known
	queued  bool              // the program keeps it until it has time
	resized bool              // what was seen of Enter may be what a change of the pane's size has made
	away    time.Time         // since when its box isn't on the screen; zero: it is
	empty   int               // looks in succession at which the box had nothing in it
	keys    sessions.Keyboard // of the session, while it's taken
	asked   time.Time         // when the last look was asked for
	size    paneSize
	at      sessions.Snapshot // the look that Enter was decided on
	late    bool              // its Enter took effect later than programs take that read it
	heldFor holdCause         // what Enter waited for last
	waits   bool              // it waits for that now
	// Of a text that only a dialog's phrase holds:
	stood   string             // the screen at the last look, see printScreen
	ahead   *sessions.GoAhead  // that was taken, and not answered yet; nil: none
	refused int                // go-aheads that came to nothing
	by      string             // who sent it anyway; "": nobody
	cleared *sessions.Snapshot // the screen on which that was done; nil: none
}

// policy is what a person's text and a preview differ in. Its methods may block, and do I/O.
type policy interface {
	// handleUnseen says what's to be done when the pane can't be looked at: nil, look again.
	handleUnseen(ctx context.Context, err error) error
	// wait waits; it fails when the text isn't to be typed any more.
	wait(ctx context.Context, d time.Duration) error
	// allowPaste says by which guard the text may be pasted on the screen that was just seen. If it
	// may not be now, allowPaste has waited. tries are looks at a screen that may not stand still.
	allowPaste(ctx context.Context, tries *int) (g sessions.PaneGuard, ok bool, err error)
	// notePasted is called when the text is in the pane, handleNotPasted when it surely isn't, which
	// may wait, or end the typing.
	notePasted(ctx context.Context) error
	handleNotPasted(ctx context.Context, out sessions.GuardOutcome, err error, tries int) error
	// keepReceipt stores a change of the receipt, if change says so; false: it isn't waited for any more,
	// or couldn't be stored, see Desk.SetReceipt.
	keepReceipt(ctx context.Context, change func(*sessions.Receipt) bool) (sessions.Receipt, bool)
}

type holdCause int

const (
	heldElse     holdCause = iota // anything else
	heldByDialog                  // a dialog is open
	heldNoBox                     // the input box isn't on the screen
	heldBeside                    // somebody types beside it
	heldByFront                   // another program has the foreground
	heldUnshown                   // the program doesn't show it
)

// errNotStored says that nobody would know of it after a crash.
var errNotStored = fmt.Errorf("%w: what's about to be done can't be stored; nothing was sent", sessions.ErrUnavailable)

// errDone ends the typing of an input whose receipt is final.
var errDone = errors.New("done")

// finishWithin is how long what's in a pane without its Enter may take when panebridge
// stops. What isn't submitted by then is taken up at the next start.
const finishWithin = 4 * time.Second

// withFinishTime is a context for what has been pasted: it ends finishWithin after ctx.
func withFinishTime(ctx context.Context) (finishing context.Context, cancel func()) {
	finishing, end := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		defer end()
		_ = sessions.Pause(finishing, finishWithin)
	})
	return finishing, func() { stop(); end() }
}

func (t *typist) takeKeyboard(ctx context.Context) error {
	if t.strict || t.keys != nil {
		return nil
	}
	keys := t.desk.Keyboard()
	if keys == nil {
		return errDone
	}
	if err := keys.Take(ctx); err != nil {
		return err
	}
	t.keys = keys
	return nil
}

// giveKeyboardBack gives the keyboard back: what's waited for now, a dialog's end, somebody else
// may bring about.
func (t *typist) giveKeyboardBack() {
	if t.keys != nil {
		t.keys.GiveBack()
		t.keys = nil
	}
}

// setState moves the receipt on; false: it was cancelled or failed meanwhile, or what's
// about to be done couldn't be stored.
func (t *typist) setState(ctx context.Context, state sessions.ReceiptState, reason string) bool {
	return t.storeState(ctx, state, submitDoubt{reason: reason})
}

func (t *typist) setSubmitted(ctx context.Context, v submitDoubt) {
	t.storeState(ctx, sessions.ReceiptSubmitted, v)
}

// submitDoubt is what's to be known of a text that was submitted. The zero value: all is well.
type submitDoubt struct {
	cause  sessions.Cause
	reason string
}

// unverified says why nobody knows that a program took its text.
func unverified(why string) submitDoubt {
	return submitDoubt{sessions.CauseUnverified, "unverified: " + why}
}

func (t *typist) storeState(ctx context.Context, state sessions.ReceiptState, v submitDoubt) bool {
	_, ok := t.policy.keepReceipt(ctx, func(r *sessions.Receipt) bool {
		r.SetState(state, v.cause, v.reason)
		r.Quoted, r.Anyway, r.To = "", t.by, t.receipt.To
		return true
	})
	return ok
}

// markPressed stores that Enter is about to be pressed; false: the receipt was closed, or
// it can't be stored.
func (t *typist) markPressed(ctx context.Context) bool {
	r, ok := t.policy.keepReceipt(ctx, func(r *sessions.Receipt) bool {
		r.SetState(sessions.ReceiptTyped, "", "")
		r.Quoted, r.Pressed = "", true
		return true
	})
	if ok {
		t.receipt.Pressed = r.Pressed
	}
	return ok
}

// holdBack says that the input waits, without writing the same twice.
func (t *typist) holdBack(ctx context.Context, by holdCause, state sessions.ReceiptState, reason string) {
	t.holdBackAs(ctx, by, state, reason, "")
}

// holdBackAs is holdBack for a text that may be sent anyway.
func (t *typist) holdBackAs(ctx context.Context, by holdCause, state sessions.ReceiptState, reason, quoted string) {
	t.heldFor, t.waits = by, true
	t.holdBackWith(ctx, func(r *sessions.Receipt) {
		r.SetState(state, "", reason)
		r.Quoted, r.Front, r.Revivals = quoted, "", nil
	})
}

// holdBackWith is holdBack for a change of the receipt that says more.
func (t *typist) holdBackWith(ctx context.Context, change func(*sessions.Receipt)) {
	_, _ = t.policy.keepReceipt(ctx, func(r *sessions.Receipt) bool {
		was := *r
		change(r)
		r.Anyway, r.Pressed = t.by, t.entered
		return r.State != was.State || r.Reason != was.Reason || r.Quoted != was.Quoted
	})
}

// wait waits for the program, or for what t was held for last.
func (t *typist) wait(ctx context.Context, d time.Duration) error {
	defer func() { t.waits = false }()
	return t.policy.wait(ctx, d)
}

// waitForOthers waits for what others do, or the program does unasked.
func (t *typist) waitForOthers(ctx context.Context, why holdCause, d time.Duration) error {
	t.heldFor, t.waits = why, true
	return t.wait(ctx, d)
}

func (t *typist) isProved() bool { return !t.strict && t.desk.IsProved(t.receipt.ID) }

// lookAtPane takes a snapshot of the screen and its terminal, however long tmux takes
// to answer.
func (t *typist) lookAtPane(ctx context.Context) (sessions.Snapshot, error) {
	for {
		s, srv, err := t.find()
		if err != nil {
			return sessions.Snapshot{}, err
		}
		t.pane, t.srv, t.young, t.asked = s.Pane.ID, srv, time.Since(s.CreatedAt) < blankFor, time.Now()
		snap, err := srv.Snapshot(ctx, t.pane, sessions.RowWindow{Styled: true})
		switch {
		case err == nil:
			if ended := snap.Ended(s.Pane.Identity); ended != nil {
				return snap, ended
			}
			t.size.noteSize(&snap, t.asked)
			if t.term, err = srv.Terminal(snap.TTY); err == nil {
				return snap, nil
			}
		case errors.Is(err, sessions.ErrUnknown), ctx.Err() != nil:
			return snap, err
		}
		if err := t.policy.handleUnseen(ctx, err); err != nil {
			return snap, err
		}
	}
}

func (t *typist) lookAgain(ctx context.Context, s *sessions.Snapshot) error {
	if err := t.wait(ctx, lookEvery); err != nil {
		return err
	}
	snap, err := t.lookAtPane(ctx)
	if err == nil {
		*s = snap
	}
	return err
}

func (t *typist) pasteText(ctx context.Context) error { return runSteps(ctx, &pasting{typist: t}) }

// pasting is the paste of a text; an empty one needs only its Enter.
type pasting struct {
	*typist

	tries int // looks at a screen that may not stand still
}

func (t *pasting) nextStep(ctx context.Context) (paneStep, error) {
	for ; ; t.tries++ {
		err := t.takeKeyboard(ctx)
		if err != nil {
			return paneStep{}, err
		}
		if t.before, err = t.lookAtPane(ctx); err != nil {
			return paneStep{}, err
		}
		g, ok, err := t.policy.allowPaste(ctx, &t.tries)
		if err != nil {
			return paneStep{}, err
		}
		if ok {
			return paneStep{srv: t.srv, guard: g, text: t.receipt.Text}, nil
		}
	}
}

func (t *pasting) afterStep(ctx context.Context, _ paneStep, out sessions.GuardOutcome, err error) (done bool, failed error) {
	if out == sessions.Done && err == nil {
		return true, t.policy.notePasted(ctx)
	}
	t.tries++
	return false, t.policy.handleNotPasted(ctx, out, err, t.tries)
}

func (t *typist) noteTarget() {
	b := t.readInputBox(&t.before)
	t.boxed, t.shell, t.goesOn, t.front = b.Open, b.Shell, b.Unfinished != "", t.before.Front
	t.early = time.Since(t.into.Started) < readyWithin
}

// settleText waits until the program has read the text, so that text and Enter
// don't arrive in one read, and has had time to work it in.
func (t *typist) settleText(ctx context.Context) error {
	if err := t.awaitRead(ctx); err != nil || t.receipt.Text == "" || t.term.Canonical {
		return err
	}
	return t.awaitShown(ctx)
}

// awaitRead is settleText without a look whether the text is shown.
func (t *typist) awaitRead(ctx context.Context) error {
	if t.receipt.Text == "" || t.term.Canonical {
		return nil // the kernel makes the line
	}
	begin := time.Now()
	read := begin
	for time.Since(read) < settleFor {
		var s sessions.Snapshot
		if err := t.lookAgain(ctx, &s); err != nil {
			return err
		}
		t.echoed = t.echoed || !sameScreen(&t.before, &s)
		t.noteAlone(&s)
		if t.term.Canonical {
			return nil
		}
		if t.term.Unread > 0 {
			read = time.Now()
		}
		if time.Since(begin) > readWithin {
			return errors.New("the program doesn't read its input; the text waits there, Enter was not pressed")
		}
	}
	return nil
}

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
		frozen, drawn = frozen && (t.size.isBroken() || sameScreen(&t.before, &s)), s.Activity
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

// errNotShown says that a program has read a text and done something else with it.
var errNotShown = errors.New("the program has read the text, but it doesn't stand in its input box; Enter was not pressed, look at the session")

// errPartShown says that a shell has read a text's letters as commands of its own.
var errPartShown = errors.New("the shell has taken the text for something else, as one does in vi's command mode; Enter was not pressed, and what came of it may stand in its line: look at the session")

// isPartShown reports whether what stands in a shell's line is only a part of the text, or
// something else: it hasn't the text's beginning, up to the first character that a shell may
// draw otherwise. Of a text of several rows a shell may show some; tabs may have completed
// words; a "<" says that the line was moved to the side; and the cursor may stand on the
// last letter. Characters without width may take the shell's marks with them: then all of the
// cursor's line is looked at.
func (t *typist) isPartShown(s *sessions.Snapshot, b sessions.InputBox) bool {
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

// guardScreen says when something may be typed, and whether a dialog is open instead. Where
// the program's box is on the screen a dialog's phrase there is only quoted: no program
// draws both. Then the guard sees to it that the box is still there.
func (t *typist) guardScreen(s *sessions.Snapshot) (g sessions.PaneGuard, dialog bool) {
	g = sessions.PaneGuard{Pane: t.pane, Server: s.Server, Phrases: t.opt.Phrases, Saw: s, Front: s.Front}
	if t.opt.Dialog(s.Rows) == "" {
		return g, false
	}
	if row := t.lineAskedAt(s); row >= 0 { // a program that reads lines has no dialog
		g.Rows, g.Phrases = []int{row}, absentPhrases(t.opt.Phrases, s)
		return g, false
	}
	b := t.readInputBox(s)
	if !showsBox(b) {
		return g, true
	}
	g.Rows, g.Phrases = b.Rows, absentPhrases(t.opt.Phrases, s)
	return g, false
}

// guardOwnPhrases is guardScreen for a program whose box isn't known, where the only phrases on the
// screen are those of the text that was just pasted there: none stood there before.
func (t *typist) guardOwnPhrases(s *sessions.Snapshot) (g sessions.PaneGuard, dialog bool) {
	g = sessions.PaneGuard{Pane: t.pane, Server: s.Server, Saw: s, Front: s.Front}
	if t.boxed || t.readInputBox(s).Known || t.opt.Dialogs.Read(t.sessionID(), s, nil) != nil {
		return g, true
	}
	if !t.onlyOwn(s.Rows) {
		return g, true
	}
	g.Phrases = absentPhrases(t.opt.Phrases, s)
	return g, false
}

// enterGuard says when Enter may be pressed on a screen with a dialog's phrase: Done;
// Moved has it looked at again at once.
func (t *typist) enterGuard(s *sessions.Snapshot) (sessions.PaneGuard, sessions.GuardOutcome) {
	g, dialog := t.guardScreen(s)
	if dialog {
		g, dialog = t.guardOwnPhrases(s)
	}
	switch {
	case !dialog && len(g.Rows) == 0 && len(g.Phrases) == len(t.opt.Phrases):
		return g, sessions.Held // the phrase has just gone
	case !dialog:
		return g, sessions.Done
	case t.asCleared(s) && t.isRestless(s):
		return g, sessions.Moved
	case t.asCleared(s):
		return t.guardStillness(s), sessions.Done
	}
	if g, ok := t.guardAsSeen(s); ok {
		return g, sessions.Done
	}
	return g, sessions.Held
}

// keepRows has Enter pressed only while the text stands in the box as it was seen. Not
// all programs have the cursor behind it, so a letter that somebody adds shows in its last
// row alone.
func (t *typist) keepRows(g *sessions.PaneGuard) {
	s := &t.at
	g.Saw = s
	box := t.readInputBox(s)
	if !showsBox(box) {
		return
	}
	g.Rows, g.Phrases = box.Rows, absentPhrases(t.opt.Phrases, s)
	if len(g.Rows) == 0 {
		return
	}
	first, end := g.Rows[0], lastLetters(t.receipt.Text)
	for y := first; y < len(s.Rows) && end != ""; y++ {
		if strings.Contains(sessions.Letters(strings.Join(s.Rows[first:y+1], "")), end) {
			g.Rows = sessions.TellingRows(s.Rows, first, max(y, g.Rows[len(g.Rows)-1]), textRows)
			break
		}
	}
}

// textRows is how many rows of the box Enter is guarded by.
const textRows = 16

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

func absentPhrases(phrases []string, s *sessions.Snapshot) (out []string) {
	screen := strings.ToLower(strings.Join(s.Rows, "\n"))
	for _, phrase := range phrases {
		if !strings.Contains(screen, phrase) {
			out = append(out, phrase)
		}
	}
	return out
}

// showsBox says whether a box is seen to be on the screen: then a dialog's phrase there is
// only quoted, for no program draws both. A shell that has the foreground asks nothing;
// that it has it is a part of the guard.
func showsBox(box sessions.InputBox) bool { return box.Open && (len(box.Rows) > 0 || box.Shell) }

// pasteGuard narrows a guard for the paste.
func (t *typist) pasteGuard(g sessions.PaneGuard, shell bool, tries int) sessions.PaneGuard {
	if tries >= movedTries && len(g.Rows) == 0 && !g.Still {
		g.Saw = nil // a screen that never stands still: the search for dialogs, atomic as well, has to do
	}
	g.Lines = t.term.Canonical && g.Front != "" && shell
	return g
}
