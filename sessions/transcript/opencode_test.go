package transcript

import (
	"bytes"
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// placeDatabase makes a database of SQL, as opencode leaves it, and returns its first
// conversation.
func placeDatabase(tb testing.TB, script string) Ref {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "opencode.db")
	db := writable(tb, path)
	if _, err := db.Exec(script); err != nil {
		tb.Fatal(err)
	}
	ref := Ref{Format: OpenCode, Path: path}
	if err := db.QueryRow("SELECT id FROM session WHERE parent_id IS NULL ORDER BY time_created LIMIT 1").Scan(&ref.Session); err != nil {
		tb.Fatal(err)
	}
	if err := db.Close(); err != nil {
		tb.Fatal(err)
	}
	return ref
}

func writable(tb testing.TB, path string) *sql.DB {
	tb.Helper()
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(WAL)&_pragma=busy_timeout(5000)&_pragma=synchronous(0)")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = db.Close() })
	return db
}

func TestOpenCodeQueriesUseIndexes(t *testing.T) {
	script := string(unzip(t, "testdata/opencode-all.sql.gz"))
	db := writable(t, placeDatabase(t, script).Path)
	for _, query := range []struct {
		sql  string
		args []any
	}{
		{openCodeMessages, []any{maxLine, "s", 1, "m", 1}},
		{openCodeParts, []any{maxLine, "m"}},
	} {
		rows, err := db.Query("EXPLAIN QUERY PLAN "+query.sql, query.args...)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		steps := 0
		for rows.Next() {
			var a, b, c int
			var step string
			if err := rows.Scan(&a, &b, &c, &step); err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(step, "SEARCH ") {
				t.Errorf("%s: %s", query.sql, step)
			}
			steps++
		}
		if err := rows.Err(); err != nil || steps == 0 {
			t.Errorf("%d steps: %v", steps, err)
		}
	}
}

// rows are the statements that fill a database, and those before them that make it.
func rows(t *testing.T) (made string, rows []string) {
	t.Helper()
	for line := range strings.SplitSeq(string(unzip(t, "testdata/opencode-all.sql.gz")), "\n") {
		if strings.HasPrefix(line, "insert into message") || strings.HasPrefix(line, "insert into part") {
			rows = append(rows, line)
		} else {
			made += line + "\n"
		}
	}
	return made, rows
}

// A database that grows row by row, each of the model's rows first unfinished, gives
// the same answers, in order and once, whenever it's read and wherever the reader is
// begun anew.
func TestOpenCodeIsReadWhileItGrows(t *testing.T) {
	whole := placeDatabase(t, string(unzip(t, "testdata/opencode-all.sql.gz")))
	want := rest(t, open(t, whole, nil))
	finished := writable(t, whole.Path)
	steps := growth(t, finished)
	made, _ := rows(t)
	drawtest.CheckTimes(t, drawtest.Times(100, 30, 20), func(rt *rapid.T) {
		ref := whole
		ref.Path = filepath.Join(t.TempDir(), "opencode.db")
		db := writable(t, ref.Path)
		defer db.Close()
		if _, err := db.Exec(made); err != nil {
			rt.Fatal(err)
		}
		r, err := Open(ref, nil)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = r.Close() }()
		var got []Record
		look := func() int {
			records, err := r.Read(context.Background(), rapid.IntRange(1, 9).Draw(rt, "max"))
			if err != nil {
				rt.Fatal(err)
			}
			got = append(got, records...)
			if rapid.IntRange(0, 3).Draw(rt, "restart") == 0 {
				cursor := r.Cursor()
				_ = r.Close()
				if r, err = Open(ref, cursor); err != nil {
					rt.Fatal(err)
				}
			}
			return len(records)
		}
		for _, s := range steps {
			if _, err := db.Exec(s.sql, s.args...); err != nil {
				rt.Fatal(err)
			}
			if rapid.Bool().Draw(rt, "look") {
				look()
			}
		}
		for more := true; more; {
			more = look() > 0
		}
		if diff := gocmp.Diff(spoken(want), spoken(got)); diff != "" {
			rt.Fatalf("records (-whole +grown):\n%s", diff)
		}
		if diff := gocmp.Diff(usedIn(want), usedIn(got)); diff != "" {
			rt.Fatalf("used (-whole +grown):\n%s", diff)
		}
		if len(got) != len(want) {
			rt.Fatalf("%d records, want %d", len(got), len(want))
		}
	})
}

// spoken leaves out tools and what was used: their results, and what a message took when it's complete, come
// when they come.
func spoken(records []Record) []Record {
	return slices.DeleteFunc(slices.Clone(records), func(r Record) bool { return r.Kind == Tool || r.Kind == ToolResult || r.Kind == Used })
}

// usedIn is what was used, by the keys.
func usedIn(records []Record) map[string]AnswerUse {
	out := map[string]AnswerUse{}
	for _, r := range records {
		if r.Kind == Used {
			out[r.Usage.Key] = *r.Usage
		}
	}
	return out
}

type step struct {
	sql  string
	args []any
}

// growth is how a database came to be: rows in the order of their creation, the
// model's first as they are while it's at work.
func growth(t *testing.T, db *sql.DB) []step {
	t.Helper()
	type row struct {
		table, id, message, session, data string
		created, updated                  int64
		at                                int64
	}
	var all []row
	for _, table := range []string{"message", "part"} {
		message := "''"
		if table == "part" {
			message = "message_id"
		}
		found, err := db.Query("SELECT id, " + message + ", session_id, time_created, time_updated, data FROM " + table)
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			r := row{table: table}
			if err := found.Scan(&r.id, &r.message, &r.session, &r.created, &r.updated, &r.data); err != nil {
				t.Fatal(err)
			}
			r.at = r.created
			all = append(all, r)
			r.at = r.updated
			all = append(all, r)
		}
		if err := found.Err(); err != nil {
			t.Fatal(err)
		}
	}
	slices.SortStableFunc(all, func(a, b row) int { return cmp.Compare(a.at, b.at) })
	var steps []step
	for _, r := range all {
		data := r.data
		if r.at == r.created {
			data = unfinished(data)
		}
		if r.table == "message" {
			steps = append(steps, step{"INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", []any{r.id, r.session, r.created, r.at, data}})
		} else {
			steps = append(steps, step{"INSERT OR REPLACE INTO part VALUES (?, ?, ?, ?, ?, ?)", []any{r.id, r.message, r.session, r.created, r.at, data}})
		}
	}
	return steps
}

// unfinished is a row's data as it is at first.
func unfinished(data string) string {
	var d map[string]any
	if json.Unmarshal([]byte(data), &d) != nil {
		return data
	}
	if d["role"] == "assistant" {
		delete(d, "finish")
		delete(d, "error")
		delete(d["time"].(map[string]any), "completed")
		d["tokens"], d["cost"] = map[string]any{"input": 0, "output": 0, "reasoning": 0, "cache": map[string]any{"read": 0, "write": 0}}, 0
	}
	if at, ok := d["time"].(map[string]any); ok && d["type"] == "text" {
		d["text"] = d["text"].(string)[:1]
		delete(at, "end")
	}
	if d["type"] == "tool" {
		d["state"] = map[string]any{"status": "pending", "input": map[string]any{}}
	}
	out, err := json.Marshal(d)
	if err != nil {
		return data
	}
	return string(out)
}

// Reading leaves the database as it is, and no files beside it.
func TestOpenCodesDatabaseIsntTouched(t *testing.T) {
	ref := placeDatabase(t, string(unzip(t, "testdata/opencode-all.sql.gz")))
	dir := filepath.Dir(ref.Path)
	before, err := os.ReadFile(ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	r := open(t, ref, nil)
	if len(rest(t, r)) == 0 {
		t.Fatal("read nothing")
	}
	after, err := os.ReadFile(ref.Path)
	if err != nil {
		t.Fatal(err)
	}
	files, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) || len(files) != 1 {
		t.Errorf("changed: %v; files %v", !bytes.Equal(before, after), files)
	}
	// A writer isn't held up, not even by a reader that has it open.
	db := writable(t, ref.Path)
	if _, err := db.Exec("UPDATE message SET time_updated = time_updated + 1"); err != nil {
		t.Fatal(err)
	}
	expect(t, r, "")
	if _, err := db.Exec("BEGIN EXCLUSIVE; UPDATE message SET time_updated = time_updated + 1; COMMIT; PRAGMA wal_checkpoint(TRUNCATE)"); err != nil {
		t.Errorf("the writer was held up: %v", err)
	}
}

func TestOpenCodeNeedsASession(t *testing.T) {
	if _, err := Open(Ref{Format: OpenCode, Path: "/x/opencode.db"}, nil); err == nil {
		t.Error("opened without a session")
	}
}
