package agent

import (
	"os"
	"path/filepath"

	"github.com/panebridge/panebridge/sessions"
)

// OwnName is what panebridge is called by whose PATH has it.
const OwnName = "panebridge"

// CalledBy is how a program calls panebridge: by its name if the folders of the program's
// PATH have it, else by the path of its executable, quoted for a shell. "": nobody knows
// that, and it's the name.
func CalledBy(path, executable string) string {
	if executable == "" {
		return OwnName
	}
	for _, dir := range filepath.SplitList(path) {
		found, err := os.Stat(filepath.Join(dir, OwnName))
		if err == nil && filepath.IsAbs(dir) && found.Mode().IsRegular() && found.Mode().Perm()&0o111 != 0 {
			return OwnName
		}
	}
	return shellQuote(executable)
}

// CalledIn is CalledBy of what has a pane's foreground: by its environment, as that was
// when it was started. What can't be looked at calls it by its path.
func (f *Foreground) CalledIn(s *sessions.Snapshot, executable string) string {
	path := ""
	for _, process := range f.processes.Foreground(s.PID, true) {
		env := process.Environ()["PATH"]
		if p := f.profiles.Match(process); p != nil && !p.Shell() {
			path = env // the agent's, which runs commands, whatever started it
			break
		}
		if path == "" {
			path = env
		}
	}
	return CalledBy(path, executable)
}
