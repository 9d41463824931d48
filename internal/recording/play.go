package recording

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// playVar holds the Play that a test binary carries out instead of its tests.
const playVar = "PANEBRIDGE_PLAY"

// Play plays a recording as the program of a pane. The pane must have the
// recording's size, and its tmux server must show no status line.
type Play struct {
	Name  string
	Speed float64 // 1: as it was (also 0); 8: eight times faster
	// MaxGap is the longest pause, in the recording's time; 0: no limit. The
	// transcript and the hooks come when the recording's time does.
	MaxGap time.Duration
	Until  time.Duration // stop here; 0: at the end
	// Delay is how long nothing is drawn at the start: real programs take a second or
	// more, and a Speed can't be more than theirs there.
	Delay time.Duration
	// Home is where the transcript is written, at the place where the agent would
	// have it; "": it isn't written. The hooks say Home and Cwd too.
	Home string
	Cwd  string // the program's folder; "": that of the pane
	// Hook is a shell command; the event's name is appended, its JSON is on
	// standard input. "": no hooks are called.
	Hook string
	// Done is a file that's made when the terminal has worked in all of it. The
	// program then waits for a line and ends.
	Done string
}

// Command is what the pane runs: a command line for sh. The test binary exe must
// call Main first thing in TestMain. With a Home, the process is named like the
// agent's.
func (p Play) Command(exe string) (string, error) {
	agent, _, _ := strings.Cut(p.Name, "/")
	line, err := ActorLine(exe, playVar, p, p.Home, agent)
	if err != nil || p.Home == "" {
		return line, err
	}
	line = "CODEX_HOME=" + quote(filepath.Join(p.Home, ".codex")) + " " + line
	if p.Cwd != "" {
		line = "cd " + quote(p.Cwd) + " && " + line
	}
	return line, nil
}

// Main is called first thing by the TestMain of a package that plays recordings.
func Main() { ActorMain[Play](playVar) }

// Act plays on the terminal that is this process's standard input and output.
func (p Play) Act() error {
	r, err := Open(p.Name)
	if err != nil {
		return err
	}
	c := &clock{}
	hooks := &hookCalls{command: p.Hook}
	s, err := p.schedule(r, c, hooks)
	if err != nil {
		return err
	}
	t, err := NewTerminal()
	if err != nil {
		return err
	}
	speed := p.Speed
	if speed == 0 {
		speed = 1
	}
	var last time.Duration
	time.Sleep(p.Delay)
	c.passed(0)
	for _, step := range s {
		gap := step.at - last
		if p.MaxGap > 0 {
			gap = min(gap, p.MaxGap)
		}
		time.Sleep(time.Duration(float64(gap) / speed))
		last = step.at
		c.passed(last)
		if err := step.do(t); err != nil {
			return err
		}
	}
	if err := t.Sync(); err != nil {
		return err
	}
	hooks.await(hookWithin)
	if p.Done != "" {
		if err := os.WriteFile(p.Done, nil, 0o600); err != nil {
			return fmt.Errorf("play: %w", err)
		}
	}
	t.Wait()
	return nil
}

// step is one thing to be done at a time.
type step struct {
	at time.Duration
	do func(*Terminal) error
}

// schedule is all that happens, in order.
func (p Play) schedule(r *Recording, c *clock, calls *hookCalls) ([]step, error) {
	events, err := r.Events()
	if err != nil {
		return nil, err
	}
	var out []step
	for _, e := range events {
		out = append(out, step{e.At, func(t *Terminal) error { return t.Play(e) }})
	}
	cwd := p.Cwd
	if cwd == "" {
		if cwd, err = os.Getwd(); err != nil {
			return nil, fmt.Errorf("play: %w", err)
		}
	}
	if p.Home != "" {
		w, err := NewWriter(r, p.Home, cwd)
		if err != nil {
			return nil, err
		}
		w.When = c.when
		for _, at := range w.Times() {
			out = append(out, step{at, func(*Terminal) error { return w.Advance(at) }})
		}
	}
	if p.Hook != "" {
		hooks, err := r.Hooks()
		if err != nil {
			return nil, err
		}
		for _, h := range hooks {
			h = r.Moved(h, p.Home, cwd)
			out = append(out, step{h.At, func(*Terminal) error { calls.begin(h); return nil }})
		}
	}
	sortByTime(out, func(s step) time.Duration { return s.at })
	for i, s := range out {
		if p.Until > 0 && s.at > p.Until {
			return out[:i], nil
		}
	}
	return out, nil
}

// hookCalls are the calls of a hook command.
type hookCalls struct {
	command string
	last    chan struct{} // closed when the latest has ended; nil: there was none
}

// How long a hook is waited for: before the next is called, since one that asks waits for
// people; and before the recording goes on at the next, as agents wait for theirs. A machine
// that starts programs slowly plays a recording slowly, and no hook comes behind its end.
const (
	hookWithin = 5 * time.Second
	playWithin = time.Second
)

// begin calls the hook command when the call before it has ended, as the agents do, and
// returns without waiting for this one: they draw meanwhile.
func (c *hookCalls) begin(h Hook) {
	c.await(playWithin)
	before, ended := *c, make(chan struct{})
	c.last = ended
	go func() {
		defer close(ended)
		before.await(hookWithin)
		cmd := exec.Command("/bin/sh", "-c", before.command+` "$1"`, "sh", h.Event) //nolint:noctx // lives as long as it likes, as with the agents
		cmd.Stdin = strings.NewReader(string(h.Stdin))
		_ = cmd.Run()
	}()
}

// await waits until the latest call has ended, for no longer than within.
func (c *hookCalls) await(within time.Duration) {
	if c.last == nil {
		return
	}
	select {
	case <-c.last:
	case <-time.After(within):
	}
}
