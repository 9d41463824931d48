package commands

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// commandParams are a command's parameters.
func commandParams(command string) []intake.Param {
	session := intake.Param{Name: paramSession, Help: "Its name, if it isn't the one of this place", Offers: true}
	named := intake.Param{Name: paramSession, Help: "Its name", Required: true, Offers: true}
	views := []string{"stream", "final", "screen"}
	switch command {
	case "new":
		return []intake.Param{
			{Name: paramAgent, Help: "The agent to start; none: the one that was started last", Offers: true},
			{Name: paramFolder, Help: "Where it works; none: you're asked", Offers: true},
		}
	case resumeWord:
		return []intake.Param{
			{Name: paramAgent, Help: "The agent; none: the one of this place's session", Offers: true},
			{Name: paramFolder, Help: "Where it works; none: where this place's session does", Offers: true},
		}
	case "screen":
		return []intake.Param{session, {Name: "as", Help: "As text, in place of a picture", Choices: []string{"text"}}}
	case "keys":
		return []intake.Param{session, {Name: "keys", Help: "Their names: Up Enter C-c; none: a keyboard"}}
	case "history":
		return []intake.Param{session, {Name: "lines", Help: "How many"}}
	case "search":
		return []intake.Param{{Name: "text", Help: "What to look for", Required: true}}
	case "send":
		return []intake.Param{session, {Name: "file", Help: "Its path in the session's folder", Required: true}}
	case "view":
		return []intake.Param{session, {Name: "view", Help: "What this place shows", Required: true, Choices: views}}
	case "mute":
		return []intake.Param{session, {Name: "when", Help: "For how long or when: 1h, 22:00-07:00, off"}}
	case "bind":
		return []intake.Param{
			named,
			{Name: "view", Help: "What this place shows", Choices: views},
			{Name: "input", Help: "Whether what's written here is typed", Choices: []string{"input on", "input off"}},
		}
	case "mail":
		return []intake.Param{{Name: "to", Help: "A session's name, or the id of what you answer"}, {Name: "text", Help: "What to say"}}
	case "fleet":
		return []intake.Param{{Name: "name", Help: "One fleet alone"}}
	case "pair":
		return []intake.Param{{Name: "code", Help: "The code that you were given; or, to make one, the role it gives"}}
	case "access":
		return []intake.Param{
			{Name: "change", Help: "What to do; nothing: list who may do what", Choices: []string{"grant", "revoke"}},
			{Name: "person", Help: "telegram:123 or discord:456"},
			{Name: "role", Help: "What to give", Choices: []string{string(access.Viewer), string(access.Operator), string(access.Approver), string(access.Admin)}},
		}
	case "stop", "esc", "close", "unbind", "reopen", "restart":
		return []intake.Param{session}
	default:
		return nil
	}
}

const (
	paramSession = "session"
	paramAgent   = "agent"
	paramFolder  = "folder"
)

// maxCandidates: Discord shows 25 (docs.discord.com/developers/interactions/application-commands).
const maxCandidates = 25

// Complete returns what a person may mean who has begun to write a parameter of a
// command at a place: nothing if they may not use the command there. It reads
// folders, and takes no slot. Candidates' labels are masked; one whose value has a secret in
// it isn't offered.
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
