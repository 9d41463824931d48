package config

// Agent is a program that can be started as a session.
type Agent struct {
	Command []string          `yaml:"command" min:"1" eg:"[claude, --continue]" doc:"The program and its arguments; no shell reads them."`
	Env     map[string]Secret `yaml:"env" keys:"env_name" eg:"{ANTHROPIC_API_KEY: \"${ANTHROPIC_API_KEY}\"}" doc:"Environment variables for it, besides the daemon's; never shown or logged."`
	Profile string            `yaml:"profile" is:"profile" eg:"claude" doc:"Agent profile that knows its screen; left out, the one for the program's name."`
}

func (a *Agent) check(p part) {
	switch {
	case !p.given("command"):
		p.problem("command", `must be given, such as ["claude"]`)
	case len(a.Command) > 0 && a.Command[0] == "":
		p.problem("command[0]", "must be the name or path of a program, not empty")
	}
}
