package cli

// ExitCode is an exit code, as a reference tells it.
type ExitCode struct {
	Code  int
	Of    string // the command; "": all commands
	Means string
}

// ExitCodes returns all exit codes of commands.
func ExitCodes() []ExitCode {
	return []ExitCode{
		{exitDone, "", "done"},
		{exitFailed, "", "failed; of `doctor`: something is broken"},
		{exitUsage, "", "wrong usage or configuration"},
		{exitNotRunning, "", "no daemon is running, and one is needed"},
		{exitTimedOut, "", "timed out"},
		{exitRefused, "ask", "refused"},
		{exitEnded, "ask", "the session has ended"},
		{exitNobody, "ask", "nobody can be asked"},
		{exitWithdrawn, "ask", "taken back"},
		{exitStopped, "wait", "a text of `--stop` came"},
		{exitAlternate, "wait", "the program has gone to the alternate screen"},
		{exitDied, "wait", "the session has ended"},
		{exitRespawned, "wait", "the pane runs another program"},
		{exitHistoryLost, "wait", "output was lost before it was read"},
	}
}
