package inbound

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// shellName stands for a session without an agent.
const shellName = "shell"

// newCommand begins a session, and has the place mirror it.
func newCommand() command {
	return command{
		CommandInfo: CommandInfo{Name: "new", Args: "[agent] [folder]", Help: "Begin a session; without a folder it's asked for"},
		role:        Operator,
		run:         newSession,
	}
}

func newSession(a *ask) error {
	agents := a.in.agents()
	agent, rest := a.in.usualAgent(agents), a.args
	if word, behind, _ := strings.Cut(a.args, " "); slices.Contains(agents, word) {
		agent, rest = word, strings.TrimSpace(behind)
	}
	if rest == "" {
		return a.offerFolders(choice{Agent: agent, Asked: a.event.Key})
	}
	folder, err := a.in.typedFolder(rest)
	if err != nil && rest == a.args && !strings.ContainsAny(rest, "/~") {
		return fmt.Errorf("there's neither an agent nor a folder of that name; the agents are %s, and a folder begins with / or ~/, or is one below %s",
			strings.Join(agents, ", "), a.in.shown(a.in.folders()))
	}
	if err != nil {
		return err
	}
	return a.begin(agent, folder)
}

// agents are the names of what /new can start: those of the configuration, and a
// shell.
func (in *Inbound) agents() []string {
	all := in.opt.Sessions.Agents()
	if !slices.Contains(all, shellName) {
		all = append(all, shellName)
	}
	return all
}

// usualAgent is the one that was begun last.
func (in *Inbound) usualAgent(agents []string) string {
	for _, s := range in.newest() {
		if s.Owned && s.Agent == "" {
			return shellName
		}
		if slices.Contains(agents, s.Agent) {
			return s.Agent
		}
	}
	return agents[0]
}

// newest are all sessions, ended ones too, the newest first.
func (in *Inbound) newest() []sessions.Session {
	all := in.opt.Sessions.List()
	slices.SortStableFunc(all, func(x, y sessions.Session) int { return y.CreatedAt.Compare(x.CreatedAt) })
	return all
}

// begin makes a session and has it mirrored: in a thread of its own where there are
// some, else here.
func (a *ask) begin(agent, folder string) error {
	if agent == shellName && !slices.Contains(a.in.opt.Sessions.Agents(), shellName) {
		agent = ""
	}
	s, err := a.in.opt.Sessions.New(a.ctx, sessions.NewRequest{Agent: agent, Cwd: folder})
	if err != nil {
		return fmt.Errorf("no session was begun: %w", err)
	}
	a.in.opt.Hub.Focus(s.ID)
	text := bold(s.Name) + " begins in " + plain(a.in.shown(s.Cwd)) + "."
	own := a.in.opt.Hub.Shape(chatOf(a.event.Place)).OwnThread
	to := a.event.Place
	if own {
		to = chatOf(to)
	}
	_, err = a.in.opt.Hub.Bind(a.ctx, s.ID, to, adapters.ViewStream, true)
	switch {
	case err != nil:
		text += " It isn't shown here: " + plain(sentence(err))
	case own:
		text += " Its topic comes with its first output."
	}
	return a.replace(text)
}

// typedFolder is the folder that somebody wrote: absolute, below the home folder, or
// below the one where choosing begins. It exists.
func (in *Inbound) typedFolder(text string) (string, error) {
	if len(text) > maxOfferArgs || strings.ContainsFunc(text, unicode.IsControl) {
		return "", errors.New("that isn't a folder's path: write one line without control characters")
	}
	path := text
	switch {
	case text == "~" || strings.HasPrefix(text, "~/"):
		home, err := os.UserHomeDir()
		if err != nil {
			return "", fmt.Errorf("find the home folder: %w", err)
		}
		path = filepath.Join(home, text[1:])
	case !filepath.IsAbs(text):
		if !filepath.IsLocal(text) {
			return "", fmt.Errorf("that leads out of %s; write a path that begins with / or ~/", in.shown(in.folders()))
		}
		path = filepath.Join(in.folders(), text)
	}
	path = filepath.Clean(path)
	if !isFolder(path) {
		return "", fmt.Errorf("there's no folder %s", in.shown(path))
	}
	return path, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// folders is where choosing a folder begins.
func (in *Inbound) folders() string {
	if in.opt.Folders != "" {
		return in.opt.Folders
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}

// shown is a path as people are shown it.
func (in *Inbound) shown(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
