package sessions_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/typing"
)

// history is one run of random calls to daemons that come and go on a host, of people at
// the panes, and of programs that begin and end.
type history struct {
	*testing.T
	*host
	r       *rand.Rand
	daemon  *daemonRun
	ids     []sessions.ID // of all sessions that ever were
	written []*written
	texts   int
	panics  *atomic.Int64
}

// daemonRun is one term of a daemon.
type daemonRun struct {
	manager *sessions.Manager
	stop    func()
	ended   chan struct{}
}

// written is a text that was accepted.
type written struct {
	token     string
	receipt   string
	pane      string
	at        time.Time
	addressee string // of the pane when it was written
	front     string // the agent that had the foreground when somebody wrote here last
	before    string // and the one before, if the daemon was killed before it could store that one
	forgotten bool
	open      bool // no Enter was asked for
}

// front is what the processes of the host tell at this moment, which may be later than a
// screen.
func (h *host) frontOf(s *sessions.Snapshot) sessions.Program {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.panes {
		if f := p.front(); p.pid == s.PID && f != nil {
			return sessions.Program{Kind: f.kind, Name: f.name, Run: f.run, Started: f.started, Own: f.own}
		}
	}
	return sessions.Program{}
}

// follow has a daemon hear what the agents in a session's pane were asked.
func (h *host) follow(term int, id sessions.ID, tell func(sessions.Asked)) (stop func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	f := &follower{term: term, id: id, tell: tell}
	h.followers = append(h.followers, f)
	h.untold = slices.DeleteFunc(h.untold, func(u untold) bool {
		if u.id == id {
			time.AfterFunc(time.Millisecond, func() { tell(u.asked) })
		}
		return u.id == id
	})
	return func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.followers = slices.DeleteFunc(h.followers, func(o *follower) bool { return o == f })
	}
}

func (h *host) boxOf(s *sessions.Snapshot) sessions.InputBox {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.panes {
		if p.pid == s.PID {
			return boxOf(p.front(), s)
		}
	}
	return sessions.InputBox{}
}

// start begins a daemon's term.
func (h *history) start() {
	h.mu.Lock()
	h.term++
	h.killed, h.killIn = make(chan struct{}), 0
	term := h.term
	h.note("a daemon starts")
	h.mu.Unlock()
	m := options{Options: sessions.Options{
		Servers: []sessions.TmuxServer{server{host: h.host, in: term}}, Store: journal{h.host, term}, Pollers: nobody{}, Notes: silent{}, Shell: "shell",
		Agents:   map[string]sessions.Agent{"agent": {Command: []string{"agent"}}},
		Asked:    func(id sessions.ID, tell func(sessions.Asked)) func() { return h.follow(term, id, tell) },
		Panicked: func(string) { h.panics.Add(1) },
	}, Hands: typing.Options{
		Phrases: []string{phrase},
		Dialog: func(rows []string) string {
			if strings.Contains(strings.ToLower(strings.Join(rows, "\n")), phrase) {
				return phrase
			}
			return ""
		},
		Box:    func(_ sessions.ID, s *sessions.Snapshot) sessions.InputBox { return h.boxOf(s) },
		Front:  h.frontOf,
		Revive: func(_ sessions.ID, program, _ string) (string, bool) { return program, true },
	}}.manager()
	if err := m.Load(h.Context()); err != nil {
		h.Fatal(err)
	}
	ctx, stop := context.WithCancel(h.Context())
	d := &daemonRun{manager: m, stop: stop, ended: make(chan struct{})}
	go func() { defer close(d.ended); _ = m.Run(ctx) }()
	h.daemon = d
	h.chooseAgain()
}

// chooseAgain tells a daemon that has just started which agents run in the panes.
func (h *history) chooseAgain() {
	chosen := map[sessions.ID]string{}
	h.with(func() {
		for _, p := range h.panes {
			if f := p.front(); f != nil && f.kind == sessions.ProgramAgent && p.addressee == f.key() {
				chosen[p.mark] = f.name
			}
		}
	})
	for id, name := range chosen {
		_ = h.daemon.manager.Choose(id, sessions.Source{Program: name})
	}
}

// silent is a log of which nothing is wanted.
type silent struct{}

func (silent) AppendLines(_ context.Context, _ sessions.ID, lines []sessions.Line, _ *sessions.Gap) ([]sessions.Line, []sessions.Gap, error) {
	return lines, nil, nil
}

// terminate ends the daemon as SIGTERM does.
func (h *history) terminate() {
	h.with(func() { h.note("the daemon is told to end") })
	began := time.Now()
	h.daemon.stop()
	<-h.daemon.ended
	if took := time.Since(began); took > 9*time.Second {
		h.Errorf("it took %s to end", took)
	}
}

// reap takes up that the daemon was killed.
func (h *history) reap() {
	select {
	case <-h.killed:
		h.daemon.stop()
		<-h.daemon.ended
		h.start()
	default:
	}
}

func (h *history) with(do func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	do()
}

func (h *history) anyID() sessions.ID {
	if len(h.ids) == 0 || h.r.IntN(20) == 0 {
		return "pb_ffffffffffff"
	}
	return h.ids[max(0, len(h.ids)-1-h.r.IntN(3))]
}

// somePane is a pane that's there, or nil. The host is locked.
func (h *history) somePane() *hostPane {
	var living []*hostPane
	for _, p := range h.panes {
		if !p.gone && !p.dead {
			living = append(living, p)
		}
	}
	if len(living) == 0 {
		return nil
	}
	return living[h.r.IntN(len(living))]
}

func (h *history) paneOf(id sessions.ID) *hostPane {
	for _, p := range h.panes {
		if p.mark == id {
			return p
		}
	}
	return nil
}

func (h *history) write() {
	id := h.anyID()
	h.texts++
	w := &written{token: fmt.Sprintf("x-text-%d-end", h.texts), at: time.Now(), open: h.r.IntN(12) == 0}
	if h.r.IntN(5) == 0 {
		w.token = fmt.Sprintf("x-text-%d-a\nand-%d-end", h.texts, h.texts)
	}
	h.with(func() {
		if p := h.paneOf(id); p != nil {
			w.pane, w.addressee, w.before = p.id, p.addressee, p.before
			if f := p.front(); f != nil && f.kind == sessions.ProgramAgent {
				p.met = f.key()
			}
			w.front = p.met
		}
		h.note("%q is written to %s", w.token, id)
	})
	r, err := h.daemon.manager.Input(h.Context(), id, sessions.InputRequest{Text: w.token, Submit: !w.open, Author: "a"})
	w.receipt = r.ID
	if err == nil || h.unsure() {
		h.written = append(h.written, w)
	}
}

// unsure reports whether the daemon was killed in the call: it may have been stored.
func (h *history) unsure() bool {
	select {
	case <-h.killed:
		return true
	default:
		return false
	}
}

// sendOn lets one of the held texts go on, as an approver does who has looked.
func (h *history) sendOn() {
	for _, id := range h.ids {
		for _, r := range h.daemon.manager.Waiting(id) {
			if r.Quoted == "" {
				continue
			}
			var front *hosted
			h.with(func() {
				if p := h.paneOf(id); p != nil {
					front = p.front()
				}
			})
			if front == nil || r.Front == "" && front.line != "" {
				continue // who looks sees what stands there
			}
			if len(r.Revivals) > 0 && h.r.IntN(2) == 0 {
				_, _ = h.daemon.manager.Revive(h.Context(), r.ID, r.Quoted, "ann", r.Revivals[0])
				h.with(func() { h.paneOf(id).confirmed = append(h.paneOf(id).confirmed, "agent:agent", "agent:other agent") })
				return
			}
			_, err := h.daemon.manager.SendAnyway(h.Context(), r.ID, r.Quoted, "ann")
			if h.unsure() {
				err = errKilled
			}
			if r.Front == "" || front.name != r.Front {
				return
			}
			h.with(func() {
				h.note("%s was sent to %s all the same: %v", r.ID, r.Front, err)
				p := h.paneOf(id)
				if p.confirmed = append(p.confirmed, front.key()); err == nil {
					p.address(front.key())
				} else if p.addressee != front.key() { // it may have been stored before the daemon was killed
					p.confirmed = append(p.confirmed, p.addressee)
				}
			})
			return
		}
	}
}

// person does something at a pane's own keyboard.
func (h *history) person() {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.somePane()
	if p == nil {
		return
	}
	f := p.front()
	switch {
	case f.stuck != nil:
	case f.dialog:
		f.dialog = false
		p.activity = time.Now().Unix()
	case len(p.unread) > 0 || time.Since(p.pasted) < 70*time.Millisecond:
		// What's typed into a box within two looks of a text isn't told from what the
		// program itself draws around it.
	case h.r.IntN(3) == 0 && f.kind == sessions.ProgramShell && f.line == "" && len(p.unread) == 0:
		f.line = []string{"agent", "other agent", "editor"}[h.r.IntN(3)]
		h.submit(p, f)
	case f.line == "":
		h.note("somebody types half in %s", p.id)
		f.line = "half"
		p.activity = time.Now().Unix()
	case strings.HasPrefix(f.line, "half"):
		h.note("somebody takes half away in %s", p.id)
		f.line = ""
		p.activity = time.Now().Unix()
	case h.r.IntN(4) == 0:
		h.note("somebody types beside a text in %s", p.id)
		f.line += " half"
		p.activity = time.Now().Unix()
	case strings.HasSuffix(f.line, " half"):
		f.line = strings.TrimSuffix(f.line, " half")
		p.activity = time.Now().Unix()
	}
}

func (h *history) program() {
	var gone sessions.ID
	defer func() {
		if gone != "" { // its watchers say so
			_ = h.daemon.manager.Choose(gone, sessions.Source{})
		}
	}()
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.somePane()
	if p == nil {
		return
	}
	f := p.front()
	switch {
	case f.stuck != nil && h.r.IntN(2) == 0:
		h.unstick(p, f)
	case f.kind == sessions.ProgramAgent && h.r.IntN(2) == 0 && len(p.unread) == 0 && f.stuck == nil:
		h.note("%s asks in %s", f.name, p.id)
		f.dialog = true
		p.activity = time.Now().Unix()
	case len(p.programs) > 1 || h.r.IntN(10) == 0:
		h.end(p)
		gone = p.mark
	}
}

// resize gives a pane another size. None cuts a row exactly behind a text, which nobody
// could tell from the whole.
func (h *history) resize() {
	h.with(func() {
		if p := h.somePane(); p != nil {
			p.width, p.height = []int{9, 18, 40, 80}[h.r.IntN(4)], []int{7, 12, 24}[h.r.IntN(3)]
			h.note("%s gets %d columns, %d rows", p.id, p.width, p.height)
		}
	})
}

// choose tells the daemon which agent a pane's text is from, as its watchers do.
func (h *history) choose() {
	var id sessions.ID
	var name string
	h.with(func() {
		if p := h.somePane(); p != nil && p.front().kind == sessions.ProgramAgent {
			id, name = p.mark, p.front().name
			if p.addressee == "" {
				p.address(p.front().key())
			}
		}
	})
	if name != "" {
		_ = h.daemon.manager.Choose(id, sessions.Source{Program: name})
	}
}

func (h *history) newSession() {
	req := sessions.NewRequest{Cwd: "/", Name: "s" + strconv.Itoa(len(h.panes))}
	switch h.r.IntN(5) {
	case 0, 1:
		req.Agent = "agent"
	case 2:
		req.Command = []string{"reader"}
	}
	if s, err := h.daemon.manager.New(h.Context(), req); err == nil {
		h.ids = append(h.ids, s.ID)
	}
}

func (h *history) step() {
	m, ctx := h.daemon.manager, h.Context()
	switch n := h.r.IntN(46); {
	case n >= 43:
		h.with(func() {
			if p := h.somePane(); p != nil {
				h.stick(p)
			}
		})
	case n >= 40:
		h.resize()
	case n < 2:
		h.newSession()
	case n < 15:
		h.write()
	case n < 19:
		h.person()
	case n < 22:
		h.program()
	case n < 23:
		h.choose()
	case n < 25:
		h.sendOn()
	case n < 27:
		if len(h.written) > 0 {
			_, _ = m.Cancel(ctx, h.written[h.r.IntN(len(h.written))].receipt)
		}
	case n < 28:
		id := h.anyID()
		h.with(func() { h.note("%s is closed", id) })
		_ = m.Close(ctx, id)
	case n < 29:
		h.forget(h.anyID())
	case n < 30:
		_, _ = m.Restart(ctx, h.anyID())
	case n < 31:
		_, _, _ = m.TypePreview(ctx, h.anyID(), sessions.Preview{Text: "mail", Box: h.boxOf, Shell: func(s *sessions.Snapshot) bool { return h.frontOf(s).Kind == sessions.ProgramShell }})
	case n < 32:
		_, _ = m.Answer(ctx, "pr_000000000000", sessions.Answer{Options: []int{0}})
		_ = m.Waiting(h.anyID())
		m.Reconcile("default")
		m.Ended(h.anyID(), nil, "its program ended")
	case n < 33:
		h.with(func() { h.away = !h.away })
	case n < 36:
		h.with(func() { h.killIn = 1 + h.r.IntN(60) })
	case n < 37:
		h.terminate()
		h.start()
	case n < 38:
		h.with(func() { h.kill() })
	default: // of somebody who may not answer dialogs
		_ = m.Keys(ctx, h.anyID(), sessions.KeyPress{Keys: []string{"Up", "Tab"}, Author: "ann", Seen: time.Now()})
	}
	h.reap()
	time.Sleep(time.Duration([]int{0, 1, 20, 60, 200, 600, 700, 1500, 4000}[h.r.IntN(9)]) * time.Millisecond)
	h.reap()
}

// forget drops a session that has ended, with its receipts.
func (h *history) forget(id sessions.ID) {
	h.with(func() { h.note("%s is forgotten", id) })
	if h.daemon.manager.Forget(h.Context(), id) != nil && !h.unsure() {
		return
	}
	for _, w := range h.written {
		if p := h.paneOf(id); p != nil && w.pane == p.id {
			w.forgotten = true
		}
	}
}

// rest ends what keeps texts from being typed, and waits.
func (h *history) rest() {
	h.with(func() {
		h.note("all rests")
		h.killIn, h.away = 0, false
		for _, p := range h.panes {
			for !p.gone && len(p.programs) > 1 && p.front().kind == sessions.ProgramOther {
				h.end(p)
			}
			p.width, p.height = 80, 24
			if f := p.front(); f != nil {
				h.unstick(p, f)
				f.dialog = false
				if strings.Contains(f.line, "half") {
					f.line = strings.TrimSpace(strings.ReplaceAll(f.line, "half", ""))
				}
			}
		}
	})
	time.Sleep(3 * time.Minute)
	h.reap()
	time.Sleep(time.Minute)
	h.terminate()
}

// check says what went wrong.
func (h *history) check() (wrong []string) {
	if n := h.panics.Load(); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%d panics", n))
	}
	count := map[string]int{}
	for _, p := range h.panes {
		for _, f := range slices.Concat(p.past, p.programs) {
			for _, t := range f.took {
				wrong = append(wrong, h.checkLine(p, f, t, count)...)
			}
		}
	}
	for _, w := range h.written {
		wrong = append(wrong, h.checkReceipt(w, count[w.token])...)
	}
	return wrong
}

// checkLine looks at one line that a program took.
func (h *history) checkLine(p *hostPane, f *hosted, t taken, count map[string]int) (wrong []string) {
	if strings.Contains(t.line, "DIALOG") {
		return []string{fmt.Sprintf("%s: %s", f.name, t.line)}
	}
	if !strings.Contains(t.line, "x-text") {
		return nil
	}
	i := slices.IndexFunc(h.written, func(w *written) bool { return w.token == t.line })
	if i < 0 {
		return []string{fmt.Sprintf("%s took the joined line %q", f.name, t.line)}
	}
	w := h.written[i]
	if count[w.token]++; count[w.token] > 1 {
		wrong = append(wrong, fmt.Sprintf("%q was taken twice", w.token))
	}
	if w.pane != p.id {
		wrong = append(wrong, fmt.Sprintf("%q was written to %s and went to %s", w.token, w.pane, p.id))
	}
	reached := f.key() == w.addressee || w.front != "" && w.front == f.key() && w.addressee == "" || f.key() != "" && f.key() == w.before || slices.Contains(p.confirmed, f.key()) ||
		f.kind == sessions.ProgramAgent && w.addressee == "" && (f.own || !f.started.After(w.at))
	if !reached {
		wrong = append(wrong, fmt.Sprintf("%q was written to %q and went to %s (%s)", w.token, w.addressee, f.name, f.key()))
	}
	return wrong
}

// checkReceipt compares what a receipt says with how often its text was taken.
func (h *history) checkReceipt(w *written, n int) []string {
	i := slices.IndexFunc(h.disk.receipts, func(r sessions.Receipt) bool { return r.ID == w.receipt })
	if i < 0 {
		return nil // forgotten, or never stored
	}
	r := h.disk.receipts[i]
	sure := !strings.HasPrefix(r.Reason, "unverified")
	bad := false
	switch r.State {
	case sessions.ReceiptSubmitted, sessions.ReceiptAnswered:
		bad = sure && n != 1
	case sessions.ReceiptCancelled, sessions.ReceiptStored, sessions.ReceiptHeld:
		bad = n != 0
	case sessions.ReceiptFailed:
		bad = n != 0 && !strings.Contains(r.Reason, "nobody knows")
	case sessions.ReceiptTyping, sessions.ReceiptTyped:
		bad = r.State == sessions.ReceiptTyping
	}
	if bad {
		return []string{fmt.Sprintf("%q was taken %d times, and is %s: %s", w.token, n, r.State, r.Reason)}
	}
	return nil
}

// play plays one history.
func play(t *testing.T, seed uint64) (wrong, trace []string, h *history) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := rand.New(rand.NewPCG(seed, 0))
		h = &history{T: t, host: &host{r: rand.New(rand.NewPCG(seed, 1)), disk: disk{prompts: map[string]sessions.Prompt{}}}, r: r, panics: new(atomic.Int64)}
		h.start()
		for range 1 + r.IntN(3) {
			h.newSession()
		}
		for range 20 + r.IntN(60) {
			h.step()
		}
		h.rest()
		synctest.Wait()
		wrong, trace = h.check(), h.trace
	})
	return wrong, trace, h
}

// TestHistories plays random histories of the Manager's calls on sessions that come and
// go, with daemons that are killed at any step. No text is joined with another, typed
// twice, or typed into a program that it wasn't written for, and nothing panics.
func TestHistories(t *testing.T) {
	n := drawtest.Times(100_000, 1000, 200)
	taken, kills, failed := 0, 0, 0
	for seed := range drawtest.Seeds(t, n) {
		wrong, trace, h := play(t, seed)
		for _, p := range h.panes {
			for _, f := range slices.Concat(p.past, p.programs) {
				taken += len(f.took)
			}
		}
		kills += h.term - 1
		if len(wrong) > 0 {
			failed++
			t.Errorf("seed %d: %s\n%s", seed, strings.Join(wrong, "\n"), strings.Join(trace, "\n"))
			if failed == 3 {
				break
			}
		}
	}
	t.Logf("%d histories, %d lines taken, %d daemons ended", n, taken, kills)
	if taken < n {
		t.Errorf("only %d lines were taken in %d histories", taken, n)
	}
}
