package store

import (
	"bytes"
	"database/sql"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/inbox"
)

// A command of a newer release, whose migrations the daemon that runs doesn't know, leaves the schema as it is: it writes
// and reads mail by the older one, and the daemon goes on.
func TestCommandsLeaveTheSchemaOfARunningDaemon(t *testing.T) {
	versions := []int{inboxSchema, newestVersion(t) - 1}
	if drawtest.Stressed() {
		for version := inboxSchema + 1; version < newestVersion(t)-1; version++ {
			versions = append(versions, version)
		}
	}
	for _, version := range versions {
		path := dbPath(t)
		makeSchema(t, path, version, 2)
		older := raw(t, path) // as the daemon has it open
		mustExec(t, older, "PRAGMA journal_mode = WAL; INSERT INTO notes (adapter, key, value) VALUES ('a', 'before', '1')")
		schema := texts(t, older, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name")
		box, err := OpenInbox(t.Context(), path)
		if err != nil {
			t.Fatalf("version %d: %v", version, err)
		}
		m := inbox.Mail{ID: "m1", Kind: inbox.KindMail, From: inbox.Person("ann"), To: inbox.Person("bob"), Text: "hello", Status: inbox.InputRequired, SentAt: time.Now(), Preview: inbox.PreviewNone}
		if err := box.AddMail(t.Context(), []inbox.Mail{m}); err != nil {
			t.Errorf("version %d: send: %v", version, err)
		}
		if got, err := box.One(t.Context(), "m1"); err != nil || got.Text != "hello" {
			t.Errorf("version %d: the mail is %+v, %v", version, got, err)
		}
		if all, err := box.Parties(t.Context()); err != nil || len(all) != 4 {
			t.Errorf("version %d: parties are %+v, %v", version, all, err)
		}
		mustExec(t, older, "INSERT INTO notes (adapter, key, value) VALUES ('a', 'behind', '1')")
		if is := texts(t, older, "PRAGMA user_version"); is[0] != strconv.Itoa(version) {
			t.Errorf("version %d has become %s under a daemon", version, is[0])
		}
		if is := texts(t, older, "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"); strings.Join(is, "\n") != strings.Join(schema, "\n") {
			t.Errorf("version %d has another schema", version)
		}
		if err := errors.Join(box.Close(), older.Close()); err != nil {
			t.Error(err)
		}
		s := mustOpen(t, path, Options{}) // as the newer daemon does when it's started
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A database whose mail is of another form than this program's stays as it is to the byte, and the command says what to do.
func TestCommandsRefuseADatabaseTheyDoNotKnowAndMayNotMigrate(t *testing.T) {
	for _, version := range []int{1, inboxSchema - 1} {
		path := dbPath(t)
		makeSchema(t, path, version, 1)
		conn := raw(t, path)
		mustExec(t, conn, "PRAGMA journal_mode = WAL") // as all of panebridge's are
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		_, err = OpenInbox(t.Context(), path)
		if !errors.Is(err, ErrTooOld) || !strings.Contains(err.Error(), "panebridge service restart") {
			t.Errorf("version %d: %v", version, err)
		}
		after, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(after, before) {
			t.Errorf("version %d: the file has changed, %v", version, err)
		}
	}
}

// The statements of an Inbox are understood by each schema from inboxSchema on, and by no older one.
func TestInboxStatementsNeedNoNewerSchema(t *testing.T) {
	statements := inboxStatements(t)
	if len(statements) < 40 {
		t.Fatalf("only %d statements were found", len(statements))
	}
	for version := inboxSchema - 1; version <= newestVersion(t); version++ {
		path := dbPath(t)
		makeSchema(t, path, version, 0)
		conn := raw(t, path)
		refused := 0
		for name, text := range statements {
			err := tryPreparing(t, conn, text)
			if err != nil {
				refused++
			}
			if err != nil && version >= inboxSchema {
				t.Errorf("version %d: %s: %v; is it time to raise inboxSchema?", version, name, err)
			}
		}
		if version < inboxSchema && refused == 0 {
			t.Errorf("version %d understands all statements", version)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

// tryPreparing reports what a database's schema lacks for a statement.
func tryPreparing(t *testing.T, conn *sql.Conn, text string) (err error) {
	t.Helper()
	stmt, err := conn.PrepareContext(t.Context(), text)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stmt.Close()) }()
	return nil
}

// inboxStatements are the SQL constants of the files that have an Inbox's methods, and those that these name.
func inboxStatements(t *testing.T) map[string]string {
	t.Helper()
	values := map[string]ast.Expr{} // of all constants
	used := map[string]bool{}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		methods := false
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if s, ok := s.(*ast.ValueSpec); ok && d.Tok == token.CONST && len(s.Values) == len(s.Names) {
						for i := range s.Names {
							values[s.Names[i].Name] = s.Values[i]
						}
					}
				}
			case *ast.FuncDecl:
				methods = methods || d.Recv != nil && isInbox(d.Recv.List[0].Type)
			}
		}
		if methods {
			ast.Inspect(file, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && strings.HasPrefix(id.Name, "sql") {
					used[id.Name] = true
				}
				return true
			})
		}
	}
	statements := map[string]string{}
	for name := range used {
		if value, ok := values[name]; ok {
			statements[name] = constantText(t, values, value)
		}
	}
	statements["sqlMail"] += "id = ? AND recipient = ? AND sender = ? AND status = ? AND kind = ? AND sent_at >= ? ORDER BY seq DESC LIMIT ?"
	return statements
}

func isInbox(receiver ast.Expr) bool {
	star, ok := receiver.(*ast.StarExpr)
	if !ok {
		return false
	}
	id, ok := star.X.(*ast.Ident)
	return ok && id.Name == "Inbox"
}

// constantText is the value of a constant that's put together from strings.
func constantText(t *testing.T, values map[string]ast.Expr, e ast.Expr) string {
	t.Helper()
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		return text
	case *ast.BinaryExpr:
		return constantText(t, values, e.X) + constantText(t, values, e.Y)
	case *ast.Ident:
		return constantText(t, values, values[e.Name])
	default:
		t.Fatalf("%T is no part of a statement", e)
		return ""
	}
}
