package doctest_test

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/cli"
	"github.com/panebridge/panebridge/internal/metrics"
)

// made says at the top of a page that it's made.
const made = "Made from the code; `go test ./internal/doctest -update` writes it anew.\n\n"

// The reference has all that the code has, as the code has it.
func TestTheReferenceIsTheCode(t *testing.T) {
	for name, text := range map[string]string{
		"commands.md": commandsPage(t), "configuration.md": configurationPage(), "metrics.md": metricsPage(), "api.md": apiPage(), "events.md": eventsPage(t),
	} {
		path := filepath.Join(root, "docs/reference", name)
		if *update {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := os.ReadFile(path); err != nil || string(got) != text {
			t.Errorf("docs/reference/%s isn't what the code has (%v): go test ./internal/doctest -update", name, err)
		}
	}
}

// cell is text in a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func commandsPage(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("# Commands\n\n" + made + "## Exit codes\n\n| code | of | means |\n|---|---|---|\n")
	known := map[int]bool{}
	for _, e := range cli.ExitCodes() {
		fmt.Fprintf(&b, "| %d | %s | %s |\n", e.Code, cmp.Or(e.Of, "all"), cell(e.Means))
		known[e.Code] = true
	}
	b.WriteString("\nA command that a signal has ended has 128 and the signal's number.\n")
	for name, code := range exitConstants(t) {
		if !known[code] {
			t.Errorf("%s = %d isn't one of cli.ExitCodes", name, code)
		}
	}
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if c.Hidden {
			return
		}
		if !cli.IsGroup(c) && c.HasParent() {
			writeCommand(&b, c)
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	tree := cli.Tree()
	b.WriteString("\n## Flags of all commands\n\n")
	writeFlags(&b, tree.PersistentFlags())
	walk(tree)
	return b.String()
}

func writeCommand(b *strings.Builder, c *cobra.Command) {
	fmt.Fprintf(b, "\n## %s\n\n    %s\n\n", c.CommandPath(), c.UseLine())
	text := cmp.Or(c.Long, c.Short+".")
	for line := range strings.Lines(text) {
		b.WriteString(strings.TrimRight("    "+line, " "))
	}
	b.WriteString("\n")
	if flags := c.LocalNonPersistentFlags(); flags.HasAvailableFlags() {
		b.WriteString("\n")
		writeFlags(b, flags)
	}
	if c.Example != "" {
		b.WriteString("\nFor example:\n\n")
		for line := range strings.Lines(c.Example) {
			b.WriteString("  " + line)
		}
		b.WriteString("\n")
	}
}

func writeFlags(b *strings.Builder, flags *pflag.FlagSet) {
	b.WriteString("| flag | | default |\n|---|---|---|\n")
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		name := "--" + f.Name
		if f.Shorthand != "" {
			name = "-" + f.Shorthand + ", " + name
		}
		def := f.DefValue
		switch def {
		case "", "false", "[]", "0", "0s":
			def = ""
		default:
			def = "`" + def + "`"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", cell(strings.TrimSpace(name+" "+value)), cell(usage), cell(def))
	})
}

// exitConstants are the constants of the command line's code that are exit codes.
func exitConstants(t *testing.T) map[string]int {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "internal/cli/*.go"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]int{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Names) != len(spec.Values) {
				return true
			}
			for i, name := range spec.Names {
				value, ok := spec.Values[i].(*ast.BasicLit)
				if code, err := strconv.Atoi(litOf(value, ok)); err == nil && regexp.MustCompile(`^exit[A-Z]`).MatchString(name.Name) {
					all[name.Name] = code
				}
			}
			return true
		})
	}
	if len(all) < 10 {
		t.Errorf("%d exit codes were found: does this test still read them?", len(all))
	}
	return all
}

func litOf(value *ast.BasicLit, ok bool) string {
	if !ok {
		return ""
	}
	return value.Value
}

func configurationPage() string {
	var b strings.Builder
	b.WriteString("# Configuration\n\n" + made + "[config.example.yaml](../../config.example.yaml) is the same as a file. Keys with a ↻ follow a change at `panebridge config reload`; the others at the next start. `NAME` is a name that you choose, `[]` an entry of a list.\n\n")
	b.WriteString("| key | | default | |\n|---|---|---|---|\n")
	for _, k := range all.Form().DocumentedKeys() {
		def, reload := "", ""
		if k.Default != "" {
			def = "`" + k.Default + "`"
		}
		if k.Reload {
			reload = "↻"
		}
		fmt.Fprintf(&b, "| <code>%s</code> | %s | %s | %s |\n", k.Path, cell(k.Doc), cell(def), reload)
	}
	return b.String()
}

func metricsPage() string {
	var b strings.Builder
	b.WriteString("# Metrics\n\n" + made + "Beside these, `/metrics` has what Prometheus' client library tells of each Go program: `go_goroutines`, `go_memstats_…`, `process_…`. [operations.md](../operations.md#watching-it) says how to read them.\n\n")
	b.WriteString("| metric | kind | labels | |\n|---|---|---|---|\n")
	for _, m := range metrics.List() {
		labels := ""
		if len(m.Labels) > 0 {
			labels = "`" + strings.Join(m.Labels, "`, `") + "`"
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", m.Name, m.Kind, labels, cell(m.Help))
	}
	return b.String()
}

func apiPage() string {
	var b strings.Builder
	b.WriteString("# API\n\n" + made + "On the Unix socket in the state folder, for whoever may open it, and on the page's port, for browsers with a key. A program in a session's pane is asked about before most calls: [security.md](../security.md) says why.\n\n")
	b.WriteString("| call | | role of a browser | made for programs in panes |\n|---|---|---|---|\n")
	for _, c := range api.Calls() {
		fmt.Fprintf(&b, "| `%s %s` | %s | %s | %s |\n", c.Method, c.Path, cell(cmp.Or(c.Does, "*programs make it*")), cmp.Or(string(c.Role), "*on the socket only*"), c.Inside)
	}
	return b.String()
}

// All metrics that documents, rules and dashboards name are there.
func TestMetricsAreThere(t *testing.T) {
	there := map[string]bool{}
	for _, m := range metrics.List() {
		there[m.Name] = true
		if m.Kind == "histogram" {
			for _, end := range []string{"_bucket", "_sum", "_count"} {
				there[m.Name+end] = true
			}
		}
	}
	named, checked := regexp.MustCompile(`\bpanebridge_[a-z_]+[a-z]\b`), 0
	check := func(path, text string) {
		for _, name := range named.FindAllString(text, -1) {
			checked++
			if !there[name] {
				t.Errorf("%s names %s, which isn't one of panebridge's metrics", path, name)
			}
		}
	}
	for _, p := range pages(t) {
		if !p.isOfThePast() {
			check(p.path, p.text)
		}
	}
	files, err := filepath.Glob(filepath.Join(root, "contrib/*/*"))
	if err != nil || len(files) < 3 {
		t.Fatalf("contrib has %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		check(file, string(text))
	}
	if checked < 100 || slices.Contains([]bool{there["panebridge_ready"], there["panebridge_calls_total"]}, false) {
		t.Errorf("%d names were found: does this test still read them?", checked)
	}
}
