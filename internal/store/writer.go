package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
)

// writeConn is the one write connection. Its statements are used by the queue's
// leader only, with a context that doesn't end: what has begun is carried through.
type writeConn struct {
	log   *slog.Logger
	queue *queue
	gate  *entrance
	once  sync.Once // closes
	logs  logCache
	full  bool // commits wait for the disk now; see durable.go
	// failed is why the last transaction failed where no request was to blame; nil: it didn't.
	failed atomic.Pointer[error]
	hurry  atomic.Bool                   // see HurryUp
	mend   func(mend func() error) error // see Store.mendIndex
	dbLink
}

// dbLink is a connection to the file that has the database's name, with what's prepared on it.
type dbLink struct {
	db    *sql.DB
	conn  *sql.Conn
	stmts prepared
	wal   *walWatch
	index *indexWatch
	*soundness

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
	putDetail, sumDetails, dropDetails        *sql.Stmt
	countKey, addToUsage, sumUsage            *sql.Stmt
	putUsageNow                               *sql.Stmt
}

// writerCache is how much of the database the writer keeps, in KiB: twice what the write-ahead log has as a
// rule (1000 pages), so that it's known when that is cut; see Rescue.
const writerCache = 8 << 10

func openWriter(ctx context.Context, path string, log *slog.Logger) (w *writeConn, err error) {
	w = &writeConn{log: log, logs: newLogCache()}
	w.queue = newQueue(w.commitBatch)
	if w.gate, err = openEntrance(path, gateWaitDaemon); err != nil {
		return nil, err
	}
	defer w.gate.enter()()
	if w.dbLink, err = openLink(ctx, path, log); err != nil {
		return nil, errors.Join(err, w.gate.close())
	}
	return w, nil
}

// openLink opens the file at path, and brings its schema up to date.
func openLink(ctx context.Context, path string, log *slog.Logger) (l dbLink, err error) {
	name, err := dsn(path, append(slices.Clone(writes),
		// A commit doesn't wait for the disk. A crash of the process loses
		// nothing, the kernel has it all. A power loss may take the last
		// moments back, consistently; tmux is gone then too, and what was
		// taken back belonged to sessions that have ended with it. What others
		// than tmux remember is committed durably; see durable.go.
		"synchronous(NORMAL)",
		"journal_size_limit(67108864)", // bytes the -wal keeps after a large transaction
		fmt.Sprintf("cache_size(-%d)", writerCache),
	)...)
	if err != nil {
		return dbLink{}, err
	}
	if l.db, err = sql.Open("sqlite", name); err != nil {
		return dbLink{}, err
	}
	l.db.SetMaxOpenConns(1)
	l.wal, l.soundness = &walWatch{path: path + walSuffix}, &soundness{path: path}
	if err := l.open(ctx, log); err != nil {
		return dbLink{}, errors.Join(err, l.close())
	}
	return l, nil
}

func (l *dbLink) open(ctx context.Context, log *slog.Logger) (err error) {
	if l.conn, err = l.db.Conn(ctx); err != nil {
		return err
	}
	was, is, err := migrate(ctx, l.conn, migrations(), newestSchema)
	if err != nil {
		return err
	}
	if was != is {
		log.InfoContext(ctx, "migrated the database", "from_version", was, "to_version", is)
	}
	if l.index, err = openIndex(l.path); err != nil {
		return err
	}
	l.soundness.index = l.index
	l.stmts, err = prepare(ctx, l.conn, []statement{
		{&l.begin, "BEGIN IMMEDIATE"}, // take the write lock now: later it could fail half-way
		{&l.commit, "COMMIT"},
		{&l.rollback, "ROLLBACK"},
		{&l.logState, sqlLog},
		{&l.updateLog, sqlUpdateLog},
		{&l.countKey, sqlCountAnswer},
		{&l.addToUsage, sqlAddUsage},
		{&l.sumUsage, sqlSumUsage},
		{&l.putUsageNow, sqlPutUsageNow},
		{&l.putTurn, sqlPutTurn},
		{&l.addLine, sqlAddLine},
		{&l.addGap, sqlAddGap},
		{&l.dropLines, sqlDropLines},
		{&l.dropGaps, sqlDropGaps},
		{&l.dropTurns, sqlDropTurns},
		{&l.putSession, sqlPutSession},
		{&l.putLog, sqlPutLog},
		{&l.putReceipt, sqlPutReceipt},
		{&l.putClosedPane, sqlPutClosedPane},
		{&l.dropClosedPane, sqlDropClosedPane},
		{&l.putBinding, sqlPutBinding},
		{&l.dropBinding, sqlDropBinding},
		{&l.putDocument, sqlPutDocument},
		{&l.addMessage, sqlAddMessage},
		{&l.dropMessages, sqlDropMessages},
		{&l.takeSlot, sqlTakeSlot},
		{&l.stampSlot, sqlStampSlot},
		{&l.dropSlot, sqlDropSlot},
		{&l.moveSlots, sqlMoveSlots},
		{&l.forgetSlots, sqlForgetSlots},
		{&l.putPenalty, sqlPutPenalty},
		{&l.mergePenalties, sqlMergePenalties},
		{&l.dropPenalties, sqlDropPenalties},
		{&l.forgetPenalties, sqlForgetPenalties},
		{&l.keepUpdate, sqlKeepUpdate},
		{&l.tryUpdate, sqlTryUpdate},
		{&l.settleUpdate, sqlSettleUpdate},
		{&l.forgetUpdates, sqlForgetUpdates},
		{&l.emptyUpdates, sqlEmptyUpdates},
		{&l.putNote, sqlPutNote},
		{&l.putPrompt, sqlPutPrompt},
		{&l.forgetPrompts, sqlForgetPrompts},
		{&l.putDetail, sqlPutDetail},
		{&l.sumDetails, sqlSumDetails},
		{&l.dropDetails, sqlDropDetails},
	})
	return err
}

func (l *dbLink) close() error {
	err := l.stmts.close()
	if l.conn != nil {
		err = errors.Join(err, l.conn.Close())
	}
	return errors.Join(err, l.db.Close(), l.wal.close(), l.index.close()) // the index last: see indexWatch
}

// exec writes one row (or drops some) on its own, in a group with others. The statement is read when
// it's run: it's another after a rescue.
func (w *writeConn) exec(ctx context.Context, stmt **sql.Stmt, args ...any) error {
	return w.queue.do(ctx, 1, func(ctx context.Context) error {
		_, err := (*stmt).ExecContext(ctx, args...)
		return err
	})
}

// commitBatch commits requests together or, if that fails, one by one.
func (w *writeConn) commitBatch(ctx context.Context, batch []*writeRequest) {
	if batch[0].alone {
		leave := w.gate.enter()
		defer leave()
		batch[0].err = batch[0].apply(ctx)
		w.recordDamage(batch)
		return
	}
	began, err := w.transact(ctx, batch)
	if err != nil && w.mendIndex(err) {
		began, err = w.transact(ctx, batch)
	}
	if err != nil && began && len(batch) > 1 {
		w.log.DebugContext(ctx, "joint transaction failed, its requests follow one by one", "requests", len(batch), "err", err)
		for i := range batch {
			_, batch[i].err = w.transact(ctx, batch[i:i+1])
		}
	} else {
		for _, r := range batch {
			r.err = err
		}
	}
	w.recordDamage(batch)
	w.recordFailure(batch)
}

// recordFailure has Failing say why the batch failed, if no request was to blame. It's the leader who does it, before
// it hands over.
func (w *writeConn) recordFailure(batch []*writeRequest) {
	was := w.failed.Load()
	i := slices.IndexFunc(batch, func(r *writeRequest) bool { return isBroken(r.err) })
	if i < 0 {
		if w.failed.Store(nil); was != nil {
			w.log.Info("the database is written to again")
		}
		return
	}
	err := explain("write to the database", w.path, batch[i].err)
	if w.failed.Store(&err); was == nil || !errors.Is(kindOf(*was), kindOf(err)) {
		w.log.Error("the database can't be written to", "err", err)
	}
}

// recordDamage has the file be known as damaged if a request has met that. It's the leader who does it: later another
// file may have been written in its place.
func (w *writeConn) recordDamage(batch []*writeRequest) {
	for _, r := range batch {
		if errors.Is(kindOf(r.err), ErrDamaged) {
			_, failed := w.record(explain("write to the database", w.path, r.err))
			r.err = errors.Join(r.err, failed)
			return
		}
	}
}

// transact applies requests in one transaction. began is false if there could
// be none, which is no request's fault: one by one they'd wait for the same
// lock in turn.
func (w *writeConn) transact(ctx context.Context, batch []*writeRequest) (began bool, err error) {
	if err := w.waitForDisk(ctx, batch); err != nil {
		return false, err
	}
	defer w.gate.enter()()
	if w.hurry.Load() {
		if _, err := w.conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", hurriedTimeout.Milliseconds())); err != nil {
			return false, err
		}
	}
	if err := w.beginWhole(ctx); err != nil {
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
	begun, err := w.index.check() // what was read was whole
	if err != nil {
		return true, err
	}
	_, err = w.commit.ExecContext(ctx)
	committed = err == nil || w.index.isToBlame(err) && w.hasCommitted(ctx, begun)
	if committed {
		return true, nil
	}
	return true, err
}

func (w *writeConn) close() (err error) {
	if w == nil {
		return nil
	}
	w.once.Do(func() {
		w.queue.drain()
		err = errors.Join(w.dbLink.close(), w.gate.close())
	})
	return err
}
