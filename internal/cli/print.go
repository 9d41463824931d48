package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

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
	_, _ = fmt.Fprintf(p.stdio.Err, format+"\n", args...)
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
	for line := range strings.Lines(text.String()) {
		if err := p.printf("%s\n", strings.TrimRight(line, " \n")); err != nil {
			return err
		}
	}
	return nil
}

// jsonFlag adds --json to a command.
func jsonFlag(cmd *cobra.Command, on *bool) {
	cmd.Flags().BoolVar(on, "json", false, "print JSON")
}
