package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// paneVar is the socket over which the program in the pane is told how far to
// play.
const paneVar = "PANEBRIDGE_GEN_PANE"

// frames plays a recording step by step: up to each frame's time, then a look
// when tmux has worked that in. So a frame doesn't depend on how busy the
// machine is.
func frames(ctx context.Context, dir, name string) (total, changed int, err error) {
	rec, err := recording.OpenFS(os.DirFS(dir), name)
	if err != nil {
		return 0, 0, err
	}
	events, err := rec.Events()
	if err != nil {
		return 0, 0, err
	}
	p, err := startPane(ctx, rec)
	if err != nil {
		return 0, 0, err
	}
	defer p.stop() //nolint:contextcheck // it ends what was started, whatever became of ctx
	actions, err := rec.Actions()
	if err != nil {
		return 0, 0, err
	}
	end := max(events[len(events)-1].At, actions[len(actions)-1].At)
	total = int(end/recording.FrameStep) + 2
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(total)
	var last sessions.Snapshot
	for n := range total {
		at := time.Duration(n) * recording.FrameStep
		upTo := 0
		for upTo < len(events) && events[upTo].At <= at {
			upTo++
		}
		if err := p.play(ctx, events[:upTo]); err != nil {
			return 0, 0, err
		}
		events = events[upTo:]
		now, err := p.look(ctx)
		if err != nil {
			return 0, 0, err
		}
		if n > 0 && recording.Same(&last, &now) {
			continue
		}
		if err := enc.Encode(recording.Change(n, &last, &now)); err != nil {
			return 0, 0, fmt.Errorf("encode frame: %w", err)
		}
		last = now
		changed++
	}
	return total, changed, writeGzip(filepath.Join(dir, "frames.json.gz"), out.Bytes())
}

// pane is a real tmux pane whose program plays what it's sent.
type pane struct {
	socket string
	id     string
	client *tmux.Client
	cancel context.CancelFunc
	ended  chan error
	conn   net.Conn
	answer *bufio.Reader
	rest   string // the beginning of an escape sequence whose end is still to come
	dirty  bool   // something was played since the last look
	last   sessions.Snapshot
	dir    string
}

func startPane(ctx context.Context, rec *recording.Recording) (*pane, error) {
	dir, err := os.MkdirTemp("", "pbgen")
	if err != nil {
		return nil, fmt.Errorf("start pane: %w", err)
	}
	p := &pane{socket: filepath.Join(dir, "tmux"), dir: dir, ended: make(chan error, 1), dirty: true}
	for _, args := range [][]string{
		{"-f", "/dev/null", "new-session", "-d", "-s", "keep", "exec cat"},
		{"set-option", "-g", "default-terminal", "tmux-256color"},
		{"set-option", "-g", "status", "off"},
		{"set-option", "-g", "history-limit", "20000"},
		{"set-option", "-g", "escape-time", "10"},
	} {
		if _, err := p.tmux(ctx, args...); err != nil {
			return nil, err
		}
	}
	l, err := net.Listen("unix", filepath.Join(dir, "play")) //nolint:noctx // a socket of our own
	if err != nil {
		return nil, fmt.Errorf("start pane: %w", err)
	}
	defer l.Close()
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("start pane: %w", err)
	}
	if p.id, err = p.tmux(ctx, "new-session", "-d", "-s", "work", "-x", strconv.Itoa(rec.Width), "-y", strconv.Itoa(rec.Height),
		"-P", "-F", "#{pane_id}", fmt.Sprintf("%s='%s' exec '%s'", paneVar, filepath.Join(dir, "play"), self)); err != nil {
		return nil, err
	}
	if _, err := p.tmux(ctx, "select-pane", "-t", p.id, "-T", "host"); err != nil { // as it is before a program sets it
		return nil, err
	}
	if p.conn, err = l.Accept(); err != nil {
		return nil, fmt.Errorf("start pane: %w", err)
	}
	p.answer = bufio.NewReader(p.conn)
	p.client = tmux.New(tmux.Options{SocketPath: p.socket})
	var run context.Context
	run, p.cancel = context.WithCancel(ctx) // stop calls it
	go func() { p.ended <- p.client.Run(run) }()
	for !p.client.Status().Connected {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("start pane: %w", ctx.Err())
		}
		time.Sleep(10 * time.Millisecond)
	}
	return p, nil
}

func (p *pane) stop() {
	p.cancel()
	<-p.ended
	_ = p.conn.Close()
	_, _ = p.tmux(context.Background(), "kill-server")
	_ = os.RemoveAll(p.dir)
}

func (p *pane) tmux(ctx context.Context, args ...string) (string, error) {
	out, err := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(bytes.TrimSpace(out)), nil
}

// play has the program in the pane do what happened, and waits until tmux has
// worked it in.
func (p *pane) play(ctx context.Context, events []recording.Event) error {
	for _, e := range events {
		if e.Kind == "o" {
			p.rest += e.Data
			continue
		}
		if err := p.send(); err != nil {
			return err
		}
		w, h, _ := strings.Cut(e.Data, "x")
		if _, err := p.tmux(ctx, "resize-window", "-t", p.id, "-x", w, "-y", h); err != nil {
			return err
		}
		time.Sleep(resizePause)
		p.dirty = true
	}
	return p.send()
}

// send sends what was written, as far as it doesn't end within an escape
// sequence: the question whether tmux has worked it in mustn't come inside one.
func (p *pane) send() error {
	n := whole(p.rest)
	if n == 0 {
		return nil
	}
	b, err := json.Marshal(p.rest[:n])
	if err != nil {
		return fmt.Errorf("play: %w", err)
	}
	p.rest, p.dirty = p.rest[n:], true
	if _, err := p.conn.Write(append(b, '\n')); err != nil {
		return fmt.Errorf("play: %w", err)
	}
	if _, err := p.answer.ReadString('\n'); err != nil {
		return fmt.Errorf("play: the program in the pane has ended: %w", err)
	}
	return nil
}

// sequence matches a complete escape sequence.
var sequence = regexp.MustCompile(`^\x1b(?:\[[0-?]*[ -/]*[@-~]|` + // CSI
	`\][^\x07\x1b]*(?:\x07|\x1b\\)|` + // OSC
	`[PX^_](?:[^\x1b]|\x1b[^\\])*\x1b\\|` + // DCS and the like; may hold others, doubled
	`[ -/]*[0-OQ-WYZ\\` + "`" + `a-~])`)

// whole is how much of a stream, which begins outside of an escape sequence,
// lies before one that isn't complete.
func whole(s string) int {
	at := 0
	for {
		i := strings.IndexByte(s[at:], 0x1b)
		if i < 0 {
			return len(s)
		}
		m := sequence.FindString(s[at+i:])
		if m == "" {
			return at + i
		}
		at += i + len(m)
	}
}

// resizePause is longer than tmux puts off a resize (250 ms).
const resizePause = 400 * time.Millisecond

func (p *pane) look(ctx context.Context) (sessions.Snapshot, error) {
	if !p.dirty {
		return p.last, nil
	}
	s, err := p.client.Snapshot(ctx, p.id, sessions.RowWindow{})
	if err != nil {
		return s, fmt.Errorf("look: %w", err)
	}
	p.last, p.dirty = s, false
	return s, nil
}

// playPane is the program in the pane.
func playPane(socket string) error {
	conn, err := net.Dial("unix", socket) //nolint:noctx,gosec // a socket of our own
	if err != nil {
		return fmt.Errorf("play: %w", err)
	}
	t, err := recording.NewTerminal()
	if err != nil {
		return err
	}
	lines := json.NewDecoder(conn)
	for {
		var data string
		if err := lines.Decode(&data); err != nil {
			return nil //nolint:nilerr // the other side has hung up: done
		}
		if err := t.Play(recording.Event{Kind: "o", Data: data}); err != nil {
			return err
		}
		if err := t.Sync(); err != nil {
			return err
		}
		if _, err := conn.Write([]byte("done\n")); err != nil {
			return fmt.Errorf("play: %w", err)
		}
	}
}
