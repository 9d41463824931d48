package journaltest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/intake"
)

// Run is the suite: what every intake.Journal must do. fresh returns, for each
// part, a function that opens the same journal again and again, empty at first, each
// time as a process that was started anew; the one before isn't used any more.
func Run(t *testing.T, fresh func(t *testing.T) (open func() intake.Journal)) {
	t.Helper()
	for name, part := range map[string]func(t *testing.T, open func() intake.Journal){
		"what's kept waits, in order, over a restart":     keeps,
		"an update is taken once":                         takesOnce,
		"what's settled doesn't wait, and stays known":    settles,
		"tries are kept":                                  countsTries,
		"pages don't leave out or repeat":                 pages,
		"old and superfluous keys are forgotten":          forgets,
		"what waits is never forgotten":                   remembers,
		"numbers aren't used again":                       numbers,
		"any bytes are kept as they are":                  keepsBytes,
		"several may keep at a time":                      concurrent,
		"a context that has ended changes nothing at all": ended,
	} {
		t.Run(name, func(t *testing.T) { part(t, fresh(t)) })
	}
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

func updates(from, to int) (list []intake.Update) {
	for i := from; i <= to; i++ {
		list = append(list, intake.Update{Key: fmt.Sprint(i), Raw: fmt.Appendf(nil, `{"update_id":%d}`, i), KeptAt: start.Add(time.Duration(i) * time.Minute)})
	}
	return list
}

func keep(t *testing.T, j intake.Journal, list []intake.Update) []intake.Update {
	t.Helper()
	got, err := j.Keep(t.Context(), list)
	ok(t, err)
	return got
}

func waiting(t *testing.T, j intake.Journal) []intake.Update {
	t.Helper()
	list, err := j.Waiting(t.Context(), 0, 1000)
	ok(t, err)
	return list
}

func keys(list []intake.Update) string {
	var k []string
	for _, u := range list {
		k = append(k, u.Key)
	}
	return strings.Join(k, " ")
}

func want(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func keeps(t *testing.T, open func() intake.Journal) {
	t.Helper()
	given := updates(1, 3)
	slices.Reverse(given)
	fresh := keep(t, open(), given)
	want(t, "fresh", keys(fresh), "3 2 1")
	list := waiting(t, open())
	want(t, "after a restart", keys(list), "3 2 1")
	for i, u := range list {
		if u.Seq != fresh[i].Seq || i > 0 && u.Seq <= list[i-1].Seq || u.Tries != 0 || !u.KeptAt.Equal(given[i].KeptAt) || string(u.Raw) != string(given[i].Raw) {
			t.Errorf("update %d is %+v, was %+v", i, u, given[i])
		}
	}
}

func takesOnce(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	keep(t, j, updates(1, 2))
	want(t, "fresh", keys(keep(t, j, append(updates(1, 3), updates(3, 3)...))), "3")
	want(t, "fresh after a restart", keys(keep(t, open(), updates(2, 4))), "4")
	want(t, "waiting", keys(waiting(t, open())), "1 2 3 4")
}

func settles(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	list := keep(t, j, updates(1, 3))
	ok(t, j.Settle(t.Context(), list[0].Seq, intake.Handled))
	ok(t, j.Settle(t.Context(), list[1].Seq, intake.SetAside))
	ok(t, j.Settle(t.Context(), list[1].Seq, intake.Handled)) // it's settled already
	want(t, "waiting", keys(waiting(t, j)), "3")
	want(t, "waiting after a restart", keys(waiting(t, open())), "3")
	want(t, "fresh", keys(keep(t, open(), updates(1, 4))), "4")
}

func countsTries(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	list := keep(t, j, updates(1, 2))
	ok(t, j.Try(t.Context(), list[1].Seq, 5))
	j = open()
	again := waiting(t, j)
	if again[0].Tries != 0 || again[1].Tries != 5 {
		t.Errorf("the tries are %+v", again)
	}
	ok(t, j.Settle(t.Context(), list[1].Seq, intake.Handled))
	ok(t, j.Try(t.Context(), list[1].Seq, 6))
	want(t, "waiting", keys(waiting(t, j)), "1")
}

func pages(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	keep(t, j, updates(1, 25))
	var got []intake.Update
	for after := int64(0); ; {
		page, err := j.Waiting(t.Context(), after, 10)
		ok(t, err)
		if len(page) == 0 {
			break
		}
		got = append(got, page...)
		after = page[len(page)-1].Seq
	}
	want(t, "all pages", keys(got), keys(updates(1, 25)))
}

// forgets: an update that's taken again was forgotten.
func forgets(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	for i, u := range keep(t, j, updates(1, 8)) {
		ok(t, j.Settle(t.Context(), u.Seq, []intake.UpdateOutcome{intake.Handled, intake.SetAside}[i%2]))
	}
	ok(t, j.Forget(t.Context(), start.Add(3*time.Minute), 1000))
	want(t, "older than 3", keys(keep(t, j, updates(1, 3))), "1 2")
	ok(t, j.Forget(t.Context(), start, 4))
	want(t, "but the newest 4", keys(keep(t, open(), updates(1, 8))), "3 4")
}

func remembers(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	list := keep(t, j, updates(1, 4))
	ok(t, j.Settle(t.Context(), list[2].Seq, intake.Handled))
	ok(t, j.Forget(t.Context(), start.Add(time.Hour), 0))
	want(t, "waiting", keys(waiting(t, j)), "1 2 4")
	want(t, "fresh", keys(keep(t, j, updates(1, 4))), "3")
}

func numbers(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	first := keep(t, j, updates(1, 1))[0].Seq
	ok(t, j.Settle(t.Context(), first, intake.Handled))
	ok(t, j.Forget(t.Context(), start.Add(time.Hour), 0))
	if next := keep(t, open(), updates(2, 2))[0].Seq; next <= first {
		t.Errorf("number %d follows %d", next, first)
	}
}

func keepsBytes(t *testing.T, open func() intake.Journal) {
	t.Helper()
	raw := []byte("\x00\xff\xfe{\"a\":\"\xc3\x28\"}'; DROP TABLE updates; --")
	keep(t, open(), []intake.Update{{Key: "a'b\x00", Raw: raw, KeptAt: start}})
	if list := waiting(t, open()); len(list) != 1 || string(list[0].Raw) != string(raw) {
		t.Errorf("kept %+v", list)
	}
}

func concurrent(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			if _, err := j.Keep(t.Context(), updates(i*5, i*5+9)); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	list := waiting(t, j)
	if len(list) != 45 {
		t.Errorf("%d updates wait, want 45", len(list))
	}
}

func ended(t *testing.T, open func() intake.Journal) {
	t.Helper()
	j := open()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := j.Keep(ctx, updates(1, 1)); err == nil {
		t.Error("an update was kept")
	}
	want(t, "waiting", keys(waiting(t, j)), "")
}
