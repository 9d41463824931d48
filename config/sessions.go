package config

// Sessions says which tmux sessions become sessions of panebridge, and how
// much of their output is kept.
type Sessions struct {
	Adopt        []string `yaml:"adopt" is:"glob" reload:"yes" doc:"Patterns (* ? [a-z]) of tmux session names; every pane of a match becomes a session."`
	TmuxPrefix   string   `yaml:"tmux_prefix" is:"tmux_prefix" doc:"What the names of tmux sessions made by panebridge begin with."`
	HistoryLimit int      `yaml:"history_limit" min:"100" max:"1000000" doc:"Lines of scrollback in the panes panebridge makes; what tmux drops before it's read is a gap."`
	LogMaxLines  int      `yaml:"log_max_lines" min:"1000" max:"1000000000" reload:"yes" doc:"Lines kept per session in the output log; the oldest go first."`
	KeepEnded    Age      `yaml:"keep_ended" is:"age" reload:"yes" doc:"How long a session that has ended is kept, with its log, its questions and its mail; then it's forgotten. A damaged database that was put aside is deleted after as long."`

	ContinueText     string   `yaml:"continue_text" is:"continue_text" reload:"yes" doc:"What's typed into a session when its agent's limit is over, where somebody has asked for that."`
	ShellIntegration bool     `yaml:"shell_integration" doc:"Whether bash, zsh and fish in the panes panebridge makes tell, by invisible marks in their prompts, where each command's output begins and ends, and its exit status."`
	Prompts          []string `yaml:"prompts" is:"regexp" eg:"['(?P<folder>.*) » ']" doc:"Regular expressions of prompts, besides the common ones, by which other shells' commands are told apart: each for all of a row up to the cursor. Groups named folder (what changes) and status (exit status) help."`
}

func defaultSessions() Sessions {
	return Sessions{TmuxPrefix: "pb_", HistoryLimit: 50_000, LogMaxLines: 200_000, KeepEnded: "30d", ContinueText: "continue", ShellIntegration: true}
}
