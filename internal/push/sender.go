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

// Run sends what's to be sent, one message after the other, until ctx ends.
func (p *Pusher) Run(ctx context.Context) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	defer p.client.CloseIdleConnections()
	for {
		select {
		case <-ctx.Done():
			if err := p.keepLast(context.WithoutCancel(ctx)); err != nil { // what was heard while a message was on its way
				p.opt.Logger.Warn("what devices are to show isn't kept", "err", err)
			}
			return nil
		case <-p.wake:
		case <-timer.C:
		}
		timer.Stop()
		if next := p.round(ctx); !next.IsZero() {
			timer.Reset(time.Until(next))
		}
	}
}

// round keeps what was heard, sends all that's due, and returns when to look again; zero: when something
// happens.
func (p *Pusher) round(ctx context.Context) time.Time {
	for ctx.Err() == nil {
		if err := p.keepLast(ctx); err != nil {
			p.opt.Logger.Warn("what devices are to show can't be kept; it's tried again", "err", err)
			return time.Now().Add(storeWait)
		}
		one, what, next := p.findDue(time.Now())
		if one == nil {
			return next
		}
		p.send(ctx, one, what)
	}
	return time.Time{}
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

// due is what's to be sent about a session; an empty Alert: what's shown holds no longer.
type due struct {
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

// findDue returns what's to be sent next, questions first and then the oldest, and to whom. nil: nothing,
// before that time.
func (p *Pusher) findDue(now time.Time) (to *subscriber, what due, next time.Time) {
	p.mu.Lock()
	nobody := len(p.subs) == 0
	p.mu.Unlock()
	if nobody {
		return nil, due{}, time.Time{}
	}
	s := p.askSessions()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.subs {
		all := p.differing(one, s)
		if len(all) == 0 {
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
		first := slices.MinFunc(all, compareDue)
		if to == nil || compareDue(first, what) < 0 {
			to, what = one, first
		}
	}
	return to, what, next
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
			all = append(all, due{session: id, name: name, alert: want})
		}
	}
	for id := range one.shown {
		if _, there := s.names[id]; !there {
			all = append(all, due{session: id})
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

// send sends one message and takes in what came of it.
func (p *Pusher) send(ctx context.Context, one *subscriber, what due) {
	if !p.opt.May(one.Browser, time.Now()) {
		p.forgetFor(ctx, one, "it may not use the page any more")
		return
	}
	p.mu.Lock()
	before := one.shown[what.session]
	p.mu.Unlock()
	if err := p.putShown(ctx, one, what.session, inDoubt(cmp.Or(what.alert.Key, before))); err != nil {
		p.opt.Logger.Warn("what a device shows can't be kept; it's tried again", "device", one.Browser, "err", err)
		p.noteFailure(one, 0, 0, err)
		return
	}
	status, wait, err := p.exchange(ctx, one, what, before)
	if status >= http.StatusMultipleChoices && status < http.StatusInternalServerError { // surely not taken
		_ = p.putShown(ctx, one, what.session, before) // else it stays in doubt
	}
	switch {
	case ctx.Err() != nil: // it stays in doubt; the worker tells the same alert from another
	case err == nil && status < http.StatusMultipleChoices:
		p.noteShown(ctx, one, what)
	case status == http.StatusNotFound || status == http.StatusGone:
		p.forgetFor(ctx, one, fmt.Sprintf("the push service answered %d", status))
	case status == http.StatusRequestEntityTooLarge && !one.brief:
		p.mu.Lock()
		one.brief = true
		p.mu.Unlock()
	default:
		p.noteFailure(one, status, wait, err)
	}
}

// noteShown keeps what the push service has taken.
func (p *Pusher) noteShown(ctx context.Context, was *subscriber, what due) {
	p.mu.Lock()
	one, key := p.subs[was.Browser], what.alert.Key
	if one == nil || one.Endpoint != was.Endpoint {
		p.mu.Unlock()
		return // it's another's by now
	}
	one.tries, one.notNow, one.trouble = 0, time.Time{}, ""
	if key != "" && !one.takes(what.session, what.alert.Kind) {
		key = "" // it was muted meanwhile, and isn't told of it any more
	}
	p.mu.Unlock()
	if err := p.putShown(ctx, one, what.session, key); err != nil {
		p.opt.Logger.Warn("it can't be kept what a device shows; after a restart it may be told again", "device", one.Browser, "err", err)
	}
}

// putShown keeps what a device shows of a session, as far as it's known; "": nothing. In memory it does so in
// any case.
func (p *Pusher) putShown(ctx context.Context, one *subscriber, id sessions.ID, key string) error {
	p.mu.Lock()
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

// noteFailure has a subscription wait.
func (p *Pusher) noteFailure(one *subscriber, status int, asked time.Duration, err error) {
	wait := min(backoffFirst<<min(one.tries, 20), backoffMost)
	wait += time.Duration(rand.Int64N(int64(wait)/5 + 1)) // so that not all come at once
	if status >= 400 && status < 500 && status != http.StatusTooManyRequests && status != http.StatusRequestTimeout || status/100 == 3 {
		wait = refusedWait
	}
	wait = max(wait, min(asked, retryMost))
	p.mu.Lock()
	defer p.mu.Unlock()
	one.tries++
	one.notNow = time.Now().Add(wait)
	one.trouble = "the push service answered " + strconv.Itoa(status)
	if status == 0 {
		one.trouble = "the push service can't be reached"
	}
	p.opt.Logger.Warn("a device can't be notified; it's tried again", "device", one.Browser, "service", hostOf(one.Endpoint), "status", status, "in", wait.String(), "err", err)
}

func hostOf(endpoint string) string {
	u, err := url.Parse(endpoint)
	if err != nil {
		return ""
	}
	return u.Host
}

// exchange sends one message, of a session of which before is shown. status is 0 if there was no answer; wait is what the service asked for.
func (p *Pusher) exchange(ctx context.Context, one *subscriber, what due, before string) (status int, wait time.Duration, err error) {
	text, urgency, err := p.message(one, what, before)
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
	if seconds, err := strconv.Atoi(text); err == nil {
		return time.Duration(min(max(seconds, 0), int(retryMost.Seconds()))) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(at.Sub(now), 0)
	}
	return 0
}

// message is what the device's worker gets.
func (p *Pusher) message(one *subscriber, what due, before string) ([]byte, webpush.Urgency, error) {
	name := cmp.Or(wording.CutEnd(wording.OneLine(what.name), maxTitle), "A session")
	m := notification{Tag: "session " + string(what.session), Session: what.session, Title: name, Text: what.alert.Text, Key: what.alert.Key, Sent: time.Now().UnixMilli()}
	urgency := webpush.UrgencyNormal
	switch {
	case m.Key == "":
		m.Key = sureOf(before)
		m.Over, m.Text, urgency = true, overTexts[kindOf(m.Key)], webpush.UrgencyLow
	case what.alert.Kind == Question:
		urgency = webpush.UrgencyHigh // somebody is waited for: also when the phone sleeps
	}
	if one.brief {
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
