package adapters

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// maskedLog is a Log whose secrets are masked: nothing else is rendered for chats.
//
// What's masked in a line depends on its neighbours, and on nothing else: rendered
// again, it shows the same. While a secret may have begun at the log's end, its line
// waits for the next one, at most waitFor.
type maskedLog struct {
	Log
	masker *redact.Masker
}

// MaskedLog returns a log without its secrets, as it's rendered for chats.
func MaskedLog(l Log, m *redact.Masker) Log { return &maskedLog{Log: l, masker: m} }

// waitFor is how long a line waits for the next one in which a secret may go on.
const waitFor = 2 * time.Second

// Read implements Log.
func (l maskedLog) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	out, err := l.Log.Read(ctx, id, from, limit)
	if err != nil || len(out.Lines) == 0 {
		return out, err
	}
	window, err := WindowOf(ctx, l.Log, id, out.Lines)
	if err != nil {
		return out, err
	}
	masked := l.masker.Lines(window)
	if len(masked.Masks) == 0 {
		return out, nil
	}
	out.Lines = slices.Clone(out.Lines)
	for i := range out.Lines {
		out.Lines[i].Text = masked.Lines[i]
	}
	return out, nil
}

// Progress implements Log.
func (l maskedLog) Progress(ctx context.Context, id sessions.ID) (Progress, error) {
	p, err := l.Log.Progress(ctx, id)
	p.Failed = l.masker.Line(p.Failed)
	return p, err
}

// Turns implements Log.
func (l maskedLog) Turns(ctx context.Context, id sessions.ID, from int64, limit int) ([]sessions.Turn, error) {
	all, err := l.Log.Turns(ctx, id, from, limit)
	for i := range all {
		all[i].Failed = l.masker.Line(all[i].Failed)
	}
	return all, err
}

// lineReader is Log.Read.
type lineReader interface {
	Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error)
}

// WindowOf returns consecutive lines of a log, at least one, with the lines around them
// that decide what's masked in them; with an error, those that could be read.
func WindowOf(ctx context.Context, log lineReader, id sessions.ID, lines []sessions.Line) (redact.Window, error) {
	w := redact.Window{Lines: textsOf(lines), Open: true}
	before, err := linesBefore(ctx, log, id, lines[0].N)
	w.Before = before
	after, readErr := log.Read(ctx, id, lines[len(lines)-1].N+1, redact.After)
	if readErr == nil {
		w.After, w.Open = textsOf(after.Lines), len(after.Lines) < redact.After
	}
	return w, errors.Join(err, readErr)
}

// waiting returns the first line that isn't to be shown before the next one is there,
// and until when; 0: none waits.
func (l maskedLog) waiting(ctx context.Context, id sessions.ID, head int64, now time.Time) (line int64, until time.Time, err error) {
	out, err := l.Log.Read(ctx, id, max(1, head-redact.After+1), redact.After)
	if err != nil || len(out.Lines) == 0 {
		return 0, until, err
	}
	newest := out.Lines[len(out.Lines)-1]
	if until = newest.At.Add(waitFor); !until.After(now) {
		return 0, until, nil
	}
	before, err := linesBefore(ctx, l.Log, id, out.Lines[0].N)
	if err != nil {
		return 0, until, err
	}
	masked := l.masker.Lines(redact.Window{Before: before, Lines: textsOf(out.Lines), Open: true})
	if masked.Wait == len(out.Lines) {
		return 0, until, nil
	}
	first := out.Lines[masked.Wait]
	until = first.At.Add(waitFor)
	return first.N, until, nil
}

// rows masks rows of a screen that stand below the log's last line.
func (l maskedLog) rows(ctx context.Context, id sessions.ID, head int64, rows []string) ([]string, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	before, err := linesBefore(ctx, l.Log, id, head+1)
	if err != nil {
		return nil, err
	}
	return l.masker.Rows(before, rows), nil
}

// region masks a live region that stands below the log's last line. Rows of text that's
// being written aren't part of it from where a secret may have begun.
func (l maskedLog) region(ctx context.Context, id sessions.ID, head int64, r region) (_ region, err error) {
	if r.rows, err = l.rows(ctx, id, head, r.rows); err != nil {
		return r, err
	}
	r.status = l.masker.Line(r.status)
	if len(r.writing) == 0 {
		return r, nil
	}
	before, err := linesBefore(ctx, l.Log, id, head+1)
	if err != nil {
		return r, err
	}
	masked := l.masker.Lines(redact.Window{Before: before, Lines: r.writing, Open: true})
	r.writing = trimmed(masked.Lines[:masked.Wait])
	return r, nil
}

// hide has lines wait in which a secret may have begun, unless they've been sent before.
// It's asked for when the sight's progress and document are known.
func (d *Deliverer) hide(ctx context.Context, s *sight) (err error) {
	if d.mask == nil {
		return nil
	}
	s.session = d.named(s.session)
	if s.ended() || s.doc.Intent != nil {
		return nil
	}
	line, until, err := d.mask.waiting(ctx, s.binding.Session, s.progress.Head, s.now)
	if err == nil && line > 0 && until.After(s.now) {
		s.held, s.until, s.progress.Head = line, until, line-1
	}
	return err
}

// named is a session as chats may know it: its name has no secret.
func (d *Deliverer) named(s sessions.Session) sessions.Session {
	if d.mask != nil {
		s.Name = d.mask.masker.Line(s.Name)
	}
	return s
}

// masked is a post without secrets.
func masked(m *redact.Masker, p Post) Post {
	if m == nil {
		return p
	}
	if !p.Shown {
		p.Text, p.Numbered = maskedMarkdown(m, p.Text), maskedMarkdown(m, p.Numbered)
	}
	if p.File != nil {
		p.File = &File{Name: m.Line(p.File.Name), Data: maskedData(m, p.File.Data)}
	}
	if len(p.Menus) > 0 {
		menus := slices.Clone(p.Menus)
		for i := range menus {
			menus[i].Hint, menus[i].Options = m.Line(menus[i].Hint), slices.Clone(menus[i].Options)
			for j, o := range menus[i].Options {
				menus[i].Options[j].Label, menus[i].Options[j].Detail = m.Line(o.Label), m.Line(o.Detail)
			}
		}
		p.Menus = menus
	}
	if len(p.Buttons) > 0 {
		rows := make([][]Button, len(p.Buttons))
		for i, row := range p.Buttons {
			rows[i] = slices.Clone(row)
			for j := range rows[i] {
				rows[i][j].Label = m.Line(rows[i][j].Label)
			}
		}
		p.Buttons = rows
	}
	return p
}

// linesBefore are the lines before line n that decide what's masked from there on.
func linesBefore(ctx context.Context, log lineReader, id sessions.ID, n int64) ([]string, error) {
	from := max(1, n-redact.Before)
	if from >= n {
		return nil, nil
	}
	out, err := log.Read(ctx, id, from, int(n-from))
	lines := out.Lines
	for len(lines) > 0 && lines[len(lines)-1].N >= n { // earlier ones were dropped
		lines = lines[:len(lines)-1]
	}
	return textsOf(lines), err
}

func textsOf(lines []sessions.Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}
