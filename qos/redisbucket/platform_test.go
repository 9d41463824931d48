package redisbucket_test

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// platform stands in for a chat platform, for processes: it notes when each call
// arrives, and may order silence.
type platform struct {
	path     string
	listener net.Listener
	latency  time.Duration // the most that an answer takes

	mu       sync.Mutex
	arrivals map[string][]arrival
	order    map[string]time.Duration // the next call of a chat is told to be silent for so long
	silences map[string][]silenced
	lines    int // connections so far
	unheard  int // calls of processes that couldn't know of a silence
	wrong    []string
}

type arrival struct {
	at, sent, wanted time.Time
	asked            time.Time // when its process asked for the slot
	answered         time.Time // when Redis had last answered to it, before that
	line             int       // a process has one for each chat, and another after a restart
	worker, class    string
}

// silenced is a silence that was ordered.
type silenced struct {
	from, to time.Time
	line     int       // of who was told
	known    time.Time // when it was in Redis; zero: not yet
}

// cutOff is how long after the last answer a process doesn't send that is cut off.
const cutOff = window + callTimeout + 5*time.Second

// judge says what's wrong with a call that was sent in a silence; unheard: nothing, since
// its process couldn't know of it: cut off before that was known, it was silent for as
// long as it must be, and sends within its share.
func (s silenced) judge(a arrival) (wrong string, unheard bool) {
	const answersTravel = time.Second
	switch {
	case !a.sent.Before(s.to):
		return "", false
	case a.line == s.line:
		return "it was told itself", false
	case s.known.IsZero() || !a.asked.After(s.known):
		return "", false // the news is on its way
	case a.answered.After(s.known.Add(answersTravel)):
		return "redis had told it", false
	case a.asked.Sub(a.answered) < cutOff:
		return fmt.Sprintf("cut off, it wasn't silent: its last answer was %v before", a.asked.Sub(a.answered)), false
	}
	return "", true
}

func newPlatform(t *testing.T, latency time.Duration) *platform {
	t.Helper()
	p := &platform{
		path: filepath.Join(t.TempDir(), "p"), latency: latency, arrivals: map[string][]arrival{},
		order: map[string]time.Duration{}, silences: map[string][]silenced{},
	}
	var err error
	if p.listener, err = net.Listen("unix", p.path); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.listener.Close() })
	go func() {
		for {
			c, err := p.listener.Accept()
			if err != nil {
				return
			}
			go p.serve(c)
		}
	}()
	return p
}

// serve answers one connection. A call is a line: worker, chat, class, and four times:
// when it was sent, since when it was wanted, when it was asked for, and when Redis had
// last answered to its process. The answer is the seconds of silence that are ordered, 0
// for none.
func (p *platform) serve(c net.Conn) {
	defer c.Close()
	p.mu.Lock()
	p.lines++
	line := p.lines
	p.mu.Unlock()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		at := func(i int) time.Time {
			nanos, _ := strconv.ParseInt(f[i], 10, 64)
			return time.Unix(0, nanos)
		}
		silence := p.arrived(f[1], arrival{
			at: time.Now(), sent: at(3), wanted: at(4), asked: at(5), answered: at(6), line: line, worker: f[0], class: f[2],
		})
		if p.latency > 0 {
			time.Sleep(rand.N(p.latency))
		}
		if _, err := fmt.Fprintln(c, silence.Seconds()); err != nil {
			return
		}
	}
}

func (p *platform) arrived(chat string, a arrival) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, s := range p.silences[chat] {
		wrong, unheard := s.judge(a)
		if unheard {
			p.unheard++
		}
		if wrong != "" {
			p.wrong = append(p.wrong, fmt.Sprintf("a call of %s was sent to %s %v into a silence of %v: %s",
				a.worker, chat, a.sent.Sub(s.from), s.to.Sub(s.from), wrong))
		}
	}
	p.arrivals[chat] = append(p.arrivals[chat], a)
	d := p.order[chat]
	delete(p.order, chat)
	if d > 0 {
		p.silences[chat] = append(p.silences[chat], silenced{from: a.at, to: a.at.Add(d), line: a.line})
	}
	return d
}

// silence has the next call of a chat be told to be silent, and waits until that's in
// Redis, which known looks up.
func (p *platform) silence(t *testing.T, chat string, d time.Duration, known func() bool) {
	t.Helper()
	p.mu.Lock()
	p.order[chat] = d
	p.mu.Unlock()
	for range 3000 {
		time.Sleep(10 * time.Millisecond)
		p.mu.Lock()
		_, waits := p.order[chat]
		p.mu.Unlock()
		if !waits && known() {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.silences[chat][len(p.silences[chat])-1].known = time.Now()
			return
		}
	}
	t.Fatalf("nobody called %s, or nobody told redis", chat)
}

// since are the arrivals of a chat from a time on.
func (p *platform) since(chat string, from time.Time) []arrival {
	p.mu.Lock()
	defer p.mu.Unlock()
	var list []arrival
	for _, a := range p.arrivals[chat] {
		if !a.at.Before(from) {
			list = append(list, a)
		}
	}
	return list
}

// worst is the most calls that arrived in any window.
func (p *platform) worst(per time.Duration) (most int, at time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, list := range p.arrivals {
		slices.SortFunc(list, func(a, b arrival) int { return a.at.Compare(b.at) })
		from := 0
		for i, a := range list {
			for a.at.Sub(list[from].at) >= per {
				from++
			}
			if n := i - from + 1; n > most {
				most, at = n, list[from].at
			}
		}
	}
	return most, at
}

// check fails the test if any window held too many calls, or one came in a silence.
func (p *platform) check(t *testing.T, calls int, per time.Duration) {
	t.Helper()
	if most, at := p.worst(per); most > calls {
		t.Errorf("%d calls arrived within %v from %v, allowed are %d", most, per, at.Format("15:04:05.000"), calls)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, w := range p.wrong {
		t.Error(w)
	}
}
