package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlParties = `SELECT s.id, s.name, s.agent, s.cwd, s.state, s.reason, s.server, s.server_pid, s.server_start, s.pane, s.tmux_session,
	s.created_at, s.ended_at, s.exit_status, s.exit_signal,
	ifnull((SELECT fleet FROM fleet_members WHERE session = s.id AND NOT director), ''),
	ifnull((SELECT group_concat(fleet, ' ') FROM (SELECT fleet FROM fleet_members WHERE session = s.id AND director ORDER BY added_at, fleet)), '')
	FROM sessions s ORDER BY s.created_at, s.seq`
	// seq is the order of sending.
	sqlActivity = `SELECT s.id,
	ifnull((SELECT sent_at FROM mail WHERE sender = s.id AND kind != 'ping' ORDER BY seq DESC LIMIT 1), 0),
	ifnull((SELECT max(seen_at) FROM mail WHERE recipient = s.id), 0),
	(SELECT count(*) FROM mail WHERE recipient = s.id AND status = 'input_required' AND seen_at = 0)
	FROM sessions s`
	sqlFleets    = `SELECT name, created_at FROM fleets ORDER BY created_at, name`
	sqlAddFleet  = `INSERT INTO fleets (name, created_at) VALUES (?, ?)`
	sqlDropFleet = `DELETE FROM fleets WHERE name = ?`
	sqlHasFleet  = `SELECT count(*) FROM fleets WHERE name = ?`
	sqlMemberOf  = `SELECT fleet FROM fleet_members WHERE session = ? AND NOT director`
	sqlDirects   = `SELECT count(*) FROM fleet_members WHERE session = ? AND fleet = ? AND director`
	sqlPartsOf   = `SELECT fleet FROM fleet_members WHERE session = ? ORDER BY added_at, fleet`
	sqlAddMember = `INSERT INTO fleet_members (session, fleet, director, added_at) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET director = excluded.director`
	// Who directed a fleet stays its member, unless it's another's.
	sqlOldDirector = `DELETE FROM fleet_members WHERE fleet = ? AND director AND session IN (SELECT session FROM fleet_members WHERE NOT director)`
	sqlNoDirector  = `UPDATE fleet_members SET director = 0 WHERE fleet = ?`
	sqlDropMember  = `DELETE FROM fleet_members WHERE session = ? AND fleet = ?`
	sqlSubscribe   = `INSERT INTO subscriptions (session, subscriber) VALUES (?, ?) ON CONFLICT DO NOTHING`
	sqlUnsubscribe = `DELETE FROM subscriptions WHERE session = ? AND subscriber = ?`
	sqlSubscribers = `SELECT subscriber FROM subscriptions WHERE session = ? ORDER BY subscriber`
	readingParties = "read sessions and fleets"
)

// Parties returns all sessions with their fleets: see inbox.Store.
func (s *Inbox) Parties(ctx context.Context) (inbox.Parties, error) {
	var all inbox.Parties
	err := s.query(ctx, readingParties, sqlParties, nil, func(rows *sql.Rows) error {
		var p inbox.Party
		var created, ended int64
		var status sql.NullInt64
		var signal string
		at := &p.Pane
		var directs string
		err := rows.Scan(&p.ID, &p.Name, &p.Agent, &p.Cwd, &p.State, &p.Reason, &at.Server, &at.Identity.PID, &at.Identity.Start, &at.ID, &at.Session,
			&created, &ended, &status, &signal, &p.Fleet, &directs)
		p.Exit = exitOf(status, signal)
		p.Directs = strings.Fields(directs) // a fleet's name is one word
		p.CreatedAt, p.EndedAt = fromNanos(created), fromNanos(ended)
		all = append(all, p)
		return err
	})
	return all, err
}

// Activity adds to sessions when they were shown mail last and sent some last, and how much
// is unread.
func (s *Inbox) Activity(ctx context.Context, all inbox.Parties) error {
	type activity struct {
		sent, received int64
		unread         int
	}
	last := map[sessions.ID]activity{}
	err := s.query(ctx, "read who wrote when", sqlActivity, nil, func(rows *sql.Rows) error {
		var id sessions.ID
		var t activity
		err := rows.Scan(&id, &t.sent, &t.received, &t.unread)
		last[id] = t
		return err
	})
	for i := range all {
		t := last[all[i].ID]
		all[i].LastSent, all[i].LastReceived = fromNanos(t.sent), fromNanos(t.received)
		all[i].Unread = t.unread
	}
	return err
}

// Fleet is a fleet as it's kept.
type Fleet struct {
	Name      string
	CreatedAt time.Time
}

// Fleets returns all fleets, the oldest first.
func (s *Inbox) Fleets(ctx context.Context) ([]Fleet, error) {
	var all []Fleet
	err := s.query(ctx, "read fleets", sqlFleets, nil, func(rows *sql.Rows) error {
		var f Fleet
		var created int64
		err := rows.Scan(&f.Name, &created)
		f.CreatedAt = fromNanos(created)
		all = append(all, f)
		return err
	})
	return all, err
}

// AddFleet makes a fleet, with a director if one is given. sessions.ErrConflict if there
// is one of that name.
func (s *Inbox) AddFleet(ctx context.Context, name string, director sessions.ID, now time.Time) error {
	return s.accept(ctx, "make the fleet "+name, func(ctx context.Context, conn *sql.Conn) error {
		var n int
		if err := conn.QueryRowContext(ctx, sqlHasFleet, name).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: there's one already", sessions.ErrConflict)
		}
		if _, err := conn.ExecContext(ctx, sqlAddFleet, name, nanos(now)); err != nil {
			return err
		}
		if director == "" {
			return nil
		}
		return addMember(ctx, conn, name, director, true, now)
	})
}

// DropFleet dissolves a fleet. Its sessions, and their mail, stay.
func (s *Inbox) DropFleet(ctx context.Context, name string) error {
	return s.write(ctx, "dissolve the fleet "+name, func(ctx context.Context, conn *sql.Conn) error {
		done, err := conn.ExecContext(ctx, sqlDropFleet, name)
		if err != nil {
			return err
		}
		if n, err := done.RowsAffected(); err != nil || n > 0 {
			return err
		}
		return noFleet(name)
	})
}

// AddMember takes a session into a fleet, as its director (in place of who was) or as a
// member: sessions.ErrConflict if it's another's member, or directs this one.
func (s *Inbox) AddMember(ctx context.Context, fleet string, id sessions.ID, director bool, now time.Time) error {
	return s.accept(ctx, "take "+string(id)+" into the fleet "+fleet, func(ctx context.Context, conn *sql.Conn) error {
		return addMember(ctx, conn, fleet, id, director, now)
	})
}

func addMember(ctx context.Context, conn *sql.Conn, fleet string, id sessions.ID, director bool, now time.Time) error {
	var n int
	if err := conn.QueryRowContext(ctx, sqlHasFleet, fleet).Scan(&n); err != nil {
		return err
	}
	if n == 0 {
		return noFleet(fleet)
	}
	if director {
		for _, step := range []string{sqlOldDirector, sqlNoDirector} {
			if _, err := conn.ExecContext(ctx, step, fleet); err != nil {
				return err
			}
		}
	} else {
		if err := conn.QueryRowContext(ctx, sqlDirects, clean(id), fleet).Scan(&n); err != nil {
			return err
		}
		if n > 0 {
			return fmt.Errorf("%w: it directs the fleet, which would have no director then; `panebridge fleet add --director` gives it another", sessions.ErrConflict)
		}
		var other string
		switch err := conn.QueryRowContext(ctx, sqlMemberOf, clean(id)).Scan(&other); {
		case err == nil && other != fleet:
			return fmt.Errorf("%w: it's a member of the fleet %s; `panebridge fleet remove` takes it out there", sessions.ErrConflict, other)
		case err != nil && !errors.Is(err, sql.ErrNoRows):
			return err
		}
	}
	_, err := conn.ExecContext(ctx, sqlAddMember, clean(id), fleet, director, nanos(now))
	return err
}

func noFleet(name string) error {
	return fmt.Errorf("%w fleet %q; `panebridge fleet list` shows those there are, `panebridge fleet new` makes one", sessions.ErrUnknown, name)
}

// DropMember takes a session out of a fleet; "" is the one that it's in: ErrConflict if it's
// in several. One that's in none is no error.
func (s *Inbox) DropMember(ctx context.Context, id sessions.ID, fleet string) error {
	return s.write(ctx, "take "+string(id)+" out of its fleet", func(ctx context.Context, conn *sql.Conn) error {
		if fleet == "" {
			in, err := column[string](ctx, conn, sqlPartsOf, clean(id))
			if err != nil || len(in) == 0 {
				return err
			}
			if len(in) > 1 {
				return fmt.Errorf("%w: it's in the fleets %s; give --fleet", sessions.ErrConflict, strings.Join(in, " and "))
			}
			fleet = in[0]
		}
		_, err := conn.ExecContext(ctx, sqlDropMember, clean(id), clean(fleet))
		return err
	})
}

// Subscribe has somebody told of a session's ends of turns, questions and exits, or (off) not
// any more.
func (s *Inbox) Subscribe(ctx context.Context, id sessions.ID, who inbox.Address, off bool) error {
	query := sqlSubscribe
	if off {
		query = sqlUnsubscribe
	}
	return s.accept(ctx, "store who is told of "+string(id), func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, query, clean(id), clean(who))
		return err
	})
}

// Subscribers are those who have asked to be told of a session.
func (s *Inbox) Subscribers(ctx context.Context, id sessions.ID) (all []inbox.Address, err error) {
	err = s.query(ctx, "read who is told of "+string(id), sqlSubscribers, []any{clean(id)}, func(rows *sql.Rows) error {
		var a inbox.Address
		err := rows.Scan(&a)
		all = append(all, a)
		return err
	})
	return all, err
}

const (
	sqlShown    = `INSERT INTO mail_messages (adapter, chat, message, mail) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET mail = excluded.mail`
	sqlLetterAt = `SELECT mail FROM mail_messages WHERE adapter = ? AND chat = ? AND message = ?`
	// A pane must not get the same twice. A person may: better than not at all.
	sqlTellAgain = `UPDATE mail SET preview = 'waiting' WHERE preview = 'typing' AND recipient LIKE 'person:%'`
)

// Shown keeps which message in a chat shows a mail: see inbound.Mail.
func (s *Inbox) Shown(ctx context.Context, place adapters.Target, message, id string) error {
	return s.write(ctx, "keep which message shows "+id, func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlShown, clean(place.Adapter), clean(place.Chat), clean(message), clean(id))
		return err
	})
}

// LetterAt returns the mail that a message in a chat shows: see inbound.Mail.
func (s *Inbox) LetterAt(ctx context.Context, place adapters.Target, message string) (id string, err error) {
	err = s.query(ctx, "look for a mail by the message that shows it", sqlLetterAt, []any{clean(place.Adapter), clean(place.Chat), clean(message)}, func(rows *sql.Rows) error {
		return rows.Scan(&id)
	})
	if err == nil && id == "" {
		err = fmt.Errorf("%w message", sessions.ErrUnknown)
	}
	return id, err
}

// TellPeopleAgain has mail to people wait that was being shown when the daemon ended.
func (s *Inbox) TellPeopleAgain(ctx context.Context) error {
	return s.write(ctx, "have mail to people wait", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlTellAgain)
		return err
	})
}

// One returns a mail; sessions.ErrUnknown if there's none of that id.
func (s *Inbox) One(ctx context.Context, id string) (inbox.Mail, error) {
	all, err := s.Mail(ctx, inbox.Query{ID: id})
	if err != nil {
		return inbox.Mail{}, err
	}
	if len(all) == 0 {
		return inbox.Mail{}, fmt.Errorf("%w message %q", sessions.ErrUnknown, id)
	}
	return all[0], nil
}

// sqlKeepSettled keeps of an update that it was handled, whether it's new or waits.
const sqlKeepSettled = `INSERT INTO updates (adapter, key, kept_at, raw, tries, outcome) VALUES (?1, ?2, ?3, x'', 0, ?4)
	ON CONFLICT (adapter, key) DO UPDATE SET raw = x'', outcome = ?4 WHERE outcome = ''`

// KeepUpdates stores updates of an adapter that came while no daemon took them: its next start handles them, in this
// order, but for the one whose key is handled, which it takes for handled. What's known by its key already isn't taken
// twice, now and when the platform sends it again. When it returns nil they're on the disk, as for intake.Journal;
// after an error none is.
func (s *Inbox) KeepUpdates(ctx context.Context, adapter string, updates []intake.Update, handled string) error {
	if err := Unsound(s.path); err != nil {
		return err
	}
	adapter, now := clean(adapter), nanos(time.Now())
	keep := func(ctx context.Context, conn *sql.Conn) error {
		for _, u := range updates {
			query, last := sqlAddUpdate, any(u.Raw)
			if u.Key == handled {
				query, last = sqlKeepSettled, string(intake.Handled)
			}
			if _, err := conn.ExecContext(ctx, query, adapter, clean(u.Key), now, last); err != nil {
				return err
			}
		}
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	return s.writeAs(ctx, "keep updates of "+adapter, func(conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, "PRAGMA synchronous = FULL"); err != nil { // see durable.go
			return err
		}
		defer func() { _, _ = conn.ExecContext(ctx, "PRAGMA synchronous = NORMAL") }() // what isn't so waits longer, no more
		return s.transact(ctx, conn, keep)
	})
}
