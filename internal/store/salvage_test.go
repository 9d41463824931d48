package store

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
)

// rowsPerTable is how many rows fillAll writes into each table, besides lines.
const rowsPerTable = 60

// fillAll makes a database with rows in all tables, and two thousand lines in three sessions.
func fillAll(t *testing.T, path string) {
	t.Helper()
	ctx := t.Context()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	all, err := tables(ctx, s.write.conn)
	if err != nil {
		t.Fatal(err)
	}
	mustExec(t, s.write.conn, "PRAGMA foreign_keys = 0")
	for _, one := range all {
		switch one.name {
		case "sqlite_sequence", "lines", "turns", "gaps", "logs":
			continue
		}
		for i := range rowsPerTable {
			var values []any
			for _, c := range one.columns {
				values = append(values, valueOf(t, s.write.conn, one.name, c, i+1))
			}
			mustExec(t, s.write.conn, `INSERT INTO "`+one.name+`" ("`+strings.Join(one.columns, `", "`)+`") VALUES (?`+strings.Repeat(", ?", len(values)-1)+`)`, values...)
		}
	}
	mustExec(t, s.write.conn, "INSERT INTO logs (session) SELECT seq FROM sessions")
	random := rand.New(rand.NewPCG(1, 2))
	for i := range 3 {
		id := sessions.ID(fmt.Sprint("pb_", i))
		mustPut(t, s, id)
		for n := range 15 {
			b := polling.Batch{Session: id, Turn: &sessions.Turn{Number: int64(n + 1)}, Engine: []byte(strings.Repeat("e", 3000))}
			for range 50 {
				width := 1 + random.IntN(120)
				if random.IntN(100) == 0 {
					width = 10_000
				}
				b.Lines = append(b.Lines, sessions.Line{Kind: sessions.KindPane, Text: strings.Repeat("x", width)})
			}
			mustAppend(t, s, b)
		}
	}
	if err := s.Erase(ctx); err != nil { // all of it is in the file
		t.Fatal(err)
	}
}

// valueOf is what a column may have in row i: its type's, JSON where that's read, and what other tables refer to.
func valueOf(t *testing.T, conn *sql.Conn, table, name string, i int) any {
	t.Helper()
	kind, err := column[string](t.Context(), conn, "SELECT type FROM pragma_table_info(?) WHERE name = ?", table, name)
	if err != nil {
		t.Fatal(err)
	}
	switch {
	case kind[0] == "INTEGER" && name == "until":
		return int64(1) << 62
	case kind[0] == "INTEGER" && slices.Contains([]string{"open", "done", "owned", "submit", "pressed", "input", "unbound", "resting"}, name):
		return i % 2
	case kind[0] == "INTEGER":
		return i
	case kind[0] == "REAL":
		return 1.5
	case kind[0] == "BLOB":
		return []byte{1, 2, byte(i)}
	case slices.Contains([]string{"dialog", "answer", "message", "tail", "stale", "intent"}, name) && (table == "prompts" || table == "waiting" || table == "documents"):
		return "{}"
	}
	return fmt.Sprint("t", i)
}

// contents are all rows of a database, by table and as one text each.
func contents(ctx context.Context, path string) (map[string]map[string]bool, error) {
	name, err := dsn(path, "query_only(1)")
	if err != nil {
		return nil, err
	}
	s, err := openSingle(ctx, name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.close() }()
	all, err := tables(ctx, s.conn)
	if err != nil {
		return nil, err
	}
	out := map[string]map[string]bool{}
	for _, t := range all {
		out[t.name] = map[string]bool{}
		c := copier{from: s.conn}
		err := c.each(ctx, `SELECT "`+strings.Join(t.columns, `", "`)+`" FROM "`+t.name+`"`, nil, len(t.columns), func(row []any) error {
			out[t.name][fmt.Sprint(row...)] = true
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.name, err)
		}
	}
	return out, nil
}

// damage writes over some of a database's pages or a byte of its header, or cuts its file short.
func damage(rt *rapid.T, path string) (pages []int64) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		rt.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		rt.Fatal(err)
	}
	const page = 4096
	count := info.Size() / page
	if rapid.IntRange(0, 4).Draw(rt, "cut short") == 0 {
		size := rapid.Int64Range(0, info.Size()-1).Draw(rt, "size")
		if err := f.Truncate(size); err != nil {
			rt.Fatal(err)
		}
		return []int64{0}
	}
	if rapid.IntRange(0, 3).Draw(rt, "header") == 0 {
		at := rapid.Int64Range(0, 99).Draw(rt, "byte of the header")
		if _, err := f.WriteAt([]byte{rapid.Byte().Draw(rt, "value")}, at); err != nil {
			rt.Fatal(err)
		}
		return []int64{0}
	}
	for range rapid.SampledFrom([]int{1, 1, 2, 5, 20}).Draw(rt, "pages") {
		n := rapid.Int64Range(0, count-1).Draw(rt, "page")
		what := make([]byte, page)
		if rapid.Bool().Draw(rt, "noise") {
			seed := rapid.Uint64().Draw(rt, "seed")
			r := rand.New(rand.NewPCG(seed, seed))
			for i := range what {
				what[i] = byte(r.Uint32())
			}
		}
		if _, err := f.WriteAt(what, n*page); err != nil {
			rt.Fatal(err)
		}
		pages = append(pages, n)
	}
	return pages
}

// What can be read of a damaged database is saved, and what couldn't be is told: nothing is there that
// wasn't, lines that are missing have a gap in their place, and it's sound and goes on.
func TestWhatCanBeReadOfADamagedDatabaseIsSaved(t *testing.T) {
	ctx := t.Context()
	original := dbPath(t)
	fillAll(t, original)
	before, err := contents(ctx, original)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(original)
	if err != nil {
		t.Fatal(err)
	}
	var single, nearlyAll, kept, all int // databases with one damaged page that isn't the first, and their lines
	drawtest.CheckTimes(t, drawtest.Times(100, 20, 20), func(rt *rapid.T) {
		folder, err := os.MkdirTemp(t.TempDir(), "")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(folder) }()
		path := filepath.Join(folder, "pb.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			rt.Fatal(err)
		}
		pages := damage(rt, path)
		damaged, err := os.ReadFile(path)
		if err != nil {
			rt.Fatal(err)
		}
		out, err := Salvage(ctx, path, slog.New(slog.DiscardHandler))
		if err != nil {
			rt.Fatal(err)
		}
		if err := Examine(ctx, path); err != nil {
			rt.Fatal(err)
		}
		after, err := contents(ctx, path)
		if err != nil {
			rt.Fatal(err)
		}
		checkSalvaged(rt, before, after, out)
		if len(pages) == 1 && pages[0] > 0 {
			single, kept, all = single+1, kept+len(after["lines"]), all+len(before["lines"])
			if len(after["lines"]) >= len(before["lines"])*9/10 {
				nearlyAll++
			}
		}
		checkOpens(ctx, rt, path)
		if again, err := os.ReadFile(out.Kept); err != nil || !bytes.Equal(again, damaged) {
			rt.Errorf("the damaged file of %d bytes isn't kept as it was: %d bytes, %v", len(damaged), len(again), err)
		}
	})
	// One page of the schema's loses all: a mean of so few would hang on how many of these are drawn.
	if single > 10 && nearlyAll < single/2 {
		t.Errorf("of %d databases with one damaged page, nine tenths of the lines were saved in %d", single, nearlyAll)
	}
	t.Logf("one damaged page, %d times: %d of %d lines saved", single, kept, all)
}

// checkSalvaged compares what's in a database with what was.
func checkSalvaged(rt *rapid.T, before, after map[string]map[string]bool, out Salvaged) {
	rt.Helper()
	told := map[string]bool{}
	for _, l := range out.Lost {
		told[l.Table] = true
	}
	for name, rows := range before {
		missing := 0
		for row := range rows {
			if !after[name][row] && len(row) <= 2000 {
				missing++
			}
		}
		if missing > 0 && !told[name] && !told["everything"] && name != "sqlite_sequence" {
			rt.Errorf("%d rows of %s are missing, and what's said is: %s", missing, name, out)
		}
	}
	for name, rows := range after {
		for row := range rows {
			isLong := len(row) > 2000 // it goes on in other pages, in which nothing tells that they're damaged
			if !before[name][row] && name != "sqlite_sequence" && name != "logs" && !isLong && !strings.Contains(row, damagedReason) {
				rt.Errorf("%s has a row that wasn't there: %.200s", name, row)
			}
		}
	}
}

// checkOpens opens a salvaged database as the daemon does, reads each log to its end and appends to it.
func checkOpens(ctx context.Context, rt *rapid.T, path string) {
	rt.Helper()
	s, err := Open(ctx, path, Options{})
	if err != nil {
		rt.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	all, err := s.Sessions(ctx)
	if err != nil {
		rt.Fatal(err)
	}
	for _, one := range all {
		if !strings.HasPrefix(string(one.ID), "pb_") {
			continue
		}
		a, err := s.Append(ctx, polling.Batch{Session: one.ID, Lines: paneLines(1, 1)})
		if err != nil {
			rt.Fatal(err)
		}
		seen := int64(0)
		for c := CursorAt(0); ; {
			page, next, err := s.ReadSince(ctx, one.ID, c, 0)
			if err != nil {
				rt.Fatal(err)
			}
			seen += int64(len(page.Lines))
			for _, g := range page.Gaps {
				seen += g.AtLeast
			}
			if len(page.Lines) == 0 {
				break
			}
			c = next
		}
		if seen != a.Head {
			rt.Errorf("%s: lines and gaps are %d, and its last line has the number %d", one.ID, seen, a.Head)
		}
	}
}

// A database that a newer panebridge made is left as it is.
func TestANewerDatabaseIsNotSalvaged(t *testing.T) {
	path := dbPath(t)
	mustExec(t, raw(t, path), `PRAGMA user_version = 9999`)
	if _, err := Salvage(t.Context(), path, slog.New(slog.DiscardHandler)); !errors.Is(err, ErrTooNew) {
		t.Errorf("got %v", err)
	}
	if all, err := filepath.Glob(path + "-*damaged*"); err != nil || len(all) > 0 {
		t.Errorf("there are %v, %v", all, err)
	}
}

// A damaged database is told of, with what couldn't be read of it, as long as it lies there: whether anybody knows what
// was lost or not. What's known of one that was removed goes.
func TestADamagedDatabaseIsToldOfAsLongAsItLies(t *testing.T) {
	path := dbPath(t)
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	saved, err := Salvage(t.Context(), path, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	older := path + "-damaged-20260102T030405Z"
	for _, other := range []string{older, older + walSuffix, path + "-damaged-notes", path + "-keeps-20260102T030405Z"} {
		if err := os.WriteFile(other, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	mustTell := func(want ...string) {
		t.Helper()
		if err := ForgetGoneAsides(path); err != nil {
			t.Fatal(err)
		}
		all, err := Asides(path)
		if err != nil || len(all) != len(want) {
			t.Fatalf("there are %v, %v; want %q", all, err, want)
		}
		for i, words := range want {
			if said := all[i].String(); !strings.Contains(said, words) || !strings.Contains(said, "rm "+all[i].Path+"*") {
				t.Errorf("it says %q", said)
			}
		}
	}
	mustTell(older+". Another was written in its place; what of it couldn't be read isn't known any more", saved.Kept+". Another was written in its place; nothing of it could be read")
	if err := errors.Join(os.Remove(older), os.Rename(saved.Kept, path+"-elsewhere")); err != nil {
		t.Fatal(err)
	}
	mustTell()
	if left, err := filepath.Glob(path + "*" + lostSuffix); err != nil || len(left) > 0 {
		t.Errorf("left are %v, %v", left, err)
	}
}
