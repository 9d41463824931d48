package inbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// NoticeStore keeps notices and who listens. Methods are as those of Store.
type NoticeStore interface {
	// AddNotice stores a notice and returns the bells of those who listen for it.
	AddNotice(ctx context.Context, n Notice) (bells []string, err error)
	// AnyNotice says whether there's something for a listener to take. It doesn't write.
	AnyNotice(ctx context.Context, l Listener) (bool, error)
	// TakeNotices gives a listener the lease of notices that nobody has, the oldest first,
	// which is their order.
	TakeNotices(ctx context.Context, l Listener, limit int) ([]Notice, error)
	// DropNotices deletes those of a listener's lease up to a number: they're printed.
	DropNotices(ctx context.Context, listener, last int64) error
	AddListener(ctx context.Context, l Listener) (id int64, err error)
	// Listeners returns all there are, those that have died included.
	Listeners(ctx context.Context) ([]Listener, error)
	// DropListener takes one away, and frees what it held, to be told again. It may be
	// called twice.
	DropListener(ctx context.Context, id int64) (freed int64, err error)
}

// Notify stores a notice and wakes who listens for it.
func Notify(ctx context.Context, s NoticeStore, b Bells, n Notice) error {
	if err := CheckText(n.Msg, MaxNoticeBytes); err != nil {
		return err
	}
	bells, err := s.AddNotice(ctx, n)
	if err != nil {
		return err
	}
	b.Ring(bells)
	return nil
}

const (
	// takeAtOnce is how many notices are taken, printed and deleted together.
	takeAtOnce = 200
	// lookEvery is how often a listener looks without having been woken: for what somebody
	// stored who died before ringing, and for other listeners that have died.
	lookEvery = time.Second
)

// Listening waits for notices.
type Listening struct {
	Store NoticeStore
	Bells Bells
	// Print prints notices and sees to it that they're out; when it returns nil they count
	// as told. It's given a copy each time.
	Print  func([]Notice) error
	Follow bool // go on after the first
}

// Run tells notices until there were some (or, with Follow, until the context ends). told
// says whether there were any. A context that ends is no error.
func (l Listening) Run(ctx context.Context, who Address, common bool) (told bool, err error) {
	bell, err := l.Bells.Hang()
	if err != nil {
		return false, err
	}
	defer bell.Close()
	me := Listener{Session: who, Common: common, Process: Self(), Bell: bell.Name()}
	if me.ID, err = l.Store.AddListener(ctx, me); err != nil {
		if ctx.Err() != nil {
			err = nil // its time was over before it began
		}
		return false, err
	}
	defer func() {
		_, gone := l.Store.DropListener(context.WithoutCancel(ctx), me.ID)
		err = errors.Join(err, gone)
	}()
	for look := true; ; {
		if look {
			if err := l.bury(ctx); err != nil && ctx.Err() == nil {
				return told, err
			}
		}
		n, err := l.tell(ctx, me)
		told = told || n > 0
		switch {
		case err != nil && ctx.Err() != nil:
			return told, nil
		case err != nil:
			return told, err
		case n == takeAtOnce:
			continue // there may be more
		case told && !l.Follow:
			return true, nil
		}
		rung, err := bell.Wait(ctx, lookEvery)
		if ctx.Err() != nil {
			return told, nil // its time is over
		}
		if err != nil {
			return told, err
		}
		look = !rung
	}
}

// tell prints what's there for a listener.
func (l Listening) tell(ctx context.Context, me Listener) (n int, err error) {
	if there, err := l.Store.AnyNotice(ctx, me); err != nil || !there {
		return 0, err
	}
	taken, err := l.Store.TakeNotices(ctx, me, takeAtOnce)
	if err != nil || len(taken) == 0 {
		return 0, err
	}
	if err := l.Print(taken); err != nil {
		return 0, fmt.Errorf("print the notices: %w", err) // they're told again, marked: some may be out
	}
	return len(taken), l.Store.DropNotices(context.WithoutCancel(ctx), me.ID, taken[len(taken)-1].Seq)
}

// bury takes away listeners that have died, so that what they held is told.
func (l Listening) bury(ctx context.Context) error {
	all, err := l.Store.Listeners(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.Process.Runs() {
			continue
		}
		if _, err := l.Store.DropListener(ctx, one.ID); err != nil {
			return err
		}
		l.Bells.Remove(one.Bell)
	}
	return nil
}

// Listens says whether anybody who lives listens for somebody's notices.
func Listens(ctx context.Context, s NoticeStore, who Address) (bool, error) {
	all, err := s.Listeners(ctx)
	for _, one := range all {
		if one.Session == who && one.Process.Runs() {
			return true, nil
		}
	}
	return false, err
}

// Previews types the previews that wait. It's used by who can type: the daemon, or the
// command line while that's stopped.
type Previews struct {
	Store    Store
	Typist   Typist
	MaxRunes int // of a preview's text; 0: DefaultMaxTextRunes
	// Once says that nobody tries again: a ping that can't be typed now is refused.
	Once bool
	// Returned is told whose mail came back, of which they have mail now. It returns at once.
	// Nil: nobody is told.
	Returned func(to Address)

	mu   sync.Mutex
	busy map[Address]*sync.Mutex // held by who types for them
}

// alone waits until nobody else types for a recipient: previews that pile up meanwhile
// become one.
func (p *Previews) alone(to Address) (done func()) {
	p.mu.Lock()
	if p.busy == nil {
		p.busy = map[Address]*sync.Mutex{}
	}
	one := p.busy[to]
	if one == nil {
		one = new(sync.Mutex)
		p.busy[to] = one
	}
	p.mu.Unlock()
	one.Lock()
	return one.Unlock
}

// Announce types the previews that wait for a session as one. What can't be typed now
// waits on, with the reason; if the session has ended, it's returned. Who announces must be the only process that types: see
// Typists.
func (p *Previews) Announce(ctx context.Context, to Address) error {
	defer p.alone(to)()
	all, err := p.Store.Parties(ctx)
	if err != nil {
		return err
	}
	party, ok := all.Get(to.Session())
	if !ok {
		return nil
	}
	if free, err := p.finish(ctx, party); err != nil || !free {
		return err
	}
	mails, err := p.Store.TakePreviews(ctx, to)
	if err != nil || len(mails) == 0 {
		return err
	}
	if party.State == sessions.StateEnded {
		return p.giveBack(context.WithoutCancel(ctx), all, mails)
	}
	text, command := p.words(mails)
	sent, why, err := p.Typist.Type(ctx, party, text, command)
	result := PreviewWaiting
	switch {
	case err != nil: // it may be on the screen: once is the most it's typed
		result, why = PreviewNone, "it's unknown whether it was typed: "+err.Error()
	case sent: // why says what has kept it from being submitted, if anything has
		result = PreviewTyped
	}
	ctx = context.WithoutCancel(ctx) // carried through: what's typed must not be typed again
	if result == PreviewWaiting && p.Once {
		var refused []Mail
		mails, refused = withoutPings(mails)
		if err := p.Store.SetPreviews(ctx, idsOf(refused), PreviewNone, why); err != nil {
			return err
		}
	}
	return p.Store.SetPreviews(ctx, idsOf(mails), result, why)
}

// giveBack returns mails whose recipient has ended to who sent them, by a mail that says so.
func (p *Previews) giveBack(ctx context.Context, all Parties, mails []Mail) error {
	for _, m := range mails {
		told := false
		err := p.Store.ReturnMail(ctx, m.ID, func(now *Mail) (back Mail) {
			if told = now.Return(time.Now()); told {
				back = newMail(all, now.To, now.From, returnedText(*now), now.SettledAt)
			}
			return back
		})
		if err != nil {
			return err
		}
		if told && p.Returned != nil {
			p.Returned(m.From)
		}
	}
	return nil
}

// words are what's typed for what waits, the oldest first. With a ping among it that's the
// poll command, which a shell takes, too, and which shows the mail.
func (p *Previews) words(waits []Mail) (text string, command bool) {
	if _, pings := withoutPings(waits); len(pings) > 0 {
		return PollCommand, true
	}
	return Announcement(waits, p.MaxRunes), false
}

func withoutPings(waits []Mail) (mails, pings []Mail) {
	for _, m := range waits {
		if m.Kind == KindPing {
			pings = append(pings, m)
		} else {
			mails = append(mails, m)
		}
	}
	return mails, pings
}

func idsOf(mails []Mail) []string {
	ids := make([]string, len(mails))
	for i, m := range mails {
		ids[i] = m.ID
	}
	return ids
}

// Bells wake listeners: each has a Unix datagram socket in a folder, and who stores a
// notice sends a byte to those of the listeners that the database names. It needs no
// daemon, wakes nobody else, and is the same on every system (a watch on a file isn't).
// A bell that nobody hears any more is no error: listeners look now and then anyway.
type Bells struct{ Folder string }

// BellFolder is the name of the folder in the state folder. It's short, for the path of a
// socket is; with a bell's name it's no longer than that of the daemon's socket.
const BellFolder = "bells"

// Bell is the one of a listener.
type Bell struct {
	conn *net.UnixConn
	path string
}

// Hang makes a bell. Close it.
func (b Bells) Hang() (*Bell, error) {
	if err := os.MkdirAll(b.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of bells: %w", err)
	}
	var raw [4]byte
	_, _ = rand.Read(raw[:]) // documented never to fail
	path := filepath.Join(b.Folder, hex.EncodeToString(raw[:]))
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("hang up a bell: %w", err)
	}
	return &Bell{conn, path}, nil
}

// Name is how the bell is called in its folder.
func (b *Bell) Name() string { return filepath.Base(b.path) }

// Wait waits until the bell is rung (true), for so long, or until the context ends.
func (b *Bell) Wait(ctx context.Context, most time.Duration) (rung bool, err error) {
	if err := b.conn.SetReadDeadline(time.Now().Add(most)); err != nil {
		return false, fmt.Errorf("wait for the bell: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = b.conn.SetReadDeadline(time.Unix(1, 0)) }) // fails only if it's closed
	defer stop()
	var one [1]byte
	_, err = b.conn.Read(one[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("wait for the bell: %w", err)
	}
	return true, nil
}

// Close takes the bell down.
func (b *Bell) Close() {
	_ = b.conn.Close()
	_ = os.Remove(b.path)
}

// ringTime bounds how long somebody waits at a bell whose listener stands still. One that
// was rung often enough needs no more.
const ringTime = time.Millisecond

// Ring wakes listeners by the names of their bells. What isn't this user's own socket isn't rung.
func (b Bells) Ring(names []string) {
	for _, name := range names {
		if info, err := os.Lstat(b.path(name)); err != nil || info.Mode()&fs.ModeSocket == 0 || regular.CheckOwn(b.path(name), info) != nil {
			continue
		}
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: b.path(name), Net: "unixgram"})
		if err != nil {
			continue // its listener has died
		}
		_ = conn.SetWriteDeadline(time.Now().Add(ringTime))
		_, _ = conn.Write([]byte{1})
		_ = conn.Close()
	}
}

// Remove removes the bell of a listener that has died.
func (b Bells) Remove(name string) { _ = os.Remove(b.path(name)) }

func (b Bells) path(name string) string { return filepath.Join(b.Folder, filepath.Base(name)) }
