package app

import (
	"maps"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// revive is the command line by which a shell begins an agent again: that of the first
// configured agent that has the profile, by name, else the program's own name.
// conversation is the one to go on with; "": a new one.
func (d *daemon) revive(_ sessions.ID, program, conversation string) (line string, ok bool) {
	p := d.profiles.Get(program)
	if p == nil || p.Shell() {
		return "", false
	}
	cfg := d.currentConfig()
	command, resume := []string{}, p.ResumeArgs()
	if name := p.Program(); name != "" {
		command = []string{name}
	}
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if a := cfg.Agents[name]; profileOf(cfg, name) == program && len(a.Command) > 0 {
			command = slices.Concat(a.Command, a.Flags)
			if len(a.Resume) > 0 {
				resume = a.Resume
			}
			break
		}
	}
	if len(command) == 0 || conversation != "" && len(resume) == 0 {
		return "", false
	}
	if conversation != "" {
		for _, arg := range resume {
			command = append(slices.Clip(command), strings.ReplaceAll(arg, sessions.ConversationID, conversation))
		}
	}
	words := make([]string, len(command))
	for i, word := range command {
		if strings.ContainsAny(word, "\\\n\r\t") {
			return "", false // shells don't agree on how these are written
		}
		words[i] = shellWord(word)
	}
	return strings.Join(words, " "), true
}

// shellWord writes a word so that bash, zsh, fish and a POSIX shell read it as it is.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./:=,@+", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'"'"'`) + "'"
}
