package inbound

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
)

// Role is what a person may do. A person can have several.
type Role string

// The roles. Admin includes all; operator and approver each include viewer.
const (
	Viewer   Role = "viewer"   // sees
	Operator Role = "operator" // types, and begins and ends sessions
	Approver Role = "approver" // answers prompts
	Admin    Role = "admin"    // gives access to others
)

// ParseRole reads a role's name; "" is Operator.
func ParseRole(s string) (Role, error) {
	switch r := Role(s); r {
	case "":
		return Operator, nil
	case Viewer, Operator, Approver, Admin:
		return r, nil
	default:
		return "", fmt.Errorf("read role %q: there are viewer, operator, approver and admin", s)
	}
}

// Roles are all that one person has. The zero value is a stranger's.
type Roles map[Role]bool

// Has says whether they include a role.
func (r Roles) Has(want Role) bool {
	switch {
	case r[want], r[Admin]:
		return true
	case want == Viewer:
		return r[Operator] || r[Approver]
	default:
		return false
	}
}

// Access is who has access by configuration.
type Access struct {
	// PairingTTL is how long what a group gave holds while nobody can say whether its
	// person is still in there; 0: 30 days.
	PairingTTL time.Duration
	Roles      map[string]Roles  // by Person.ID
	Names      map[string]string // what people are called over platforms, by Person.ID
	// Chats are the groups and channels where people may talk to the bot, without
	// threads. Its private chats with people who have access need no entry.
	Chats []adapters.Target
}

// AccessStore keeps what people were given.
type AccessStore interface {
	Grants(ctx context.Context) ([]Grant, error)
	// PutGrant gives a role, anew if the person has it.
	PutGrant(ctx context.Context, g Grant) error
	// DropGrants takes a role back that a person was given; "": all.
	DropGrants(ctx context.Context, person string, role Role) error
	// VoidGrants ends for good what a group gave to a person, and keeps why.
	VoidGrants(ctx context.Context, person string, group adapters.Target, why string) error
	// UseGrants notes when a person did something last, CheckGrants when they were seen in
	// a group last.
	UseGrants(ctx context.Context, person string, at time.Time) error
	CheckGrants(ctx context.Context, person string, group adapters.Target, at time.Time) error
	// PrivateChats returns whose private chats with the bot are whose, by Person.ID.
	PrivateChats(ctx context.Context) (map[adapters.Target]string, error)
	PutPrivateChat(ctx context.Context, chat adapters.Target, person string) error
	// Chats are those that were paired or adopted, without threads.
	Chats(ctx context.Context) ([]adapters.Target, error)
	PutChat(ctx context.Context, chat adapters.Target, by string, at time.Time) error
	// PutCode keeps a pairing code and drops those that have expired. If there are
	// most already it's an error that wraps sessions.ErrConflict.
	PutCode(ctx context.Context, c Code, most int) error
	// UseCode uses a code up, and keeps what it gives; see CodeUse. Of many at a time
	// one is given it. The same CodeUse.Key is given it again. The error is
	// sessions.ErrUnknown if there's no such code, or not any more.
	UseCode(ctx context.Context, hash string, u CodeUse) (Code, error)
}

// access knows who may do something, and where.
type access struct {
	strange *strangers
	tries   tries

	mu      sync.RWMutex // guards what's below; never held during I/O
	config  Access
	granted []Grant                    // the oldest first, one of a person and role
	chats   map[adapters.Target]bool   // paired or adopted
	private map[adapters.Target]string // whose private chats are whose
	was     map[string]bool            // who has or had access by the configuration, since the start
}

func newAccess(opt Options) *access {
	a := &access{strange: newStrangers(), chats: map[adapters.Target]bool{}, private: map[adapters.Target]string{}, was: map[string]bool{}}
	a.configure(opt.Access)
	return a
}

// configure takes in what the configuration says. mu is held, if anybody else knows a.
func (a *access) configure(to Access) {
	a.config = to
	for person := range to.Roles {
		a.was[person] = true
	}
}

// load reads what pairing gave.
func (a *access) load(ctx context.Context, s AccessStore) error {
	grants, err := s.Grants(ctx)
	if err != nil {
		return fmt.Errorf("load access: %w", err)
	}
	chats, err := s.Chats(ctx)
	if err != nil {
		return fmt.Errorf("load access: %w", err)
	}
	private, err := s.PrivateChats(ctx)
	if err != nil {
		return fmt.Errorf("load access: %w", err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted, a.chats, a.private = grants, map[adapters.Target]bool{}, private
	for _, c := range chats {
		a.chats[c] = true
	}
	return nil
}

// roles are all that a person has.
func (a *access) roles(person string) Roles {
	a.mu.RLock()
	defer a.mu.RUnlock()
	out := maps.Clone(a.config.Roles[person])
	for i, why := range a.whyVoid(time.Now()) {
		if g := a.granted[i]; g.Person == person && why == "" {
			if out == nil {
				out = Roles{}
			}
			out[g.Role] = true
		}
	}
	return out
}

// account is the name that the configuration gives a person, over platforms; else their id.
func (a *access) account(id string) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return cmp.Or(a.config.Names[id], id)
}

// name is what a person is called in chats.
func (a *access) name(p intake.Person) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	switch known := a.config.Names[p.ID]; {
	case known != "":
		return known
	case p.Name != "":
		return p.Name
	default:
		return p.ID
	}
}

func chatOf(place adapters.Target) adapters.Target {
	return adapters.Target{Adapter: place.Adapter, Chat: place.Chat}
}

// knows says whether a chat was configured, paired or adopted.
func (a *access) knows(chat adapters.Target) bool {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if a.chats[chatOf(chat)] {
		return true
	}
	for _, c := range a.config.Chats {
		if c == chatOf(chat) {
			return true
		}
	}
	return false
}

// moved takes in that a group that gave people something has another id.
func (a *access) moved(from, to adapters.Target) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted = slices.Clone(a.granted)
	for i := range a.granted {
		if a.granted[i].Chat == from {
			a.granted[i].Chat = to
		}
	}
}

// SetAccess replaces what the configuration says about access.
func (in *Inbound) SetAccess(to Access) {
	in.access.mu.Lock()
	defer in.access.mu.Unlock()
	in.access.configure(to)
	in.members.look()
}

// Knows says whether people may talk to the bot in a chat because the
// configuration, a pairing or an adoption says so.
func (in *Inbound) Knows(chat adapters.Target) bool { return in.access.knows(chat) }

// adopt makes a chat one where people with access may talk to the bot.
func (in *Inbound) adopt(ctx context.Context, chat adapters.Target, by string) error {
	chat = chatOf(chat)
	if err := in.opt.Store.PutChat(ctx, chat, by, time.Now()); err != nil {
		return fmt.Errorf("adopt chat %s: %w", chat, err)
	}
	in.access.mu.Lock()
	defer in.access.mu.Unlock()
	in.access.chats[chat] = true
	return nil
}

// admit says whether an event is looked at, and what its person may do. It's the
// one place where that's decided. Whoever isn't let in gets no answer.
func (in *Inbound) admit(ctx context.Context, ev intake.Event) (Roles, bool, error) {
	paired, err := in.tryCode(ctx, ev)
	if err != nil || paired {
		return nil, false, err
	}
	in.lookAtGroups(ctx, ev.Person.ID)
	roles, why := in.standing(ev)
	if why != "" {
		in.stranger(ev, why)
		return nil, false, nil
	}
	in.used(ctx, ev)
	return roles, true, nil
}

// standing is what the person of an event may do where it happened; why says that
// it's nothing.
func (in *Inbound) standing(ev intake.Event) (roles Roles, why string) {
	roles = in.access.roles(ev.Person.ID)
	if ev.Person.ID == "" || !roles.Has(Viewer) {
		return nil, "nobody named this person"
	}
	if ev.Private || in.access.knows(ev.Place) || in.opt.Hub.Uses(ev.Place.Adapter, ev.Place.Chat) {
		return roles, ""
	}
	// A known person brought the bot to a chat that nobody named.
	if said, ok := ev.Action.(intake.Said); ok && roles.Has(Admin) {
		if name, _, ok := readCommand(said.Text); ok && name == "bind" {
			return roles, "" // which adopts it
		}
	}
	return nil, "nobody named this chat"
}

// Admits says whether an event would be looked at: its person may do something there,
// or writes what looks like a pairing code. For platforms where whoever does something
// is shown at once that it was taken in.
func (in *Inbound) Admits(ev intake.Event) bool {
	_, why := in.standing(ev)
	return why == "" || readCode(ev) != ""
}

// MayBind says whether a chat may mirror sessions: one that's known, or a private
// one of a person who has access.
func (in *Inbound) MayBind(chat adapters.Target) bool {
	return in != nil && (in.Knows(chat) || in.access.roles(chat.Adapter+":"+chat.Chat).Has(Viewer))
}
