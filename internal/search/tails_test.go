package search

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// readCounter is a log that counts how many lines are read of it.
type readCounter struct {
	memLog

	lines int
}

func (c *readCounter) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	out, err := c.memLog.Read(ctx, id, from, limit)
	c.lines += len(out.Lines)
	return out, err
}

// A search reads few lines that it doesn't return, wherever its words stand: in all lines, in all of the newest ones, or in none of
// those.
func TestSearchesReadFewLines(t *testing.T) {
	const lines, hits = 20_000, 50
	for _, c := range []struct {
		name  string
		text  func(n int) string
		query string
		most  int
	}{
		{"a word of each line", func(int) string { return "often" }, "often", tailLines},
		{"a word of one line in 64", func(n int) string { return fmt.Sprintf("even%dth", n%64) }, "even5th", 65*hits + tailLines},
		{"a word of one line in 1,000", func(n int) string { return fmt.Sprintf("even%dth", n%1000) }, "even5th", sampleTails*tailLines + 10*hits},
		{"a frequent word with a rare one", func(n int) string { return fmt.Sprintf("often even%dth", n%1000) }, "often even5th", sampleTails*tailLines + 10*hits},
		{"words that are frequent in the newest lines alone", func(n int) string {
			if n > lines-sampleTails*tailLines {
				return "lately and"
			}
			return fmt.Sprint("and even ", n%1000, map[bool]string{true: " lately"}[n%997 == 0])
		}, "lately even", sampleTails*tailLines + freeChecks + 2*newestPage + checksPerHit*hits},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := &readCounter{memLog: memLog{}}
			x, err := OpenIndex(t.Context(), filepath.Join(t.TempDir(), File), log)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = x.Close() }()
			for n := int64(1); n <= lines; n++ {
				log.memLog["pb_1"] = append(log.memLog["pb_1"], sessions.Line{N: n, Text: c.text(int(n)), At: time.Unix(n, 0)})
			}
			if err := x.add(t.Context(), "pb_1", log.memLog["pb_1"]); err != nil {
				t.Fatal(err)
			}
			q, err := ParseQuery(c.query)
			if err != nil {
				t.Fatal(err)
			}
			found, err := x.Find(t.Context(), log, q, newestPage)
			if err != nil || len(found.Hits) == 0 {
				t.Fatalf("found %d, %v", len(found.Hits), err)
			}
			if log.lines > c.most {
				t.Errorf("%d lines were read to find %d, want at most %d", log.lines, len(found.Hits), c.most)
			}
		})
	}
}

// newestPage is how many lines the tests look for.
const newestPage = 50
