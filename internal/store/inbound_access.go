package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/sessions"
)

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
func (s *Store) PutCode(ctx context.Context, c access.Code, most int) error {
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
func (s *Store) UseCode(ctx context.Context, hash string, u access.CodeUse) (c access.Code, err error) {
	if err := s.unsound(); err != nil {
		return access.Code{}, err
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
		return access.Code{}, s.explain("use a pairing code", err)
	}
	return c, nil
}
