package agent

import (
	"encoding/json"
	"time"
)

// Signal is what a hook of an agent program tells, whichever program it is.
type Signal string

// The signals.
const (
	SessionStart Signal = "session_start" // a conversation begins or goes on
	PromptSent   Signal = "prompt_sent"   // the person's text was taken: a turn begins
	ToolStart    Signal = "tool_start"    // a tool is about to run
	ToolEnd      Signal = "tool_end"
	Asking       Signal = "asking"   // a dialog is open: permission or question
	Answered     Signal = "answered" // that dialog was answered
	// Replied: what a hook was told was handed on, or couldn't be.
	Replied  Signal = "replied"
	TurnDone Signal = "turn_done" // the answer is complete
	// TurnBroken: the turn ended without a complete answer, by a person's hand or a failure.
	TurnBroken Signal = "turn_broken"
	Nudge      Signal = "nudge" // the program called for attention; nothing is known by it alone
	SessionEnd Signal = "session_end"
)

// Hook is one call of an agent program's hook, as `panebridge hook` hands it on.
type Hook struct {
	Agent  string `json:"agent"`            // name of its profile: claude, codex, gemini, opencode
	Event  string `json:"event"`            // as the agent calls it
	Signal Signal `json:"signal,omitempty"` // "": one that says nothing here
	// Conversation is the agent's own id of the conversation; "" if it didn't tell.
	Conversation string `json:"conversation,omitempty"`
	Transcript   string `json:"transcript,omitempty"` // absolute path of the transcript; "" if it didn't tell
	Cwd          string `json:"cwd,omitempty"`
	Tool         string `json:"tool,omitempty"`
	Sub          bool   `json:"sub,omitempty"`  // a sub-agent's call, as far as the agent tells
	Text         string `json:"text,omitempty"` // the prompt, the question or the answer; may be cut
	// Failed says that the turn has failed which the hook ends; Text says why.
	Failed bool `json:"failed,omitempty"`
	// Input is what a call that a person is asked about is to do, whole, as the agent
	// records it: JSON. Lost says that it's longer than MaxHookInput.
	Input json.RawMessage `json:"input,omitempty"`
	Lost  bool            `json:"lost,omitempty"`
	// Request is the agent's own id of what it asks, or of what was answered: where it takes
	// answers by that, a hook can wait and give one. "": it has none. Saves are the patterns
	// that it would allow for good.
	Request string   `json:"request,omitempty"`
	Saves   []string `json:"saves,omitempty"`
	// Own says that a hook which waited answered it, and what came of that is told apart.
	Own bool `json:"own,omitempty"`
	// Where the hook ran. Codex may run it in its daemon's environment, so that the pane
	// is another's: Conversation and Transcript count for more.
	TmuxSocket string    `json:"tmux_socket,omitempty"` // path, of TMUX
	TmuxPID    int       `json:"tmux_pid,omitempty"`    // of the tmux server, of TMUX
	Pane       string    `json:"pane,omitempty"`        // TMUX_PANE
	Session    string    `json:"session,omitempty"`     // PANEBRIDGE_SESSION, in panes made by panebridge
	PIDs       []int     `json:"pids,omitempty"`        // the processes above the hook, nearest first
	At         time.Time `json:"at"`                    // when it was called

	// Asks is how a call of an MCP server's tool is drawn, as the agent's server says; nil: it
	// doesn't.
	Asks *toolCall `json:"-"`
}
