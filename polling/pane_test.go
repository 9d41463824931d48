package polling_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// drain, behind a program, waits until tmux has read what was printed.
const drain = "; stty -echo -icanon min 0 time 100; printf '\\033[5n'; head -c 4 >/dev/null"

// memLog is an output log in memory.
type memLog struct {
	mu     sync.Mutex
	lines  []sessions.Line
	gaps   []sessions.Gap
	engine []byte
	turn   sessions.Turn
	ended  []sessions.Turn // in the order in which they ended
}

func (l *memLog) Load(context.Context, sessions.ID) ([]byte, sessions.Turn, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.engine, l.turn, nil
}

func (l *memLog) Append(_ context.Context, b polling.Batch) (polling.Appended, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	head := int64(len(l.lines))
	out := polling.Appended{}
	for i, line := range b.Lines {
		line.N = head + int64(i) + 1
		out.Lines = append(out.Lines, line)
	}
	for _, g := range b.Gaps {
		g.After += head
		out.Gaps = append(out.Gaps, g)
	}
	l.lines = append(l.lines, out.Lines...)
	l.gaps = append(l.gaps, out.Gaps...)
	if b.Engine != nil {
		l.engine = b.Engine
	}
	for _, t := range b.Ended {
		l.put(t, head)
		out.Ended = append(out.Ended, l.turn)
	}
	if b.Turn != nil {
		l.put(*b.Turn, head)
	}
	out.Turn, out.Head = l.turn, int64(len(l.lines))
	return out, nil
}

// turns are the newest turn, and those that have ended.
func (l *memLog) turns() (newest sessions.Turn, ended []sessions.Turn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.turn, slices.Clone(l.ended)
}

// put stores a turn of a batch.
func (l *memLog) put(t sessions.Turn, head int64) {
	was := l.turn
	if t.Number != was.Number {
		was = sessions.Turn{}
	}
	t.FirstLine = absolute(t.FirstLine, head, was.FirstLine)
	t.LastLine = absolute(t.LastLine, head, was.LastLine)
	if l.turn = t; !t.Open {
		l.ended = append(l.ended, t)
	}
}

// absolute is the number of the n-th line of a batch; 0 leaves what was.
func absolute(n, head, was int64) int64 {
	switch n {
	case 0:
		return was
	case -1:
		return head
	}
	return head + n
}

func (l *memLog) Tail(_ context.Context, _ sessions.ID, n int) ([]sessions.Line, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]sessions.Line(nil), l.lines[max(0, len(l.lines)-n):]...), nil
}

func (l *memLog) text() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]string, len(l.lines))
	for i, line := range l.lines {
		out[i] = line.Text
	}
	return out
}

// owner keeps what pollers tell.
type owner struct {
	mu     sync.Mutex
	events []sessions.OutputEvent
	ended  chan string
	turns  int
	live   sessions.Live
}

func (o *owner) Output(ev sessions.OutputEvent) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = append(o.events, ev)
	if ev.Complete {
		o.turns++
	}
	if ev.Live != nil {
		o.live = *ev.Live
	}
}

func (o *owner) Ended(_ sessions.ID, _ *sessions.Exit, reason string) { o.ended <- reason }
func (o *owner) Reconcile(string)                                     {}

// all are the events so far.
func (o *owner) all() []sessions.OutputEvent {
	o.mu.Lock()
	defer o.mu.Unlock()
	return append([]sessions.OutputEvent(nil), o.events...)
}

func texts(lines []sessions.Line) []string {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.Text
	}
	return out
}

func (o *owner) completed() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.turns
}

// pane is a real pane of a tmux server of the test's own, with a poller.
type pane struct {
	*testing.T
	socket, id string
	client     *tmux.Client
	log        *memLog
	owner      *owner
	coord      *polling.PollingCoordinator
	source     *countingSource

	stopPolling func()
}

// countingSource counts looks and captures.
type countingSource struct {
	polling.PaneSource
	snapshots, glances atomic.Int64
}

func (c *countingSource) Glances(ctx context.Context, since int64) ([]sessions.Glance, bool, error) {
	g, all, err := c.PaneSource.Glances(ctx, since)
	c.glances.Add(1)
	return g, all, err
}

func (c *countingSource) Snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error) {
	s, err := c.PaneSource.Snapshot(ctx, pane, w)
	c.snapshots.Add(1)
	return s, err
}

// look makes the poller capture, twice, and waits until it has worked in what
// it saw the first time.
func (p *pane) look() {
	p.Helper()
	for range 3 {
		n := p.source.snapshots.Load()
		p.await("capture", func() bool {
			p.coord.NoteTyped("pb_1", "")
			return p.source.snapshots.Load() > n || len(p.owner.ended) > 0
		})
	}
}

// newPane runs command in a pane and polls it. The command's program remains as
// a dead pane when it ends.
func newPane(t *testing.T, command string, size string, opt polling.Options, tmuxOpts ...string) *pane {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p := &pane{T: t, socket: filepath.Join(dir, "s"), log: &memLog{}, owner: &owner{ended: make(chan string, 1)}}
	w, h, _ := strings.Cut(size, "x")
	p.tmux("-f", "/dev/null", "new-session", "-d", "-s", "keep", "exec cat")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	p.tmux("set-option", "-g", "remain-on-exit", "on")
	p.tmux("set-option", "-g", "default-terminal", "tmux-256color")
	p.tmux("set-option", "-g", "status", "off")
	for _, o := range tmuxOpts {
		k, v, _ := strings.Cut(o, "=")
		p.tmux("set-option", "-g", k, v)
	}
	p.client = tmux.New(tmux.Options{SocketPath: p.socket})
	p.source = &countingSource{PaneSource: p.client}
	p.coord = polling.NewCoordinator(map[string]polling.PaneSource{"t": p.source}, p.log, opt)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.client.Run(ctx) })
	polled, stop := context.WithCancel(ctx)
	var poll sync.WaitGroup
	poll.Go(func() { _ = p.coord.Run(polled, p.owner) })
	p.stopPolling = func() { stop(); poll.Wait() }
	t.Cleanup(func() { p.stopPolling(); cancel(); wg.Wait() })
	p.await("connection", func() bool { return p.client.Status().Connected })
	p.id = p.tmux("new-session", "-d", "-s", "work", "-x", w, "-y", h, "-P", "-F", "#{pane_id}", command)
	if err := p.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: p.id, Drained: true}); err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *pane) tmux(args ...string) string {
	p.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

// typeLine types into the pane as a person at the keyboard would.
func (p *pane) typeLine(text string) {
	p.Helper()
	p.tmux("send-keys", "-t", p.id, "-l", "--", text)
	p.tmux("send-keys", "-t", p.id, "Enter")
}

// await waits until what is asked for has come about; only a hung test ends it.
func (p *pane) await(what string, ok func() bool) {
	p.Helper()
	end := time.Now().Add(await)
	for !ok() {
		if time.Now().After(end) {
			p.Fatalf("no %s within a minute; log:\n%s\ngaps: %v", what, strings.Join(lastOf(p.log.text(), 40), "\n"), p.log.gaps)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func lastOf(s []string, n int) []string { return s[max(0, len(s)-n):] }

// awaitLine waits until the log has a line.
func (p *pane) awaitLine(line string) {
	p.Helper()
	p.await("line "+line, func() bool {
		return slices.Contains(p.log.text(), line)
	})
}

// awaitEnd waits until the poller has ended.
func (p *pane) awaitEnd() string {
	p.Helper()
	select {
	case r := <-p.owner.ended:
		return r
	case <-time.After(await):
		p.Fatal("the poller did not end")
		return ""
	}
}

// writeFile makes a file whose name needs no quoting.
func writeFile(t *testing.T, text string) string {
	t.Helper()
	// Not in t.TempDir: its name has the test's, which may need quoting.
	f, err := os.CreateTemp("", "pb") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(f.Name()) })
	if _, err := f.WriteString(text); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return f.Name()
}

// await is how long tests wait for what must come: only a hung test ends it.
const await = time.Minute
