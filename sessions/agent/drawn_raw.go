package agent

import (
	"slices"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// rawCalls are what a program's transcript says of calls that it may ask about now: whether one has
// control characters, which some programs draw as what they do, so that the screen shows something
// else than what runs.
type rawCalls struct {
	known bool     // all of a transcript was read
	Open  []string `json:"open,omitempty"` // the ids of those that have some, and no result yet
}

// maxRaw bounds those that are remembered.
const maxRaw = 32

// takeRecords takes in what the transcript has since. All says that there's no more of it.
func (r *rawCalls) takeRecords(records []transcript.Record, all bool) {
	for _, one := range records {
		switch {
		case one.Kind == transcript.User || one.Kind == transcript.TurnEnd:
			r.Open = nil
		case one.Kind == transcript.ToolResult:
			r.Open = slices.DeleteFunc(r.Open, func(id string) bool { return id == one.ID })
		case one.Raw && len(r.Open) < maxRaw:
			r.Open = append(r.Open, one.ID)
		}
	}
	r.known = all
}

// doubtDialog has only refusals be taken of a dialog that may be drawn otherwise than what runs, where its
// record isn't that of a call with control characters.
func (r *rawCalls) doubtDialog(d *sessions.Dialog, waiting calls) {
	recorded := slices.ContainsFunc(waiting, func(one call) bool { return one.sum == d.Call && one.odd })
	if recorded || r.isPlain(waiting) {
		return
	}
	d.Unseen = true
	d.Disputed = d.Disputed || d.Call != ""
}

// isPlain reports whether what's on the screen is surely drawn as it is: no call that may be asked about
// has control characters. It's the transcript that says so, or where that isn't known, the calls
// that hooks told of.
func (r *rawCalls) isPlain(waiting calls) bool {
	odd := slices.ContainsFunc(waiting, func(one call) bool { return !one.gone && (one.odd || one.lost) })
	told := slices.ContainsFunc(waiting, func(one call) bool { return !one.gone })
	return len(r.Open) == 0 && !odd && (r.known || told)
}

// takeRaw takes in what the transcript has since the last look.
func (o *Observer) takeRaw(records []transcript.Record) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.raw.takeRecords(records, o.program.reader != nil && o.program.all)
}

// rawCalls are those that are to be kept.
func (o *Observer) rawCalls() rawCalls {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	kept := o.known.raw
	kept.Open = slices.Clone(kept.Open)
	return kept
}
