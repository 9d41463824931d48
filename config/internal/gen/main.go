// Command gen writes the example configuration to the file it's given.
package main

import (
	"fmt"
	"os"

	"github.com/panebridge/panebridge/adapters/all"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gen FILE")
		os.Exit(2)
	}
	if err := os.WriteFile(os.Args[1], []byte(all.Form().Example()), 0o644); err != nil { //nolint:gosec // it holds no secrets and is for everybody to read
		fmt.Fprintln(os.Stderr, "write example:", err)
		os.Exit(1)
	}
}
