package app_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// Real agent programs are stopped while they write, and killed: what was to be seen of the
// answer is in the log, once, and marked where the transcript doesn't have it.
func TestLiveStoppedAnswers(t *testing.T) { eachLiveAgent(t, liveStoppedAnswers) }

func liveStoppedAnswers(t *testing.T, name string, random *rand.Rand) {
	t.Helper()
	a := agentlab.Agents()[name]
	m := liveMode{agent: name, width: 100, height: 40, hooks: a.Hooks && random.IntN(2) == 0}
	if a.Inline && a.Alt && random.IntN(2) == 0 {
		m.screen = agentlab.Inline
	}
	t.Logf("%v", m)
	k := newLiveRig(t, m)
	ctx := t.Context()
	k.turn(ctx, "survey the retry queue", nil)
	k.await("the end of a turn", func() bool { return !k.open() })
	writes := func() {
		for k.last().First.IsZero() && ctx.Err() == nil {
			time.Sleep(20 * time.Millisecond)
		}
		time.Sleep(2*time.Second + time.Duration(random.Int64N(int64(3*time.Second))))
	}
	const again = "survey the retry queue once more"
	k.turn(ctx, again, func() bool {
		writes()
		k.must(k.run.Interrupt(ctx))
		return false
	})
	k.await("the end of the turn that was stopped", func() bool { return !k.open() })
	time.Sleep(2 * time.Second) // for what mustn't come
	k.checkStopped("stopped", k.loggedFrom(again))
	const last = "survey the retry queue for the last time"
	k.must(k.run.Submit(ctx, last))
	writes()
	all, err := k.api.Programs(ctx)
	k.must(err)
	at := slices.IndexFunc(all, func(in agent.Insight) bool { return in.Session == k.id && in.PID > 0 })
	if at < 0 {
		t.Fatalf("no process of the agent is known: %+v", all)
	}
	k.must(syscall.Kill(all[at].PID, syscall.SIGKILL))
	k.await("the end of the session", func() bool {
		s, err := k.api.Session(k.ctx(), string(k.id))
		return err == nil && s.State == sessions.StateEnded
	})
	k.checkStopped("killed", k.loggedFrom(last))
}

// loggedFrom are the lines behind what was asked.
func (k *liveRig) loggedFrom(asked string) []sessions.Line {
	k.Helper()
	lines := k.logged()
	return lines[1+slices.IndexFunc(lines, func(l sessions.Line) bool { return l.Kind == sessions.KindUser && l.Text == asked }):]
}

// checkStopped wants the lines of a turn to have the beginning of what the model has said,
// once.
func (k *liveRig) checkStopped(how string, lines []sessions.Line) {
	k.Helper()
	var said strings.Builder
	marked := 0
	for i, l := range lines {
		switch l.Kind {
		case sessions.KindAnswer, sessions.KindPane:
			said.WriteString(l.Text + "\n")
		case sessions.KindNotice:
			if strings.HasPrefix(l.Text, "interrupted") {
				marked++
				if i == 0 || lines[i-1].Kind != sessions.KindPane {
					k.Errorf("%s: the mark stands behind no line of the screen: %+v", how, lines)
				}
			}
		default: // what was asked
		}
	}
	got, want := onlyLetters(said.String()), onlyLetters(k.last().Text)
	if begin := strings.Index(got, want[:min(len(want), 20)]); begin > 0 && marked > 0 {
		got = got[begin:] // what it thinks is on the screen, too
	}
	n := 0
	for n < min(len(got), len(want)) && got[n] == want[n] {
		n++
	}
	k.Logf("%s: %d of the %d letters that the model had said are in the log, marked %d times", how, n, len(want), marked)
	if n < len(got) || n < len(want)/2 || marked > 1 {
		k.Errorf("%s: the log has %q\nand the model said %q\n%+v\nscreen:\n%s", how, got[n:], brief(want[n:]), lines, k.screen(k.Context()))
	}
}

func onlyLetters(s string) string {
	s = fence.ReplaceAllString(s, "")
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, s)
}
