package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/internal/recording/format"
	"github.com/panebridge/panebridge/sessions"
)

// FrameStep is the time between two frames.
const FrameStep = format.FrameStep

// Frame is what tmux showed at one moment of a recording.
type Frame struct {
	At time.Duration // since the start; a multiple of FrameStep
	// Snapshot holds the visible screen: Rows are its rows, and First equals
	// HistorySize. Frames share rows: don't change them. Without Server, PID and TTY.
	Snapshot sessions.Snapshot
}

// FrameChange is one frame as it's stored: the state of the pane and the rows
// that differ from the frame before.
type FrameChange = format.FrameChange

// Frames are what a real tmux showed of the recording, from its start to its
// end.
func (r *Recording) Frames() ([]Frame, error) {
	b, err := r.File("frames.json")
	if err != nil {
		return nil, err
	}
	events, err := r.Events()
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	var total int
	if err := d.Decode(&total); err != nil {
		return nil, fmt.Errorf("read frames of recording %s: %w", r.Name, err)
	}
	out := make([]Frame, 0, total)
	var s sessions.Snapshot
	more := func(until int) {
		for len(out) < until {
			at := time.Duration(len(out)) * FrameStep
			s.At = r.Epoch.Add(at)
			for len(events) > 0 && events[0].At <= at {
				s.Activity = r.Epoch.Add(events[0].At).Unix()
				events = events[1:]
			}
			out = append(out, Frame{at, s})
		}
	}
	for d.More() {
		var c FrameChange
		if err := d.Decode(&c); err != nil {
			return nil, fmt.Errorf("read frames of recording %s: %w", r.Name, err)
		}
		more(c.N)
		s = c.Apply(s)
	}
	more(total)
	return out, nil
}

// Change is what's stored of the n-th frame now after the frame last.
func Change(n int, last, now *sessions.Snapshot) FrameChange { return format.Change(n, last, now) }

// Same says whether two snapshots show the same.
func Same(a, b *sessions.Snapshot) bool { return format.Same(a, b) }
