package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

func TestAFullDiskRefusesAndLosesNothing(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1", "pb_2")
	var pages int
	if err := s.write.conn.QueryRowContext(ctx, `PRAGMA page_count`).Scan(&pages); err != nil {
		t.Fatal(err)
	}
	mustExec(t, s.write.conn, fmt.Sprintf(`PRAGMA max_page_count = %d`, pages+20))

	batch := func(id sessions.ID, lines, width int) polling.Batch {
		b := polling.Batch{Session: id, Turn: &sessions.Turn{Number: 1, Open: true, FirstLine: 1}}
		for range lines {
			b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: strings.Repeat("x", width)})
		}
		b.Gaps = []sessions.Gap{{After: int64(lines), Reason: "r"}}
		b.Engine = []byte(fmt.Sprint(lines))
		return b
	}
	big, small := batch("pb_1", 100, 4000), batch("pb_2", 1, 10)
	errs := together(t, s,
		func() error { _, err := s.Append(ctx, big); return err },
		func() error { _, err := s.Append(ctx, small); return err },
	)
	if !errors.Is(errs[0], ErrFull) || !errors.Is(errs[0], sessions.ErrUnavailable) {
		t.Errorf("a batch larger than the disk: got %v, want ErrFull", errs[0])
	}
	if errs[1] != nil {
		t.Errorf("a small one beside it: got %v, want none", errs[1])
	}

	var full error
	head := int64(0)
	for full == nil {
		var a polling.Appended
		if a, full = s.Append(ctx, batch("pb_1", 3, 1000)); full == nil {
			head = a.Head
		}
	}
	if !errors.Is(full, ErrFull) || head == 0 {
		t.Fatalf("filling the disk: got %v behind line %d, want ErrFull behind some", full, head)
	}
	check := func() {
		t.Helper()
		out, err := s.Read(ctx, "pb_1", 1, 0)
		if err != nil || int64(len(out.Lines)) != head || int64(len(out.Gaps)) != head/3-1 {
			t.Errorf("got %d lines, %d gaps, %v; want %d and %d", len(out.Lines), len(out.Gaps), err, head, head/3-1)
		}
	}
	check()
	if err := s.Health(ctx); !errors.Is(err, ErrFull) {
		t.Errorf("its health is %v", err)
	}

	mustExec(t, s.write.conn, `PRAGMA max_page_count = 1000000`)
	if err := s.Health(ctx); err != nil && !errors.Is(err, ErrLittleRoom) {
		t.Errorf("with space again its health is %v", err)
	}
	if a := mustAppend(t, s, batch("pb_1", 3, 1000)); a.Head != head+3 {
		t.Errorf("with space again: got head %d, want %d", a.Head, head+3)
	}
	head += 3
	check()
}
