package regular

import "bytes"

// Beginning is a writer that keeps the first bytes of what's written to it, and drops the rest: what a program prints that
// somebody else has chosen has no end that's known. It takes everything, so that the program isn't held up.
type Beginning struct {
	most int
	over func()
	kept bytes.Buffer
	more bool
}

// NewBeginning makes one that keeps so many bytes. over is called once, by the first write that has more; nil: nobody is told.
func NewBeginning(most int, over func()) *Beginning { return &Beginning{most: most, over: over} }

// Write implements io.Writer. It takes all of p, and returns no error.
func (b *Beginning) Write(p []byte) (int, error) {
	room := b.most - b.kept.Len()
	b.kept.Write(p[:min(room, len(p))])
	if len(p) > room && !b.more {
		if b.more = true; b.over != nil {
			b.over()
		}
	}
	return len(p), nil
}

// String is what was kept.
func (b *Beginning) String() string { return b.kept.String() }

// HasMore reports whether something was dropped.
func (b *Beginning) HasMore() bool { return b.more }
