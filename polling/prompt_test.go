package polling_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// TestPromptsAreRecognised is of a shell without the integration.
func TestPromptsAreRecognised(t *testing.T) {
	t.Parallel()
	prompts, err := polling.NewPrompts(nil)
	if err != nil {
		t.Fatal(err)
	}
	rc := writeFile(t, `PS1='me@host:\w$ '`)
	p := newPane(t, "bash --rcfile "+rc, "80x24", polling.Options{Cadence: 100 * time.Millisecond, Prompts: prompts})
	ended := func(n int) {
		p.Helper()
		p.await(fmt.Sprintf("end %d", n), func() bool {
			p.log.mu.Lock()
			defer p.log.mu.Unlock()
			return len(p.log.ended) >= n
		})
	}
	p.await("prompt", func() bool { return len(p.owner.all()) > 0 && p.engineKnows() })
	p.typeLine("seq 3")
	ended(1)
	p.typeLine("cd /")
	ended(2)
	p.typeLine("seq 60; echo x")
	ended(3)
	var got []string
	for _, turn := range p.log.ended {
		got = append(got, fmt.Sprint(texts(p.log.lines[turn.FirstLine-1:turn.LastLine])))
	}
	want := []string{fmt.Sprint(numbers(3)), "[]", fmt.Sprint(append(numbers(60), "x"))}
	if !slices.Equal(got, want) {
		t.Errorf("turns %v, want %v; log:\n%s", got, want, strings.Join(p.log.text(), "\n"))
	}
}

// TestFishsPromptsAreRecognised is of fish as it comes: its prompt tells how the command before
// it ended, in more or fewer words each time.
func TestFishsPromptsAreRecognised(t *testing.T) {
	t.Parallel()
	prompts, err := polling.NewPrompts(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, mode := range []string{"default", "vi"} {
		t.Run(mode, func(t *testing.T) {
			home := shellHome(t)
			made := filepath.Join(home, ".local/share/fish/generated_completions/made") // else fish reads all manual pages
			if err := os.MkdirAll(made, 0o700); err != nil {
				t.Fatal(err)
			}
			p := newPane(t, "exec env HOME="+home+" XDG_CONFIG_HOME="+home+" XDG_DATA_HOME="+home+"/.local/share fish --init-command 'set -g fish_greeting; fish_"+mode+"_key_bindings'", "80x24", polling.Options{Cadence: 100 * time.Millisecond, Prompts: prompts})
			p.await("prompt", func() bool { return len(p.owner.all()) > 0 && p.engineKnows() })
			ran := 0
			for _, c := range drawtest.Rand(t, 0).Perm(len(fishs)) {
				p.typeLine(fishs[c].command)
				p.await(fishs[c].command, func() bool {
					p.log.mu.Lock()
					defer p.log.mu.Unlock()
					return len(p.log.ended) > ran
				})
				p.log.mu.Lock()
				status := p.log.ended[ran].Status
				p.log.mu.Unlock()
				if ran++; status == nil && fishs[c].status != 0 || status != nil && *status != fishs[c].status {
					t.Errorf("%s: it's said to have ended with %v, want %d; pane:\n%s", fishs[c].command, status, fishs[c].status, p.tmux("capture-pane", "-p", "-t", p.id))
				}
			}
		})
	}
}

// fishs are commands, and how they end.
var fishs = []struct {
	command string
	status  int
}{
	{"seq 3", 0},
	{"cd /", 0},
	{"false", 1},
	{"sh -c 'exit 3'", 3},
	{"sh -c 'kill -9 $$'", 137},
	{"false | true", 0},
	{"true | sh -c 'exit 4'", 4},
	{"sh -c 'exit 5' | sh -c 'kill -15 $$'", 143},
	{"not true", 1},
}

// engineKnows reports whether the stored engine has seen a prompt.
func (p *pane) engineKnows() bool {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return strings.Contains(string(p.log.engine), `"Inferred":true`)
}

// quietly is an observer that knows only after how long of quiet a turn is over.
type quietly struct{ polling.PlainProfile }

func (quietly) Observe(context.Context, sessions.Poll) (sessions.Observation, error) {
	return sessions.Observation{Text: sessions.TextPane, Quiet: 4 * time.Second}, nil
}

func (quietly) Close() error { return nil }

func TestQuietEndsATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.PaneSource{"t": src})
		observe := func([]byte) (polling.Observer, error) { return quietly{}, nil }
		if err := r.coord.Start(polling.PolledPane{Session: "pb_1", Server: "t", Pane: "%1", Observe: observe}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			src.print("%1", strconv.Itoa(i), false)
			r.after(3 * time.Second) // not quiet for long enough
		}
		if turn, ended := mem.turns(); len(ended) > 0 || !turn.Open {
			t.Fatalf("ended %+v, now %+v", ended, turn)
		}
		r.after(10 * time.Second)
		src.print("%1", "next", false)
		r.after(20 * time.Second)
		_, ended := mem.turns()
		if len(ended) != 2 || ended[0].LastLine != 3 || ended[1].FirstLine != 4 || ended[1].LastLine != 4 || r.owner.completed() != 2 {
			t.Errorf("ended %+v, %d told", ended, r.owner.completed())
		}
		if took := ended[0].EndedAt.Sub(ended[0].StartedAt); took > 13*time.Second {
			t.Errorf("the first took %s", took)
		}
	})
}
