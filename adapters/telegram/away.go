package telegram

import (
	"context"
	"fmt"
	"log/slog"
	"time"
)

const (
	// keptFor is for how long Telegram keeps updates that nobody took
	// (core.telegram.org/bots/api#getting-updates).
	keptFor = 24 * time.Hour
	// noteReadEvery is how often it's noted at most that updates are read: by so much an absence
	// may seem longer than it was.
	noteReadEvery = 10 * time.Minute
	// noteRead is when updates were read last.
	noteRead = "read"
)

// Absence says who hears of it that nobody read updates for longer than Telegram keeps them. The
// zero Absence: nobody does.
type Absence struct {
	// Notes remember over restarts when updates were read last.
	Notes Notes
	// Expired is told between when updates are gone, once for each absence that was too long, and
	// of the same one again after an error. It returns soon.
	Expired func(from, to time.Time) error
}

// away finds such absences. It's for one goroutine.
type away struct {
	Absence
	log *slog.Logger

	last  time.Time // when they were read last, by the calendar; zero: not asked yet
	noted time.Time // what the note says; zero: there's none
}

// read takes in that updates have just been read.
func (a *away) read(ctx context.Context) {
	if a.Notes == nil {
		return
	}
	now := time.Now().Round(0) // a machine that slept was away
	if a.last.IsZero() {
		said, err := a.Notes.Note(ctx, noteRead)
		if err != nil {
			a.warn(ctx, err)
			return
		}
		a.noted, _ = time.Parse(time.RFC3339, said) // another form: as if there were none
		a.last = a.noted
	}
	gone := now.Add(-keptFor)
	if !a.last.IsZero() && a.last.Before(gone) {
		a.log.WarnContext(ctx, "nobody has read Telegram's updates for longer than it keeps them", "from", a.last, "to", gone)
		if err := a.Expired(a.last, gone); err != nil {
			a.warn(ctx, fmt.Errorf("say that updates are gone: %w", err))
			return
		}
		a.noted = time.Time{}
	}
	a.last = now
	if now.Sub(a.noted) < noteReadEvery {
		return
	}
	if err := a.Notes.PutNote(ctx, noteRead, now.Format(time.RFC3339)); err != nil {
		a.warn(ctx, err)
		return
	}
	a.noted = now
}

func (a *away) warn(ctx context.Context, err error) {
	if ctx.Err() == nil {
		a.log.WarnContext(ctx, "noting when Telegram's updates were read failed; it's tried again", "err", err)
	}
}
