package app_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// liveModes are the ways in which an agent is run: with PANEBRIDGE_STRESS all there are,
// else each size, each way to draw, and hooks or none, in so many pairs that all of them
// come with each other. The daemon is killed twenty times per agent.
func liveModes(name string) []liveMode {
	a := agentlab.Agents()[name]
	var all []liveMode
	for i, size := range [][2]int{{120, 40}, {80, 24}} {
		for j, screen := range []agentlab.Screen{agentlab.Alt, agentlab.Inline} {
			if screen == agentlab.Alt && !a.Alt || screen == agentlab.Inline && !a.Inline {
				continue
			}
			for h, hooks := range []bool{true, false} {
				both := a.Alt && a.Inline
				if hooks && !a.Hooks || both && !drawtest.Stressed() && (i+j+h)%2 == 1 {
					continue
				}
				all = append(all, liveMode{agent: name, width: size[0], height: size[1], screen: screen, hooks: hooks})
			}
		}
	}
	for i := range all {
		all[i].kills = (20 + len(all) - 1) / len(all)
	}
	return all
}

// Real agent programs answer at length, ask for permission and are refused it, ask a
// question, use two tools, have an error and try again, are interrupted, and say two
// thousand lines at once, while the daemon is killed in mid-turn again and again: the
// answers in the log are what the model has said, and the chats show them as they're
// rendered, and nothing else. What the session is said to do is what the agent does.
func TestLiveAgentsInChats(t *testing.T) {
	if os.Getenv("PANEBRIDGE_AGENTS") == "" {
		t.Skip("PANEBRIDGE_AGENTS isn't set; make test-agents sets it")
	}
	var table strings.Builder
	for _, name := range []string{"claude", "codex", "gemini", "opencode", "qwen", "pi"} {
		if only := os.Getenv("PANEBRIDGE_AGENT"); only != "" && only != name {
			continue
		}
		t.Run(name, func(t *testing.T) {
			scores := map[bool]*stateScore{true: {}, false: {}}
			for _, m := range liveModes(name) {
				t.Run(m.String(), func(t *testing.T) {
					s := liveRun(t, m)
					t.Logf("state: %v", s)
					scores[m.hooks].add(s)
				})
			}
			for _, hooks := range []bool{true, false} {
				if s := scores[hooks]; s.samples > 0 {
					fmt.Fprintf(&table, "\n%-8s hooks=%-5t %v", name, hooks, s)
					checkScore(t, hooks, s)
				}
			}
		})
	}
	t.Log(table.String())
}

// checkScore wants the state to be right 99 % of the time with hooks, 97 % without.
func checkScore(t *testing.T, hooks bool, s *stateScore) {
	t.Helper()
	bar := 97.0
	if hooks {
		bar = 99
	}
	switch {
	case !s.counts():
		t.Logf("hooks=%t: the machine had a load of %.1f, so these figures don't count: %v", hooks, s.load, s)
	case s.percent() < bar:
		t.Errorf("hooks=%t: the state was right %.2f %% of the time, want %.0f %%", hooks, s.percent(), bar)
	}
}

// liveRun is one run of one agent.
func liveRun(t *testing.T, m liveMode) stateScore {
	t.Helper()
	began := time.Now()
	k := newLiveRig(t, m)
	s := k.sample()
	k.script(t.Context())
	load := machineLoad()
	for end := time.Now().Add(10 * time.Second); k.open() && time.Now().Before(end); { // its end is late, if at all
		time.Sleep(sampleEvery)
	}
	samples, truth := s.end(), k.run.Timeline()
	score := k.score(samples, truth)
	score.load = load
	for _, w := range score.wrong {
		t.Log(w)
	}
	for _, e := range score.ends {
		t.Log(e)
		if score.counts() {
			t.Fail()
		}
	}
	k.kills(t.Context())
	k.await("the last turn's end", func() bool { return !k.open() })
	k.delivered()
	time.Sleep(2 * time.Second) // for what mustn't come
	lines := k.logged()
	k.checkAnswers(lines)
	k.checkChat("Telegram", lines, k.topic())
	k.checkChat("Discord", lines, k.thread())
	now, err := k.api.Session(k.ctx(), string(k.id))
	if err != nil || now.Turn.Open || now.Turn.Number != int64(len(k.asked)) {
		t.Errorf("%d turns were begun; the session has %+v, %v", len(k.asked), now.Turn, err)
	}
	if t.Failed() {
		k.dump(lines)
	}
	t.Logf("%d turns, %d kills, %d lines, %.0f s", len(k.asked), k.killed, len(lines), time.Since(began).Seconds())
	return score
}

// open says whether the last turn's end isn't known yet.
func (k *liveRig) open() bool {
	s, err := k.api.Session(k.ctx(), string(k.id))
	return err != nil || s.Turn.Open || s.Turn.Number < int64(len(k.asked)) || s.State != sessions.StateIdle
}

// dump has the log of a failed test say what was there.
func (k *liveRig) dump(lines []sessions.Line) {
	k.Helper()
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintf(&b, "%s %t %s\n", l.Kind, l.Begins, l.Text)
	}
	k.keep("lines", b.String())
	for name, seen := range map[string][]chatMessage{"telegram": k.topic(), "discord": k.thread()} {
		b.Reset()
		for _, m := range seen {
			fmt.Fprintf(&b, "---- file %d bytes\n%s\n", len(m.file), m.text)
		}
		k.keep(name, b.String())
	}
	said, _ := os.ReadFile(k.dir + "/log")
	k.keep("daemon", string(said))
	k.keep("screen", k.screen(k.ctx()))
}

// keep writes into the test's artifacts folder.
func (k *liveRig) keep(name, text string) {
	k.Helper()
	if err := os.WriteFile(k.ArtifactDir()+"/"+name, []byte(text), 0o600); err != nil {
		k.Error(err)
	}
}
