package adapters

import (
	"context"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// region is what a session's live region shows that's worth showing.
type region struct {
	rows []string // of its screen
	// known says that the program is, and that what's below says more than rows do.
	known   bool
	writing []string // rows of text that's being written; its lines aren't in the log yet
	status  string   // what the program is doing
}

// showing says whether there's anything to see of it below a stream.
func (r region) showing() bool {
	if r.known {
		return len(r.writing) > 0 || r.status != ""
	}
	return len(r.rows) > 0
}

// alone is a page that shows nothing else.
func (r region) alone() Page {
	if r.known {
		return Page{Writing: r.writing, Status: r.status}
	}
	return Page{Live: r.rows}
}

func regionOf(l *sessions.Live) region {
	if l == nil {
		return region{}
	}
	return region{rows: trimmed(l.Rows), known: l.Known, writing: trimmed(l.Writing), status: strings.TrimSpace(l.Status)}
}

// trimmed are rows without empty ones at both ends.
func trimmed(rows []string) []string {
	for len(rows) > 0 && strings.TrimSpace(rows[0]) == "" {
		rows = rows[1:]
	}
	for len(rows) > 0 && strings.TrimSpace(rows[len(rows)-1]) == "" {
		rows = rows[:len(rows)-1]
	}
	return rows
}

// region is that of a session whose log ends with line head. While it's older than the
// log, what it shows of a text that's being written may be in the log already, and isn't
// part of it.
func (d *Deliverer) region(ctx context.Context, id sessions.ID, head int64) (region, error) {
	old := d.opt.Heard != nil && d.opt.Heard(id) < head // asked first: the region is as new as that, or newer
	r := regionOf(d.opt.Screens.Live(id))
	if old {
		r.writing = nil
	}
	if d.mask == nil {
		return r, nil
	}
	return d.mask.region(ctx, id, head, r)
}

// change is how a live region changed.
type change uint8

const (
	unchanged change = iota
	moved            // it looks as before below a stream: of a known program something else changed
	redrawn          // it looks otherwise
	written          // it has other text that will be lines
)

// glimpse is what's kept of a live region, to see how it changes.
type glimpse struct {
	known           bool
	writing, status string
}

// hears takes in a live region.
func (w *watched) hears(l *sessions.Live) change {
	if l == nil {
		return unchanged
	}
	now, was := &glimpse{l.Known, strings.Join(l.Writing, "\n"), l.Status}, glimpse{}
	if p := w.seen.Swap(now); p != nil {
		was = *p
	}
	switch {
	case now.known && now.writing != "" && now.writing != was.writing:
		return written
	case !now.known || *now != was:
		return redrawn
	default:
		return moved
	}
}
