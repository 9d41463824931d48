package api

import (
	"net/http"
	"slices"
	"strconv"

	"github.com/panebridge/panebridge/sessions"
)

// endedHeader says how many sessions have ended of which the list shows some.
const endedHeader = "Panebridge-Ended"

// listSessions shows all of them; to a program in a session's pane its own. With the query
// "ended" it shows so many of those that have ended, the newest, and the one that the query
// "with" names, whatever it is.
func (a *api) listSessions(w http.ResponseWriter, r *http.Request) error {
	all := a.opts.Sessions.List()
	if place := a.opts.placeOf(r.Context()); place.Inside {
		all = slices.DeleteFunc(all, func(s sessions.Session) bool { return s.ID != place.Session })
	}
	all, err := someEnded(all, r, w.Header())
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newSessions(all))
	return nil
}

// someEnded leaves out what listSessions isn't asked for.
func someEnded(all []sessions.Session, r *http.Request, header http.Header) ([]sessions.Session, error) {
	text := r.URL.Query().Get("ended")
	if text == "" {
		return all, nil
	}
	most, err := strconv.Atoi(text)
	if err != nil || most < 0 {
		return nil, badRequest(`"ended" is how many of the sessions that have ended are shown: a number from 0 on`)
	}
	var ended []sessions.Session
	for _, s := range all {
		if s.State == sessions.StateEnded {
			ended = append(ended, s)
		}
	}
	header.Set(endedHeader, strconv.Itoa(len(ended)))
	slices.SortFunc(ended, func(a, b sessions.Session) int { return b.EndedAt.Compare(a.EndedAt) })
	shown := map[sessions.ID]bool{sessions.ID(r.URL.Query().Get("with")): true}
	for _, s := range ended[:min(most, len(ended))] {
		shown[s.ID] = true
	}
	return slices.DeleteFunc(all, func(s sessions.Session) bool { return s.State == sessions.StateEnded && !shown[s.ID] }), nil
}

// agents lists what can be begun, as files are now.
func (a *api) agents(w http.ResponseWriter, _ *http.Request) error {
	found := a.opts.Sessions.SearchAgents()
	writeJSON(w, http.StatusOK, Agents{
		Agents: notNil(a.opts.Sessions.Agents()), LookedFor: notNil(found.Names), LookedIn: notNil(found.Folders),
	})
	return nil
}

func (a *api) getSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, a.newSession(s))
	return nil
}

// state says what a session is doing: no more than waiting for it tells.
func (a *api) state(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusOK, s.State)
	return nil
}

// session returns the session that a request's path names.
func (a *api) session(r *http.Request) (sessions.Session, error) {
	return a.opts.Sessions.Get(r.PathValue("id"))
}

// createSession answers with the new session, or, as a tmux session may have
// several panes, with the list of those adopted.
func (a *api) createSession(w http.ResponseWriter, r *http.Request) error {
	var body Create
	if err := readJSON(w, r, maxBodyBytes, &body); err != nil {
		return err
	}
	if body.Tmux != "" {
		return a.adopt(w, r, body)
	}
	s, err := a.opts.Sessions.New(r.Context(), sessions.NewRequest{
		Name: body.Name, Agent: body.Agent, Cwd: body.Cwd, Command: body.Command, Server: body.Server,
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, a.newSession(s))
	return nil
}

func (a *api) adopt(w http.ResponseWriter, r *http.Request, body Create) error {
	if body.Agent != "" || body.Cwd != "" || len(body.Command) > 0 {
		return badRequest(`"tmux" adopts a pane that exists; "agent", "cwd" and "command" don't go with it`)
	}
	adopted, err := a.opts.Sessions.Adopt(r.Context(), sessions.AdoptRequest{
		Tmux: body.Tmux, Server: body.Server, Name: body.Name,
	})
	if err != nil {
		return err
	}
	writeJSON(w, http.StatusCreated, a.newSessions(adopted))
	return nil
}

// deleteSession closes a session that lives, and forgets one that has ended. With
// the query "state" (living or ended) it does so only if that's the session's: who
// wants to close one that ends at this moment doesn't lose its log.
func (a *api) deleteSession(w http.ResponseWriter, r *http.Request) error {
	s, err := a.session(r)
	if err != nil {
		return err
	}
	end := a.opts.Sessions.Close
	switch want := r.URL.Query().Get("state"); {
	case want == "ended", want == "" && s.State == sessions.StateEnded:
		end = a.opts.Sessions.Forget
	case want != "" && want != "living":
		return badRequest(`"state" is living or ended`)
	}
	if err := end(r.Context(), s.ID); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
