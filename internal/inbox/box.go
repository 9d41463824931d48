package inbox

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

var errInvalid = sessions.ErrInvalid

// Store keeps fleets, mail and notices in a file that several processes write at once.
// Each method is one transaction: after an error nothing was written, and when it returns
// nil a crash of the process takes nothing back.
type Store interface {
	// Parties returns all sessions that are known, the oldest first.
	Parties(ctx context.Context) (Parties, error)
	// AddMail stores mails together.
	AddMail(ctx context.Context, mails []Mail) error
	// AddPing stores a ping, and deletes those before it that are done; while one waits
	// for the same recipient, that's returned, and nothing is stored.
	AddPing(ctx context.Context, ping Mail) (Mail, error)
	// Mail returns those of a query, the newest first.
	Mail(ctx context.Context, q Query) ([]Mail, error)
	// ChangeMail changes one in state, settling time and preview; an error of change is
	// returned as it is. sessions.ErrUnknown if there's none of that id.
	ChangeMail(ctx context.Context, id string, change func(*Mail) error) (Mail, error)
	// TakePreviews marks the open mails of a recipient whose previews wait as being typed,
	// and returns them, the oldest first. Nobody else gets the same.
	TakePreviews(ctx context.Context, to Address) ([]Mail, error)
	// SetPreviews says what became of them. What's typed is seen.
	SetPreviews(ctx context.Context, ids []string, p PreviewState, why string) error
	// SeeMail says that mails were polled by their recipient: what waits isn't announced
	// any more.
	SeeMail(ctx context.Context, ids []string, now time.Time) error
	// LeftPreviews returns a recipient's mails whose previews are marked as being typed,
	// the oldest first.
	LeftPreviews(ctx context.Context, to Address) ([]Mail, error)
	// ReturnMail changes one as ChangeMail does, and stores what its sender is told of it
	// together with that; an empty id: nothing is told.
	ReturnMail(ctx context.Context, id string, change func(*Mail) (told Mail)) error
	// HoldPreviews says why the previews that wait for a recipient aren't typed.
	HoldPreviews(ctx context.Context, to Address, why string) error
}

// Typist types into a session's pane, if nothing speaks against it.
type Typist interface {
	// Type types a text and submits it. sent is false if it surely isn't in the pane; why
	// says what speaks against it, and later whether that may pass. fixed says that
	// the text is a command of panebridge's own, which a shell may run. An error is for
	// what's unknown: the text may be in the pane.
	Type(ctx context.Context, to Party, text string, fixed bool) (sent bool, why string, err error)
	// Finish looks what became of a text of which somebody who has ended was typing, and
	// submits it if nothing but it stands in the input box. It types nothing. It returns
	// PreviewTyped when it's submitted, with what has kept it from that, if anything has;
	// PreviewNone if it's gone or can't be told, and PreviewTyping if that may pass: both
	// with the reason.
	Finish(ctx context.Context, to Party, text string) (p PreviewState, why string)
}

// Announcer has what waits for somebody announced to them, here or in the daemon.
type Announcer interface {
	// Announce has the waiting previews of a recipient typed as one, if it can be now.
	// It returns when that's known.
	Announce(ctx context.Context, to Address) error
}

// PostOffice is mail as its users see it.
type PostOffice struct {
	Store    Store
	Announce Announcer // nil: nothing is announced
}

// Sent is the answer to a message.
type Sent struct {
	Mail             Mail   `json:"message"`
	NotificationSent bool   `json:"notification_sent"`
	Reason           string `json:"reason,omitempty"` // why it isn't sent, or isn't submitted yet
}

// Send stores a message, and then has it announced. That it couldn't be announced is no
// error.
func (b PostOffice) Send(ctx context.Context, all Parties, from, to Address, text string) (Sent, error) {
	return b.SendOnce(ctx, all, from, to, text, NewID())
}

// SendOnce is Send with an id that's given: if there's one of it, it was sent before, and
// how that stands is the answer.
func (b PostOffice) SendOnce(ctx context.Context, all Parties, from, to Address, text, id string) (Sent, error) {
	if err := CheckText(text, MaxTextBytes); err != nil {
		return Sent{}, err
	}
	m := newMail(all, from, to, text, time.Now())
	m.ID = id
	if err := b.Store.AddMail(ctx, []Mail{m}); err != nil && !errors.Is(err, sessions.ErrConflict) {
		return Sent{}, err
	}
	out := b.announced(ctx, []Mail{m})
	return Sent{out[0], out[0].Preview == PreviewTyped, out[0].Why}, nil
}

// KeyID is the id of a mail that somebody may send again, not knowing whether it was sent:
// the same key gives the same.
func KeyID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "m_" + hex.EncodeToString(sum[:5])
}

// Broadcast is the answer to a broadcast.
type Broadcast struct {
	Sent    int     `json:"notifications_sent_count"`
	Summary Summary `json:"broadcast_summary"`
}

// Summary is a broadcast as a whole.
type Summary struct {
	Mail
	Messages []Mail `json:"messages"`
}

// Broadcast sends a message to each other session of a fleet: "" is the one that the sender
// directs, if it directs one, else the one whose member it is.
func (b PostOffice) Broadcast(ctx context.Context, all Parties, from Address, fleet, text string) (Broadcast, error) {
	if err := CheckText(text, MaxTextBytes); err != nil {
		return Broadcast{}, err
	}
	me, _ := all.Get(from.Session())
	switch {
	case fleet != "":
	case len(me.Directs) > 1:
		return Broadcast{}, fmt.Errorf("broadcast: %w: %s directs the fleets %s; give --fleet", sessions.ErrConflict, all.Name(from), strings.Join(me.Directs, " and "))
	case len(me.Directs) == 1:
		fleet = me.Directs[0]
	default:
		fleet = me.Fleet
	}
	if fleet == "" {
		return Broadcast{}, fmt.Errorf("broadcast: %w: %s is in no fleet; give --fleet, or `panebridge fleet add` it to one", sessions.ErrConflict, all.Name(from))
	}
	now := time.Now()
	var mails []Mail
	for _, p := range all.Members(fleet) {
		if p.Address() == from || p.State == sessions.StateEnded {
			continue
		}
		m := newMail(all, from, p.Address(), text, now)
		m.Fleet = fleet
		mails = append(mails, m)
	}
	if len(mails) == 0 {
		return Broadcast{}, fmt.Errorf("broadcast: %w: nobody else is in the fleet %q", sessions.ErrConflict, fleet)
	}
	summary := newMail(all, from, "", text, now)
	summary.Kind, summary.Fleet, summary.Status, summary.SettledAt = KindSummary, fleet, Completed, now
	summary.Preview, summary.Why = PreviewNone, ""
	if err := b.Store.AddMail(ctx, append(mails, summary)); err != nil {
		return Broadcast{}, err
	}
	out := Broadcast{Summary: Summary{Mail: summary, Messages: b.announced(ctx, mails)}}
	for _, m := range out.Summary.Messages {
		if m.Preview == PreviewTyped {
			out.Sent++
		}
	}
	return out, nil
}

func newMail(all Parties, from, to Address, text string, now time.Time) Mail {
	m := Mail{
		ID: NewID(), Kind: KindMail, From: from, FromName: all.Name(from), To: to, ToName: all.Name(to),
		Text: text, Status: InputRequired, SentAt: now, Preview: PreviewWaiting, Why: "the daemon isn't running",
	}
	p, session := all.Get(to.Session())
	switch {
	case from == to:
		m.Preview, m.Why = PreviewNone, "it's sent to oneself"
	case session && p.State == sessions.StateEnded:
		m.Preview, m.Why = PreviewNone, hasEnded
	case session && p.Pane.ID == "":
		m.Preview, m.Why = PreviewNone, "the session has no pane"
	}
	return m
}

// announced has the waiting previews of these mails typed, as far as they can be, and
// returns the mails as they are then. Mails that are stored stay so, whatever fails.
func (b PostOffice) announced(ctx context.Context, mails []Mail) []Mail {
	if b.Announce == nil {
		return mails
	}
	var all sync.WaitGroup
	for i := range mails {
		if mails[i].Preview == PreviewWaiting {
			all.Go(func() { b.announce(ctx, &mails[i]) }) // each is for somebody else
		}
	}
	all.Wait()
	return mails
}

func (b PostOffice) announce(ctx context.Context, m *Mail) {
	if err := b.Announce.Announce(ctx, m.To); err != nil {
		m.Why = err.Error()
		return
	}
	if now, err := b.Store.Mail(ctx, Query{ID: m.ID}); err == nil && len(now) > 0 {
		*m = now[0]
	}
}

// Pinged is the answer to a ping. Neither sent nor kept: it's refused, and Reason says why.
type Pinged struct {
	NotificationSent bool   `json:"notification_sent"`
	Kept             bool   `json:"kept"` // it's typed as soon as it can be
	Reason           string `json:"reason,omitempty"`
}

// Ping has the poll command typed into a session's pane, now or when what speaks against
// it has passed. from is "" if nobody knows who pings.
func (b PostOffice) Ping(ctx context.Context, all Parties, from, to Address) (Pinged, error) {
	m := newMail(all, from, to, "", time.Now())
	m.Kind, m.Status, m.SettledAt = KindPing, Completed, m.SentAt
	if m.Preview == PreviewNone {
		return Pinged{Reason: m.Why}, nil
	}
	m, err := b.Store.AddPing(ctx, m)
	if err != nil {
		return Pinged{}, err
	}
	m = b.announced(ctx, []Mail{m})[0]
	return Pinged{m.Preview == PreviewTyped, m.Preview == PreviewWaiting, m.Why}, nil
}

// Poll returns mail, and takes what it shows for announced, and who polls for pinged.
func (b PostOffice) Poll(ctx context.Context, q Query) ([]Mail, error) {
	q.Kind = KindMail
	mails, err := b.Store.Mail(ctx, q)
	if err != nil || q.To == "" {
		return mails, err
	}
	pings, err := b.Store.Mail(ctx, Query{To: q.To, Kind: KindPing})
	if err != nil {
		return mails, err
	}
	now := time.Now()
	var seen []string
	for _, shown := range [][]Mail{mails, pings} {
		for i := range shown {
			if shown[i].See(now) {
				seen = append(seen, shown[i].ID)
			}
		}
	}
	if len(seen) == 0 {
		return mails, nil
	}
	return mails, b.Store.SeeMail(ctx, seen, now)
}

// Settle completes or cancels a mail.
func (b PostOffice) Settle(ctx context.Context, id string, by Address, to MailState) (Mail, error) {
	return b.Store.ChangeMail(ctx, id, func(m *Mail) error { return m.Settle(by, to, time.Now()) })
}

// Typists are the processes that may type into panes: the daemon for as long as it runs,
// or commands, one at a time, while it doesn't. Two at once would write into each other's
// text, and none could tell a preview that's being typed from one that was left.
type Typists struct {
	Folder string // of the database
}

// typistsFile is locked by who types.
const typistsFile = "typing.lock"

// typistLook is how often the lock is looked at by who waits for it.
const typistLook = 50 * time.Millisecond

// Try takes the turn to type, if nobody has it.
func (t Typists) Try() (give func(), ok bool, err error) {
	f, err := regular.OpenKept(filepath.Join(t.Folder, typistsFile), os.O_CREATE)
	if err != nil {
		return nil, false, fmt.Errorf("open the lock for typing: %w", err)
	}
	for {
		switch err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); {
		case err == nil:
			return func() {
				_ = unix.Flock(int(f.Fd()), unix.LOCK_UN) // a child that's being started may have it open, too
				_ = f.Close()
			}, true, nil
		case errors.Is(err, unix.EINTR):
			continue
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, false, f.Close()
		default:
			return nil, false, errors.Join(fmt.Errorf("lock %s: %w", f.Name(), err), f.Close())
		}
	}
}

// Take waits for the turn to type until ctx ends.
func (t Typists) Take(ctx context.Context) (give func(), err error) {
	for {
		give, ok, err := t.Try()
		if err != nil || ok {
			return give, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(typistLook):
		}
	}
}
