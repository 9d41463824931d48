package adapters

import (
	"context"
	"errors"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/sessions"
)

// linesLog is a log that has lines, and nothing else.
type linesLog struct {
	Log

	lines []sessions.Line
	err   error
}

func (l linesLog) Read(_ context.Context, _ sessions.ID, from int64, limit int) (out sessions.Output, err error) {
	for _, line := range l.lines {
		if line.N >= from && len(out.Lines) < limit {
			out.Lines = append(out.Lines, line)
		}
	}
	return out, l.err
}

// What a turn said is told without its secrets, and is of no other turn.
func TestTheWordsOfATurnHaveNoSecrets(t *testing.T) {
	m, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	log := linesLog{lines: []sessions.Line{
		{N: 1, Kind: sessions.KindAnswer, Begins: true, Text: "The turn before has other words."},
		{N: 2, Kind: sessions.KindUser, Text: "deploy it"},
		{N: 3, Kind: sessions.KindAnswer, Begins: true, Text: "It's deployed with API_TOKEN=ghp_Zq8Xk2Lw9Rt4Vb7Nm3Pc6Yd1Hf5Js0GaUeI0. And more."},
		{N: 4, Kind: sessions.KindAnswer, Begins: true, Text: "The turn behind has others, too."},
	}}
	words, err := TurnWords(t.Context(), MaskedLog(log, m), "pb_1", sessions.Turn{Number: 2, FirstLine: 2, LastLine: 3})
	if want := "It's deployed with API_TOKEN=ghp_…[masked: GitHub token] And more."; err != nil || words != want {
		t.Errorf("%q, %v; want %q", words, err, want)
	}
	log.err = errors.New("the disk is gone")
	if words, err := TurnWords(t.Context(), MaskedLog(log, m), "pb_1", sessions.Turn{Number: 2, FirstLine: 2, LastLine: 3}); err == nil || words != "" {
		t.Errorf("of a log that can't be read: %q, %v", words, err)
	}
}
