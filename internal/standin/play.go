package standin

import "github.com/panebridge/panebridge/internal/recording"

// playVar holds the Play that a test binary carries out instead of its tests.
const playVar = "PANEBRIDGE_STANDIN"

// Agents are the programs that can be played.
var Agents = []string{"claude", "codex", "gemini", "opencode", "qwen"} //nolint:gochecknoglobals // a constant table

// Play is one run of a program.
type Play struct {
	Agent   string // one of Agents
	Seed    uint64 // what's random follows from it
	Dialogs int    // so many are begun by the program
	Journal string // a file for Entries, as JSON lines
	Home    string // a folder for the program's file
}

// Command is what the pane runs: a command line for sh. The test binary exe must call
// Main first thing in TestMain. The process is named like the agent's.
func (p Play) Command(exe string) (string, error) {
	return recording.ActorLine(exe, playVar, p, p.Home, p.Agent)
}

// Main is called first thing by the TestMain of a package that plays programs.
func Main() { recording.ActorMain[Play](playVar) }
