package qos_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// A world is a platform that counts what arrives, the adapter's store, and the
// sessions that print. It outlives the schedulers that work in it, and notes what
// must not happen. It shares no code with the scheduler.
type world struct {
	mu     sync.Mutex
	random *dice
	faults faults
	ledger *qostest.MemLedger

	regimes  []regime               // what was promised when
	arrivals map[string][]time.Time // at the platform, by window scope
	silences []silence
	mirrors  map[qos.DocID]*mirror
	requests map[string]*errand
	sent     []dispatch
	seen     map[string]int // what happened how often
	bad      []string

	process *process
}

// faults is what the platform and the network do wrong.
type faults struct {
	latency                            time.Duration // at most
	throttled, failed, timeout, unsent float64       // how often
	broken, rejected, migrated         float64
	retryAfter                         time.Duration // at most
	ledgerDelay                        time.Duration
	ledgerFails                        float64
	wrapped                            string // "slow" or "failing": the budget
}

// regime is what holds from a time on.
type regime struct {
	from   time.Time
	mode   qos.Mode
	limits qos.Limits
	opt    qos.Options
}

// silence is the platform's order.
type silence struct {
	scope         string
	answered, end time.Time
}

// dispatch is a call that was made.
type dispatch struct {
	call qos.Call
	at   time.Time
}

// mirror is one document: what its session printed, what the adapter stored, what
// the chat shows.
type mirror struct {
	id      qos.DocID
	chat    qos.ChatKey
	session qos.SessionKey

	printed, turnEnd     int64 // told to the scheduler
	delivered, announced int64 // in the adapter's store
	intent               bool  // a call was begun and not answered
	live                 bool

	shown, rung int64 // at the platform
	open        bool
	flushing    bool // its session is closed and prints nothing more
	cancelling  bool
	cancelled   bool // and the scheduler has heard of it
	lastCall    time.Time
}

// errand is one request.
type errand struct {
	posted, done int
	again        int // done by calls that were marked as possibly double
	waits        bool
	asked        time.Time // when it was posted last
}

// process is one run of the scheduler, with its adapter.
type process struct {
	world     *world
	scheduler *qos.OutputQoSScheduler
	ledger    *qostest.Process
	permits   *countingBudget
	cancel    context.CancelFunc
	ended     chan struct{}
	dead      bool // guarded by world.mu
	inFlight  map[qos.ChatKey]int
}

func (w *world) wrong(format string, args ...any) {
	if len(w.bad) < 20 {
		w.bad = append(w.bad, fmt.Sprintf("%v: ", time.Since(w.began()).Round(time.Millisecond))+fmt.Sprintf(format, args...))
	}
}

// saw counts something that must happen now and then, or the histories show nothing.
// w.mu is held.
func (w *world) saw(what string) { w.seen[what]++ }

func (w *world) began() time.Time { return w.regimes[0].from }

// start begins a process over what the last one left.
func (w *world) start(opt qos.Options) {
	w.mu.Lock()
	p := &process{world: w, ledger: w.ledger.Process(), ended: make(chan struct{}), inFlight: map[qos.ChatKey]int{}}
	f := w.faults
	p.ledger.Fault = func() error {
		if f.ledgerDelay > 0 {
			time.Sleep(w.random.duration(f.ledgerDelay))
		}
		if w.random.float() < f.ledgerFails {
			return errors.New("disk full")
		}
		return nil
	}
	var budget qos.Budget = qos.NewLocalBudget(p.ledger)
	p.permits = &countingBudget{Budget: budget, open: map[qos.PermitID]bool{}}
	budget = p.permits
	switch f.wrapped {
	case "slow":
		budget = &qostest.Slow{Budget: budget, Delay: func() time.Duration { return w.random.duration(2 * time.Second) }}
	case "failing":
		budget = &qostest.Failing{Budget: budget, Fails: func() bool { return w.random.float() < 0.3 }}
	}
	opt.OnEvent = p.event
	scheduler, err := qos.New(qostest.WithLimits(opt), p, budget)
	if err != nil {
		panic(err)
	}
	p.scheduler = scheduler
	w.process = p
	w.rule(opt)
	for _, m := range w.mirrors {
		m.lastCall = time.Time{} // that isn't kept
	}
	if slices.ContainsFunc(w.silences, func(s silence) bool { return time.Now().Before(s.end) }) {
		w.saw("start within a penalty")
	}
	w.mu.Unlock()

	ctx, cancel := context.WithCancel(context.Background())
	p.cancel = cancel
	go func() {
		defer close(p.ended)
		err := scheduler.Run(ctx)
		w.mu.Lock()
		defer w.mu.Unlock()
		if err != nil && !p.dead {
			w.wrong("Run ended with %v", err)
		}
	}()
	w.mu.Lock()
	var docs []qos.Doc
	for _, m := range w.sorted() {
		if m.open {
			m.flushing = false
			docs = append(docs, m.doc())
		}
	}
	w.mu.Unlock()
	for _, d := range docs {
		w.try(scheduler.Open(d))
	}
	synctest.Wait()
}

func (w *world) note(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.wrong(format, args...)
}

func (w *world) try(err error) {
	if err != nil {
		w.note("unexpected: %v", err)
	}
}

// rule begins a regime. w.mu is held.
func (w *world) rule(opt qos.Options) {
	limits := opt.Limits
	if len(limits.Group.Windows) == 0 {
		mpm := opt.GroupMPM
		if mpm == 0 {
			mpm = 20
		}
		d := qostest.Limits()
		d.Group.Windows = []qos.Window{{Calls: mpm, Per: time.Minute}}
		limits.Group, limits.Private, limits.Families = d.Group, d.Private, d.Families
		if len(limits.Bot.Windows) == 0 {
			limits.Bot = d.Bot
		}
	}
	w.regimes = append(w.regimes, regime{from: time.Now(), mode: opt.Mode, limits: limits, opt: opt})
}

func (w *world) regime() regime { return w.regimes[len(w.regimes)-1] }

func (w *world) sorted() []*mirror {
	var all []*mirror
	for _, m := range w.mirrors {
		all = append(all, m)
	}
	slices.SortFunc(all, func(a, b *mirror) int {
		if a.id < b.id {
			return -1
		}
		return 1
	})
	return all
}

func (m *mirror) doc() qos.Doc {
	d := qos.Doc{ID: m.id, Chat: m.chat, Session: m.session, Delivered: m.delivered, Wanted: m.printed, Uncertain: m.intent}
	if m.turnEnd > m.announced {
		d.Final = m.turnEnd
	}
	return d
}

// kill ends the process as a crash does: nothing it does is stored any more.
func (w *world) kill() {
	p := w.process
	p.ledger.Kill()
	w.mu.Lock()
	p.dead = true
	w.saw("crash")
	if p.underWay() > 0 {
		w.saw("crash with a call under way")
	}
	// What the process was told in this instant need not be durable; with a ledger
	// that fails, what it was told lately.
	young := time.Duration(0)
	if w.faults.ledgerFails > 0 || w.faults.ledgerDelay > 0 {
		young = 30 * time.Second
	}
	w.silences = slices.DeleteFunc(w.silences, func(s silence) bool { return time.Since(s.answered) <= young })
	for k, r := range w.requests {
		if r.waits {
			delete(w.requests, k)
		}
	}
	w.mu.Unlock()
	p.cancel()
	// Its clean-up takes time that a crash doesn't have; nothing of it counts.
}

// underWay is how many calls aren't answered. world.mu is held.
func (p *process) underWay() (n int) {
	for _, calls := range p.inFlight {
		n += calls
	}
	return n
}

// stop ends the process in order.
func (w *world) stop() {
	w.process.cancel()
	<-w.process.ended
	w.mu.Lock()
	defer w.mu.Unlock()
	w.process.dead = true
	for k, r := range w.requests {
		if r.waits {
			delete(w.requests, k)
		}
	}
}

func (p *process) event(ev qos.SchedulerEvent) {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.dead {
		return
	}
	switch ev.Kind {
	case qos.DocStopped:
		if m := w.mirrors[ev.Doc]; m != nil {
			m.open = false
		}
	case qos.DocAbandoned:
		w.wrong("%s was abandoned: %+v", ev.Doc, ev)
	case qos.DocClosed:
		if m := w.mirrors[ev.Doc]; m != nil {
			if m.open && !m.cancelling && m.shown < m.printed {
				w.wrong("%s closed at %d of %d lines", ev.Doc, m.shown, m.printed)
			}
			m.open = false
		}
	case qos.RequestDropped:
		if r := w.requests[string(ev.Chat)+"/"+ev.Key]; r != nil {
			r.waits = false
		}
	case qos.ChatMoved:
		for _, m := range w.mirrors {
			if m.chat == ev.Chat {
				m.chat = ev.To
			}
		}
		for k, r := range w.requests {
			if rest, ok := cutPrefix(k, string(ev.Chat)+"/"); ok {
				delete(w.requests, k)
				w.requests[string(ev.To)+"/"+rest] = r
			}
		}
	case qos.ChatSilenced:
	}
}

func cutPrefix(s, prefix string) (string, bool) {
	if len(s) > len(prefix) && s[:len(prefix)] == prefix {
		return s[len(prefix):], true
	}
	return s, false
}

// Deliver implements qos.Deliverer: render, send, wait for the answer, store.
func (p *process) Deliver(ctx context.Context, call qos.Call) qos.CallResult {
	w := p.world
	w.mu.Lock()
	if p.dead {
		w.mu.Unlock()
		return qos.CallResult{Outcome: qos.NotSent}
	}
	began := time.Now()
	if p.inFlight[call.Chat]++; p.inFlight[call.Chat] > 1 {
		w.wrong("%d calls at a time in %s", p.inFlight[call.Chat], call.Chat)
	}
	letter := w.render(call)
	fate := w.fate(letter, call)
	w.saw(fate.outcome.String())
	w.saw("call with " + w.regime().mode.String())
	if fate.outcome != qos.NotSent && fate.outcome != qos.Unchanged {
		w.dispatched(call, began)
		if m := w.mirrors[call.Doc]; m != nil {
			m.intent = true
		}
	}
	w.mu.Unlock()
	r := fate.result
	r.Outcome = fate.outcome
	deadline, _ := ctx.Deadline()
	switch fate.outcome {
	case qos.Unchanged:
		return p.answered(call, letter, r)
	case qos.NotSent:
		sleep(ctx, fate.takes)
		return p.answered(call, letter, r)
	default:
	}
	if !fate.lost {
		arrives := min(fate.arrives, time.Until(deadline)+5*time.Second-time.Microsecond)
		if arrives <= 0 {
			p.arrive(call, letter, fate, began)
		} else {
			time.AfterFunc(arrives, func() {
				if time.Now().After(deadline) {
					w.mu.Lock()
					w.saw("arrival after the deadline")
					w.mu.Unlock()
				}
				p.arrive(call, letter, fate, began)
			})
		}
	}
	if fate.over && fate.takes < time.Until(deadline) {
		w.mu.Lock()
		w.saw(map[bool]string{false: "broken after it was done", true: "broken before it was done"}[fate.lost])
		w.mu.Unlock()
		return p.answered(call, letter, qos.CallResult{Outcome: qos.Uncertain, Over: sleep(ctx, fate.takes)})
	}
	if fate.lost || fate.takes >= time.Until(deadline) {
		w.mu.Lock()
		w.saw(map[bool]string{false: "time-out after the write", true: "lost without an answer"}[fate.lost])
		w.mu.Unlock()
		<-ctx.Done()
		return p.answered(call, letter, qos.CallResult{Outcome: qos.Uncertain})
	}
	if !sleep(ctx, fate.takes) {
		return p.answered(call, letter, qos.CallResult{Outcome: qos.Uncertain})
	}
	if fate.takes >= 10*time.Second {
		w.mu.Lock()
		w.saw("answer after 10 s or more")
		w.mu.Unlock()
	}
	return p.answered(call, letter, r)
}

func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// letter is what one call carries.
type letter struct {
	from, to  int64
	final     int64
	live      bool
	more      bool
	uncertain bool
}

// linesPerMessage is what one message of the platform takes.
const linesPerMessage = 30

// render decides what a call carries, from the newest state. w.mu is held.
func (w *world) render(call qos.Call) letter {
	l := letter{uncertain: call.Uncertain}
	m := w.mirrors[call.Doc]
	if m == nil {
		return l
	}
	l.from, l.to = m.delivered+1, min(m.printed, m.delivered+linesPerMessage)
	if m.turnEnd > m.announced && l.to >= m.turnEnd {
		l.final = m.turnEnd
	}
	l.more = l.to < m.printed || m.turnEnd > max(m.announced, l.final)
	l.live, m.live = m.live, false
	return l
}

// fate is what happens to a call.
type fate struct {
	outcome        qos.CallOutcome
	result         qos.CallResult
	arrives, takes time.Duration
	lost           bool
	over           bool // it breaks: nobody is told whether it was done, but it's over
}

func (w *world) fate(l letter, call qos.Call) fate {
	f := w.faults
	x := fate{takes: w.random.duration(f.latency)}
	x.arrives = time.Duration(w.random.float() * float64(x.takes))
	roll := w.random.float()
	under := func(p float64) bool {
		roll -= p
		return roll < 0
	}
	switch {
	case call.Doc != "" && l.to < l.from && l.final == 0 && (!l.live || roll < 0.3): // it looks the same
		x.outcome = qos.Unchanged
	case under(f.unsent):
		x.outcome = qos.NotSent
	case under(f.throttled):
		x.outcome = qos.Throttled
		x.result.RetryAfter = w.random.duration(f.retryAfter)
		x.result.Global = w.random.float() < 0.05
	case under(f.failed):
		x.outcome = qos.Failed
	case under(f.rejected):
		x.outcome = qos.Rejected
		if w.random.float() < 0.2 {
			x.outcome = qos.ChatGone
		}
	case under(f.migrated):
		x.outcome = qos.Migrated
		x.result.Chat = call.Chat + "'"
	case under(f.timeout):
		x.outcome = qos.Delivered
		x.lost = w.random.float() < 0.3
		x.takes = time.Hour
		x.arrives = w.random.duration(30 * time.Second)
	case under(f.broken):
		x.outcome, x.over = qos.Delivered, true
		x.lost = w.random.float() < 0.4
		x.arrives = time.Duration(w.random.float() * float64(x.takes+overGrace))
	default:
		x.outcome = qos.Delivered
		x.result.Delivered, x.result.Final, x.result.More = l.to, l.final, l.more
	}
	return x
}

// dispatched checks a call that leaves now. w.mu is held.
func (w *world) dispatched(call qos.Call, now time.Time) {
	for _, s := range w.silences {
		if now.After(s.answered) && now.Before(s.end) && covers(s.scope, call) {
			w.wrong("%s %s was called %v before its penalty lifts (P2)", call.Chat, call.Family, s.end.Sub(now))
		}
	}
	if m := w.mirrors[call.Doc]; m != nil {
		if m.cancelled {
			w.wrong("%s was called after it was cancelled (P10)", call.Doc)
		}
		r := w.regime()
		rounding := r.opt.Rounding
		if rounding == 0 {
			rounding = 100 * time.Millisecond
		}
		if r.mode == qos.CoalesceOnly && !m.lastCall.IsZero() && now.Sub(m.lastCall) < rounding {
			w.wrong("%s was called twice within %v, rounding is %v (P13)", call.Doc, now.Sub(m.lastCall), rounding)
		}
		m.lastCall = now
	}
	w.sent = append(w.sent, dispatch{call: call, at: now})
	w.afterIdle(call, now)
}

// afterIdle checks P9: no burst of streams after a rest. w.mu is held.
func (w *world) afterIdle(call qos.Call, now time.Time) {
	r := w.regime()
	if r.mode != qos.Strict || call.Class != qos.Stream || call.Family != qos.FamilyMessage {
		return
	}
	limit, _ := w.limit(r, call.Chat, call.Family)
	window := limit.Windows[0]
	pace := window.Per / time.Duration(max(1, window.Calls-1))
	var burst int
	for _, d := range slices.Backward(w.sent) {
		if d.at.Before(r.from) {
			break
		}
		if d.call.Chat != call.Chat || d.call.Class != qos.Stream {
			continue
		}
		if now.Sub(d.at) >= 10*time.Second {
			if now.Sub(d.at) < 60*time.Second+10*time.Second {
				return // not after a rest
			}
			break
		}
		burst++
	}
	if most := 2 + int(10*time.Second/pace) + 1; burst > most {
		w.wrong("%d stream calls in %s within 10 s of a rest, at most %d (P9)", burst, call.Chat, most)
	}
}

func (w *world) limit(r regime, chat qos.ChatKey, family qos.Family) (qos.Limit, qos.Family) {
	if l, ok := r.limits.Families[family]; ok {
		return l, family
	}
	if r.limits.IsPrivate != nil && r.limits.IsPrivate(chat) {
		return r.limits.Private, qos.FamilyMessage
	}
	return r.limits.Group, qos.FamilyMessage
}

func covers(scope string, call qos.Call) bool {
	return scope == "" || scope == string(call.Chat) || scope == string(call.Chat)+"/"+string(call.Family)
}

// arrive is the platform: it counts, and does what it's told.
func (p *process) arrive(call qos.Call, l letter, f fate, left time.Time) {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	r := w.regime()
	_, family := w.limit(r, call.Chat, call.Family)
	w.count("bot", now, left, func(r regime) qos.Limit { return r.limits.Bot })
	w.count(string(call.Chat)+"/"+string(family), now, left, func(r regime) qos.Limit {
		limit, _ := w.limit(r, call.Chat, call.Family)
		return limit
	})
	if f.outcome != qos.Delivered {
		return
	}
	if call.Doc == "" {
		if e := w.requests[string(call.Chat)+"/"+call.Key]; e != nil && !p.dead {
			if l.uncertain {
				e.again++
			}
			if e.done++; e.done > e.posted+e.again {
				w.wrong("%s was done %d times, posted %d times", call.Key, e.done, e.posted)
			}
			e.waits = e.waits && left.Before(e.asked)
		}
		return
	}
	m := w.mirrors[call.Doc]
	if m == nil {
		return
	}
	if l.from > m.shown+1 {
		w.wrong("%s: lines %d to %d came after %d (P3)", m.id, l.from, l.to, m.shown)
	}
	if l.from <= l.to && l.from <= m.shown && !l.uncertain {
		w.wrong("%s: lines %d to %d came though %d were there (P3)", m.id, l.from, l.to, m.shown)
	}
	if l.final > 0 && l.final <= m.rung && !l.uncertain {
		w.wrong("%s: the turn that ended at %d was announced twice (P3)", m.id, l.final)
	}
	if l.to < m.rung {
		w.wrong("%s: a partial to line %d came after the final at %d (P3)", m.id, l.to, m.rung)
	}
	m.shown, m.rung = max(m.shown, l.to), max(m.rung, l.final)
}

// count checks P1 for one scope: how many calls arrived within a window that ends
// now. Only calls that left in a guarded mode are promised anything; the largest
// limit in force while it was on its way counts. w.mu is held.
func (w *world) count(scope string, now, left time.Time, limit func(regime) qos.Limit) {
	log := append(w.arrivals[scope], now)
	w.arrivals[scope] = log
	for i := range limit(w.regime()).Windows {
		most, per := 0, time.Duration(0)
		for j, r := range w.regimes {
			if j+1 < len(w.regimes) && w.regimes[j+1].from.Before(left) {
				continue
			}
			if r.mode == qos.Off {
				return
			}
			window := limit(r).Windows[i]
			most, per = max(most, window.Calls), window.Per
		}
		within := 0
		for k := len(log) - 1; k >= 0 && now.Sub(log[k]) < per; k-- {
			within++
		}
		switch {
		case within == most:
			w.saw("full window")
		case within > most:
			w.wrong("%d calls reached %s within %v, at most %d may (P1)", within, scope, per, most)
		}
	}
}

// answered stores what the adapter stores of an answer.
func (p *process) answered(call qos.Call, l letter, r qos.CallResult) qos.CallResult {
	w := p.world
	w.mu.Lock()
	defer w.mu.Unlock()
	p.inFlight[call.Chat]--
	if p.dead {
		return r
	}
	m := w.mirrors[call.Doc]
	if m != nil {
		if r.Outcome == qos.Delivered {
			if l.to < m.delivered {
				w.wrong("%s: delivered goes back from %d to %d", m.id, m.delivered, l.to)
			}
			m.delivered, m.announced = max(m.delivered, l.to), max(m.announced, l.final)
		}
		switch r.Outcome {
		case qos.Delivered, qos.Unchanged:
			m.intent = false
		case qos.NotSent, qos.Uncertain:
		default: // answered, but an earlier call may still have been done
			m.intent = call.Uncertain
		}
		m.live = m.live || l.live && r.Outcome != qos.Delivered && r.Outcome != qos.Unchanged
	}
	if r.Outcome == qos.Throttled {
		now := time.Now()
		scope := string(call.Chat) + "/" + string(call.Family)
		if r.RetryAfter > 5*time.Second {
			scope = string(call.Chat)
		}
		w.silences = append(w.silences, silence{scope, now, now.Add(r.RetryAfter)})
		w.saw(map[bool]string{false: "penalty of a family", true: "penalty of a chat"}[r.RetryAfter > 5*time.Second])
		if r.Global {
			w.saw("penalty of the bot")
			w.silences = append(w.silences, silence{"", now, now.Add(r.RetryAfter)})
		}
	}
	return r
}

// stale names what hasn't reached its chat. w.mu is held.
func (w *world) stale() []string {
	var out []string
	for _, m := range w.sorted() {
		if m.open && (m.shown < m.printed || m.rung < m.turnEnd) {
			out = append(out, fmt.Sprintf("%s shows %d of %d lines, rang %d of %d", m.id, m.shown, m.printed, m.rung, m.turnEnd))
		}
	}
	for k, r := range w.requests {
		if r.waits {
			out = append(out, "request "+k)
		}
	}
	return out
}

// countingBudget checks that every permit is settled or refunded (P10).
type countingBudget struct {
	qos.Budget
	mu   sync.Mutex
	open map[qos.PermitID]bool
}

func (b *countingBudget) AskSlot(now time.Time, ask qos.SlotQuestion, reply func(qos.SlotAnswer)) qos.SlotAnswer {
	seen := func(a qos.SlotAnswer) qos.SlotAnswer {
		if a.State == qos.Granted {
			b.mu.Lock()
			defer b.mu.Unlock()
			b.open[a.Permit] = true
		}
		return a
	}
	return seen(b.Budget.AskSlot(now, ask, func(a qos.SlotAnswer) { reply(seen(a)) }))
}

func (b *countingBudget) Settle(now time.Time, id qos.PermitID, answered time.Time) {
	b.done(id)
	b.Budget.Settle(now, id, answered)
}

func (b *countingBudget) Refund(now time.Time, id qos.PermitID) {
	b.done(id)
	b.Budget.Refund(now, id)
}

func (b *countingBudget) done(id qos.PermitID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.open, id)
}

func (b *countingBudget) left() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.open)
}

// jain is Jain's fairness index: 1 if all are equal.
func jain(xs []float64) float64 {
	var sum, squares float64
	for _, x := range xs {
		sum += x
		squares += x * x
	}
	if squares == 0 {
		return math.NaN()
	}
	return sum * sum / (float64(len(xs)) * squares)
}
