package adapters

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// situation is what's known when a slot comes: all that a plan depends on.
type situation struct {
	now time.Time
	// unwritableUntil is when threads are tried again in the chat, of which others can't be written to.
	unwritableUntil time.Time
	nonce           string // for a new message
	call            qos.Call
	binding         Binding
	doc             Document
	session         sessions.Session
	progress        LogProgress
	region                  // the live region
	log             backlog // from the first line that a message to edit shows
	shape           Shape
	quiet           bool     // nothing may ring
	users           []string // who uses the place lately; see Inbound
	spared          bool     // the end of the turn rings nobody: whoever it's for is looking
	left            string   // id of the message to which nothing is added any more; "": none
	// held is the first line that isn't to be shown before until, since a secret may go on
	// behind it; 0: all may be. progress.Head is before it.
	held  int64
	until time.Time
	link  string // address of the message in which the newest turn begins; "": not known
	// words are Ending.Words of the turn whose end is to be announced, and begin in line
	// wordsAt; "": there are none.
	words   string
	wordsAt int64
	// begun are Ending.Begun, but for those that begin in a message that's yet to be sent. omitsTurns says
	// that turns before them aren't among them.
	begun      []BegunTurns
	omitsTurns bool
	// before are the turns of which the chat wasn't told before the newest, the last ones.
	before []sessions.Turn
	// earlier is Ending.Earlier, and earlierWhy its Why.
	earlier    int
	earlierWhy string

	rest    rest    // nothing needs a call now
	waiting []Piece // what pending returns, once it was asked
}

// announcesEnd says whether the end of a turn is to be announced.
func (s *situation) announcesEnd() bool { return s.turnEnd() > 0 }

// turnEnd is the line at which the newest turn ended that's to be announced; 0: none
// is.
func (s *situation) turnEnd() int64 {
	p, d := s.progress, s.doc
	switch {
	case s.held > 0 && p.TurnEnd >= s.held:
		return 0
	case s.call.Final > max(d.Announced, p.TurnEnd):
		return s.call.Final // the log has forgotten that turn
	case p.Turn > d.Turn && p.TurnEnd > d.Announced:
		return p.TurnEnd
	default:
		return 0
	}
}

func (s *situation) hasEnded() bool { return s.session.State == sessions.StateEnded }

// limit is the last line that's to be shown now. The message that announces a turn's
// end ends with it.
func (s *situation) limit() int64 {
	switch end := s.turnEnd(); {
	case s.hasEnded():
		return s.progress.Head
	case end > 0:
		return end
	case s.binding.View == ViewFinal && s.held > 0 && s.progress.TurnEnd >= s.held:
		return s.doc.Delivered()
	case s.binding.View == ViewFinal:
		return s.progress.TurnEnd
	default:
		return s.progress.Head
	}
}

// pending is what's to be shown and isn't, as far as it's loaded. The document
// doesn't change any more when it's asked.
func (s *situation) pending() []Piece {
	if s.waiting == nil {
		s.waiting = s.log.between(s.doc.Shown, Position{Line: s.limit() + 1})
	}
	return s.waiting
}

// start is where pending begins: behind what's shown, or what the log has dropped.
func (s *situation) start() Position {
	return laterPosition(s.doc.Shown, Position{Line: min(s.log.firstLine(), s.limit()+1)})
}

// behindHidden is the place behind lines that stand at a place and aren't shown: nothing of them
// is missing.
func (s *situation) behindHidden(at Position) Position {
	for _, p := range s.log.between(at, Position{Line: s.limit() + 1}) {
		if !p.blank() {
			break
		}
		if p.Hidden {
			at = p.end()
		}
	}
	return at
}

// hasAll says whether pending is all there is.
func (s *situation) hasAll() bool { return s.log.all || s.loaded() > s.limit() }

// loaded is the number of the first line behind what's loaded.
func (s *situation) loaded() int64 { return s.log.firstLine() + int64(len(s.log.pieces)) }

// page is an empty page for what's pending.
func (s *situation) page() Page {
	p := Page{Astray: s.astrayText(), folding: s.foldingOf(s.binding.Work)}
	shown := s.doc.Shown.Line
	if end := s.start().Line; end > shown {
		p.Cut, p.Dropped = true, max(0, end-max(shown, s.doc.Doubt.To.Line))
	}
	p.Double = s.start().Before(s.doc.Doubt.To) || s.doc.Doubt.Screen && s.binding.View != ViewScreen
	return p
}

// hasNothing says that there's nothing to show and nothing to announce.
func (s *situation) hasNothing() bool {
	if s.binding.View == ViewScreen {
		return len(s.rows) == 0 && !s.announcesEnd()
	}
	return !s.announcesEnd() && !s.page().Cut && allBlank(s.pending())
}

func (s *situation) needsThread() bool {
	return s.shape.OwnThread && s.doc.target(s.binding).Thread == "" && !s.isAstray()
}

// fillsThread says that there's something for a thread to be made for, or somebody who looks
// for it. What a session asks that waits is shown there.
func (s *situation) fillsThread() bool {
	return !s.hasNothing() || s.beginsWriting() || s.session.State == sessions.StateWaiting || s.binding.expected(s.session)
}

// leavesThread says that the thread made for the document is to be closed, once
// everything is in it.
func (s *situation) leavesThread() bool {
	return s.hasEnded() && s.shape.ClosesThreads && s.doc.Thread != "" && !s.doc.Closed
}

// interrupted says that something else stands below the tail, or that somebody has written in
// this place since its last line: what comes then stands below that, the text that's being written
// in the tail included.
func (s *situation) interrupted() bool {
	t := s.doc.Tail
	return t != nil && t.View != ViewScreen && s.interruptedAt(*t)
}

// interruptedAt is interrupted of any message. One that shows no line yet stands below all that was written before
// it was begun, whenever that's typed.
func (s *situation) interruptedAt(m Message) bool {
	if m.ID == s.left {
		return true
	}
	if m.From == m.To {
		return false
	}
	return slices.ContainsFunc(s.log.between(m.To, Position{Line: s.progress.Head + 1}), func(p Piece) bool {
		return p.Own && p.Line.Kind == sessions.KindUser && p.Line.Begins
	})
}

// fitsTail says whether all that's pending can be added to the tail.
func (s *situation) fitsTail() bool {
	t := s.doc.Tail
	if t == nil || s.announcesEnd() || s.hasEnded() || s.page().Cut || !s.hasAll() || s.interrupted() {
		return false
	}
	return s.tailTakes(Position{Line: s.limit() + 1})
}

// readAtOnce is how many lines are read from the log in one transaction.
const readAtOnce = 500

// backlog is a stretch of an output log, loaded for one call.
type backlog struct {
	pieces []Piece   // whole lines, numbered without holes
	head   int64     // the last line to load
	all    bool      // the pieces go up to head
	size   int       // bytes of text behind a line, line ends included
	here   string    // the place that it's for, as lines say where they were written
	work   WorkShown // of which the pieces are as much as is shown
	answer []string  // of the answer that the last piece is of, the lines up to it
	// endsTurn is HubOptions.EndsTurn; nil: no line does.
	endsTurn func(line string) bool
}

// loadLines reads lines from line `from` on, up to b.head, and until those behind line
// `counted` have at least `size` bytes. It goes on where it stopped before.
func (b *backlog) loadLines(ctx context.Context, log Log, id sessions.ID, from, counted int64, size int) error {
	if n := len(b.pieces); n > 0 {
		from = b.pieces[n-1].Line.N + 1
	}
	for from <= b.head && b.size < size {
		out, err := log.Read(ctx, id, from, int(min(readAtOnce, b.head-from+1)))
		if err != nil {
			return err
		}
		if len(out.Lines) == 0 {
			break // dropped or not there: no more can be had
		}
		if first := out.Lines[0]; len(b.pieces) == 0 && first.Kind == sessions.KindAnswer && !first.Begins {
			if b.answer, err = answerBefore(ctx, log, id, out.Lines[0].N); err != nil {
				return err
			}
		}
		b.addLines(out, counted)
		from = out.Lines[len(out.Lines)-1].N + 1
	}
	b.all = from > b.head || b.size < size
	return nil
}

// backAtOnce is how many lines are read in one transaction to find where an answer
// begins.
const backAtOnce = 100

// answerBefore reads back the lines before line n that belong to the same answer: up to
// the one that begins it, another kind of line, a gap, or maxBefore.
func answerBefore(ctx context.Context, log Log, id sessions.ID, n int64) (back []string, _ error) {
	defer func() { slices.Reverse(back) }()
	size := 0
	for to := n; to > 1; {
		from := max(1, to-backAtOnce)
		out, err := log.Read(ctx, id, from, int(to-from)+1) // line `to` too, for the gap before it
		if err != nil {
			return nil, err
		}
		lines := out.Lines
		for len(lines) > 0 && lines[len(lines)-1].N >= to {
			lines = lines[:len(lines)-1]
		}
		for _, l := range slices.Backward(lines) {
			gap := slices.ContainsFunc(out.Gaps, func(g sessions.Gap) bool { return g.After == l.N })
			if gap || l.Kind != sessions.KindAnswer || size > maxBefore {
				return back, nil
			}
			back = append(back, l.Text)
			if size += len(l.Text) + 1; l.Begins {
				return back, nil
			}
		}
		if len(lines) == 0 || lines[0].N > from {
			break // the log has dropped the rest
		}
		to = from
	}
	return back, nil
}

// addLines appends what was read. A gap that stands for dropped lines isn't taken:
// numbers say that too, and stay the same when more is dropped.
func (b *backlog) addLines(out sessions.Output, counted int64) {
	gaps := out.Gaps
	for _, l := range out.Lines {
		if l.N > b.head {
			return
		}
		p := Piece{Line: l, To: len(l.Text), Own: l.Origin != "" && l.Origin == b.here, told: b.isAboutHere(l) || b.isEnd(l)}.fold(b.work)
		for len(gaps) > 0 && gaps[0].After < l.N {
			if gaps[0].After == l.N-1 {
				p.Gap = joinGaps(p.Gap, gaps[0])
			}
			gaps = gaps[1:]
		}
		if l.Kind != sessions.KindAnswer || l.Begins || p.Gap != nil {
			b.answer = nil
		}
		if l.Kind == sessions.KindAnswer {
			p.answer, b.answer = b.answer, append(b.answer, l.Text)
		}
		b.pieces = append(b.pieces, p)
		switch {
		case l.N <= counted:
		case p.Hidden:
			b.size++
		default:
			b.size += len(l.Text) + 1
		}
	}
}

// showing is the same as far as some extents of work let it be seen.
func (b *backlog) showing(w WorkShown) *backlog {
	if w == b.work {
		return b
	}
	other := *b
	other.work, other.pieces = w, make([]Piece, len(b.pieces))
	for i, p := range b.pieces {
		other.pieces[i] = p.fold(w)
	}
	return &other
}

// isAboutHere says whether a line is a notice about the place where the log is shown, or the
// chat that's in: why it wasn't shown there.
func (b *backlog) isAboutHere(l sessions.Line) bool {
	return l.Kind == sessions.KindNotice && l.Origin != "" && (l.Origin == b.here || strings.HasPrefix(b.here, l.Origin+"/"))
}

// isEnd says whether a line says nothing but that a turn has ended.
func (b *backlog) isEnd(l sessions.Line) bool {
	return l.Kind == sessions.KindPane && b.endsTurn != nil && b.endsTurn(l.Text)
}

// firstLine is the number of the first line that's kept.
func (b *backlog) firstLine() int64 {
	if len(b.pieces) == 0 {
		return b.head + 1
	}
	return b.pieces[0].Line.N
}

// hasFrom says whether all from a place on is kept.
func (b *backlog) hasFrom(from Position) bool { return b.firstLine() <= from.Line }

// between returns what stands between two places, as far as it's loaded.
func (b *backlog) between(from, to Position) []Piece {
	if !from.Before(to) {
		return nil
	}
	var out []Piece
	for _, p := range b.pieces[b.index(from.Line):min(len(b.pieces), b.index(to.Line)+1)] {
		if n := p.Line.N; n == from.Line && from.Byte > 0 {
			p.From, p.Gap = min(from.Byte, p.To), nil
		} else if n == to.Line && to.Byte == 0 || n > to.Line {
			break
		}
		if p.Line.N == to.Line {
			p.To = max(p.From, min(to.Byte, p.To))
		}
		out = append(out, p)
	}
	return out
}

// index is that of the first piece with at least a line number.
func (b *backlog) index(line int64) int {
	return int(min(max(line-b.firstLine(), 0), int64(len(b.pieces))))
}

// digestAfter is how late a chat is that gets a digest: after an outage, a penalty, or
// when a mirror goes on that rested.
const digestAfter = 10 * time.Minute

// lag is for how long the first of what's pending could have been shown.
func (s *situation) lag() time.Duration {
	pending := s.pending()
	switch {
	case len(pending) == 0 || s.binding.View == ViewScreen:
		return 0
	case s.binding.View == ViewFinal:
		return s.now.Sub(s.progress.TurnEnded)
	default:
		for _, p := range pending {
			if !p.Hidden || p.Counted {
				return s.now.Sub(p.Line.At)
			}
		}
		return 0
	}
}

// printedWhen says from when to when the lines of a file were printed, if the chat is so late
// that it matters; else "".
func (s *situation) printedWhen(pieces []Piece) string {
	if s.lag() <= digestAfter {
		return ""
	}
	from, to := pieces[0].Line.At.Local(), pieces[len(pieces)-1].Line.At.Local()
	form := "15:04"
	if now := s.now.Local().Format(time.DateOnly); from.Format(time.DateOnly) != now || to.Format(time.DateOnly) != now {
		form = "2 Jan 15:04"
	}
	return "from " + from.Format(form) + " to " + to.Format(form)
}

// Which ends of turns ring: docs/adr/0035.

// endedTurns are the turns whose end a message says, and who asked for them.
type endedTurns struct {
	turns []sessions.Turn
	// said are the lines that people wrote since the end of the turn before them, one for each
	// text. whole says that none is missing.
	said  []sessions.Line
	whole bool
}

// isBrief reports whether all of the turns are known to have ended well in less than a time.
func (e endedTurns) isBrief(than time.Duration) bool {
	for _, t := range e.turns {
		took := t.EndedAt.Sub(t.StartedAt)
		if t.StartedAt.IsZero() || t.EndedAt.IsZero() || took < 0 || took >= than || !t.Well() {
			return false
		}
	}
	return true
}

// isOnlyFor reports whether nobody uses a place but who asked for the turns. users are those who
// use it, as people are called. Who sits at the session's own keyboard is taken for the only one
// who uses a place: they have seen the turn end.
func (e endedTurns) isOnlyFor(place Target, users []string) bool {
	if !e.whole || len(e.turns) == 0 || len(users) != 1 {
		return false
	}
	for _, l := range e.said {
		if l.Origin != place.String() && l.Author != users[0] && (l.Origin != "" || !isKeyboard(l.Author)) {
			return false
		}
	}
	if len(e.said) > 0 {
		return true
	}
	for _, t := range e.turns {
		if t.Status == nil {
			return false // it's no command that somebody typed: an agent goes on by itself, say
		}
	}
	return true
}

// isKeyboard reports whether a line's author is who sits at the machine: at the session's own
// terminal, the command line or the page.
func isKeyboard(author string) bool { return author == "" || author == "cli" || author == "web" }

// mostTurns is of how many turns that share a message it's known who asked for them.
const mostTurns = 100

// lookBack reads what's known of the turns whose end is to be announced. after is
// Settings.RingAfter.
func (s *situation) lookBack(ctx context.Context, log Log, after time.Duration) error {
	end := s.turnEnd()
	if end == 0 || end != s.progress.TurnEnd {
		return nil
	}
	e, err := s.briefTurns(ctx, log, after)
	if err != nil {
		return err
	}
	if err := s.lookForFailures(ctx, log); err != nil {
		return err
	}
	from := s.progress.TurnFirst
	if len(e.turns) > 0 {
		from = s.doc.Announced + 1
	}
	lines, err := readTo(ctx, log, s.binding.Session, max(from, 1), end)
	if err != nil {
		return err
	}
	e.whole = len(lines) > 0 && lines[0].N <= max(from, 1)
	var turn []sessions.Line
	for _, l := range lines {
		if l.Kind == sessions.KindUser && l.Begins {
			e.said = append(e.said, l)
		}
		if l.N >= s.progress.TurnFirst && !s.log.isEnd(l) {
			turn = append(turn, l)
		}
	}
	s.words, s.wordsAt = answerWords(turn)
	s.spared = e.isOnlyFor(s.doc.target(s.binding), s.users)
	return nil
}

// lookForFailures finds which turns before the one whose end is to be announced failed, of which the
// chat wasn't told.
func (s *situation) lookForFailures(ctx context.Context, log Log) error {
	s.earlier, s.earlierWhy, s.before = 0, "", nil
	if s.progress.Turn-s.doc.Turn < 2 {
		return nil
	}
	turns, err := log.Turns(ctx, s.binding.Session, max(s.doc.Turn+1, s.progress.Turn-mostTurns), mostTurns)
	for _, t := range turns {
		if t.Number >= s.progress.Turn {
			break
		}
		if s.before = append(s.before, t); t.Failed != "" {
			s.earlier++
			s.earlierWhy = firstWords(t.Failed)
		}
	}
	return err
}

// briefTurns are the turns whose end is to be announced, if all ended well in less than a time.
func (s *situation) briefTurns(ctx context.Context, log Log, than time.Duration) (endedTurns, error) {
	n := s.progress.Turn - s.doc.Turn
	if than <= 0 || n > mostTurns || len(s.users) != 1 || s.session.State == sessions.StateError {
		return endedTurns{}, nil
	}
	turns, err := log.Turns(ctx, s.binding.Session, s.doc.Turn+1, mostTurns)
	if e := (endedTurns{turns: turns}); err == nil && int64(len(turns)) == n && e.isBrief(than) {
		return e, nil
	}
	return endedTurns{}, err
}

// RingAfter is Settings.RingAfter as it is now. It may be called at any time.
func (h *Hub) RingAfter() time.Duration { return time.Duration(h.ringAfter.Load()) }

// RingsAt reports whether the end of a turn rings at a place while it isn't quiet there.
func (h *Hub) RingsAt(ctx context.Context, id sessions.ID, at Target, turn sessions.Turn) (bool, error) {
	s := situation{
		binding:  Binding{Session: id, Target: at},
		progress: LogProgress{Turn: turn.Number, TurnEnd: turn.LastLine, TurnFirst: turn.FirstLine},
		doc:      Document{Turn: turn.Number - 1},
		users:    h.currentInbound().UsersOf(at, time.Now()),
	}
	var err error
	if s.session, err = h.opt.Sessions.Get(string(id)); err != nil {
		return true, err
	}
	before, err := h.opt.Log.Turns(ctx, id, turn.Number-1, 1)
	if err != nil {
		return true, err
	}
	if len(before) > 0 && before[0].Number < turn.Number {
		s.doc.Announced = before[0].LastLine
	}
	err = s.lookBack(ctx, h.opt.Log, h.RingAfter())
	return !s.spared, err
}

// readTo reads lines from one to another, of more than turnRows the last ones.
func readTo(ctx context.Context, log Log, id sessions.ID, from, to int64) ([]sessions.Line, error) {
	var all []sessions.Line
	for n := max(from, to-turnRows+1); n <= to; {
		out, err := log.Read(ctx, id, n, int(min(readAtOnce, to-n+1)))
		if err != nil {
			return nil, err
		}
		if len(out.Lines) == 0 {
			break // the log has dropped them
		}
		all = append(all, out.Lines...)
		n = all[len(all)-1].N + 1
	}
	return all, nil
}
