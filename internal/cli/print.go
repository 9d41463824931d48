package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
)

// printf writes a result.
func (p *invocation) printf(format string, args ...any) error {
	if _, err := fmt.Fprintf(p.stdio.Out, format, args...); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// notef writes a line that isn't a result to standard error. When that's gone
// nobody is left to tell.
func (p *invocation) notef(format string, args ...any) {
	_, _ = fmt.Fprintln(p.stdio.Err, fill(fmt.Sprintf(format, args...), widthOf(p.stdio.Err)))
}

// printJSON writes a result as an indented JSON document.
func (p *invocation) printJSON(v any) error {
	return encode(p.stdio.Out, v, "  ")
}

// printJSONLine writes one of several results, one a line.
func (p *invocation) printJSONLine(v any) error {
	return encode(p.stdio.Out, v, "")
}

func encode(w io.Writer, v any, indent string) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", indent)
	if err := e.Encode(v); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	return nil
}

// printTable writes rows in columns, the first row being their heads.
func (p *invocation) printTable(rows [][]string) error {
	return p.printf("%s\n", strings.Join(fitTable(rows, widthOf(p.stdio.Out)), "\n"))
}

// alignRows puts rows into columns.
func alignRows(rows [][]string) []string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(w, strings.Join(row, "\t")+"\n") // a strings.Builder takes everything
	}
	_ = w.Flush()
	lines := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " ")
	}
	return lines
}

// leastColumns is how many columns of a table have to stand beside one another, or it's a list.
const leastColumns = 3

// fitTable puts rows into columns so that no line is wider than so many; 0 is no limit. What stands in the last column is
// broken if it has room there; else what has none is put below its row.
func fitTable(rows [][]string, width int) []string {
	fits := func(lines []string) bool {
		return width <= 0 || !slices.ContainsFunc(lines, func(line string) bool { return displaywidth.String(line) > width })
	}
	table := alignRows(rows)
	heads := rows[0]
	switch {
	case fits(table):
		return table
	case len(rows) == 1:
		return fillWords(table[0], width, "", "  ")
	}
	if at := strings.LastIndex(table[0], heads[len(heads)-1]); width-at >= leastColumn { // heads are ASCII
		return breakColumn(table, at, width)
	}
	for n := len(heads) - 1; n >= leastColumns; n-- {
		if beside := alignRows(cutRows(rows, n)); fits(beside) {
			return listBelow(rows, beside, n, width)
		}
	}
	return listBelow(rows, slices.Concat(cutRows(rows, 1)...), 1, width)[1:]
}

func cutRows(rows [][]string, n int) (all [][]string) {
	for _, row := range rows {
		all = append(all, row[:min(n, len(row))])
	}
	return all
}

// breakColumn breaks what stands in a table from a column on.
func breakColumn(table []string, at, width int) (lines []string) {
	for _, line := range table {
		before, last := line, ""
		if all := []rune(line); len(all) > at {
			before, last = string(all[:at]), string(all[at:])
		}
		lines = append(lines, fillBeside(before, last, width))
	}
	return lines
}

// listBelow puts below each row of a table, which has the first n columns, what stands in the others.
func listBelow(rows [][]string, table []string, n, width int) (lines []string) {
	heads := rows[0][n:]
	longest := len(slices.MaxFunc(heads, func(a, b string) int { return len(a) - len(b) }))
	for i, row := range rows {
		lines = append(lines, table[i])
		for j := n; i > 0 && j < len(row); j++ {
			if row[j] != "" && row[j] != "-" {
				lines = append(lines, fillBeside(fmt.Sprintf("  %-*s  ", longest, heads[j-n]), row[j], width))
			}
		}
	}
	return lines
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print JSON")
}
