package store

import (
	"errors"
	"slices"
	"testing"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// A session that's dropped takes with it what's its own and nothing else; one that
// gets its id later begins anew.
func TestDropSession(t *testing.T) {
	ctx := t.Context()
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1", "pb_2")
	batch := func(id sessions.ID, text string, lines int) polling.Batch {
		return polling.Batch{
			Session: id, Lines: slices.Concat([]sessions.Line{{Kind: sessions.KindTool, Text: text, Tool: calledWith("a", text)[0].Tool}}, slices.Repeat([]sessions.Line{{Kind: sessions.KindPane, Text: text}}, lines-1)), Gaps: []sessions.Gap{{Reason: "r"}},
			Turn: &sessions.Turn{Number: 1, Open: true, FirstLine: 1}, Engine: []byte("e"),
		}
	}
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		if _, err := s.Append(ctx, batch(id, "one", 2*dropAtOnce+1)); err != nil {
			t.Fatal(err)
		}
		if err := s.PutReceipt(ctx, sessions.Receipt{ID: "in_" + string(id), Session: id, Text: "secret", State: sessions.ReceiptSubmitted}); err != nil {
			t.Fatal(err)
		}
		if err := s.PutPrompt(ctx, sessions.Prompt{ID: "pr_" + string(id), Session: id, State: sessions.PromptOpen}); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 { // twice does no harm
		if err := s.DropSession(ctx, "pb_1"); err != nil {
			t.Fatal(err)
		}
	}
	for _, table := range []string{"sessions", "logs", "lines", "tool_details", "gaps", "turns", "receipts", "prompts"} {
		var n int
		want := 1
		if table == "lines" {
			want = 2*dropAtOnce + 1
		}
		if err := s.write.conn.QueryRowContext(ctx, "SELECT count(*) FROM "+table).Scan(&n); err != nil || n != want {
			t.Errorf("%s has %d rows, %v; want %d, which are the other session's", table, n, err, want)
		}
	}
	if _, err := s.Read(ctx, "pb_1", 0, 10); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("its log: %v", err)
	}
	if _, err := s.Append(ctx, batch("pb_1", "late", 1)); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("output that comes late: %v", err)
	}
	late := sessions.Receipt{ID: "in_late", Session: "pb_1", Text: "secret", State: sessions.ReceiptSubmitted}
	if err := errors.Join(s.PutReceipt(ctx, late), s.DropSession(ctx, "pb_1")); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Receipt(ctx, late.ID); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("a receipt that was stored behind the drop, and before another: %v", err)
	}
	mustPut(t, s, "pb_1")
	if _, err := s.Append(ctx, batch("pb_1", "anew", 1)); err != nil {
		t.Fatal(err)
	}
	out, err := s.Read(ctx, "pb_1", 0, 10)
	if err != nil || len(out.Lines) != 1 || out.Lines[0].N != 1 || out.Lines[0].Text != "anew" {
		t.Errorf("another of its id: %+v, %v", out.Lines, err)
	}
}
