package config

// Mirror is a rule: sessions whose name matches are mirrored to a chat.
type Mirror struct {
	Session string `yaml:"session" is:"glob" eg:"agent-*" doc:"Pattern (* ? [a-z]) of session names."`
	To      string `yaml:"to" is:"target" eg:"telegram:-1001234567890" doc:"ADAPTER:CHAT, or ADAPTER:CHAT/THREAD for one thread or topic."`
	View    string `yaml:"view" oneof:"stream final screen" eg:"stream" doc:"stream, the default, shows output as it comes, final only finished turns, screen the screen as it is."`
	// Each left out is as usual: adapters.WorkShown.
	Tools    string `yaml:"tools" oneof:"all brief none" eg:"brief" doc:"How much of an agent's calls of tools it shows: all is each of them, brief one line that counts them and a button that shows them, none is nothing. What isn't shown is in the log, and /history has it. Left out: all."`
	Thinking string `yaml:"thinking" oneof:"all brief none" eg:"none" doc:"The same of what an agent thinks before it answers. Left out: none."`
	Prompts  string `yaml:"prompts" oneof:"all brief none" eg:"all" doc:"The same of what was written to the session elsewhere. Left out: all."`
	Output   string `yaml:"output" is:"output" eg:"30" doc:"How much of what's printed in one go it shows: of more than so many rows of a phone (10 to 500) the head and the tail, with a button that brings all of it; all is each line. An agent's answers are shown whole. Left out: 30."`
	Input    bool   `yaml:"input" doc:"Whether what is written there goes to the session."`
	Quotes   bool   `yaml:"quote_replies" doc:"Whether what an agent is sent begins with the message that it answers, where somebody answers one."`
}

// Check implements Checker.
func (m *Mirror) Check(p Part) {
	for _, key := range []string{"session", "to"} {
		if !p.Given(key) {
			p.Problem(key, "must be given")
		}
	}
	if m.View == "" && !p.Given("view") {
		m.View = "stream"
	}
}
