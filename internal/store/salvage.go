package store

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/regular"
)

const (
	// unsoundSuffix is behind the database's name in that of a file which says that it's damaged.
	unsoundSuffix = "-unsound"
	// maxUnsound is how many bytes it has at most.
	maxUnsound = 64 << 10
)

// Salvaged is what became of a damaged database.
type Salvaged struct {
	Kept string // where the damaged file is now
	Lost []Loss // in the order of the tables' names
}

// Loss is what couldn't be read of a table.
type Loss struct {
	Table string
	Rows  int64 // at least so many; 0: nobody knows
}

// String names what's lost in words.
func (s Salvaged) String() string {
	switch {
	case len(s.Lost) == 0:
		return "nothing of it is lost"
	case s.Lacks():
		return "nothing of it could be read"
	}
	var all []string
	for _, l := range s.Lost {
		what := strings.ReplaceAll(l.Table, "_", " ")
		if l.Rows > 0 {
			what = fmt.Sprintf("%s (%d)", what, l.Rows)
		}
		all = append(all, what)
	}
	return "not all of these could be read: " + strings.Join(all, ", ")
}

// Lacks reports whether rows of one of these tables are lost.
func (s Salvaged) Lacks(tables ...string) bool {
	return slices.ContainsFunc(s.Lost, func(l Loss) bool { return l.Table == everything || slices.Contains(tables, l.Table) })
}

// everything is the table of a Loss of all there was.
const everything = "everything"

// Salvage puts a new database in the place of a damaged one, with all that can still be read of
// that. The damaged file stays beside it under another name. Nobody may have the database open. It
// blocks until that's done: some seconds for a gigabyte. Where it fails, for want of room for
// instance, the damaged database has its name still.
func Salvage(ctx context.Context, path string, log *slog.Logger) (out Salvaged, err error) {
	defer func() { err = explain("save what can be read of "+path, path, err) }()
	gate, err := openEntrance(path, gateWaitOthers)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { err = errors.Join(err, gate.close()) }()
	defer gate.enter()()
	fresh := path + newSuffix
	held, err := beginRewrite(fresh)
	if err != nil {
		return Salvaged{}, err
	}
	defer func() { err = errors.Join(err, removeAll(fresh), held.Close()) }() // nothing is removed where it has the name
	rest, err := takePartOfPage(path)
	if err != nil {
		return Salvaged{}, err
	}
	out.Lost, err = salvageInto(ctx, path, fresh, log)
	if err = errors.Join(err, appendTo(path, rest)); err != nil {
		return Salvaged{}, err
	}
	out.Kept = nameAside(path, damagedSuffix)
	if err := noteLost(out.Kept, out); err != nil {
		return Salvaged{}, err
	}
	if err := swap(path, out.Kept, fresh); err != nil {
		return Salvaged{}, err
	}
	return out, nil
}

// pageBytes is how large the pages of a database are: SQLite's usual size.
const pageBytes = 4096

// takePartOfPage takes what a file has behind its whole pages, which was cut in the middle of one, off it, and returns
// that: SQLite would take zeros for the rest of the page. A file whose header isn't that of one of our databases
// stays as it is.
func takePartOfPage(path string) (rest []byte, err error) {
	f, err := regular.OpenKept(path, 0)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	header := make([]byte, 18) // the last two bytes are the size of a page
	if _, err := f.ReadAt(header, 0); err != nil {
		return nil, nil // it has no page
	}
	info, err := f.Stat()
	if err != nil || string(header[:16]) != sqliteMagic || binary.BigEndian.Uint16(header[16:]) != pageBytes {
		return nil, err
	}
	whole := info.Size() - info.Size()%pageBytes
	rest = make([]byte, info.Size()-whole)
	if _, err := f.ReadAt(rest, whole); err != nil || len(rest) == 0 {
		return nil, err
	}
	return rest, f.Truncate(whole)
}

// appendTo puts bytes behind a file's end.
func appendTo(path string, rest []byte) (err error) {
	if len(rest) == 0 {
		return nil
	}
	f, err := regular.OpenKept(path, os.O_APPEND)
	if err != nil {
		return err
	}
	_, err = f.Write(rest)
	return errors.Join(err, f.Close())
}

// swap gives fresh the name of a database that's kept under another. The database goes first: as long as it has its
// name it has its write-ahead log, too, and the next start saves anew what can be read of both.
func swap(path, kept, fresh string) error {
	salvaged := path + salvagedSuffix
	if err := os.Rename(fresh, salvaged); err != nil {
		return err
	}
	if err := os.Rename(path, kept); err != nil {
		return errors.Join(err, removeAll(salvaged))
	}
	if err := os.Rename(path+walSuffix, kept+walSuffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return giveName(salvaged, path)
}

// salvageInto writes what can be read of a damaged database into a new one.
func salvageInto(ctx context.Context, damaged, fresh string, log *slog.Logger) (lost []Loss, err error) {
	to, err := openFresh(ctx, fresh)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, to.close()) }()
	from, err := openDamaged(ctx, damaged)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	is, newest, err := versions(ctx, from.conn, migrations())
	if errors.Is(err, ErrTooNew) || ctx.Err() != nil {
		return nil, err
	}
	if err != nil || is == 0 { // not even its first page can be read
		log.WarnContext(ctx, "nothing of the damaged database can be read", "err", err)
		lost = []Loss{{Table: everything}}
		is = 0
	}
	if _, err := migrateFrom(ctx, to.conn, migrations(), 0, is); err != nil {
		return nil, err
	}
	c := copier{from: from.conn, to: to.conn, log: log, lost: map[string]bool{}}
	if is > 0 {
		if err := c.copyAll(ctx); err != nil {
			return nil, err
		}
	}
	if _, err := migrateFrom(ctx, to.conn, migrations(), is, newest); err != nil {
		return nil, err
	}
	rows, err := mend(ctx, to.conn)
	if err != nil {
		return nil, err
	}
	for name := range c.lost {
		rows[name] += 0
	}
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		lost = append(lost, Loss{name, rows[name]})
	}
	return lost, syncFile(fresh)
}

// single is a database with one connection.
type single struct {
	db   *sql.DB
	conn *sql.Conn
}

func openSingle(ctx context.Context, name string) (s single, err error) {
	if s.db, err = sql.Open("sqlite", name); err != nil {
		return single{}, err
	}
	if s.conn, err = s.db.Conn(ctx); err != nil {
		return single{}, errors.Join(err, s.db.Close())
	}
	return s, nil
}

func (s single) close() error { return errors.Join(s.conn.Close(), s.db.Close()) }

// openFresh opens a new database; what's written to it isn't safe until its file is synced.
func openFresh(ctx context.Context, path string) (single, error) {
	name, err := dsn(path, writes[0], "journal_mode(OFF)", "synchronous(OFF)")
	if err != nil {
		return single{}, err
	}
	s, err := openSingle(ctx, name)
	if err != nil {
		return single{}, err
	}
	// What refers to others comes before them, and is looked at last: see mend.
	if _, err := s.conn.ExecContext(ctx, "PRAGMA foreign_keys = 0"); err != nil {
		return single{}, errors.Join(err, s.close())
	}
	return s, nil
}

// openDamaged opens a database to read what it can. Its write-ahead log counts, and isn't written
// into it.
func openDamaged(ctx context.Context, path string) (single, error) {
	// The second reads what it can of a schema that isn't whole.
	name, err := dsn(path, "query_only(1)", "writable_schema(1)", "cell_size_check(1)")
	if err != nil {
		return single{}, err
	}
	return openSingle(ctx, name+"&mode=ro")
}

func syncFile(path string) error {
	f, err := regular.OpenKept(path, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Unsound returns an ErrDamaged if a database was found damaged while it was used; nil otherwise.
func Unsound(path string) error {
	if err := checkFile(path + unsoundSuffix); err != nil {
		return explain("open store "+path, path, err)
	}
	found, err := regular.Read(path+unsoundSuffix, maxUnsound)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return explain("open store "+path, path, err)
	}
	return damaged("open store "+path, path, errors.New(strings.TrimSpace(string(found))))
}

// noteUnsound has the next start save what can be read: reading all of a database to find out takes
// too long to do it at every one.
func noteUnsound(path string, found error) error {
	f, err := regular.OpenKept(path+unsoundSuffix, os.O_CREATE|os.O_TRUNC)
	if err != nil {
		return err
	}
	text := found.Error()
	_, err = f.WriteString(text[:min(len(text), maxUnsound-1)] + "\n")
	return errors.Join(err, f.Close())
}

// damagedReason is of the gap that stands for lines that couldn't be read.
const damagedReason = "lost: the database was damaged"

// sequenceLeap is how far the next number of rows that were taken off lies behind those that are left:
// what was lost may have had higher ones, and none may come again.
const sequenceLeap = 1_000_000

// mendings make a database whole that lacks rows, in their order. Each names the table whose rows are
// lost where it changes some; "": it restores.
var mendings = []struct{ table, query string }{ //nolint:gochecknoglobals // a constant table
	{"logs", `INSERT INTO logs (session) SELECT seq FROM sessions WHERE seq NOT IN (SELECT session FROM logs)`},
	{"", `UPDATE logs SET head = max(head, ifnull((SELECT max(n) FROM lines WHERE session = logs.session), 0)),
		turn = max(turn, ifnull((SELECT max(number) FROM turns WHERE session = logs.session), 0))`},
	{"", `DELETE FROM lines WHERE n < (SELECT oldest FROM logs WHERE session = lines.session)`},
	{"", `DELETE FROM tool_details WHERE n < (SELECT oldest FROM logs WHERE session = tool_details.session)`},
	// Gaps that stand for lines which aren't there: between two, behind the last, and before the first.
	{"", `INSERT INTO gaps (session, after, at_least, reason)
		SELECT session, n, next - n - 1, '` + damagedReason + `' FROM (SELECT l.session, l.n,
			ifnull(lead(l.n) OVER (PARTITION BY l.session ORDER BY l.n), g.head + 1) AS next FROM lines l JOIN logs g ON g.session = l.session)
		WHERE next > n + 1`},
	{"", `INSERT INTO gaps (session, after, at_least, reason)
		SELECT session, oldest - 1, first - oldest, '` + damagedReason + `' FROM (SELECT session, oldest,
			ifnull((SELECT min(n) FROM lines WHERE session = logs.session), head + 1) AS first FROM logs)
		WHERE first > oldest`},
	// What's JSON is read at the start.
	{"prompts", `DELETE FROM prompts WHERE NOT json_valid(dialog) OR answer IS NOT NULL AND NOT json_valid(answer)`},
	{"waiting", `DELETE FROM waiting WHERE NOT json_valid(message)`},
	{"documents", `DELETE FROM documents WHERE NOT json_valid(ifnull(tail, '{}')) OR NOT json_valid(ifnull(stale, '{}')) OR NOT json_valid(ifnull(intent, '{}'))`},
	{"", fmt.Sprintf(`UPDATE sqlite_sequence SET seq = seq + %d`, sequenceLeap)},
}

// mend makes a database whole that lacks rows, and returns how many were lost by table, as far as
// that can be seen; 0: it isn't known.
func mend(ctx context.Context, conn *sql.Conn) (lost map[string]int64, err error) {
	lost = map[string]int64{}
	if err := dropOrphans(ctx, conn, lost); err != nil {
		return nil, err
	}
	for _, m := range mendings {
		done, err := conn.ExecContext(ctx, m.query)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.query, err)
		}
		if n, err := done.RowsAffected(); err == nil && n > 0 && m.table != "" {
			lost[m.table] += n
		}
	}
	var lines int64
	err = conn.QueryRowContext(ctx, `SELECT ifnull(sum(at_least), 0) FROM gaps WHERE reason = ?`, damagedReason).Scan(&lines)
	if lines > 0 {
		lost["lines"] += lines
	}
	return lost, err
}

// dropOrphans deletes rows that belong to others which aren't there.
func dropOrphans(ctx context.Context, conn *sql.Conn, lost map[string]int64) error {
	for again := true; again; {
		again = false
		all, err := tables(ctx, conn)
		if err != nil {
			return err
		}
		for _, t := range all {
			orphans, err := column[string](ctx, conn, `SELECT format('DELETE FROM "%w" WHERE "%w" NOT IN (SELECT "%w" FROM "%w")', ?1, "from", "to", "table") FROM pragma_foreign_key_list(?1)`, t.name)
			if err != nil {
				return err
			}
			for _, query := range orphans {
				done, err := conn.ExecContext(ctx, query)
				if err != nil {
					return fmt.Errorf("%s: %w", query, err)
				}
				if n, err := done.RowsAffected(); err == nil && n > 0 {
					lost[t.name] += n
					again = true
				}
			}
		}
	}
	return nil
}
