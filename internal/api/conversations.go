package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// mostConversations are offered of an agent in a folder, those that changed last.
const mostConversations = 20

// PastConversation is one that an agent has had and can go on with. Its title has no secrets.
type PastConversation struct {
	ID      string    `json:"id"`    // the agent's own
	Title   string    `json:"title"` // what was asked last, on one line; "": not known
	Changed time.Time `json:"changed_at,omitzero"`
	Session string    `json:"session,omitempty"` // the name of the living session that has it; "": none has
}

// ListConversations returns those of an agent of the configuration in a folder, the one that changed last
// first; "" is the home folder. The error wraps sessions.ErrInvalid if the agent can't go on with one. It reads files.
type ListConversations func(ctx context.Context, agent, folder string) ([]PastConversation, error)

// conversations serves GET /api/v1/agents/{name}/conversations with the query folder: none of an agent that can't go on
// with any.
func (a *api) conversations(w http.ResponseWriter, r *http.Request) error {
	all := []PastConversation{}
	if a.opts.Conversations != nil {
		found, err := a.opts.Conversations(r.Context(), r.PathValue("name"), r.URL.Query().Get("folder"))
		if err != nil && !errors.Is(err, sessions.ErrInvalid) {
			return err
		}
		all = append(all, found[:min(len(found), mostConversations)]...)
	}
	holders := map[string]string{}
	for _, s := range a.opts.Sessions.List() {
		if s.State != sessions.StateEnded && s.Source.Conversation != "" {
			holders[s.Source.Conversation] = a.shownText(s.Name)
		}
	}
	for i := range all {
		all[i].Session = holders[all[i].ID]
		all[i].Title = shortened(a.hiddenText(strings.Join(strings.Fields(all[i].Title), " ")))
	}
	writeJSON(w, http.StatusOK, all)
	return nil
}
