package format

import (
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// FrameStep is the time between two frames.
const FrameStep = 100 * time.Millisecond

// FrameChange is one frame as it's stored: the state of the pane and the rows
// that differ from the frame before.
type FrameChange struct {
	N         int            `json:"n"` // its number from 0; those left out are as the one before
	Width     int            `json:"w"`
	Height    int            `json:"h"`
	History   int            `json:"hist"`
	Limit     int            `json:"limit"`
	X         int            `json:"x"`
	Y         int            `json:"y"`
	Visible   bool           `json:"vis,omitempty"`
	Alternate bool           `json:"alt,omitempty"`
	Title     string         `json:"title"`
	Rows      map[int]string `json:"rows,omitempty"`
	Wrapped   []int          `json:"wrap,omitempty"` // numbers of the rows that go on in the next
}

// Apply is the snapshot after a change.
func (c *FrameChange) Apply(s sessions.Snapshot) sessions.Snapshot {
	s.Pane, s.Width, s.Height = "%0", c.Width, c.Height
	s.HistorySize, s.HistoryLimit, s.First = c.History, c.Limit, c.History
	s.CursorX, s.CursorY, s.CursorVisible = c.X, c.Y, c.Visible
	s.Alternate, s.Title, s.DeadStatus = c.Alternate, c.Title, -1
	rows := make([]string, c.Height)
	copy(rows, s.Rows)
	for i, text := range c.Rows {
		rows[i] = text
	}
	s.Rows, s.Wrapped = rows, make([]bool, c.Height)
	for _, i := range c.Wrapped {
		s.Wrapped[i] = true
	}
	return s
}

// Change is what's stored of the n-th frame now after the frame last.
func Change(n int, last, now *sessions.Snapshot) FrameChange {
	c := FrameChange{
		N: n, Width: now.Width, Height: now.Height, History: now.HistorySize, Limit: now.HistoryLimit,
		X: now.CursorX, Y: now.CursorY, Visible: now.CursorVisible, Alternate: now.Alternate, Title: now.Title,
		Rows: map[int]string{},
	}
	for i, row := range now.Rows {
		if i >= len(last.Rows) || last.Rows[i] != row {
			c.Rows[i] = row
		}
		if i < len(now.Wrapped) && now.Wrapped[i] {
			c.Wrapped = append(c.Wrapped, i)
		}
	}
	return c
}

// Same says whether two snapshots show the same.
func Same(a, b *sessions.Snapshot) bool {
	return a.Width == b.Width && a.Height == b.Height && a.HistorySize == b.HistorySize &&
		a.CursorX == b.CursorX && a.CursorY == b.CursorY && a.CursorVisible == b.CursorVisible &&
		a.Alternate == b.Alternate && a.Title == b.Title &&
		slices.Equal(a.Rows, b.Rows) && slices.Equal(a.Wrapped, b.Wrapped)
}
