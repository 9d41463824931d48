package inbound

import "strings"

// interrupts says by which keys agents are interrupted, by a word in the agent's
// name. Others, shells above all, take C-c. For opencode two presses are known to
// work; one wasn't tried.
var interrupts = []struct { //nolint:gochecknoglobals // a constant table
	agent string
	keys  []string
}{
	{"opencode", []string{"Escape", "Escape"}},
	{"claude", []string{"Escape"}},
	{"codex", []string{"Escape"}},
	{"gemini", []string{"Escape"}},
}

func interruptOf(agent string) []string {
	for _, i := range interrupts {
		if strings.Contains(strings.ToLower(agent), i.agent) {
			return i.keys
		}
	}
	return []string{"C-c"}
}

// stopCommand interrupts what a session is doing.
func stopCommand() command {
	return command{
		CommandInfo: CommandInfo{Name: "stop", Help: "Interrupt what the session is doing"},
		role:        Operator,
		session:     true,
		run: func(a *ask) error {
			if err := a.nothingElse(); err != nil {
				return err
			}
			return a.pressAndSay(interruptOf(a.session.Agent))
		},
	}
}

// escCommand presses Escape.
func escCommand() command {
	return command{
		CommandInfo: CommandInfo{Name: "esc", Help: "Press Escape"},
		role:        Operator,
		session:     true,
		run: func(a *ask) error {
			if err := a.nothingElse(); err != nil {
				return err
			}
			return a.pressAndSay([]string{"Escape"})
		},
	}
}
