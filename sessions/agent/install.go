package agent

import (
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// Install says whose hooks are meant, where they're kept, and what they call.
type Install struct {
	Agent    string              // one of HookAgents
	Program  string              // absolute path of panebridge
	StateDir string              // absolute; "": the default, which isn't spelt out
	Home     string              // the user's home folder
	Env      func(string) string // for the variables by which agents move their folders
	Project  string              // the project's folder if it's for one project alone; "": for all
}

// InstallStatus says how things stand with an agent's hooks.
type InstallStatus string

// The states of an agent's hooks.
const (
	HooksInstalled    InstallStatus = "installed"
	HooksOutdated     InstallStatus = "outdated" // another program, state folder or version wrote them
	HooksNotInstalled InstallStatus = "not installed"
	HooksBroken       InstallStatus = "broken file" // the file can't be read, so nobody can tell
)

// hookFile is a file that has an agent's hooks.
type hookFile interface {
	// install returns the text with our hooks in it, and remove the one without. before
	// is the text as it was before the install, nil if that isn't known: it tells what's
	// ours of that which could be the user's. found says that text has hooks of ours.
	install(text []byte) (out []byte, found bool, err error)
	remove(text, before []byte) (out []byte, found bool, err error)
}

// ErrFile says that a file of the user's can't be read as what it should be. It's left
// as it is.
var ErrFile = errors.New("the file isn't changed; correct it first")

// Path returns the file that has, or will have, the hooks.
func (i Install) Path() (string, error) {
	at, ok := hookPlaces[i.Agent]
	if !ok {
		return "", fmt.Errorf("find the hooks of %q: it's one of %s", i.Agent, strings.Join(HookAgents(), ", "))
	}
	if i.Project != "" {
		return filepath.Join(i.Project, at.project), nil
	}
	for _, moved := range at.moved {
		if dir := i.Env(moved.variable); filepath.IsAbs(dir) {
			return filepath.Join(dir, moved.below), nil
		}
	}
	if !filepath.IsAbs(i.Home) {
		return "", fmt.Errorf("find the hooks of %s: the home folder isn't known: set HOME", i.Agent)
	}
	return filepath.Join(i.Home, at.user), nil
}

// hookPlaces says where agents read their hooks from: below the home folder, below what
// a variable says instead, and below a project's folder. Claude Code's place in a
// project is the one that isn't shared with others, as the program's path is this
// machine's.
var hookPlaces = map[string]struct { //nolint:gochecknoglobals // a constant table
	user    string
	moved   []movedPlace
	project string
}{
	"claude": {".claude/settings.json", []movedPlace{{"CLAUDE_CONFIG_DIR", "settings.json"}}, ".claude/settings.local.json"},
	"codex":  {".codex/hooks.json", []movedPlace{{"CODEX_HOME", "hooks.json"}}, ".codex/hooks.json"},
	"gemini": {".gemini/settings.json", []movedPlace{{"GEMINI_CLI_HOME", ".gemini/settings.json"}}, ".gemini/settings.json"},
	"qwen":   {".qwen/settings.json", []movedPlace{{"QWEN_HOME", "settings.json"}}, ".qwen/settings.json"},
	"opencode": {".config/opencode/plugin/panebridge.js", []movedPlace{
		{"XDG_CONFIG_HOME", "opencode/plugin/panebridge.js"},
	}, ".opencode/plugin/panebridge.js"},
}

type movedPlace struct{ variable, below string }

// file returns how the hooks are written.
func (i Install) file() hookFile {
	if i.Agent == "opencode" {
		return pluginFile{i}
	}
	return jsonFile{i}
}

// Notes says what a person should know who has just installed the hooks.
func (i Install) Notes() []string {
	notes := []string{"Sessions of " + i.Agent + " that run already don't know of it until they're started again."}
	if i.Agent == "codex" {
		notes = append(notes, `Codex asks before it runs new hooks: its next start shows "Hooks need review". Choose `+
			`"Trust all and continue" there; with "Continue without trusting" none of them runs. It asks again after a change.`)
	}
	return notes
}

// waitFlag has a hook wait until its dialog is answered.
const waitFlag = "--wait"

// command is the command line of one hook, for a shell.
func (i Install) command(event string) string {
	words := []string{i.Program, "hook", i.Agent, event}
	if (Hook{Agent: i.Agent, Event: event}).Waits() {
		words = append(words, waitFlag)
	}
	if i.StateDir != "" {
		words = append(words, "--state-dir", i.StateDir)
	}
	for n, word := range words {
		words[n] = shellQuote(word)
	}
	return strings.Join(words, " ")
}

// ourCommand finds a command that an install wrote, whichever program, event and state
// folder it was: a word that names panebridge, quoted if need be, then hook and agent.
var ourCommand = regexp.MustCompile(`^\s*(?:'(?:[^']|'\\'')*'|[^\s']+) hook ([a-z]+) `)

// isOurs reports whether a hook's command is one of an install's for this agent.
func (i Install) isOurs(command string) bool {
	m := ourCommand.FindStringSubmatch(command + " ")
	if m == nil || m[1] != i.Agent {
		return false
	}
	program, _, _ := strings.Cut(strings.TrimSpace(command), " hook "+i.Agent)
	program = strings.ReplaceAll(strings.Trim(program, "'"), `'\''`, "'")
	return program == i.Program || strings.HasPrefix(filepath.Base(program), "panebridge")
}

// plainWord needs no quotes in any shell.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_@%+:,./-]+$`)

func shellQuote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}

// hookEvents are the events whose hooks are installed: those that say something.
// Others would cost the agent a process each for nothing.
var hookEvents = map[string][]string{ //nolint:gochecknoglobals // a constant table
	"claude": {
		"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure",
		"Notification", "Stop", "StopFailure", "SessionEnd",
	},
	"codex":  {"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop", "Interrupt", "SessionEnd"},
	"gemini": {"SessionStart", "BeforeAgent", "BeforeTool", "Notification", "AfterTool", "AfterAgent", "SessionEnd"},
	"qwen":   {"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Notification", "Stop", "StopFailure", "SessionEnd"},
}

func (i Install) isWanted(event string) bool { return slices.Contains(hookEvents[i.Agent], event) }
