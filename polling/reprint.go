package polling

import (
	"slices"
	"strings"
	"time"
	"unicode"
)

const (
	// tailLines is how much of the output log a reprint is compared with.
	tailLines = 20_000
	// reprintFor is how long after a change of size a drawing program may take
	// to print everything again; programs wait until the resizing is over.
	reprintFor = 10 * time.Second
	// reprintQuiet is how long it may hesitate before it begins.
	reprintQuiet = 3 * time.Second
)

// reprinted recognises text that was printed before, whatever its line breaks:
// programs wrap the same text differently in another width. It follows the log
// word by word; where it has lost the thread it looks for the next words. Lines
// that become part of the log meanwhile are learned.
type reprinted struct {
	words []string
	index map[string][]int // each run of gram words → where it begins; of the log at the beginning
	fresh map[string][]int // the same, of what was learned since
	at    int              // the word expected next; len(words): none
	prev  bool             // the last line with words was old
}

const (
	gram = 4 // words that show where to go on
	// backGram is how many words show that the text begins again further up.
	// Fewer may be something that is really said twice.
	backGram = 12
	// maxPlaces bounds how many places are compared; of words that stand
	// everywhere, the newest count.
	maxPlaces = 64
)

// wordsOf splits text into what the comparison goes by. Decoration (rules, box
// drawing, bullets) changes with the width and doesn't count.
func wordsOf(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool { return !isWord(r) })
}

func isWord(r rune) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_' || r == '-'
}

func newReprinted(log []string) *reprinted {
	r := &reprinted{index: map[string][]int{}}
	for _, l := range log {
		r.words = append(r.words, wordsOf(l)...)
	}
	for i := range len(r.words) - gram + 1 {
		key := gramKey(r.words[i:])
		r.index[key] = append(r.index[key], i)
	}
	r.at = len(r.words)
	return r
}

// learnLine adds a line to the log.
func (r *reprinted) learnLine(line string) {
	ended := r.at == len(r.words)
	from := max(0, len(r.words)-gram+1)
	r.words = append(r.words, wordsOf(line)...)
	for i := from; i+gram <= len(r.words); i++ {
		if r.fresh == nil {
			r.fresh = map[string][]int{}
		}
		key := gramKey(r.words[i:])
		r.fresh[key] = append(r.fresh[key], i)
	}
	if ended {
		r.at = len(r.words)
	}
}

// clone shares what doesn't change.
func (r *reprinted) clone() *reprinted {
	c := *r
	c.words = slices.Clip(c.words)
	c.fresh = make(map[string][]int, len(r.fresh))
	for key, places := range r.fresh {
		c.fresh[key] = slices.Clip(places)
	}
	return &c
}

func gramKey(words []string) string { return strings.Join(words[:gram], " ") }

// printedBefore is what's known about a line: it was printed before (old), or it's new
// from byte cut on. Where a paragraph wraps differently, a line can begin with
// words that are lines already and go on with new ones.
type printedBefore struct {
	old bool
	cut int
}

// passage is consecutive lines as their words.
type passage struct {
	words []string
	begin []int // where the words of each line begin
}

func newPassage(lines []string) passage {
	var p passage
	for _, l := range lines {
		p.begin = append(p.begin, len(p.words))
		p.words = append(p.words, wordsOf(l)...)
	}
	return p
}

// wordsFrom are the words from the i-th line on, and how many of them are its own.
func (p passage) wordsFrom(i int) (words []string, own int) {
	end := len(p.words)
	if i+1 < len(p.begin) {
		end = p.begin[i+1]
	}
	return p.words[p.begin[i]:], end - p.begin[i]
}

// markLines decides about consecutive lines. learn: those that are new count as
// printed for those behind them.
func (r *reprinted) markLines(lines []string, learn bool) []printedBefore {
	out := make([]printedBefore, len(lines))
	p := newPassage(lines)
	for i, l := range lines {
		out[i] = r.decideLine(l, p, i)
		if learn && !out[i].old {
			r.learnLine(l[out[i].cut:])
		}
	}
	return out
}

// decideLine decides about a line, the i-th of a passage.
func (r *reprinted) decideLine(line string, p passage, i int) (v printedBefore) {
	words, total := p.wordsFrom(i)
	hit, lead := 0, 0
	for k := range total {
		if r.at < len(r.words) && r.words[r.at] == words[k] || r.findWords(words[k:]) {
			hit++
			r.at++
			if hit == k+1 {
				lead++
			}
		}
	}
	if total > 0 {
		r.prev = hit*4 >= total*3 && lead != hit || hit == total
	}
	v.old = r.prev
	if !r.prev && lead > 0 && lead == hit {
		v.cut = afterWords(line, lead)
	}
	return v
}

// afterWords is the byte at which the word behind the first n begins.
func afterWords(line string, n int) int {
	inWord := false
	for i, c := range line {
		if isWord(c) && !inWord {
			if n == 0 {
				return i
			}
			n--
		}
		inWord = isWord(c)
	}
	return 0
}

// logOverlap is how many of the lines are the log's last ones, as they are. The
// first line may be the rest of one whose beginning is gone. 0: it isn't that
// simple.
func logOverlap(log, lines []string) int {
	if n := longestSuffix(log, lines); n >= minOverlap {
		return n
	}
	if len(lines) > 1 {
		if n := longestSuffix(log, lines[1:]); n >= minOverlap {
			return n + 1
		}
	}
	return 0
}

const minOverlap = 3

// longestSuffix is the length of the longest beginning of lines at which the
// log ends.
func longestSuffix(log, lines []string) int {
	if len(lines) == 0 {
		return 0
	}
	search, matched := newRunSearch(lines), 0
	for _, l := range log[max(0, len(log)-len(lines)):] {
		matched = search.match(matched, l)
	}
	return matched
}

// findWords looks for the next words further on in the log, else, if more of them
// are the same, further up.
func (r *reprinted) findWords(words []string) bool {
	if len(words) < gram {
		return false
	}
	key := gramKey(words)
	places := slices.Concat(r.index[key], r.fresh[key])
	lost := r.at >= len(r.words)
	if i, _ := slices.BinarySearch(places, r.at); i < len(places) && !lost {
		r.at = places[i]
		return true
	}
	for _, p := range slices.Backward(places[max(0, len(places)-maxPlaces):]) {
		if r.countAgreeing(words, p) >= min(backGram, len(words)) {
			r.at = p
			return true
		}
	}
	return false
}

// countAgreeing is how many of the words stand in the log from p on, at most backGram.
func (r *reprinted) countAgreeing(words []string, p int) int {
	n := 0
	for n < backGram && n < len(words) && p+n < len(r.words) && r.words[p+n] == words[n] {
		n++
	}
	if p+n == len(r.words) {
		return backGram // the log ends here
	}
	return n
}

// newestLog are the newest lines of the log with those of this step.
func (w *engineRun) newestLog() ([]string, error) {
	log, err := w.tail(tailLines)
	if err != nil {
		return nil, err
	}
	return append(slices.Clone(log), w.step.Lines...), nil
}

// expectReprint begins the time in which everything may be printed again, or
// prolongs it.
func (w *engineRun) expectReprint() error {
	w.state.ReprintUntil = w.now.Add(reprintFor)
	_, err := w.isReprinting()
	return err
}

// isReprinting reports whether everything may be being printed again.
func (w *engineRun) isReprinting() (bool, error) {
	if w.state.ReprintUntil.IsZero() {
		return false, nil
	}
	if w.rep == nil { // it begins, or the daemon was started anew
		log, err := w.newestLog()
		if err != nil {
			return false, err
		}
		w.rep = newReprinted(log)
	}
	return true, nil
}

// pickUpThread has the comparison go on behind the lines that stand right above row i of the
// snapshot, where it has lost the thread: those that are painted again just where they
// were aren't compared themselves.
func (w *engineRun) pickUpThread(i int) {
	if w.rep.at < len(w.rep.words) {
		return
	}
	from := i
	for from > 0 && w.isShown(from-1) {
		from--
	}
	spans, texts := w.cutLines(from)
	p := newPassage(texts)
	for n, sp := range spans {
		if sp.j >= i {
			break
		}
		w.rep.decideLine(texts[n], p, n)
	}
}

// endReprint ends the time in which everything may be printed again, when it's
// up or when all is quiet. What's on the screen by then leaves it later, maybe
// much later: what's old of it is marked now.
func (w *engineRun) endReprint() {
	if w.rep == nil || w.s.Alternate || !w.reachesBottom() {
		return
	}
	st := &w.state
	quiet := len(w.prevAbs) > 0 && w.sameScreen() && w.now.After(st.ReprintUntil.Add(reprintQuiet-reprintFor))
	if !quiet && w.now.Before(st.ReprintUntil) {
		w.step.Settling = true
		return
	}
	next := max(0, w.rowIndex(st.Next))
	w.pickUpThread(next)
	w.skipOld(w.rep, next, true)
	st.ReprintUntil, w.rep = time.Time{}, nil
}

// rebaseRows starts the numbering anew on a grid whose rows have no known
// connection with those before: cleared, reflowed, printed again. What the
// output log has already is recognised, where it can be there: a program that
// only prints doesn't print again what was cleared. reason is that of the gap
// which stands where text may be missing.
func (w *engineRun) rebaseRows(reason string) (*Need, error) {
	s, st := w.s, &w.state
	if need := w.needAll(); need != nil {
		return need, nil
	}
	resized := s.Width != st.Width
	draws := w.drawing || st.Drew
	if !resized && !st.Drew {
		w.emitVanished(behindAll, false)
	}
	w.endBegunLine()
	was := w.screen.normal
	w.restartNumbering()
	known := false
	if resized || draws {
		log, err := w.newestLog()
		if err != nil {
			return nil, err
		}
		rep := newReprinted(log)
		if draws {
			w.rep, st.ReprintUntil = rep.clone(), w.now.Add(reprintFor)
		}
		known = w.skipKnown(rep, log, draws) || resized && len(rep.words) == 0
		known = known && (resized || !w.missesText(was))
	}
	if !known {
		w.addGap(0, reason)
	}
	return nil, nil //nolint:nilnil // nothing more is needed
}

// skipKnown skips what's in the log. Where the grid goes on as the log ends,
// only a program that draws may print something again further below. It reports
// whether there was any.
func (w *engineRun) skipKnown(rep *reprinted, log []string, draws bool) bool {
	spans, texts := w.cutLines(0)
	n := logOverlap(log, texts)
	for _, sp := range spans[:n] {
		w.markShown(sp)
		w.state.Next = w.absRow(sp.j) + 1
	}
	if n > 0 && !draws {
		return true
	}
	from := 0
	if n > 0 {
		from = spans[n-1].j + 1
	}
	return w.skipOld(rep, from, false) || n > 0
}

// restartNumbering forgets all that goes by row numbers.
func (w *engineRun) restartNumbering() {
	s, st := w.s, &w.state
	if st.Marked <= st.Next {
		st.MarkedEarly = ""
	}
	st.Base, st.Next, st.Marked, st.Doubtful, st.Floor, st.FloorUntil = 0, int64(s.First), 0, 0, 0, time.Time{}
	st.Anchor, st.Shown, st.PID, st.Cursor = rowAnchor{}, rowHashes{}, s.PID, 0
	w.prevAbs, w.screen.normal = nil, nil
	w.orphans, w.copies, st.Begins, st.Asking = orphans{}, nil, lineBegins{}, openDialog{}
	st.Shell.Seen, st.Shell.Split = 0, shellSplit{}
	w.step.Changed = true
}

// needAll asks for as much of the grid as a capture may hold.
func (w *engineRun) needAll() *Need {
	s := w.s
	if s.First == 0 || s.HistorySize-s.First >= w.maxRows/2 || w.asked.tries > 2 {
		return nil
	}
	return w.askWindow(max(0, s.HistorySize-w.maxRows/2), 0)
}

// lineSpan is a line in the snapshot: rows i … j.
type lineSpan struct{ i, j int }

// cutLines cuts the snapshot into lines, from row i on.
func (w *engineRun) cutLines(i int) (spans []lineSpan, texts []string) {
	for i < len(w.s.Rows) {
		j, whole := w.lineEnd(i)
		if !whole {
			break
		}
		spans = append(spans, lineSpan{i, j})
		texts = append(texts, w.lineText(i, j))
		i = j + 1
	}
	return spans, texts
}

// lineBegins is a line of which the first bytes stand in the log already: there the
// log ends within what was printed again. Hash is that of its first row.
type lineBegins struct {
	Row   int64
	Hash  uint64
	Bytes int
}

// skipOld marks the lines from row i of the snapshot on that are in the log, so
// that they aren't emitted again. learn: the others will be, so that what comes again
// below them is old too. It reports whether there were any.
func (w *engineRun) skipOld(rep *reprinted, i int, learn bool) bool {
	spans, texts := w.cutLines(i)
	known := false
	for n, v := range rep.markLines(texts, learn) {
		switch {
		case v.old:
			known = true
			w.markShown(spans[n])
			if learn {
				w.noteCopy(spans[n])
			}
		case v.cut > 0:
			w.state.Begins = lineBegins{Row: w.absRow(spans[n].i), Hash: w.hashes[spans[n].i], Bytes: v.cut}
		}
	}
	return known
}

// markShown marks the rows of a line as lines already.
func (w *engineRun) markShown(sp lineSpan) {
	for k := sp.i; k <= sp.j; k++ {
		w.state.Shown[w.absRow(k)] = w.hashes[k]
	}
}

// noteCopy notes that a line was recognised by text of which some may be undecided itself.
func (w *engineRun) noteCopy(sp lineSpan) {
	if w.copies == nil {
		w.copies = map[int64]bool{}
	}
	for k := sp.i; k <= sp.j; k++ {
		w.copies[w.absRow(k)] = true
	}
}

// missesText reports whether text of the last screen that wasn't lines yet isn't in
// the snapshot any more.
func (w *engineRun) missesText(was []screenRow) bool {
	now := newReprinted(w.s.Rows)
	for _, r := range was {
		if words := wordsOf(r.text); len(words) >= gram && len(now.index[gramKey(words)]) == 0 {
			return true
		}
	}
	return false
}

// findRepainted recognises lines that a drawing program paints again where it had
// something else before, so that they aren't emitted again when they leave the
// screen. Two signs:
//
//   - The first row of the screen is another one now, though it hadn't scrolled
//     off: a tall dialog has pushed text into history, and the text is painted a
//     second time when the dialog closes.
//   - The whole screen went into history at once, and the new one begins as the
//     old one did: the program cleared it and painted it again.
//
// What follows is compared with the newest lines.
func (w *engineRun) findRepainted() error {
	s := w.s
	if !w.drawing || s.Alternate || !w.reachesBottom() || len(w.prevAbs) == 0 {
		return nil
	}
	first := w.repaintedFrom()
	if first < 0 {
		return nil
	}
	log, err := w.tail(3 * s.Height)
	if err != nil {
		return err
	}
	log = append(slices.Clone(log), w.undecided(first)...)
	w.markRepainted(first, log)
	return nil
}

// repaintedFrom is the snapshot's row from which on text may have been painted
// again; -1: there's no sign of that.
func (w *engineRun) repaintedFrom() int {
	top := w.prevTop()
	i := w.rowIndex(top)
	if i < 0 || i >= len(w.s.Rows) {
		return -1
	}
	if was := w.prevAbs[top]; was != blankHash && w.hashes[i] != blankHash && was != w.hashes[i] {
		return i
	}
	n := w.rowIndex(w.topRow())
	if w.topRow() >= w.state.Cursor && n > i && w.prevAbs[top] != blankHash && w.hashes[n] == w.prevAbs[top] {
		return n
	}
	return -1
}

// prevTop is the number of the first row of the last screen.
func (w *engineRun) prevTop() int64 {
	top := behindAll
	for abs := range w.prevAbs {
		top = min(top, abs)
	}
	return top
}

// undecided are the lines above row first that this step will emit.
func (w *engineRun) undecided(first int) []string {
	var out []string
	for i := max(0, w.rowIndex(w.state.Next)); i < first; {
		j, _ := w.lineEnd(i)
		if !w.isShown(i) {
			out = append(out, w.lineText(i, j))
		}
		i = j + 1
	}
	return out
}

// markRepainted marks the longest run of rows from first on that stands in the
// log as it is, if it's two lines with text or more.
func (w *engineRun) markRepainted(first int, log []string) {
	best := 0
	for at := range log {
		n, texts := 0, 0
		for at+n < len(log) && first+n < len(w.s.Rows) && !w.s.Wrapped[first+n] && trimRow(w.s.Rows[first+n]) == log[at+n] {
			if log[at+n] != "" {
				texts++
			}
			n++
		}
		if texts >= 2 {
			best = max(best, n)
		}
	}
	for k := first; k < first+best; k++ {
		w.state.Shown[w.absRow(k)] = w.hashes[k]
	}
}
