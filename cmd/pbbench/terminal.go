package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/creack/pty"
	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
)

// The bars of pbbench terminal.
const (
	echoBar    = 40.0 // ms at the 95th percentile from a key to the frame that shows it
	slowerPour = 1.1  // times as slow as an attached client makes a program that writes without end
	growthBar  = 20.0 // MB that the daemon may grow by meanwhile
	othersBar  = 2.0  // times as long as others' first events take else
)

// terminalOptions are the flags of pbbench terminal.
type terminalOptions struct {
	sessions, active, keys, seconds int
	profile                         string
	json                            bool
}

// terminalRow is one thing that was measured.
type terminalRow struct {
	What  string  `json:"what"`
	P50   float64 `json:"p50"`
	P95   float64 `json:"p95"`
	Max   float64 `json:"max"`
	Times int     `json:"times"`
}

func terminalCommand() *cobra.Command {
	opt := terminalOptions{}
	cmd := &cobra.Command{
		Use: "terminal", Short: "How soon a key's echo is in a frame, and what watching a pane costs", Args: cobra.NoArgs,
		Long: `Presses keys in a session's terminal by the API, beside others of which some print, and waits for the frame with the echo; a tmux
client that's attached on a bare pseudo terminal does the same. Then a pane is written to without end while nobody looks, while such a client does, while a
terminal does, and while it does and the daemon is stopped, in turns, whose order changes; what's compared is what one turn saw. Meanwhile another pane is
written to now and then, and followed. It fails if a bar isn't met.`,
		RunE: func(cmd *cobra.Command, _ []string) error { return opt.run(cmd.Context(), cmd.OutOrStdout()) },
	}
	f := cmd.Flags()
	f.IntVar(&opt.sessions, "sessions", 100, "how many sessions the tmux server has")
	f.IntVar(&opt.active, "active", 10, "how many of them print, 3.3 lines a second each")
	f.IntVar(&opt.keys, "keys", 200, "how many keys are pressed each way")
	f.IntVar(&opt.seconds, "seconds", 60, "for how long a pane is written to without end, in parts")
	f.StringVar(&opt.profile, "profile", "", "write a CPU profile of the daemon while a pane is written to without end to this file")
	f.BoolVar(&opt.json, "json", false, "print one JSON object a row")
	return cmd
}

func (o terminalOptions) run(ctx context.Context, out io.Writer) (err error) {
	if o.sessions < o.active+3 || o.keys < 10 || o.seconds < 4*pourTurns {
		return fmt.Errorf("--sessions %d, --keys %d, --seconds %d: at least 3 more than --active, 10 and %d", o.sessions, o.keys, o.seconds, 4*pourTurns)
	}
	b, err := newBed(ctx, o.sessions)
	if err != nil {
		return err
	}
	defer b.close(ctx)
	if err := b.fill(); err != nil {
		return err
	}
	defer b.drive(o.active)()
	d, err := startDaemon(ctx, b, daemonOptions{cadence: 1, adopt: true, profile: o.profile})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	if err := pause(ctx, settle); err != nil {
		return err
	}
	t := &terminalBench{terminalOptions: o, bed: b, daemon: d}
	if t.ids, err = t.sessionIDs(ctx); err != nil {
		return err
	}
	return t.measure(ctx, out)
}

// terminalBench is a bed with a daemon, and the sessions of its panes.
type terminalBench struct {
	terminalOptions
	*bed

	daemon *daemon
	ids    []string // by pane
}

func (t *terminalBench) sessionIDs(ctx context.Context) (ids []string, err error) {
	all, err := t.daemon.api.Sessions(ctx)
	if err != nil {
		return nil, fmt.Errorf("list the sessions: %w", err)
	}
	for _, p := range t.panes {
		at := slices.IndexFunc(all, func(s api.Session) bool { return s.Tmux.Pane == p.id })
		if at < 0 {
			return nil, fmt.Errorf("no session has pane %s", p.id)
		}
		ids = append(ids, string(all[at].ID))
	}
	return ids, nil
}

func (t *terminalBench) measure(ctx context.Context, out io.Writer) error {
	typed := len(t.panes) - 1 // a quiet pane
	progress("keys")
	ours, err := t.echoes(ctx, func(ctx context.Context) (echoing, error) { return openTerminal(ctx, t.daemon.api, t.ids[typed]) })
	if err != nil {
		return err
	}
	theirs, err := t.echoes(ctx, func(ctx context.Context) (echoing, error) { return t.attach(ctx, t.panes[typed].session) })
	if err != nil {
		return err
	}
	rows := []terminalRow{terminalRowOf("key to its echo in a frame, ms", ours), terminalRowOf("the same by an attached client, ms", theirs)}
	poured, err := t.pour(ctx)
	if err != nil {
		return err
	}
	for _, way := range pourWays {
		rows = append(
			rows, terminalRowOf("MB/s written, "+way, poured.rates[way]),
			terminalRowOf("the tmux server's CPU meanwhile, ms/s", poured.server[way]), terminalRowOf("the daemon's, ms/s", poured.daemon[way]),
		)
	}
	rows = append(rows, terminalRowOf("first event of another, ms", poured.others[pourAlone]), terminalRowOf("the same while a terminal is flooded, ms", poured.others[pourWatched]))
	bars, err := printRows(out, t.json, rows, []any{"what", "p50", "p95", "max", "times"}, func(r terminalRow) []any {
		return []any{r.What, r.P50, r.P95, r.Max, r.Times}
	})
	if err != nil {
		return err
	}
	return t.judge(bars, rows, poured)
}

func terminalRowOf(what string, all []float64) terminalRow {
	return terminalRow{what, quantile(all, 0.5), quantile(all, 0.95), quantile(all, 1), len(all)}
}

func (t *terminalBench) judge(bars io.Writer, rows []terminalRow, p *pouring) error {
	watched, attached, stopped := p.ratio(pourWatched, pourAlone), p.ratio(pourAttached, pourAlone), p.ratio(pourStopped, pourAlone)
	slower := p.ratio(pourAttached, pourWatched)
	others := rows[len(rows)-1].P95 / max(rows[len(rows)-2].P95, 0.001)
	met := true
	for _, m := range []struct {
		met  bool
		what string
	}{
		{rows[0].P95 <= echoBar, fmt.Sprintf("a key's echo is in a frame after %.1f ms (p95), at most %.0f; an attached client has it after %.1f ms", rows[0].P95, echoBar, rows[1].P95)},
		{slower <= slowerPour, fmt.Sprintf("a program is slowed to %.2f of its speed, by an attached client to %.2f: %.2f times as much, at most %.1f", watched, attached, slower, slowerPour)},
		{stopped > 0.5, fmt.Sprintf("with the daemon stopped it writes at %.2f of its speed", stopped)},
		{p.grown <= growthBar, fmt.Sprintf("the daemon grows by %.1f MB meanwhile, at most %.0f", p.grown, growthBar)},
		{others <= othersBar, fmt.Sprintf("others' first events take %.2f times as long (p95) meanwhile, at most %.0f", others, othersBar)},
	} {
		bar(bars, m.met, "%s", m.what)
		met = met && m.met
	}
	if !met {
		return errors.New("a bar isn't met")
	}
	return nil
}

// echoing is a way to press keys and see them.
type echoing interface {
	// press presses a key. It returns when that's on its way.
	press(ctx context.Context, key string) error
	// sees reports whether a text stands on the screen now.
	sees(text string) bool
	close()
}

// The keys that complete a text, and that erase it.
const (
	lastKey  = "@" // no status line has one
	eraseKey = "C-u"
)

// echoes presses keys, each of which completes a text, and returns after how many milliseconds that stood there.
func (t *terminalBench) echoes(ctx context.Context, open func(context.Context) (echoing, error)) (all []float64, err error) {
	w, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer w.close()
	if err := pause(ctx, time.Second); err != nil {
		return nil, err
	}
	for i := range t.keys {
		word := fmt.Sprint("k", rand.IntN(90)+10)
		for key := range strings.SplitSeq(word, "") {
			if err := w.press(ctx, key); err != nil {
				return nil, err
			}
		}
		if err := pause(ctx, time.Duration(50+rand.IntN(100))*time.Millisecond); err != nil {
			return nil, err
		}
		began := time.Now()
		if err := w.press(ctx, lastKey); err != nil {
			return nil, err
		}
		for !w.sees(word + lastKey) {
			if time.Since(began) > 5*time.Second {
				return nil, fmt.Errorf("the echo of key %d isn't seen", i)
			}
			time.Sleep(200 * time.Microsecond)
		}
		all = append(all, ms(time.Since(began)))
		if err := w.press(ctx, eraseKey); err != nil {
			return nil, err
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// apiTerminal is a session's terminal by the API.
type apiTerminal struct {
	api    *client.Client
	id     string
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu    sync.Mutex
	frame int64
	rows  map[int]string
}

func openTerminal(ctx context.Context, c *client.Client, id string) (*apiTerminal, error) {
	ctx, cancel := context.WithCancel(ctx)
	w := &apiTerminal{api: c, id: id, cancel: cancel, rows: map[int]string{}}
	w.done.Go(func() {
		_ = c.Terminal(ctx, id, func(e client.Event) error { // what's missing is seen
			var f api.FrameEvent
			if err := json.Unmarshal(e.Data, &f); err != nil || e.Name != api.EventFrame {
				return err
			}
			w.mu.Lock()
			defer w.mu.Unlock()
			w.frame = f.N
			maps.Copy(w.rows, f.Rows)
			return nil
		})
	})
	return w, nil
}

func (w *apiTerminal) press(ctx context.Context, key string) error {
	w.mu.Lock()
	frame := w.frame
	w.mu.Unlock()
	return w.api.KeysAt(ctx, w.id, frame, key)
}

func (w *apiTerminal) sees(text string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, row := range w.rows {
		if strings.Contains(row, text) {
			return true
		}
	}
	return false
}

func (w *apiTerminal) close() {
	w.cancel()
	w.done.Wait()
}

// attachedClient is a tmux client on a pseudo terminal of ours.
type attachedClient struct {
	cmd    *exec.Cmd
	master *os.File
	done   sync.WaitGroup

	mu   sync.Mutex
	tail string // of what it has drawn
}

func (t *terminalBench) attach(ctx context.Context, session string) (*attachedClient, error) {
	cmd := t.command(ctx, "attach-session", "-t", "="+session)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 41, Cols: 120})
	if err != nil {
		return nil, fmt.Errorf("attach a client: %w", err)
	}
	w := &attachedClient{cmd: cmd, master: master}
	w.done.Go(func() {
		buf := make([]byte, 1<<16)
		for {
			n, err := master.Read(buf)
			w.mu.Lock()
			w.tail += string(buf[:n])
			w.tail = w.tail[max(0, len(w.tail)-4096):]
			w.mu.Unlock()
			if err != nil {
				return
			}
		}
	})
	return w, nil
}

func (w *attachedClient) press(_ context.Context, key string) error {
	if key == eraseKey {
		w.mu.Lock()
		w.tail = ""
		w.mu.Unlock()
		key = "\x15"
	}
	_, err := w.master.WriteString(key)
	return err
}

// sees reports whether a text's last letter was drawn since the text before was erased.
func (w *attachedClient) sees(string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return strings.Contains(w.tail, lastKey)
}

func (w *attachedClient) close() {
	_ = w.cmd.Process.Signal(syscall.SIGHUP) // a plain client takes leave of its server then
	_ = w.cmd.Wait()
	_ = w.master.Close()
	w.done.Wait()
}

// The ways in which somebody looks while a pane is written to without end.
const (
	pourAlone    = "nobody looks"
	pourAttached = "an attached client looks"
	pourWatched  = "a terminal looks"
	pourStopped  = "a terminal looks and the daemon is stopped"
	pourTurns    = 9 // of each way
)

var pourWays = []string{pourAlone, pourAttached, pourWatched, pourStopped} //nolint:gochecknoglobals // a constant list

// pouring is what was seen while a pane was written to without end.
type pouring struct {
	rates  map[string][]float64 // MB/s, by way
	others map[string][]float64 // ms until another session's first event, by way
	server map[string][]float64 // CPU that the tmux server took, ms/s, by way
	daemon map[string][]float64 // the same of the daemon
	grown  float64              // MB by which the daemon grew
}

// ratio returns the median, over the turns, of one way's rate by another's in the same turn.
// What a machine does beside comes and goes over the turns, and is in both.
func (p *pouring) ratio(way, other string) float64 {
	all := make([]float64, len(p.rates[way]))
	for i, rate := range p.rates[way] {
		all[i] = rate / p.rates[other][i]
	}
	return median(all)
}

func (t *terminalBench) pour(ctx context.Context) (*pouring, error) {
	p := &pouring{rates: map[string][]float64{}, others: map[string][]float64{}, server: map[string][]float64{}, daemon: map[string][]float64{}}
	if err := t.daemon.startProfile(); err != nil {
		return nil, err
	}
	before, err := memory(t.daemon.pid)
	if err != nil {
		return nil, err
	}
	each := time.Duration(t.seconds) * time.Second / time.Duration(pourTurns*len(pourWays))
	for turn := range pourTurns {
		for i := range pourWays {
			way := pourWays[(turn+i)%len(pourWays)] // none always comes after the same
			progress("writing without end, turn %d: %s", turn+1, way)
			if err := t.pourOnce(ctx, p, way, each); err != nil {
				return nil, err
			}
			if now, err := memory(t.daemon.pid); err == nil && turn > 0 { // it has its buffers by then
				p.grown = max(p.grown, float64(now-before)/1e6)
			} else if turn == 0 {
				before = max(before, now)
			}
		}
	}
	return p, nil
}

// pourOnce writes to a pane without end for a while, and meanwhile now and then to another that somebody follows.
func (t *terminalBench) pourOnce(ctx context.Context, p *pouring, way string, during time.Duration) (err error) {
	flooded, other := len(t.panes)-1, len(t.panes)-2
	switch way {
	case pourAttached:
		c, err := t.attach(ctx, t.panes[flooded].session)
		if err != nil {
			return err
		}
		defer c.close()
	case pourWatched, pourStopped:
		w, err := openTerminal(ctx, t.daemon.api, t.ids[flooded])
		if err != nil {
			return err
		}
		defer w.close()
	}
	if err := pause(ctx, 500*time.Millisecond); err != nil {
		return err
	}
	if way == pourStopped {
		if err := syscall.Kill(t.daemon.pid, syscall.SIGSTOP); err != nil {
			return fmt.Errorf("stop the daemon: %w", err)
		}
		defer func() { err = errors.Join(err, syscall.Kill(t.daemon.pid, syscall.SIGCONT)) }()
	}
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	var writing sync.WaitGroup
	if way != pourStopped {
		writing.Go(func() { p.others[way] = append(p.others[way], t.firstEvents(ctx, other)...) })
	}
	defer writing.Wait()
	lines := []byte(strings.Repeat("y\r\n", 400))
	server, daemon, err := t.cpuTimes()
	if err != nil {
		return err
	}
	began, written := time.Now(), 0
	for ctx.Err() == nil {
		n, err := t.panes[flooded].tty.Write(lines)
		if written += n; err != nil {
			return fmt.Errorf("write to a pane: %w", err)
		}
	}
	took := time.Since(began).Seconds()
	p.rates[way] = append(p.rates[way], float64(written)/took/1e6)
	serverNow, daemonNow, err := t.cpuTimes()
	p.server[way] = append(p.server[way], ms(serverNow-server)/took)
	p.daemon[way] = append(p.daemon[way], ms(daemonNow-daemon)/took)
	return err
}

// cpuTimes returns how much CPU time the tmux server and the daemon have used.
func (t *terminalBench) cpuTimes() (server, daemon time.Duration, err error) {
	if server, err = cpuTime(t.pid); err != nil {
		return 0, 0, err
	}
	daemon, err = cpuTime(t.daemon.pid)
	return server, daemon, err
}

// firstEvents writes to a pane whose session is followed, and returns how many milliseconds its first events took.
func (t *terminalBench) firstEvents(ctx context.Context, pane int) []float64 {
	m := newMarks()
	var reading sync.WaitGroup
	reading.Go(func() {
		_ = t.daemon.api.Events(ctx, t.ids[pane], "", func(e client.Event) error { // what's missing is left out
			m.seen(e.Name, e.Data, time.Now())
			return nil
		})
	})
	for pause(ctx, time.Duration(200+rand.IntN(100))*time.Millisecond) == nil {
		_ = t.panes[pane].write(m.next(time.Now()))
	}
	reading.Wait()
	return m.firsts()
}
