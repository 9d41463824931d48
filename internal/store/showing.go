package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/panebridge/panebridge/sessions"
)

const (
	sqlPutInquiry = `INSERT INTO inquiries (id, session, open, opened_at, closed_at, inquiry) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET open = excluded.open, closed_at = excluded.closed_at, inquiry = excluded.inquiry`
	sqlClosedInquiries = `SELECT inquiry FROM inquiries
	WHERE session = ? AND closed_at BETWEEN ? AND ? ORDER BY closed_at DESC, id LIMIT ? + 0`
	sqlForgetInquiries = `DELETE FROM inquiries WHERE NOT open AND closed_at < ?`
	sqlAddExhibit      = `INSERT INTO exhibits (id, session, at, waits, exhibit, content) VALUES (?, ?, ?, ?, ?, ?)`
	sqlPutExhibit      = `UPDATE exhibits SET waits = ?, exhibit = ? WHERE id = ?`
)

// PutInquiry inserts or replaces an inquiry: see showing.InquiryStore. Final ones are kept as long as prompts are.
func (s *Store) PutInquiry(ctx context.Context, q sessions.Inquiry) error {
	doing := "store what's asked in session " + clean(string(q.Session))
	text, err := json.Marshal(q)
	if err != nil {
		return s.explain(doing, err)
	}
	closed := int64(0)
	if q.Final() {
		closed = nanos(q.ClosedAt)
	}
	return s.explain(doing, s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		_, err := s.write.conn.ExecContext(ctx, sqlPutInquiry, clean(q.ID), clean(q.Session), !q.Final(), nanos(q.OpenedAt), closed, clean(string(text)))
		if err != nil || !q.Final() {
			return err
		}
		_, err = s.write.conn.ExecContext(ctx, sqlForgetInquiries, nanos(q.ClosedAt.Add(-promptsKept)))
		return err
	}))
}

// Inquiry returns an inquiry: see showing.InquiryStore.
func (s *Store) Inquiry(ctx context.Context, id string) (sessions.Inquiry, error) {
	return readJSON[sessions.Inquiry](ctx, s, "read what was asked", "question", `SELECT inquiry FROM inquiries WHERE id = ?`, clean(id))
}

// OpenInquiries returns those that aren't final: see showing.InquiryStore. What can't be read in a database that
// was damaged is left out.
func (s *Store) OpenInquiries(ctx context.Context) ([]sessions.Inquiry, error) {
	all, err := listJSON[sessions.Inquiry](ctx, s, "read what's asked", `SELECT inquiry FROM inquiries WHERE open ORDER BY opened_at, id`)
	return slices.DeleteFunc(all, func(q sessions.Inquiry) bool { return q.ID == "" }), err
}

// AddExhibit inserts an exhibit: see showing.ExhibitStore.
func (s *Store) AddExhibit(ctx context.Context, e sessions.Exhibit, data []byte, forget []string) error {
	doing := "store what session " + clean(string(e.Session)) + " shows"
	text, err := json.Marshal(e)
	if err != nil {
		return s.explain(doing, err)
	}
	if err := s.unsound(); err != nil {
		return err
	}
	return s.explain(doing, s.write.queue.do(ctx, 1, func(ctx context.Context) error {
		for _, id := range forget {
			if _, err := s.write.conn.ExecContext(ctx, `DELETE FROM exhibits WHERE id = ?`, clean(id)); err != nil {
				return err
			}
		}
		_, err := s.write.conn.ExecContext(ctx, sqlAddExhibit, clean(e.ID), clean(e.Session), nanos(e.At), !e.Done, clean(string(text)), data)
		return err
	}))
}

// PutExhibit replaces all of an exhibit but its content: see showing.ExhibitStore.
func (s *Store) PutExhibit(ctx context.Context, e sessions.Exhibit) error {
	doing := "store where something is shown of session " + clean(string(e.Session))
	text, err := json.Marshal(e)
	if err != nil {
		return s.explain(doing, err)
	}
	return s.exec1(ctx, doing, sqlPutExhibit, !e.Done, clean(string(text)), clean(e.ID))
}

// Exhibit returns an exhibit: see showing.ExhibitStore.
func (s *Store) Exhibit(ctx context.Context, id string) (sessions.Exhibit, error) {
	return readJSON[sessions.Exhibit](ctx, s, "read what was shown", "file", `SELECT exhibit FROM exhibits WHERE id = ?`, clean(id))
}

// Exhibits returns those of a session: see showing.ExhibitStore.
func (s *Store) Exhibits(ctx context.Context, id sessions.ID) ([]sessions.Exhibit, error) {
	all, err := listJSON[sessions.Exhibit](ctx, s, "read what a session has shown", `SELECT exhibit FROM exhibits WHERE session = ? ORDER BY at DESC, id DESC`, clean(id))
	return slices.DeleteFunc(all, func(e sessions.Exhibit) bool { return e.ID == "" }), err
}

// WaitingExhibits returns those that aren't done: see showing.ExhibitStore.
func (s *Store) WaitingExhibits(ctx context.Context) ([]sessions.Exhibit, error) {
	all, err := listJSON[sessions.Exhibit](ctx, s, "read what's to be shown", `SELECT exhibit FROM exhibits WHERE waits ORDER BY at, id`)
	return slices.DeleteFunc(all, func(e sessions.Exhibit) bool { return e.ID == "" }), err
}

// ExhibitData returns an exhibit's content: see showing.ExhibitStore.
func (s *Store) ExhibitData(ctx context.Context, id string) (data []byte, err error) {
	r := s.reader()
	err = r.db.QueryRowContext(ctx, `SELECT content FROM exhibits WHERE id = ?`, clean(id)).Scan(&data)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w file", sessions.ErrUnknown)
	}
	return data, r.explain("read what was shown", err)
}

// readJSON reads a value that's kept as JSON; sessions.ErrUnknown: it isn't there.
func readJSON[T any](ctx context.Context, s *Store, doing, what, query string, args ...any) (x T, err error) {
	r := s.reader()
	var text string
	err = r.db.QueryRowContext(ctx, query, args...).Scan(&text)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w %s", sessions.ErrUnknown, what)
	}
	if err == nil {
		err = json.Unmarshal([]byte(text), &x)
	}
	return x, r.explain(doing, err)
}

// listJSON reads values that are kept as JSON. One that can't be read is a zero value.
func listJSON[T any](ctx context.Context, s *Store, doing, query string, args ...any) ([]T, error) {
	return list(ctx, s, doing, func(row *sql.Rows) (x T, err error) {
		var text string
		if err = row.Scan(&text); err == nil && json.Unmarshal([]byte(text), &x) != nil {
			var none T
			x = none
		}
		return x, err
	}, query, args...)
}
