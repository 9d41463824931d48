// Trips lists the files that one line, one message and one button pass through, as the program's
// functions call each other. docs/architecture.md has the list, and a test keeps it true.
//
// usage: go run ./internal/trips [-v]     -v: with the functions, too
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

func main() {
	verbose := flag.Bool("v", false, "write the functions that are passed, too")
	flag.Parse()
	passed := io.Discard
	if *verbose {
		passed = os.Stderr
	}
	if err := run(passed); err != nil {
		fmt.Fprintln(os.Stderr, "trips:", err)
		os.Exit(1)
	}
}

func run(passed io.Writer) error {
	g, err := load(".")
	if err != nil {
		return err
	}
	text, err := list(g, passed)
	if err != nil {
		return err
	}
	_, err = io.WriteString(os.Stdout, text)
	return err
}
