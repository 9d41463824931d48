package render

import (
	"bytes"
	"sort"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
)

// MessageForm is how a platform takes a message.
type MessageForm struct {
	// Size is how much of a message a text takes, and Max how much there is. Any text
	// of one rune must fit.
	Size func(MessageText) int
	Max  int
}

// Fits says whether a text can be one message.
func (f MessageForm) Fits(t MessageText) bool { return f.Size(t) <= f.Max }

// Next returns what the next message shows of parts, from a place on, and where the
// one after it begins. done says that the message shows all there is: then it may be
// changed when more comes. Otherwise it's complete.
//
// The text is blank if there's nothing to see, and then done is true.
func (f MessageForm) Next(parts []Part, from TextPosition) (t MessageText, next TextPosition, done bool) {
	for {
		v := newView(parts, inSource(parts, from))
		ends := f.window(v)
		n := most(len(ends), f.guess(v, ends), func(n int) bool { return f.Fits(v.until(ends[n-1])) })
		switch {
		case n < len(ends):
			next = f.cut(v, ends[n])
		case n > 0:
			next = inSource(v.parts, ends[n-1])
		default:
			next = v.from
		}
		done = next.Part >= len(parts)
		if t = v.until(next); done || !t.Blank() {
			return t, next, done
		}
		from = next
	}
}

// perUnit is how many bytes of source one message is made of at most, for each unit
// of its room: so that the work doesn't depend on how much there is. Only what's
// hardly shown takes as many: empty lines, long targets of links.
const perUnit = 6

// window returns where the lines end that are tried for a message. A line that's
// longer than all of the window ends with it.
func (f MessageForm) window(v *view) (ends []TextPosition) {
	left := f.Max * perUnit
	for at := v.from; at.Part < len(v.parts) && left > 0; at = inSource(v.parts, at) {
		s := v.parts[at.Part].Source
		n := len(firstLine(s[at.Byte:]))
		if n > left {
			n = max(runeStart(s, at.Byte+left)-at.Byte, 1)
		}
		at.Byte += n
		left -= n
		ends = append(ends, at)
	}
	return ends
}

// guess is about how many lines fit: text takes about as much as its source.
func (f MessageForm) guess(v *view, ends []TextPosition) int {
	left, from := f.Max, v.from
	for i, to := range ends {
		if from.Part != to.Part {
			from = TextPosition{to.Part, v.parts[to.Part].From}
		}
		if left -= to.Byte - from.Byte; left < 0 {
			return i
		}
		from = to
	}
	return len(ends)
}

// most returns the largest n up to a limit that's fine, where what's larger than one
// that isn't fine isn't either. It tries those around a guess first. Should that not
// hold (a mark that's closed further down may make a text shorter) it returns one
// that's fine all the same.
func most(limit, guess int, fine func(n int) bool) int {
	low, high := 0, limit+1 // fine, and not fine
	n := min(max(guess, 1), limit)
	for step := 1 + limit/64; low < n && n < high; step *= 2 {
		if fine(n) {
			low = n
			n = min(n+step, limit)
		} else {
			high = n
			n = max(n-step, 1)
		}
		if low > 0 && high <= limit {
			break
		}
	}
	return low + sort.Search(high-low-1, func(i int) bool { return !fine(low + i + 1) })
}

// cut is the place where a message ends that's too long if it goes on to over.
func (f MessageForm) cut(v *view, over TextPosition) TextPosition {
	t := v.until(over)
	cuts := t.cuts(v.from)
	for len(cuts) > 0 {
		n := sort.Search(len(cuts), func(i int) bool { return !f.Fits(t.until(cuts[i].at)) })
		cuts = cuts[:max(n, 1)]
		i := best(cuts)
		// What's known of the text behind the end is less now, which may make the
		// message longer.
		if f.Fits(v.until(cuts[i].place)) {
			return cuts[i].place
		}
		cuts = cuts[:i]
	}
	return f.divide(v, over)
}

// divide is where a message ends whose first character, as people see it, is too
// long for it: between two runes, and behind at least one.
func (f MessageForm) divide(v *view, over TextPosition) TextPosition {
	s := v.parts[v.from.Part].Source[v.from.Byte:]
	if over.Part == v.from.Part {
		s = s[:over.Byte-v.from.Byte]
	}
	var ends []TextPosition
	for i, r := range s {
		ends = append(ends, TextPosition{v.from.Part, v.from.Byte + i + utf8.RuneLen(r)})
	}
	n := most(len(ends), f.Max, func(n int) bool { return f.Fits(v.until(ends[n-1])) })
	return ends[max(n, 1)-1]
}

// cutPoint is where a text can be cut.
type cutPoint struct {
	at    int          // bytes before it
	place TextPosition // where what follows comes from
	rank  rank
}

// rank is how good a place is for a cut.
type rank uint8

const (
	betweenCharacters rank = iota
	betweenWords
	betweenLines
	betweenBlocks
)

// cuts returns where a text that begins at a place can be cut, in order: between
// grapheme clusters, where what follows comes from a later place than what stands
// before.
func (t MessageText) cuts(from TextPosition) []cutPoint {
	var cuts []cutPoint
	s := t.String()
	c := runCursor{runs: t.runs}
	last := from
	for it := graphemes.FromString(s); it.Next(); {
		at := it.Start()
		place, ok := c.move(at)
		if at == 0 || !ok || !last.Before(place) {
			continue
		}
		cuts = append(cuts, cutPoint{at, place, c.rank(s[:at])})
		last = place
	}
	return cuts
}

// best is the index of the best place for a cut among those that a message has room
// for: the last of the best rank behind its first third.
func best(cuts []cutPoint) int {
	last := len(cuts) - 1
	i := last
	for j := last; j >= 0 && cuts[j].at >= cuts[last].at/3; j-- {
		if cuts[j].rank > cuts[i].rank {
			i = j
		}
	}
	return i
}

// runCursor walks through the runs of a text.
type runCursor struct {
	runs  []Run
	index int
	start int // bytes before the run
}

// move goes to a byte, which is none before that of the last call, and returns where
// it comes from. ok is false within what isn't divided.
func (c *runCursor) move(at int) (_ TextPosition, ok bool) {
	for at >= c.start+len(c.runs[c.index].Text) {
		c.start += len(c.runs[c.index].Text)
		c.index++
	}
	r := c.runs[c.index]
	if r.exact {
		r.at.Byte += at - c.start
		return r.at, true
	}
	return r.at, at == c.start
}

// rank rates a cut where the cursor is. before is the text before it.
func (c *runCursor) rank(before string) rank {
	r := c.runs[c.index]
	switch {
	case r.glue && strings.HasPrefix(r.Text, "\n"):
		return c.lineRank()
	case endsWord(before):
		return betweenWords
	default:
		return betweenCharacters
	}
}

// lineRank rates a cut before line breaks. A heading isn't left behind alone.
func (c *runCursor) lineRank() rank {
	r, before := c.runs[c.index], c.runs[c.index-1]
	switch {
	case !r.Style.Pre && before.Style.Pre:
		return betweenBlocks
	case c.behindHeading(), strings.HasSuffix(before.Text, "─"): // a table's head
		return betweenWords
	case !r.Style.Pre && len(r.Text) > 1:
		return betweenBlocks
	default:
		return betweenLines
	}
}

// behindHeading says whether the line before the cursor is bold from start to end,
// and the next isn't.
func (c *runCursor) behindHeading() bool {
	if c.runs[c.index].Style.Bold {
		return false
	}
	for i := c.index - 1; i >= 0 && !strings.Contains(c.runs[i].Text, "\n"); i-- {
		if !c.runs[i].Style.Bold && !c.runs[i].Style.Code {
			return false
		}
	}
	return c.runs[c.index-1].Style.Bold
}

// endsWord says whether a word ends with a text: a blank, or a mark after which
// Chinese and Japanese may be broken.
func endsWord(s string) bool {
	for _, mark := range []string{" ", "、", "。", "，", "；", "：", "！", "？"} {
		if strings.HasSuffix(s, mark) {
			return true
		}
	}
	return false
}

// Frame is a block of code or a table of an answer: its lines From to To-1, counted from 0,
// with the fences of code.
type Frame struct{ From, To int }

// Frames returns an answer's blocks of code and its tables, in order. The source is all of the
// answer up to some line. There are none in a text that isn't read as Markdown.
func Frames(source string) []Frame {
	if !parsable(source) {
		return nil
	}
	src := []byte(source)
	line := func(at int) int { return bytes.Count(src[:at], []byte("\n")) }
	var all []Frame
	_ = ast.Walk(skeletons.Parse(text.NewReader(src)), func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering || n.Type() != ast.TypeBlock {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.CodeBlock:
			if rows := n.Lines(); rows.Len() > 0 {
				all = append(all, Frame{line(rows.At(0).Start), line(rows.At(rows.Len()-1).Start) + 1})
			}
		case *ast.FencedCodeBlock:
			if rows := n.Lines(); rows.Len() > 0 {
				f := Frame{line(rows.At(0).Start) - 1, line(rows.At(rows.Len()-1).Start) + 1}
				all = append(all, f.fenced(src))
			}
		case *east.Table:
			head, last := line(max(n.FirstChild().Pos(), 0)), line(max(n.LastChild().Pos(), 0))
			all = append(all, Frame{head, max(head+2, last+1)}) // below the head stands a rule
		default:
			return ast.WalkContinue, nil
		}
		return ast.WalkSkipChildren, nil
	})
	return all
}

// fenced is the block of code with the fence that closes it, if there's one.
func (f Frame) fenced(src []byte) Frame {
	rows := bytes.Split(src, []byte("\n"))
	if f.To < len(rows) {
		row := bytes.TrimLeft(rows[f.To], " \t>")
		if bytes.HasPrefix(row, []byte("```")) || bytes.HasPrefix(row, []byte("~~~")) {
			f.To++
		}
	}
	return f
}
