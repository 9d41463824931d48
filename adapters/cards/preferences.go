package cards

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Preference is how a place, or one session in it, wants to be called. The zero
// value is what they have who asked for nothing.
type Preference struct {
	Place   adapters.Target
	Session sessions.ID // "": all of the place
	// MutedUntil is until when nothing rings; Forever: until somebody changes it.
	MutedUntil time.Time
	// Quiet hours: from and to are times of day, since midnight in Zone. Nothing rings
	// from From until To, which may be on the next day. The same: there are none.
	From, To time.Duration
	Zone     string // as in the IANA database: "Europe/Berlin"; "": the daemon's own
}

// Forever is a time that doesn't come: the last year that nanoseconds count up to.
var Forever = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC) //nolint:gochecknoglobals // a constant, but for its type

// PreferenceStore keeps preferences.
type PreferenceStore interface {
	Preferences(ctx context.Context) ([]Preference, error)
	// PutPreference inserts or replaces that of a place and session.
	PutPreference(ctx context.Context, p Preference) error
}

type preferenceKey struct {
	place   adapters.Target
	session sessions.ID
}

// preferences are those in the store.
type preferences struct {
	mu  sync.RWMutex
	all map[preferenceKey]Preference
}

func (k *Clerk) loadPreferences(ctx context.Context) error {
	list, err := k.Store.Preferences(ctx)
	if err != nil {
		return fmt.Errorf("load preferences: %w", err)
	}
	all := map[preferenceKey]Preference{}
	for _, p := range list {
		all[preferenceKey{p.Place, p.Session}] = p
	}
	k.preferences.mu.Lock()
	defer k.preferences.mu.Unlock()
	k.preferences.all = all
	return nil
}

// Preference returns how a place wants to be called, or a session in it.
func (k *Clerk) Preference(place adapters.Target, session sessions.ID) Preference {
	k.preferences.mu.RLock()
	defer k.preferences.mu.RUnlock()
	if p, ok := k.preferences.all[preferenceKey{place, session}]; ok {
		return p
	}
	return Preference{Place: place, Session: session}
}

// SetPreference replaces how a place wants to be called, or a session in it.
func (k *Clerk) SetPreference(ctx context.Context, p Preference) error {
	const day = 24 * time.Hour
	if p.From < 0 || p.From >= day || p.To < 0 || p.To >= day {
		return fmt.Errorf("%w quiet hours: write them as times of day, 22:00 to 07:00", sessions.ErrInvalid)
	}
	if _, err := zone(p.Zone); err != nil {
		return fmt.Errorf("%w time zone %q: write it as in Europe/Berlin", sessions.ErrInvalid, p.Zone)
	}
	if err := k.Store.PutPreference(ctx, p); err != nil {
		return fmt.Errorf("keep a preference: %w", err)
	}
	k.preferences.mu.Lock()
	k.preferences.all[preferenceKey{p.Place, p.Session}] = p
	k.preferences.mu.Unlock()
	k.reconciler.lookSoon()
	return nil
}

func zone(name string) (*time.Location, error) {
	if name == "" {
		return time.Local, nil
	}
	return time.LoadLocation(name)
}

// Quiet says whether nothing of a session may ring in a place now: because the
// session is muted there, or the thread, or the whole chat, or one of them has quiet
// hours. It returns at once.
func (k *Clerk) Quiet(place adapters.Target, session sessions.ID, now time.Time) bool {
	_, quiet := k.quietBy(place, session, now)
	return quiet
}

// quietBy is Quiet, with the widest place whose preference it is.
func (k *Clerk) quietBy(place adapters.Target, session sessions.ID, now time.Time) (adapters.Target, bool) {
	for _, at := range [...]preferenceKey{{place.WholeChat(), ""}, {place.WholeChat(), session}, {place, ""}, {place, session}} {
		if k.Preference(at.place, at.session).quiet(now) {
			return at.place, true
		}
	}
	return adapters.Target{}, false
}

func (p Preference) quiet(now time.Time) bool {
	if now.Before(p.MutedUntil) {
		return true
	}
	if p.From == p.To {
		return false
	}
	z, err := zone(p.Zone)
	if err != nil {
		z = time.Local // it was there when it was set
	}
	h, m, s := now.In(z).Clock() // the wall clock's, on days of 23 hours too
	at := time.Duration(h)*time.Hour + time.Duration(m)*time.Minute + time.Duration(s)*time.Second
	if p.From < p.To {
		return p.From <= at && at < p.To
	}
	return p.From <= at || at < p.To
}
