package inbox

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Address is who sends or receives: the id of a session, or a person.
type Address string

const personPrefix = "person:"

// Person is the address of somebody whom the configuration names (people:).
func Person(name string) Address { return Address(personPrefix + name) }

// Person returns the name of a person; false: it's a session's address.
func (a Address) Person() (name string, ok bool) { return strings.CutPrefix(string(a), personPrefix) }

// Session returns the id of a session; "" of a person.
func (a Address) Session() sessions.ID {
	if _, person := a.Person(); person {
		return ""
	}
	return sessions.ID(a)
}

// Party is a session as others in its fleet see it.
type Party struct {
	sessions.Session
	Fleet   string   // whose member it is; "": of none
	Directs []string // fleets, the first one that it was given first
	// When it was shown mail last, in its pane or by a poll, and sent some last; zero: never.
	LastReceived, LastSent time.Time
	Unread                 int // open mail to it that it wasn't shown
}

// Leads says whether it directs a fleet.
func (p Party) Leads(fleet string) bool { return slices.Contains(p.Directs, fleet) }

// Fleets are those that it directs, and the one whose member it is.
func (p Party) Fleets() []string {
	if p.Fleet == "" {
		return p.Directs
	}
	return append(slices.Clone(p.Directs), p.Fleet)
}

// Address is where the session is reached.
func (p Party) Address() Address { return Address(p.ID) }

// Parties are all sessions that are known.
type Parties []Party

// Errors of this package, besides those of package sessions.
var (
	// ErrState: the mail isn't in the state that the step takes.
	ErrState = fmt.Errorf("%w: wrong state", sessions.ErrConflict)
	// ErrNotYours: the step is somebody else's.
	ErrNotYours = errors.New("not yours")
	// ErrNobody: it isn't known who asks.
	ErrNobody = errors.New("it isn't known who you are")
)

// Get returns the session of an id.
func (all Parties) Get(id sessions.ID) (Party, bool) {
	for _, p := range all {
		if p.ID == id {
			return p, true
		}
	}
	return Party{}, false
}

// Find returns the session of an id or of a name: a living one, else the last of that
// name.
func (all Parties) Find(idOrName string) (Party, error) {
	if p, ok := all.Get(sessions.ID(idOrName)); ok {
		return p, nil
	}
	var hit *Party
	for i := range all {
		p := &all[i]
		if p.Name != idOrName {
			continue
		}
		if hit != nil && hit.State != sessions.StateEnded && p.State != sessions.StateEnded {
			return Party{}, fmt.Errorf("%w: several sessions are named %q; use the id", sessions.ErrConflict, idOrName)
		}
		if hit == nil || hit.State == sessions.StateEnded {
			hit = p
		}
	}
	if hit == nil {
		return Party{}, fmt.Errorf("%w session %q; `panebridge sessions list --all` shows those there are", sessions.ErrUnknown, idOrName)
	}
	return *hit, nil
}

// directorWord stands for the director of the fleet whose member the sender is; of one
// that directs and is nobody's member, for itself.
const directorWord = "director"

// Address finds who is meant by a word: "person:NAME", "director" (of the fleet of who
// asks), or a session's id or name.
func (all Parties) Address(word string, asks Address) (Address, error) {
	a := Address(word)
	if name, ok := a.Person(); ok {
		if name == "" {
			return "", fmt.Errorf("%w address %q: a name belongs behind the colon", sessions.ErrInvalid, word)
		}
		return a, nil
	}
	p, err := all.Find(word)
	if err == nil || word != directorWord {
		return p.Address(), err
	}
	d, ok := all.DirectorFor(asks)
	if !ok {
		return "", fmt.Errorf("%w: you're in no fleet that has a director; `panebridge fleet list` shows the fleets", sessions.ErrUnknown)
	}
	return d.Address(), nil
}

// Name is what people call an address.
func (all Parties) Name(a Address) string {
	if p, ok := all.Get(a.Session()); ok {
		return p.Name
	}
	return string(a)
}

// Members are the sessions of a fleet, its director first.
func (all Parties) Members(fleet string) Parties {
	var out Parties
	for _, p := range all {
		switch {
		case fleet == "":
		case p.Leads(fleet):
			out = append(Parties{p}, out...)
		case p.Fleet == fleet:
			out = append(out, p)
		}
	}
	return out
}

// DirectorOf returns who directs a fleet; false: nobody does.
func (all Parties) DirectorOf(fleet string) (Party, bool) {
	for _, p := range all {
		if fleet != "" && p.Leads(fleet) {
			return p, true
		}
	}
	return Party{}, false
}

// DirectorFor returns the director of the fleet whose member somebody is; who directs and is
// nobody's member is their own. false: there's none.
func (all Parties) DirectorFor(who Address) (Party, bool) {
	me, _ := all.Get(who.Session())
	if me.Fleet == "" && len(me.Directs) > 0 {
		return me, true
	}
	return all.DirectorOf(me.Fleet)
}

// CallSite is where a command was called: what the environment tells of its pane.
type CallSite struct {
	Session string // PANEBRIDGE_SESSION
	Pane    string // TMUX_PANE
	Server  int    // process id of the tmux server, of TMUX
}

// Who finds out who called a command: the one given by name, else the session of the
// pane it was called in.
func (all Parties) Who(given string, at CallSite) (Address, error) {
	if given != "" {
		return all.Address(given, "")
	}
	if at.Session != "" {
		if p, ok := all.Get(sessions.ID(at.Session)); ok {
			return p.Address(), nil
		}
	}
	for _, p := range all {
		if at.Pane != "" && p.State != sessions.StateEnded && p.Pane.ID == at.Pane && p.Pane.Identity.PID == at.Server {
			return p.Address(), nil
		}
	}
	if at.Pane == "" {
		return "", fmt.Errorf("%w: this isn't called in a pane of tmux; give --from SESSION (or person:NAME)", ErrNobody)
	}
	return "", fmt.Errorf("%w: pane %s is no session of panebridge's; `panebridge sessions adopt` makes it one, --from SESSION says who you are", ErrNobody, at.Pane)
}
