package store

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlClosedPanes    = `SELECT server, server_pid, server_start, pane FROM closed_panes ORDER BY seq`
	sqlPutClosedPane  = `INSERT INTO closed_panes (server, server_pid, server_start, pane) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`
	sqlDropClosedPane = `DELETE FROM closed_panes WHERE server = ? AND server_pid = ? AND server_start = ? AND pane = ?`
)

// PutClosedPane remembers a pane whose session was closed by hand and that no
// pattern may adopt again. Its session's name isn't kept: it outlives a session that's forgotten.
func (s *Store) PutClosedPane(ctx context.Context, p sessions.Pane) error {
	err := s.write.exec(ctx, &s.write.putClosedPane, clean(p.Server), p.Identity.PID, p.Identity.Start, clean(p.ID))
	return s.explain("store closed pane "+p.ID, err)
}

// DropClosedPane forgets a pane; one that isn't known is no error.
func (s *Store) DropClosedPane(ctx context.Context, p sessions.Pane) error {
	err := s.write.exec(ctx, &s.write.dropClosedPane, clean(p.Server), p.Identity.PID, p.Identity.Start, clean(p.ID))
	return s.explain("drop closed pane "+p.ID, err)
}

// ClosedPanes returns the panes that PutClosedPane remembers, in the order they came.
func (s *Store) ClosedPanes(ctx context.Context) (all []sessions.Pane, err error) {
	r := s.reader()
	defer func() { err = r.explain("read closed panes", err) }()
	rows, err := r.closedPanes.QueryContext(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p sessions.Pane
		if err := rows.Scan(&p.Server, &p.Identity.PID, &p.Identity.Start, &p.ID); err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, rows.Err()
}
