package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/inbound"
	"github.com/panebridge/panebridge/sessions"
)

// What people do in chats is rare beside what sessions print. So its statements
// aren't prepared ahead: each costs some 20 µs more.

var _ inbound.Store = (*Store)(nil)

const (
	keepWaiting = 8 * 24 * time.Hour  // longer than the offers that lead to it
	keepOrigins = 7 * 24 * time.Hour  // that are done: for edits of their messages
	loseOrigins = 30 * 24 * time.Hour // that never were done
	keepReplies = 24 * time.Hour      // nobody waits longer for an answer
)

// exec1 writes by one statement of its own.
func (s *Store) exec1(ctx context.Context, doing, query string, args ...any) error {
	err := s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(ctx, query, args...)
		return err
	})
	return s.explain(doing, err)
}

// accept is exec1 for something new: see unsound.
func (s *Store) accept(ctx context.Context, doing, query string, args ...any) error {
	if err := s.unsound(); err != nil {
		return err
	}
	return s.exec1(ctx, doing, query, args...)
}

// list reads rows.
func list[T any](ctx context.Context, s *Store, doing string, scan func(row *sql.Rows) (T, error), query string, args ...any) (all []T, err error) {
	r := s.reader()
	defer func() { err = r.explain(doing, err) }()
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		x, err := scan(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, rows.Err()
}

// unknown is what it means that there's no row.
func unknown(err error) error {
	if errors.Is(err, sql.ErrNoRows) {
		return sessions.ErrUnknown
	}
	return err
}

// MessageSession returns the session that a message shows: see inbound.Store.
func (s *Store) MessageSession(ctx context.Context, adapter, chat, message string) (sessions.ID, error) {
	m, err := s.SentMessage(ctx, adapter, chat, message)
	return m.Session, err
}

// MoveChat has all that's kept for a chat follow it: see inbound.Store. Numbers of messages are
// those of the chat that's gone, and forgotten.
func (s *Store) MoveChat(ctx context.Context, adapter, from, to string) error {
	err := s.write.queue.do(ctx, 10, func(ctx context.Context) error {
		for _, query := range []string{
			`UPDATE offers SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE origins SET chat = ?3, message = '', reply = '', told = CASE told WHEN 'held' THEN '' ELSE told END WHERE adapter = ?1 AND chat = ?2 AND NOT done`,
			`UPDATE OR IGNORE preferences SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE OR IGNORE prompt_messages SET chat = ?3, message = '', shows = '' WHERE adapter = ?1 AND chat = ?2`,
			`DELETE FROM prompt_messages WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE OR IGNORE prompt_writers SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE OR IGNORE missed SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`UPDATE grants SET chat = ?3 WHERE adapter = ?1 AND chat = ?2`,
			`DELETE FROM standing WHERE adapter = ?1 AND chat = ?2`,
		} {
			if _, err := s.write.conn.ExecContext(ctx, query, clean(adapter), clean(from), clean(to)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("have chat "+from+" follow to "+to, err)
}

// Followed says whether everything has followed a chat: see inbound.Store.
func (s *Store) Followed(ctx context.Context, m adapters.Move) (bool, error) {
	all, err := list(ctx, s, "read whether a chat was followed", func(row *sql.Rows) (followed bool, err error) {
		err = row.Scan(&followed)
		return followed, err
	}, `SELECT followed FROM moves WHERE adapter = ? AND from_chat = ? AND to_chat = ?`, clean(m.Adapter), clean(m.From), clean(m.To))
	return len(all) > 0 && all[0], err
}

// PutFollowed keeps that everything has followed a chat: see inbound.Store.
func (s *Store) PutFollowed(ctx context.Context, m adapters.Move) error {
	return s.exec1(ctx, "store that a chat was followed", `INSERT INTO moves (adapter, from_chat, to_chat, followed) VALUES (?, ?, ?, 1)
	ON CONFLICT (adapter, from_chat) DO UPDATE SET to_chat = excluded.to_chat, followed = 1`, clean(m.Adapter), clean(m.From), clean(m.To))
}

// ForgetInbound drops what has expired: see inbound.Store.
func (s *Store) ForgetInbound(ctx context.Context, before time.Time) error {
	err := s.write.queue.do(ctx, 100, func(ctx context.Context) error {
		for _, d := range []struct {
			query string
			than  time.Time
		}{
			{`DELETE FROM offers WHERE expires_at < ?`, before},
			{`DELETE FROM codes WHERE expires_at < ?`, before},
			{`DELETE FROM waiting WHERE kept_at < ?`, before.Add(-keepWaiting)},
			{`DELETE FROM origins WHERE done AND at < ?`, before.Add(-keepOrigins)},
			{`DELETE FROM origins WHERE at < ?`, before.Add(-loseOrigins)},
			{`DELETE FROM prompt_messages WHERE closed AND at < ?`, before.Add(-keepPromptMessages)},
			{`DELETE FROM prompt_messages WHERE at < ? AND prompt NOT IN (SELECT id FROM prompts WHERE open UNION SELECT id FROM inquiries WHERE open)`, before.Add(-loseOrigins)},
			{`DELETE FROM prompt_writers WHERE expires < ?`, before},
			{`DELETE FROM missed WHERE at < ?`, before.Add(-loseOrigins)},
			{`DELETE FROM replies WHERE at < ?`, before.Add(-keepReplies)},
		} {
			if _, err := s.write.conn.ExecContext(ctx, d.query, nanos(d.than)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("forget what has expired", err)
}

const sqlPutChat = `INSERT INTO chats (adapter, chat, by, at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`

// Grants returns what pairing gave: see access.Store.
func (s *Store) Grants(ctx context.Context) ([]access.Grant, error) {
	return list(ctx, s, "read what pairing gave", func(row *sql.Rows) (g access.Grant, err error) {
		var at, checked, used int64
		err = row.Scan(&g.Person, &g.Name, &g.Role, &g.By, &at, &g.Chat.Adapter, &g.Chat.Chat, &checked, &used, &g.Void)
		g.At, g.Checked, g.Used = fromNanos(at), fromNanos(checked), fromNanos(used)
		return g, err
	}, `SELECT person, name, role, by, at, adapter, chat, checked_at, used_at, void FROM grants ORDER BY at, person, role`)
}

const sqlPutGrant = `INSERT INTO grants (person, role, name, by, at, adapter, chat, checked_at, used_at, void) VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, '')
	ON CONFLICT DO UPDATE SET name = excluded.name, by = excluded.by, at = excluded.at, adapter = excluded.adapter, chat = excluded.chat, checked_at = excluded.checked_at, void = ''`

func grantArgs(g access.Grant) []any {
	return []any{clean(g.Person), clean(g.Role), clean(g.Name), clean(g.By), nanos(g.At), clean(g.Chat.Adapter), clean(g.Chat.Chat), nanos(g.Checked)}
}

// PutGrant gives a person a role: see access.Store.
func (s *Store) PutGrant(ctx context.Context, g access.Grant) error {
	return s.accept(ctx, "store what a person was given", sqlPutGrant, grantArgs(g)...)
}

// DropGrants takes back what a person was given: see access.Store.
func (s *Store) DropGrants(ctx context.Context, person string, role access.Role) error {
	return s.exec1(ctx, "drop what a person was given", `DELETE FROM grants WHERE person = ?1 AND (role = ?2 OR ?2 = '')`, clean(person), clean(role))
}

// VoidGrants ends what a group gave to a person: see access.Store.
func (s *Store) VoidGrants(ctx context.Context, person string, group adapters.Target, why string) error {
	return s.exec1(
		ctx, "void what a group gave", `UPDATE grants SET void = ? WHERE person = ? AND adapter = ? AND chat = ? AND void = ''`,
		clean(why), clean(person), clean(group.Adapter), clean(group.Chat),
	)
}

// UseGrants notes when a person did something last: see access.Store.
func (s *Store) UseGrants(ctx context.Context, person string, at time.Time) error {
	return s.exec1(ctx, "store when access was used", `UPDATE grants SET used_at = ? WHERE person = ?`, nanos(at), clean(person))
}

// CheckGrants notes when a person was seen in a group last: see access.Store.
func (s *Store) CheckGrants(ctx context.Context, person string, group adapters.Target, at time.Time) error {
	return s.exec1(
		ctx, "store when a person was seen in a group", `UPDATE grants SET checked_at = ? WHERE person = ? AND adapter = ? AND chat = ?`,
		nanos(at), clean(person), clean(group.Adapter), clean(group.Chat),
	)
}

// PrivateChats returns whose private chats are whose: see access.Store.
func (s *Store) PrivateChats(ctx context.Context) (map[adapters.Target]string, error) {
	type owned struct {
		chat   adapters.Target
		person string
	}
	all, err := list(ctx, s, "read private chats", func(row *sql.Rows) (o owned, err error) {
		return o, row.Scan(&o.chat.Adapter, &o.chat.Chat, &o.person)
	}, `SELECT adapter, chat, person FROM private_chats`)
	out := map[adapters.Target]string{}
	for _, o := range all {
		out[o.chat] = o.person
	}
	return out, err
}

// PutPrivateChat says whose private chat one is: see access.Store.
func (s *Store) PutPrivateChat(ctx context.Context, chat adapters.Target, person string) error {
	return s.accept(
		ctx, "store whose private chat one is", `INSERT INTO private_chats (adapter, chat, person) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET person = excluded.person`,
		clean(chat.Adapter), clean(chat.Chat), clean(person),
	)
}

// Chats returns the chats that were paired or adopted: see access.Store.
func (s *Store) Chats(ctx context.Context) ([]adapters.Target, error) {
	return list(ctx, s, "read known chats", func(row *sql.Rows) (t adapters.Target, err error) {
		return t, row.Scan(&t.Adapter, &t.Chat)
	}, `SELECT adapter, chat FROM chats ORDER BY at, adapter, chat`)
}

// PutChat makes a chat known: see access.Store.
func (s *Store) PutChat(ctx context.Context, chat adapters.Target, by string, at time.Time) error {
	return s.accept(ctx, "store chat "+chat.String(), sqlPutChat, clean(chat.Adapter), clean(chat.Chat), clean(by), nanos(at))
}

// PutCode keeps a pairing code: see access.Store.
func (s *Store) PutCode(ctx context.Context, c access.PairingCode, most int) error {
	if err := s.unsound(); err != nil {
		return err
	}
	err := s.write.queue.do(ctx, 2, func(ctx context.Context) error {
		conn := s.write.conn
		if _, err := conn.ExecContext(ctx, `DELETE FROM codes WHERE expires_at <= ?`, nanos(time.Now())); err != nil {
			return err
		}
		var n int
		if err := conn.QueryRowContext(ctx, `SELECT count(*) FROM codes WHERE used_key = ''`).Scan(&n); err != nil {
			return err
		}
		if n >= most {
			return fmt.Errorf("%w: %d codes wait to be used already; use one, or wait until they've expired", sessions.ErrConflict, n)
		}
		_, err := conn.ExecContext(ctx, `INSERT INTO codes (hash, role, by, expires_at) VALUES (?, ?, ?, ?)`, clean(c.Hash), clean(c.Role), clean(c.By), nanos(c.Expires))
		return err
	})
	return s.explain("store a pairing code", err)
}

// UseCode uses a pairing code up: see access.Store.
func (s *Store) UseCode(ctx context.Context, hash string, u access.CodeUse) (c access.PairingCode, err error) {
	if err := s.unsound(); err != nil {
		return access.PairingCode{}, err
	}
	err = s.write.queue.do(ctx, 3, func(ctx context.Context) error {
		conn := s.write.conn
		var expires int64
		var used string
		row := conn.QueryRowContext(ctx, `SELECT hash, role, by, expires_at, used_key FROM codes WHERE hash = ?`, clean(hash))
		if err := row.Scan(&c.Hash, &c.Role, &c.By, &expires, &used); err != nil {
			return unknown(err)
		}
		c.Expires = fromNanos(expires)
		switch {
		case used == clean(u.Key):
			return nil // it has it
		case used != "", !u.At.Before(c.Expires):
			return sessions.ErrUnknown
		}
		_, err1 := conn.ExecContext(ctx, `UPDATE codes SET used_key = ? WHERE hash = ?`, clean(u.Key), c.Hash)
		_, err2 := conn.ExecContext(ctx, sqlPutGrant, grantArgs(u.Grant(c))...)
		var err3 error
		if u.Chat != (adapters.Target{}) {
			_, err3 = conn.ExecContext(ctx, sqlPutChat, clean(u.Chat.Adapter), clean(u.Chat.Chat), clean(u.Person.ID), nanos(u.At))
		}
		return errors.Join(err1, err2, err3)
	})
	if err != nil {
		return access.PairingCode{}, s.explain("use a pairing code", err)
	}
	return c, nil
}

const (
	keptEntries  = 100_000 // of the audit log, some 20 MB
	entryColumns = `key, at, adapter, chat, thread, person, name, kind, what, session, bytes, hash, outcome`
)

// BeginEntry adds an entry to the audit log: see inbound.AuditStore.
func (s *Store) BeginEntry(ctx context.Context, e inbound.AuditEntry) (before *inbound.AuditEntry, err error) {
	err = s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		before = nil
		conn := s.write.conn
		row := conn.QueryRowContext(ctx, `SELECT `+entryColumns+` FROM audit WHERE key = ?`, clean(e.Key))
		was, err := scanEntry(row)
		if err == nil {
			before = &was
			return nil
		}
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		var seq int64
		err = conn.QueryRowContext(
			ctx, `INSERT INTO audit (`+entryColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, '') RETURNING seq`,
			clean(e.Key), nanos(e.At), clean(e.Place.Adapter), clean(e.Place.Chat), clean(e.Place.Thread), clean(e.Person), clean(e.Name),
			clean(e.Kind), clean(e.What), clean(e.Session), e.Bytes, clean(e.Hash),
		).Scan(&seq)
		if err != nil || seq%100 != 0 {
			return err
		}
		_, err = conn.ExecContext(ctx, `DELETE FROM audit WHERE seq <= ?`, seq-keptEntries)
		return err
	})
	return before, s.explain("begin an entry of the audit log", err)
}

// EndEntry fills in what became of an input: see inbound.AuditStore.
func (s *Store) EndEntry(ctx context.Context, e inbound.AuditEntry, replies []cards.StoredReply) error {
	err := s.write.queue.do(ctx, 1+len(replies), func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(
			ctx, `UPDATE audit SET what = ?, session = ?, outcome = ? WHERE key = ?`,
			clean(e.What), clean(e.Session), clean(e.Outcome), clean(e.Key),
		)
		for _, r := range replies {
			if err != nil {
				return err
			}
			_, err = s.write.conn.ExecContext(ctx, `INSERT INTO replies (id, session, at, post) VALUES (?, ?, ?, ?)`, r.ID, clean(r.Session), nanos(r.At), r.Post)
		}
		return err
	})
	return s.explain("end an entry of the audit log", err)
}

// Replies returns the answers that weren't dropped: see cards.ReplyStore.
func (s *Store) Replies(ctx context.Context) ([]cards.StoredReply, error) {
	return list(ctx, s, "read the answers that nobody has seen", func(row *sql.Rows) (r cards.StoredReply, err error) {
		var at int64
		err = row.Scan(&r.ID, &r.Session, &at, &r.Post)
		r.At = fromNanos(at)
		return r, err
	}, `SELECT id, session, at, post FROM replies ORDER BY seq`)
}

// DropReplies drops answers: see cards.ReplyStore.
func (s *Store) DropReplies(ctx context.Context, ids []string) error {
	err := s.write.queue.do(ctx, len(ids), func(ctx context.Context) error {
		for _, id := range ids {
			if _, err := s.write.conn.ExecContext(ctx, `DELETE FROM replies WHERE id = ?`, clean(id)); err != nil {
				return err
			}
		}
		return nil
	})
	return s.explain("drop answers that were seen", err)
}

// AuditEntries returns the newest entries: see inbound.AuditStore.
func (s *Store) AuditEntries(ctx context.Context, limit int) ([]inbound.AuditEntry, error) {
	return list(ctx, s, "read the audit log", func(row *sql.Rows) (inbound.AuditEntry, error) { return scanEntry(row) },
		`SELECT `+entryColumns+` FROM audit ORDER BY seq DESC LIMIT ?`, limit)
}

// Visits returns who has done something where: see inbound.AuditStore.
func (s *Store) Visits(ctx context.Context, since time.Time) ([]access.Visit, error) {
	return list(ctx, s, "read who uses places", func(row *sql.Rows) (u access.Visit, err error) {
		var at int64
		err = row.Scan(&u.Place.Adapter, &u.Place.Chat, &u.Place.Thread, &u.Person.ID, &u.Person.Name, &at)
		u.At = fromNanos(at)
		return u, err
	}, `SELECT adapter, chat, thread, person, name, max(at) FROM audit WHERE at >= ? AND person <> '' AND chat <> ''
		GROUP BY adapter, chat, thread, person ORDER BY max(at)`, nanos(since))
}

func scanEntry(row interface{ Scan(into ...any) error }) (e inbound.AuditEntry, err error) {
	var at int64
	err = row.Scan(
		&e.Key, &at, &e.Place.Adapter, &e.Place.Chat, &e.Place.Thread, &e.Person, &e.Name, &e.Kind, &e.What, &e.Session,
		&e.Bytes, &e.Hash, &e.Outcome,
	)
	e.At = fromNanos(at)
	return e, err
}
