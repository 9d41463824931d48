package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/inbox"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions/agent"
)

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
	Behavior  agent.Decision  `json:"behavior"`
	Interrupt bool            `json:"interrupt,omitempty"`
	Input     json.RawMessage `json:"updatedInput,omitempty"`
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
func (p *program) tellAgent(h agent.Hook, text string) error {
	path, _ := p.env("PATH")
	executable, _ := ownPath() // without it, it's called by its name
	text = inbox.Fit(text, agent.CalledBy(path, executable))
	return encode(p.stdio.Out, hookOutput{hookSpecific{Event: h.Event, Context: text}}, "")
}

// awaitDecision waits until the dialog of a permission hook is answered, and prints an
// answer that the hook can give. The agent ends the hook when it's answered otherwise.
func (p *program) awaitDecision(ctx context.Context, dir string, h agent.Hook) error {
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
	by := map[agent.Decision]string{agent.Allow: "once", agent.AllowAlways: "always", agent.Deny: "reject"}
	return reply{Reply: by[told.Decision], Message: told.Message}
}
