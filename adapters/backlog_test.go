package adapters

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// lineLog is a log of lines from number 1 on, of which the first have been dropped.
type lineLog struct {
	lines   []sessions.Line
	gaps    []sessions.Gap
	dropped int64
}

func (l *lineLog) Progress(context.Context, sessions.ID) (LogProgress, error) {
	return LogProgress{Head: int64(len(l.lines))}, nil
}

func (l *lineLog) Turns(context.Context, sessions.ID, int64, int) ([]sessions.Turn, error) {
	return nil, nil
}

func (l *lineLog) Read(_ context.Context, _ sessions.ID, from int64, limit int) (sessions.Output, error) {
	var out sessions.Output
	if from <= l.dropped {
		out.Gaps = append(out.Gaps, sessions.Gap{After: from - 1, AtLeast: l.dropped - from + 1})
		from = l.dropped + 1
	}
	for n := from; n <= int64(len(l.lines)) && len(out.Lines) < limit; n++ {
		for _, g := range l.gaps {
			if g.After == n-1 {
				out.Gaps = append(out.Gaps, g)
			}
		}
		out.Lines = append(out.Lines, l.lines[n-1])
	}
	return out, nil
}

// What stands before a page in its answer is read back from the log, as far as the
// answer goes, and is the same wherever the log was begun to be read.
func TestWhatStandsBeforeAPageIsReadBack(t *testing.T) {
	const all = 500
	newLog := func(change func(l *lineLog)) *lineLog {
		l := &lineLog{}
		for i := range all {
			l.lines = append(l.lines, sessions.Line{N: int64(i) + 1, Kind: sessions.KindAnswer, Text: fmt.Sprintf("line %d", i+1)})
		}
		if change != nil {
			change(l)
		}
		return l
	}
	tests := map[string]struct {
		change func(l *lineLog)
		first  int64 // of what stands before line 450
	}{
		"from its beginning":         {nil, 1},
		"behind another kind":        {func(l *lineLog) { l.lines[99].Kind = sessions.KindPane }, 101},
		"behind a gap":               {func(l *lineLog) { l.gaps = []sessions.Gap{{After: 200}} }, 201},
		"behind a gap between reads": {func(l *lineLog) { l.gaps = []sessions.Gap{{After: 450 - backAtOnce - 1}} }, 450 - backAtOnce},
		"what the log still has":     {func(l *lineLog) { l.dropped = 300 }, 301},
		"no more than counts":        {func(l *lineLog) { l.lines[319].Text = strings.Repeat("x", maxBefore) }, 320},
		"right behind a gap":         {func(l *lineLog) { l.gaps = []sessions.Gap{{After: 449}} }, 450},
		"behind its first line":      {func(l *lineLog) { l.lines[149].Begins = true }, 150},
		"its first line":             {func(l *lineLog) { l.lines[449].Begins = true }, 450},
		"no answer":                  {func(l *lineLog) { l.lines[449].Kind = sessions.KindPane }, 450},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLog(tt.change)
			var want []string
			for _, line := range l.lines[tt.first-1 : 449] {
				want = append(want, line.Text)
			}
			for _, from := range []int64{450, 449, 440, l.dropped + 1} {
				b := backlog{head: all}
				if err := b.loadLines(t.Context(), l, "pb_1", from, 0, 1<<20); err != nil {
					t.Fatal(err)
				}
				got := Page{}.plus(b.between(Position{Line: 450}, Position{Line: 460})).Before
				if !slices.Equal(got, want) {
					t.Errorf("read from line %d on, %d lines stand before line 450, want %d: %.40q", from, len(got), len(want), got)
				}
			}
		})
	}
}
