package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"

	"github.com/panebridge/panebridge/sessions"
)

// readPool is the pool of read-only connections and what is prepared on it.
type readPool struct {
	db    *sql.DB
	stmts prepared
	*soundness

	sessions, receipt, openReceipts, unanswered, closedPanes *sql.Stmt
	receiptByKey                                             *sql.Stmt
	log, load, linesFrom, linesLast, gaps                    *sql.Stmt
	progress, bindings, sentMessage, messageAt               *sql.Stmt
	slots, penalties                                         *sql.Stmt
	waitingUpdates, note, prompt, openPrompts                *sql.Stmt
}

func openReader(ctx context.Context, v *soundness) (*readPool, error) {
	name, err := dsn(v.path, "query_only(1)")
	if err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", name+"&mode=rw") // which makes none
	if err != nil {
		return nil, err
	}
	n := max(2, min(runtime.GOMAXPROCS(0), 4))
	db.SetMaxOpenConns(n)
	db.SetMaxIdleConns(n)
	r := &readPool{db: db, soundness: v}
	if err := openAll(ctx, db, n); err != nil {
		return nil, errors.Join(err, r.close())
	}
	r.stmts, err = prepare(ctx, db, []statement{
		{&r.sessions, sqlSessions},
		{&r.receipt, sqlReceipt},
		{&r.receiptByKey, sqlReceiptKey},
		{&r.openReceipts, sqlOpenReceipts},
		{&r.unanswered, sqlUnanswered},
		{&r.closedPanes, sqlClosedPanes},
		{&r.log, sqlLog},
		{&r.load, sqlLoad},
		{&r.linesFrom, sqlLinesFrom},
		{&r.linesLast, sqlLinesLast},
		{&r.gaps, sqlGaps},
		{&r.progress, sqlProgress},
		{&r.bindings, sqlBindings},
		{&r.sentMessage, sqlSentMessage},
		{&r.messageAt, sqlMessageAt},
		{&r.slots, sqlSlots},
		{&r.penalties, sqlPenalties},
		{&r.waitingUpdates, sqlWaitingUpdates},
		{&r.note, sqlNote},
		{&r.prompt, sqlPrompt},
		{&r.openPrompts, sqlOpenPrompts},
	})
	if err != nil {
		return nil, errors.Join(err, r.close())
	}
	return r, nil
}

// openAll opens all of a pool's connections, which stay open, and has each read something: one that
// comes to its files later, when they were deleted meanwhile, would find none, or others.
func openAll(ctx context.Context, db *sql.DB, n int) (err error) {
	open := make([]*sql.Conn, n)
	for i := range open {
		var version int
		if open[i], err = db.Conn(ctx); err == nil {
			err = open[i].QueryRowContext(ctx, "PRAGMA schema_version").Scan(&version)
		}
		if err != nil {
			break
		}
	}
	for _, conn := range open {
		if conn != nil {
			err = errors.Join(err, conn.Close())
		}
	}
	return err
}

func (r *readPool) close() error {
	if r == nil {
		return nil
	}
	return errors.Join(r.stmts.close(), r.db.Close())
}

// snapshot runs f in a read transaction: all it reads of a session's log is of
// one moment.
func (r *readPool) snapshot(ctx context.Context, id sessions.ID, f func(tx *sql.Tx, log logState) error) error {
	tx, err := r.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()                                             // nothing to commit; closes the statements too
	log, err := scanLog(tx.StmtContext(ctx, r.log).QueryRowContext(ctx, string(id))) //nolint:sqlclosecheck // closed with tx
	if err != nil {
		return err
	}
	return f(tx, log)
}

type statement struct {
	into  **sql.Stmt
	query string
}

// prepare prepares on a pool or a connection. What's prepared is closed before that is:
// SQLite keeps a closed connection's files open for as long as it has statements.
func prepare(ctx context.Context, on interface {
	PrepareContext(ctx context.Context, query string) (*sql.Stmt, error)
}, all []statement,
) (done prepared, err error) {
	for _, s := range all {
		if *s.into, err = on.PrepareContext(ctx, s.query); err != nil { //nolint:sqlclosecheck // prepared closes it
			return done, fmt.Errorf("prepare %q: %w", s.query, err)
		}
		done = append(done, *s.into)
	}
	return done, nil
}

// prepared are statements to be closed together.
type prepared []*sql.Stmt

func (p prepared) close() (err error) {
	for _, s := range p {
		err = errors.Join(err, s.Close())
	}
	return err
}
