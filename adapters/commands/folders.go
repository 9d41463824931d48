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

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/regular"
)

const (
	recentFolders  = 5      // that are offered at first
	foldersPerPage = 10     // of those within a folder
	readFolders    = 10_000 // names in a folder that are looked at
	maxLabel       = 36     // runes of a button's label
	agentsInRow    = 3
)

// choice is where somebody is in choosing a folder for a session.
type choice struct {
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
func (a *Ask) offerFolders(c choice) error {
	rows, err := a.agentRows(c)
	if err != nil {
		return err
	}
	for _, path := range a.runner.recentFolders() {
		b, err := a.chosenButton(a.runner.ShownPath(path), c, path)
		if err != nil {
			return err
		}
		rows = append(rows, []adapters.Button{b})
	}
	all := c
	all.Inside = true
	b, err := a.folderButton("Other folders …", all)
	if err != nil {
		return err
	}
	return a.Replace(whereToWork(c.Agent)+a.runner.noAgents(), append(rows, []adapters.Button{b})...)
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
func (a *Ask) agentRows(c choice) ([][]adapters.Button, error) {
	var all []adapters.Button
	for _, name := range a.runner.agentNames() {
		if name == c.Agent {
			continue
		}
		other := c
		other.Agent = name
		b, err := a.folderButton(agentLabel(name), other)
		if err != nil {
			return nil, err
		}
		all = append(all, b)
	}
	return slices.Collect(slices.Chunk(all, agentsInRow)), nil
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
func (a *Ask) folderButton(label string, c choice) (adapters.Button, error) {
	return a.choiceButton("folder", label, c)
}

// chosenButton is a button that begins a session, or leads to the conversations of a folder.
func (a *Ask) chosenButton(label string, c choice, path string) (adapters.Button, error) {
	if c.Resume {
		return a.choiceButton("conversations", label, choice{Agent: c.Agent, Path: path, Asked: c.Asked, Resume: true})
	}
	return a.choiceButton("begin", label, choice{Agent: c.Agent, Path: path, Asked: c.Asked})
}

func (a *Ask) choiceButton(do, label string, c choice) (adapters.Button, error) {
	args, err := json.Marshal(c)
	if err != nil {
		return adapters.Button{}, fmt.Errorf("keep a choice: %w", err)
	}
	return a.makeOffer(wording.CutBegin(a.runner.Masked(label), maxLabel), cards.Offer{
		Do: do, Args: string(args), Role: access.Operator, Person: a.Event.Person.ID, Single: do == "begin", Group: "new " + c.Asked,
	})
}

// thisFolder begins the button that chooses the folder which is looked into.
const thisFolder = "✓ "

// browseFolders shows the folders within one.
func browseFolders(a *Ask) error {
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
	rows, err := a.agentRows(c)
	if err != nil {
		return err
	}
	full := filepath.Join(a.runner.baseFolder(), c.Path)
	here, err := a.chosenButton(thisFolder+wording.CutBegin(a.runner.ShownPath(full), maxLabel-len([]rune(thisFolder))), c, full)
	if err != nil {
		return err
	}
	rows = append(rows, []adapters.Button{here})
	first := c.Page * foldersPerPage
	var inside []adapters.Button
	for _, name := range names[first:min(first+foldersPerPage, len(names))] {
		next := choice{Agent: c.Agent, Path: filepath.Join(c.Path, name), Inside: true, Asked: c.Asked, Resume: c.Resume}
		b, err := a.folderButton(name, next)
		if err != nil {
			return err
		}
		inside = append(inside, b)
	}
	rows = append(rows, slices.Collect(slices.Chunk(inside, 2))...)
	turn, err := a.turnButtons(c, pages)
	if err != nil {
		return err
	}
	text := "In " + wording.Plain(a.runner.ShownPath(full))
	if pages > 1 {
		text += fmt.Sprintf(", page %d of %d", c.Page+1, pages)
	}
	return a.Replace(text+". "+whereToWork(c.Agent), append(rows, turn)...)
}

// turnButtons is the row of buttons that leads elsewhere.
func (a *Ask) turnButtons(c choice, pages int) ([]adapters.Button, error) {
	var row []adapters.Button
	add := func(label string, to choice) error {
		b, err := a.folderButton(label, to)
		row = append(row, b)
		return err
	}
	var errs []error
	if c.Page > 0 {
		to := c
		to.Page--
		errs = append(errs, add("‹ Back", to))
	}
	up := choice{Agent: c.Agent, Asked: c.Asked, Resume: c.Resume}
	if c.Path != "" {
		up.Inside = true
		if up.Path = filepath.Dir(c.Path); up.Path == "." {
			up.Path = ""
		}
	}
	errs = append(errs, add("↑ Up", up))
	if c.Page < pages-1 {
		to := c
		to.Page++
		errs = append(errs, add("More ›", to))
	}
	return row, errors.Join(errs...)
}

func (a *Ask) readChoice() (c choice, err error) {
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
func beginChosen(a *Ask) error {
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
func conversationsOf(a *Ask) error {
	c, err := a.readChoice()
	if err != nil {
		return err
	}
	return a.offerConversations(c)
}
