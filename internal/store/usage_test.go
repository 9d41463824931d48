package store

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// inBerlin has the test's local time be Berlin's.
func inBerlin(t *testing.T) *time.Location {
	t.Helper()
	zone, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	was := time.Local
	time.Local = zone
	t.Cleanup(func() { time.Local = was })
	return zone
}

// Answers are counted once, whichever session tells of them and however often, over restarts; days are local, also
// those of 23 and 25 hours; and what's forgotten with a session stays in its days' sums.
func TestUsageIsCountedOnce(t *testing.T) {
	zone := inBerlin(t)
	begin := time.Date(2026, 3, 28, 0, 0, 0, 0, zone) // clocks are put forward on the day after
	type key struct{ session, day, agent string }
	drawtest.CheckTimes(t, drawtest.Times(300, 40, 10), func(rt *rapid.T) {
		path := dbPath(t)
		s := mustOpen(t, path, Options{})
		ids := []sessions.ID{"pb_1", "pb_2", "pb_3"}
		mustPut(t, s, ids...)
		want, counted, forgotten := map[key]sessions.UsageSum{}, map[string]bool{}, map[sessions.ID]bool{}
		last := map[sessions.ID]*sessions.Usage{}
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			id := rapid.SampledFrom(ids).Draw(rt, "session")
			switch rapid.IntRange(0, 9).Draw(rt, "step") {
			case 0:
				if err := s.Close(); err != nil {
					rt.Fatal(err)
				}
				s = mustOpen(t, path, Options{})
				continue
			case 1:
				if err := s.DropSession(t.Context(), id); err != nil {
					rt.Fatal(err)
				}
				forgotten[id] = true
				for k, u := range want {
					if k.session == string(id) {
						delete(want, k)
						k.session = ""
						u.Tokens, u.CostUSD, u.Answers = u.Tokens.Plus(want[k].Tokens), u.CostUSD+want[k].CostUSD, u.Answers+want[k].Answers
						want[k] = u
					}
				}
				continue
			}
			if forgotten[id] {
				continue
			}
			agent := rapid.SampledFrom([]string{"claude", "codex"}).Draw(rt, "agent")
			b := polling.Batch{Session: id, Usage: &sessions.Usage{Agent: agent, Context: &sessions.ContextUse{Used: 7}}}
			for range rapid.IntRange(0, 4).Draw(rt, "answers") {
				one := sessions.Spending{
					Key: fmt.Sprint("answer ", rapid.IntRange(0, 25).Draw(rt, "key")), At: begin.Add(time.Duration(rapid.IntRange(0, 72*60).Draw(rt, "minutes")) * time.Minute),
					Tokens:  sessions.Tokens{Input: rapid.OneOf(rapid.Int64Range(0, 1000), rapid.Just(int64(sessions.MaxTokens))).Draw(rt, "input"), CacheRead: 5, Output: rapid.Int64Range(0, 100).Draw(rt, "output")},
					CostUSD: float64(rapid.IntRange(0, 8).Draw(rt, "quarters")) / 4,
				}
				b.Spent = append(b.Spent, one)
				if counted[one.Key] {
					continue
				}
				counted[one.Key] = true
				k := key{string(id), one.At.In(zone).Format("2006-01-02"), agent}
				u := want[k]
				u.Tokens, u.CostUSD, u.Answers = u.Tokens.Plus(one.Tokens), u.CostUSD+one.CostUSD, u.Answers+1
				want[k] = u
			}
			done, err := s.Append(t.Context(), b)
			if err != nil {
				rt.Fatal(err)
			}
			sum := sessions.Usage{}
			for k, u := range want {
				if k.session == string(id) {
					sum.Tokens, sum.CostUSD = sum.Tokens.Plus(u.Tokens), sum.CostUSD+u.CostUSD
				}
			}
			if done.Usage.Tokens != sum.Tokens || done.Usage.CostUSD != sum.CostUSD || done.Usage.Context.Used != 7 {
				rt.Fatalf("the session has %+v, want %+v", done.Usage, sum)
			}
			last[id] = done.Usage
		}
		got, err := s.Usage(t.Context(), "")
		if err != nil || len(got) != len(want) {
			rt.Fatalf("%d sums, want %d: %+v, %v", len(got), len(want), got, err)
		}
		for _, u := range got {
			w := want[key{string(u.Session), u.Day, u.Agent}]
			if u.Tokens != w.Tokens || u.CostUSD != w.CostUSD || u.Answers != w.Answers {
				rt.Fatalf("%+v, want %+v", u, w)
			}
		}
		all, err := s.Sessions(t.Context())
		if err != nil {
			rt.Fatal(err)
		}
		for _, x := range all {
			if !x.Usage.Equal(last[x.ID]) {
				rt.Fatalf("%s is read with %+v, was %+v", x.ID, x.Usage, last[x.ID])
			}
		}
	})
}

// A day begins at local midnight.
func TestUsageSinceADay(t *testing.T) {
	zone := inBerlin(t)
	s := mustOpen(t, dbPath(t), Options{})
	mustPut(t, s, "pb_1")
	for i, at := range []time.Time{time.Date(2026, 10, 24, 23, 59, 0, 0, zone), time.Date(2026, 10, 25, 0, 0, 0, 0, zone), time.Date(2026, 10, 25, 23, 59, 0, 0, zone), time.Date(2026, 10, 26, 0, 0, 0, 0, zone)} {
		_, err := s.Append(t.Context(), polling.Batch{Session: "pb_1", Usage: &sessions.Usage{Agent: "claude"}, Spent: []sessions.Spending{{Key: fmt.Sprint(i), At: at.UTC(), Tokens: sessions.Tokens{Input: 1}}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Usage(t.Context(), "2026-10-25")
	if err != nil || len(got) != 2 || got[0].Day != "2026-10-25" || got[0].Tokens.Input != 2 || got[1].Tokens.Input != 1 {
		t.Errorf("%+v, %v", got, err)
	}
	if err := s.ForgetCounted(t.Context(), time.Date(2028, 1, 1, 0, 0, 0, 0, zone)); err != nil {
		t.Error(err)
	}
	var n int
	if err := s.write.conn.QueryRowContext(t.Context(), "SELECT count(*) FROM usage_counted").Scan(&n); err != nil || n != 0 {
		t.Errorf("%d answers are known to be counted, %v", n, err)
	}
}

// However many tokens programs say they've used, what was used can be counted, read again, and kept beyond its session.
func TestAbsurdUsageIsCounted(t *testing.T) {
	path := dbPath(t)
	s := mustOpen(t, path, Options{})
	mustPut(t, s, "pb_1", "pb_2")
	begin, key := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 0
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		b := polling.Batch{Session: id, Usage: &sessions.Usage{Agent: "claude"}}
		for range 10_000 {
			key++
			b.Spent = append(b.Spent, sessions.Spending{Key: fmt.Sprint(key), At: begin.AddDate(0, 0, key%3), Tokens: sessions.Tokens{Input: sessions.MaxTokens, Output: 1}})
		}
		done, err := s.Append(t.Context(), b)
		if want := (sessions.Tokens{Input: sessions.MaxTokens, Output: 10_000}); err != nil || done.Usage.Tokens != want {
			t.Fatalf("%+v, %v", done.Usage, err)
		}
	}
	for _, id := range []sessions.ID{"pb_1", "pb_2"} {
		if err := s.DropSession(t.Context(), id); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	all, err := mustOpen(t, path, Options{}).Usage(t.Context(), "")
	if err != nil || len(all) != 3 {
		t.Fatalf("%+v, %v", all, err)
	}
	for _, u := range sessions.SumUsage(all, sessions.ByAgent) {
		if u.Tokens.Input != sessions.MaxTokens || u.Tokens.Output != 20_000 {
			t.Errorf("%+v", u)
		}
	}
}
