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
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	for _, row := range rows {
		_, _ = io.WriteString(w, strings.Join(row, "\t")+"\n") // a strings.Builder takes everything
	}
	_ = w.Flush()
	table := strings.Split(strings.TrimSuffix(text.String(), "\n"), "\n")
	for i, line := range table {
		table[i] = strings.TrimRight(line, " ")
	}
	return p.printf("%s\n", strings.Join(fitTable(rows, table, widthOf(p.stdio.Out)), "\n"))
}

// fitTable has the lines of a table not be wider than so many columns; 0 is no limit: it breaks what stands in its last
// column, or else, where that has too little room, puts what's in a row below its first word.
func fitTable(rows [][]string, table []string, width int) (lines []string) {
	isWide := func(line string) bool { return displaywidth.String(line) > width }
	if width <= 0 || !slices.ContainsFunc(table, isWide) {
		return table
	}
	heads := rows[0]
	at := strings.LastIndex(table[0], heads[len(heads)-1]) // heads are ASCII
	if width-at >= leastColumn {
		for _, line := range table {
			before, last := line, ""
			if all := []rune(line); len(all) > at {
				before, last = string(all[:at]), string(all[at:])
			}
			lines = append(lines, fillBeside(before, last, width))
		}
		return lines
	}
	longest := len(slices.MaxFunc(heads, func(a, b string) int { return len(a) - len(b) }))
	for _, row := range rows[1:] {
		lines = append(lines, row[0])
		for i := 1; i < len(row); i++ {
			if row[i] != "" && row[i] != "-" {
				lines = append(lines, fillBeside(fmt.Sprintf("  %-*s  ", longest, heads[i]), row[i], width))
			}
		}
	}
	return lines
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print JSON")
}
