package app

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// FindAgents looks for the programs of profiles in the folders of a PATH.
func FindAgents(path string, profiles *agent.Set) sessions.AgentSearch {
	s := sessions.AgentSearch{Found: map[string]sessions.Agent{}}
	for _, folder := range filepath.SplitList(path) {
		if filepath.IsAbs(folder) && !slices.Contains(s.Folders, folder) { // others depend on where one stands
			s.Folders = append(s.Folders, folder)
		}
	}
	for _, name := range profiles.Names() {
		p := profiles.Get(name)
		if p.Program() == "" {
			continue
		}
		s.Names = append(s.Names, name)
		if file := programIn(s.Folders, p.Program()); file != "" {
			s.Found[name] = sessions.Agent{Command: []string{file}, Resume: p.ResumeArgs()}
		}
	}
	return s
}

// programIn is the file of a program, which is in the first of folders that has one; "": it's
// in none.
func programIn(folders []string, name string) string {
	for _, folder := range folders {
		file := filepath.Join(folder, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// findAgents looks for agents in the PATH that the panes have which the daemon makes.
func (d *daemon) findAgents() sessions.AgentSearch {
	path, _ := d.lookUpPane("PATH")
	return FindAgents(path, d.profiles)
}
