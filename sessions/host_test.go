package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
)

// host is a machine on which histories are played: a tmux server, the programs in its
// panes with what they've read, and a disk. It outlives the daemons that use it: each has
// a term, and what a daemon that was killed still calls does nothing.
type host struct {
	mu     sync.Mutex
	r      *rand.Rand
	term   int
	killIn int // calls until the daemon is killed; 0: it isn't
	killed chan struct{}
	away   bool // tmux doesn't answer
	panes  []*hostPane
	disk   disk
	begun  int // programs
	// followers hear what agents were asked.
	followers []*follower
	untold    []untold
	trace     []string
}

// follower is a daemon that hears what the agents of a session were asked.
type follower struct {
	term int
	id   sessions.ID
	tell func(sessions.Asked)
}

// record has an agent's transcript say a while later what it was asked.
func (h *host) record(p *hostPane, line string) {
	a := sessions.Asked{Text: line, At: time.Now()}
	time.AfterFunc(time.Duration(h.r.IntN(3000))*time.Millisecond, func() {
		h.mu.Lock()
		var all []*follower
		for _, f := range h.followers {
			if f.term == h.term && f.id == p.mark {
				all = append(all, f)
			}
		}
		if len(all) == 0 {
			h.untold = append(h.untold, untold{p.mark, a}) // a daemon reads on where the last one stopped
		}
		h.mu.Unlock()
		for _, f := range all {
			f.tell(a)
		}
	})
}

type untold struct {
	id    sessions.ID
	asked sessions.Asked
}

type disk struct {
	sessions []sessions.Session
	receipts []sessions.Receipt
	prompts  map[string]sessions.Prompt
}

type hostPane struct {
	met       string // the agent that had the foreground when somebody wrote here last
	id, name  string
	pid       int
	mark      sessions.ID
	programs  []*hosted // the last has the foreground
	past      []*hosted // that have ended
	unread    []string  // typed, and read by nobody yet: a key, or "paste " and a text
	lag       time.Duration
	width     int
	height    int
	dead      bool
	gone      bool
	activity  int64
	pasted    time.Time // when a text was read last
	confirmed []string  // programs that somebody let a text go to
	before    string    // the addressee before this one, to which a daemon that is killed goes back
	addressee string    // by what the history knows: "" or a program's key
}

// hosted is a program in a pane.
type hosted struct {
	kind    sessions.ProgramKind
	name    string
	run     string
	started time.Time
	own     bool
	line    string // what's typed, and not submitted
	dialog  bool
	printed []string
	took    []taken
	stuck   *stuck // nil: it works in at once what it reads
}

// stuck is a program that's at work and draws nothing for a while; what it reads it works
// in afterwards.
type stuck struct {
	shows sessions.Snapshot // what it drew last
	spins bool              // but for a sign that it's at work
	read  []string
}

// taken is a line that a program took.
type taken struct {
	line string
	at   time.Time
}

func (p *hostPane) front() *hosted {
	if len(p.programs) == 0 {
		return nil
	}
	return p.programs[len(p.programs)-1]
}

// address notes whom people write to from now on.
func (p *hostPane) address(to string) {
	if p.addressee != to {
		p.before, p.addressee = p.addressee, to
	}
}

func (p *hosted) key() string {
	switch p.kind {
	case sessions.ProgramAgent:
		return "agent:" + p.name
	case sessions.ProgramOther:
		return p.run
	default:
		return ""
	}
}

const phrase = "do you want to proceed"

// rows are what a program shows in so many columns, and where its cursor is.
func (p *hosted) rows(width int) (rows []string, x, y int) {
	rows = slices.Clone(p.printed[max(0, len(p.printed)-4):])
	lines := strings.Split(p.line, "\n")
	switch {
	case p.dialog:
		return append(rows, "Do you want to proceed?", "❯ 1. Yes", "  2. No"), 0, len(rows) + 1
	case p.kind == sessions.ProgramShell:
		rows = append(rows, "$ "+lines[0])
		rows = append(rows, lines[1:]...)
		return rows, len(rows[len(rows)-1]), len(rows) - 1
	case p.kind == sessions.ProgramAgent:
		rule := strings.Repeat("─", width)
		rows = append(rows, rule)
		for i, l := range inColumns(lines, width-3) {
			rows = append(rows, map[bool]string{true: "❯ ", false: "  "}[i == 0]+l)
		}
		return append(rows, rule), len([]rune(rows[len(rows)-1])), len(rows) - 1
	}
	rows = append(rows, "~", lines[len(lines)-1])
	return rows, len(rows[len(rows)-1]), len(rows) - 1
}

// inColumns breaks lines.
func inColumns(lines []string, width int) (out []string) {
	for _, l := range lines {
		r := []rune(l)
		for ; len(r) > width; r = r[width:] {
			out = append(out, string(r[:width]))
		}
		out = append(out, string(r))
	}
	return out
}

// resized is what tmux makes of a screen when its pane gets another size and nothing is
// drawn anew: it breaks rows, or cuts them on the alternate screen.
func resized(s sessions.Snapshot, width, height int) sessions.Snapshot {
	switch {
	case s.Alternate:
		s.Rows = slices.Clone(s.Rows)
		for i := range s.Rows {
			s.Rows[i] = cells(s.Rows[i], width)
		}
		s.CursorX = min(s.CursorX, width-1)
	case width < s.Width:
		above := inColumns(s.Rows[:s.CursorY], width)
		var rows []string
		for _, row := range s.Rows {
			parts := inColumns([]string{row}, width)
			for i := range parts {
				s.Wrapped = append(s.Wrapped, i < len(parts)-1)
			}
			rows = append(rows, parts...)
		}
		s.CursorX, s.CursorY, s.Rows = s.CursorX%width, len(above)+s.CursorX/width, rows
	}
	s.Width = width
	return inRows(s, height)
}

// inRows is a screen with its rows cut: those below the cursor first.
func inRows(s sessions.Snapshot, height int) sessions.Snapshot {
	if len(s.Rows) > height {
		from := max(0, s.CursorY-height+1)
		to := min(len(s.Rows), from+height)
		s.Rows, s.CursorY = s.Rows[from:to], s.CursorY-from
		if s.Wrapped != nil {
			s.Wrapped = s.Wrapped[from:to]
		}
	}
	s.Height = height
	return s
}

func cells(row string, n int) string { r := []rune(row); return string(r[:min(n, len(r))]) }

// boxOf reads what rows draws.
func boxOf(front *hosted, s *sessions.Snapshot) sessions.InputBox {
	if front == nil || front.kind != sessions.ProgramShell && front.kind != sessions.ProgramAgent {
		return sessions.InputBox{}
	}
	b := sessions.InputBox{Known: true, Shell: front.kind == sessions.ProgramShell}
	if b.Shell {
		for i, row := range slices.Backward(s.Rows) {
			if rest, ok := strings.CutPrefix(row, "$ "); ok {
				b.Open, b.Text = true, strings.Join(append([]string{rest}, s.Rows[i+1:]...), "\n")
				return b
			}
		}
		return b
	}
	var edges []int
	for i, row := range s.Rows {
		if strings.HasPrefix(row, "────") {
			if s.Wrapped != nil && s.Wrapped[i] {
				b.Torn = true
				return b
			}
			edges = append(edges, i)
		}
	}
	if len(edges) != 2 {
		return b
	}
	var text []string
	for _, row := range s.Rows[edges[0]+1 : edges[1]] {
		text = append(text, strings.TrimPrefix(strings.TrimPrefix(row, "❯ "), "  "))
	}
	b.Open, b.Text, b.Rows = true, strings.Trim(strings.Join(text, "\n"), "\n"), []int{edges[0] + 1}
	return b
}

// press has a program take one typed thing.
func (h *host) press(p *hostPane, typed string) {
	f := p.front()
	if f == nil {
		return
	}
	if f.stuck != nil {
		f.stuck.read = append(f.stuck.read, typed)
		return
	}
	p.activity = time.Now().Unix()
	text, paste := strings.CutPrefix(typed, "paste ")
	switch {
	case f.dialog && !paste && typed == "Enter":
		f.dialog = false
		f.took = append(f.took, taken{"ENTER IN A DIALOG", time.Now()})
	case f.dialog:
		f.took = append(f.took, taken{"TYPED INTO A DIALOG: " + typed, time.Now()})
	case paste:
		f.line += text
		p.pasted = time.Now()
	case typed == "Enter":
		h.submit(p, f)
	case typed == "BSpace":
		if r := []rune(f.line); len(r) > 0 {
			f.line = string(r[:len(r)-1])
		}
	case typed == "C-u":
		f.line = f.line[:strings.LastIndexByte(f.line, '\n')+1]
	case typed == "C-e", typed == "C-c", typed == "Escape", typed == "Up", typed == "Tab":
	default:
		f.line += typed
	}
}

func (h *host) submit(p *hostPane, f *hosted) {
	line := f.line
	f.line = ""
	if line == "" {
		return
	}
	f.took = append(f.took, taken{line, time.Now()})
	h.note("%s takes %q", f.name, line)
	f.printed = append(f.printed, "> "+line)
	switch {
	case f.kind == sessions.ProgramAgent && strings.Contains(line, "x-text"):
		p.address(f.key())
		h.record(p, line)
	case f.kind == sessions.ProgramShell && (line == "agent" || line == "other agent" || line == "editor"):
		h.begin(p, line)
	}
}

// begin starts a program above the one in front.
func (h *host) begin(p *hostPane, name string) {
	h.begun++
	kind := sessions.ProgramAgent
	switch name {
	case "editor":
		kind = sessions.ProgramOther
	case "shell":
		kind = sessions.ProgramShell
	case "reader":
		kind = sessions.ProgramOwn
	}
	h.note("%s begins in %s", name, p.id)
	p.programs = append(p.programs, &hosted{kind: kind, name: name, run: fmt.Sprint("run-", h.begun), started: time.Now(), own: len(p.programs) == 0})
	p.activity = time.Now().Unix()
}

// read has the front program read what was typed.
func (h *host) read(p *hostPane) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(p.unread) > 0 && !p.dead {
		typed := p.unread[0]
		p.unread = p.unread[1:]
		h.press(p, typed)
	}
}

// stick has the program in front draw nothing for a while.
func (h *host) stick(p *hostPane) {
	f, spins, d := p.front(), h.r.IntN(2) == 0, time.Duration(h.r.IntN(25_000))*time.Millisecond
	if spins {
		d = min(d, 14*time.Second) // what it read before stands in its box within shownWithin
	}
	if f == nil || f.kind != sessions.ProgramAgent || f.stuck != nil || f.dialog {
		return
	}
	h.note("%s is stuck in %s for %s, and spins: %v", f.name, p.id, d, spins)
	f.stuck = &stuck{shows: (server{host: h}).look(p), spins: spins}
	time.AfterFunc(d, func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.unstick(p, f)
	})
}

// unstick has a program work in what it has read.
func (h *host) unstick(p *hostPane, f *hosted) {
	if f.stuck == nil || p.front() != f {
		return
	}
	read := f.stuck.read
	f.stuck = nil
	h.note("%s goes on in %s", f.name, p.id)
	p.activity = time.Now().Unix()
	for _, typed := range read {
		h.press(p, typed)
	}
}

// end ends the program in front; what it hasn't read is read by the next.
func (h *host) end(p *hostPane) {
	if f := p.front(); f != nil {
		h.note("%s ends in %s", f.name, p.id)
		p.programs = slices.Clone(p.programs[:len(p.programs)-1])
		p.past = append(p.past, f)
		f.stuck = nil
		p.activity = time.Now().Unix()
	}
	p.dead = p.front() == nil
}

func (h *host) note(format string, args ...any) {
	h.trace = append(h.trace, fmt.Sprintf("%8.3f ", time.Since(epoch).Seconds())+fmt.Sprintf(format, args...))
}

// epoch is when time begins in a bubble.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

var (
	errKilled = fmt.Errorf("%w: killed", sessions.ErrUncertain)
	errAway   = fmt.Errorf("%w: tmux doesn't answer", sessions.ErrUnavailable)
)

// call begins a call of a daemon's; after says that it's killed behind the effect. The
// host is locked until done.
func (h *host) call(term int) (after bool, err error) {
	h.mu.Lock()
	if term != h.term {
		h.mu.Unlock()
		return false, errKilled
	}
	if h.killIn > 0 {
		if h.killIn--; h.killIn == 0 {
			if h.r.IntN(2) == 0 {
				h.kill()
				h.mu.Unlock()
				return false, errKilled
			}
			return true, nil
		}
	}
	return false, nil
}

// done ends a call.
func (h *host) done(after bool) error {
	defer h.mu.Unlock()
	if after {
		h.kill()
		return errKilled
	}
	return nil
}

// kill ends the daemon's term.
func (h *host) kill() {
	select {
	case <-h.killed:
		return // nobody has noticed yet
	default:
	}
	h.note("the daemon is killed")
	h.term++
	close(h.killed)
}

func (h *host) pane(id string) *hostPane {
	for _, p := range h.panes {
		if p.id == id && !p.gone {
			return p
		}
	}
	return nil
}

// server is the host's tmux as one daemon sees it.
type server struct {
	sessionstest.Tmux
	*host

	in int // its term
}

func (s server) Identity() (sessions.ServerIdentity, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return run, !s.away && s.in == s.term
}

func (s server) Panes(context.Context) (all []sessions.PaneInfo, err error) {
	after, err := s.call(s.in)
	if err != nil {
		return nil, err
	}
	for _, p := range s.panes {
		if !p.gone {
			all = append(all, sessions.PaneInfo{ID: p.id, Session: p.name, Mark: p.mark, PID: p.pid, Dead: p.dead})
		}
	}
	return all, s.done(after)
}

func (s server) Create(_ context.Context, id sessions.ID, req sessions.PaneRequest) (sessions.PaneInfo, error) {
	after, err := s.call(s.in)
	if err != nil {
		return sessions.PaneInfo{}, err
	}
	p := &hostPane{id: fmt.Sprint("%", len(s.panes)+1), pid: len(s.panes) + 100, name: req.Session, mark: id, width: 80, height: 24, lag: time.Duration(s.r.IntN(200)) * time.Millisecond}
	s.panes = append(s.panes, p)
	s.begin(p, req.Command[0])
	return sessions.PaneInfo{ID: p.id, Session: p.name, Mark: id, PID: p.pid}, s.done(after)
}

func (s server) Respawn(_ context.Context, pane string, req sessions.PaneRequest) error {
	after, err := s.call(s.in)
	if err != nil {
		return err
	}
	if p := s.pane(pane); p != nil {
		first := p.programs
		for len(p.programs) > 0 {
			s.end(p)
		}
		p.unread, p.dead = nil, false
		p.address("")
		name := "shell"
		if len(req.Command) > 0 {
			name = req.Command[0]
		} else if len(first) > 0 {
			name = first[0].name
		}
		s.begin(p, name)
	}
	return s.done(after)
}

func (s server) Mark(_ context.Context, pane string, id sessions.ID) error {
	after, err := s.call(s.in)
	if err != nil {
		return err
	}
	if p := s.pane(pane); p != nil {
		p.mark = id
	}
	return s.done(after)
}

func (s server) Kill(_ context.Context, pane string) error {
	after, err := s.call(s.in)
	if err != nil {
		return err
	}
	if p := s.pane(pane); p != nil {
		for len(p.programs) > 0 {
			s.end(p)
		}
		p.gone = true
	}
	return s.done(after)
}

func (s server) Snapshot(_ context.Context, pane string, _ sessions.RowWindow) (sessions.Snapshot, error) {
	after, err := s.call(s.in)
	if err != nil {
		return sessions.Snapshot{}, err
	}
	p := s.pane(pane)
	switch {
	case s.away:
		return sessions.Snapshot{}, errors.Join(errAway, s.done(after))
	case p == nil:
		return sessions.Snapshot{}, errors.Join(sessions.ErrUnknown, s.done(after))
	}
	return s.look(p), s.done(after)
}

func (s server) look(p *hostPane) sessions.Snapshot {
	snap := sessions.Snapshot{Server: run, Pane: p.id, PID: p.pid, Width: p.width, Height: p.height, Dead: p.dead, TTY: p.id, Activity: p.activity}
	f := p.front()
	switch {
	case f == nil:
	case f.stuck != nil:
		snap = f.stuck.shows
		if f.stuck.spins && len(f.printed) > 0 {
			snap.Rows = append([]string{time.Now().Format("* 05.0")}, snap.Rows[1:]...)
			p.activity = time.Now().Unix()
		}
		snap = resized(snap, p.width, p.height)
		snap.Activity, snap.Front = p.activity, f.name
	default:
		snap.Front = f.name
		snap.Rows, snap.CursorX, snap.CursorY = f.rows(p.width)
		if f.kind == sessions.ProgramAgent { // it draws the end of what it has to show
			from := max(0, len(snap.Rows)-p.height)
			snap.Rows, snap.CursorY = snap.Rows[from:], max(0, snap.CursorY-from)
			snap.Alternate = f.name == "agent"
		}
	}
	return snap
}

func (s server) Screen(context.Context, string) (sessions.Screen, error) {
	return sessions.Screen{}, errAway
}

func (s server) Terminal(tty string) (sessions.Terminal, error) {
	after, err := s.call(s.in)
	if err != nil {
		return sessions.Terminal{}, err
	}
	out := sessions.Terminal{MaxLine: 4095}
	if p := s.pane(tty); p != nil {
		out.Unread = len(p.unread)
	}
	return out, s.done(after)
}

func (s server) Paste(_ context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	return s.guarded(g, "paste "+text)
}

func (s server) Press(_ context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	return s.guarded(g, keys...)
}

// guarded is one atomic step.
func (s server) guarded(g sessions.PaneGuard, typed ...string) (sessions.GuardOutcome, error) {
	after, err := s.call(s.in)
	if err != nil {
		return "", err
	}
	p := s.pane(g.Pane)
	if s.away || p == nil {
		err := sessions.ErrUnknown
		if s.away {
			err = errAway
		}
		return "", errors.Join(err, s.done(after))
	}
	if p.dead {
		return sessions.Dead, s.done(after)
	}
	now := s.look(p)
	if out := sessionstest.Check(g, &now); out != sessions.Done {
		return out, s.done(after)
	}
	s.note("typed into %s of %s: %q", p.front().name, p.id, typed)
	if f := p.front(); p.addressee == "" && f.kind == sessions.ProgramAgent && strings.HasPrefix(typed[0], "paste x-text") {
		p.address(f.key()) // what's written next is for whom this was
	}
	for _, one := range typed {
		p.unread = append(p.unread, one)
		time.AfterFunc(p.lag, func() { s.read(p) })
	}
	return sessions.Done, s.done(after)
}

// journal is the host's disk as one daemon sees it.
type journal struct {
	*host
	in int
}

func (j journal) write(put func(d *disk)) error {
	after, err := j.call(j.in)
	if err != nil {
		return err
	}
	put(&j.disk)
	return j.done(after)
}

func (j journal) Sessions(context.Context) ([]sessions.Session, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Clone(j.disk.sessions), nil
}

func (j journal) PutSession(_ context.Context, s sessions.Session) error {
	s.Source = sessions.Source{} // it's found out again
	return j.write(func(d *disk) {
		d.sessions = append(slices.DeleteFunc(d.sessions, func(o sessions.Session) bool { return o.ID == s.ID }), s)
	})
}

func (j journal) DropSession(_ context.Context, id sessions.ID) error {
	return j.write(func(d *disk) {
		d.sessions = slices.DeleteFunc(d.sessions, func(o sessions.Session) bool { return o.ID == id })
		d.receipts = slices.DeleteFunc(d.receipts, func(o sessions.Receipt) bool { return o.Session == id })
	})
}

func (j journal) PutReceipt(_ context.Context, r sessions.Receipt) error {
	return j.write(func(d *disk) {
		j.note("%s %s is %s %s", r.ID, r.Text, r.State, r.Reason)
		for i := range d.receipts {
			if d.receipts[i].ID == r.ID {
				d.receipts[i] = r
				return
			}
		}
		d.receipts = append(d.receipts, r)
	})
}

func (j journal) ReceiptByKey(context.Context, string) (sessions.Receipt, error) {
	return sessions.Receipt{}, sessions.ErrUnknown
}

func (j journal) Receipt(_ context.Context, id string) (sessions.Receipt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.disk.receipts {
		if r.ID == id {
			return r, nil
		}
	}
	return sessions.Receipt{}, sessions.ErrUnknown
}

func (j journal) OpenReceipts(context.Context) (open []sessions.Receipt, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.disk.receipts {
		if !r.Final() {
			open = append(open, r)
		}
	}
	return open, nil
}

func (j journal) UnansweredReceipts(_ context.Context, since time.Time) (all []sessions.Receipt, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, r := range j.disk.receipts {
		if (r.State == sessions.ReceiptSubmitted || r.State == sessions.ReceiptFailed) && r.UpdatedAt.After(since) {
			all = append(all, r)
		}
	}
	return all, nil
}

func (j journal) PutPrompt(_ context.Context, p sessions.Prompt) error {
	return j.write(func(d *disk) { d.prompts[p.ID] = p })
}

func (j journal) Prompt(_ context.Context, id string) (sessions.Prompt, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if p, ok := j.disk.prompts[id]; ok {
		return p, nil
	}
	return sessions.Prompt{}, sessions.ErrUnknown
}

func (j journal) OpenPrompts(context.Context) (open []sessions.Prompt, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.disk.prompts {
		if !p.Final() {
			open = append(open, p)
		}
	}
	return open, nil
}

func (j journal) PutClosedPane(context.Context, sessions.Pane) error { return j.write(func(*disk) {}) }

func (j journal) ClosedPanes(context.Context) ([]sessions.Pane, error) {
	return nil, nil
}

func (j journal) DropClosedPane(context.Context, sessions.Pane) error { return j.write(func(*disk) {}) }

// Grow finds that somebody is at the terminal.
func (server) Grow(context.Context, string, sessions.ServerIdentity, int, time.Duration) (sessions.Snapshot, error) {
	return sessions.Snapshot{}, sessions.ErrConflict
}
func (server) Shrink(context.Context, string) error { return nil }
func (server) Settle(string)                        {}
