package polling_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/tmux"
)

// waitPane is a real pane and a client, without a poller.
type waitPane struct {
	*testing.T
	socket, id string
	client     *tmux.Client
}

func newWaitPane(t *testing.T, command, size string, tmuxOpts ...string) *waitPane {
	t.Helper()
	p := &waitPane{T: t, socket: filepath.Join(shortTemp(t), "s")}
	p.tmux("-f", "/dev/null", "new-session", "-d", "-s", "keep", "exec cat")
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	for _, o := range append([]string{"remain-on-exit=on", "default-terminal=tmux-256color", "status=off"}, tmuxOpts...) {
		k, v, _ := strings.Cut(o, "=")
		p.tmux("set-option", "-g", k, v)
	}
	p.client = tmux.New(tmux.Options{SocketPath: p.socket})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); _ = p.client.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	p.await("connection", func() bool { return p.client.Status().Connected })
	w, h, _ := strings.Cut(size, "x")
	p.id = p.tmux("new-session", "-d", "-s", "work", "-x", w, "-y", h, "-P", "-F", "#{pane_id}", command)
	return p
}

func (p *waitPane) tmux(args ...string) string {
	p.Helper()
	out, err := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...).CombinedOutput()
	if err != nil {
		p.Fatalf("tmux %v: %v: %s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func (p *waitPane) await(what string, ok func() bool) {
	p.Helper()
	for end := time.Now().Add(await); !ok(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			p.Fatalf("no %s within a minute; screen:\n%s", what, p.tmux("capture-pane", "-p", "-t", p.id))
		}
	}
}

func (p *waitPane) awaitScreen(text string) {
	p.Helper()
	p.await(text, func() bool { return strings.Contains(p.tmux("capture-pane", "-p", "-t", p.id), text) })
}

func (p *waitPane) typeLine(text string) {
	p.Helper()
	p.tmux("send-keys", "-t", p.id, "-l", "--", text)
	p.tmux("send-keys", "-t", p.id, "Enter")
}

// wait waits, and does what's to be done meanwhile as soon as the wait has begun.
func (p *waitPane) wait(r sessions.WaitRequest, meanwhile func()) sessions.WaitResult {
	p.Helper()
	patterns, err := polling.NewWaitPatterns(r)
	if err != nil {
		p.Fatal(err)
	}
	begun, done := make(chan struct{}), make(chan struct{})
	var out sessions.WaitResult
	opt := polling.WaitOptions{Timeout: r.Timeout, Interval: r.Interval, Note: func(n sessions.WaitNote) {
		if n.Event == sessions.WaitBegun {
			close(begun)
		}
	}}
	if opt.Timeout == 0 {
		opt.Timeout = 20 * time.Second
	}
	go func() {
		defer close(done)
		out, err = polling.Wait(context.Background(), p.client, p.id, sessions.ServerIdentity{}, patterns, opt)
	}()
	select {
	case <-begun:
		meanwhile()
	case <-done:
	}
	<-done
	if err != nil {
		p.Fatal(err)
	}
	return out
}

func (p *waitPane) want(r sessions.WaitResult, outcome sessions.WaitOutcome, line string) {
	p.Helper()
	if r.Outcome != outcome || line != "" && (r.Match == nil || r.Match.Line != line) {
		p.Errorf("the wait ended as %s (%s) with %+v in %q, wanted %s with %q; screen:\n%s", r.Outcome, r.Reason, r.Match, r.Lines, outcome, line,
			p.tmux("capture-pane", "-p", "-t", p.id))
	}
}

// shellPane has a shell in it with the prompt "PROMPT> ".
func shellPane(t *testing.T, size string, tmuxOpts ...string) *waitPane {
	t.Helper()
	p := newWaitPane(t, "PS1='PROMPT> ' exec sh -i", size, tmuxOpts...)
	p.awaitScreen("PROMPT>")
	return p
}

const short = 300 * time.Millisecond

func TestWaitCountsOnlyOutputAfterTheCall(t *testing.T) {
	p := shellPane(t, "80x24")
	p.typeLine("echo DONE")
	p.awaitScreen("\nDONE")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"DONE", "PROMPT"}, Timeout: short}, func() {}), sessions.WaitTimeout, "")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"DO" + "NE"}}, func() { p.typeLine("printf 'D%sE\\n' ON") }), sessions.WaitMatched, "DONE")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"prompt>"}}, func() { p.typeLine("true") }), sessions.WaitMatched, "PROMPT>")
}

// Output goes on in the row of the cursor, without a line end.
func TestWaitSeesOutputOnTheCursorsRow(t *testing.T) {
	t.Parallel()
	p := newWaitPane(t, "printf 'Password'; read x; printf ' ok: '; sleep 100", "80x24")
	p.awaitScreen("Password")
	r := p.wait(sessions.WaitRequest{Patterns: []string{"Password", " ok: "}, MatchCase: true}, func() {
		p.tmux("send-keys", "-t", p.id, "-H", "0a")
	})
	p.want(r, sessions.WaitMatched, " ok:")
	if r.Match.Index != 1 {
		t.Errorf("pattern %d matched, wanted 1", r.Match.Index)
	}
}

func TestWaitStopWins(t *testing.T) {
	p := shellPane(t, "80x24")
	r := p.wait(sessions.WaitRequest{Patterns: []string{"^good$"}, Stops: []string{"nothing", "^b.d$"}, Regex: true, Interval: 200 * time.Millisecond}, func() {
		p.typeLine("printf 'good\\nbad\\n'")
	})
	p.want(r, sessions.WaitStopped, "bad")
	if r.Match != nil && (r.Match.Kind != sessions.MatchStop || r.Match.Index != 1 || r.Match.Text != "bad") {
		t.Errorf("it was %+v", r.Match)
	}
}

func TestWaitForAnyOutput(t *testing.T) {
	p := shellPane(t, "80x24")
	p.want(p.wait(sessions.WaitRequest{Timeout: short}, func() {}), sessions.WaitTimeout, "")
	p.want(p.wait(sessions.WaitRequest{}, func() { p.tmux("send-keys", "-t", p.id, "Enter") }), sessions.WaitAnyOutput, "")
}

// A line is found whole, however its rows are wrapped and scrolled, and whatever becomes
// of the pane's size meanwhile.
func TestWaitOverWrapsScrollAndResize(t *testing.T) {
	p := shellPane(t, "40x6")
	long := strings.Repeat("word ", 30)
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"start " + long + "end"}}, func() {
		p.typeLine("x=; for i in 1 2 3 4 5 6; do x=\"$x\"'word word word word word '; done; echo \"start ${x}end\"; seq 30")
	}), sessions.WaitMatched, "start "+long+"end")
	p.awaitScreen("\n30\nPROMPT>") // its own line has a 30, too
	for _, size := range []string{"33", "71", "20", "100"} {
		r := p.wait(sessions.WaitRequest{Patterns: []string{"word", "^[0-9]+$", "^new-" + size + "$"}, Regex: true}, func() {
			p.tmux("resize-window", "-t", p.id, "-x", size)
			time.Sleep(time.Duration(len(size)) * 30 * time.Millisecond)
			p.typeLine("printf 'n%s\\n' ew-" + size)
		})
		p.want(r, sessions.WaitMatched, "new-"+size)
	}
}

func TestResizeAloneIsNoOutput(t *testing.T) {
	t.Parallel()
	p := newWaitPane(t, "for i in $(seq 40); do echo word $i of a line that is wrapped in a narrow pane; done; printf 'ask: '; exec sleep 100", "50x10")
	p.awaitScreen("ask:")
	for _, size := range []string{"30x10", "80x5", "20x20", "100x12"} {
		w, h, _ := strings.Cut(size, "x")
		r := p.wait(sessions.WaitRequest{Timeout: short}, func() {
			p.tmux("resize-window", "-t", p.id, "-x", w, "-y", h)
		})
		p.want(r, sessions.WaitTimeout, "")
	}
}

func TestWaitSeesTheProgramsEnd(t *testing.T) {
	t.Parallel()
	// tmux 3.3a drops what a program printed right before its end: 27 in 1,200 on a busy
	// machine, without any other client.
	p := newWaitPane(t, "read x; echo last words"+drain+"; exit 3", "80x24")
	r := p.wait(sessions.WaitRequest{Patterns: []string{"nothing"}}, func() { p.typeLine("") })
	p.want(r, sessions.WaitDied, "")
	// tmux 3.3a doesn't always notice how a program ended.
	if r.Exit == nil || r.Exit.Status != 3 && r.Exit.Status != -1 || !slices.Contains(r.Lines, "last words") {
		t.Errorf("exit %+v, lines %q", r.Exit, r.Lines)
	}
	p.tmux("respawn-pane", "-t", p.id, "read x; echo last words"+drain)
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"last words"}}, func() { p.typeLine("") }), sessions.WaitMatched, "last words")
	p.tmux("kill-pane", "-t", p.id)
	p.wantGone(p.wait(sessions.WaitRequest{}, func() {}))
}

// wantGone wants the wait for a pane that's gone to say so.
func (p *waitPane) wantGone(r sessions.WaitResult) {
	p.Helper()
	if r.Outcome != sessions.WaitDied || !strings.Contains(r.Reason, "gone") {
		p.Errorf("the wait ended as %s (%s), wanted died", r.Outcome, r.Reason)
	}
}

func TestWaitSeesARespawn(t *testing.T) {
	p := shellPane(t, "80x24")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"hello"}}, func() {
		p.tmux("respawn-pane", "-k", "-t", p.id, "echo hello; exec sleep 100")
	}), sessions.WaitRespawned, "")
}

func TestWaitSeesHistoryCleared(t *testing.T) {
	t.Parallel()
	p := newWaitPane(t, "seq 100; exec cat", "80x24")
	p.awaitScreen("100")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"hello", "100"}}, func() {
		p.tmux("clear-history", "-t", p.id)
	}), sessions.WaitHistoryLost, "")
}

func TestWaitSaysWhatTmuxDropped(t *testing.T) {
	t.Parallel()
	p := newWaitPane(t, "stty -echo; read x; echo needle; seq 5000; exec sleep 100", "80x24", "history-limit=100")
	r := p.wait(sessions.WaitRequest{Patterns: []string{"needle"}, Interval: 500 * time.Millisecond}, func() { p.typeLine("") })
	p.want(r, sessions.WaitHistoryLost, "")
	if !r.LinesMissed {
		t.Error("it doesn't say that lines were missed")
	}
}

// On the alternate screen nothing is searched; what's printed when it's gone is.
func TestWaitOnTheAlternateScreen(t *testing.T) {
	t.Parallel()
	p := newWaitPane(t, `stty -echo; echo before; read x; printf '\033[?1049h\033[Hneedle'; read x; printf '\033[?1049l'; echo needle two; exec sleep 100`, "80x24")
	p.awaitScreen("before")
	r := p.wait(sessions.WaitRequest{Patterns: []string{"needle", "before"}, Timeout: time.Second}, func() { p.typeLine("") })
	p.want(r, sessions.WaitAlternate, "")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"before", "needle"}}, func() { p.typeLine("") }), sessions.WaitMatched, "needle two")
}

func TestWaitInCopyMode(t *testing.T) {
	t.Parallel()
	p := newWaitPane(t, "stty -echo; seq 50; read x; echo needle; exec sleep 100", "80x24")
	p.awaitScreen("50")
	p.want(p.wait(sessions.WaitRequest{Patterns: []string{"needle"}}, func() {
		p.tmux("copy-mode", "-t", p.id)
		p.tmux("send-keys", "-t", p.id, "-X", "page-up")
		p.tmux("set-buffer", "\n")
		p.tmux("paste-buffer", "-t", p.id)
	}), sessions.WaitMatched, "needle")
}

// shortTemp is a temporary folder with a path short enough for a socket.
func shortTemp(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}
