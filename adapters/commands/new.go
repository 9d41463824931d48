package commands

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// shellName stands for a session without an agent.
const shellName = "shell"

// shells are names that mean shellName where they're typed.
var shells = []string{"bash", "zsh", "fish", "sh"} //nolint:gochecknoglobals // a constant table

// newCommand begins a session, and has the place mirror it.
func newCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "new", Args: "[agent] [resume] [folder]", Help: "Begin a session; without a folder it's asked for"},
		role:        access.Operator,
		run:         newSession,
	}
}

func newSession(a *Ask) error {
	agents := a.runner.agentNames()
	agent, rest := a.runner.usualAgent(agents), a.args
	word, behind, _ := strings.Cut(a.args, " ")
	if named, ok := namedAgent(agents, word); ok {
		agent, rest = named, strings.TrimSpace(behind)
		if again, folder, _ := strings.Cut(rest, " "); again == resumeWord {
			a.args = strings.TrimSpace(agent + " " + folder)
			return resumeSession(a)
		}
	}
	c := choice{Agent: agent, Asked: a.Event.Key}
	if rest == "" {
		return a.offerFolders(c)
	}
	folder, err := a.runner.typedFolder(rest)
	if err == nil {
		return a.beginSession(c, folder)
	}
	if rest == a.args && !strings.ContainsAny(word, "/~") {
		return a.whichAgent(c, word, strings.TrimSpace(behind))
	}
	return a.offerLikelyFolders(c, rest, err)
}

// namedAgent returns the agent that a typed word means: one of that name in whatever case, since
// phones begin words with a capital, or the shell for the name of any.
func namedAgent(agents []string, typed string) (string, bool) {
	if i := slices.IndexFunc(agents, func(name string) bool { return strings.EqualFold(name, typed) }); i >= 0 {
		return agents[i], true
	}
	return shellName, slices.Contains(shells, strings.ToLower(typed)) && slices.Contains(agents, shellName)
}

// whichAgent says that there's no agent of a name that was typed, and offers those there
// are, for the folder that was typed behind it.
func (a *Ask) whichAgent(c choice, name, behind string) error {
	agents := a.runner.agentNames()
	text := "There's neither an agent nor a folder of that name; the agents are " + wording.Plain(strings.Join(agents, ", ")) +
		", and a folder begins with / or ~/, or is one below " + wording.Plain(a.runner.ShownPath(a.runner.baseFolder())) + "."
	folder := ""
	if behind != "" {
		folder, _ = a.runner.typedFolder(behind) // else it's asked for
	}
	var all []adapters.Button
	for _, agent := range nearest(agents, name) {
		next := choice{Agent: agent, Asked: c.Asked}
		b, err := a.folderButton(agentLabel(agent), next)
		if folder != "" {
			b, err = a.chosenButton(agentLabel(agent), next, folder)
		}
		if err != nil {
			return err
		}
		all = append(all, b)
	}
	return a.reply(text, slices.Collect(slices.Chunk(all, agentsInRow))...)
}

// nearest are names, those first that begin as what was typed.
func nearest(names []string, typed string) []string {
	alike := func(name string) int {
		n := 0
		for n < len(name) && n < len(typed) && name[n] == typed[n] {
			n++
		}
		return n
	}
	out := slices.Clone(names)
	slices.SortStableFunc(out, func(x, y string) int { return alike(y) - alike(x) })
	return out
}

// offerLikelyFolders says why what was typed is no folder, and offers those that may be meant, as Tab
// would.
func (a *Ask) offerLikelyFolders(c choice, typed string, why error) error {
	var rows [][]adapters.Button
	for _, folder := range a.runner.foldersLike(typed) {
		b, err := a.chosenButton(a.runner.ShownPath(folder), c, folder)
		if err != nil {
			return err
		}
		rows = append(rows, []adapters.Button{b})
	}
	all := c
	all.Path, all.Inside = "", true
	b, err := a.folderButton("Other folders …", all)
	if err != nil {
		return err
	}
	return a.reply(wording.Plain(wording.Sentence(why.Error())), append(rows, []adapters.Button{b})...)
}

// foldersLike are folders that a path that was typed may be the beginning of: those
// beside what isn't there, and the deepest folder that is.
func (r *Runner) foldersLike(typed string) []string {
	base := r.baseFolder()
	path, below := strings.CutPrefix(typed, wording.HomePath(base)+"/")
	if !below {
		if path, below = strings.CutPrefix(typed, base+"/"); !below && strings.HasPrefix(typed, "/") || strings.HasPrefix(path, "~") {
			return nil // it's elsewhere, where nothing is offered
		}
	}
	path = filepath.Clean(path)
	if len(typed) > cards.MaxOfferArgs || !filepath.IsLocal(path) || !wording.IsPrintable(path) {
		return nil
	}
	dir, begun := filepath.Split(path)
	for dir != "" && !isFolder(filepath.Join(base, dir)) {
		dir, begun = filepath.Split(filepath.Clean(dir))
	}
	names, err := r.foldersWithin(filepath.Clean(dir))
	if err != nil {
		return nil
	}
	var out []string
	for _, name := range nearest(names, begun) {
		if len(out) < foldersLike && begun != "" && strings.EqualFold(name[:min(1, len(name))], begun[:1]) {
			out = append(out, filepath.Join(base, dir, name))
		}
	}
	if dir != "" {
		out = append(out, filepath.Join(base, dir))
	}
	return out
}

// foldersLike is how many folders are offered for one that isn't there.
const foldersLike = 6

// agentNames are the names of what /new can start: those of the configuration, those whose
// programs are found, and a shell.
func (r *Runner) agentNames() []string {
	all := r.Sessions.Agents()
	if !slices.Contains(all, shellName) {
		all = append(all, shellName)
	}
	return all
}

// noAgents says where agents were looked for, if there's nothing but a shell to start; else "".
func (r *Runner) noAgents() string {
	found := r.Sessions.SearchAgents()
	if len(found.Names) == 0 || len(r.Sessions.Agents()) > 0 {
		return ""
	}
	folders := make([]string, len(found.Folders))
	for i, folder := range found.Folders {
		folders[i] = r.ShownPath(folder)
	}
	return " There's no agent to choose: none of " + wording.Plain(strings.Join(found.Names, ", ")) + " is in " +
		wording.Plain(strings.Join(folders, ", ")) + ". Another folder's goes into the configuration, below agents."
}

// usualAgent is the one that was begun last.
func (r *Runner) usualAgent(agents []string) string {
	for _, s := range r.listNewestFirst() {
		if s.Owned && s.Agent == "" {
			return shellName
		}
		if slices.Contains(agents, s.Agent) {
			return s.Agent
		}
	}
	return agents[0]
}

// listNewestFirst are all sessions, ended ones too, the newest first.
func (r *Runner) listNewestFirst() []sessions.Session {
	all := r.Sessions.List()
	slices.SortStableFunc(all, func(x, y sessions.Session) int { return y.CreatedAt.Compare(x.CreatedAt) })
	return all
}

// beginSession makes a session and has it mirrored.
func (a *Ask) beginSession(c choice, folder string) error {
	agent := c.Agent
	if agent == shellName && !slices.Contains(a.runner.Sessions.Agents(), shellName) {
		agent = ""
	}
	s, err := a.runner.Sessions.New(a.Ctx, sessions.NewRequest{Agent: agent, Cwd: folder, Resume: c.Conversation})
	if err != nil {
		return fmt.Errorf("no session was begun: %w", err)
	}
	return a.mirrorNewSession(s)
}

// mirrorNewSession has a new session mirrored: in a thread of its own where there are some, else
// here.
func (a *Ask) mirrorNewSession(s sessions.Session) error {
	a.runner.Hub.Focus(s.ID)
	text := wording.Bold(s.Name) + " begins in " + wording.Plain(a.runner.ShownPath(s.Cwd)) + "."
	shape := a.runner.Hub.Shape(a.Event.Place.WholeChat())
	to := a.Event.Place
	if shape.OwnThread {
		to = to.WholeChat()
	}
	_, err := a.runner.Hub.Bind(a.Ctx, s.ID, to, adapters.ViewStream, true)
	switch {
	case err != nil:
		text += " It isn't shown here: " + wording.Plain(wording.Sentence(err.Error()))
	case shape.OwnThread:
		text += " Its " + shape.Threads + " is on its way: write to it there."
	}
	if err != nil {
		return a.Replace(text)
	}
	if !shape.OwnThread {
		row, err := a.runner.SessionButtons(a.Ctx, s, to)
		if err != nil {
			return err
		}
		return a.Replace(fmt.Sprintf("%s It's %s.\n\n%s", text, wording.Plain(cards.KindText(s)), cards.HowToWrite(s)), row)
	}
	a.runner.TellBegun(a.Event, s.ID, a.fillPost(a.replacement(text)))
	return nil
}

// typedFolder is the folder that somebody wrote: absolute, below the home folder, or
// below the one where choosing begins. It exists.
func (r *Runner) typedFolder(text string) (string, error) {
	if len(text) > cards.MaxOfferArgs || strings.ContainsFunc(text, unicode.IsControl) {
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
			return "", fmt.Errorf("that leads out of %s; write a path that begins with / or ~/", r.ShownPath(r.baseFolder()))
		}
		path = filepath.Join(r.baseFolder(), text)
	}
	path = filepath.Clean(path)
	if !isFolder(path) {
		return "", fmt.Errorf("there's no folder %s", r.ShownPath(path))
	}
	return path, nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// baseFolder is where choosing a folder begins.
func (r *Runner) baseFolder() string {
	if r.Folders != "" {
		return r.Folders
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return "/"
	}
	return home
}
