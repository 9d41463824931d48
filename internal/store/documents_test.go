package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

func bindingFor(session sessions.ID, chat string) adapters.Binding {
	return adapters.Binding{
		ID: adapters.BindingID("bd_" + chat), Session: session, Target: adapters.Target{Adapter: "telegram", Chat: chat},
		View: adapters.ViewStream, Origin: adapters.ByHand, CreatedAt: at,
	}
}

func mustBind(tb testing.TB, s *Store, b adapters.Binding, d adapters.Document) {
	tb.Helper()
	if err := s.PutBinding(tb.Context(), b, &d); err != nil {
		tb.Fatal(err)
	}
}

func TestAMessageIsFoundByItsID(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1", "pb_2")
	one, two := bindingFor("pb_1", "-100"), bindingFor("pb_2", "-200")
	d := adapters.NewDocument(0, adapters.LogProgress{})
	mustBind(t, s, one, d)
	mustBind(t, s, two, d)
	sent := func(b adapters.Binding, id string, from, to adapters.Position) {
		t.Helper()
		if err := s.PutDocument(ctx, b.ID, d, &adapters.Message{ID: id, From: from, To: to}); err != nil {
			t.Fatal(err)
		}
	}
	sent(one, "7", adapters.Position{Line: 1}, adapters.Position{Line: 4})
	sent(two, "7", adapters.Position{Line: 9}, adapters.Position{Line: 10}) // ids count within a chat
	sent(one, "8", adapters.Position{Line: 4}, adapters.Position{Line: 4, Byte: 80})
	sent(one, "7", adapters.Position{Line: 1}, adapters.Position{Line: 6}) // edited

	want := func(chat, id string, w SentMessage) {
		t.Helper()
		got, err := s.SentMessage(ctx, "telegram", chat, id)
		if err != nil {
			t.Errorf("message %s of chat %s: %v", id, chat, err)
		}
		diff(t, "message "+id, w, got)
	}
	want("-100", "7", SentMessage{one.ID, "pb_1", 1, 5})
	want("-100", "8", SentMessage{one.ID, "pb_1", 4, 4})
	want("-200", "7", SentMessage{two.ID, "pb_2", 9, 9})
	if _, err := s.SentMessage(ctx, "discord", "-100", "7"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("of another adapter: %v, want ErrUnknown", err)
	}

	d.Chat = "-1001" // the chat has migrated
	sent(one, "9", adapters.Position{Line: 6}, adapters.Position{Line: 7})
	want("-1001", "7", SentMessage{one.ID, "pb_1", 1, 5})
	if _, err := s.SentMessage(ctx, "telegram", "-100", "7"); !errors.Is(err, sessions.ErrUnknown) {
		t.Errorf("under the chat's old id: %v, want ErrUnknown", err)
	}
}

func TestOnlyTheNewestMessagesAreRemembered(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	b := bindingFor("pb_1", "-100")
	d := adapters.NewDocument(0, adapters.LogProgress{})
	mustBind(t, s, b, d)
	const n = keptMessages + 50
	for i := range n {
		m := &adapters.Message{ID: fmt.Sprint(i), From: adapters.Position{Line: int64(i)}, To: adapters.Position{Line: int64(i) + 1}}
		if err := s.PutDocument(ctx, b.ID, d, m); err != nil {
			t.Fatal(err)
		}
	}
	for id, kept := range map[int]bool{0: false, n - keptMessages - 1: false, n - keptMessages: true, n - 1: true} {
		if _, err := s.SentMessage(ctx, "telegram", "-100", fmt.Sprint(id)); (err == nil) != kept {
			t.Errorf("message %d of %d: %v, want it kept: %v", id, n, err, kept)
		}
	}
}

func TestLedgersOfSeveralBotsAreApart(t *testing.T) {
	ctx := t.Context()
	s := mustOpen(t, dbPath(t), Options{})
	a, b := s.Ledger("telegram"), s.Ledger("discord")
	slot := qos.Slot{Permit: 1, Chat: "-100", Stamp: at}
	if err := a.Write(ctx, []qos.LedgerEntry{{Kind: qos.EntryTake, Slot: slot}, {Kind: qos.EntryPenalty, Penalty: qos.Penalty{Until: at}}}); err != nil {
		t.Fatal(err)
	}
	if err := b.Write(ctx, []qos.LedgerEntry{
		{Kind: qos.EntryRefund, Slot: slot},
		{Kind: qos.EntryRekey, From: "-100", To: "-200"},
		{Kind: qos.EntryForget, Before: at.Add(time.Hour)},
	}); err != nil {
		t.Fatal(err)
	}
	if kept, err := a.Load(ctx, at); err != nil || len(kept.Slots) != 1 || kept.Slots[0].Chat != "-100" || len(kept.Penalties) != 1 {
		t.Errorf("one bot's ledger after another's was written: %+v, %v", kept, err)
	}
	if kept, err := b.Load(ctx, at); err != nil || len(kept.Slots) != 0 || len(kept.Penalties) != 0 {
		t.Errorf("the other's: %+v, %v", kept, err)
	}
}

func TestALedgerRefusesWhatItDoesNotKnow(t *testing.T) {
	s := mustOpen(t, dbPath(t), Options{})
	l := s.Ledger("telegram")
	err := l.Write(t.Context(), []qos.LedgerEntry{{Kind: qos.EntryTake, Slot: qos.Slot{Permit: 1, Stamp: at}}, {Kind: 99}})
	if err == nil {
		t.Error("no error")
	}
	if kept, err := l.Load(t.Context(), at); err != nil || len(kept.Slots) != 0 {
		t.Errorf("half of it was written: %+v, %v", kept, err)
	}
}

// deliverChildEnv makes TestDeliverChild work on the database it names until it's
// killed.
const deliverChildEnv = "PANEBRIDGE_TEST_DELIVER_CHILD"

// TestDeliverChild isn't a test: it's what the next one kills. Its calls count one
// up: slot and intent before, receipt after. Each is said when it's stored.
func TestDeliverChild(t *testing.T) {
	path := os.Getenv(deliverChildEnv)
	if path == "" {
		t.Skip("only as a child")
	}
	ctx := context.Background()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	kept, err := s.Bindings(ctx)
	if err != nil || len(kept) != 1 {
		t.Fatal(kept, err)
	}
	tell := func(what string, n int64) {
		if _, err := fmt.Fprintln(os.Stdout, what, n); err != nil {
			t.Fatal(err)
		}
	}
	ledger, d := s.Ledger("telegram"), kept[0].Document
	for n := d.Shown.Line; ; n++ {
		mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: paneLines(int(n), 1)})
		slot := qos.Slot{Permit: qos.PermitID(n), Chat: "-100", Stamp: at}
		if err := ledger.Write(ctx, []qos.LedgerEntry{{Kind: qos.EntryTake, Slot: slot}}); err != nil {
			t.Fatal(err)
		}
		d.Intent = &adapters.Intent{Kind: adapters.KindSend, Shown: adapters.Position{Line: n + 1}, At: at}
		if err := s.PutDocument(ctx, kept[0].Binding.ID, d, nil); err != nil {
			t.Fatal(err)
		}
		tell("call", n)
		d = adapters.Document{Shown: adapters.Position{Line: n + 1}}
		if err := s.PutDocument(ctx, kept[0].Binding.ID, d, &adapters.Message{ID: fmt.Sprint(n)}); err != nil {
			t.Fatal(err)
		}
		tell("done", n)
	}
}

func TestAKilledProcessLeavesTheCallUnderWayKnown(t *testing.T) {
	rounds := 3
	if drawtest.Stressed() {
		rounds = 40
	}
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1")
	mustBind(t, s, bindingFor("pb_1", "-100"), adapters.NewDocument(0, adapters.LogProgress{}))
	_ = s.Close()
	for round := range rounds {
		called, done := killedDelivery(t, path, 50+37*round)
		s := mustOpen(t, path, Options{})
		kept, err := s.Bindings(t.Context())
		if err != nil || len(kept) != 1 {
			t.Fatal(kept, err)
		}
		d := kept[0].Document
		if d.Delivered() < done {
			t.Errorf("line %d is delivered, though line %d was said to be", d.Delivered(), done)
		}
		if called > d.Delivered() && (d.Intent == nil || d.Intent.Shown.Line != called+1) {
			t.Errorf("call %d was made, line %d is delivered, and the intent is %+v", called, d.Delivered(), d.Intent)
		}
		budget, err := s.Ledger("telegram").Load(t.Context(), at)
		if err != nil || int64(len(budget.Slots)) < called {
			t.Errorf("%d slots are kept, %v; %d calls were made", len(budget.Slots), err, called)
		}
		// The child begins anew where the document is.
		d.Intent = nil
		if err := s.PutDocument(t.Context(), kept[0].Binding.ID, d, nil); err != nil {
			t.Fatal(err)
		}
		_ = s.Close()
	}
}

// killedDelivery runs the child, kills it after it has said so many lines, and
// returns the last call that it said it makes, and the last that it said was done.
func killedDelivery(t *testing.T, path string, lines int) (called, done int64) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestDeliverChild$")
	cmd.Env = append(os.Environ(), deliverChildEnv+"="+path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	said := bufio.NewScanner(stdout)
	for n := 0; said.Scan(); n++ {
		var what string
		var k int64
		if _, err := fmt.Sscan(said.Text(), &what, &k); err != nil {
			t.Errorf("the child said %q", said.Text())
		}
		if what == "call" {
			called = k
		} else {
			done = k
		}
		if n == lines {
			_ = cmd.Process.Kill() // what it says until it's dead counts too
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != -1 {
		t.Fatalf("the child ended by itself: %v", err)
	}
	return called, done
}
