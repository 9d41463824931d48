package push

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"sync"
	"time"

	webpush "github.com/SherClockHolmes/webpush-go"

	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// recordBytes is how long each message is once it's encrypted, padding included: its length tells
	// nothing. Push services must take 4096 (RFC 8030, 7.2); that much room is left for what some add.
	recordBytes = 3072
	// ttl is for how long a push service keeps a message for a device that it can't reach. The services
	// have 28 days at most; who wasn't there for a day sees it on the page.
	ttl = 24 * time.Hour
	// quietEvery is how often it's looked whether a quiet time has ended. Their ends are whole minutes.
	quietEvery = time.Minute
	// After a failure nothing is sent to a subscription for backoffFirst, then for twice as long each
	// time, up to backoffMost; and no shorter than the service asks for, up to retryMost. refusedWait is
	// after an answer that won't be another soon.
	backoffFirst = 10 * time.Second
	backoffMost  = 30 * time.Minute
	retryMost    = 6 * time.Hour
	refusedWait  = time.Hour
	// storeWait is when the store is tried again.
	storeWait = 5 * time.Second
)

// Run sends what's to be sent until ctx ends: to each device one message after the other, but to several at once, since a
// push service may hang, and be one that a device has made up.
func (p *Pusher) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer p.client.CloseIdleConnections()
	var sent sync.WaitGroup
	for {
		select {
		case <-ctx.Done():
			sent.Wait()
			if err := p.keepLast(context.WithoutCancel(ctx)); err != nil { // what was heard while a message was on its way
				p.opt.Logger.Warn("what devices are to show isn't kept", "err", err)
			}
			return nil
		case <-p.wake:
		case <-timer.C:
		}
		timer.Stop()
		if next := p.round(ctx, &sent); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
	}
}

// round keeps what was heard, begins to send what's due, and returns when to look again; zero: when something
// happens, as the end of what it began is.
func (p *Pusher) round(ctx context.Context, sent *sync.WaitGroup) time.Time {
	if ctx.Err() != nil {
		return time.Time{}
	}
	if err := p.keepLast(ctx); err != nil {
		p.opt.Logger.Warn("what devices are to show can't be kept; it's tried again", "err", err)
		return time.Now().Add(storeWait)
	}
	all, next := p.findDue(time.Now())
	for _, d := range all {
		sent.Go(func() {
			p.send(ctx, d)
			p.mu.Lock()
			delete(p.sending, d.to.Browser)
			p.mu.Unlock()
			p.wakeUp()
		})
	}
	return next
}

// keepLast has the store keep the sessions' last alerts.
func (p *Pusher) keepLast(ctx context.Context) error {
	for {
		p.mu.Lock()
		var id sessions.ID
		for id = range p.dirty {
			break
		}
		a, ok := p.last[id]
		delete(p.dirty, id)
		p.mu.Unlock()
		if id == "" {
			return nil
		}
		a = p.addWords(ctx, a)
		var err error
		if ok {
			err = p.opt.Store.PutLastAlert(ctx, a)
		} else {
			err = p.opt.Store.DropLastAlert(ctx, id)
		}
		if err != nil {
			p.mu.Lock()
			p.dirty[id] = true
			p.mu.Unlock()
			return err
		}
	}
}

// addWords adds what its turn said to an alert.
func (p *Pusher) addWords(ctx context.Context, a Alert) Alert {
	if p.opt.Words == nil || a.turn.Number == 0 {
		return a
	}
	words, err := p.opt.Words(ctx, a.Session, a.turn)
	if err != nil {
		p.opt.Logger.Warn("what a turn said can't be read; its end is told without", "session", string(a.Session), "err", err)
	}
	a = a.saying(words)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.last[a.Session].Key == a.Key {
		p.last[a.Session] = a
	}
	return a
}

// due is what's to be sent to a device about a session; an empty Alert: what's shown holds no longer.
type due struct {
	to      *subscriber
	session sessions.ID
	name    string
	alert   Alert
}

// overview is what sessions are called, and what they ask.
type overview struct {
	names map[sessions.ID]string // none of those that are forgotten
	asked map[sessions.ID]Alert
}

// askSessions asks the sessions how they stand. It doesn't hold p.mu meanwhile: those who tell the
// Pusher something may hold locks of the sessions'.
func (p *Pusher) askSessions() overview {
	s := overview{names: map[sessions.ID]string{}, asked: map[sessions.ID]Alert{}}
	for _, q := range slices.Backward(p.opt.Prompts()) { // of several the oldest
		s.asked[q.Session] = newQuestion(q)
	}
	for _, id := range slices.Concat(slices.Collect(maps.Keys(s.asked)), p.concerned()) {
		if name, ok := p.opt.Name(id); ok {
			s.names[id] = name
		}
	}
	return s
}

// concerned are the sessions of which something is, or was, to be shown.
func (p *Pusher) concerned() []sessions.ID {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := slices.Collect(maps.Keys(p.last))
	for _, one := range p.subs {
		ids = slices.AppendSeq(ids, maps.Keys(one.shown))
	}
	return ids
}

// findDue returns what's to be sent now, to each device the first of it: questions, and then the oldest. They count as
// being sent. next is when there's more; zero: that isn't known.
func (p *Pusher) findDue(now time.Time) (all []due, next time.Time) {
	p.mu.Lock()
	nobody := len(p.subs) == 0
	p.mu.Unlock()
	if nobody {
		return nil, time.Time{}
	}
	s := p.askSessions()
	p.mu.Lock()
	defer p.mu.Unlock()
	for browser, one := range p.subs {
		differing := p.differing(one, s)
		if len(differing) == 0 || p.sending[browser] {
			continue
		}
		wait := one.notNow
		if one.IsQuiet(now) && wait.Before(now.Add(quietEvery)) {
			wait = now.Add(quietEvery)
		}
		if wait.After(now) {
			if next.IsZero() || wait.Before(next) {
				next = wait
			}
			continue
		}
		p.sending[browser] = true
		all = append(all, slices.MinFunc(differing, compareDue))
	}
	return all, next
}

func compareDue(a, b due) int {
	question := func(d due) int {
		if d.alert.Kind == Question {
			return 0
		}
		return 1
	}
	return cmp.Or(question(a)-question(b), a.alert.At.Compare(b.alert.At), cmp.Compare(a.session, b.session))
}

// differing is all that a device should show otherwise than it does. p.mu is held.
func (p *Pusher) differing(one *subscriber, s overview) (all []due) {
	for id, name := range s.names {
		if want := p.want(one, id, s); want.Key != one.shown[id] {
			all = append(all, due{to: one, session: id, name: name, alert: want})
		}
	}
	for id := range one.shown {
		if _, there := s.names[id]; !there {
			all = append(all, due{to: one, session: id})
		}
	}
	return all
}

// want is what a device should show of a session; an empty Alert: nothing. p.mu is held.
func (p *Pusher) want(one *subscriber, id sessions.ID, s overview) Alert {
	if a, ok := s.asked[id]; ok && one.takes(id, Question) {
		return a
	}
	if a, ok := p.last[id]; ok && one.takes(id, a.Kind) && !a.At.Before(one.Created) {
		return a
	}
	return Alert{}
}

// errReplaced says that a subscription isn't its browser's any more.
var errReplaced = errors.New("another subscription has taken its place")

// send sends one message and takes in what came of it.
func (p *Pusher) send(ctx context.Context, what due) {
	one := what.to
	if !p.opt.May(one.Browser, time.Now()) {
		p.forgetFor(ctx, one, "it may not use the page any more")
		return
	}
	p.mu.Lock()
	before := one.shown[what.session]
	p.mu.Unlock()
	number, err := p.numbers.next(ctx, time.Now())
	if err == nil {
		err = p.putShown(ctx, one, what.session, func() string { return inDoubt(cmp.Or(what.alert.Key, before)) })
	}
	if errors.Is(err, errReplaced) {
		return
	}
	if err != nil {
		p.opt.Logger.Warn("what a device shows can't be kept; it's tried again", "device", one.Browser, "err", err)
		p.noteFailure(ctx, one, 0, 0, err)
		return
	}
	status, wait, err := p.exchange(ctx, what, before, number)
	if status >= http.StatusMultipleChoices && status < http.StatusInternalServerError { // surely not taken
		_ = p.putShown(ctx, one, what.session, func() string { return p.stillWanted(what, before) }) // else it stays in doubt
	}
	switch {
	case ctx.Err() != nil: // it stays in doubt; the worker tells the same alert from another
	case err == nil && status < http.StatusMultipleChoices:
		p.noteShown(ctx, what)
	case status == http.StatusNotFound || status == http.StatusGone:
		p.forgetFor(ctx, one, fmt.Sprintf("the push service answered %d", status))
	case status == http.StatusRequestEntityTooLarge && p.setBrief(one):
	default:
		p.noteFailure(ctx, one, status, wait, err)
	}
}

// setBrief has a device get short messages; false: it does already.
func (p *Pusher) setBrief(was *subscriber) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.subs[was.Browser]
	if one == nil || one.Endpoint != was.Endpoint || one.brief {
		return false
	}
	one.brief = true
	return true
}

// noteShown keeps what the push service has taken.
func (p *Pusher) noteShown(ctx context.Context, what due) {
	err := p.putShown(ctx, what.to, what.session, func() string {
		one := p.subs[what.to.Browser]
		one.tries, one.notNow, one.trouble = 0, time.Time{}, ""
		return p.stillWanted(what, what.alert.Key)
	})
	if err != nil && !errors.Is(err, errReplaced) {
		p.opt.Logger.Warn("it can't be kept what a device shows; after a restart it may be told again", "device", what.to.Browser, "err", err)
	}
}

// stillWanted is the key of an alert that the device of a message shows; "" if it isn't told of such any more: its page has
// closed it. p.mu is held, and the device has its subscription.
func (p *Pusher) stillWanted(what due, key string) string {
	if p.subs[what.to.Browser].takes(what.session, kindOf(key)) {
		return key
	}
	return ""
}

// putShown keeps what a device shows of a session, as far as it's known: the key that's returned to it; "": nothing. In
// memory it does so in any case. keyOf is called with p.mu held. errReplaced: the subscription is another by now, of which
// nothing is kept.
func (p *Pusher) putShown(ctx context.Context, was *subscriber, id sessions.ID, keyOf func() string) error {
	p.writing.RLock()
	defer p.writing.RUnlock()
	p.mu.Lock()
	one := p.subs[was.Browser]
	if one == nil || one.Endpoint != was.Endpoint || one.Key != was.Key {
		p.mu.Unlock()
		return errReplaced
	}
	key := keyOf()
	one.shown[id] = key
	if key == "" {
		delete(one.shown, id)
	}
	p.mu.Unlock()
	return p.opt.Store.PutShownAlert(context.WithoutCancel(ctx), one.Browser, id, key)
}

// forgetFor forgets a subscription that nothing can be sent to any more.
func (p *Pusher) forgetFor(ctx context.Context, one *subscriber, why string) {
	p.writing.Lock()
	defer p.writing.Unlock()
	p.mu.Lock()
	current := p.subs[one.Browser]
	if current != nil && current.Endpoint == one.Endpoint {
		delete(p.subs, one.Browser)
	} else {
		current = nil
	}
	p.mu.Unlock()
	if current == nil {
		return // it was replaced meanwhile
	}
	p.opt.Logger.Info("a device isn't notified any more", "device", one.Browser, "why", why)
	if err := p.opt.Store.DropPushSubscription(context.WithoutCancel(ctx), one.Browser); err != nil {
		p.opt.Logger.Warn("a subscription can't be dropped; after a restart it's tried again", "device", one.Browser, "err", err)
	}
}

// noteFailure has a subscription wait. For how long its service asked for is kept: a restart is no reason to come sooner.
func (p *Pusher) noteFailure(ctx context.Context, was *subscriber, status int, asked time.Duration, err error) {
	p.writing.RLock()
	defer p.writing.RUnlock()
	until := p.delay(was, status, asked, err)
	if until.IsZero() || asked <= 0 {
		return
	}
	if err := p.opt.Store.PutPushWait(context.WithoutCancel(ctx), was.Browser, was.Endpoint, until); err != nil {
		p.opt.Logger.Warn("it can't be kept until when a push service is to be left alone; after a restart it's tried sooner", "device", was.Browser, "err", err)
	}
}

// delay has a subscription wait, and returns until when; zero: it's another service's by now.
func (p *Pusher) delay(was *subscriber, status int, asked time.Duration, err error) (until time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	one := p.subs[was.Browser]
	if one == nil || one.Endpoint != was.Endpoint {
		return time.Time{}
	}
	wait := min(backoffFirst<<min(one.tries, 20), backoffMost)
	wait += time.Duration(rand.Int64N(int64(wait)/5 + 1)) // so that not all come at once
	if status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout || status/100 == 3 {
		wait = refusedWait
	}
	wait = max(wait, min(asked, retryMost))
	one.tries++
	one.notNow = time.Now().Add(wait)
	switch one.trouble = "the push service answered " + strconv.Itoa(status); status {
	case 0:
		one.trouble = "the push service can't be reached"
	case http.StatusUnauthorized, http.StatusForbidden: // a token is good for hours
		one.trouble += ", as it does if the clock of panebridge's machine is wrong"
	}
	p.opt.Logger.Warn("a device can't be notified; it's tried again", "device", one.Browser, "service", hostOf(one.Endpoint), "status", status, "in", wait.String(), "err", err)
	return one.notNow
}

func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}

// exchange sends one message, of a session of which before is shown. status is 0 if there was no answer; wait is what the service asked for.
func (p *Pusher) exchange(ctx context.Context, what due, before string, number int64) (status int, wait time.Duration, err error) {
	one := what.to
	text, urgency, err := p.message(what, before, number)
	if err != nil {
		return 0, 0, err
	}
	ctx, cancel := context.WithTimeout(ctx, exchangeTime)
	defer cancel()
	resp, err := webpush.SendNotificationWithContext(ctx, text, &webpush.Subscription{Endpoint: one.Endpoint, Keys: webpush.Keys{Auth: one.Auth, P256dh: one.Key}}, &webpush.Options{
		HTTPClient: p.client, RecordSize: recordBytes, Subscriber: contact, Topic: topicOf(one.Auth, what.session), TTL: int(ttl.Seconds()), Urgency: urgency,
		VAPIDPublicKey: p.key.public, VAPIDPrivateKey: p.key.private,
	})
	if err != nil {
		return 0, 0, hideEndpoint(err)
	}
	defer func() { _ = resp.Body.Close() }()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, maxAnswer)) // a service that breaks off has said its status
	if resp.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("send to a push service: it answered %d %s", resp.StatusCode, wording.OneLine(string(said)))
	}
	return resp.StatusCode, retryAfter(resp.Header, time.Now()), err
}

// hideEndpoint leaves the endpoint out of an error: who knows it could try to write to the device.
func hideEndpoint(err error) error {
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err
	}
	return fmt.Errorf("send to a push service: %w", err)
}

// retryAfter reads how long a service asks to be left alone, in seconds or as a date (RFC 9110, 10.2.3).
func retryAfter(h http.Header, now time.Time) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(text); err == nil || errors.Is(err, strconv.ErrRange) { // then it's the greatest there is
		return time.Duration(min(max(seconds, 0), int(retryMost.Seconds()))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// legibleLine makes one line of a text, in which nothing is drawn elsewhere than it stands: programs name their sessions, and say
// why they failed.
func legibleLine(text string) string { return wording.OneLine(sessions.Legible(text)) }

// message is what the device's worker gets.
func (p *Pusher) message(what due, before string, number int64) ([]byte, webpush.Urgency, error) {
	name := cmp.Or(wording.CutEnd(legibleLine(what.name), maxTitle), "A session")
	m := notification{Tag: "session " + string(what.session), Session: what.session, Title: name, Key: what.alert.Key, Sent: number}
	m.Text = wording.CutEnd(legibleLine(p.opt.Mask(what.alert.Text)), maxText) // it may be kept from before a rule was made that masks it
	urgency := webpush.UrgencyNormal
	switch {
	case m.Key == "":
		m.Key = sureOf(before)
		m.Over, m.Text, urgency = true, overTexts[kindOf(m.Key)], webpush.UrgencyLow
	case what.alert.Kind == Question:
		urgency = webpush.UrgencyHigh // somebody is waited for: also when the phone sleeps
	}
	p.mu.Lock()
	brief := what.to.brief
	p.mu.Unlock()
	if brief {
		m.Text = ""
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(m); err != nil {
		return nil, "", fmt.Errorf("write a push message: %w", err)
	}
	return bytes.TrimSpace(out.Bytes()), urgency, nil
}
