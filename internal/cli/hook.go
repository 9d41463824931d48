package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
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
func newHook(p *invocation) *cobra.Command {
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
func (p *invocation) hook(ctx context.Context, args []string) int {
	began := time.Now()
	call := parseHookArgs(args)
	p.stateDirFlag = call.stateDir
	if err := p.tellHook(ctx, call, began); err != nil && call.verbose {
		p.notef("panebridge: %v", err)
	}
	return exitDone
}

// tellHook reads the hook's record, and posts what it says.
func (p *invocation) tellHook(ctx context.Context, call hookCall, began time.Time) (err error) {
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

// hookOutput is what a hook prints to have its agent's model read something: Claude Code,
// Codex and Gemini CLI take the same form.
type hookOutput struct {
	Specific hookSpecific `json:"hookSpecificOutput"`
}

type hookSpecific struct {
	Event   string `json:"hookEventName"`
	Context string `json:"additionalContext,omitempty"`
	// Decision is of a permission hook.
	Decision *hookDecision `json:"decision,omitempty"`
}

type hookDecision struct {
	Behavior  agent.HookDecision `json:"behavior"`
	Interrupt bool               `json:"interrupt,omitempty"`
	Input     json.RawMessage    `json:"updatedInput,omitempty"`
	// Permissions are what changes of those.
	Permissions []permissionUpdate `json:"updatedPermissions,omitempty"`
}

type permissionUpdate struct {
	Type        string `json:"type"`
	Mode        string `json:"mode"`
	Destination string `json:"destination"` // for how long
}

// tellAgent prints what an agent's model is to read. A hook has its agent's environment:
// commands in the text are such as the agent can run.
func (p *invocation) tellAgent(h agent.Hook, text string) error {
	path, _ := p.env("PATH")
	executable, _ := ownPath() // without it, it's called by its name
	text = inbox.Fit(text, agent.CalledBy(path, executable))
	return encode(p.stdio.Out, hookOutput{hookSpecific{Event: h.Event, Context: text}}, "")
}

// awaitDecision waits until the dialog of a permission hook is answered, and prints an
// answer that the hook can give. The agent ends the hook when it's answered otherwise.
func (p *invocation) awaitDecision(ctx context.Context, dir string, h agent.Hook) error {
	ctx, cancel := context.WithTimeout(ctx, agent.WaitFor)
	defer cancel()
	if h.Request != "" { // who reads it goes on with other events now
		if _, err := io.WriteString(p.stdio.Out, "\n"); err != nil {
			return fmt.Errorf("say that it waits: %w", err)
		}
	}
	told, err := client.New(statedir.SocketPath(dir)).Decision(ctx, h)
	if err != nil || told.Decision == "" {
		return err
	}
	if h.Request != "" {
		return encode(p.stdio.Out, requestReply(told), "")
	}
	decision := &hookDecision{Behavior: told.Decision, Interrupt: told.Interrupt, Input: told.Input}
	if told.Mode != "" {
		decision.Permissions = []permissionUpdate{{Type: "setMode", Mode: told.Mode, Destination: "session"}}
	}
	return encode(p.stdio.Out, hookOutput{hookSpecific{Event: h.Event, Decision: decision}}, "")
}

// reply is what opencode takes as the answer to a request: of a permission, or of questions.
type reply struct {
	Reply   string     `json:"reply,omitempty"`
	Message string     `json:"message,omitempty"`
	Answers [][]string `json:"answers,omitempty"`
}

func requestReply(told agent.Told) reply {
	if told.Answers != nil {
		return reply{Answers: told.Answers}
	}
	by := map[agent.HookDecision]string{agent.Allow: "once", agent.AllowAlways: "always", agent.Deny: "reject"}
	return reply{Reply: by[told.Decision], Message: told.Message}
}

// maxRecord is how much of a hook's record is kept, in bytes. What says which
// conversation it is stands before what a tool printed.
const maxRecord = agent.MaxHookInput + 64<<10

// readRecord reads a JSON object until its end, the end of the input, or the end of
// ctx, and returns its beginning. An agent may leave the input open, and it may not
// be left with a pipe that nobody reads, so the rest of a long one is read too.
func readRecord(ctx context.Context, in io.Reader) []byte {
	var (
		mu   sync.Mutex
		text []byte
	)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() { _ = recover() }() // what has been read will do
		var end objectEnd
		buf := make([]byte, 64<<10)
		for {
			n, err := in.Read(buf)
			mu.Lock()
			text = append(text, buf[:min(n, maxRecord-len(text))]...)
			mu.Unlock()
			if end.seen(buf[:n]) || err != nil {
				return
			}
		}
	}()
	select {
	case <-ended:
	case <-ctx.Done():
	}
	mu.Lock()
	defer mu.Unlock()
	return text
}

// objectEnd finds the end of a JSON object that comes in parts.
type objectEnd struct {
	depth    int
	inString bool
	escaped  bool
}

// seen takes the next part, and reports whether the object ends in it.
func (o *objectEnd) seen(part []byte) bool {
	for _, c := range part {
		switch {
		case o.escaped:
			o.escaped = false
		case o.inString:
			o.escaped = c == '\\'
			o.inString = c != '"'
		case c == '"':
			o.inString = true
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			if o.depth--; o.depth <= 0 {
				return true
			}
		}
	}
	return false
}
