package polling_test

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// TestPromptsAreRecognised is of a shell without the integration.
func TestPromptsAreRecognised(t *testing.T) {
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

// engineKnows reports whether the stored engine has seen a prompt.
func (p *pane) engineKnows() bool {
	p.log.mu.Lock()
	defer p.log.mu.Unlock()
	return strings.Contains(string(p.log.engine), `"Inferred":true`)
}

// quietly is an observer that knows only after how long of quiet a turn is over.
type quietly struct{ polling.Generic }

func (quietly) Observe(context.Context, sessions.Look) (sessions.Sight, error) {
	return sessions.Sight{Text: sessions.TextPane, Quiet: 4 * time.Second}, nil
}

func (quietly) Close() error { return nil }

func TestQuietEndsATurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		mem, src := &memLog{}, newFakeSource("%1")
		r := newRig(t, mem, mem, map[string]polling.Source{"t": src})
		observe := func([]byte) (polling.Observer, error) { return quietly{}, nil }
		if err := r.coord.Start(polling.Target{Session: "pb_1", Server: "t", Pane: "%1", Observe: observe}); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			src.print("%1", strconv.Itoa(i), false)
			r.after(3 * time.Second) // not quiet for long enough
		}
		if len(mem.ended) > 0 || !mem.turn.Open {
			t.Fatalf("ended %+v, now %+v", mem.ended, mem.turn)
		}
		r.after(10 * time.Second)
		src.print("%1", "next", false)
		r.after(20 * time.Second)
		if len(mem.ended) != 2 || mem.ended[0].LastLine != 3 || mem.ended[1].FirstLine != 4 || mem.ended[1].LastLine != 4 || r.owner.completed() != 2 {
			t.Errorf("ended %+v, %d told", mem.ended, r.owner.completed())
		}
		if took := mem.ended[0].EndedAt.Sub(mem.ended[0].StartedAt); took > 13*time.Second {
			t.Errorf("the first took %s", took)
		}
	})
}
