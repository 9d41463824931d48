package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/demoagent"
)

// demoAgentCommand is what `demo` runs in its session.
const demoAgentCommand = "demo-agent"

func newDemoAgent(p *program) *cobra.Command {
	return &cobra.Command{
		Use:    demoAgentCommand,
		Short:  "Behave like a coding agent, for the demo",
		Hidden: true,
		Args:   takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			in, ok := p.stdio.In.(*os.File)
			if !ok {
				return errors.New("standard input must be a terminal or a pipe")
			}
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			err := demoagent.Run(ctx, in, p.stdio.Out, demoagent.Options{})
			if err == nil || errors.Is(err, context.Cause(ctx)) {
				return nil
			}
			return fmt.Errorf("run the demo's agent: %w", err)
		},
	}
}
