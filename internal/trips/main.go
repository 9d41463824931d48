// Trips lists the files that one line, one message and one button pass through, as the
// compiled program calls. docs/architecture.md has the list; a test keeps it true.
//
// usage: go run ./internal/trips
package main

import (
	"fmt"
	"os"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "trips:", err)
		os.Exit(1)
	}
}

func run() error {
	g, err := load(".")
	if err != nil {
		return err
	}
	text, err := list(g)
	if err != nil {
		return err
	}
	fmt.Print(text)
	return nil
}
