package commands

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// Conversations knows the conversations that agents have had.
type Conversations interface {
	// Conversations returns those of an agent of the configuration in a folder, the one
	// that changed last first. The error wraps sessions.ErrInvalid if the agent can't go
	// on with one, or keeps none that can be read. It reads files.
	Conversations(ctx context.Context, agent, folder string) ([]Conversation, error)
}

// Conversation is one that an agent has had.
type Conversation struct {
	ID      string    // the agent's own
	Title   string    // its first words, or what was asked last; "": not known
	Changed time.Time // zero: not known
}

const (
	maxConversations = 10 // that are offered
	maxTitle         = 100
	resumeWord       = "resume"
)

// resumeSession goes on in the folder of the place's session, if nothing else is said.
func resumeSession(a *Invocation) error {
	agents := a.runner.agentNames()
	c := folderChoice{Asked: a.Event.Key, Resume: true}
	rest := a.args
	word, behind, _ := strings.Cut(a.args, " ")
	if named, ok := namedAgent(agents, word); ok {
		c.Agent, rest = named, strings.TrimSpace(behind)
	}
	if here, ok := a.sessionHere(); ok {
		if c.Agent == "" && slices.Contains(agents, here.Agent) {
			c.Agent = here.Agent
		}
		if rest == "" && c.Agent == here.Agent {
			c.Path = here.Cwd
		}
	}
	c.Agent = cmp.Or(c.Agent, a.runner.usualAgent(agents))
	if rest != "" {
		var err error
		if c.Path, err = a.runner.typedFolder(rest); err != nil {
			return a.offerLikelyFolders(c, rest, err)
		}
	}
	if c.Path == "" {
		return a.offerFolders(c)
	}
	return a.offerConversations(c)
}

// sessionHere is the session of the place, the newest if it has several.
func (a *Invocation) sessionHere() (sessions.Session, bool) {
	all := a.runner.SessionsAt(a.Event.Place, func(adapters.Binding) bool { return true })
	if len(all) == 0 {
		return sessions.Session{}, false
	}
	return slices.MaxFunc(all, func(x, y sessions.Session) int { return x.CreatedAt.Compare(y.CreatedAt) }), true
}

// offerConversations shows what an agent can go on with in a folder.
func (a *Invocation) offerConversations(c folderChoice) error {
	if a.runner.Conversations == nil {
		return errors.New("what agents can go on with isn't known here")
	}
	all, err := a.runner.Conversations.Conversations(a.Ctx, c.Agent, c.Path)
	if err != nil {
		return err
	}
	where := " of " + wording.Bold(c.Agent) + " in " + wording.Plain(a.runner.ShownPath(c.Path))
	anew := a.chosenButton("A new conversation", folderChoice{Agent: c.Agent, Asked: c.Asked}, c.Path)
	if len(all) == 0 {
		return a.ReplaceText("There are no conversations"+where+".", []adapters.Button{anew})
	}
	var text strings.Builder
	text.WriteString("Conversations" + where + ":")
	var rows [][]adapters.Button
	for i, v := range all[:min(len(all), maxConversations)] {
		title := cmp.Or(a.runner.Masked(strings.Join(strings.Fields(v.Title), " ")), "(without words)")
		fmt.Fprintf(&text, "\n%d. %s", i+1, wording.Plain(wording.CutEnd(title, maxTitle)))
		if !v.Changed.IsZero() {
			fmt.Fprintf(&text, " (%s ago)", wording.Age(time.Since(v.Changed)))
		}
		if s, ok := a.runner.findByConversation(v.ID); ok {
			text.WriteString(", which is the session " + wording.Bold(s.Name))
			continue
		}
		rows = append(rows, []adapters.Button{a.choiceButton("begin", wording.CutEnd(fmt.Sprintf("%d · %s", i+1, title), maxLabel), folderChoice{Agent: c.Agent, Path: c.Path, Asked: c.Asked, Conversation: v.ID})})
	}
	return a.ReplaceText(text.String(), append(rows, []adapters.Button{anew})...)
}

// findByConversation finds the living session that has a conversation.
func (r *Runner) findByConversation(conversation string) (sessions.Session, bool) {
	for _, s := range r.Sessions.List() {
		if s.State != sessions.StateEnded && s.Source.Conversation == conversation {
			return s, true
		}
	}
	return sessions.Session{}, false
}
