// Command panebridge mirrors agent sessions that run in tmux to a local page
// and to chats, and carries what people write there back into the pane.
package main

import (
	"context"
	"os"
	_ "time/tzdata" // browsers name time zones, and small containers have no list of these

	"github.com/panebridge/panebridge/internal/cli"
)

// version and commit are set by the build: -ldflags "-X main.version=v1.2.3 -X main.commit=…".
var (
	version string
	commit  string //nolint:gochecknoglobals // the build sets it
)

func main() {
	stdio := cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Main(context.Background(), cli.Build{Version: version, Commit: commit}, os.Args[1:], stdio, os.LookupEnv))
}
