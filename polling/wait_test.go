package polling

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

func patternsOf(t *testing.T, r sessions.WaitRequest) *WaitPatterns {
	t.Helper()
	p, err := NewWaitPatterns(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// quiet is a pane in which nothing happens.
func quiet() gridSource {
	g := newGrid(20, 5, 100)
	g.write("$ ")
	return gridSource{func() (sessions.Snapshot, error) { return g.snapshot(sessions.RowWindow{}), nil }}
}

func TestWaitTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		src := quiet()
		looks := 0
		one := src.snapshot
		src.snapshot = func() (sessions.Snapshot, error) { looks++; return one() }
		start := time.Now()
		r, err := Wait(context.Background(), src, "%1", sessions.ServerIdentity{}, patternsOf(t, sessions.WaitRequest{Patterns: []string{"x"}}), WaitOptions{})
		if err != nil || r.Outcome != sessions.WaitTimeout || r.ElapsedMS != 8000 || r.TimeoutMS != 8000 {
			t.Errorf("%+v, %v", r, err)
		}
		if took := time.Since(start); took != sessions.DefaultWaitTimeout {
			t.Errorf("it took %s", took)
		}
		if looks != 161 { // at the beginning, every 50 ms, and at the end
			t.Errorf("%d looks", looks)
		}
	})
}

// What's printed right before the time-out is found by the last look.
func TestWaitLooksWhenTheTimeIsOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := newGrid(20, 5, 100)
		start := time.Now()
		src := gridSource{func() (sessions.Snapshot, error) {
			if time.Since(start) >= 990*time.Millisecond && len(g.printed) == 0 {
				g.printLine("late")
			}
			return g.snapshot(sessions.RowWindow{}), nil
		}}
		r, err := Wait(context.Background(), src, "%1", sessions.ServerIdentity{}, patternsOf(t, sessions.WaitRequest{Patterns: []string{"late"}}),
			WaitOptions{Timeout: time.Second, Interval: 700 * time.Millisecond})
		if err != nil || r.Outcome != sessions.WaitMatched {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

// A tmux server that hangs doesn't hold up the end of a wait for long, and one that's
// gone for a moment doesn't end it.
func TestWaitOutlivesTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls := 0
		g := newGrid(20, 5, 100)
		src := hangingSource{func(ctx context.Context) (sessions.Snapshot, error) {
			switch calls++; {
			case calls == 2:
				return sessions.Snapshot{}, fmt.Errorf("no connection: %w", sessions.ErrUnavailable)
			case calls == 3:
				g.printLine("back")
			case calls > 3:
				<-ctx.Done()
				return sessions.Snapshot{}, ctx.Err()
			}
			return g.snapshot(sessions.RowWindow{}), nil
		}}
		wait := func(pattern string) sessions.WaitResult {
			r, err := Wait(context.Background(), src, "%1", sessions.ServerIdentity{}, patternsOf(t, sessions.WaitRequest{Patterns: []string{pattern}}),
				WaitOptions{Timeout: 2 * time.Second, CaptureTimeout: time.Minute})
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		if r := wait("back"); r.Outcome != sessions.WaitMatched {
			t.Errorf("after an error: %+v", r)
		}
		calls = 2
		start := time.Now()
		if r := wait("never"); r.Outcome != sessions.WaitTimeout || r.Reason == "" {
			t.Errorf("of a server that hangs: %+v", r)
		}
		if took := time.Since(start); took > 2*time.Second+waitGrace {
			t.Errorf("a server that hangs held it up for %s", took)
		}
	})
}

type hangingSource struct {
	snapshot func(context.Context) (sessions.Snapshot, error)
}

func (s hangingSource) Glances(context.Context, int64) ([]sessions.Glance, bool, error) {
	return nil, false, nil
}

func (s hangingSource) Snapshot(ctx context.Context, _ string, _ sessions.RowWindow) (sessions.Snapshot, error) {
	return s.snapshot(ctx)
}

func TestWaitEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		stop := errors.New("stop")
		ctx, cancel := context.WithTimeoutCause(context.Background(), time.Second, stop)
		defer cancel()
		if _, err := Wait(ctx, quiet(), "%1", sessions.ServerIdentity{}, patternsOf(t, sessions.WaitRequest{}), WaitOptions{}); !errors.Is(err, stop) {
			t.Errorf("it ended with %v", err)
		}
	})
}

// Another run of the tmux server has another pane of that number.
func TestWaitKnowsItsServer(t *testing.T) {
	r, err := Wait(context.Background(), quiet(), "%1", sessions.ServerIdentity{PID: 7}, patternsOf(t, sessions.WaitRequest{}), WaitOptions{Timeout: time.Second})
	if err != nil || r.Outcome != sessions.WaitDied {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestWaitRefusesPatterns(t *testing.T) {
	for _, r := range []sessions.WaitRequest{
		{Patterns: []string{""}},
		{Stops: []string{"a\nb"}},
		{Patterns: []string{"("}, Regex: true},
		{Patterns: []string{"a*"}, Regex: true},
		{Patterns: []string{"\xff"}},
		{Patterns: []string{strings.Repeat("a", maxWaitPatternBytes+1)}},
		{Patterns: make([]string, maxWaitPatterns+1)},
	} {
		if _, err := NewWaitPatterns(r); !errors.Is(err, sessions.ErrInvalid) {
			t.Errorf("%+v: %v", r, err)
		}
	}
}

// screens are what a pane shows one look after the other; all rows but the last are above the
// cursor.
func screens(t *testing.T, width int, looks ...[]string) [][]string {
	t.Helper()
	f := newFollower()
	var out [][]string
	for _, rows := range looks {
		s := sessions.Snapshot{
			Pane: "%1", PID: 1, Width: width, Height: 6, HistoryLimit: 100, CursorVisible: true,
			CursorY: len(rows) - 1, CursorX: len(rows[len(rows)-1]), Rows: append(slices.Clone(rows), make([]string, 6-len(rows))...), Wrapped: make([]bool, 6),
		}
		got, need := f.followSnapshot(&s, nil, 1000, time.Unix(1, 0))
		if need != nil {
			t.Fatalf("it wants %+v", need)
		}
		out = append(out, outputs(got.lines))
		f = got.next
	}
	return out
}

// Programs that draw: what stood there at the call isn't output where it's moved or
// painted around; what's changed is.
func TestWaitForWhatIsDrawn(t *testing.T) {
	for name, c := range map[string]struct {
		looks [][]string
		want  []string // at the last look
	}{
		"nothing":                 {[][]string{{"title", "box"}, {"title", "box"}}, nil},
		"a line above a box":      {[][]string{{"title", "> box"}, {"title", "new", "> box"}}, []string{"new"}},
		"the box goes up again":   {[][]string{{"title", "old", "> box"}, {"title", "> box"}}, nil},
		"a counter":               {[][]string{{"title", "at 10%"}, {"title", "at 20%"}}, []string{"at 20%"}},
		"a prompt is gone on":     {[][]string{{"$ "}, {"$ ls", "file", "$ "}}, []string{"ls", "file", "$"}},
		"typed and corrected":     {[][]string{{"$ "}, {"$ lx"}, {"$ ls"}}, []string{"ls"}},
		"wiped and printed again": {[][]string{{"$ x", "DONE", "$ "}, {"DONE", "$ "}}, []string{"DONE", "$"}},
		"gone and back":           {[][]string{{"title", "DONE"}, {"title", ""}, {"title", "DONE"}}, []string{"DONE"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := screens(t, 20, c.looks...)
			if last := got[len(got)-1]; !slices.Equal(last, c.want) {
				t.Errorf("output is %q, wanted %q", last, c.want)
			}
		})
	}
}

// logOf is an output log in memory.
type logOf struct {
	lines []sessions.Line
	gaps  []sessions.Gap
}

func (l *logOf) Head(context.Context, sessions.ID) (line, gap int64, err error) {
	return int64(len(l.lines)), int64(len(l.gaps)), nil
}

func (l *logOf) ReadSince(_ context.Context, _ sessions.ID, line, gap int64, limit int) (sessions.Output, int64, int64, error) {
	lines := l.lines[line:]
	lines = lines[:min(len(lines), limit)]
	return sessions.Output{Lines: lines, Gaps: l.gaps[gap:]}, line + int64(len(lines)), int64(len(l.gaps)), nil
}

// told is a session in which something comes with each poke.
type told struct {
	s    sessions.Session
	poke func(n int)
	n    int
}

func (r *told) Get(string) (sessions.Session, error) { return r.s, nil }
func (r *told) LookNow(sessions.ID)                  { r.n++; r.poke(r.n) }

// Of a transcript the lines are searched; what was written to the agent isn't output.
func TestWaitForLinesOfATranscript(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logOf{lines: []sessions.Line{{Kind: sessions.KindAnswer, Text: "done before"}}}
		reg := &told{s: sessions.Session{ID: "pb_1"}, poke: func(n int) {
			switch n {
			case 1:
				log.lines = append(log.lines, sessions.Line{Kind: sessions.KindUser, Text: "say done"}, sessions.Line{Kind: sessions.KindNotice, Text: "done"})
			case 3:
				log.lines = append(log.lines, sessions.Line{Kind: sessions.KindTool, Text: "make"}, sessions.Line{Kind: sessions.KindAnswer, Text: "all done"})
			}
		}}
		r, err := WaitLines(context.Background(), log, reg, "pb_1", patternsOf(t, sessions.WaitRequest{Patterns: []string{"done"}}), WaitOptions{})
		if err != nil || r.Outcome != sessions.WaitMatched || r.Match.Line != "all done" || !slices.Equal(r.Lines, []string{"make", "all done"}) || r.ElapsedMS != 150 {
			t.Errorf("%+v, %v", r, err)
		}
		reg.poke = func(int) { reg.s.State, reg.s.Exit = sessions.StateEnded, &sessions.Exit{Status: 4} }
		r, err = WaitLines(context.Background(), log, reg, "pb_1", patternsOf(t, sessions.WaitRequest{}), WaitOptions{})
		if err != nil || r.Outcome != sessions.WaitDied || r.Exit.Status != 4 {
			t.Errorf("%+v, %v", r, err)
		}
		reg.s.State, reg.poke = sessions.StateIdle, func(int) {}
		r, err = WaitLines(context.Background(), log, reg, "pb_1", patternsOf(t, sessions.WaitRequest{}), WaitOptions{Timeout: time.Second})
		if err != nil || r.Outcome != sessions.WaitTimeout || r.ElapsedMS != 1000 {
			t.Errorf("%+v, %v", r, err)
		}
	})
}
