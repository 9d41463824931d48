package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const batchEvery = 10 * time.Millisecond

// script is what a printer prints, of at least n lines: numbered lines, and with
// mixed blank and repeated ones in between. The last is a numbered one.
func script(n int, mixed bool) []string {
	lines := make([]string, 0, n+1)
	for i := 1; ; i++ {
		if !mixed {
			lines = append(lines, strconv.Itoa(i))
		} else {
			lines = append(lines, strconv.Itoa(i)+" a line of a program's output, and some words to fill it")
		}
		if len(lines) >= n {
			return lines
		}
		if mixed && i%7 == 0 {
			lines = append(lines, "")
		}
		if mixed && i%11 == 0 {
			lines = append(lines, "again", "again", "again")
		}
	}
}

// numberOf is a numbered line's number; ok is false for the others.
func numberOf(line string) (n int, ok bool) {
	first, _, _ := strings.Cut(line, " ")
	n, err := strconv.Atoi(first)
	return n, err == nil
}

// printCommand is the program in a pane whose output is checked.
func printCommand() *cobra.Command {
	var lines, rate int
	var mixed bool
	cmd := &cobra.Command{
		Use: "print", Short: "Print numbered lines", Hidden: true, Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return printPaced(script(lines, mixed), rate) },
	}
	cmd.Flags().IntVar(&lines, "lines", 1000, "how many")
	cmd.Flags().IntVar(&rate, "rate", 0, "lines a second; 0: as fast as can be")
	cmd.Flags().BoolVar(&mixed, "mixed", false, "blank and repeated lines in between")
	return cmd
}

// printPaced prints at a rate, in small batches by the clock.
func printPaced(lines []string, rate int) error {
	out := bufio.NewWriter(os.Stdout)
	var bad error
	start := time.Now()
	for i := 0; i < len(lines) && bad == nil; {
		due := len(lines)
		if rate > 0 {
			time.Sleep(batchEvery)
			due = min(due, int(time.Since(start).Seconds()*float64(rate)))
		}
		for ; i < due; i++ {
			_, err := out.WriteString(lines[i] + "\n")
			bad = errors.Join(bad, err)
		}
		bad = errors.Join(bad, out.Flush())
	}
	if bad != nil {
		return fmt.Errorf("print: %w", bad)
	}
	return nil
}
