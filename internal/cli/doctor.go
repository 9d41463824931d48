package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/app"
	"github.com/panebridge/panebridge/internal/redisbots"
)

// checkOutcome is how a check came out.
type checkOutcome string

const (
	verdictOK      checkOutcome = "ok"
	verdictWarning checkOutcome = "warning" // works, but look at it
	verdictBroken  checkOutcome = "broken"
)

// finding is the outcome of one check.
type finding struct {
	Check  string       `json:"check"`
	State  checkOutcome `json:"state"`
	Detail string       `json:"detail"`
	Fix    string       `json:"fix,omitempty"` // what to do, unless it's ok
}

func newDoctor(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "Look for what is wrong, and say how to put it right",
		Long: `Look at tmux, the configured tmux servers, the configuration, the state folder,
the daemon, the page's port and public address, agents' hooks and transcripts, Redis, and the bots on
Telegram and Discord with their chats. Each finding comes with what to do. It changes
nothing. Exit code 1 when something is broken.`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return p.printFindings(p.examine(cmd.Context()), asJSON)
		},
	}
	jsonFlag(cmd, &asJSON)
	cmd.AddCommand(newDoctorRecord(p))
	return cmd
}

func (p *invocation) printFindings(all []finding, asJSON bool) error {
	ok := true
	for _, f := range all {
		ok = ok && f.State != verdictBroken
	}
	if asJSON {
		report := struct {
			OK       bool      `json:"ok"`
			Findings []finding `json:"findings"`
		}{ok, all}
		if err := p.printJSON(report); err != nil {
			return err
		}
	} else if err := p.printFindingsText(all, ok); err != nil {
		return err
	}
	if !ok {
		return silently(exitFailed)
	}
	return nil
}

func (p *invocation) printFindingsText(all []finding, ok bool) error {
	for _, f := range all {
		if err := p.printFinding(f); err != nil {
			return err
		}
	}
	if ok {
		return p.sayf("\nNothing is broken.\n")
	}
	return p.sayf("\nSomething is broken; see above what to do.\n")
}

func (p *invocation) printFinding(f finding) error {
	width := widthOf(p.stdio.Out)
	text := fillBeside(fmt.Sprintf("%-8s ", f.State), f.Check+": "+f.Detail, width)
	if f.Fix != "" {
		text += "\n" + fillBeside("         ", f.Fix, width)
	}
	return p.printf("%s\n", text)
}

// examine makes all checks. Those that depend on a configuration that can't be
// read are made with the defaults, so that one problem doesn't hide another.
func (p *invocation) examine(ctx context.Context) []finding {
	cfg, all := p.examineConfig()
	program, usable := examineTmux(ctx)
	all = append(all, program)
	if usable {
		all = append(all, examineServers(ctx, cfg)...)
	}
	dir, err := p.stateDir()
	if err != nil {
		return append(all, finding{"state folder", verdictBroken, err.Error(), "Give --state-dir or set PANEBRIDGE_STATE_DIR."})
	}
	all = append(all, examineStateDir(dir)...)
	all = append(all, checksOf(app.ExamineStore(ctx, dir))...)
	running, daemon := examineDaemon(ctx, dir)
	all = append(all, daemon...)
	all = append(all, examinePort(ctx, cfg, dir, running))
	if running && cfg.Adapters.Web.Enabled {
		all = append(all, examineOutside(ctx, dir)...)
	}
	all = append(all, p.examineAgents(ctx, dir, running)...)
	if len(cfg.Redis.Addrs) > 0 {
		all = append(all, checksOf(redisbots.Examine(ctx, cfg))...)
	}
	return append(all, examineChats(ctx, cfg, running)...)
}
