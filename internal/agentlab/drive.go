package agentlab

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

// tmux runs a command of the run's tmux server; input is its standard input.
func (r *Run) tmux(ctx context.Context, input string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "tmux", append([]string{"-u", "-S", r.cfg.Socket}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("tmux %s: %w: %s", args[0], err, out)
	}
	return string(out), nil
}

// Screen is what the pane shows.
func (r *Run) Screen(ctx context.Context) (string, error) {
	return r.tmux(ctx, "", "capture-pane", "-p", "-t", r.Pane)
}

// See waits until the screen shows something. The error has the screen.
func (r *Run) See(ctx context.Context, what *regexp.Regexp) error {
	for {
		screen, err := r.Screen(ctx)
		if err == nil && what.MatchString(screen) {
			r.Did(recording.Action{Kind: "seen", Pattern: what.String()})
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %q on %s's screen: %w:\n%s", what, r.Agent.Name, ctx.Err(), strings.TrimRight(screen, "\n"))
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Still waits until the screen hasn't changed for some time, at most five times as
// long: some dialogs count seconds.
func (r *Run) Still(ctx context.Context, quiet time.Duration) error {
	last, since, end := "", time.Now(), time.Now().Add(5*quiet)
	for {
		screen, err := r.Screen(ctx)
		if err != nil {
			return err
		}
		if screen != last {
			last, since = screen, time.Now()
		}
		if time.Since(since) >= quiet || time.Now().After(end) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait until %s's screen is still: %w", r.Agent.Name, ctx.Err())
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// Did notes what was done to the agent by others than this package: who answers
// a dialog from elsewhere says so with Kind "keys", and who types with "paste".
func (r *Run) Did(a recording.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.At == 0 {
		a.At = time.Since(r.Epoch)
	}
	r.actions = append(r.actions, a)
}

// Keys presses keys, as tmux names them.
func (r *Run) Keys(ctx context.Context, keys ...string) error {
	for _, k := range keys {
		r.Did(recording.Action{Kind: "keys", Keys: []string{k}})
		if _, err := r.tmux(ctx, "", "send-keys", "-t", r.Pane, k); err != nil {
			return err
		}
		time.Sleep(keyPause)
	}
	return nil
}

// keyPause is left between two keys: two escapes in one read are another key.
const keyPause = 400 * time.Millisecond

// Paste pastes a text without submitting it.
func (r *Run) Paste(ctx context.Context, text string) error {
	r.Did(recording.Action{Kind: "paste", Text: text})
	if _, err := r.tmux(ctx, text, "load-buffer", "-b", "agentlab", "-"); err != nil {
		return err
	}
	_, err := r.tmux(ctx, "", "paste-buffer", "-d", "-p", "-b", "agentlab", "-t", r.Pane)
	return err
}

// Submit pastes a text and submits it, and waits until the model has been asked.
// Enter directly after the text is swallowed by some agents, and while one
// starts all of it may be: so it's pressed again.
func (r *Run) Submit(ctx context.Context, text string) error {
	if err := r.Paste(ctx, text); err != nil {
		return err
	}
	time.Sleep(500 * time.Millisecond)
	for try := range 4 {
		patience := 8 * time.Second
		if try == 3 { // it has been pressed often enough: opencode's first turn can take half a minute
			patience = 2 * time.Minute
		} else if err := r.Keys(ctx, "Enter"); err != nil {
			return err
		}
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if r.Model.Asked(text) {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return fmt.Errorf("submit to %s: %w", r.Agent.Name, err)
			}
		}
	}
	screen, _ := r.Screen(ctx)
	return fmt.Errorf("submit to %s: the model wasn't asked %q; screen:\n%s", r.Agent.Name, text, screen)
}

// Permission waits until a permission dialog is open.
func (r *Run) Permission(ctx context.Context) error { return r.See(ctx, r.Agent.Permission) }

// Approve answers a permission dialog with yes, this once.
func (r *Run) Approve(ctx context.Context) error { return r.Keys(ctx, r.Agent.Approve...) }

// Deny refuses in a dialog.
func (r *Run) Deny(ctx context.Context) error { return r.Keys(ctx, r.Agent.Deny...) }

// Interrupt ends the turn.
func (r *Run) Interrupt(ctx context.Context) error { return r.Keys(ctx, r.Agent.Interrupt...) }

// Answered waits until the model has answered a number of requests in all, and
// answers none.
func (r *Run) Answered(ctx context.Context, requests int) error {
	for {
		if len(r.Model.Requests()) >= requests && !r.Model.Busy() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("wait for %d answers to %s, %d are there: %w", requests, r.Agent.Name, len(r.Model.Requests()), ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// maxDrawing is how long a program was seen to draw an answer of 2,000 lines, before it
// wrote that down: 3.5 s, with some more for a slow machine.
const maxDrawing = 6 * time.Second

// Timeline is the truth about what the agent was doing, up to now, by the model's
// clock: see recording.Recording.Timeline. Times are since Epoch.
func (r *Run) Timeline() []recording.Span {
	r.mu.Lock()
	actions := append([]recording.Action(nil), r.actions...)
	r.mu.Unlock()
	actions = append(actions, recording.Action{Kind: "end", At: time.Since(r.Epoch)})
	return recording.Known{Model: r.Model.recorded(r.Epoch), Actions: actions, Hooks: r.Hooks(), Written: r.writes.times(), After: maxDrawing}.Spans()
}

// Hooks are the calls of hooks so far. Long data are cut.
func (r *Run) Hooks() []recording.Hook {
	b, _ := os.ReadFile(r.hookLog())
	var out []recording.Hook
	for line := range strings.Lines(string(b)) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(parts) != 3 {
			continue
		}
		seconds, nanos, _ := strings.Cut(parts[0], ".")
		s, err := strconv.ParseInt(seconds, 10, 64)
		if err != nil {
			continue
		}
		n, _ := strconv.ParseInt(nanos, 10, 64)
		out = append(out, recording.Hook{At: time.Unix(s, n).Sub(r.Epoch), Event: parts[1], Stdin: []byte(parts[2])})
	}
	return out
}
