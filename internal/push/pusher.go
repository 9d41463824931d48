package push

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Store keeps subscriptions and what they were told. Its methods do disk I/O.
type Store interface {
	PushSubscriptions(ctx context.Context) ([]Subscription, error)
	// PutPushSubscription inserts or replaces a browser's. What the device shows is forgotten if the
	// endpoint is another, and so is another browser's subscription at the same one. The error wraps
	// sessions.ErrUnknown if the browser isn't known.
	PutPushSubscription(ctx context.Context, s Subscription) error
	DropPushSubscription(ctx context.Context, browser string) error
	// PutPushWait keeps until when nothing is sent to a browser's subscription: its NotBefore. It's forgotten with the endpoint.
	PutPushWait(ctx context.Context, browser, endpoint string, until time.Time) error
	// ShownAlerts are the keys of what the push services took last, by browser and session.
	ShownAlerts(ctx context.Context) (map[string]map[sessions.ID]string, error)
	// PutShownAlert keeps one; "": it's taken back. Of a subscription that's gone it keeps nothing.
	PutShownAlert(ctx context.Context, browser string, id sessions.ID, key string) error
	// LastAlerts are those of sessions' last ends and failures.
	LastAlerts(ctx context.Context) ([]Alert, error)
	PutLastAlert(ctx context.Context, a Alert) error
	DropLastAlert(ctx context.Context, id sessions.ID) error
}

// Options are what a Pusher is made of. All but Words, Route and Logger are needed.
type Options struct {
	Store Store
	Notes Notes
	// Prompts are the questions that are open, masked. It may be called at any time, and doesn't block.
	Prompts func() []sessions.Prompt
	// Name is what a session is called, masked; false: it's forgotten. As Prompts.
	Name func(id sessions.ID) (string, bool)
	Mask func(text string) string
	// May reports whether a browser may see sessions now.
	May func(browser string, now time.Time) bool
	// Words are the first words of what a turn said, masked; nil: none are told. It reads the log.
	Words func(ctx context.Context, id sessions.ID, t sessions.Turn) (string, error)
	// RingAfter is how long a turn must take whose good end is told, as in chats.
	RingAfter func() time.Duration
	Route     Route
	Logger    *slog.Logger
}

// Pusher notifies devices. Its methods may be called at once; what's sent is sent by Run alone.
type Pusher struct {
	opt     Options
	key     vapidKey
	client  *http.Client
	wake    chan struct{} // of Run; holds one token
	numbers sentNumbers

	// writing is held, before mu, during the store's I/O about subscriptions, and for reading during that about
	// what devices show: that's kept of none that was replaced meanwhile.
	writing sync.RWMutex

	mu      sync.Mutex // never held during I/O
	subs    map[string]*subscriber
	sending map[string]bool       // browsers to which a message is under way
	last    map[sessions.ID]Alert // ends and failures
	dirty   map[sessions.ID]bool  // of these the store doesn't have last as it is
}

// subscriber is a subscription with how things stand with it.
type subscriber struct {
	Subscription

	shown   map[sessions.ID]string // keys of what the push service took last
	brief   bool                   // the service takes short messages only
	tries   int                    // that failed in a row
	notNow  time.Time              // until when nothing is sent
	trouble string                 // why the last one failed; "": it didn't
}

// New makes a Pusher that knows nobody before Load.
func New(o Options) *Pusher {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return &Pusher{
		opt: o, client: o.Route.client(), wake: make(chan struct{}, 1), numbers: sentNumbers{notes: o.Notes},
		subs: map[string]*subscriber{}, sending: map[string]bool{}, last: map[sessions.ID]Alert{}, dirty: map[sessions.ID]bool{},
	}
}

// Load reads the key and who is subscribed.
func (p *Pusher) Load(ctx context.Context) error {
	var err error
	if p.key, err = loadKey(ctx, p.opt.Notes); err != nil {
		return err
	}
	if err = p.numbers.load(ctx); err != nil {
		return err
	}
	all, err := p.opt.Store.PushSubscriptions(ctx)
	if err != nil {
		return fmt.Errorf("load who is notified: %w", err)
	}
	shown, err := p.opt.Store.ShownAlerts(ctx)
	if err != nil {
		return fmt.Errorf("load what devices show: %w", err)
	}
	last, err := p.opt.Store.LastAlerts(ctx)
	if err != nil {
		return fmt.Errorf("load what devices are to show: %w", err)
	}
	p.setBack(ctx, all, time.Now())
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range all {
		one := newSubscriber(s)
		maps.Copy(one.shown, shown[s.Browser])
		if soonest := time.Now().Add(retryMost); s.NotBefore.Before(soonest) { // else the clock was put back
			one.notNow = s.NotBefore
		}
		p.subs[s.Browser] = one
	}
	for _, a := range last {
		p.last[a.Session] = a
	}
	return nil
}

// setBack has no subscription be from a time that's to come, as one is that was made while the clock was ahead: what ends before
// then would count as over before it.
func (p *Pusher) setBack(ctx context.Context, all []Subscription, now time.Time) {
	for i := range all {
		if !all[i].Created.After(now) {
			continue
		}
		all[i].Created = now
		if err := p.opt.Store.PutPushSubscription(ctx, all[i]); err != nil {
			p.opt.Logger.Warn("it can't be kept since when a device is notified; it's tried again at the next start", "device", all[i].Browser, "err", err)
		}
	}
}

func newSubscriber(s Subscription) *subscriber {
	return &subscriber{Subscription: s, shown: map[sessions.ID]string{}}
}

// Secret is the private half of the daemon's key.
func (p *Pusher) Secret() string { return p.key.private }

// PublicKey is what a browser has to subscribe with, as base64url.
func (p *Pusher) PublicKey() string { return p.key.public }

// Standing is how things stand with a browser's subscription.
type Standing struct {
	Wishes

	Endpoint string `json:"endpoint"`
	Trouble  string `json:"trouble,omitempty"` // why the last alert couldn't be sent
}

// Find returns a browser's subscription.
func (p *Pusher) Find(browser string) (Standing, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.subs[browser]
	if one == nil {
		return Standing{}, false
	}
	return Standing{one.Wishes, one.Endpoint, one.trouble}, true
}

// Subscribe takes a browser's subscription in the place of the one that it had. Without an endpoint it
// changes the wishes alone. The error wraps sessions.ErrInvalid, ErrUnknown or ErrUnavailable.
func (p *Pusher) Subscribe(ctx context.Context, now time.Time, s Subscription) error {
	if err := s.check(); err != nil {
		return err
	}
	if s.Endpoint != "" {
		if err := s.checkKeys(); err != nil {
			return err
		}
		if err := p.opt.Route.CheckEndpoint(ctx, s.Endpoint); err != nil {
			return err
		}
	}
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	was := p.subs[s.Browser]
	p.mu.Unlock()
	switch {
	case s.Endpoint == "" && was == nil:
		return fmt.Errorf("%w subscription: this device isn't notified yet; send endpoint, p256dh and auth", sessions.ErrUnknown)
	case s.Endpoint == "":
		s.Endpoint, s.Key, s.Auth, s.Created = was.Endpoint, was.Key, was.Auth, was.Created
	case was != nil && was.Endpoint == s.Endpoint:
		s.Created = was.Created
	default:
		s.Created = now
	}
	if !p.opt.May(s.Browser, now) {
		return fmt.Errorf("%w browser: it isn't let in any more", sessions.ErrUnknown)
	}
	if err := p.opt.Store.PutPushSubscription(ctx, s); err != nil {
		return err
	}
	p.replace(s)
	return p.forgetUnwanted(ctx, s)
}

// replace puts a subscription in the place of what there was at its browser and its endpoint.
func (p *Pusher) replace(s Subscription) {
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.subs, func(browser string, one *subscriber) bool {
		return browser != s.Browser && one.Endpoint == s.Endpoint
	})
	one := newSubscriber(s)
	if was := p.subs[s.Browser]; was != nil && was.Endpoint == s.Endpoint && was.Key == s.Key {
		one.shown, one.brief = was.shown, was.brief
		one.tries, one.notNow, one.trouble = was.tries, was.notNow, was.trouble // the service is left alone as long as it asks
	}
	p.subs[s.Browser] = one
	p.wakeUp()
}

// forgetUnwanted forgets what a device shows and doesn't want any more: it closes that itself.
func (p *Pusher) forgetUnwanted(ctx context.Context, s Subscription) error {
	p.mu.Lock()
	var gone []sessions.ID
	if one := p.subs[s.Browser]; one != nil {
		for id, key := range one.shown {
			if !s.takes(id, kindOf(key)) {
				gone = append(gone, id)
				delete(one.shown, id)
			}
		}
	}
	p.mu.Unlock()
	var errs []error
	for _, id := range gone {
		errs = append(errs, p.opt.Store.PutShownAlert(ctx, s.Browser, id, ""))
	}
	return errors.Join(errs...)
}

// Unsubscribe forgets a browser's subscription, whether it has one or not.
func (p *Pusher) Unsubscribe(ctx context.Context, browser string) error {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.Forget(browser)
	return p.opt.Store.DropPushSubscription(ctx, browser)
}

// Forget forgets a browser's subscription at once: it was revoked, and the store forgets both. It doesn't
// block.
func (p *Pusher) Forget(browser string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.subs, browser)
}

// Follow has the Pusher hear what happens to sessions.
func (p *Pusher) Follow(f *sessions.Feed) {
	f.OnOutput(p.hearOutput)
	f.OnSession(p.hearSession)
	f.OnPrompt(func(sessions.Prompt) { p.wakeUp() })
}

func (p *Pusher) wakeUp() {
	select {
	case p.wake <- struct{}{}:
	default: // it's about to look
	}
}

// hearOutput takes in what a session did. It returns at once.
func (p *Pusher) hearOutput(ev sessions.OutputEvent) {
	var a Alert
	tells := true
	switch t := ev.Turn; {
	case ev.State == sessions.StateError:
		a = newUnreadable(ev.Session, p.opt.Mask(ev.Reason), time.Now())
	case ev.Complete:
		t.Failed = p.opt.Mask(t.Failed)
		a = newTurnEnd(ev.Session, t, time.Now())
		tells = a.Kind == Failure || t.StartedAt.IsZero() || t.EndedAt.Sub(t.StartedAt) >= p.opt.RingAfter()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.last[ev.Session]
	switch {
	case was.isExit(), was.isUnreadable() && a.isUnreadable():
	case a.Key != "" && tells:
		p.setLast(a)
	case a.Key != "":
		p.dropLast(ev.Session)
	case ev.Turn.Open, was.isUnreadable():
		p.dropLast(ev.Session)
	}
}

// hearSession takes in that a session was made, has changed or ended. It returns at once.
func (p *Pusher) hearSession(s sessions.Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was := p.last[s.ID]
	switch {
	case s.State == sessions.StateEnded:
		if a := newExit(s); a.Key != was.Key {
			p.setLast(a)
		}
	case was.isExit():
		p.dropLast(s.ID)
	}
}

// setLast has an alert take the place of its session's last. Who subscribes later isn't told of it, so without
// subscribers it's none. p.mu is held.
func (p *Pusher) setLast(a Alert) {
	if len(p.subs) == 0 {
		return
	}
	p.last[a.Session], p.dirty[a.Session] = a, true
	p.wakeUp()
}

// dropLast takes a session's last alert back. p.mu is held.
func (p *Pusher) dropLast(id sessions.ID) {
	if _, ok := p.last[id]; ok {
		delete(p.last, id)
		p.dirty[id] = true
		p.wakeUp()
	}
}
