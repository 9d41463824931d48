package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// schemasFile has the sum of each migration's text, and that of what it makes of a database of the version before with
// rows in all tables. Lines are only added.
const schemasFile = "testdata/schemas.txt"

// migrationsUpTo are the first n migrations.
func migrationsUpTo(t *testing.T, n int) fs.FS {
	t.Helper()
	some := fstest.MapFS{}
	for i := 1; i <= n; i++ {
		name := fmt.Sprintf("%04d.sql", i)
		text, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		some[name] = &fstest.MapFile{Data: text}
	}
	return some
}

func newestVersion(t *testing.T) int {
	t.Helper()
	names, err := fs.Glob(migrations(), "*.sql")
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

// makeSchema makes a database of a version, with rows in all its tables: some that older versions wrote, and some of its own.
func makeSchema(t *testing.T, path string, version int, rows int) {
	t.Helper()
	old := agedDatabase{path: path, filler: filler{rand: rand.New(rand.NewPCG(uint64(version), 0))}}
	for _, v := range []int{(version + 1) / 2, version} {
		old.bringTo(t, v, rows)
	}
	conn := raw(t, path)
	if problems := texts(t, conn, "PRAGMA foreign_key_check"); len(problems) > 0 {
		t.Fatalf("version %d: rows refer to none: %v", version, problems)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
}

// agedDatabase is a database that's brought from one version to a later one, and has rows of each.
type agedDatabase struct {
	path   string
	filler filler
}

// bringTo brings it to a version, and writes rows into all its tables.
func (a *agedDatabase) bringTo(t *testing.T, version, rows int) {
	t.Helper()
	conn, closeAll := rawAlone(t, a.path)
	mustExec(t, conn, "PRAGMA foreign_keys = 1; PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY")
	if _, err := migrateFrom(t.Context(), conn, migrationsUpTo(t, version), a.filler.version, version); err != nil {
		t.Fatal(err)
	}
	if a.filler.version = version; version > 0 {
		mustExec(t, conn, "BEGIN")
		a.filler.fill(t, conn, rows)
		mustExec(t, conn, "COMMIT; PRAGMA journal_mode = WAL") // as users' are
	}
	closeAll()
}

// makeBig gives a database of version 1 so many bytes: three quarters are lines, the rest are receipts, all of which a
// migration rewrites.
func (a *agedDatabase) makeBig(t *testing.T, size int) {
	t.Helper()
	const row = 8192
	conn, closeAll := rawAlone(t, a.path)
	mustExec(t, conn, "PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY; BEGIN")
	mustExec(t, conn, fmt.Sprintf(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d)
		INSERT INTO lines (session, n, kind, text, at) SELECT (SELECT min(session) FROM logs), 1000000 + n, 'pane', format('%%08000d', n), n FROM i`, size/row*3/4))
	mustExec(t, conn, fmt.Sprintf(`WITH RECURSIVE i(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM i WHERE n < %d)
		INSERT INTO receipts (seq, id, session, text, submit, author, state, reason, created_at, updated_at, open)
		SELECT 1000000 + n, 'big-'||n, 'none', format('%%08000d', n), 1, 'somebody', 'submitted', 'queued: '||n, n, n, 0 FROM i`, size/row/4))
	mustExec(t, conn, "COMMIT; PRAGMA journal_mode = WAL")
	closeAll()
}

func texts(t *testing.T, conn *sql.Conn, query string, args ...any) []string {
	t.Helper()
	all, err := column[string](t.Context(), conn, query, args...)
	if err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return all
}

// filler writes rows of its own making into all tables of a database.
type filler struct {
	rand    *rand.Rand
	version int
	n       int
}

// fixed are values of columns that are read as more than text and numbers.
var fixed = map[string]string{
	"dialog": "'{}'", "answer": "NULL", "tail": "NULL", "stale": "NULL", "intent": "NULL", "state": "'ended'", "open": "0", "engine": "NULL",
	"oldest": "1", "director": "0", "next_key": "NULL", "used_key": "''", "message": "'{}'", "preview": "'none'", "kind": "'pane'", "head": "0", "turn": "0", "checked": "'[]'",
	"owned": "1", "fresh": "0", "submit": "1", "pressed": "0", "input": "1", "unbound": "0", "resting": "0", "quotes": "1", "doubt_screen": "0",
}

func (f *filler) fill(t *testing.T, conn *sql.Conn, rows int) {
	t.Helper()
	all, err := tables(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	done := map[string]bool{"sqlite_sequence": true}
	for len(done) < len(all) {
		was := len(done)
		for _, tab := range all {
			parents := texts(t, conn, `SELECT "table" FROM pragma_foreign_key_list(?)`, tab.name)
			if done[tab.name] || slices.ContainsFunc(parents, func(p string) bool { return !done[p] }) {
				continue
			}
			f.insert(t, conn, tab, rows)
			done[tab.name] = true
		}
		if len(done) == was {
			t.Fatal("tables refer to one another in a circle")
		}
	}
}

// insert writes rows into a table; what they refer to is there.
func (f *filler) insert(t *testing.T, conn *sql.Conn, tab table, rows int) {
	t.Helper()
	kinds := texts(t, conn, `SELECT type FROM pragma_table_info(?) ORDER BY cid`, tab.name)
	parents := texts(t, conn, `SELECT ifnull((SELECT format('(SELECT "%w" FROM "%w" ORDER BY 1 DESC LIMIT 1 OFFSET ', f."to", f."table") FROM pragma_foreign_key_list(?1) f WHERE f."from" = c.name), '')
		FROM pragma_table_info(?1) c ORDER BY cid`, tab.name)
	for i := range rows {
		var values []string
		for j, name := range tab.columns {
			f.n++
			value, is := fixed[name]
			switch {
			case parents[j] != "":
				value = fmt.Sprintf("%s%d)", parents[j], i)
			case is:
			case kinds[j] == "TEXT":
				value = fmt.Sprintf("'%s-%d-%d'", name, f.n, f.rand.IntN(1000))
			case kinds[j] == "BLOB":
				value = fmt.Sprintf("x'%08x'", f.rand.Uint32())
			case kinds[j] == "REAL":
				value = fmt.Sprintf("%d.5", f.n)
			default:
				value = fmt.Sprint(f.n)
			}
			values = append(values, value)
		}
		mustExec(t, conn, fmt.Sprintf(`INSERT INTO "%s" VALUES (%s)`, tab.name, strings.Join(values, ", ")))
	}
}

// dump writes what a database has, in an order that depends on that alone.
func dump(t *testing.T, path string, to io.Writer) {
	t.Helper()
	conn := raw(t, path)
	defer func() { _ = conn.Close() }()
	for _, text := range texts(t, conn, `SELECT type||' '||name||' '||tbl_name||' '||ifnull(sql, '') FROM sqlite_schema ORDER BY type, name`) {
		_, _ = fmt.Fprintln(to, text)
	}
	for _, name := range texts(t, conn, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence' ORDER BY name`) {
		var quoted []string
		columns := texts(t, conn, `SELECT format('"%w"', name) FROM pragma_table_info(?)`, name)
		for _, c := range columns {
			quoted = append(quoted, "quote("+c+")")
		}
		by := strings.Join(texts(t, conn, `SELECT format('"%w"', name) FROM pragma_table_info(?) WHERE pk ORDER BY pk`, name), ", ")
		dumpRows(t, conn, name, fmt.Sprintf(`SELECT %s FROM "%s" ORDER BY %s`, strings.Join(quoted, "||', '||"), name, by), to)
	}
}

func dumpRows(t *testing.T, conn *sql.Conn, table, query string, to io.Writer) {
	t.Helper()
	rows, err := conn.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var row sql.RawBytes
		if err := rows.Scan(&row); err != nil {
			t.Fatal(err)
		}
		_, _ = fmt.Fprintf(to, "%s %s\n", table, row)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

func sumOf(t *testing.T, path string) string {
	t.Helper()
	sum := sha256.New()
	dump(t, path, sum)
	return hexOf(sum)
}

func hexOf(sum hash.Hash) string { return fmt.Sprintf("%x", sum.Sum(nil)[:12]) }

// A migration that was released stays as it is, and what it makes of a database with rows in all tables does, too.
func TestReleasedMigrationsStayAsTheyAre(t *testing.T) {
	var got []string
	for version := range newestVersion(t) {
		name := fmt.Sprintf("%04d.sql", version+1)
		text, err := fs.ReadFile(migrations(), name)
		if err != nil {
			t.Fatal(err)
		}
		path := dbPath(t)
		makeSchema(t, path, version, 2)
		conn := raw(t, path)
		mustExec(t, conn, "PRAGMA synchronous = OFF")
		if _, err := migrateFrom(t.Context(), conn, migrations(), version, version+1); err != nil {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprintf("%s %s makes %s", name, hexOf(sum(text)), sumOf(t, path)))
	}
	data, err := os.ReadFile(schemasFile)
	if err != nil && !isGone(err) {
		t.Fatal(err)
	}
	want := strings.Fields(strings.ReplaceAll(string(data), " ", "_"))
	for i, line := range want {
		if i >= len(got) || strings.ReplaceAll(got[i], " ", "_") != line {
			t.Errorf("%s has changed, or makes something else: what databases have been through stays, and what's new is a migration of its own", strings.SplitN(line, "_", 2)[0])
		}
	}
	switch {
	case t.Failed() || len(want) == len(got):
	case *update:
		if err := os.WriteFile(schemasFile, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s lacks new migrations: go test -run %s ./internal/store -update", schemasFile, t.Name())
	}
}

// Databases of each version become ones of the newest, with all their rows.
func TestDatabasesOfEachSchemaMigrate(t *testing.T) {
	for version := 1; version <= newestVersion(t); version += drawtest.Times(1, 3, 6) {
		path := dbPath(t)
		makeSchema(t, path, version, 2)
		before := countRows(t, path)
		s, err := Open(t.Context(), path, Options{})
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		list, err1 := s.Sessions(t.Context())
		_, err2 := s.Bindings(t.Context())
		if err := errors.Join(err1, err2, s.Check(t.Context()), s.Close()); err != nil || len(list) != before["sessions"] {
			t.Errorf("version %d: %d sessions, %v", version, len(list), err)
		}
		for table, n := range countRows(t, path) {
			if was, is := before[table]; is && n < was {
				t.Errorf("version %d: %s has %d rows and had %d", version, table, n, was)
			}
		}
	}
}

func sum(text []byte) hash.Hash {
	h := sha256.New()
	_, _ = h.Write(text)
	return h
}

func countRows(t *testing.T, path string) map[string]int {
	t.Helper()
	conn := raw(t, path)
	defer func() { _ = conn.Close() }()
	all := map[string]int{}
	for _, name := range texts(t, conn, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'sqlite_sequence'`) {
		var n int
		if err := conn.QueryRowContext(t.Context(), `SELECT count(*) FROM "`+name+`"`).Scan(&n); err != nil {
			t.Fatal(err)
		}
		all[name] = n
	}
	return all
}

// A migration that fails, at whatever step, leaves the version that the database had, and all its rows.
func TestAMigrationThatFailsLeavesTheOldVersion(t *testing.T) {
	newest := newestVersion(t)
	random := drawtest.Rand(t, 0)
	for range drawtest.Times(200, 10, 5) {
		version := 1 + random.IntN(newest-1)
		bad := version + 1 + random.IntN(newest-version)
		path := dbPath(t)
		makeSchema(t, path, version, 2)
		before := sumOf(t, path)
		steps, _ := migrationsUpTo(t, newest).(fstest.MapFS)
		name := fmt.Sprintf("%04d.sql", bad)
		steps[name] = &fstest.MapFile{Data: append(slices.Clone(steps[name].Data), "\nINSERT INTO none VALUES (1);"...)}
		conn := raw(t, path)
		was, is, err := migrate(t.Context(), conn, steps, newestSchema)
		if err == nil || was != version || is != version || !strings.Contains(err.Error(), name) {
			t.Errorf("version %d with a bad step %d: from %d to %d, %v", version, bad, was, is, err)
		}
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		if sumOf(t, path) != before {
			t.Errorf("version %d with a bad step %d: the database has changed", version, bad)
		}
	}
}

// migrateChildEnv makes the test binary open the database that it names, and say so before and behind that.
const migrateChildEnv = "PANEBRIDGE_TEST_MIGRATE_CHILD"

func migrateChild(path string) error {
	_, _ = fmt.Println("begins") //nolint:forbidigo // the test that has started it reads that
	s, err := Open(context.Background(), path, Options{})
	if err != nil {
		return err
	}
	_, _ = fmt.Println("done") //nolint:forbidigo // the same
	return s.Close()
}

// startMigration has a child migrate a database, and returns once it begins.
func startMigration(t *testing.T, path string) (child *exec.Cmd, out *bufio.Reader) {
	t.Helper()
	child = exec.CommandContext(t.Context(), os.Args[0])
	child.Env = append(os.Environ(), migrateChildEnv+"="+path)
	child.Stderr = os.Stderr
	pipe, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	out = bufio.NewReader(pipe)
	if said, err := out.ReadString('\n'); said != "begins\n" {
		t.Fatalf("it says %q, %v", said, err)
	}
	return child, out
}

// Killed at any moment, a migration leaves the old version or the new one, and each of them to the byte as it is without a
// kill. Whoever opens the database next does what's left.
func TestAMigrationThatsKilledLeavesTheOldOrTheNew(t *testing.T) {
	random := drawtest.Rand(t, 0)
	folder := t.TempDir()
	size := drawtest.Times(1<<30, 4<<20, 1<<20) // bytes
	old := agedDatabase{path: filepath.Join(folder, "original.db"), filler: filler{rand: random}}
	old.bringTo(t, 1, 3)
	old.makeBig(t, size)
	versions := random.Perm(newestVersion(t) - 1)[:drawtest.Times(10, 2, 1)]
	slices.Sort(versions)
	var all killedMigrations
	for _, v := range versions {
		if v > 0 {
			old.bringTo(t, v+1, 3)
		}
		all.kill(t, random, old, filepath.Join(folder, "target.db"))
	}
	t.Logf("%d MB: killed, %d were old and %d new", size>>20, all.old, all.new)
	if drawtest.Stressed() && all.old == 0 { // a few kills may all come late
		t.Error("no kill came amid of a migration")
	}
}

// killedMigrations counts what kills have left.
type killedMigrations struct{ old, new int }

// kill migrates copies of a database, and kills that at moments that are drawn from all that it takes. What's left is
// compared by its sum with the database as it was, and as it is without a kill, of which all is looked at once.
func (k *killedMigrations) kill(t *testing.T, random *rand.Rand, old agedDatabase, target string) {
	t.Helper()
	copyChanged(t, old.path, target)
	before := fileSum(t, target)
	began := time.Now()
	child, out := startMigration(t, target)
	if said, err := out.ReadString('\n'); said != "done\n" {
		t.Fatalf("it says %q, %v", said, err)
	}
	done := time.Since(began)
	if err := child.Wait(); err != nil {
		t.Fatal(err)
	}
	took := time.Since(began)
	after := fileSum(t, target)
	if is := soundVersion(t, target); is != newestVersion(t) {
		t.Fatalf("it has version %d", is)
	}
	wasOld, wasNew := k.old, k.new
	changed := copyChanged(t, old.path, target)
	for range drawtest.Times(5, 3, 3) {
		at := time.Duration(random.Int64N(int64(took)))
		if random.IntN(2) == 0 { // the commit, and what comes behind it
			at = done*2/3 + time.Duration(random.Int64N(int64(took-done*2/3)))
		}
		child, _ := startMigration(t, target)
		<-time.NewTimer(at).C
		_ = child.Process.Kill() // it may have ended
		_ = child.Wait()
		is := versionOf(t, target)
		switch left := fileSum(t, target); {
		case is == old.filler.version && left == before:
			k.old++ // the next kill is of this one
		case is == newestVersion(t) && left == after:
			k.new++
			openOnce(t, target)
			if fileSum(t, target) != after {
				t.Error("opened afterwards it isn't what it is without a kill")
			}
			copyChanged(t, old.path, target)
		default:
			t.Fatalf("killed after %v it has version %d, from %d, and isn't the database as it was or is to be", at, is, old.filler.version)
		}
	}
	openOnce(t, target)
	if fileSum(t, target) != after {
		t.Error("opened in the end it isn't what it is without a kill")
	}
	t.Logf("from version %d in %v, of which %v until it's open, %d MB were changed; killed, %d were old and %d new", old.filler.version, took, done, changed>>20, k.old-wasOld, k.new-wasNew)
}

func openOnce(t *testing.T, path string) {
	t.Helper()
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}

// soundVersion looks at all of a database, and returns its version.
func soundVersion(t *testing.T, path string) int {
	t.Helper()
	conn, closeAll := rawAlone(t, path)
	if problems := texts(t, conn, "PRAGMA integrity_check"); !slices.Equal(problems, []string{"ok"}) {
		t.Errorf("it's damaged: %v", problems)
	}
	closeAll()
	return versionOf(t, path)
}

// fileSum is the sum of a database's file; there's nothing beside it.
func fileSum(t *testing.T, path string) string {
	t.Helper()
	if info, err := os.Stat(path + walSuffix); err == nil && info.Size() > 0 {
		t.Fatalf("%d bytes stand in its write-ahead log", info.Size())
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.New()
	_, err = io.Copy(sum, file)
	if err := errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
	return hexOf(sum)
}

// copyChanged makes a file what another is, and returns how many bytes it wrote: a gigabyte is read in a second, and
// written in eight.
func copyChanged(t *testing.T, from, to string) (changed int64) {
	t.Helper()
	in, err1 := os.Open(from)
	out, err2 := os.OpenFile(to, os.O_CREATE|os.O_RDWR, 0o600)
	if err := errors.Join(err1, err2); err != nil {
		t.Fatal(err)
	}
	want, has := make([]byte, 64<<10), make([]byte, 64<<10)
	size := int64(0)
	for {
		n, err := in.ReadAt(want, size)
		if err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		if n == 0 {
			break
		}
		if m, _ := out.ReadAt(has[:n], size); !bytes.Equal(has[:m], want[:n]) {
			if _, err := out.WriteAt(want[:n], size); err != nil {
				t.Fatal(err)
			}
			changed += int64(n)
		}
		size += int64(n)
	}
	if err := errors.Join(out.Truncate(size), out.Close(), in.Close()); err != nil {
		t.Fatal(err)
	}
	return changed
}

// versionOf is a database's version. Behind it there's no write-ahead log, and the file has all.
func versionOf(t *testing.T, path string) int {
	t.Helper()
	conn, closeAll := rawAlone(t, path)
	defer closeAll()
	is, err := version(t.Context(), conn)
	if err != nil {
		t.Fatal(err)
	}
	return is
}

// rawAlone is raw for who's alone with a database, and leaves it whole in its file.
func rawAlone(t *testing.T, path string) (conn *sql.Conn, closeAll func()) {
	t.Helper()
	db, err := openSingle(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return db.conn, func() {
		if err := db.close(); err != nil {
			t.Fatal(err)
		}
	}
}
