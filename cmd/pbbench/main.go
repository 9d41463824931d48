// Command pbbench measures what panebridge promises in numbers: what reading
// panes costs, how long output takes to arrive, and what's lost. Each figure
// stands beside the same measurement of the way without panebridge, two tmux
// processes per session and tick, taken in the same run.
//
// It runs the real daemon in a process of its own, on tmux servers of its own,
// in temporary folders. It reads CPU times from /proc, so it needs Linux.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	root := &cobra.Command{
		Use: "pbbench", Short: "Measure cost, latency and loss of panebridge", SilenceUsage: true,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true},
	}
	root.AddCommand(captureCommand(), latencyCommand(), lossCommand(), qosCommand(), hookCommand(), inboxCommand(), inboxWorkerCommand(), redisCommand(), redisWorkerCommand(), yearsCommand(), searchCommand(), terminalCommand(), daemonCommand(), printCommand())
	if root.ExecuteContext(ctx) != nil {
		stop()
		os.Exit(1)
	}
}
