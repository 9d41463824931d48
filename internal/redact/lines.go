package redact

import (
	"bytes"
	"slices"
)

// Before and After are how many lines around one decide what is masked in it. Who gives
// at least so many, as far as there are, gets the same masks whatever else is given.
const (
	Before = 256
	After  = 72 // see Before
)

// LineWindow are consecutive lines of a log, of which those in the middle are masked.
type LineWindow struct {
	Before []string // lines that stand before them
	Lines  []string
	After  []string // lines that stand behind them
	// Open says that the log isn't at its end behind the last line: more may come.
	Open bool
}

// Masked is what became of a window's Lines.
type Masked struct {
	Lines []string // as many as were given
	Masks []Mask   // in order; Line is an index in Lines
	// Wait is the index of the first line that had better not be shown before the next
	// one is there, or 2 s are over, since a secret may have begun in it. Until then
	// its beginning is masked if it looks drawn at random. len(Lines): none waits.
	Wait int
}

// Lines masks lines of a log.
func (m *Masker) Lines(w LineWindow) Masked {
	first, n := len(w.Before), len(w.Lines)
	s := m.rules.Load().search(lineText(slices.Concat(w.Before, w.Lines, w.After), w.Open))
	masks := s.masks(first, first+n)
	return Masked{Lines: apply(w.Lines, masks), Masks: masks, Wait: min(max(s.waits-first, 0), n)}
}

// Line masks a text that stands alone: a title, a name, a message. It may have several
// lines.
func (m *Masker) Line(text string) string { return string(m.Text([]byte(text))) }

// Text masks a whole text, such as a file: nothing comes before it or behind. It has as
// many lines as before. Without a secret it's data itself; data isn't changed.
func (m *Masker) Text(data []byte) []byte {
	masks := m.Find(data)
	if len(masks) == 0 {
		return data
	}
	out := make([]byte, 0, len(data)+16*len(masks))
	at, line, start := 0, 0, 0
	for _, k := range masks {
		for ; line < k.Line; line++ {
			start += bytes.IndexByte(data[start:], '\n') + 1
		}
		out = append(append(out, data[at:start+k.From]...), k.Text()...)
		at = start + k.To
	}
	return append(out, data[at:]...)
}

// Find returns the masks that Text would set.
func (m *Masker) Find(data []byte) []Mask {
	t := wholeText(data)
	return m.rules.Load().search(t).masks(0, t.len())
}
