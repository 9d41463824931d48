package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"text/tabwriter"
	"time"
)

// printJSON prints one object a line.
func printJSON[T any](w io.Writer, rows []T) error {
	enc := json.NewEncoder(w)
	for _, r := range rows {
		if err := enc.Encode(r); err != nil {
			return fmt.Errorf("print the result: %w", err)
		}
	}
	return nil
}

// printRows prints one JSON object a line, or a table with a head and a row of cells for each. It
// returns where bars are printed: beside JSON that's standard error.
func printRows[T any](out io.Writer, asJSON bool, rows []T, head []any, cells func(T) []any) (bars io.Writer, err error) {
	if asJSON {
		return os.Stderr, printJSON(out, rows)
	}
	t := newTable(out, head...)
	for _, r := range rows {
		t.row(cells(r)...)
	}
	if err := t.Flush(); err != nil {
		return nil, fmt.Errorf("print the result: %w", err)
	}
	return out, nil
}

// table prints rows of cells in columns.
type table struct{ *tabwriter.Writer }

func newTable(w io.Writer, head ...any) table {
	t := table{tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)}
	t.row(head...)
	return t
}

func (t table) row(cells ...any) {
	for _, c := range cells {
		switch c := c.(type) {
		case float64:
			_, _ = fmt.Fprintf(t, "%.1f\t", c) // shown by Flush's error
		default:
			_, _ = fmt.Fprintf(t, "%v\t", c)
		}
	}
	_, _ = fmt.Fprintln(t)
}

// bar prints how a figure stands to what was promised.
func bar(w io.Writer, met bool, format string, args ...any) {
	word := "met    "
	if !met {
		word = "NOT MET"
	}
	_, _ = fmt.Fprintf(w, "%s  %s\n", word, fmt.Sprintf(format, args...))
}

// progress tells somebody who waits what's being done.
func progress(format string, args ...any) {
	fmt.Fprintf(os.Stderr, "pbbench: "+format+"\n", args...)
}

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// quantile is the value below which a share q of the values lie; 0 without any.
// It sorts them.
func quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[min(len(values)-1, int(q*float64(len(values))))]
}

func median(values []float64) float64 { return quantile(slices.Clone(values), 0.5) }

func mean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(1, len(values)))
}

// round keeps what a clock of microseconds can say.
func round(v float64) float64 { return math.Round(v*1000) / 1000 }
