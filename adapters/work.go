package adapters

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Extent is how much of one kind of a session's work a target shows.
type Extent string

// The extents.
const (
	ExtentAll   Extent = "all"
	ExtentBrief Extent = "brief" // counted, in one line that grows
	ExtentNone  Extent = "none"
)

// ParseExtent reads an extent's name; "" is "": as it is, or as usual.
func ParseExtent(s string) (Extent, error) {
	switch e := Extent(s); e {
	case "", ExtentAll, ExtentBrief, ExtentNone:
		return e, nil
	default:
		return "", fmt.Errorf("read extent %q: there are all, brief and none", s)
	}
}

// WorkShown says how much of a session's work a target shows, by kind: of what its log has beside
// answers. What a pane prints is of no kind, and always shown. "": as usual.
type WorkShown struct {
	Tools    Extent `json:"tools,omitempty"`    // calls of tools, and what they returned; usually all
	Thinking Extent `json:"thinking,omitempty"` // what an agent thinks before it answers; usually none
	Prompts  Extent `json:"prompts,omitempty"`  // what was written to it elsewhere; usually all
	// Output is how much of what's printed in one go; answers are shown whole.
	Output Length `json:"output,omitempty"`
}

// Whole is the same with each of them said.
func (w WorkShown) Whole() WorkShown {
	return WorkShown{
		Tools: cmp.Or(w.Tools, ExtentAll), Thinking: cmp.Or(w.Thinking, ExtentNone), Prompts: cmp.Or(w.Prompts, ExtentAll), Output: cmp.Or(w.Output, LengthUsual),
	}
}

// with is the same but for what a change says.
func (w WorkShown) with(change WorkShown) WorkShown {
	return WorkShown{
		Tools: cmp.Or(change.Tools, w.Tools), Thinking: cmp.Or(change.Thinking, w.Thinking), Prompts: cmp.Or(change.Prompts, w.Prompts),
		Output: cmp.Or(change.Output, w.Output),
	}
}

// check returns what's wrong with it.
func (w WorkShown) check() error {
	for _, e := range []Extent{w.Tools, w.Thinking, w.Prompts} {
		if _, err := ParseExtent(string(e)); err != nil {
			return err
		}
	}
	_, err := ParseLength(string(w.Output))
	return err
}

// extentOf is how much of lines of a kind is shown.
func (w WorkShown) extentOf(kind sessions.LineKind) Extent {
	w = w.Whole()
	switch kind {
	case sessions.KindTool:
		return w.Tools
	case sessions.KindThought:
		return w.Thinking
	case sessions.KindUser:
		return w.Prompts
	case sessions.KindPane, sessions.KindAnswer, sessions.KindNotice:
	}
	return ExtentAll
}

// foldsTools says that calls of tools aren't shown one by one.
func (w WorkShown) foldsTools() bool { return w.Whole().Tools != ExtentAll }

// folded are the kinds of line that are counted, by their letters; see Unfolding.
func (w WorkShown) folded() string {
	var letters strings.Builder
	for _, k := range foldedKinds() {
		if w.extentOf(k.kind) == ExtentBrief {
			letters.WriteString(k.letter)
		}
	}
	return letters.String()
}

type foldedKind struct {
	kind   sessions.LineKind
	letter string
}

func foldedKinds() []foldedKind {
	return []foldedKind{{sessions.KindTool, "t"}, {sessions.KindThought, "h"}, {sessions.KindUser, "p"}}
}

// shownKinds are all kinds of line; "o", what a pane prints, is in no Unfolding of what was counted.
func shownKinds() []foldedKind {
	return append(foldedKinds(), foldedKind{sessions.KindPane, "o"}, foldedKind{sessions.KindAnswer, "a"}, foldedKind{sessions.KindNotice, "n"})
}

// shown are the kinds of line that are shown one by one, by their letters.
func (w WorkShown) shown() string {
	var letters strings.Builder
	for _, k := range shownKinds() {
		if w.extentOf(k.kind) == ExtentAll {
			letters.WriteString(k.letter)
		}
	}
	return letters.String()
}

// fold decides what of a piece is shown, by what's shown of its kind.
func (p Piece) fold(w WorkShown) Piece {
	p.Counted = false
	if p.Hidden = p.Own || p.told; p.Hidden {
		return p
	}
	switch w.extentOf(p.Line.Kind) {
	case ExtentBrief:
		p.Hidden, p.Counted = true, sessions.TallyOf(p.Line) != sessions.WorkTally{}
	case ExtentNone:
		p.Hidden = true
	case ExtentAll:
	}
	return p
}

// showTally hands on a line about what was counted, if anything was, and begins to count anew.
func showTally(t *sessions.WorkTally, rows func(render.PartKind, []string)) {
	if text := t.String(); text != "" {
		rows(render.Tool, []string{sessions.WorkMark + text})
	}
	*t = sessions.WorkTally{}
}

const (
	// workEvery is the least time between two calls for a message that show nothing new but how much work
	// there was: at most 4 in a minute, which leaves room for its last state and the end of the turn within 6.
	workEvery = 15 * time.Second
	// mostFolded is over how many lines of the log a message may grow: all of them are read for each call. No
	// message that shows each line has as many.
	mostFolded = 5000
)

// rest says that nothing needs a call now, as far as is known without the lines that the tail shows.
type rest struct {
	is    bool
	until time.Time // when it's planned again though nothing more is heard; zero: never
}

// lookForRest finds whether nothing is new but work of which nothing is shown yet, and which can wait. It reads no
// line that a message shows, which may be thousands: a session at work is asked for a few times a second.
func (s *situation) lookForRest(ctx context.Context, log Log) error {
	t, d := s.doc.Tail, s.doc
	if t == nil || t.View != ViewStream || t.Writing || t.Work != s.binding.Work || !t.Work.foldsTools() || t.ID == s.left ||
		s.binding.View != ViewStream || s.call.Class != qos.Stream || s.announcesEnd() || s.hasEnded() || s.needsThread() ||
		d.Stale != nil || d.Intent != nil || d.Withheld != nil || d.doubtful() ||
		len(s.writing) > 0 || !s.known && len(s.rows) > 0 {
		return nil
	}
	s.log.head, s.log.here = s.progress.Head, d.target(s.binding).String()
	if err := s.log.loadLines(ctx, log, s.binding.Session, d.Shown.Line, d.Shown.Line-1, mostFolded); err != nil {
		return err
	}
	s.rest = s.findRest()
	if !s.rest.is {
		s.log = backlog{endsTurn: s.log.endsTurn, work: s.log.work}
	}
	s.waiting = nil
	return nil
}

func (s *situation) findRest() rest {
	if !s.log.all || s.page().Cut {
		return rest{}
	}
	news := s.doc.Tail.Live || s.known && s.shape.LiveRows > 0 && s.status != ""
	for _, p := range s.pending() {
		switch {
		case p.Gap != nil, !p.Hidden && !p.blank(), p.Own && p.Line.Kind == sessions.KindUser:
			return rest{}
		case p.Counted:
			news = true
		}
	}
	if !news {
		return rest{is: true}
	}
	at := s.doc.Tail.At
	until := at.Add(workEvery)
	return rest{is: until.After(s.now) && !at.After(s.now), until: until} // a clock may be set back
}

// leadingWork are the pieces that are pending up to the last one that counts, before the first one that's shown:
// those of work that the tail's last line counts already.
func (s *situation) leadingWork() []Piece {
	t := s.doc.Tail
	if t == nil || t.Writing || s.page().Cut || s.interrupted() || !s.countsLast(*t) {
		return nil
	}
	pending, n := s.pending(), 0
	for i, p := range pending {
		if p.Gap != nil || !p.Hidden && !p.blank() {
			break
		}
		if p.Counted {
			n = i + 1
		}
	}
	if n == 0 || !s.tailTakes(pending[n-1].end()) {
		return nil
	}
	return pending[:n]
}

// countsLast says whether the last thing that a message shows of the log is how much work there was.
func (s *situation) countsLast(m Message) bool {
	shown := withoutBlankEnd(s.log.between(m.From, m.To))
	return len(shown) > 0 && shown[len(shown)-1].Counted
}

// tailTakes says whether the tail has room for all up to a place.
func (s *situation) tailTakes(to Position) bool {
	t := s.doc.Tail
	pieces := withoutBlankEnd(s.log.between(t.From, to))
	return len(pieces) <= mostFolded && s.shape.fits(s.pageOf(*t).plus(pieces))
}

// unfoldPrefix begins the data of buttons that show what was counted.
const unfoldPrefix = "w:"

// Unfolding is what a button below a message shows, of which work was counted, or an output isn't all there.
type Unfolding struct {
	Binding BindingID
	Kinds   string // of line, by their letters
	From    int64  // the first line, and the last one, which the message is about
	To      int64
}

// Data is the button's data, at most 64 bytes.
func (u Unfolding) Data() string {
	return fmt.Sprintf("%s%s:%s:%d:%d", unfoldPrefix, u.Binding, u.Kinds, u.From, u.To)
}

// ReadUnfolding reads a button's data; false: it's of another button.
func ReadUnfolding(data string) (u Unfolding, ok bool) {
	rest, ok := strings.CutPrefix(data, unfoldPrefix)
	parts := strings.Split(rest, ":")
	if !ok || len(parts) != 4 {
		return u, false
	}
	u.Binding, u.Kinds = BindingID(parts[0]), parts[1]
	if _, err := fmt.Sscanf(parts[2]+" "+parts[3], "%d %d", &u.From, &u.To); err != nil || u.From < 1 || u.To < u.From {
		return u, false
	}
	return u, u.Data() == data
}

// IsOutput says that it's all that the message stands for, else what was counted in it.
func (u Unfolding) IsOutput() bool { return strings.Contains(u.Kinds, "o") }

// Has says whether a line is one of those that it shows.
func (u Unfolding) Has(l sessions.Line) bool {
	for _, k := range shownKinds() {
		if l.Kind == k.kind {
			return strings.Contains(u.Kinds, k.letter)
		}
	}
	return false
}

// unfoldLabel is what the button says that shows what was counted.
const unfoldLabel = "Show the work"

// unfoldButtons stand below a message in which work was counted, or of which an output isn't all there. Beside a file
// there's none: it has all.
func (s *situation) unfoldButtons(p Page, m Message) [][]Button {
	if s.withheld() != "" || p.Attached > 0 || !m.From.Before(m.To) {
		return nil
	}
	u := Unfolding{Binding: s.binding.ID, From: m.From.Line, To: m.To.Line - 1}
	if m.To.Byte > 0 {
		u.To++
	}
	var row []Button
	if u.Kinds = m.Work.folded(); u.Kinds != "" && p.counts() {
		row = append(row, Button{Label: unfoldLabel, Data: u.Data()})
	}
	if u.Kinds = m.Work.shown(); p.folds() {
		label := "The whole line"
		if n := p.shownLines(); n > 1 {
			label = fmt.Sprintf("All %d lines", n)
		}
		row = append(row, Button{Label: label, Data: u.Data()})
	}
	if row == nil {
		return nil
	}
	return [][]Button{row}
}

// counts says whether the page counts work.
func (p Page) counts() bool {
	for _, piece := range p.Pieces {
		if piece.Counted {
			return true
		}
	}
	return false
}
