package config

import (
	"slices"
	"strings"
)

// Agent is a program that can be started as a session.
type Agent struct {
	Command      []string          `yaml:"command" min:"1" eg:"[claude]" doc:"The program and its arguments; no shell reads them."`
	Flags        []string          `yaml:"flags" eg:"[--model, sonnet]" doc:"More arguments, behind the command's."`
	Env          map[string]Secret `yaml:"env" keys:"env_name" eg:"{ANTHROPIC_API_KEY: \"${ANTHROPIC_API_KEY}\"}" doc:"Environment variables for it, besides those of its tmux server; never shown or logged. No secret of panebridge's own may be in them."`
	Profile      string            `yaml:"profile" is:"profile" eg:"claude" doc:"Profile that knows its screen and its transcripts; left out: the one of the agent's own name."`
	Resume       []string          `yaml:"resume" eg:"[--resume, \"{id}\"]" doc:"Arguments, behind all others, with which it goes on with the conversation {id}; left out: the profile's."`
	Width        int               `yaml:"width" min:"20" max:"1000" eg:"120" doc:"Columns of its pane."`
	Height       int               `yaml:"height" min:"5" max:"500" eg:"40" doc:"Rows of its pane."`
	HistoryLimit int               `yaml:"history_limit" min:"0" max:"1000000" eg:"50000" doc:"Lines of scrollback in its pane; 0: sessions.history_limit."`
}

const defaultPaneWidth, defaultPaneHeight = 120, 40

// conversationID stands for the id of a conversation in Agent.Resume.
const conversationID = "{id}"

// Check implements Checker.
func (a *Agent) Check(p Part) {
	switch {
	case !p.Given("command"):
		p.Problem("command", `must be given, such as ["claude"]`)
	case len(a.Command) > 0 && a.Command[0] == "":
		p.Problem("command[0]", "must be the name or path of a program, not empty")
	}
	if len(a.Resume) > 0 && !slices.ContainsFunc(a.Resume, func(arg string) bool { return strings.Contains(arg, conversationID) }) {
		p.Problem("resume", "must have "+conversationID+" in one of the arguments, where the conversation's id goes")
	}
	if !p.Given("width") {
		a.Width = defaultPaneWidth
	}
	if !p.Given("height") {
		a.Height = defaultPaneHeight
	}
}
