package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

func asciiLower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 32
		}
		return r
	}, s)
}

// Search finds what a plain comparison finds, whatever the text has in it that SQL
// reads in its own way.
func TestSearchFindsWhatAComparisonFinds(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	n := 0
	drawtest.Check(t, func(t *rapid.T) {
		n++
		id := sessions.ID(fmt.Sprint("pb_", n))
		if err := s.PutSession(t.Context(), sessions.Session{ID: id}); err != nil {
			t.Fatal(err)
		}
		word := rapid.StringOfN(rapid.SampledFrom([]rune(`aAbB%_\'"* éÉ中.`)), 0, 12, -1)
		b := polling.Batch{Session: id}
		for _, text := range rapid.SliceOfN(word, 0, 30).Draw(t, "lines") {
			b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: text, At: at})
		}
		all, err := s.Append(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		text, limit := word.Draw(t, "text"), rapid.IntRange(1, 10).Draw(t, "limit")
		var want []sessions.Line
		for i := len(all.Lines) - 1; i >= 0 && len(want) < limit; i-- {
			if strings.Contains(asciiLower(all.Lines[i].Text), asciiLower(text)) {
				want = append(want, all.Lines[i])
			}
		}
		got, err := s.Search(t.Context(), id, text, limit)
		if d := cmpDiff(want, got); d != "" || err != nil {
			t.Fatalf("search %q: %v (-want +got):\n%s", text, err, d)
		}
	})
}

func TestSearchRefusesWhatCannotBe(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1", "pb_2")
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(1, 3)})
	for _, text := range []string{"\x00", "1\x00", strings.Repeat("1", 5000), strings.Repeat("%", 4096)} {
		if got, err := s.Search(t.Context(), "pb_1", text, 10); len(got) > 0 || err != nil {
			t.Errorf("search %.10q: %v, %v", text, got, err)
		}
	}
	if got, err := s.Search(t.Context(), "pb_2", "1", 10); len(got) > 0 || err != nil {
		t.Errorf("another session's lines were found: %v, %v", got, err)
	}
	if _, err := s.Search(t.Context(), "pb_3", "1", 10); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("search where no session is: %v, want ErrUnknown", err)
	}
}
