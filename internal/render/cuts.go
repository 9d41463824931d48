package render

import (
	"strings"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

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
