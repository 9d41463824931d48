package store

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// makeBusy makes a database in which something of each kind is still to be done, and returns its path.
func makeBusy(t *testing.T) (path string, s *Store) {
	t.Helper()
	path = dbPath(t)
	s = mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1", "pb_2")
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "one"}, {Kind: sessions.KindPane, Text: "two"}}, Engine: []byte("{}")})
	doc := adapters.Document{Shown: adapters.Position{Line: 1}, Intent: &adapters.Intent{Kind: adapters.KindSend}}
	b := adapters.Binding{ID: "b_1", Session: "pb_1", Target: adapters.Target{Adapter: "telegram", Chat: "1"}, CreatedAt: at}
	if err := s.PutBinding(t.Context(), b, &doc); err != nil {
		t.Fatal(err)
	}
	conn := raw(t, path)
	for _, query := range []string{
		`INSERT INTO receipts (id, session, text, submit, author, state, reason, created_at, updated_at, open) VALUES ('in_1', 'pb_1', 'rm -rf', 1, 'cli', 'stored', '', 1, 1, 1)`,
		`INSERT INTO receipts (id, session, text, submit, author, state, reason, created_at, updated_at, open) VALUES ('in_2', 'pb_1', 'half', 1, 'cli', 'typing', '', 1, 1, 1)`,
		`INSERT INTO updates (adapter, key, kept_at, raw, tries, outcome) VALUES ('telegram', '1', 1, CAST('type this' AS BLOB), 0, ''), ('telegram', '2', 1, x'', 0, 'handled')`,
		`INSERT INTO waiting VALUES ('k', 1, '{}')`,
		`INSERT INTO replies (id, session, at, post) VALUES ('r', 'pb_1', 1, CAST('say this' AS BLOB))`,
		`INSERT INTO continuations VALUES ('pb_1', '{}')`,
		`INSERT INTO codes VALUES ('h', 'admin', 'cli', 9000000000000000000, '')`,
		`INSERT INTO offers VALUES ('o', 'telegram', '1', '', 'close', 'pb_1', '', 'admin', '', 1, '', 9000000000000000000, '', '', 0)`,
		`INSERT INTO grants (person, role, name, by, at) VALUES ('telegram:1', 'admin', 'one', 'cli', 1), ('telegram:2', 'admin', 'two', 'cli', 1)`,
		`INSERT INTO mail (id, kind, sender, sender_name, recipient, recipient_name, fleet, text, status, sent_at, settled_at, preview, preview_reason)
			VALUES ('m', 'mail', 'pb_2', 'two', 'pb_1', 'one', '', 'read this', 'input_required', 1, 0, 'waiting', '')`,
		`INSERT INTO notices (recipient, at, sender, type, text, lease) VALUES ('pb_1', 1, 'pb_2', 't', 'hear this', 7)`,
		`INSERT INTO listeners VALUES (7, 'pb_1', 0, 1, 1, '')`,
		`INSERT INTO origins (key, adapter, chat, thread, message, person, session, at, receipt, told, reply, done) VALUES ('k', 'telegram', '1', '', '5', 'p', 'pb_1', 1, 'in_1', '', '', 0)`,
		`INSERT INTO exhibits VALUES ('x', 'pb_1', 1, 1, '{}', x'')`,
		`INSERT INTO notes VALUES ('discord', 'seen', '100'), ('discord', 'seen 7', '100'), ('telegram', 'read', 'then')`,
		`INSERT INTO browsers (id, label, address, key, created_at, used_at, expires_at) VALUES ('w_1', 'phone', 'a', x'01', 1, 1, 9000000000000000000), ('w_2', 'lost phone', 'a', x'02', 1, 1, 9000000000000000000)`,
	} {
		mustExec(t, conn, query)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	return path, s
}

// counts runs queries that count.
func wantCounts(t *testing.T, path string, want map[string]int) {
	t.Helper()
	conn := raw(t, path)
	for query, n := range want {
		var got int
		if err := conn.QueryRowContext(t.Context(), "SELECT count(*) FROM "+query).Scan(&got); err != nil || got != n {
			t.Errorf("%s: %d, not %d; %v", query, got, n, err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

// nothingToDo is what of makeBusy must not be done behind a restore, whatever else is known.
var nothingToDo = map[string]int{
	"receipts WHERE open":                0,
	"receipts WHERE state = 'cancelled'": 2,
	"waiting":                            0,
	"replies":                            0,
	"codes WHERE used_key = ''":          0,
	"mail WHERE preview IN ('waiting', 'typing')": 0,
	"mail":                               1,
	"notices WHERE lease > 0":            0,
	"origins WHERE NOT done":             0,
	"exhibits WHERE waits":               0,
	"documents WHERE intent IS NOT NULL": 0,
	"sessions":                           2,
	"lines":                              2,
	"bindings":                           1,
}

// A backup that's restored where the database is gone does nothing that it was about to do, and takes no message for
// new that stands in a chat.
func TestWhatABackupWasAboutToDoIsntDone(t *testing.T) {
	path, s := makeBusy(t)
	backup := filepath.Join(t.TempDir(), "b")
	if _, err := Backup(t.Context(), path, backup, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	fresh := dbPath(t)
	if done := mustRestore(t, fresh, backup); !done.Blind || done.Kept != "" {
		t.Errorf("%+v", done)
	}
	wantCounts(t, fresh, nothingToDo)
	wantCounts(t, fresh, map[string]int{
		"updates WHERE outcome = ''": 0, "updates": 2, "offers WHERE single AND used_key = ''": 0, "notes WHERE adapter = 'discord'": 0, "notes WHERE adapter = 'telegram'": 0,
		"continuations": 0, "grants": 2, "browsers": 2, "documents WHERE shown_line = 3": 1,
	})
	r := mustOpen(t, fresh, Options{})
	if restored, blind, err := r.IsRestored(t.Context()); !restored || !blind || err != nil {
		t.Errorf("restored %v, blind %v, %v", restored, blind, err)
	}
	if err := errors.Join(r.HandledRestore(t.Context()), r.Check(t.Context())); err != nil {
		t.Error(err)
	}
	if restored, _, err := r.IsRestored(t.Context()); restored || err != nil {
		t.Errorf("still restored: %v", err)
	}
}

// What's known of the world since the backup is kept when it's restored over the database that knows it: what chats
// wrote is handled once, numbers aren't used again, and who was shut out stays out.
func TestARestoreKeepsWhatHappenedOutside(t *testing.T) {
	path, s := makeBusy(t)
	backup := filepath.Join(t.TempDir(), "b")
	if _, err := Backup(t.Context(), path, backup, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	mustAppend(t, s, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "three"}, {Kind: sessions.KindPane, Text: "four"}}})
	conn := raw(t, path)
	for _, query := range []string{
		`UPDATE updates SET outcome = 'handled', raw = x'' WHERE key = '1'`,
		`INSERT INTO updates (adapter, key, kept_at, raw, tries, outcome) VALUES ('telegram', '3', 1, x'', 0, 'handled'), ('telegram', '4', 1, CAST('not taken up' AS BLOB), 0, ''), ('telegram', '5', 1, CAST('amid of it' AS BLOB), 1, '')`,
		`DELETE FROM grants WHERE person = 'telegram:2'`,
		`DELETE FROM browsers WHERE id = 'w_2'`,
		`UPDATE browsers SET key = x'03'`,
		`DELETE FROM notices`,
		`UPDATE offers SET used_key = 'k', used_by = 'p', used_at = 5`,
		`UPDATE codes SET used_key = 'k'`,
		`UPDATE notes SET value = '200' WHERE adapter = 'discord'`,
		`INSERT INTO slots VALUES ('telegram', 1, '1', 'send', 5)`,
		`INSERT INTO messages SELECT seq, 1, '77', 3, 4 FROM bindings`,
		`UPDATE documents SET thread = '9'`,
	} {
		mustExec(t, conn, query)
	}
	if err := errors.Join(conn.Close(), s.Close()); err != nil {
		t.Fatal(err)
	}
	done := mustRestore(t, path, backup)
	if done.Blind || done.Kept == "" {
		t.Errorf("%+v", done)
	}
	wantCounts(t, path, nothingToDo)
	wantCounts(t, path, map[string]int{
		"updates": 5, "updates WHERE outcome = ''": 1, "updates WHERE outcome = '' AND key = '4'": 1,
		"grants": 1, "browsers": 1, "browsers WHERE key = x'03'": 1, "notices": 0, "offers WHERE used_by = 'p'": 1,
		"notes WHERE adapter = 'discord' AND value = '200'": 2, "slots": 1, "messages WHERE id = '77'": 1, "documents WHERE thread = '9' AND shown_line = 5": 1,
		"continuations":                         1, // which wasn't typed yet
		"gaps WHERE after = 2 AND at_least = 2": 1,
	})
	r := mustOpen(t, path, Options{})
	if a := mustAppend(t, r, polling.Batch{Session: "pb_1", Lines: []sessions.Line{{Kind: sessions.KindPane, Text: "five"}}}); a.Lines[0].N != 5 {
		t.Errorf("a line gets number %d again", a.Lines[0].N)
	}
	waiting, err := r.Journal("telegram").Waiting(t.Context(), 0, 10)
	if err != nil || len(waiting) != 1 || string(waiting[0].Raw) != "not taken up" {
		t.Errorf("%v, %v", waiting, err)
	}
	if again, err := r.Journal("telegram").Keep(t.Context(), []intake.Update{{Key: "3"}, {Key: "6"}}); err != nil || len(again) != 1 || again[0].Key != "6" {
		t.Errorf("taken for new: %v, %v", again, err)
	}
	if err := errors.Join(r.Check(t.Context()), r.Close()); err != nil {
		t.Error(err)
	}
	back := mustRestore(t, path, done.Kept) // and back again
	if back.Blind {
		t.Error("it can't see what it replaces")
	}
	wantCounts(t, path, map[string]int{"lines WHERE text = 'four'": 1, "lines WHERE text = 'five'": 0})
}

// Killed at any moment of putting a backup in place, the one or the other has the name, whole, and the next call
// does the rest.
func TestARestoreThatsKilledIsFinished(t *testing.T) {
	before, s := makeBusy(t)
	backup := filepath.Join(t.TempDir(), "b")
	if _, err := Backup(t.Context(), before, backup, BackupOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for steps := range 4 {
		path := dbPath(t)
		db := mustOpen(t, path, Options{})
		mustPut(t, db, "pb_old")
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+walSuffix, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Stage(t.Context(), path, backup); err != nil {
			t.Fatal(err)
		}
		if steps > 0 {
			if err := settle(t.Context(), path, slog.New(slog.DiscardHandler)); err != nil {
				t.Fatal(err)
			}
		}
		if steps > 1 {
			if err := os.Rename(path+stagedSuffix, path+settledSuffix); err != nil {
				t.Fatal(err)
			}
		}
		if steps > 2 {
			if err := os.Rename(path, nameAside(path, replacedSuffix)); err != nil {
				t.Fatal(err)
			}
		}
		done, err := FinishRestore(t.Context(), path, slog.New(slog.DiscardHandler))
		if err != nil || !done.Placed || done.Kept == "" {
			t.Errorf("killed behind step %d: %+v, %v", steps, done, err)
		}
		wantCounts(t, path, nothingToDo)
		wantCounts(t, done.Kept, map[string]int{"sessions": 1})
		if IsStaged(path) {
			t.Errorf("killed behind step %d: it's restored again", steps)
		}
	}
}
