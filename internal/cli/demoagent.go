package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
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
			ctx, stop := untilSignal(cmd.Context(), syscall.SIGTERM, syscall.SIGHUP)
			defer stop()
			interrupts := make(chan os.Signal, 1)
			signal.Notify(interrupts, syscall.SIGINT)
			defer signal.Stop(interrupts)
			opt := demoagent.Options{Interrupt: interrupts}
			if state, _ := p.env("PANEBRIDGE_STATE_DIR"); filepath.IsAbs(state) { // as panes have it
				opt.Transcripts = filepath.Join(state, "demo-agent")
			}
			err := demoagent.Run(ctx, in, p.stdio.Out, opt)
			if err == nil || errors.Is(err, context.Cause(ctx)) {
				return nil
			}
			return fmt.Errorf("run the demo's agent: %w", err)
		},
	}
}
