package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/qos"
)

const (
	sqlSlots    = `SELECT permit, chat, family, stamp FROM slots WHERE bot = ? AND stamp >= ?`
	sqlTakeSlot = `INSERT INTO slots (bot, permit, chat, family, stamp) VALUES (?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET chat = excluded.chat, family = excluded.family, stamp = excluded.stamp`
	sqlStampSlot   = `UPDATE slots SET stamp = ?3 WHERE bot = ?1 AND permit = ?2`
	sqlDropSlot    = `DELETE FROM slots WHERE bot = ? AND permit = ?`
	sqlMoveSlots   = `UPDATE slots SET chat = ?3 WHERE bot = ?1 AND chat = ?2`
	sqlForgetSlots = `DELETE FROM slots WHERE bot = ? AND stamp < ?`

	sqlPenalties  = `SELECT chat, family, all_families, until, multiplier FROM penalties WHERE bot = ?`
	sqlPutPenalty = `INSERT INTO penalties (bot, chat, family, all_families, until, multiplier) VALUES (?, ?, ?, ?, ?, ?)
	ON CONFLICT DO UPDATE SET until = excluded.until, multiplier = excluded.multiplier`
	sqlMergePenalties = `INSERT INTO penalties (bot, chat, family, all_families, until, multiplier)
	SELECT bot, ?3, family, all_families, until, multiplier FROM penalties WHERE bot = ?1 AND chat = ?2
	ON CONFLICT DO UPDATE SET until = max(until, excluded.until), multiplier = min(multiplier, excluded.multiplier)`
	sqlDropPenalties   = `DELETE FROM penalties WHERE bot = ? AND chat = ?`
	sqlForgetPenalties = `DELETE FROM penalties WHERE bot = ? AND until < ?`
)

// ledger keeps one bot's slots and penalties.
type ledger struct {
	store *Store
	bot   string
}

// Ledger returns the ledger of a bot, named as its adapter is. Several of the same
// name are the same ledger.
func (s *Store) Ledger(bot string) qos.Ledger { return ledger{store: s, bot: clean(bot)} }

// Load implements qos.Ledger.
func (l ledger) Load(ctx context.Context, since time.Time) (kept qos.Kept, err error) {
	r := l.store.reader()
	defer func() { err = r.explain("read the budget of "+l.bot, err) }()
	if kept.Slots, err = l.slots(ctx, r, since); err != nil {
		return qos.Kept{}, err
	}
	if kept.Penalties, err = l.penalties(ctx, r); err != nil {
		return qos.Kept{}, err
	}
	return kept, nil
}

func (l ledger) slots(ctx context.Context, r *reader, since time.Time) (slots []qos.Slot, err error) {
	rows, err := r.slots.QueryContext(ctx, l.bot, nanos(since))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var s qos.Slot
		var permit, stamp int64
		if err := rows.Scan(&permit, &s.Chat, &s.Family, &stamp); err != nil {
			return nil, err
		}
		s.Permit, s.Stamp = qos.PermitID(permit), fromNanos(stamp)
		slots = append(slots, s)
	}
	return slots, rows.Err()
}

func (l ledger) penalties(ctx context.Context, r *reader) (penalties []qos.Penalty, err error) {
	rows, err := r.penalties.QueryContext(ctx, l.bot)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var p qos.Penalty
		var until int64
		if err := rows.Scan(&p.Scope.Chat, &p.Scope.Family, &p.Scope.AllFamilies, &until, &p.Multiplier); err != nil {
			return nil, err
		}
		p.Until = fromNanos(until)
		penalties = append(penalties, p)
	}
	return penalties, rows.Err()
}

// Write implements qos.Ledger. What only gives slots back isn't waited for: if a
// crash of the machine takes it back, slots are held longer than they need be.
func (l ledger) Write(ctx context.Context, entries []qos.Entry) error {
	queue := l.store.write.queue
	do := queue.do
	if slices.ContainsFunc(entries, takes) {
		do = queue.doDurable
	}
	err := do(ctx, len(entries), func(ctx context.Context) error {
		for _, e := range entries {
			if err := l.apply(ctx, e); err != nil {
				return err
			}
		}
		return nil
	})
	return l.store.explain("store the budget of "+l.bot, err)
}

// takes says whether an entry takes a right away, which must never be forgotten.
func takes(e qos.Entry) bool {
	switch e.Kind {
	case qos.EntryStamp, qos.EntryRefund, qos.EntryForget:
		return false
	default:
		return true
	}
}

func (l ledger) apply(ctx context.Context, e qos.Entry) error {
	w := l.store.write
	switch e.Kind {
	case qos.EntryTake:
		s := e.Slot
		return l.exec(ctx, w.takeSlot, int64(s.Permit), clean(s.Chat), clean(s.Family), nanos(s.Stamp))
	case qos.EntryStamp:
		return l.exec(ctx, w.stampSlot, int64(e.Slot.Permit), nanos(e.Slot.Stamp))
	case qos.EntryRefund:
		return l.exec(ctx, w.dropSlot, int64(e.Slot.Permit))
	case qos.EntryPenalty:
		p := e.Penalty
		return l.exec(ctx, w.putPenalty, clean(p.Scope.Chat), clean(p.Scope.Family), p.Scope.AllFamilies, nanos(p.Until), p.Multiplier)
	case qos.EntryRekey:
		return l.rekey(ctx, clean(e.From), clean(e.To))
	case qos.EntryForget:
		before := nanos(e.Before)
		return errors.Join(l.exec(ctx, w.forgetSlots, before), l.exec(ctx, w.forgetPenalties, before))
	default:
		return fmt.Errorf("apply a ledger entry: there is no kind %d", e.Kind)
	}
}

func (l ledger) rekey(ctx context.Context, from, to string) error {
	w := l.store.write
	if from == to {
		return nil
	}
	if err := l.exec(ctx, w.moveSlots, from, to); err != nil {
		return err
	}
	if err := l.exec(ctx, w.mergePenalties, from, to); err != nil {
		return err
	}
	return l.exec(ctx, w.dropPenalties, from)
}

func (l ledger) exec(ctx context.Context, stmt *sql.Stmt, args ...any) error {
	_, err := stmt.ExecContext(ctx, append([]any{l.bot}, args...)...)
	return err
}
