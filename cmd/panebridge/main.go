// Command panebridge mirrors agent sessions that run in tmux to a local page
// and to chats, and carries what people write there back into the pane.
package main

import (
	"context"
	"os"

	"github.com/panebridge/panebridge/internal/cli"
)

// version is set by the build: -ldflags "-X main.version=v1.2.3".
var version string

func main() {
	stdio := cli.Stdio{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}
	os.Exit(cli.Main(context.Background(), version, os.Args[1:], stdio, os.LookupEnv))
}
