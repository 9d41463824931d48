package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"slices"
	"sync"
)

// writer is the one write connection. Its statements are used by the queue's
// leader only, with a context that doesn't end: what has begun is carried through.
type writer struct {
	log   *slog.Logger
	queue *queue
	gate  *entrance
	db    *sql.DB
	conn  *sql.Conn
	stmts prepared
	once  sync.Once // closes
	logs  logCache
	full  bool // commits wait for the disk now; see durable.go

	begin, commit, rollback                   *sql.Stmt
	logState, updateLog, putTurn              *sql.Stmt
	addLine, addGap, dropLines, dropGaps      *sql.Stmt
	dropTurns, putSession, putLog, putReceipt *sql.Stmt
	putClosedPane, dropClosedPane             *sql.Stmt
	putBinding, dropBinding                   *sql.Stmt
	putDocument, addMessage, dropMessages     *sql.Stmt
	takeSlot, stampSlot, dropSlot, moveSlots  *sql.Stmt
	forgetSlots, putPenalty, mergePenalties   *sql.Stmt
	dropPenalties, forgetPenalties            *sql.Stmt
	keepUpdate, tryUpdate, settleUpdate       *sql.Stmt
	forgetUpdates, emptyUpdates, putNote      *sql.Stmt
	putPrompt, forgetPrompts                  *sql.Stmt
}

func openWriter(ctx context.Context, path string, log *slog.Logger) (*writer, error) {
	name, err := dsn(path, append(slices.Clone(writes),
		// A commit doesn't wait for the disk. A crash of the process loses
		// nothing, the kernel has it all. A power loss may take the last
		// moments back, consistently; tmux is gone then too, and what was
		// taken back belonged to sessions that have ended with it. What others
		// than tmux remember is committed durably; see durable.go.
		"synchronous(NORMAL)",
		"journal_size_limit(67108864)", // bytes the -wal keeps after a large transaction
	)...)
	if err != nil {
		return nil, err
	}
	w := &writer{log: log, logs: newLogCache()}
	w.queue = newQueue(w.commitBatch)
	if w.gate, err = openEntrance(path, gateWaitDaemon); err != nil {
		return nil, err
	}
	defer w.gate.enter()()
	if w.db, err = sql.Open("sqlite", name); err != nil {
		return nil, errors.Join(err, w.gate.close())
	}
	w.db.SetMaxOpenConns(1)
	if err := w.open(ctx); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *writer) open(ctx context.Context) (err error) {
	if w.conn, err = w.db.Conn(ctx); err != nil {
		return err
	}
	was, is, err := migrate(ctx, w.conn, migrations())
	if err != nil {
		return err
	}
	if was != is {
		w.log.InfoContext(ctx, "migrated the database", "from_version", was, "to_version", is)
	}
	w.stmts, err = prepare(ctx, w.conn, []statement{
		{&w.begin, "BEGIN IMMEDIATE"}, // take the write lock now: later it could fail half-way
		{&w.commit, "COMMIT"},
		{&w.rollback, "ROLLBACK"},
		{&w.logState, sqlLog},
		{&w.updateLog, sqlUpdateLog},
		{&w.putTurn, sqlPutTurn},
		{&w.addLine, sqlAddLine},
		{&w.addGap, sqlAddGap},
		{&w.dropLines, sqlDropLines},
		{&w.dropGaps, sqlDropGaps},
		{&w.dropTurns, sqlDropTurns},
		{&w.putSession, sqlPutSession},
		{&w.putLog, sqlPutLog},
		{&w.putReceipt, sqlPutReceipt},
		{&w.putClosedPane, sqlPutClosedPane},
		{&w.dropClosedPane, sqlDropClosedPane},
		{&w.putBinding, sqlPutBinding},
		{&w.dropBinding, sqlDropBinding},
		{&w.putDocument, sqlPutDocument},
		{&w.addMessage, sqlAddMessage},
		{&w.dropMessages, sqlDropMessages},
		{&w.takeSlot, sqlTakeSlot},
		{&w.stampSlot, sqlStampSlot},
		{&w.dropSlot, sqlDropSlot},
		{&w.moveSlots, sqlMoveSlots},
		{&w.forgetSlots, sqlForgetSlots},
		{&w.putPenalty, sqlPutPenalty},
		{&w.mergePenalties, sqlMergePenalties},
		{&w.dropPenalties, sqlDropPenalties},
		{&w.forgetPenalties, sqlForgetPenalties},
		{&w.keepUpdate, sqlKeepUpdate},
		{&w.tryUpdate, sqlTryUpdate},
		{&w.settleUpdate, sqlSettleUpdate},
		{&w.forgetUpdates, sqlForgetUpdates},
		{&w.emptyUpdates, sqlEmptyUpdates},
		{&w.putNote, sqlPutNote},
		{&w.putPrompt, sqlPutPrompt},
		{&w.forgetPrompts, sqlForgetPrompts},
	})
	return err
}

// exec writes one row (or drops some) on its own, in a group with others.
func (w *writer) exec(ctx context.Context, stmt *sql.Stmt, args ...any) error {
	return w.queue.do(ctx, 1, func(ctx context.Context) error {
		_, err := stmt.ExecContext(ctx, args...)
		return err
	})
}

// commitBatch commits requests together or, if that fails, one by one.
func (w *writer) commitBatch(ctx context.Context, batch []*request) {
	if batch[0].alone {
		leave := w.gate.enter()
		defer leave()
		batch[0].err = batch[0].apply(ctx)
		return
	}
	began, err := w.transact(ctx, batch)
	if err != nil && began && len(batch) > 1 {
		w.log.DebugContext(ctx, "joint transaction failed, its requests follow one by one", "requests", len(batch), "err", err)
		for i := range batch {
			_, batch[i].err = w.transact(ctx, batch[i:i+1])
		}
		return
	}
	for _, r := range batch {
		r.err = err
	}
}

// transact applies requests in one transaction. began is false if there could
// be none, which is no request's fault: one by one they'd wait for the same
// lock in turn.
func (w *writer) transact(ctx context.Context, batch []*request) (began bool, err error) {
	if err := w.waitForDisk(ctx, batch); err != nil {
		return false, err
	}
	defer w.gate.enter()()
	if _, err := w.begin.ExecContext(ctx); err != nil {
		return false, err
	}
	committed := false
	defer func() {
		if committed {
			w.logs.commit()
		} else {
			w.logs.rollback()
			_, _ = w.rollback.ExecContext(ctx) // fails where SQLite has rolled back already
		}
	}()
	for _, r := range batch {
		if err := r.apply(ctx); err != nil {
			return true, err
		}
	}
	if _, err := w.commit.ExecContext(ctx); err != nil {
		return true, err
	}
	committed = true
	return true, nil
}

func (w *writer) close() (err error) {
	if w == nil {
		return nil
	}
	w.once.Do(func() {
		w.queue.drain()
		err = w.stmts.close()
		if w.conn != nil {
			err = errors.Join(err, w.conn.Close())
		}
		err = errors.Join(err, w.db.Close(), w.gate.close())
	})
	return err
}
