package store

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

func TestMain(m *testing.M) {
	if path := os.Getenv(crashChildEnv); path != "" {
		fmt.Fprintln(os.Stderr, crashChild(path))
		os.Exit(1)
	}
	if os.Getenv(rewriteChildEnv) != "" {
		fmt.Fprintln(os.Stderr, rewriteChild())
		os.Exit(1)
	}
	if as := os.Getenv(firstChildEnv); as != "" {
		fmt.Fprintln(os.Stderr, firstChild(as))
		os.Exit(1)
	}
	if os.Getenv(backupChildEnv) != "" {
		fmt.Fprintln(os.Stderr, backupChild())
		os.Exit(1)
	}
	if path := os.Getenv(migrateChildEnv); path != "" {
		if err := migrateChild(path); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// at is a fixed time to count from.
var at = time.Date(2026, 1, 2, 3, 4, 5, 678, time.UTC)

func mustOpen(tb testing.TB, path string, o Options) *Store {
	tb.Helper()
	s, err := Open(tb.Context(), path, o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

func dbPath(tb testing.TB) string {
	tb.Helper()
	return filepath.Join(tb.TempDir(), "panebridge.db")
}

func mustPut(tb testing.TB, s *Store, ids ...sessions.ID) {
	tb.Helper()
	for i, id := range ids {
		if err := s.PutSession(tb.Context(), sessions.Session{ID: id, CreatedAt: at.Add(time.Duration(i))}); err != nil {
			tb.Fatal(err)
		}
	}
}

func mustAppend(tb testing.TB, s *Store, b polling.Batch) polling.Appended {
	tb.Helper()
	a, err := s.Append(tb.Context(), b)
	if err != nil {
		tb.Fatal(err)
	}
	return a
}

// paneLines returns n lines of kind pane, "first", "first+1" and so on.
func paneLines(first, n int) (lines []sessions.Line) {
	for i := range n {
		lines = append(lines, sessions.Line{Kind: sessions.KindPane, Text: fmt.Sprint(first + i), At: at})
	}
	return lines
}

func cmpDiff(want, got any) string { return cmp.Diff(want, got, cmpopts.EquateEmpty()) }

func diff(tb testing.TB, what string, want, got any) {
	tb.Helper()
	if d := cmpDiff(want, got); d != "" {
		tb.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func TestSessionsComeBackAsTheyWerePut(t *testing.T) {
	ctx, path := t.Context(), dbPath(t)
	s := mustOpen(t, path, Options{})
	first := sessions.Session{
		ID: "pb_2", Name: "agent-1", Agent: "claude", Cwd: "/src", RealCwd: "/real/src", State: sessions.StateWorking, Reason: "its pane is changing",
		Pane:  sessions.Pane{Server: "default", Identity: sessions.ServerIdentity{PID: 7, Start: 8}, ID: "%12", Session: "agent-1"},
		Owned: true, CreatedAt: at,
	}
	second := sessions.Session{
		ID: "pb_1", State: sessions.StateEnded, CreatedAt: at.Add(time.Second), EndedAt: at.Add(time.Minute),
		Exit: &sessions.Exit{Status: 0, Signal: "TERM"},
	}
	for _, x := range []sessions.Session{second, first} {
		if err := s.PutSession(ctx, x); err != nil {
			t.Fatal(err)
		}
	}
	a := mustAppend(t, s, polling.Batch{
		Session: first.ID, Lines: paneLines(1, 3),
		Turn: &sessions.Turn{Number: 4, Open: true, StartedAt: at, FirstLine: 2},
	})

	// Putting a session again replaces what it says, and not what the log owns.
	first.State, first.Lines, first.Turn, first.LastOutputAt = sessions.StateIdle, 99, sessions.Turn{Number: 99}, at.Add(time.Hour)
	if err := s.PutSession(ctx, first); err != nil {
		t.Fatal(err)
	}
	first.Lines, first.Turn, first.LastOutputAt = 3, a.Turn, at

	_ = s.Close()
	got, err := mustOpen(t, path, Options{}).Sessions(ctx)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "sessions", []sessions.Session{first, second}, got)
}

func TestReceiptsComeBackAndOpenOnesAreThoseThatAreNotFinal(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	var open []sessions.Receipt
	all := []sessions.ReceiptState{
		sessions.ReceiptStored, sessions.ReceiptHeld, sessions.ReceiptTyping, sessions.ReceiptTyped,
		sessions.ReceiptSubmitted, sessions.ReceiptFailed, sessions.ReceiptCancelled,
	}
	for i, state := range all {
		for j, submit := range []bool{true, false} {
			r := sessions.Receipt{
				ID: fmt.Sprintf("in_%d%d", i, j), Session: "pb_1", Text: "yes\n", Submit: submit, Author: "web",
				State: sessions.ReceiptStored, CreatedAt: at.Add(-time.Duration(i) * time.Second), UpdatedAt: at,
			}
			if err := s.PutReceipt(ctx, r); err != nil {
				t.Fatal(err)
			}
			r.State, r.Cause, r.Reason, r.Anyway = state, sessions.CauseUnverified, "why", "cli"
			if err := s.PutReceipt(ctx, r); err != nil {
				t.Fatal(err)
			}
			got, err := s.Receipt(ctx, r.ID)
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "receipt", r, got)
			if !r.Final() {
				open = append(open, r)
			}
		}
	}
	got, err := s.OpenReceipts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	// The later a state in the list, the older its receipts; of equal age the one put first comes first.
	want := []sessions.Receipt{open[6], open[4], open[5], open[2], open[3], open[0], open[1]}
	diff(t, "open receipts", want, got)
	if _, err := s.Receipt(ctx, "in_none"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("a receipt nobody put: got %v, want ErrUnknown", err)
	}
}

func TestClosedPanesAreKeptWithoutTheirSessionsName(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	pane := func(id string, pid int, session string) sessions.Pane {
		return sessions.Pane{Server: "default", Identity: sessions.ServerIdentity{PID: pid, Start: 5}, ID: id, Session: session}
	}
	for _, p := range []sessions.Pane{pane("%2", 1, "a"), pane("%1", 1, "b"), pane("%1", 2, "c"), pane("%2", 1, "renamed")} {
		if err := s.PutClosedPane(ctx, p); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		if err := s.DropClosedPane(ctx, pane("%1", 1, "other name")); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.ClosedPanes(ctx)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "closed panes", []sessions.Pane{pane("%2", 1, ""), pane("%1", 2, "")}, got)
}

func TestTextIsStoredAsValidUTF8(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	texts := []string{"", "a\xffb", "tab\there", "nul\x00behind", "日本 🎉", strings.Repeat("x", 100_000)}
	var b polling.Batch
	b.Session = "pb_1"
	for _, text := range texts {
		b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindTool, Text: text})
	}
	b.Gaps = []sessions.Gap{{After: 2, Reason: "torn \xc3"}}
	a := mustAppend(t, s, b)
	texts[1] = "a\uFFFDb"
	got, err := s.Tail(ctx, "pb_1", 100)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "stored and returned lines", a.Lines, got)
	for i, l := range got {
		if l.Text != texts[i] {
			t.Errorf("line %d: got %.40q, want %.40q", l.N, l.Text, texts[i])
		}
	}
	diff(t, "gap", []sessions.Gap{{After: 2, Reason: "torn \uFFFD"}}, a.Gaps)
	if b.Lines[1].Text != "a\xffb" || b.Lines[0].N != 0 {
		t.Error("Append changed the caller's batch")
	}
}

func TestAnUnknownSessionIsAnError(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	calls := map[string]func() error{
		"Append":    func() error { _, err := s.Append(ctx, polling.Batch{Session: "pb_x"}); return err },
		"Load":      func() error { _, _, err := s.Load(ctx, "pb_x"); return err },
		"Tail":      func() error { _, err := s.Tail(ctx, "pb_x", 1); return err },
		"Read":      func() error { _, err := s.Read(ctx, "pb_x", 0, 0); return err },
		"ReadSince": func() error { _, _, err := s.ReadSince(ctx, "pb_x", Cursor{}, 0); return err },
		"End":       func() error { _, err := s.End(ctx, "pb_x"); return err },
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, sessions.ErrUnknown) {
			t.Errorf("%s: got %v, want ErrUnknown", name, err)
		}
	}
}
