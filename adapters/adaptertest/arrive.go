package adaptertest

import (
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing/synctest"
	"time"
	"unicode/utf16"
)

// arrive does a call, or refuses it, and returns which arrival it was.
func (p *Platform) arrive(call Call, f Fault) (Answer, int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	a := Arrival{At: now, Call: call}
	answer, refusal := p.judge(now, call, f)
	a.Call.Data = nil
	if refusal != nil {
		a.Refused, a.Ordered = refusal.Text, refusal.RetryAfter
	}
	p.arrivals = append(p.arrivals, a)
	arrival := len(p.arrivals) - 1
	if refusal != nil {
		return Answer{}, arrival, refusal
	}
	if f.Kind == BadGatewayOK {
		return Answer{}, arrival, &Error{Code: http.StatusBadGateway, Text: "bad gateway"}
	}
	return answer, arrival, nil
}

// judge refuses a call or does it.
func (p *Platform) judge(now time.Time, call Call, f Fault) (Answer, *Error) {
	c := p.chats[call.Chat]
	if c == nil || c.gone {
		return Answer{}, &Error{Code: http.StatusForbidden, Text: ChatNotFound}
	}
	if c.movedTo != "" {
		return Answer{}, &Error{Code: http.StatusBadRequest, Text: Upgraded, MigratedTo: c.movedTo}
	}
	if err := p.limit(now, c, call, f); err != nil {
		return Answer{}, err
	}
	switch f.Kind {
	case ServerError:
		return Answer{}, &Error{Code: http.StatusInternalServerError, Text: "internal error"}
	case BadGateway:
		return Answer{}, &Error{Code: http.StatusBadGateway, Text: "bad gateway"}
	default:
		if p.opt.Refuse != nil {
			if why := p.opt.Refuse(call); why != "" {
				return Answer{}, &Error{Code: http.StatusBadRequest, Text: why}
			}
		}
		return p.do(now, c, call)
	}
}

// limit refuses a call that comes too early. Each call during a penalty doubles
// what's left of it, at least.
func (p *Platform) limit(now time.Time, c *chat, call Call, f Fault) *Error {
	if now.Before(c.until) {
		c.until = now.Add(c.until.Sub(now) * 2)
		return &Error{Code: http.StatusTooManyRequests, Text: TooMany, RetryAfter: roundedUp(c.until.Sub(now))}
	}
	wait := f.RetryAfter
	if f.Kind != Throttled {
		wait = 0
	}
	if !p.opt.Unlimited {
		wait = max(wait, p.full(now, 20, time.Minute, func(x Call) bool { return x.Chat == call.Chat }), p.full(now, 30, time.Second, func(Call) bool { return true }))
	}
	if wait == 0 {
		return nil
	}
	wait = roundedUp(wait)
	c.until = now.Add(wait)
	return &Error{Code: http.StatusTooManyRequests, Text: TooMany, RetryAfter: wait}
}

// roundedUp is in whole seconds, as retry_after is.
func roundedUp(d time.Duration) time.Duration {
	return (d + time.Second - 1) / time.Second * time.Second
}

// full is for how long a window of so many calls, of those that count, takes no further one; 0: it does.
func (p *Platform) full(now time.Time, calls int, per time.Duration, counts func(Call) bool) time.Duration {
	n := 0
	for _, a := range slices.Backward(p.arrivals) {
		if now.Sub(a.At) >= per {
			break
		}
		if counts(a.Call) {
			if n++; n == calls {
				return a.At.Add(per).Sub(now)
			}
		}
	}
	return 0
}

// do does a call that came in time.
func (p *Platform) do(now time.Time, c *chat, call Call) (Answer, *Error) {
	if _, there := c.threads[call.Thread]; call.Thread != "" && !there {
		return Answer{}, &Error{Code: http.StatusBadRequest, Text: ThreadNotFound}
	}
	switch call.Method {
	case Send, SendFile:
		return p.send(now, call)
	case Edit:
		return Answer{}, p.edit(call)
	case CreateThread:
		if c.threads == nil {
			return Answer{}, &Error{Code: http.StatusBadRequest, Text: ThreadNotFound}
		}
		id := p.nextID()
		c.threads[id] = call.Text
		return Answer{ID: id}, nil
	case RenameThread:
		c.threads[call.Thread] = call.Text
		return Answer{}, nil
	case CloseThread, OpenThread:
		c.closed[call.Thread] = call.Method == CloseThread
		return Answer{}, nil
	default:
		return Answer{}, nil
	}
}

func (p *Platform) send(now time.Time, call Call) (Answer, *Error) {
	if err := checkText(call); err != nil {
		return Answer{}, err
	}
	if call.Nonce != "" && p.opt.NonceFor > 0 {
		for _, m := range p.messages {
			if m.nonce == call.Nonce && m.Chat == call.Chat && now.Sub(m.At) < p.opt.NonceFor {
				return Answer{ID: m.ID, Existed: true}, nil
			}
		}
	}
	m := &Message{
		ID: p.nextID(), Chat: call.Chat, Thread: call.Thread, Text: call.Text, Data: call.Data, Rang: !call.Silent, At: now, nonce: call.Nonce,
	}
	p.messages = append(p.messages, m)
	return Answer{ID: m.ID}, nil
}

func (p *Platform) edit(call Call) *Error {
	for _, m := range p.messages {
		if m.ID != call.Message || m.Chat != call.Chat {
			continue
		}
		if err := checkText(call); err != nil {
			return err
		}
		if m.frozen {
			return &Error{Code: http.StatusBadRequest, Text: NotEditable}
		}
		if m.Text == call.Text {
			return &Error{Code: http.StatusBadRequest, Text: NotModified}
		}
		m.Text = call.Text
		m.Edits++
		return nil
	}
	return &Error{Code: http.StatusBadRequest, Text: MessageNotFound}
}

func checkText(call Call) *Error {
	switch {
	case len(utf16.Encode([]rune(call.Text))) > maxText:
		return &Error{Code: http.StatusBadRequest, Text: TooLong}
	case len(call.Data) > maxFile:
		return &Error{Code: http.StatusRequestEntityTooLarge, Text: FileTooLarge}
	case call.Method != SendFile && strings.TrimSpace(call.Text) == "", call.Method == SendFile && len(call.Data) == 0:
		return &Error{Code: http.StatusBadRequest, Text: Empty}
	default:
		return nil
	}
}

// Refusals returns the calls that were refused with a text.
func (p *Platform) Refusals(text string) []Arrival {
	var out []Arrival
	for _, a := range p.Arrivals() {
		if a.Refused == text {
			out = append(out, a)
		}
	}
	return out
}

// quickest is the least time that a call or its answer travels.
const quickest = 30 * time.Millisecond

// Latency returns how long calls and their answers travel, at random but repeatably: there
// and back less than slowest.
func Latency(seed uint64, slowest time.Duration) func() (here, back time.Duration) {
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(seed, 2))
	one := func() time.Duration { return quickest + time.Duration(r.Int64N(int64(slowest/2-quickest))) }
	return func() (here, back time.Duration) {
		mu.Lock()
		defer mu.Unlock()
		return one(), one()
	}
}

// Percentile is the least duration that a share of all don't exceed.
func Percentile(all []time.Duration, share float64) time.Duration {
	all = slices.Sorted(slices.Values(all))
	return all[min(len(all)-1, int(float64(len(all))*share))]
}

// After lets time pass in a bubble, and what happens in it.
func After(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}
