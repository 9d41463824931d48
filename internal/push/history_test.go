package push_test

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/push/pushtest"
	"github.com/panebridge/panebridge/sessions"
)

// A history is what happens to sessions, devices, the daemon and the push service.
type step struct {
	do              string
	device, session int
	wishes          push.Wishes
	answers         []pushtest.Answer
	wait            time.Duration
	flag, other     bool
}

const (
	devicesDrawn  = 3
	sessionsDrawn = 3
)

func sessionID(n int) sessions.ID { return sessions.ID(fmt.Sprintf("pb_%d", n)) }
func browserID(n int) string      { return fmt.Sprintf("br_%d", n) }

func drawStep(rt *rapid.T) step {
	s := step{
		do: rapid.SampledFrom([]string{
			"ask", "ask", "ask", "answer", "answer", "end", "end", "begin", "exit", "revive", "restart", "kill", "wait", "wait", "wait", "wish", "wish",
			"revoke", "subscribe", "break", "break", "away", "forget", "gone",
		}).Draw(rt, "do"),
		device: rapid.IntRange(0, devicesDrawn-1).Draw(rt, "device"), session: rapid.IntRange(0, sessionsDrawn-1).Draw(rt, "session"),
		flag: rapid.Bool().Draw(rt, "flag"), other: rapid.Bool().Draw(rt, "other"),
	}
	switch s.do {
	case "wait":
		s.wait = rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 7 * time.Second, 20 * time.Second, time.Minute, 20 * time.Minute, 5 * time.Hour}).Draw(rt, "wait")
	case "wish", "subscribe":
		s.wishes = drawWishes(rt)
	case "break":
		s.answers = rapid.SliceOfN(rapid.SampledFrom([]pushtest.Answer{
			{Status: 429, RetryAfter: "30"},
			{Status: 429, RetryAfter: "7200"},
			{Status: 429},
			{Status: 500},
			{Status: 500, Taken: true},
			{Status: 503, RetryAfter: "60", Taken: true},
			{},
			{Taken: true},
			{Status: 400},
			{Status: 400, After: 3 * time.Second},
			{Status: 429, RetryAfter: "30", After: 10 * time.Second},
			{Status: 503, After: 8 * time.Second, Taken: true},
			{Status: 201, After: 5 * time.Second, Taken: true},
			{Status: 201, Taken: true},
			{Status: 200, Taken: true},
		}), 1, 4).Draw(rt, "answers")
	}
	return s
}

func drawWishes(rt *rapid.T) push.Wishes {
	w := push.Wishes{Questions: rapid.IntRange(0, 3).Draw(rt, "questions") > 0, Ends: rapid.Bool().Draw(rt, "ends"), Errors: rapid.Bool().Draw(rt, "errors")}
	for n := range sessionsDrawn {
		if rapid.IntRange(0, 4).Draw(rt, "muted") == 0 {
			w.Muted = append(w.Muted, sessionID(n))
		}
	}
	w.Quiet = rapid.SampledFrom([]push.QuietHours{{}, {}, {From: "22:00", To: "07:00", Zone: "UTC"}, {From: "01:00", To: "12:30", Zone: "Asia/Kolkata"}, {From: "00:00", To: "05:00", Zone: "UTC"}}).Draw(rt, "quiet")
	return w
}

// modelAlert is what a session would have devices show.
type modelAlert struct {
	kind push.Kind
	text string
	at   time.Time
}

// modelDevice is a device as it should be.
type modelDevice struct {
	*pushtest.Device

	wishes  push.Wishes
	since   time.Time
	revoked bool
	gone    bool // the service has forgotten it
	asked   int  // requests when it did
	checked int  // messages that were looked at
	last    map[string]string
}

// player plays a history and knows what should come of it.
type player struct {
	*world

	devices   []*modelDevice
	questions map[sessions.ID]*modelAlert
	ends      map[sessions.ID]*modelAlert
	exited    map[sessions.ID]bool
	forgotten map[sessions.ID]bool
	number    int
	wrong     []string
}

func (p *player) complain(format string, args ...any) {
	p.wrong = append(p.wrong, time.Now().UTC().Format("02 15:04:05 ")+fmt.Sprintf(format, args...))
}

// play lives a history, and returns what was wrong.
func play(steps []step) []string {
	w, err := newWorld()
	if err != nil {
		return []string{err.Error()}
	}
	p := &player{world: w, questions: map[sessions.ID]*modelAlert{}, ends: map[sessions.ID]*modelAlert{}, exited: map[sessions.ID]bool{}, forgotten: map[sessions.ID]bool{}}
	for n := range sessionsDrawn {
		w.name(sessionID(n), fmt.Sprintf("s%d %s", n, secret))
	}
	for n := range devicesDrawn {
		p.devices = append(p.devices, &modelDevice{})
		p.subscribe(n, all())
	}
	for _, s := range steps {
		p.number++
		p.take(s)
		synctest.Wait()
		p.look()
	}
	w.service.Recover()
	for _, d := range p.devices {
		d.SetAway(false)
	}
	time.Sleep(48 * time.Hour) // beyond each quiet time and each wait
	synctest.Wait()
	p.look()
	for n, d := range p.devices {
		p.compare(n, d)
	}
	if err := w.end(); err != nil {
		p.complain("ending: %v", err)
	}
	return p.wrong
}

func (p *player) subscribe(n int, wishes push.Wishes) {
	d := p.devices[n]
	if d.revoked {
		return
	}
	*d = modelDevice{Device: p.service.Subscribe(p.pusher.PublicKey()), wishes: wishes, since: time.Now(), last: map[string]string{}}
	if err := p.world.subscribe(browserID(n), d.Device, wishes); err != nil {
		p.complain("subscribing: %v", err)
	}
}

func (p *player) take(s step) {
	id, d := sessionID(s.session), p.devices[s.device]
	switch s.do {
	case "wait":
		time.Sleep(s.wait)
	case "restart":
		p.stop()
		if err := p.start(); err != nil {
			p.complain("starting: %v", err)
		}
	case "kill":
		p.store = p.store.Fork() // what the old one keeps from now on is lost
		p.stop()
		if err := p.start(); err != nil {
			p.complain("starting: %v", err)
		}
	case "wish":
		p.wish(s, d)
	case "subscribe":
		p.subscribe(s.device, s.wishes)
	case "revoke":
		if s.flag && s.other { // or too few are left
			p.revoke(s.device, d)
		}
	case "break":
		p.service.Break(s.answers...)
	case "away":
		d.SetAway(s.flag)
	case "gone":
		if s.flag && s.other && !d.gone {
			d.gone, d.asked = true, d.Asked()
			d.Forget(404 + 6*(s.session%2))
		}
	default:
		if !p.forgotten[id] {
			p.happen(s, id)
		}
	}
}

// happen has something happen to a session.
func (p *player) happen(s step, id sessions.ID) {
	now := time.Now()
	switch s.do {
	case "ask":
		if p.questions[id] == nil && !p.exited[id] {
			title := fmt.Sprintf("Question %d about %s?", p.number, secret)
			p.questions[id] = &modelAlert{push.Question, masked(title), now}
			p.ask(id, fmt.Sprintf("pr_%d", p.number), title)
		}
	case "answer":
		delete(p.questions, id)
		p.answer(id)
	case "end":
		if p.exited[id] {
			return
		}
		t := sessions.Turn{Number: int64(p.number), StartedAt: now.Add(-10 * time.Minute), EndedAt: now}
		p.ends[id] = &modelAlert{push.End, "Done in 10 min", now}
		if s.other { // short
			t.StartedAt = now.Add(-5 * time.Second)
			delete(p.ends, id)
		}
		if s.flag {
			t.Failed = fmt.Sprintf("%d %s", p.number, secret)
			p.ends[id] = &modelAlert{push.Failure, masked("Failed: " + t.Failed), now}
		}
		p.feed.PublishOutput(sessions.OutputEvent{Session: id, Complete: true, Turn: t})
	case "begin":
		if !p.exited[id] {
			delete(p.ends, id)
			p.feed.PublishOutput(sessions.OutputEvent{Session: id, Turn: sessions.Turn{Number: int64(p.number), Open: true}})
		}
	case "exit":
		if !p.exited[id] {
			delete(p.questions, id)
			p.answer(id)
			p.exited[id], p.ends[id] = true, &modelAlert{push.End, "It has ended", now}
			p.feed.PublishSession(sessions.Session{ID: id, State: sessions.StateEnded, EndedAt: now})
		}
	case "revive":
		if p.exited[id] {
			delete(p.exited, id)
			delete(p.ends, id)
			p.feed.PublishSession(sessions.Session{ID: id, State: sessions.StateIdle})
		}
	case "forget":
		if s.flag && s.other {
			p.forgotten[id] = true
			delete(p.questions, id)
			delete(p.ends, id)
			p.mu.Lock()
			delete(p.names, id)
			p.mu.Unlock()
			p.answer(id)
		}
	}
}

// wish changes what a device wants, as its page does: that closes what isn't wanted any more.
func (p *player) wish(s step, d *modelDevice) {
	if d.revoked || d.gone {
		return
	}
	d.SetAway(false) // it's at hand
	synctest.Wait()
	p.look()
	if err := p.change(browserID(s.device), s.wishes); err != nil {
		p.complain("changing the wishes: %v", err)
		return
	}
	d.wishes = s.wishes
	if err := d.Close(func(n pushtest.Notification) bool { return !d.takes(n) }); err != nil {
		p.complain("%v", err)
	}
	clear(d.last)
}

func (p *player) revoke(n int, d *modelDevice) {
	d.revoked = true
	p.mu.Lock()
	p.barred[browserID(n)] = true
	p.mu.Unlock()
	p.pusher.Forget(browserID(n))
	if err := p.store.DropPushSubscription(context.Background(), browserID(n)); err != nil {
		p.complain("%v", err)
	}
	synctest.Wait()
	d.asked = d.Asked()
}

func (d *modelDevice) takes(n pushtest.Notification) bool {
	kind, _, _ := strings.Cut(n.Key, ":")
	return !slices.Contains(d.wishes.Muted, sessions.ID(n.Session)) && map[string]bool{"question": d.wishes.Questions, "end": d.wishes.Ends, "error": d.wishes.Errors}[kind]
}

// look looks at what has come since.
func (p *player) look() {
	for n, d := range p.devices {
		taken := d.Taken()
		for _, m := range taken[d.checked:] {
			p.check(n, d, m)
		}
		d.checked = len(taken)
		if d.revoked && d.Asked() > d.asked {
			p.complain("device %d was revoked and is told something", n)
		}
	}
}

func (p *player) check(n int, d *modelDevice, m pushtest.Message) {
	got, err := pushtest.ReadMessage(m)
	state := fmt.Sprint(got.Key, got.Over)
	switch {
	case err != nil:
		p.complain("device %d: %v", n, err)
	case strings.Contains(m.Text, secret):
		p.complain("device %d is told a secret: %s", n, m.Text)
	case d.wishes.IsQuiet(m.At):
		p.complain("device %d is told in its quiet hours: %s", n, m.Text)
	case slices.Contains(d.wishes.Muted, sessions.ID(got.Session)):
		p.complain("device %d is told of a muted session: %s", n, m.Text)
	case !got.Over && !d.takes(got):
		p.complain("device %d is told what it doesn't want: %s", n, m.Text)
	case m.Sure && d.last[got.Session] == state:
		p.complain("device %d is told twice: %s", n, m.Text)
	}
	d.last[got.Session] = state
	if !m.Sure {
		d.last[got.Session] += " in doubt"
	}
}

// compare compares what a device shows with what it should.
func (p *player) compare(n int, d *modelDevice) {
	if d.gone && d.Asked() > d.asked {
		if _, known := p.pusher.Find(browserID(n)); known {
			p.complain("device %d is forgotten by its service, and still subscribed", n)
		}
	}
	if d.gone || d.revoked {
		return
	}
	screen, err := d.Screen()
	if err != nil {
		p.complain("%v", err)
	}
	for s := range sessionsDrawn {
		id := sessionID(s)
		want := ""
		q, e := p.questions[id], p.ends[id]
		muted := slices.Contains(d.wishes.Muted, id)
		switch {
		case muted:
		case q != nil && d.wishes.Questions:
			want = q.text
		case e != nil && !e.at.Before(d.since) && (e.kind == push.End && d.wishes.Ends || e.kind == push.Failure && d.wishes.Errors):
			want = e.text
		}
		if got := screen[string(id)]; got.Text != want {
			p.complain("device %d shows %q of session %d, want %q", n, cmp.Or(got.Text, "nothing"), s, want)
		}
	}
}

// Whatever sessions, devices, push services and the daemon go through: in the end each device shows what it should, and never
// what it must not.
func TestHistories(t *testing.T) {
	drawtest.CheckTimes(t, drawtest.Times(5000, 300, 30), func(rt *rapid.T) {
		steps := rapid.SliceOfN(rapid.Custom(drawStep), 5, 60).Draw(rt, "steps")
		var wrong []string
		synctest.Test(t, func(*testing.T) { wrong = play(steps) })
		if len(wrong) > 0 {
			rt.Fatalf("%s", strings.Join(wrong, "\n"))
		}
	})
}
