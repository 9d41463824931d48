package polling_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
)

// shellHome is a home folder. fish goes on writing its completions there for a moment
// after it has ended.
func shellHome(t *testing.T) string {
	t.Helper()
	home, err := os.MkdirTemp("", "pbhome")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		for range 50 {
			if os.RemoveAll(home) == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("%s can't be removed", home)
	})
	return home
}

// shells have panebridge's integration.
func shells(t *testing.T) map[string]string {
	t.Helper()
	snippet := func(name string) string {
		path, err := filepath.Abs("../sessions/agent/shell/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return path
	}
	home := shellHome(t)
	text, err := os.ReadFile(snippet("zsh.zsh"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".bashrc": `PS1='\[\e[1m\]me@host\[\e[0m\]:\w\$ '`, ".zshrc": `PROMPT='%B%1~%b %# '`, "z/.zshenv": string(text),
		".config/fish/config.fish":                     "set -g fish_greeting\nfunction fish_prompt; echo 'fish> '; end",
		".local/share/fish/generated_completions/made": "", // else fish reads all manual pages
	} {
		path := filepath.Join(home, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := "exec env HOME=" + home + " HISTFILE= XDG_CONFIG_HOME=" + home + "/.config "
	return map[string]string{
		"bash": env + "bash --rcfile " + snippet("bash.sh"),
		"zsh":  env + "ZDOTDIR=" + home + "/z zsh",
		"fish": env + "fish --init-command 'source " + snippet("fish.fish") + "'",
	}
}

// ran is what a command should be as a turn.
type ran struct {
	lines  []string
	status int
}

func (r ran) String() string { return fmt.Sprintf("%d %q", r.status, r.lines) }

// turns are the turns that have ended, with what was found to be theirs.
func (p *pane) turns() []ran {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	var out []ran
	for _, t := range p.log.ended {
		if t.Status == nil {
			continue // of what came before the first prompt
		}
		r := ran{status: *t.Status}
		for n := t.FirstLine; n <= t.LastLine; n++ {
			r.lines = append(r.lines, p.log.lines[n-1].Text)
		}
		out = append(out, r)
	}
	return out
}

// atPrompt waits for the shell's first prompt.
func (p *pane) atPrompt() {
	p.Helper()
	p.await("prompt", func() bool {
		_, state, _ := strings.Cut(p.tmux("capture-pane", "-p", "-t", p.id), "\uFE0D")
		return state != ""
	})
}

// restart ends the poller in mid-work, as a daemon's death does, and starts another
// on what the log has.
func (p *pane) restart(opt polling.Options) {
	p.stopPolling()
	p.coord = polling.NewCoordinator(map[string]polling.PaneSource{"t": p.source}, p.log, opt)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { _ = p.coord.Run(ctx, p.owner) })
	p.stopPolling = func() { cancel(); wg.Wait() }
	if err := p.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: p.id, Drained: true}); err != nil {
		p.Fatal(err)
	}
}

func TestACommandIsATurn(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, command := range shells(t) {
		t.Run(name, func(t *testing.T) {
			p := newPane(t, command, "80x24", polling.Options{Cadence: 100 * time.Millisecond})
			p.atPrompt()
			cases := []struct {
				typed string
				want  ran
			}{
				{"echo one", ran{[]string{"one"}, 0}},
				{"true", ran{nil, 0}},
				{"false", ran{nil, 1}},
				{"", ran{status: -1}}, // no command
				{"seq 200", ran{numbers(200), 0}},
				{"sh -c 'echo out; exit 7'", ran{[]string{"out"}, 7}},
				{"printf '\\n\\nx\\n\\n'", ran{[]string{"", "", "x", ""}, 0}},
				{"cd /; sh -c 'echo ~; exit 255' | tail -n 0", ran{nil, 0}},
				{"echo a \\\nb c", ran{[]string{"a b c"}, 0}},
				{"seq 3 | tail -n 1", ran{[]string{"3"}, 0}},
			}
			var want []ran
			for _, c := range cases {
				for line := range strings.SplitSeq(c.typed, "\n") {
					p.typeLine(line)
				}
				if c.want.status >= 0 {
					want = append(want, c.want)
					p.await("turn of "+c.typed, func() bool { return len(p.turns()) >= len(want) })
				}
			}
			p.same(want)
		})
	}
}

func (p *pane) same(want []ran) {
	p.Helper()
	got := p.turns()
	for i := range max(len(got), len(want)) {
		var g, w string
		if i < len(got) {
			g = got[i].String()
		}
		if i < len(want) {
			w = want[i].String()
		}
		if g != w {
			p.Errorf("turn %d is %.2000s, want %.2000s", i+1, g, w)
		}
	}
	if p.Failed() {
		p.Log(strings.Join(p.log.text(), "\n"))
	}
}

func (p *pane) sameStatuses(want []ran) {
	p.Helper()
	statuses := func(turns []ran) (out []int) {
		for _, r := range turns {
			out = append(out, r.status)
		}
		return out
	}
	if got := p.turns(); !slices.Equal(statuses(got), statuses(want)) {
		p.Errorf("statuses %v, want %v", statuses(got), statuses(want))
	}
}

func numbers(n int) (out []string) {
	for i := range n {
		out = append(out, strconv.Itoa(i+1))
	}
	return out
}

// TestCommandsAreTurns has random commands typed as fast as the shell takes them. That
// each line stands in its own command's turn is asked with PANEBRIDGE_STRESS only: on a
// busy machine the first line of a command that was typed ahead may still stand before
// its turn. It's a known fault. How many turns there are, and with which status, is always
// asked.
func TestCommandsAreTurns(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, cadence := range []time.Duration{100 * time.Millisecond, time.Second} {
		t.Run(cadence.String(), func(t *testing.T) {
			runs := drawtest.Times(40, 2, 2)
			command := shells(t)["bash"]
			for seed := range drawtest.Seeds(t, runs) {
				opt := polling.Options{Cadence: cadence, FocusCadence: cadence}
				p := newPane(t, command, "80x24", opt, "history-limit=5000")
				p.atPrompt()
				cmds := rapid.SliceOfN(aCommand(), 5, 25).Example(int(seed))
				var want []ran
				for i, c := range cmds {
					for line := range strings.SplitSeq(c.typed, "\n") {
						p.typeLine(line)
					}
					want = append(want, c.want)
					if c.waits {
						p.await("turn of "+c.typed, func() bool { return len(p.turns()) >= len(want) })
					}
					if i == len(cmds)/2 {
						p.restart(opt)
					}
				}
				p.await("last turn", func() bool { return len(p.turns()) >= len(want) })
				if runs > 4 {
					p.same(want)
				} else {
					p.sameStatuses(want)
				}
				if t.Failed() {
					return
				}
			}
		})
	}
}

// typedCommand is a command with what it's known to do. waits: what's typed behind it
// would be echoed among its output.
type typedCommand struct {
	typed string
	want  ran
	waits bool
}

func aCommand() *rapid.Generator[typedCommand] {
	return rapid.Custom(func(t *rapid.T) typedCommand {
		status := rapid.SampledFrom([]int{0, 0, 1, 2, 127, 255}).Draw(t, "status")
		n := rapid.SampledFrom([]int{0, 1, 2, 30, 300}).Draw(t, "lines")
		tag := rapid.StringMatching(`[a-z]{3,9}`).Draw(t, "tag")
		var lines []string
		for i := range n {
			lines = append(lines, tag+"-"+strconv.Itoa(i+1))
		}
		script := fmt.Sprintf("seq -f %s-%%.0f %d", tag, n)
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			lines = append(lines, "no end")
			script += "; printf %s \"no end\""
		case 1:
			long := strings.Repeat(tag, 60)
			lines = append(lines, long)
			script += fmt.Sprintf("; for i in `seq 60`; do printf %s; done; echo", tag)
		case 2:
			script += "; printf me@host:~$\\ ls\\\\n"
			lines = append(lines, "me@host:~$ ls")
		}
		typed := fmt.Sprintf("sh -c '%s; exit %d'", script, status)
		if rapid.Bool().Draw(t, "multi-line") {
			typed = "if true; then\n" + typed + "\nfi"
		}
		return typedCommand{typed, ran{lines, status}, true}
	})
}

func TestWhatDisturbsAShell(t *testing.T) {
	t.Parallel()
	p := newPane(t, shells(t)["bash"], "80x24", polling.Options{Cadence: 100 * time.Millisecond})
	p.atPrompt()
	var want []ran
	next := func(r ran) {
		p.Helper()
		want = append(want, r)
		p.await(fmt.Sprintf("turn %d", len(want)), func() bool { return len(p.turns()) >= len(want) })
	}
	open := func() {
		p.Helper()
		p.await("open turn", func() bool {
			p.log.mu.Lock()
			defer p.log.mu.Unlock()
			return p.log.turn.Open
		})
	}

	p.typeLine("sleep 1000")
	open()
	p.tmux("send-keys", "-t", p.id, "C-c")
	next(ran{[]string{"^C"}, 130})

	prompts := func() int { return strings.Count(p.tmux("capture-pane", "-p", "-t", p.id), "\uFE0D") }
	shown := prompts()
	p.tmux("send-keys", "-t", p.id, "-l", "half a comm")
	p.await("prompt behind ^C", func() bool { // bash drops what's typed while it draws its prompt, ^C too
		p.tmux("send-keys", "-t", p.id, "C-c") // no command
		time.Sleep(300 * time.Millisecond)
		return prompts() > shown
	})
	p.typeLine("echo whole")
	next(ran{[]string{"whole"}, 0})

	p.typeLine("echo before; clear; echo after; false")
	want = append(want, ran{})
	p.await("turn of clear", func() bool { return len(p.turns()) >= len(want) })
	want[2] = p.turns()[2] // what was cleared between two looks is gone
	if got := want[2]; got.status != 1 || !slices.Contains(got.lines, "after") && len(got.lines) > 0 {
		t.Errorf("clear: %s", got)
	}

	p.typeLine("clear") // its row is gone
	next(ran{nil, 0})

	// The shell within has no integration: all of it is one command.
	p.typeLine("bash --norc")
	open()
	p.await("inner prompt", func() bool { return strings.Contains(p.tmux("capture-pane", "-p", "-t", p.id), "bash-5") })
	p.typeLine("echo inner")
	p.awaitLine("inner")
	p.typeLine("exit 4")
	want = append(want, ran{})
	p.await("end of the inner shell", func() bool { return len(p.turns()) >= len(want) })
	want[4] = p.turns()[4]
	if got := want[4]; got.status != 4 || !slices.Contains(got.lines, "inner") {
		t.Errorf("the inner shell: %s", got)
	}

	// What comes at the prompt is nobody's.
	p.typeLine("{ sleep 0.7; echo late; } &")
	p.await("background", func() bool { return len(p.turns()) > len(want) })
	want = append(want, p.turns()[5])
	p.await("late output", func() bool {
		return strings.Contains(p.tmux("capture-pane", "-p", "-t", p.id), "\ufe0clate") || strings.HasSuffix(p.tmux("capture-pane", "-p", "-t", p.id), "late")
	})
	p.tmux("send-keys", "-t", p.id, "C-u")
	p.typeLine("echo last")
	p.await("last", func() bool {
		return slices.ContainsFunc(p.turns(), func(r ran) bool { return slices.Contains(r.lines, "last") })
	})
	for _, r := range p.turns()[:6] {
		if slices.Contains(r.lines, "late") {
			t.Errorf("late output is of %s", r)
		}
	}

	p.typeLine("exec sh " + writeFile(t, "echo end"+drain+"\nexit 3"))
	p.awaitEnd()
	end := p.log.turn
	if got := texts(p.log.lines[end.FirstLine-1 : end.LastLine]); end.Open || !slices.Equal(got, []string{"end"}) || end.Status != nil && *end.Status != 3 { // tmux doesn't always tell it
		t.Errorf("the shell's end is %+v, %q", end, got)
	}
	got := p.turns()
	p.same(append(want, got[len(want):]...))
}

func TestTypedAhead(t *testing.T) {
	t.Parallel()
	p := newPane(t, shells(t)["bash"], "80x24", polling.Options{Cadence: 100 * time.Millisecond})
	p.atPrompt()
	var keys []string
	var want []ran
	for i := range 12 {
		if i > 0 {
			keys = append(keys, ";")
		}
		keys = append(keys, "send-keys", "-t", p.id, "-l", fmt.Sprintf("echo %d, sh -c 'exit %d'", i, i)+"\r")
		keys[len(keys)-1] = strings.Replace(keys[len(keys)-1], ",", ";", 1)
		want = append(want, ran{[]string{strconv.Itoa(i)}, i})
	}
	p.tmux(keys...)
	p.await("turns", func() bool { return len(p.turns()) >= len(want) })
	p.same(want)
}
