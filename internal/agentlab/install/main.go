// Command install installs the agent programs that internal/agentlab runs, all
// or those that are named, into .cache/agents: in their pinned versions or, with
// -latest, in those that npm serves today.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"

	"github.com/panebridge/panebridge/internal/agentlab"
)

func main() {
	latest := flag.Bool("latest", false, "install what npm serves today, and note it for PANEBRIDGE_AGENTS=latest")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := install(ctx, *latest, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "install:", err)
		os.Exit(1)
	}
}

func install(ctx context.Context, latest bool, names []string) error {
	agents := agentlab.Agents()
	known := slices.Sorted(maps.Keys(agents))
	if len(names) == 0 {
		names = known
	}
	for _, name := range names {
		a := agents[name]
		switch {
		case a == nil:
			return fmt.Errorf("no agent is called %q; known are %v", name, known)
		case latest:
			newest, err := agentlab.InstallLatest(ctx, name)
			if err != nil {
				return err
			}
			fmt.Fprintln(os.Stderr, "install: "+newest.Package+" is what npm serves; "+a.Package+" is pinned")
		default:
			if !agentlab.Installed(a) {
				fmt.Fprintln(os.Stderr, "install: installing "+a.Package+" into .cache/agents")
			}
			if _, err := agentlab.Install(ctx, a); err != nil {
				return err
			}
		}
	}
	return nil
}
