package doctest_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/panebridge/panebridge/internal/events"
)

// logged is a place in the code at which an event is logged.
type logged struct {
	at      string // file and line
	message string // "": it isn't a constant
	level   string
	keys    []string
}

// readLogCalls reads the program once for all tests.
var readLogCalls = sync.OnceValues(loadLogCalls)

// logCalls are all calls of the logger in the program.
func logCalls(t *testing.T) []logged {
	t.Helper()
	all, err := readLogCalls()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func loadLogCalls() (all []logged, err error) {
	mode := packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax | packages.NeedTypesInfo
	found, err := packages.Load(&packages.Config{Mode: mode, Dir: root}, "./adapters/...", "./cmd/panebridge", "./config", "./internal/...", "./polling/...", "./qos/...", "./sessions/...")
	if err != nil {
		return nil, err
	}
	for _, p := range found {
		for _, e := range p.Errors {
			return nil, e
		}
		if strings.HasSuffix(p.PkgPath, "test") {
			continue // suites and stand-ins
		}
		for _, file := range p.Syntax {
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				if one, ok := logCallOf(p, call); ok {
					all = append(all, one)
				}
				return true
			})
		}
	}
	return all, nil
}

// logCallOf reads a call, if it's one of the logger.
func logCallOf(p *packages.Package, call *ast.CallExpr) (one logged, ok bool) {
	selected, ok := call.Fun.(*ast.SelectorExpr)
	if !ok {
		return one, false
	}
	f, ok := p.TypesInfo.Uses[selected.Sel].(*types.Func)
	if !ok || f.Pkg() == nil || f.Pkg().Path() != "log/slog" {
		return one, false
	}
	name, message := f.Name(), 0
	if name != strings.TrimSuffix(name, "Context") {
		name, message = strings.TrimSuffix(name, "Context"), 1
	}
	switch name {
	case "Debug", "Info", "Warn", "Error":
		one.level = strings.ToLower(name)
	case "Log", "LogAttrs":
		one.level, message = "varies", 2
	default:
		return one, false
	}
	at := p.Fset.Position(call.Pos())
	one.at = fmt.Sprintf("%s/%s:%d", strings.TrimPrefix(p.PkgPath, "github.com/panebridge/panebridge/"), filepath.Base(at.Filename), at.Line)
	text := func(e ast.Expr) string {
		if v := p.TypesInfo.Types[e].Value; v != nil && v.Kind() == constant.String {
			return constant.StringVal(v)
		}
		return ""
	}
	one.message = text(call.Args[message])
	for i := message + 1; i < len(call.Args); i += 2 {
		one.keys = append(one.keys, text(call.Args[i]))
	}
	return one, true
}

// wordy are names of attributes that would be text of a session.
var wordy = []string{"text", "line", "lines", "input", "output", "body", "content", "answer", "screen", "title", "question"}

// Each event has its name, and each name an event; no attribute is text of a session.
func TestEventsHaveNames(t *testing.T) {
	if testing.Short() {
		t.Skip("reads the whole program")
	}
	named, used := events.Named(), map[string]bool{}
	calls := logCalls(t)
	for _, c := range calls {
		switch {
		case c.message == "":
			t.Errorf("%s: what's logged isn't a constant", c.at)
		case named[c.message] == "":
			t.Errorf("%s: %q has no name in internal/events/names.go", c.at, c.message)
		}
		used[c.message] = true
		for _, k := range c.keys {
			if slices.Contains(wordy, k) {
				t.Errorf("%s: the attribute %s would be text of a session", c.at, k)
			}
		}
	}
	for message := range named {
		if !used[message] {
			t.Errorf("%q isn't logged any more: take it off internal/events/names.go", message)
		}
	}
	if len(calls) < 200 {
		t.Errorf("%d calls were found: does this test still read them?", len(calls))
	}
}

func eventsPage(t *testing.T) string {
	t.Helper()
	named := events.Named()
	type row struct {
		message string
		levels  map[string]bool
		keys    map[string]bool
	}
	rows := map[string]*row{}
	for _, c := range logCalls(t) {
		name := named[c.message]
		if rows[name] == nil {
			rows[name] = &row{c.message, map[string]bool{}, map[string]bool{}}
		}
		rows[name].levels[c.level] = true
		for _, k := range c.keys {
			rows[name].keys[cmp.Or(k, "…")] = true
		}
	}
	var b strings.Builder
	b.WriteString("# Events of the log\n\n" + made + "Each line of the log is one event. Its attribute `event` is a name that stays; what it says may be worded anew. None has text of a session. ")
	b.WriteString("Of each at most 60 are written at once, and then one a second; `omitted` says how many were left out before a line. The attribute `component` says which part logs it.\n\n")
	b.WriteString("| event | level | says | attributes |\n|---|---|---|---|\n")
	for _, name := range slices.Sorted(maps.Keys(rows)) {
		r := rows[name]
		fmt.Fprintf(&b, "| <code>%s</code> | %s | %s | %s |\n", name, strings.Join(slices.Sorted(maps.Keys(r.levels)), ", "), cell(r.message), strings.Join(slices.Sorted(maps.Keys(r.keys)), ", "))
	}
	return b.String()
}
