package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
)

// restoredNote is what a restored database says of that, for the first start: "blind" or "seeing". See Restored.
const restoredNote = `adapter = 'panebridge' AND key = 'restored'`

// restoredReason is of the gap that stands for the numbers of lines which the database had that was replaced.
const restoredReason = "restored: a backup was put in place; lines with these numbers are in the database that it replaced, and what tmux still has of them follows"

// settling makes a restored database safe to go on with. Whatever it was about to do when it was backed up was done
// since then, so it's given up; each is a query without arguments.
var settling = []string{ //nolint:gochecknoglobals // a constant table
	// What's typed by itself.
	`UPDATE receipts SET state = 'cancelled', cause = '', reason = 'a backup was restored: whether it was typed since is unknown', open = 0 WHERE open`,
	`UPDATE mail SET preview = 'none', preview_reason = 'a backup was restored' WHERE preview IN ('waiting', 'typing')`,
	`DELETE FROM continuations`,
	// What came from chats and waits: it was taken care of.
	`UPDATE updates SET outcome = 'handled', raw = x'' WHERE outcome = ''`,
	`DELETE FROM waiting`,
	`DELETE FROM prompt_writers`,
	// What's still to be said in chats.
	`UPDATE origins SET done = 1 WHERE NOT done`,
	`DELETE FROM replies`,
	`UPDATE exhibits SET waits = 0 WHERE waits`,
	`UPDATE documents SET tail = NULL, stale = NULL, intent = NULL, doubt_line = 0, doubt_byte = 0, doubt_turn = 0, doubt_screen = 0`,
	// Codes last for minutes, and count once.
	`DELETE FROM codes`,
	`UPDATE notices SET lease = 0`,
	`DELETE FROM listeners`,
	// No number comes twice: pages, devices and agents know what had it.
	fmt.Sprintf(`UPDATE sqlite_sequence SET seq = seq + %d`, sequenceLeap),
}

// blindly is for who doesn't know what was sent and taken since the backup.
var blindly = []string{ //nolint:gochecknoglobals // a constant table
	// How far platforms were read. Without it what stands there counts as old.
	`DELETE FROM notes WHERE adapter = 'discord' AND (key = 'seen' OR key LIKE 'seen %') OR adapter = 'telegram' AND key = 'read'`,
	`UPDATE offers SET used_key = 'restored', used_at = 1 WHERE single AND used_key = ''`,
}

// carried are tables of which the database that's replaced is right: they tell of the world outside, which no backup
// brings back. What a chat has said or was told, what bots have sent, and whom somebody has shut out.
var carried = []struct{ table, rows string }{ //nolint:gochecknoglobals // a constant table
	{"slots", ""},
	{"penalties", ""},
	{"moves", ""},
	{"private_chats", ""},
	{"codes", ""},
	{"continuations", ""},
	{"listeners", ""},
	{"notes", `NOT (` + restoredNote + `)`},
	{"updates", ""},
	{"standing", `session = '' OR session IN (SELECT id FROM main.sessions)`},
	// The key by which a browser is known changes, and those that were shut out stay so.
	{"browsers", ""},
	{"push_subscriptions", ""},
	{"push_shown", ""},
}

// carriedRows is what's taken over of single rows.
var carriedRows = []string{ //nolint:gochecknoglobals // a constant table
	// An update that was being handled may have been handled.
	`UPDATE updates SET outcome = 'handled', raw = x'' WHERE outcome = '' AND tries > 0`,
	`UPDATE offers SET used_key = o.used_key, used_by = o.used_by, used_at = o.used_at FROM was.offers o WHERE o.id = offers.id AND o.used_key <> ''`,
	`DELETE FROM grants WHERE NOT EXISTS (SELECT 1 FROM was.grants g WHERE g.person = grants.person AND g.role = grants.role AND g.void = '')`,
	// Where chats have what they were shown, by which answers to it find their session.
	`UPDATE documents SET chat = o.chat, thread = o.thread
		FROM bindings b, was.bindings wb, was.documents o WHERE b.seq = documents.binding AND wb.id = b.id AND o.binding = wb.seq`,
	`DELETE FROM messages WHERE binding IN (SELECT b.seq FROM bindings b JOIN was.bindings wb ON wb.id = b.id)`,
	`INSERT OR IGNORE INTO messages (binding, n, id, from_line, to_line)
		SELECT b.seq, m.n, m.id, m.from_line, m.to_line FROM was.messages m JOIN was.bindings wb ON wb.seq = m.binding JOIN bindings b ON b.id = wb.id`,
	`DELETE FROM notices WHERE NOT EXISTS (SELECT 1 FROM was.notices n WHERE n.seq = notices.seq AND n.recipient = notices.recipient)`,
	`UPDATE mail SET status = m.status, settled_at = m.settled_at, seen_at = m.seen_at FROM was.mail m WHERE m.id = mail.id`,
	`UPDATE sqlite_sequence SET seq = max(sqlite_sequence.seq, o.seq) FROM was.sqlite_sequence o WHERE o.name = sqlite_sequence.name`,
	// Lines behind the backup's last get numbers that none has had.
	`INSERT INTO gaps (session, after, at_least, reason)
		SELECT l.session, l.head, o.head - l.head, '` + restoredReason + `'
		FROM logs l JOIN sessions s ON s.seq = l.session JOIN was.sessions ws ON ws.id = s.id JOIN was.logs o ON o.session = ws.seq WHERE o.head > l.head`,
	`UPDATE logs SET head = max(logs.head, o.head), turn = max(logs.turn, o.turn)
		FROM sessions s, was.sessions ws, was.logs o WHERE s.seq = logs.session AND ws.id = s.id AND o.session = ws.seq`,
}

// settle makes the staged backup beside the database at path safe to go on with, in one transaction. It may be done
// again.
func settle(ctx context.Context, path string, log *slog.Logger) (err error) {
	db, err := openStaged(ctx, path+stagedSuffix)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	seeing := attachReplaced(ctx, db.conn, path)
	if seeing == nil {
		seeing = settleWith(ctx, db.conn, true)
	}
	if seeing == nil {
		return nil
	}
	if _, gone := os.Lstat(path); !isGone(gone) {
		log.WarnContext(ctx, "the database that a backup replaces can't be asked what was sent and taken since", "err", seeing)
	}
	return settleWith(ctx, db.conn, false)
}

// attachReplaced lets a connection read the database that's to be replaced, as "was".
func attachReplaced(ctx context.Context, conn *sql.Conn, path string) error {
	if _, err := os.Lstat(path); err != nil {
		return err
	}
	if err := errors.Join(checkFiles(path), Unsound(path)); err != nil {
		return err
	}
	name, err := dsn(path)
	if err != nil {
		return err
	}
	name, _, _ = strings.Cut(name, "?")
	if _, err := conn.ExecContext(ctx, "ATTACH ? AS was", name+"?mode=rw"); err != nil {
		return err
	}
	var schema int
	if err := conn.QueryRowContext(ctx, "PRAGMA was.user_version").Scan(&schema); err != nil {
		return err
	}
	if schema == 0 {
		return ErrNoBackup
	}
	return nil
}

// settleWith settles with what "was" has, or without it.
func settleWith(ctx context.Context, conn *sql.Conn, seeing bool) (err error) {
	if _, err := conn.ExecContext(ctx, "BEGIN IMMEDIATE"); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_, _ = conn.ExecContext(context.WithoutCancel(ctx), "ROLLBACK") // the error says more
		}
	}()
	queries := append([]string{}, settling...)
	note := "blind"
	if seeing {
		note = "seeing"
		carrying, err := carryingQueries(ctx, conn)
		if err != nil {
			return err
		}
		queries = append(append(queries, carrying...), carriedRows...)
	} else {
		queries = append(queries, blindly...)
	}
	queries = append(queries,
		`UPDATE documents SET shown_line = l.head + 1, shown_byte = 0, turn = max(documents.turn, l.turn), announced = max(documents.announced, l.head)
			FROM bindings b, sessions s, logs l WHERE b.seq = documents.binding AND s.id = b.session AND l.session = s.seq`,
		`INSERT OR REPLACE INTO notes (adapter, key, value) VALUES ('panebridge', 'restored', '`+note+`')`,
		"COMMIT")
	for _, query := range queries {
		if _, err := conn.ExecContext(ctx, query); err != nil {
			return fmt.Errorf("%.60s…: %w", query, err)
		}
	}
	return nil
}

// carryingQueries are those that take tables over. A column that either doesn't have, of another version, is left out.
func carryingQueries(ctx context.Context, conn *sql.Conn) (queries []string, err error) {
	for _, c := range carried {
		columns, err := column[string](ctx, conn, `SELECT format('"%w"', m.name) FROM pragma_table_info(?1, 'main') m JOIN pragma_table_info(?1, 'was') w ON w.name = m.name ORDER BY m.cid`, c.table)
		if err != nil {
			return nil, err
		}
		if len(columns) == 0 {
			return nil, fmt.Errorf("it has no table %s", c.table)
		}
		all, where := strings.Join(columns, ", "), ""
		if c.rows != "" {
			where = " WHERE " + c.rows
		}
		queries = append(queries,
			fmt.Sprintf(`DELETE FROM main.%s%s`, c.table, where),
			fmt.Sprintf(`INSERT OR IGNORE INTO main.%s (%s) SELECT %[2]s FROM was.%[1]s%[3]s`, c.table, all, where))
	}
	return queries, nil
}

// isBlind reads the note of a settled database.
func isBlind(ctx context.Context, path string) (blind bool, err error) {
	name, err := dsn(path, "query_only(1)")
	if err != nil {
		return false, err
	}
	db, err := openSingle(ctx, name+"&mode=ro")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	notes, err := column[string](ctx, db.conn, `SELECT value FROM notes WHERE `+restoredNote)
	return len(notes) > 0 && notes[0] == "blind", err
}

// IsRestored reports whether the database was restored from a backup and HandledRestore wasn't called since. Blind is
// Restored.Blind.
func (s *Store) IsRestored(ctx context.Context) (restored, blind bool, err error) {
	notes, err := list(ctx, s, "read whether a backup was restored", func(row *sql.Rows) (value string, err error) {
		return value, row.Scan(&value)
	}, `SELECT value FROM notes WHERE `+restoredNote)
	return len(notes) > 0, len(notes) > 0 && notes[0] == "blind", err
}

// HandledRestore says that what had to be heeded after a restore was.
func (s *Store) HandledRestore(ctx context.Context) error {
	return s.exec1(ctx, "store that a restore is over", `DELETE FROM notes WHERE `+restoredNote)
}
