package store

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/sessions"
)

const (
	mailColumns   = `id, kind, sender, sender_name, recipient, recipient_name, fleet, text, status, sent_at, settled_at, preview, preview_reason, seen_at`
	sqlAddMail    = `INSERT INTO mail (` + mailColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	sqlMail       = `SELECT ` + mailColumns + ` FROM mail WHERE `
	sqlSetMail    = `UPDATE mail SET status = ?, settled_at = ?, preview = ?, preview_reason = ? WHERE id = ?`
	sqlDropPings  = `DELETE FROM mail WHERE recipient = ? AND kind = 'ping' AND preview NOT IN ('waiting', 'typing')`
	sqlWaiting    = `SELECT ` + mailColumns + ` FROM mail WHERE recipient = ? AND preview = 'waiting' ORDER BY seq`
	sqlLeft       = `SELECT ` + mailColumns + ` FROM mail WHERE recipient = ? AND preview = 'typing' ORDER BY seq`
	sqlHold       = `UPDATE mail SET preview_reason = ? WHERE recipient = ? AND preview = 'waiting' AND preview_reason != ?`
	sqlPreview    = `UPDATE mail SET preview = ?, preview_reason = ? WHERE id = ?`
	sqlTyped      = `UPDATE mail SET seen_at = ? WHERE id = ? AND seen_at = 0 AND kind != 'ping'`
	sqlSee        = `UPDATE mail SET preview = ?, preview_reason = ?, seen_at = ? WHERE id = ?`
	sqlAwaits     = `SELECT EXISTS (SELECT 1 FROM mail WHERE recipient = ? AND preview IN ('waiting', 'typing'))`
	sqlWaitingFor = `SELECT DISTINCT recipient FROM mail WHERE preview IN ('waiting', 'typing')`
)

// AddMail stores mails together: see inbox.Store.
func (s *Inbox) AddMail(ctx context.Context, mails []inbox.Mail) error {
	return s.accept(ctx, "store the message", func(ctx context.Context, conn *sql.Conn) error {
		for i := range mails {
			if err := addMail(ctx, conn, &mails[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

func addMail(ctx context.Context, conn *sql.Conn, m *inbox.Mail) error {
	_, err := conn.ExecContext(ctx, sqlAddMail, m.ID, m.Kind, clean(m.From), clean(m.FromName), clean(m.To), clean(m.ToName), clean(m.Fleet),
		clean(m.Text), m.Status, nanos(m.SentAt), nanos(m.SettledAt), m.Preview, clean(m.Why), nanos(m.SeenAt))
	if isUnique(err) {
		return fmt.Errorf("%w: %s was sent before", sessions.ErrConflict, m.ID)
	}
	return err
}

// AddPing stores a ping, if none waits for the same recipient: see inbox.Store.
func (s *Inbox) AddPing(ctx context.Context, ping inbox.Mail) (kept inbox.Mail, err error) {
	err = s.accept(ctx, "store the ping", func(ctx context.Context, conn *sql.Conn) error {
		if _, err := conn.ExecContext(ctx, sqlDropPings, clean(ping.To)); err != nil {
			return err
		}
		kept, err = scanMail(conn.QueryRowContext(ctx, sqlMail+"recipient = ? AND kind = 'ping' AND preview = 'waiting'", clean(ping.To)))
		if !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		kept = ping
		return addMail(ctx, conn, &ping)
	})
	return kept, err
}

// scanMail reads one row of mailColumns.
func scanMail(row interface{ Scan(into ...any) error }) (m inbox.Mail, err error) {
	var sent, settled, seen int64
	err = row.Scan(&m.ID, &m.Kind, &m.From, &m.FromName, &m.To, &m.ToName, &m.Fleet, &m.Text, &m.Status, &sent, &settled, &m.Preview, &m.Why, &seen)
	m.SentAt, m.SettledAt, m.SeenAt = fromNanos(sent), fromNanos(settled), fromNanos(seen)
	return m, err
}

// Mail returns those of a query, the newest first: see inbox.Store.
func (s *Inbox) Mail(ctx context.Context, q inbox.Query) ([]inbox.Mail, error) {
	where, args := []string{"TRUE"}, []any{}
	for condition, value := range map[string]string{
		"id = ?": q.ID, "recipient = ?": string(q.To), "sender = ?": string(q.From), "status = ?": string(q.Status), "kind = ?": string(q.Kind),
	} {
		if value != "" {
			where, args = append(where, condition), append(args, value)
		}
	}
	if !q.Since.IsZero() {
		where, args = append(where, "sent_at >= ?"), append(args, nanos(q.Since))
	}
	limit := q.Limit
	if limit <= 0 {
		limit = -1
	}
	all := []inbox.Mail{}
	err := s.query(ctx, "read mail", sqlMail+strings.Join(where, " AND ")+" ORDER BY seq DESC LIMIT ?", append(args, limit), func(rows *sql.Rows) error {
		m, err := scanMail(rows)
		all = append(all, m)
		return err
	})
	return all, err
}

// ChangeMail changes a mail's state: see inbox.Store.
func (s *Inbox) ChangeMail(ctx context.Context, id string, change func(*inbox.Mail) error) (m inbox.Mail, err error) {
	err = s.write(ctx, "settle "+id, func(ctx context.Context, conn *sql.Conn) (err error) {
		m, err = scanMail(conn.QueryRowContext(ctx, sqlMail+"id = ?", clean(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("%w message %q; `panebridge poll --status all` shows those there are", sessions.ErrUnknown, id)
		}
		if err != nil {
			return err
		}
		if err := change(&m); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, sqlSetMail, m.Status, nanos(m.SettledAt), m.Preview, clean(m.Why), m.ID)
		return err
	})
	return m, err
}

// ReturnMail changes a mail and stores what's told of that: see inbox.Store.
func (s *Inbox) ReturnMail(ctx context.Context, id string, change func(*inbox.Mail) inbox.Mail) error {
	return s.write(ctx, "return "+id, func(ctx context.Context, conn *sql.Conn) error {
		m, err := scanMail(conn.QueryRowContext(ctx, sqlMail+"id = ?", clean(id)))
		if errors.Is(err, sql.ErrNoRows) {
			return nil // it was forgotten with its session
		}
		if err != nil {
			return err
		}
		told := change(&m)
		if _, err := conn.ExecContext(ctx, sqlSetMail, m.Status, nanos(m.SettledAt), m.Preview, clean(m.Why), m.ID); err != nil || told.ID == "" {
			return err
		}
		return addMail(ctx, conn, &told)
	})
}

// TakePreviews marks waiting previews as being typed: see inbox.Store.
func (s *Inbox) TakePreviews(ctx context.Context, to inbox.Address) (taken []inbox.Mail, err error) {
	err = s.write(ctx, "take previews", func(ctx context.Context, conn *sql.Conn) error {
		if taken, err = waitingFor(ctx, conn, to); err != nil {
			return err
		}
		for i := range taken {
			if _, err := conn.ExecContext(ctx, sqlPreview, inbox.PreviewTyping, "", taken[i].ID); err != nil {
				return err
			}
		}
		return nil
	})
	return taken, err
}

// waitingFor reads the mails whose previews wait for a recipient, the oldest first.
func waitingFor(ctx context.Context, conn *sql.Conn, to inbox.Address) (all []inbox.Mail, err error) {
	rows, err := conn.QueryContext(ctx, sqlWaiting, clean(to))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		m, err := scanMail(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, rows.Err()
}

// SetPreviews says what became of previews: see inbox.Store.
func (s *Inbox) SetPreviews(ctx context.Context, ids []string, p inbox.PreviewState, why string) error {
	return s.write(ctx, "store what became of previews", func(ctx context.Context, conn *sql.Conn) error {
		for _, id := range ids {
			if _, err := conn.ExecContext(ctx, sqlPreview, p, clean(why), id); err != nil {
				return err
			}
			if p != inbox.PreviewTyped {
				continue
			}
			if _, err := conn.ExecContext(ctx, sqlTyped, nanos(time.Now()), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// SeeMail says that mails were polled: see inbox.Store.
func (s *Inbox) SeeMail(ctx context.Context, ids []string, now time.Time) error {
	return s.write(ctx, "store what was polled", func(ctx context.Context, conn *sql.Conn) error {
		for _, id := range ids {
			m, err := scanMail(conn.QueryRowContext(ctx, sqlMail+"id = ?", id))
			if errors.Is(err, sql.ErrNoRows) || err == nil && !m.See(now) {
				continue // it was forgotten, or somebody else polled at the same time
			}
			if err != nil {
				return err
			}
			if _, err := conn.ExecContext(ctx, sqlSee, m.Preview, clean(m.Why), nanos(m.SeenAt), id); err != nil {
				return err
			}
		}
		return nil
	})
}

// LeftPreviews returns those whose typing was cut off: see inbox.Store.
func (s *Inbox) LeftPreviews(ctx context.Context, to inbox.Address) (all []inbox.Mail, err error) {
	err = s.query(ctx, "read previews that were being typed", sqlLeft, []any{clean(to)}, func(rows *sql.Rows) error {
		m, err := scanMail(rows)
		all = append(all, m)
		return err
	})
	return all, err
}

// HoldPreviews says why previews wait: see inbox.Store.
func (s *Inbox) HoldPreviews(ctx context.Context, to inbox.Address, why string) error {
	return s.write(ctx, "store why previews wait", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlHold, clean(why), clean(to), clean(why))
		return err
	})
}

// AwaitedBy returns for whom previews wait, or were being typed.
func (s *Inbox) AwaitedBy(ctx context.Context) (all []inbox.Address, err error) {
	err = s.query(ctx, "read who has previews waiting", sqlWaitingFor, nil, func(rows *sql.Rows) error {
		var a inbox.Address
		err := rows.Scan(&a)
		all = append(all, a)
		return err
	})
	return all, err
}

// Awaits says whether previews wait for somebody, or were being typed.
func (s *Inbox) Awaits(ctx context.Context, to inbox.Address) (some bool, err error) {
	err = s.query(ctx, "look for previews", sqlAwaits, []any{clean(to)}, func(rows *sql.Rows) error { return rows.Scan(&some) })
	return some, err
}

const (
	sqlAddNotice   = `INSERT INTO notices (recipient, at, sender, session, type, text) VALUES (?, ?, ?, ?, ?, ?)`
	sqlBells       = `SELECT bell FROM listeners WHERE session = ?1 OR (common AND ?1 = '')`
	sqlAnyNotice   = `SELECT EXISTS (SELECT 1 FROM notices WHERE recipient = ?1 AND lease = 0) OR (?2 AND EXISTS (SELECT 1 FROM notices WHERE recipient = '' AND lease = 0))`
	sqlTakeNotices = `UPDATE notices SET lease = ?1 WHERE seq IN (
	SELECT seq FROM notices WHERE lease = 0 AND (recipient = ?2 OR (?3 AND recipient = '')) ORDER BY seq LIMIT ?4 + 0)
	RETURNING seq, recipient, at, sender, type, text, redelivered`
	sqlDropNotices  = `DELETE FROM notices WHERE lease = ? AND seq <= ?`
	sqlAddListener  = `INSERT INTO listeners (session, common, pid, started, bell) VALUES (?, ?, ?, ?, ?) RETURNING id`
	sqlListeners    = `SELECT id, session, common, pid, started, bell FROM listeners ORDER BY id`
	sqlFreeNotices  = `UPDATE notices SET lease = 0, redelivered = 1 WHERE lease = ?`
	sqlDropListener = `DELETE FROM listeners WHERE id = ?`
)

// AddNotice stores a notice and returns the bells of those who listen for it: see
// inbox.NoticeStore.
func (s *Inbox) AddNotice(ctx context.Context, n inbox.Notice) (bells []string, err error) {
	err = s.accept(ctx, "store the notice", func(ctx context.Context, conn *sql.Conn) error {
		bells = nil
		if _, err := conn.ExecContext(ctx, sqlAddNotice, clean(n.To), nanos(n.At), clean(n.From), clean(n.Session), clean(n.Type), clean(n.Msg)); err != nil {
			return err
		}
		rows, err := conn.QueryContext(ctx, sqlBells, clean(n.To))
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var bell string
			if err := rows.Scan(&bell); err != nil {
				return err
			}
			bells = append(bells, bell)
		}
		return rows.Err()
	})
	return bells, err
}

// AnyNotice says whether there's something for a listener to take: see inbox.NoticeStore.
func (s *Inbox) AnyNotice(ctx context.Context, l inbox.Listener) (found bool, err error) {
	err = s.query(ctx, "look for notices", sqlAnyNotice, []any{clean(l.Session), l.Common}, func(rows *sql.Rows) error { return rows.Scan(&found) })
	return found, err
}

// TakeNotices gives a listener the lease of notices that are free: see inbox.NoticeStore.
func (s *Inbox) TakeNotices(ctx context.Context, l inbox.Listener, limit int) (taken []inbox.Notice, err error) {
	err = s.write(ctx, "take notices", func(ctx context.Context, conn *sql.Conn) error {
		taken = nil
		rows, err := conn.QueryContext(ctx, sqlTakeNotices, l.ID, clean(l.Session), l.Common, limit)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var n inbox.Notice
			var at int64
			if err := rows.Scan(&n.Seq, &n.To, &at, &n.From, &n.Type, &n.Msg, &n.Redelivered); err != nil {
				return err
			}
			n.At = fromNanos(at)
			taken = append(taken, n)
		}
		return rows.Err()
	})
	slices.SortFunc(taken, func(a, b inbox.Notice) int { return cmp.Compare(a.Seq, b.Seq) })
	return taken, err
}

// DropNotices deletes what a listener has printed: see inbox.NoticeStore.
func (s *Inbox) DropNotices(ctx context.Context, listener, last int64) error {
	return s.write(ctx, "delete notices that were printed", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlDropNotices, listener, last)
		return err
	})
}

// AddListener takes in a listener, and gives it an id: see inbox.NoticeStore.
func (s *Inbox) AddListener(ctx context.Context, l inbox.Listener) (id int64, err error) {
	err = s.write(ctx, "begin to listen", func(ctx context.Context, conn *sql.Conn) error {
		return conn.QueryRowContext(ctx, sqlAddListener, clean(l.Session), l.Common, l.Process.PID, l.Process.Started, l.Bell).Scan(&id)
	})
	return id, err
}

// Listeners returns all listeners, those that have died included: see inbox.NoticeStore.
func (s *Inbox) Listeners(ctx context.Context) (all []inbox.Listener, err error) {
	err = s.query(ctx, "read who listens", sqlListeners, nil, func(rows *sql.Rows) error {
		var l inbox.Listener
		err := rows.Scan(&l.ID, &l.Session, &l.Common, &l.Process.PID, &l.Process.Started, &l.Bell)
		all = append(all, l)
		return err
	})
	return all, err
}

// DropListener takes a listener away and frees what it held: see inbox.NoticeStore.
func (s *Inbox) DropListener(ctx context.Context, id int64) (freed int64, err error) {
	err = s.write(ctx, "end listening", func(ctx context.Context, conn *sql.Conn) error {
		done, err := conn.ExecContext(ctx, sqlFreeNotices, id)
		if err != nil {
			return err
		}
		if freed, err = done.RowsAffected(); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, sqlDropListener, id)
		return err
	})
	return freed, err
}

// Undelivered returns how many notices are there that haven't been printed.
func (s *Inbox) Undelivered(ctx context.Context) (n int, err error) {
	err = s.query(ctx, "count notices", `SELECT count(*) FROM notices`, nil, func(rows *sql.Rows) error { return rows.Scan(&n) })
	return n, err
}

const (
	sqlReminders   = `SELECT session, conversation, reminded_at FROM reminders`
	sqlPutReminder = `INSERT INTO reminders (session, conversation, reminded_at) VALUES (?, ?, ?)
	ON CONFLICT DO UPDATE SET conversation = excluded.conversation, reminded_at = excluded.reminded_at`
)

// Reminders are what directors' agents were told last.
func (s *Inbox) Reminders(ctx context.Context) (map[sessions.ID]inbox.Reminded, error) {
	all := map[sessions.ID]inbox.Reminded{}
	err := s.query(ctx, "read what directors were told", sqlReminders, nil, func(rows *sql.Rows) error {
		var id sessions.ID
		var r inbox.Reminded
		var at int64
		err := rows.Scan(&id, &r.Conversation, &at)
		r.At = fromNanos(at)
		all[id] = r
		return err
	})
	return all, err
}

// PutReminder keeps what a director's agent was told last.
func (s *Inbox) PutReminder(ctx context.Context, id sessions.ID, r inbox.Reminded) error {
	return s.write(ctx, "keep what "+string(id)+" was told", func(ctx context.Context, conn *sql.Conn) error {
		_, err := conn.ExecContext(ctx, sqlPutReminder, clean(id), clean(r.Conversation), nanos(r.At))
		return err
	})
}
