package store

import (
	"context"
	"database/sql"
	"errors"

	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlSessions = `SELECT s.id, s.name, s.agent, s.cwd, s.state, s.reason,
	s.server, s.server_pid, s.server_start, s.pane, s.tmux_session, s.owned,
	s.created_at, s.ended_at, s.exit_status, s.exit_signal, s.addressee,
	l.head, l.last_output_at, l.turn,
	ifnull(t.open, 0), ifnull(t.started_at, 0), ifnull(t.ended_at, 0), ifnull(t.first_line, 0), ifnull(t.last_line, 0), t.status
	FROM sessions s JOIN logs l ON l.session = s.seq LEFT JOIN turns t ON t.session = l.session AND t.number = l.turn
	ORDER BY s.created_at, s.seq`
	sqlPutSession = `INSERT INTO sessions (id, name, agent, cwd, state, reason,
	server, server_pid, server_start, pane, tmux_session, owned, created_at, ended_at, exit_status, exit_signal, addressee, fresh)
	VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1)
	ON CONFLICT (id) DO UPDATE SET name = excluded.name, agent = excluded.agent, cwd = excluded.cwd,
	state = excluded.state, reason = excluded.reason, server = excluded.server, server_pid = excluded.server_pid,
	server_start = excluded.server_start, pane = excluded.pane, tmux_session = excluded.tmux_session, owned = excluded.owned,
	created_at = excluded.created_at, ended_at = excluded.ended_at, exit_status = excluded.exit_status, exit_signal = excluded.exit_signal, addressee = excluded.addressee
	RETURNING seq`
	sqlPutLog = `INSERT INTO logs (session) VALUES (?) ON CONFLICT DO NOTHING`
)

// Sessions returns all sessions: see sessions.Store. Lines, Turn and
// LastOutputAt are those of their logs.
func (s *Store) Sessions(ctx context.Context) (all []sessions.Session, err error) {
	r := s.reader()
	defer func() { err = r.explain("read sessions", err) }()
	rows, err := r.sessions.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		x, err := scanSession(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, x)
	}
	return all, rows.Err()
}

func scanSession(rows *sql.Rows) (x sessions.Session, err error) {
	var created, ended, output, turnStarted, turnEnded int64
	var status sql.NullInt64
	var signal string
	p, t := &x.Pane, &x.Turn
	err = rows.Scan(
		&x.ID, &x.Name, &x.Agent, &x.Cwd, &x.State, &x.Reason,
		&p.Server, &p.Identity.PID, &p.Identity.Start, &p.ID, &p.Session, &x.Owned,
		&created, &ended, &status, &signal, &x.Addressee,
		&x.Lines, &output, &t.Number,
		&t.Open, &turnStarted, &turnEnded, &t.FirstLine, &t.LastLine, &t.Status,
	)
	x.CreatedAt, x.EndedAt, x.LastOutputAt = fromNanos(created), fromNanos(ended), fromNanos(output)
	t.StartedAt, t.EndedAt = fromNanos(turnStarted), fromNanos(turnEnded)
	if status.Valid {
		x.Exit = &sessions.Exit{Status: int(status.Int64), Signal: signal}
	}
	return x, err
}

// PutSession inserts or replaces a session: see sessions.Store.
func (s *Store) PutSession(ctx context.Context, x sessions.Session) error {
	if err := s.unsound(); err != nil && x.State == sessions.StateStarting {
		return err
	}
	var status sql.NullInt64
	var signal string
	if x.Exit != nil {
		status, signal = sql.NullInt64{Int64: int64(x.Exit.Status), Valid: true}, x.Exit.Signal
	}
	err := s.write.queue.do(ctx, 2, func(ctx context.Context) error {
		var seq int64
		err := s.write.putSession.QueryRowContext(
			ctx,
			clean(x.ID), clean(x.Name), clean(x.Agent), clean(x.Cwd), clean(x.State), clean(x.Reason),
			clean(x.Pane.Server), x.Pane.Identity.PID, x.Pane.Identity.Start, clean(x.Pane.ID), clean(x.Pane.Session), x.Owned,
			nanos(x.CreatedAt), nanos(x.EndedAt), status, clean(signal), clean(x.Addressee),
		).Scan(&seq)
		if err != nil {
			return err
		}
		_, err = s.write.putLog.ExecContext(ctx, seq)
		return err
	})
	return s.explain("store session "+string(x.ID), err)
}
