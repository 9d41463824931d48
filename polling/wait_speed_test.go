package polling_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// fullSpeed prints as fast as tmux reads.
const fullSpeed = `exec awk 'BEGIN { while (1) printf "line %d of what is printed at full speed\n", n++ }'`

// speedCount is what became of many waits.
type speedCount struct{ found, missed, wrong, lost int }

func (c speedCount) String() string {
	return fmt.Sprintf("%d found, %d missed, %d false, %d times history_lost", c.found, c.missed, c.wrong, c.lost)
}

// A needle is written into the terminal of a pane that prints at full speed, again and
// again: each wait finds its own, and never an older one, or says that tmux dropped lines. Where
// state and text are read in two calls, as for comparison here, it doesn't.
func TestWaitAtFullSpeed(t *testing.T) {
	slow(t)
	for limit, times := range map[int]int{2000: 6, 50_000: 30} {
		if drawtest.Stressed() {
			times = 1000
		}
		t.Run(strconv.Itoa(limit), func(t *testing.T) {
			p := newWaitPane(t, fullSpeed, "80x24", "history-limit="+strconv.Itoa(limit))
			p.awaitScreen("full speed")
			tty, err := os.OpenFile(p.tmux("display-message", "-p", "-t", p.id, "#{pane_tty}"), os.O_WRONLY, 0)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = tty.Close() }()
			var ours, naive speedCount
			for i := range times {
				ours.add(p.needleFound(tty, fmt.Sprintf("needle-%d-", i)))
			}
			for i := range max(6, times/5) {
				naive.add(p.needleFoundNaively(tty, fmt.Sprintf("straw-%d-", i)))
			}
			t.Logf("history of %d rows: %d waits with state and text by one call: %s", limit, times, ours)
			t.Logf("history of %d rows: %d waits with state and text by two calls: %s", limit, max(6, times/5), naive)
			if ours.missed+ours.wrong > 0 {
				t.Errorf("%d missed, %d false", ours.missed, ours.wrong)
			}
			if limit > 2000 && ours.found == 0 { // how many are, is a matter of the machine's speed
				t.Errorf("none of %d was found, though tmux keeps as much as is printed in a fraction of a second", times)
			}
		})
	}
}

func (c *speedCount) add(how string) {
	switch how {
	case "found":
		c.found++
	case "missed":
		c.missed++
	case "false":
		c.wrong++
	case "lost":
		c.lost++
	}
}

func pauseBeforeNeedle() { time.Sleep(time.Duration(rand.IntN(100)) * time.Millisecond) }

func (p *waitPane) needleFound(tty *os.File, needle string) string {
	p.Helper()
	kind, _, _ := strings.Cut(needle, "-")
	r := p.wait(sessions.WaitRequest{Patterns: []string{kind + "-[0-9]+-"}, Regex: true, Timeout: 5 * time.Second}, func() {
		pauseBeforeNeedle()
		if _, err := tty.WriteString(needle + "\n"); err != nil {
			p.Error(err)
		}
	})
	switch {
	case r.Outcome == sessions.WaitHistoryLost:
		time.Sleep(250 * time.Millisecond) // tmux reads the needle, which the next wait mustn't find
		return "lost"
	case r.Outcome != sessions.WaitMatched:
		p.Logf("%s: %s %s after %d ms", needle, r.Outcome, r.Reason, r.ElapsedMS)
		return "missed"
	case !strings.Contains(r.Match.Line, needle):
		p.Logf("%s: found %q", needle, r.Match.Line)
		return "false"
	}
	return "found"
}

// needleFoundNaively reads the state first and then, by another call, the rows that it
// says are new.
func (p *waitPane) needleFoundNaively(tty *os.File, needle string) string {
	p.Helper()
	kind, _, _ := strings.Cut(needle, "-")
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	state := func() (hs, row int) {
		s, err := p.client.Snapshot(ctx, p.id, sessions.RowWindow{})
		if err != nil {
			return -1, -1
		}
		return s.HistorySize, s.HistorySize + s.CursorY
	}
	_, seen := state()
	written := make(chan struct{})
	go func() {
		defer close(written)
		pauseBeforeNeedle()
		_, _ = tty.WriteString(needle + "\n")
	}()
	defer func() { <-written }()
	looks := 0 // behind the needle
	for ctx.Err() == nil && looks < 5 {
		time.Sleep(sessions.DefaultWaitInterval)
		select {
		case <-written:
			looks++
		default:
		}
		hs, row := state()
		if hs < 0 {
			break
		}
		if row < seen { // history rolled over: it goes on with the screen
			seen = hs
		}
		s, err := p.client.Snapshot(ctx, p.id, sessions.RowWindow{Start: seen - hs, Rows: max(1, row-seen+1)})
		if err != nil {
			break
		}
		text := strings.Join(s.Rows, "\n")
		switch {
		case strings.Contains(text, needle):
			return "found"
		case strings.Contains(text, kind+"-"):
			return "false"
		}
		seen = row
	}
	return "missed"
}
