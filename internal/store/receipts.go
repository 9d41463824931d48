package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

const (
	receiptColumns = `id, session, text, submit, author, name, origin, key, state, cause, reason, anyway, pressed, addressee, created_at, updated_at`
	sqlReceipt     = `SELECT ` + receiptColumns + ` FROM receipts WHERE id = ?`
	sqlReceiptKey  = `SELECT ` + receiptColumns + ` FROM receipts WHERE key = ?`
	// "open" is written by what Receipt.Final says: the rule stands in one place.
	sqlOpenReceipts = `SELECT ` + receiptColumns + ` FROM receipts WHERE open ORDER BY created_at, seq`
	// Only those of the last day are looked at: they're few.
	sqlUnanswered = `SELECT ` + receiptColumns + ` FROM receipts WHERE NOT open AND state IN (?, ?) AND updated_at >= ? ORDER BY updated_at, seq`
	sqlPutReceipt = `INSERT INTO receipts (` + receiptColumns + `, open) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
	ON CONFLICT (id) DO UPDATE SET session = excluded.session, text = excluded.text, submit = excluded.submit,
	author = excluded.author, name = excluded.name, origin = excluded.origin, key = excluded.key, state = excluded.state, cause = excluded.cause, reason = excluded.reason, anyway = excluded.anyway, pressed = excluded.pressed, addressee = excluded.addressee,
	created_at = excluded.created_at, updated_at = excluded.updated_at, open = excluded.open`
)

// PutReceipt inserts or replaces a receipt: see sessions.Store.
func (s *Store) PutReceipt(ctx context.Context, r sessions.Receipt) error {
	if err := s.unsound(); err != nil && r.State == sessions.ReceiptStored {
		return err
	}
	err := s.write.exec(
		ctx, &s.write.putReceipt,
		clean(r.ID), clean(r.Session), clean(r.Text), r.Submit, clean(r.Author), clean(r.Name), clean(r.Origin), sql.NullString{String: clean(r.Key), Valid: r.Key != ""},
		clean(r.State), clean(r.Cause), clean(r.Reason), clean(r.Anyway), r.Pressed, clean(r.To), nanos(r.CreatedAt), nanos(r.UpdatedAt), !r.Final(),
	)
	if isUnique(err) {
		err = fmt.Errorf("%w: another has its key: %w", sessions.ErrConflict, err)
	}
	return s.explain("store receipt "+r.ID, err)
}

// Receipt returns a receipt: see sessions.Store.
func (s *Store) Receipt(ctx context.Context, id string) (sessions.Receipt, error) {
	r := s.reader()
	return r.oneReceipt("read receipt "+id, r.receipt.QueryRowContext(ctx, id))
}

// ReceiptByKey returns the receipt with a key: see sessions.Store.
func (s *Store) ReceiptByKey(ctx context.Context, key string) (sessions.Receipt, error) {
	r := s.reader()
	return r.oneReceipt("read the receipt of "+key, r.receiptByKey.QueryRowContext(ctx, clean(key)))
}

func (r *reader) oneReceipt(doing string, row *sql.Row) (sessions.Receipt, error) {
	receipt, err := scanReceipt(row)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("%w receipt", sessions.ErrUnknown)
	}
	if err != nil {
		return sessions.Receipt{}, r.explain(doing, err)
	}
	return receipt, nil
}

// OpenReceipts returns those that aren't final: see sessions.Store.
func (s *Store) OpenReceipts(ctx context.Context) (all []sessions.Receipt, err error) {
	r := s.reader()
	defer func() { err = r.explain("read open receipts", err) }()
	return receiptsOf(r.openReceipts.QueryContext(ctx))
}

// UnansweredReceipts returns those that were submitted, and not answered since, and those
// that failed: see sessions.Store.
func (s *Store) UnansweredReceipts(ctx context.Context, since time.Time) (all []sessions.Receipt, err error) {
	r := s.reader()
	defer func() { err = r.explain("read unanswered receipts", err) }()
	return receiptsOf(r.unanswered.QueryContext(ctx, sessions.ReceiptSubmitted, sessions.ReceiptFailed, nanos(since)))
}

func receiptsOf(rows *sql.Rows, failed error) (all []sessions.Receipt, err error) {
	if failed != nil {
		return nil, failed
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		r, err := scanReceipt(rows)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, rows.Err()
}

func scanReceipt(row interface{ Scan(into ...any) error }) (r sessions.Receipt, err error) {
	var created, updated int64
	var key sql.NullString
	err = row.Scan(&r.ID, &r.Session, &r.Text, &r.Submit, &r.Author, &r.Name, &r.Origin, &key, &r.State, &r.Cause, &r.Reason, &r.Anyway, &r.Pressed, &r.To, &created, &updated)
	r.Key = key.String
	r.CreatedAt, r.UpdatedAt = fromNanos(created), fromNanos(updated)
	return r, err
}
