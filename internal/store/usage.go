package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"hash/fnv"
	"slices"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// countedFor is for how many days it's known which answers were counted. A copy of a conversation that
// an agent program makes later has its records from before it was started, which nobody counts.
const countedFor = 400

// dayOf is the day of a time, in the daemon's time zone.
func dayOf(t time.Time) string { return t.In(time.Local).Format(time.DateOnly) }

const (
	sqlCountAnswer = `INSERT INTO usage_counted (key, day) VALUES (?, ?) ON CONFLICT DO NOTHING`
	sqlForgetCount = `DELETE FROM usage_counted WHERE day < ?`
	sqlAddUsage    = `INSERT INTO usage (session, day, agent, input, cache_read, cache_write, output, cost_usd, answers) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
	` + sqlAddUp
	sqlSumUsage = `SELECT ifnull(min(sum(input), 1 << 50), 0), ifnull(min(sum(cache_read), 1 << 50), 0), ifnull(min(sum(cache_write), 1 << 50), 0), ifnull(min(sum(output), 1 << 50), 0),
	ifnull(sum(cost_usd), 0) FROM usage WHERE session = ?`
	sqlPutUsageNow = `INSERT INTO usage_now (session, usage) VALUES (?, ?) ON CONFLICT DO UPDATE SET usage = excluded.usage`
	// What a session used on a day stays, without saying which it was.
	sqlKeepDays = `INSERT INTO usage (session, day, agent, input, cache_read, cache_write, output, cost_usd, answers)
	SELECT '', day, agent, input, cache_read, cache_write, output, cost_usd, answers FROM usage WHERE session = ? AND session <> ''
	` + sqlAddUp
	// Each stays within sessions.MaxTokens: a sum that doesn't fit 64 bits couldn't be read any more. Of 8,000 days it does.
	sqlAddUp = `ON CONFLICT DO UPDATE SET input = min(input + excluded.input, 1 << 50), cache_read = min(cache_read + excluded.cache_read, 1 << 50),
	cache_write = min(cache_write + excluded.cache_write, 1 << 50), output = min(output + excluded.output, 1 << 50),
	cost_usd = cost_usd + excluded.cost_usd, answers = answers + excluded.answers`
)

// addUsage counts what answers took, each once, and keeps how things stand, within a transaction. It
// returns how they stand with the sums.
func (w *writeConn) addUsage(ctx context.Context, id sessions.ID, spent []sessions.Spending, now *sessions.Usage) (*sessions.Usage, error) {
	if now == nil {
		return nil, nil //nolint:nilnil // nothing is told
	}
	for _, s := range spent {
		if err := w.countAnswer(ctx, id, clean(now.Agent), s); err != nil {
			return nil, err
		}
	}
	out := *now
	t := &out.Tokens
	if err := w.sumUsage.QueryRowContext(ctx, string(id)).Scan(&t.Input, &t.CacheRead, &t.CacheWrite, &t.Output, &out.CostUSD); err != nil {
		return nil, err
	}
	text, err := json.Marshal(out)
	if err != nil {
		return nil, err
	}
	_, err = w.putUsageNow.ExecContext(ctx, string(id), clean(string(text)))
	return &out, err
}

// countAnswer counts what one answer took, unless it was counted before, in whatever session.
func (w *writeConn) countAnswer(ctx context.Context, id sessions.ID, agent string, s sessions.Spending) error {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s.Key)) // documented never to fail
	day := dayOf(s.At)
	res, err := w.countKey.ExecContext(ctx, int64(h.Sum64()), day)
	if err != nil {
		return err
	}
	if n, err := res.RowsAffected(); err != nil || n == 0 {
		return err
	}
	_, err = w.addToUsage.ExecContext(ctx, string(id), day, agent, s.Tokens.Input, s.Tokens.CacheRead, s.Tokens.CacheWrite, s.Tokens.Output, s.CostUSD, 1)
	return err
}

// Usage returns what was used since a day ("2026-11-30"; "": from the beginning), by session, day and agent.
func (s *Store) Usage(ctx context.Context, since string) ([]sessions.UsageSum, error) {
	return list(ctx, s, "read what was used", func(row *sql.Rows) (u sessions.UsageSum, err error) {
		t := &u.Tokens
		err = row.Scan(&u.Session, &u.Day, &u.Agent, &t.Input, &t.CacheRead, &t.CacheWrite, &t.Output, &u.CostUSD, &u.Answers)
		return u, err
	}, `SELECT session, day, agent, input, cache_read, cache_write, output, cost_usd, answers FROM usage WHERE day >= ? ORDER BY day, session, agent`, clean(since))
}

// ForgetCounted forgets which answers were counted long ago.
func (s *Store) ForgetCounted(ctx context.Context, now time.Time) error {
	return s.exec1(ctx, "forget which answers were counted", sqlForgetCount, dayOf(now.AddDate(0, 0, -countedFor)))
}

// usageNow reads what usage_now keeps; nil: nothing, or nothing that can be read in a database that was
// damaged: the agent says it anew.
func usageNow(text sql.NullString) *sessions.Usage {
	var u sessions.Usage
	if !text.Valid || json.Unmarshal([]byte(text.String), &u) != nil {
		return nil
	}
	return &u
}

// Continuations returns the texts that wait for a limit to be over. What can't be read in a database that
// was damaged is left out.
func (s *Store) Continuations(ctx context.Context) ([]sessions.Continuation, error) {
	all, err := listJSON[sessions.Continuation](ctx, s, "read which texts wait for limits", `SELECT continuation FROM continuations ORDER BY session`)
	return slices.DeleteFunc(all, func(c sessions.Continuation) bool { return c.Session == "" }), err
}

// PutContinuation keeps the text of a session that waits for its limit to be over, in place of another.
func (s *Store) PutContinuation(ctx context.Context, c sessions.Continuation) error {
	text, err := json.Marshal(c)
	if err != nil {
		return errors.Join(errors.New("write which text waits for a limit"), err)
	}
	return s.exec1(ctx, "store which text waits for a limit", `INSERT INTO continuations (session, continuation) VALUES (?, ?) ON CONFLICT DO UPDATE SET continuation = excluded.continuation`, clean(c.Session), clean(string(text)))
}

// DropContinuation forgets it.
func (s *Store) DropContinuation(ctx context.Context, id sessions.ID) error {
	return s.exec1(ctx, "forget which text waits for a limit", `DELETE FROM continuations WHERE session = ?`, clean(id))
}
