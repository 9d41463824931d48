// Command install installs the agent programs that internal/agentlab runs, all
// or those that are named, into .cache/agents.
package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/panebridge/panebridge/internal/agentlab"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	agents := agentlab.Agents()
	names := os.Args[1:]
	if len(names) == 0 {
		names = slices.Sorted(maps.Keys(agents))
	}
	for _, name := range names {
		a := agents[name]
		if a == nil {
			fmt.Fprintf(os.Stderr, "install: no agent is called %q; known are %v\n", name, slices.Sorted(maps.Keys(agents)))
			os.Exit(2)
		}
		if !agentlab.Installed(a) {
			fmt.Fprintln(os.Stderr, "install: installing "+a.Package+" into .cache/agents")
		}
		if _, err := agentlab.Install(ctx, a); err != nil {
			fmt.Fprintln(os.Stderr, "install:", err)
			os.Exit(1)
		}
	}
}
