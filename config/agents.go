package config

import (
	"slices"
	"strings"
)

// profiles are those there are.
var profiles = []string{"generic"} //nolint:gochecknoglobals // a constant table

func profileProblem(text string) string {
	if text == "" || slices.Contains(profiles, text) {
		return ""
	}
	return "must be one of " + strings.Join(profiles, ", ") + ", or left out"
}

// Agent is a program that can be started as a session.
type Agent struct {
	Command []string          `yaml:"command" min:"1" eg:"[claude, --continue]" doc:"The program and its arguments; no shell reads them."`
	Env     map[string]Secret `yaml:"env" keys:"env_name" eg:"{ANTHROPIC_API_KEY: \"${ANTHROPIC_API_KEY}\"}" doc:"Environment variables for it, besides the daemon's; never shown or logged."`
	Profile string            `yaml:"profile" is:"profile" eg:"generic" doc:"Agent profile that knows its screen."`
}

func (a *Agent) check(p part) {
	switch {
	case !p.given("command"):
		p.problem("command", `must be given, such as ["claude"]`)
	case len(a.Command) > 0 && a.Command[0] == "":
		p.problem("command[0]", "must be the name or path of a program, not empty")
	}
}
