package app

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// profilesFolder stands beside the configuration and has profiles of agent programs,
// which change or add to those in the binary.
const profilesFolder = "profiles"

// LoadProfiles reads the profiles that a configuration's sessions may have: those of the
// binary, of the folder beside the configuration's file, and of the configuration. What's
// wrong with the last is a config.Errors.
func LoadProfiles(cfg *config.Config, configPath string) (*agent.Set, error) {
	var overrides []agent.Override
	if configPath != "" {
		var err error
		if overrides, err = agent.ReadOverrides(filepath.Join(filepath.Dir(configPath), profilesFolder)); err != nil {
			return nil, err
		}
	}
	set, err := agent.LoadSet(overrides...)
	if err != nil || len(cfg.Profiles) == 0 {
		return set, err
	}
	written := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range slices.Sorted(maps.Keys(cfg.Profiles)) {
		value := cfg.Profiles[name].Node()
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name, Line: value.Line, Column: value.Column}
		written.Content = append(written.Content, key, value)
	}
	set, err = agent.LoadSet(append(overrides, agent.Override{File: configPath, Profiles: written})...)
	if err != nil {
		return nil, profileProblems(err)
	}
	return set, nil
}

// profileProblems are the mistakes in a configuration's profiles as those of its other
// keys.
func profileProblems(err error) error {
	var out config.Errors
	var add func(error) bool
	add = func(err error) bool {
		switch err := err.(type) { //nolint:errorlint // each of those that were joined is looked at
		case *agent.LoadError:
			p := config.Problem{File: err.File, Line: max(1, err.Line), Column: max(1, err.Column), Path: "profiles." + err.Profile, Message: err.Problem}
			if err.Path != "" {
				p.Path += "." + err.Path
			}
			out.Problems = append(out.Problems, p)
			return true
		case interface{ Unwrap() []error }:
			return !slices.ContainsFunc(err.Unwrap(), func(err error) bool { return !add(err) })
		}
		return false
	}
	if !add(err) {
		return err
	}
	slices.SortStableFunc(out.Problems, func(a, b config.Problem) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	return &out
}

// CheckProfiles says what's wrong with the profiles of a configuration, in its file or
// beside that, and which agents have a profile that there isn't: as a config.Errors,
// with the places.
func CheckProfiles(cfg *config.Config, file string, env config.Env) error {
	profiles, err := LoadProfiles(cfg, file)
	if err != nil {
		return err
	}
	return checkAgents(cfg, profiles, file, env)
}

// profileOf is the profile that a configured agent has: the one that's named, else the
// one of the agent's own name.
func profileOf(cfg *config.Config, name string) string {
	if a, ok := cfg.Agents[name]; ok && a.Profile != "" {
		return a.Profile
	}
	return name
}

// agents translates the configuration's agents.
func agents(cfg *config.Config, profiles *agent.Set) map[string]sessions.Agent {
	out := map[string]sessions.Agent{}
	for name, a := range cfg.Agents {
		s := sessions.Agent{
			Command: slices.Concat(a.Command, a.Flags), Resume: a.Resume,
			Width: a.Width, Height: a.Height, HistoryLimit: a.HistoryLimit,
		}
		if p := profiles.Get(profileOf(cfg, name)); p != nil && len(a.Resume) == 0 {
			s.Resume = p.ResumeArgs()
		}
		for k, v := range a.Env {
			s.Env = append(s.Env, k+"="+v.Reveal())
		}
		out[name] = s
	}
	return out
}

// checkAgents says which agents have a profile that there isn't, and where in the
// configuration's file that stands.
func checkAgents(cfg *config.Config, profiles *agent.Set, file string, env config.Env) error {
	var found []config.Problem
	for _, name := range slices.Sorted(maps.Keys(cfg.Agents)) {
		if p := cfg.Agents[name].Profile; p != "" && profiles.Get(p) == nil {
			found = append(found, config.Problem{
				Path: "agents." + name + ".profile", Message: fmt.Sprintf("there's no profile %q; there are %s", p, strings.Join(profiles.Names(), ", ")),
			})
		}
	}
	return locateProblems(found, file, env)
}

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

// conversations are what agents can go on with, by their transcripts.
type conversations struct{ d *daemon }

// Conversations implements commands.Conversations.
func (c conversations) Conversations(ctx context.Context, name, folder string) ([]commands.Conversation, error) {
	cfg := c.d.currentConfig()
	profile := c.d.profiles.Get(profileOf(cfg, name))
	a := agents(cfg, c.d.profiles)[name]
	if profile == nil || profile.Format() == "" || len(a.Resume) == 0 {
		return nil, fmt.Errorf("%w: it isn't known what %s could go on with", sessions.ErrInvalid, name)
	}
	env := map[string]string{}
	for _, kv := range slices.Concat(c.d.paneEnvironment(), a.Env) {
		k, v, _ := strings.Cut(kv, "=")
		env[k] = v
	}
	all, err := transcript.Find(ctx, transcript.Where{Format: profile.Format(), Home: env["HOME"], Env: env, Cwd: folder})
	if err != nil {
		return nil, fmt.Errorf("look for conversations of %s: %w", name, err)
	}
	var out []commands.Conversation
	for _, t := range all {
		if t.Ref.Session != "" && !t.Changed.IsZero() {
			out = append(out, commands.Conversation{ID: t.Ref.Session, Title: t.LastUser, Changed: t.Changed})
		}
	}
	return out, nil
}

// list is an api.ListConversations.
func (c conversations) list(ctx context.Context, name, folder string) ([]api.PastConversation, error) {
	if folder == "" {
		folder, _ = os.UserHomeDir() // where sessions begin that have no other
	}
	all, err := c.Conversations(ctx, name, folder)
	var out []api.PastConversation
	for _, v := range all {
		out = append(out, api.PastConversation{ID: v.ID, Title: v.Title, Changed: v.Changed})
	}
	return out, err
}

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

// shellIntegration is what sessions.Options.Integrate wants.
func (d *daemon) shellIntegration() (func([]string) (changed, env []string), error) {
	if !d.config.Sessions.ShellIntegration {
		return nil, nil //nolint:nilnil // none is wanted
	}
	s, err := agent.NewShellIntegration(filepath.Join(d.opt.StateDir, statedir.ShellFolder))
	if err != nil {
		return nil, err
	}
	return func(command []string) (changed, env []string) { return s.Integrate(command, d.lookUpPane) }, nil
}
