package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions/transcript"
)

// How much of a transcript a look takes in at once, about.
const (
	readAtOnce      = 500 // records
	readAtOnceBytes = 1 << 20
)

// owed says since when a program has said something that no transcript is known to
// have: its pane will tell it.
type owed struct {
	Since time.Time `json:"since,omitzero"`
	Turn  bool      `json:"turn,omitempty"` // a turn began or ended since
	Ended time.Time `json:"ended,omitzero"` // when that turn ended
}

// newRecords are what the transcript has since the last look, of one turn at most: up to
// the end of a turn, or to what the person asked next.
func (o *Observer) newRecords(ctx context.Context) ([]transcript.Record, error) {
	p := o.program
	if p.reader == nil {
		return nil, nil
	}
	out := p.next
	p.next, p.cursor, p.all = nil, nil, false
	for size := 0; len(out) < readAtOnce && size < readAtOnceBytes && !endsTurn(out); {
		var before []byte
		if len(out) > 0 {
			before = p.reader.Cursor()
		}
		records, err := p.reader.Read(ctx, 1)
		if errors.Is(err, transcript.ErrMore) {
			break
		}
		if err != nil && len(out) == 0 {
			return nil, fmt.Errorf("read the transcript: %w", err)
		}
		if err != nil || len(records) == 0 { // an error comes again
			p.all = err == nil
			break
		}
		records = slices.DeleteFunc(records, p.isOld)
		if len(out) > 0 && len(records) > 0 && records[0].Kind == transcript.User {
			p.next, p.cursor = records, before
			break
		}
		for _, r := range records {
			size += len(r.Text) + len(r.Args) + len(r.Whole) + len(r.Diff)
		}
		out = append(out, records...)
	}
	return out, nil
}

// withoutHelpers are the records of the agent's own turns.
func withoutHelpers(records []transcript.Record) []transcript.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r transcript.Record) bool { return r.Kind == transcript.Helper })
}

func endsTurn(records []transcript.Record) bool {
	return slices.ContainsFunc(records, func(r transcript.Record) bool { return r.Kind == transcript.TurnEnd })
}

// cursorTold is the cursor behind what was told.
func (p *agentRun) cursorTold() []byte {
	if len(p.next) > 0 {
		return p.cursor
	}
	return p.reader.Cursor()
}

// isOld reports whether a record is told already: it was there before the program was
// started, of a conversation that it goes on with, or the pane has told it.
func (p *agentRun) isOld(r transcript.Record) bool {
	if r.At.IsZero() {
		return false
	}
	return r.At.Before(p.from) || !p.process.Started.IsZero() && r.At.Before(p.process.Started.Add(-startSlack))
}

// past are places in transcripts up to which they're told, the last left last: a
// program that was suspended may come back, and so may a conversation.
type past []left

type left struct {
	PID     int             `json:"pid,omitempty"`
	Started time.Time       `json:"started,omitzero"`
	Ref     transcript.Ref  `json:"ref"`
	Cursor  json.RawMessage `json:"cursor"`
	Last    time.Time       `json:"last,omitzero"`  // as agentRun.last
	Until   time.Time       `json:"until,omitzero"` // as agentRun.until
}

const maxPast = 4 // some 1 KB each

// leaveProgram remembers how far a program's transcript was told.
func (t *past) leaveProgram(p *agentRun) {
	l := left{PID: p.process.PID, Started: p.process.Started, Ref: p.reader.Ref(), Cursor: p.cursorTold(), Last: p.last, Until: p.until}
	kept := slices.DeleteFunc(slices.Clone(*t), func(was left) bool { return sameRef(was.Ref, l.Ref) })
	kept = append(kept, l)
	*t = kept[max(0, len(kept)-maxPast):]
}

// leftAt is where a transcript was left; nil: it wasn't read yet.
func (t past) leftAt(ref transcript.Ref) *left {
	for i := range t {
		if sameRef(t[i].Ref, ref) {
			return &t[i]
		}
	}
	return nil
}

// toldUntil is until when transcripts were told: a new run of a program may go on with a copy of
// what an earlier one said. Zero: there was no earlier run.
func (t past) toldUntil() (until time.Time) {
	for _, l := range t {
		if l.Last.After(until) {
			until = l.Last
		}
	}
	return until
}

// leftBy is what a process read last; nil: it's none that was here.
func (t past) leftBy(p Process) *left {
	for i, l := range slices.Backward(t) {
		if l.PID == p.PID && l.Started.Equal(p.Started) {
			return &t[i]
		}
	}
	return nil
}
