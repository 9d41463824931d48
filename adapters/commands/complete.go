package commands

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// maxCandidates: Discord shows 25 (docs.discord.com/developers/interactions/application-commands).
const maxCandidates = 25

// Complete returns what a person may mean who has begun to write a parameter of a command at a place; nil if
// they may not use the command there. It reads folders, and takes no slot. Labels are masked; what has a
// secret in its value isn't offered.
func (r *Runner) Complete(ev intake.Event, name, param, begun string) []intake.Completion {
	roles, why := r.RolesAt(ev)
	c, ok := r.commands[name]
	if why != "" || !ok || !roles.Has(c.neededRole(ev)) {
		return nil
	}
	var all []intake.Completion
	switch param {
	case paramSession:
		all = r.sessionCandidates(ev.Place)
	case paramAgent:
		for _, agent := range r.agentNames() {
			all = append(all, intake.Completion{Label: agent, Value: agent})
		}
	case paramFolder:
		all = r.folderCandidates(begun)
	}
	var out []intake.Completion
	for _, c := range all {
		if r.Masked(c.Value) != c.Value { // the platform would get it
			continue
		}
		c.Label = r.Masked(c.Label)
		if len(out) < maxCandidates && strings.Contains(strings.ToLower(c.Label), strings.ToLower(strings.TrimSpace(begun))) {
			out = append(out, c)
		}
	}
	return out
}

// sessionCandidates are the living sessions, those of a place first.
func (r *Runner) sessionCandidates(place adapters.Target) []intake.Completion {
	list := r.SessionsAt(place, func(b adapters.Binding) bool { return !b.Unbound })
	for _, s := range r.listNewestFirst() {
		if s.State != sessions.StateEnded && !slices.ContainsFunc(list, func(x sessions.Session) bool { return x.ID == s.ID }) {
			list = append(list, s)
		}
	}
	var out []intake.Completion
	for _, s := range list {
		out = append(out, intake.Completion{Label: s.Name + " (" + string(s.State) + ")", Value: string(s.ID)})
	}
	return out
}

// folderCandidates are the folders of the newest sessions, and those within the one
// that's being written.
func (r *Runner) folderCandidates(begun string) []intake.Completion {
	var out []intake.Completion
	add := func(path string) {
		c := intake.Completion{Label: wording.HomePath(path), Value: wording.HomePath(path)}
		if !slices.Contains(out, c) {
			out = append(out, c)
		}
	}
	for _, path := range r.recentFolders() {
		add(path)
	}
	base := wording.HomePath(r.baseFolder())
	written, below := strings.CutPrefix(begun, base+"/")
	if !below && strings.HasPrefix(begun, base[:1]) {
		written = "" // it's elsewhere, or not written yet
	}
	dir := ""
	if i := strings.LastIndexByte(written, '/'); i >= 0 {
		dir = written[:i]
	}
	names, err := r.foldersWithin(dir)
	if err != nil {
		return out // what's written isn't a folder
	}
	for _, name := range names {
		add(filepath.Join(r.baseFolder(), dir, name))
	}
	return out
}
