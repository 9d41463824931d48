package access

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
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

// String is their names, the least first, with a space between.
func (r Roles) String() string {
	var names []string
	for _, role := range []Role{Viewer, Operator, Approver, Admin} {
		if r[role] {
			names = append(names, string(role))
		}
	}
	return strings.Join(names, " ")
}

// Config is who has access by configuration.
type Config struct {
	// PairingTTL is how long what a group gave holds while nobody can say whether its
	// person is still in there; 0: 30 days.
	PairingTTL time.Duration
	Roles      map[string]Roles  // by Person.ID
	Names      map[string]string // what people are called over platforms, by Person.ID
	// Chats are the groups and channels where people may talk to the bot, without
	// threads. Its private chats with people who have access need no entry.
	Chats []adapters.Target
}

// Store keeps what people were given.
type Store interface {
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
	PutCode(ctx context.Context, c PairingCode, most int) error
	// UseCode uses a code up, and keeps what it gives; see CodeUse. Of many at a time
	// one is given it. The same CodeUse.Key is given it again. The error is
	// sessions.ErrUnknown if there's no such code, or not any more.
	UseCode(ctx context.Context, hash string, u CodeUse) (PairingCode, error)
	// Visits returns who has done something in which places since a time, and when last; the
	// oldest first.
	Visits(ctx context.Context, since time.Time) ([]Visit, error)
}

// Hub is what a Guard needs of the outbound half.
type Hub interface {
	// UsesChat says whether any binding's target is in a chat.
	UsesChat(adapter, chat string) bool
	Status(id sessions.ID) []adapters.BindingStatus
	// DisableChat disables all bindings of a chat, ReviveChat takes that back.
	DisableChat(ctx context.Context, adapter, chat, why string) error
	ReviveChat(ctx context.Context, adapter, chat string) error
}

// Options are a Guard's parts. All but Paired are required.
type Options struct {
	Config    Config
	Store     Store
	Hub       Hub
	Sessions  func() []sessions.Session
	Platforms map[string]intake.InboundAdapter // by name
	Paired    func(code string)                // see Pair; nil: nobody hears of it
	Logger    *slog.Logger
}

// Guard decides who may do what, and where. Call Load first. It's safe for concurrent use.
type Guard struct {
	opt        Options
	log        *slog.Logger
	strange    strangers
	guesses    guesses
	users      users
	wake       chan struct{} // see WatchGroups
	groupLooks groupLooks

	mu      sync.RWMutex // guards what's below; never held during I/O
	config  Config
	granted []Grant                    // the oldest first, one of a person and role
	chats   map[adapters.Target]bool   // paired or adopted
	private map[adapters.Target]string // whose private chats are whose
	was     map[string]bool            // who has or had access by the configuration, since the start
}

// NewGuard makes a Guard. It starts nothing.
func NewGuard(opt Options) *Guard {
	g := &Guard{
		opt: opt, log: opt.Logger, strange: strangers{logged: intake.NewSeldom(strangerEvery)}, wake: make(chan struct{}, 1),
		chats: map[adapters.Target]bool{}, private: map[adapters.Target]string{}, was: map[string]bool{},
	}
	g.setConfig(opt.Config)
	return g
}

// setConfig takes in what the configuration says. mu is held, if anybody else knows g.
func (g *Guard) setConfig(to Config) {
	g.config = to
	for person := range to.Roles {
		g.was[person] = true
	}
}

// Load reads what people were given, and who has used places.
func (g *Guard) Load(ctx context.Context) error {
	s := g.opt.Store
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
	g.mu.Lock()
	defer g.mu.Unlock()
	g.granted, g.chats, g.private = grants, map[adapters.Target]bool{}, private
	for _, c := range chats {
		g.chats[c] = true
	}
	return g.users.loadVisits(ctx, s)
}

// RolesOf returns the roles of a person, by Person.ID.
func (g *Guard) RolesOf(person string) Roles {
	g.mu.RLock()
	defer g.mu.RUnlock()
	out := maps.Clone(g.config.Roles[person])
	for i, why := range g.whyVoid(time.Now()) {
		if g := g.granted[i]; g.Person == person && why == "" {
			if out == nil {
				out = Roles{}
			}
			out[g.Role] = true
		}
	}
	return out
}

// accountOf is the name that the configuration gives a person, over platforms; else their id.
func (g *Guard) accountOf(id string) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	return cmp.Or(g.config.Names[id], id)
}

// NameOf returns what a person is called in chats.
func (g *Guard) NameOf(p intake.Person) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	switch known := g.config.Names[p.ID]; {
	case known != "":
		return known
	case p.Name != "":
		return p.Name
	default:
		return p.ID
	}
}

// KnowsChat says whether people may talk to the bot in a chat because the
// configuration, a pairing or an adoption says so.
func (g *Guard) KnowsChat(chat adapters.Target) bool {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if g.chats[chat.WholeChat()] {
		return true
	}
	for _, c := range g.config.Chats {
		if c == chat.WholeChat() {
			return true
		}
	}
	return false
}

// MoveChat has what's known of a chat count for its new id.
func (g *Guard) MoveChat(from, to adapters.Target) {
	g.users.moveChat(from, to)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.granted = slices.Clone(g.granted)
	for i := range g.granted {
		if g.granted[i].Chat == from {
			g.granted[i].Chat = to
		}
	}
}

// SetAccess replaces what the configuration says about access.
func (g *Guard) SetAccess(to Config) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.setConfig(to)
	g.checkGroupsSoon()
}

// AdoptChat makes a chat one where people with access may talk to the bot.
func (g *Guard) AdoptChat(ctx context.Context, chat adapters.Target, by string) error {
	chat = chat.WholeChat()
	if err := g.opt.Store.PutChat(ctx, chat, by, time.Now()); err != nil {
		return fmt.Errorf("adopt chat %s: %w", chat, err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.chats[chat] = true
	return nil
}

// Admission is what a Guard makes of an event. The zero value is a stranger's: nobody looks at the event, and
// nobody answers it.
type Admission struct {
	Admitted bool
	Roles    Roles
	// Paired says that it was a pairing code, which is used up: its person and maybe their chat are
	// known now. Role is what it gave, Welcome what they're told.
	Paired  bool
	Role    Role
	Welcome string
}

// Admit decides whether an event is looked at, and what its person may do; nothing else decides that. It does
// disk I/O and may ask the platform. After an error the same event comes again.
func (g *Guard) Admit(ctx context.Context, ev intake.Event) (Admission, error) {
	paired, err := g.useCode(ctx, ev)
	if err != nil || paired.Paired {
		return paired, err
	}
	g.checkGroups(ctx, ev.Person.ID)
	roles, why := g.RolesAt(ev)
	if why != "" {
		g.noteStranger(ev, why)
		return Admission{}, nil
	}
	g.noteUse(ctx, ev)
	return Admission{Admitted: true, Roles: roles}, nil
}

// RolesAt returns what the person of an event may do where it happened. If why isn't empty they may do
// nothing.
func (g *Guard) RolesAt(ev intake.Event) (roles Roles, why string) {
	roles = g.RolesOf(ev.Person.ID)
	if ev.Person.ID == "" || !roles.Has(Viewer) {
		return nil, "nobody named this person"
	}
	if ev.Private || g.KnowsChat(ev.Place) || g.opt.Hub.UsesChat(ev.Place.Adapter, ev.Place.Chat) {
		return roles, ""
	}
	// A known person brought the bot to a chat that nobody named.
	if said, ok := ev.Action.(intake.Said); ok && roles.Has(Admin) {
		if name, _, ok := intake.ReadCommand(said.Text); ok && name == "bind" {
			return roles, "" // which adopts it
		}
	}
	return nil, "nobody named this chat"
}

// Admits reports whether an event would be looked at: its person may do something there, or writes what looks
// like a pairing code. Platforms that show at once that something was taken in ask it first.
func (g *Guard) Admits(ev intake.Event) bool {
	_, why := g.RolesAt(ev)
	return why == "" || ReadCode(ev) != ""
}

// MayBind reports whether a chat may mirror sessions: it's known, or the private chat of a person who has
// access.
func (g *Guard) MayBind(chat adapters.Target) bool {
	return g.KnowsChat(chat) || g.RolesOf(chat.Adapter+":"+chat.Chat).Has(Viewer)
}

// strangerEvery is the time between two log lines about the same person.
const strangerEvery = time.Hour

// strangers counts who isn't let in.
type strangers struct {
	count  atomic.Uint64
	logged *intake.Seldom
}

// Strangers returns how many events were ignored since the start because nobody gave their person or chat
// access.
func (g *Guard) Strangers() uint64 { return g.strange.count.Load() }

// noteStranger takes in that an event isn't looked at.
func (g *Guard) noteStranger(ev intake.Event, why string) {
	g.strange.count.Add(1)
	if g.strange.logged.Due(ev.Person.ID+" "+why, time.Now()) {
		g.log.Warn("a stranger is ignored", "person", ev.Person.ID, "target", ev.Place.String(), "why", why)
	}
}

// usedFor is for how long somebody who has written or pressed something in a place counts as one
// who uses it: over a weekend, and until the same day next week.
const usedFor = 7 * 24 * time.Hour

// Visit is a person's last event in a place.
type Visit struct {
	Place  adapters.Target
	Person intake.Person
	At     time.Time // the last time
}

// ForgetVisits drops visits that are more than seven days old.
func (g *Guard) ForgetVisits(now time.Time) { g.users.forgetVisits(now.Add(-usedFor)) }

// users are who has used which places. Of a place, and of a chat with all its threads, the two
// people are kept that have used it last: it's only asked whether it's one.
type users struct {
	mu  sync.Mutex
	all map[adapters.Target][]Visit // the last one first
}

// loadVisits reads who has used places lately, the oldest first.
func (u *users) loadVisits(ctx context.Context, s Store) error {
	list, err := s.Visits(ctx, time.Now().Add(-usedFor))
	if err != nil {
		return fmt.Errorf("load who uses places: %w", err)
	}
	for _, v := range list {
		u.noteVisit(v)
	}
	return nil
}

// noteVisit takes in that somebody did something.
func (u *users) noteVisit(v Visit) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.noteVisitAt(v.Place, v)
	if chat := v.Place.WholeChat(); chat != v.Place {
		u.noteVisitAt(chat, v)
	}
}

func (u *users) noteVisitAt(place adapters.Target, v Visit) {
	if u.all == nil {
		u.all = map[adapters.Target][]Visit{}
	}
	all := slices.DeleteFunc(u.all[place], func(o Visit) bool { return o.Person.ID == v.Person.ID })
	u.all[place] = append([]Visit{v}, all[:min(len(all), 1)]...)
}

// usersOf returns who has used a place since a time.
func (u *users) usersOf(place adapters.Target, since time.Time) []intake.Person {
	u.mu.Lock()
	defer u.mu.Unlock()
	var out []intake.Person
	for _, v := range u.all[place] {
		if v.At.After(since) {
			out = append(out, v.Person)
		}
	}
	return out
}

// forgetVisits drops what's too old to count.
func (u *users) forgetVisits(before time.Time) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for place, uses := range u.all {
		if !uses[0].At.After(before) {
			delete(u.all, place)
		}
	}
}

// moveChat has what's known of a chat's places follow it.
func (u *users) moveChat(from, to adapters.Target) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for place, uses := range u.all {
		if place.WholeChat() == from {
			delete(u.all, place)
			place.Chat = to.Chat
			u.all[place] = uses
		}
	}
}

// UsersOf returns the names of the last two people who wrote or pressed something in a place within seven
// days. If nobody did it looks at the chat of the place, then for the owner of a private chat. A person with
// several accounts counts once. It returns at once.
func (g *Guard) UsersOf(place adapters.Target, now time.Time) []string {
	people := g.users.usersOf(place, now.Add(-usedFor))
	if len(people) == 0 {
		people = g.users.usersOf(place.WholeChat(), now.Add(-usedFor))
	}
	if len(people) == 0 {
		g.mu.RLock()
		if id := g.private[place.WholeChat()]; id != "" {
			people = []intake.Person{{ID: id}}
		}
		g.mu.RUnlock()
	}
	var names, known []string
	for _, p := range people {
		if who := g.accountOf(p.ID); !slices.Contains(known, who) {
			known, names = append(known, who), append(names, g.NameOf(p))
		}
	}
	return names
}
