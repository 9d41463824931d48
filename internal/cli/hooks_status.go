package cli

import (
	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/sessions/agent"
)

// hooksStatus is how things stand with one agent's hooks, for --json.
type hooksStatus struct {
	Agent  string       `json:"agent"`
	Status agent.Status `json:"status"`
	File   string       `json:"file"`
	Error  string       `json:"error,omitempty"`
}

func newHooksStatus(p *program) *cobra.Command {
	var f hooksFlags
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "status [AGENT…]",
		Short: "Say whose hooks are installed",
		Long: `Say whose hooks are installed: outdated are those of another panebridge, another
state folder or another version; "panebridge hooks install" brings them up to date.`,
		ValidArgsFunction: completeAgents,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = agent.HookAgents()
			}
			list, err := p.hooksOf(f, args)
			if err != nil {
				return err
			}
			return p.printHooks(list, asJSON)
		},
	}
	f.add(cmd)
	jsonFlag(cmd, &asJSON)
	return cmd
}

// printHooks prints how things stand; a file that can't be read is a failure.
func (p *program) printHooks(list []agent.Install, asJSON bool) error {
	all := make([]hooksStatus, 0, len(list))
	table := [][]string{{"AGENT", "HOOKS", "FILE"}}
	broken := false
	for _, to := range list {
		s := hooksStatus{Agent: to.Agent}
		var err error
		if s.File, err = to.Path(); err != nil {
			return err
		}
		if s.Status, err = to.Status(); err != nil {
			s.Error, broken = err.Error(), true
		}
		all = append(all, s)
		table = append(table, []string{s.Agent, string(s.Status), s.File})
	}
	if asJSON {
		if err := p.printJSON(all); err != nil {
			return err
		}
	} else if err := p.printTable(table); err != nil {
		return err
	}
	for _, s := range all {
		if s.Error != "" && !asJSON {
			p.notef("panebridge: %s", s.Error)
		}
	}
	if broken {
		return silently(exitFailed)
	}
	return nil
}
