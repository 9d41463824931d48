package agentlab_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
)

func TestMain(m *testing.M) {
	agentlab.Main()
	os.Exit(m.Run())
}

// live skips where the real programs aren't wanted: they have 1.6 GB, so that make
// test-agents runs these tests and make test doesn't.
func live(t *testing.T) {
	t.Helper()
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
}

// start runs an agent in a tmux server of the test's own.
func start(t *testing.T, cfg agentlab.Config) *agentlab.Run {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	cfg.Socket = filepath.Join(dir, "s")
	for _, args := range [][]string{
		{"-f", "/dev/null", "new-session", "-d", "-s", "keep", "exec cat"},
		{"set-option", "-g", "default-terminal", "tmux-256color"},
		{"set-option", "-g", "history-limit", "20000"},
	} {
		if out, err := exec.CommandContext(t.Context(), "tmux", append([]string{"-u", "-S", cfg.Socket}, args...)...).CombinedOutput(); err != nil {
			t.Fatalf("tmux %v: %v: %s", args, err, out)
		}
	}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", cfg.Socket, "kill-server").Run() }) // the test's context has ended
	if cfg.Hook != "" {
		cfg.Hook += " " + filepath.Join(dir, "calls")
	}
	r, err := agentlab.Prepare(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Stop(); err != nil {
			t.Error(err)
		}
	})
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// Each agent answers, asks, and ends a turn; the lab knows when.
func TestLiveAgents(t *testing.T) {
	live(t)
	names := []string{"claude", "codex", "gemini", "opencode", "qwen", "pi"}
	if only := os.Getenv("PANEBRIDGE_AGENT"); only != "" {
		names = []string{only}
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
			defer cancel()
			r := start(t, agentlab.Config{Agent: name, Width: 100, Height: 30, Hook: "sh -c 'cat >/dev/null; echo $1 >>$0'"})
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(r.Submit(ctx, "Please say hello"))
			must(r.Answered(ctx, 1))
			must(r.Still(ctx, 2*time.Second))
			must(r.Submit(ctx, "count to 300 with seq"))
			if r.Agent.Permission != nil {
				must(r.Permission(ctx))
				must(r.Still(ctx, time.Second))
				must(r.Approve(ctx))
			}
			must(r.Answered(ctx, 3))
			must(r.Still(ctx, 2*time.Second))
			must(r.Submit(ctx, "survey the retry queue"))
			time.Sleep(3 * time.Second)
			must(r.Interrupt(ctx))
			must(r.Answered(ctx, 4))
			must(r.Still(ctx, 2*time.Second))
			check(t, r)
		})
	}
}

// check compares what the lab knows with what was done.
func check(t *testing.T, r *agentlab.Run) {
	t.Helper()
	requests := r.Model.Requests()
	last := requests[len(requests)-1]
	if !last.HungUp || !strings.HasPrefix(last.Text, "# Survey") || strings.Contains(last.Text, "LONG-ANSWER-END") {
		t.Errorf("the interrupted request: hung up %v, sent %d bytes", last.HungUp, len(last.Text))
	}
	want := []string{"Hello 👋 — this is a short answer.", "I'll print the numbers with `seq`.", "Done. The command printed **300 lines**; the last one is `300`."}
	if got := r.Model.Answers(); !slices.Equal(got[:3], want) {
		t.Errorf("answers %q", got)
	}
	states := map[sessions.State]int{}
	for _, s := range r.Timeline() {
		states[s.State]++
		t.Logf("%7.2f %7.2f %s", s.From.Seconds(), s.To.Seconds(), s.State)
	}
	if states[sessions.StateWorking] < 3 || states[sessions.StateIdle] < 3 || (r.Agent.Permission != nil) != (states[sessions.StateWaiting] == 1) {
		t.Errorf("states %v", states)
	}
	if len(r.Transcripts()) == 0 {
		t.Error("no transcript")
	}
	if hooks := r.Hooks(); r.Agent.Hooks != (len(hooks) > 3) {
		t.Errorf("%d calls of hooks", len(hooks))
	}
}
