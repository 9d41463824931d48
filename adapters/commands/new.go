package commands

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// shellName stands for a session without an agent.
const shellName = "shell"

// shells are names that mean shellName where they're typed.
var shells = []string{"bash", "zsh", "fish", "sh"} //nolint:gochecknoglobals // a constant table

// runNew begins a session, and has the place mirror it.
func runNew(a *Invocation) error {
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
	c := folderChoice{Agent: agent, Asked: a.Event.Key}
	if rest == "" {
		return a.offerFolders(c)
	}
	folder, err := a.runner.typedFolder(rest)
	if err == nil {
		return a.beginSession(c, folder)
	}
	if rest == a.args && !strings.ContainsAny(word, "/~") {
		return a.askWhichAgent(c, word, strings.TrimSpace(behind))
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

// askWhichAgent says that there's no agent of a name that was typed, and offers those there
// are, for the folder that was typed behind it.
func (a *Invocation) askWhichAgent(c folderChoice, name, behind string) error {
	agents := a.runner.agentNames()
	text := "There's neither an agent nor a folder of that name; the agents are " + wording.Plain(strings.Join(agents, ", ")) +
		", and a folder begins with / or ~/, or is one below " + wording.Plain(a.runner.ShownPath(a.runner.baseFolder())) + "."
	folder := ""
	if behind != "" {
		folder, _ = a.runner.typedFolder(behind) // else it's asked for
	}
	var all []adapters.Button
	for _, agent := range sortByLikeness(agents, name) {
		next := folderChoice{Agent: agent, Asked: c.Asked}
		if folder != "" {
			all = append(all, a.chosenButton(agentLabel(agent), next, folder))
		} else {
			all = append(all, a.folderButton(agentLabel(agent), next))
		}
	}
	return a.replyText(text, slices.Collect(slices.Chunk(all, agentsInRow))...)
}

// sortByLikeness returns names, those first that begin as what was typed.
func sortByLikeness(names []string, typed string) []string {
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
func (a *Invocation) offerLikelyFolders(c folderChoice, typed string, why error) error {
	var rows [][]adapters.Button
	for _, folder := range a.runner.foldersLike(typed) {
		rows = append(rows, []adapters.Button{a.chosenButton(a.runner.ShownPath(folder), c, folder)})
	}
	all := c
	all.Path, all.Inside = "", true
	b := a.folderButton("Other folders …", all)
	return a.replyText(wording.Plain(wording.Sentence(why.Error())), append(rows, []adapters.Button{b})...)
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
	for _, name := range sortByLikeness(names, begun) {
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
func (a *Invocation) beginSession(c folderChoice, folder string) error {
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
func (a *Invocation) mirrorNewSession(s sessions.Session) error {
	a.runner.Hub.FocusSession(s.ID)
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
		return a.ReplaceText(text)
	}
	if !shape.OwnThread {
		row, err := a.runner.SessionButtons(a.Ctx, s, to)
		if err != nil {
			return err
		}
		return a.ReplaceText(fmt.Sprintf("%s It's %s.\n\n%s", text, wording.Plain(cards.KindText(s)), cards.HowToWrite(s)), row)
	}
	a.runner.ReplyBegun(a.Event, s.ID, a.fillPost(a.replacement(text)))
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

const (
	recentFolders  = 5      // that are offered at first
	foldersPerPage = 10     // of those within a folder
	readFolders    = 10_000 // names in a folder that are looked at
	maxLabel       = 36     // runes of a button's label
	agentsInRow    = 3
)

// folderChoice is where somebody is in choosing a folder for a session.
type folderChoice struct {
	Agent string `json:"agent"`
	// Path is the folder that's open, below Inbound.folders; of "begin" the absolute
	// one that was chosen.
	Path   string `json:"path,omitempty"`
	Page   int    `json:"page,omitempty"` // from 0
	Inside bool   `json:"inside,omitempty"`
	Asked  string `json:"asked"` // key of the event that began it: one session comes of it
	// Resume says that a conversation is to be chosen, too; of "begin", Conversation is
	// the one that was, "": a new one.
	Resume       bool   `json:"resume,omitempty"`
	Conversation string `json:"conversation,omitempty"`
}

// offerFolders shows the folders that sessions were begun in lately.
func (a *Invocation) offerFolders(c folderChoice) error {
	rows := a.agentRows(c)
	for _, path := range a.runner.recentFolders() {
		rows = append(rows, []adapters.Button{a.chosenButton(a.runner.ShownPath(path), c, path)})
	}
	all := c
	all.Inside = true
	b := a.folderButton("Other folders …", all)
	return a.ReplaceText(whereToWork(c.Agent)+a.runner.noAgents(), append(rows, []adapters.Button{b})...)
}

// recentFolders are the folders of the newest sessions that are still there.
func (r *Runner) recentFolders() []string {
	var out []string
	for _, s := range r.listNewestFirst() {
		if len(out) < recentFolders && s.Cwd != "" && !slices.Contains(out, s.Cwd) && isFolder(s.Cwd) {
			out = append(out, s.Cwd)
		}
	}
	return out
}

// agentRows are buttons for the agents that aren't chosen.
func (a *Invocation) agentRows(c folderChoice) [][]adapters.Button {
	var all []adapters.Button
	for _, name := range a.runner.agentNames() {
		if name == c.Agent {
			continue
		}
		other := c
		other.Agent = name
		all = append(all, a.folderButton(agentLabel(name), other))
	}
	return slices.Collect(slices.Chunk(all, agentsInRow))
}

// agentLabel names what can be begun on a button, beside agents and folders.
func agentLabel(agent string) string {
	if agent == shellName {
		return "a shell"
	}
	return agent
}

// whereToWork asks for the folder of what's chosen.
func whereToWork(agent string) string {
	if agent == shellName {
		return "Where should the shell work?"
	}
	return "Where should " + wording.Bold(agent) + " work?"
}

// folderButton is a button that goes on choosing.
func (a *Invocation) folderButton(label string, c folderChoice) adapters.Button {
	return a.choiceButton("folder", label, c)
}

// chosenButton is a button that begins a session, or leads to the conversations of a folder.
func (a *Invocation) chosenButton(label string, c folderChoice, path string) adapters.Button {
	if c.Resume {
		return a.choiceButton("conversations", label, folderChoice{Agent: c.Agent, Path: path, Asked: c.Asked, Resume: true})
	}
	return a.choiceButton("begin", label, folderChoice{Agent: c.Agent, Path: path, Asked: c.Asked})
}

func (a *Invocation) choiceButton(do, label string, c folderChoice) adapters.Button {
	args, _ := json.Marshal(c) // of texts and numbers it doesn't fail
	return a.makeOffer(wording.CutBegin(a.runner.Masked(label), maxLabel), cards.Offer{
		Do: do, Args: string(args), Role: access.Operator, Person: a.Event.Person.ID, Single: do == "begin", Group: "new " + c.Asked,
	})
}

// thisFolder begins the button that chooses the folder which is looked into.
const thisFolder = "✓ "

// browseFolders shows the folders within one.
func browseFolders(a *Invocation) error {
	c, err := a.readChoice()
	if err != nil {
		return err
	}
	if !c.Inside {
		return a.offerFolders(c)
	}
	names, err := a.runner.foldersWithin(c.Path)
	if err != nil {
		return err
	}
	pages := max((len(names)+foldersPerPage-1)/foldersPerPage, 1)
	c.Page = min(max(c.Page, 0), pages-1)
	rows := a.agentRows(c)
	full := filepath.Join(a.runner.baseFolder(), c.Path)
	here := a.chosenButton(thisFolder+wording.CutBegin(a.runner.ShownPath(full), maxLabel-len([]rune(thisFolder))), c, full)
	rows = append(rows, []adapters.Button{here})
	first := c.Page * foldersPerPage
	var inside []adapters.Button
	for _, name := range names[first:min(first+foldersPerPage, len(names))] {
		next := folderChoice{Agent: c.Agent, Path: filepath.Join(c.Path, name), Inside: true, Asked: c.Asked, Resume: c.Resume}
		inside = append(inside, a.folderButton(name, next))
	}
	rows = append(rows, slices.Collect(slices.Chunk(inside, 2))...)
	turn := a.turnButtons(c, pages)
	text := "In " + wording.Plain(a.runner.ShownPath(full))
	if pages > 1 {
		text += fmt.Sprintf(", page %d of %d", c.Page+1, pages)
	}
	return a.ReplaceText(text+". "+whereToWork(c.Agent), append(rows, turn)...)
}

// turnButtons is the row of buttons that leads elsewhere.
func (a *Invocation) turnButtons(c folderChoice, pages int) []adapters.Button {
	var row []adapters.Button
	back, up, more := c, folderChoice{Agent: c.Agent, Asked: c.Asked, Resume: c.Resume}, c
	if c.Page > 0 {
		back.Page--
		row = append(row, a.folderButton("‹ Back", back))
	}
	if c.Path != "" {
		up.Inside = true
		if up.Path = filepath.Dir(c.Path); up.Path == "." {
			up.Path = ""
		}
	}
	row = append(row, a.folderButton("↑ Up", up))
	if c.Page < pages-1 {
		more.Page++
		row = append(row, a.folderButton("More ›", more))
	}
	return row
}

func (a *Invocation) readChoice() (c folderChoice, err error) {
	if err := json.Unmarshal([]byte(a.Offered.Args), &c); err != nil {
		return c, fmt.Errorf("read a choice: %w", err)
	}
	return c, nil
}

// foldersWithin are the names of the folders in one below Inbound.folders, sorted. Hidden
// ones and links aren't among them, nor those whose names can't be shown.
func (r *Runner) foldersWithin(path string) (names []string, err error) {
	root, err := regular.OpenBase(r.baseFolder())
	if err != nil {
		return nil, errors.New("there's no folder " + r.ShownPath(r.baseFolder()))
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	if path == "" {
		path = "."
	}
	f, err := root.OpenFile(path, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0) // a pipe that takes its place holds nobody up
	if err != nil {
		return nil, errors.New("there's no folder " + path + " any more, or it isn't one that panebridge may read")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	entries, err := f.ReadDir(readFolders)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read folder %s: %w", path, err)
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && !strings.HasPrefix(name, ".") && wording.IsPrintable(name) && len(path)+len(name) < cards.MaxOfferArgs/8 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names, nil
}

// beginChosen begins a session in the folder that was chosen.
func beginChosen(a *Invocation) error {
	c, err := a.readChoice()
	if err != nil {
		return err
	}
	if !slices.Contains(a.runner.agentNames(), c.Agent) {
		return fmt.Errorf("the agent %s isn't in the configuration any more", c.Agent)
	}
	return a.beginSession(c, c.Path)
}

// conversationsOf shows what an agent can go on with in the folder that was chosen.
func conversationsOf(a *Invocation) error {
	c, err := a.readChoice()
	if err != nil {
		return err
	}
	return a.offerConversations(c)
}
