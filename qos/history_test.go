package qos_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/qos/qostest"
)

// history is a random run, drawn before it begins, so that it can be shrunk and
// repeated.
type history struct {
	seed   uint64
	faults faults
	opt    qos.Options
	docs   []qos.Doc
	steps  []step
}

// step is one thing that happens, after a while.
type step struct {
	after time.Duration
	what  string
	doc   int
	lines int64
	class qos.Class
	opt   qos.Options
}

func (h history) String() string {
	s := fmt.Sprintf("seed %d, faults %+v\n%s\n", h.seed, h.faults, show(h.opt))
	for _, d := range h.docs {
		s += fmt.Sprintf("%s: chat %s, session %s\n", d.ID, d.Chat, d.Session)
	}
	for _, st := range h.steps {
		s += fmt.Sprintf("after %v: %s doc%d", st.after, st.what, st.doc)
		switch st.what {
		case "want", "turn":
			s += fmt.Sprintf(" +%d", st.lines)
		case "post":
			s += " " + st.class.String()
		case "options", "restart":
			s += " " + show(st.opt)
		}
		s += "\n"
	}
	return s
}

func show(o qos.Options) string {
	return fmt.Sprintf("%v, %d a minute, hard reserve %v, rounding %v, bot %v", o.Mode, o.GroupMPM, o.HardReserve, o.Rounding, o.Limits.Bot.Windows)
}

var (
	chats    = []qos.ChatKey{"-1", "-2", "-3", "4"} // the last is private
	sessions = []qos.SessionKey{"a", "b", "c", "d", "e", "f"}
)

func isPrivate(c qos.ChatKey) bool { return c[0] != '-' }

// likely is what happens, with how often.
var likely = []struct {
	what   string
	weight int
}{
	{"want", 60},
	{"turn", 12},
	{"touch", 5},
	{"post", 8},
	{"try", 8},
	{"focus", 2},
	{"flush", 1},
	{"cancel", 1},
	{"open", 4},
	{"crash", 1},
	{"restart", 1},
	{"options", 1},
}

// randomStep draws evenly; rapid prefers small numbers.
func randomStep(r *rand.Rand, docs int) step {
	after := []time.Duration{
		0, 0, 0, 10 * time.Millisecond, 500 * time.Millisecond, time.Second, 2500 * time.Millisecond, 7 * time.Second,
		40 * time.Second, 3 * time.Minute,
	}
	s := step{after: after[r.IntN(len(after))], doc: r.IntN(docs), lines: r.Int64N(60)}
	s.class = []qos.Class{qos.Interactive, qos.Interactive, qos.Final, qos.Stream}[r.IntN(4)]
	s.opt = randomOptions(r)
	sum := 0
	for _, l := range likely {
		sum += l.weight
	}
	n := r.IntN(sum)
	for _, l := range likely {
		if n -= l.weight; n < 0 {
			s.what = l.what
			break
		}
	}
	return s
}

func randomOptions(r *rand.Rand) qos.Options {
	pick := func(n int) int { return r.IntN(n) }
	o := qos.Options{
		Mode:        []qos.Mode{qos.Strict, qos.Strict, qos.Strict, qos.CoalesceOnly, qos.CoalesceOnly, qos.Off}[pick(6)],
		GroupMPM:    []int{3, 5, 10, 20, 20, 40}[pick(6)],
		HardReserve: pick(2) == 0,
		Rounding:    []time.Duration{0, 0, time.Second}[pick(3)],
	}
	if pick(2) == 0 {
		o.Limits.Bot = qos.Limit{Windows: []qos.Window{{Calls: 5, Per: 10 * time.Second}}, Gap: 40 * time.Millisecond}
	}
	if pick(2) == 0 {
		o.ReserveMPM = 1 + pick(o.GroupMPM-1)
		o.OutputBudgetRatio = []float64{0.05, 0.5, 1}[pick(3)]
		o.MinSessionTick = []time.Duration{time.Millisecond, 20 * time.Second}[pick(2)]
		o.ActiveEmitterWindow = []time.Duration{time.Second, time.Hour}[pick(2)]
		o.ActiveEmitterEMAAlpha = []float64{0.001, 1}[pick(2)]
	}
	o.Limits.IsPrivate, o.FlushLimit = isPrivate, 24*time.Hour
	return o
}

func randomFaults(r *rand.Rand) faults {
	rate := func() float64 { return []float64{0, 0, 0, 0.03, 0.2}[r.IntN(5)] }
	f := faults{
		latency:    []time.Duration{0, 300 * time.Millisecond, 3 * time.Second, 30 * time.Second}[r.IntN(4)],
		retryAfter: []time.Duration{4 * time.Second, 30 * time.Second, 10 * time.Minute}[r.IntN(3)],
		throttled:  rate(), failed: rate(), timeout: rate(), unsent: rate(), broken: rate(), rejected: rate() / 5, migrated: rate() / 10,
	}
	switch r.IntN(8) {
	case 0:
		f.wrapped = "slow"
	case 1:
		f.wrapped = "failing"
	case 2:
		f.ledgerDelay = 500 * time.Millisecond
	case 3:
		f.ledgerFails = 0.2
	}
	return f
}

func drawHistory(t *rapid.T) history {
	h := history{seed: rapid.Uint64().Draw(t, "seed")}
	r := rand.New(rand.NewPCG(h.seed, 1))
	h.faults, h.opt = randomFaults(r), randomOptions(r)
	for i := range 1 + r.IntN(12) {
		h.docs = append(h.docs, qos.Doc{
			ID: qos.DocID(fmt.Sprintf("doc%d", i)), Chat: chats[r.IntN(len(chats))], Session: sessions[r.IntN(len(sessions))],
		})
	}
	for _, seed := range rapid.SliceOfN(rapid.Uint64(), 40, 250).Draw(t, "steps") {
		if seed < 1000 {
			continue // so that shrinking can leave steps out
		}
		h.steps = append(h.steps, randomStep(rand.New(rand.NewPCG(seed, seed)), len(h.docs)))
	}
	return h
}

// TestRandomHistories holds the scheduler to P1, P2, P3, P9, P10, P11 and the
// parts of P13 that concern changes of mode, whatever happens.
func TestRandomHistories(t *testing.T) {
	calls, histories, seen := 0, 0, map[string]int{}
	check(t, func(t *testing.T, rt *rapid.T) []string {
		t.Helper()
		h := drawHistory(rt)
		var bad []string
		synctest.Test(t, func(*testing.T) {
			w := h.run()
			bad = w.bad
			histories++
			calls += len(w.sent)
			for what, n := range w.seen {
				seen[what] += n
			}
		})
		if len(bad) > 0 {
			rt.Logf("%v", h)
		}
		return bad
	})
	for _, what := range mustHappen {
		if seen[what] == 0 && histories >= 1000 {
			t.Errorf("%q never happened: the histories show nothing about it", what)
		}
	}
	t.Logf("%d histories, %d calls; %v", histories, calls, seen)
}

// mustHappen is what the histories are about.
var mustHappen = []string{
	"delivered", "unchanged", "not_sent", "throttled", "failed", "rejected", "chat_gone", "migrated",
	"time-out after the write", "lost without an answer", "arrival after the deadline", "answer after 10 s or more",
	"broken after it was done", "broken before it was done",
	"penalty of a family", "penalty of a chat", "penalty of the bot", "start within a penalty",
	"cancellation while something waits", "cancellation while a call is under way",
	"restart", "restart with a call under way", "crash", "crash with a call under way",
	"change from strict to coalesce_only", "change from coalesce_only to strict", "change from strict to off",
	"change from off to strict", "change from coalesce_only to off", "change from off to coalesce_only",
	"call with strict", "call with coalesce_only", "call with off", "full window",
}

// check runs a property against 300 random histories, beside other tests. What's wrong is
// returned, not reported: within a bubble neither rapid nor t may be told.
func check(t *testing.T, property func(t *testing.T, rt *rapid.T) []string) {
	t.Helper()
	t.Parallel()
	drawtest.CheckTimes(t, drawtest.Times(10_000, 300, 200), func(rt *rapid.T) {
		for _, b := range property(t, rt) {
			rt.Error(b)
		}
	})
}

func (h history) run() *world {
	w := &world{
		random: newDice(h.seed), faults: h.faults, ledger: qostest.NewMemLedger(),
		arrivals: map[string][]time.Time{}, mirrors: map[qos.DocID]*mirror{}, requests: map[string]*errand{},
		seen: map[string]int{},
	}
	for _, d := range h.docs {
		w.mirrors[d.ID] = &mirror{id: d.ID, chat: d.Chat, session: d.Session, open: true}
	}
	opt := h.opt
	opt.Seed = h.seed | 1
	w.start(opt)
	for i, s := range h.steps {
		time.Sleep(s.after)
		w.step(s, i, h.docs[s.doc].ID)
	}
	w.settleDown()
	return w
}

// step makes one thing happen.
func (w *world) step(s step, n int, id qos.DocID) {
	sched := w.process.scheduler
	w.mu.Lock()
	m := w.mirrors[id]
	chat, session := m.chat, m.session
	w.mu.Unlock()
	switch s.what {
	case "want", "turn":
		w.print(id, s.lines, s.what == "turn")
	case "touch":
		w.mu.Lock()
		m.live = true
		w.mu.Unlock()
		sched.Touch(id)
	case "post":
		key := fmt.Sprintf("r%d", n%7) // some keys come again
		w.mu.Lock()
		name := string(chat) + "/" + key
		if w.requests[name] == nil {
			w.requests[name] = &errand{}
		}
		w.requests[name].posted++
		w.requests[name].waits, w.requests[name].asked = true, time.Now()
		w.mu.Unlock()
		w.try(sched.PostRequest(qos.Request{Chat: chat, Key: key, Class: s.class}))
	case "try":
		family := qos.FamilyTyping
		if n%3 == 0 {
			family = qos.FamilyDraft
		}
		sched.TryRequest(qos.Request{Chat: chat, Key: "typing", Family: family})
	case "focus":
		sched.FocusSession(session)
	case "flush":
		w.mu.Lock()
		for _, m := range w.mirrors {
			m.flushing = m.flushing || m.session == session
		}
		w.mu.Unlock()
		sched.CloseSession(session, qos.Flush)
	case "cancel":
		w.mu.Lock()
		for _, m := range w.mirrors {
			m.cancelling = m.cancelling || m.session == session
			if m.session == session && m.open && m.shown < m.printed {
				w.saw("cancellation while something waits")
			}
		}
		if w.process.underWay() > 0 {
			w.saw("cancellation while a call is under way")
		}
		w.mu.Unlock()
		sched.CloseSession(session, qos.Cancel)
		synctest.Wait()
		w.mu.Lock()
		for _, m := range w.mirrors {
			if m.session == session && !m.open {
				m.cancelled = true
			}
		}
		w.mu.Unlock()
	case "open":
		w.mu.Lock()
		if !m.open {
			m.lastCall = time.Time{} // it's another document now
		}
		m.open, m.flushing, m.cancelled, m.cancelling = true, false, false, false
		d := m.doc()
		w.mu.Unlock()
		w.try(sched.Open(d))
	case "crash":
		w.kill()
		synctest.Wait()
		w.start(w.regime().opt)
	case "restart":
		w.mu.Lock()
		w.saw("restart")
		if w.process.underWay() > 0 {
			w.saw("restart with a call under way")
		}
		w.mu.Unlock()
		w.stop()
		w.start(s.opt)
	case "options":
		w.reconfigure(s.opt)
	}
	synctest.Wait()
}

// print has a document's session print lines, and end its turn.
func (w *world) print(id qos.DocID, lines int64, turn bool) {
	w.mu.Lock()
	m := w.mirrors[id]
	if !m.open || m.flushing {
		w.mu.Unlock()
		return
	}
	m.printed += lines
	if turn {
		m.turnEnd = m.printed
	}
	printed := m.printed
	w.mu.Unlock()
	w.process.scheduler.Want(id, printed, turn)
}

// reconfigure changes the options. A regime that promises more begins when they
// are in force; one that promises less begins before.
func (w *world) reconfigure(opt qos.Options) {
	w.mu.Lock()
	old := w.regime()
	if old.mode != opt.Mode {
		w.saw(fmt.Sprintf("change from %v to %v", old.mode, opt.Mode))
	}
	off := old.opt
	off.Mode = qos.Off
	w.rule(off) // in between, nothing is promised
	w.mu.Unlock()
	w.try(w.process.scheduler.Reconfigure(qostest.WithLimits(opt)))
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.regimes = w.regimes[:len(w.regimes)-1]
	w.rule(opt)
}

// settleDown ends the faults, and waits until everything has arrived: it must.
// Then it closes all, and looks whether anything is left.
func (w *world) settleDown() {
	w.mu.Lock()
	w.faults = faults{latency: time.Second}
	w.mu.Unlock()
	sched := w.process.scheduler
	for range 3000 {
		time.Sleep(20 * time.Second)
		w.mu.Lock()
		done := len(w.stale()) == 0
		w.mu.Unlock()
		if done {
			break
		}
	}
	w.mu.Lock()
	for _, s := range w.stale() {
		w.wrong("after a long rest: %s", s)
	}
	w.mu.Unlock()
	for _, s := range sessions {
		sched.CloseSession(s, qos.Flush)
	}
	time.Sleep(3 * time.Hour) // windows, penalties and reduced paces are over
	if left := qos.Left(sched); left != "" {
		w.note("after all sessions were closed: %s (P11)", left)
	}
	if n := w.process.permits.left(); n > 0 {
		w.note("%d permits were neither settled nor refunded (P10)", n)
	}
	w.stop()
}
