package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions/agent"
)

const hookCommand = "hook"

// A hook takes at most 50 ms of the agent's time, of which the program needs some to
// begin and end; these are counted from its beginning. The daemon's answer isn't needed,
// but having waited for it keeps two hooks in order. Where the machine is so busy that
// the time is over before the call is made, it's made all the same: a few ms are the
// lesser evil.
const (
	hookRecordTime = 16 * time.Millisecond // until what has come of the record must do
	hookAnswerTime = 22 * time.Millisecond // until the answer isn't waited for any more
	// unhurriedTime is that of a hook by which an agent asks a person, who takes longer: what
	// the call is to do has to come whole; and of one that holds up nobody.
	unhurriedTime = time.Second
)

// recordVariable may have the record of a hook: an agent's plug-in can set it before it
// calls, and has nothing to write then.
const recordVariable = "PANEBRIDGE_HOOK_RECORD"

// newHook is for help and completion; Main sees to the command itself.
func newHook(p *program) *cobra.Command {
	return &cobra.Command{
		Use:   hookCommand + " AGENT [EVENT] [RECORD]",
		Short: "Tell the daemon of an agent's hook (agents call this)",
		Long: `Tell the daemon that a hook of an agent was called. "panebridge hooks install" has
the agent call this, with the hook's JSON record on standard input or as the last
argument. It ends within 50 ms, where the agent waits for it, and with exit code 0 whatever is wrong, and prints
nothing but what the director of a fleet is to know (how to listen for notices), so that it's never in the agent's way; --verbose says on standard error what
was. A plug-in may give the record in the variable PANEBRIDGE_HOOK_RECORD.`,
		DisableFlagParsing: true,
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			return agent.HookAgents(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if wantsHelp(args) {
				return cmd.Help()
			}
			p.hook(cmd.Context(), args)
			return nil
		},
	}
}

func wantsHelp(args []string) bool {
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// hook is `panebridge hook`. Its exit code is 0: to some agents another is a
// verdict on what they're about to do.
func (p *program) hook(ctx context.Context, args []string) int {
	began := time.Now()
	call := parseHookArgs(args)
	p.stateDirFlag = call.stateDir
	if err := p.tellHook(ctx, call, began); err != nil && call.verbose {
		p.notef("panebridge: %v", err)
	}
	return exitDone
}

// tellHook reads the hook's record, and posts what it says.
func (p *program) tellHook(ctx context.Context, call hookCall, began time.Time) (err error) {
	defer func() {
		if r := recover(); r != nil { // it would end the program with an exit code of its own
			err = fmt.Errorf("tell of the hook: %v", r)
		}
	}()
	env := func(name string) string { value, _ := p.env(name); return value }
	record := []byte(call.record)
	if len(record) == 0 {
		record = []byte(env(recordVariable))
	}
	unhurried := agent.Unhurried(call.agent, call.event)
	if len(record) == 0 && !isTerminal(p.stdio.In) {
		within := hookRecordTime
		if unhurried {
			within = unhurriedTime
		}
		wait, cancel := context.WithDeadline(ctx, began.Add(within))
		record = readRecord(wait, p.stdio.In)
		cancel()
	}
	// What couldn't be read is no reason to keep back the rest.
	h, unread := agent.ParseHook(call.agent, call.event, record, env, began)
	h.PIDs = parents(maxParents)
	dir, err := p.stateDir()
	if err != nil {
		return errors.Join(unread, err)
	}
	parent := ctx
	within := hookAnswerTime
	if unhurried || len(h.Input) > 0 {
		within += unhurriedTime
	}
	ctx, cancel := context.WithDeadline(ctx, began.Add(within))
	defer cancel()
	tell, err := client.New(statedir.SocketPath(dir)).Hook(ctx, h)
	if tell != "" {
		err = errors.Join(err, p.tellAgent(h, tell))
	}
	if err == nil && call.wait && h.Waits() {
		err = p.awaitDecision(parent, dir, h)
	}
	return errors.Join(unread, err)
}

// hookCall is what the command line says.
type hookCall struct {
	agent, event string
	record       string // JSON; "": it's on standard input
	stateDir     string
	verbose      bool
	wait         bool // until the dialog is answered
}

// parseHookArgs takes what it knows and passes over the rest.
func parseHookArgs(args []string) hookCall {
	var call hookCall
	var words []string
	for i := 0; i < len(args); i++ {
		name, value, given := strings.Cut(args[i], "=")
		switch {
		case strings.HasPrefix(args[i], "{"):
			call.record = args[i]
		case name == "--verbose":
			call.verbose = true
		case name == "--wait":
			call.wait = true
		case name == "--state-dir" || name == "--config":
			if !given && i+1 < len(args) {
				i++
				value = args[i]
			}
			if name == "--state-dir" {
				call.stateDir = value
			}
		case strings.HasPrefix(args[i], "-"), args[i] == hookCommand && len(words) == 0:
		default:
			words = append(words, args[i])
		}
	}
	words = append(words, "", "")
	call.agent, call.event = words[0], words[1]
	return call
}
