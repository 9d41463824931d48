package cards

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
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

// Check returns an error that wraps sessions.ErrInvalid if a preference makes no sense.
func (p Preference) Check() error {
	const day = 24 * time.Hour
	if p.From < 0 || p.From >= day || p.To < 0 || p.To >= day {
		return fmt.Errorf("%w quiet hours: write them as times of day, 22:00 to 07:00", sessions.ErrInvalid)
	}
	if _, err := zone(p.Zone); err != nil {
		return fmt.Errorf("%w time zone %q: write it as in Europe/Berlin", sessions.ErrInvalid, p.Zone)
	}
	return nil
}

// SetPreference keeps how a place, or a session in it, wants to be called. The error wraps
// sessions.ErrInvalid if it makes no sense.
func (k *Clerk) SetPreference(ctx context.Context, p Preference) error {
	if err := p.Check(); err != nil {
		return err
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

// IsQuiet reports whether nothing of a session may ring in a place now. The session, the thread or the whole
// chat may be muted or have quiet hours. It returns at once.
func (k *Clerk) IsQuiet(place adapters.Target, session sessions.ID, now time.Time) bool {
	_, quiet := k.findQuiet(place, session, now)
	return quiet
}

// findQuiet is IsQuiet, with the widest place whose preference it is.
func (k *Clerk) findQuiet(place adapters.Target, session sessions.ID, now time.Time) (adapters.Target, bool) {
	for _, at := range [...]preferenceKey{{place.WholeChat(), ""}, {place.WholeChat(), session}, {place, ""}, {place, session}} {
		if k.Preference(at.place, at.session).IsQuiet(now) {
			return at.place, true
		}
	}
	return adapters.Target{}, false
}

// IsQuiet reports whether nothing may ring now by one preference.
func (p Preference) IsQuiet(now time.Time) bool {
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

// Missed is what would have rung in a place, had it not been quiet.
type Missed struct {
	Place   adapters.Target // whose preference it was
	Session sessions.ID
	What    MissedKind
	Times   int
	At      time.Time // the last
}

// MissedKind is what would have rung.
type MissedKind string

// The kinds of what's missed.
const (
	MissedTurn     MissedKind = "turn"
	MissedQuestion MissedKind = "question"
	MissedEnd      MissedKind = "end"
	MissedError    MissedKind = "error"
)

// AttentionStore keeps what calls for people's attention.
type AttentionStore interface {
	// AddMissed adds Missed.Times to what's kept of the same place, session and kind.
	AddMissed(ctx context.Context, m Missed) error
	Missed(ctx context.Context) ([]Missed, error)
	// DropMissed takes what was told off what's kept: what was added since stays.
	DropMissed(ctx context.Context, told []Missed) error
}

// missedEvery is how often it's looked whether a quiet time has ended. Their ends are
// whole minutes.
const missedEvery = time.Minute

// missed gathers what would have rung in places that are quiet, and wants it told in one
// message that rings when the quiet time ends. What's told is forgotten when the message is there.
type missed struct {
	clerk *Clerk

	// Guarded by the reconciler's mu.
	heard []sessions.OutputEvent
	notes []Missed
}

func newMissed(k *Clerk) *missed { return &missed{clerk: k} }

// noteOutput takes in what a session did. It returns at once.
func (m *missed) noteOutput(ev sessions.OutputEvent) {
	if ev.Complete || ev.Exit != nil || ev.State == sessions.StateError {
		ev.Lines, ev.Gaps, ev.Live = nil, nil, nil
		m.clerk.reconciler.leaveWord(func() { m.heard = append(m.heard, ev) })
	}
}

// noteQuiet takes in that something would have rung in a place that's quiet. It returns at
// once.
func (m *missed) noteQuiet(place adapters.Target, id sessions.ID, what MissedKind) {
	now := time.Now()
	if at, quiet := m.clerk.findQuiet(place, id, now); quiet {
		m.clerk.reconciler.leaveWord(func() {
			m.notes = append(m.notes, Missed{Place: at, Session: id, What: what, Times: 1, At: now})
		})
	}
}

// wantedCards implements cardSource: it keeps what was left, and wants what's due be told.
func (m *missed) wantedCards(ctx context.Context, now time.Time) (out []Wanted, next time.Time, err error) {
	next = now.Add(missedEvery)
	if err := m.keepNotes(ctx, now); err != nil {
		return nil, next, err
	}
	all, err := m.clerk.Store.Missed(ctx)
	if err != nil {
		return nil, next, err
	}
	if len(all) == 0 {
		next = time.Time{}
	}
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Place == all[0].Place {
			n++
		}
		due := slices.DeleteFunc(slices.Clone(all[:n]), func(x Missed) bool { return m.clerk.IsQuiet(x.Place, x.Session, now) })
		if len(due) > 0 {
			out = append(out, Wanted{
				Spot: Spot{Kind: KindMissed, Place: all[0].Place}, Class: qos.Final, Shows: "told", Once: true,
				Post: func(context.Context) (adapters.Post, error) {
					return adapters.Post{Text: m.missedText(due), Ring: true}, nil
				},
				Stood: func(ctx context.Context) error { return m.clerk.Store.DropMissed(ctx, due) },
			})
		}
		all = all[n:]
	}
	return out, next, nil
}

// keepNotes keeps what was left. What can't be kept is tried again.
func (m *missed) keepNotes(ctx context.Context, now time.Time) error {
	m.clerk.reconciler.mu.Lock()
	heard, notes := m.heard, m.notes
	m.heard, m.notes = nil, nil
	m.clerk.reconciler.mu.Unlock()
	for _, ev := range heard {
		notes = append(notes, m.findMissed(ctx, ev, now)...)
	}
	for i, n := range notes {
		if err := m.clerk.Store.AddMissed(ctx, n); err != nil {
			m.clerk.reconciler.mu.Lock()
			m.notes = append(notes[i:], m.notes...)
			m.clerk.reconciler.mu.Unlock()
			return err
		}
	}
	return nil
}

// findMissed is what of an event would have rung where its session is mirrored.
func (m *missed) findMissed(ctx context.Context, ev sessions.OutputEvent, now time.Time) []Missed {
	what := MissedTurn
	switch {
	case ev.Exit != nil:
		what = MissedEnd
	case ev.State == sessions.StateError:
		what = MissedError
	}
	var out []Missed
	seen := map[adapters.Target]bool{}
	for _, b := range m.clerk.Hub.Status(ev.Session) {
		at, quiet := m.clerk.findQuiet(b.Target, ev.Session, now)
		if !b.Open || !quiet || seen[at] || what == MissedTurn && !m.wouldRing(ctx, ev, b.Target) {
			continue
		}
		seen[at] = true
		out = append(out, Missed{Place: at, Session: ev.Session, What: what, Times: 1, At: now})
	}
	return out
}

// wouldRing reports whether the end of a turn would have rung in a place.
func (m *missed) wouldRing(ctx context.Context, ev sessions.OutputEvent, place adapters.Target) bool {
	rings, err := m.clerk.Hub.RingsAt(ctx, ev.Session, place, ev.Turn)
	if err != nil && ctx.Err() == nil {
		m.clerk.Log.Warn("it's not known whether the end of a turn was to ring", "session", ev.Session, "err", err)
	}
	return rings || err != nil
}

// missedText tells what was missed in one place.
func (m *missed) missedText(due []Missed) string {
	place := due[0].Place
	var order []sessions.ID
	lines := map[sessions.ID][]string{}
	rank := map[MissedKind]int{MissedQuestion: 1, MissedError: 2, MissedTurn: 3, MissedEnd: 4}
	due = slices.Clone(due)
	slices.SortStableFunc(due, func(a, b Missed) int { return rank[a.What] - rank[b.What] })
	for _, x := range due {
		if lines[x.Session] == nil {
			order = append(order, x.Session)
		}
		lines[x.Session] = append(lines[x.Session], x.describe())
	}
	var b strings.Builder
	b.WriteString("**While you were away:**\n\n")
	for i, id := range order {
		if i == maxListed {
			fmt.Fprintf(&b, "- and %d more sessions\n", len(order)-i)
			break
		}
		name := string(id)
		if s, err := m.clerk.Sessions.Get(name); err == nil {
			name = s.Name
		}
		name = wording.Plain(name)
		if link := m.clerk.LinkTo(place, id); link != "" {
			name = "[" + name + "](<" + link + ">)"
		}
		now := ""
		if m.clerk.HasQuestion(id) {
			now = "; it waits for an answer"
		}
		fmt.Fprintf(&b, "- %s: %s%s\n", name, strings.Join(lines[id], ", "), now)
	}
	return strings.TrimSpace(b.String())
}

// describe says what was missed.
func (x Missed) describe() string {
	one, many := "a turn ended", "%d turns ended"
	switch x.What {
	case MissedQuestion:
		one, many = "a question", "%d questions"
	case MissedEnd:
		one, many = "the program ended", "the program ended %d times"
	case MissedError:
		one, many = "an error", "%d errors"
	case MissedTurn:
	}
	if x.Times == 1 {
		return one
	}
	return fmt.Sprintf(many, x.Times)
}
