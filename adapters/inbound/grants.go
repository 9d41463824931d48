package inbound

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// Grant is a role that a person was given: by a pairing code, or by name. It counts as
// long as whoever gave it could give it again, and, if a group gave it, as its person is in
// there.
type Grant struct {
	Person string // Person.ID
	Name   string // as the platform showed it then; "": it wasn't shown
	Role   Role
	By     string // who gave it, or made the code: Person.ID, GivenByCLI or GivenByWeb
	At     time.Time
	// Chat is the group in which the code was written, without thread; zero: none.
	Chat    adapters.Target
	Checked time.Time // when the person was seen to be in there last
	Used    time.Time // when the person did something last; zero: never
	Void    string    // why it's void for good; "": it isn't
}

// Who gives access besides people in chats: the daemon's own user.
const (
	GivenByCLI = "cli"
	GivenByWeb = "web"
)

// Listed is a role that a person has or had, as access is listed.
type Listed struct {
	Grant

	Config bool   // by the configuration: nobody else can take it back
	Void   string // why it doesn't count; "": it does
}

const (
	defaultPairingTTL = 30 * 24 * time.Hour
	// memberFor is how long it's believed that somebody is in a group.
	memberFor = time.Minute
	// membersEvery is how often it's looked who's still in the groups that gave them
	// something: those who only read do nothing that it could be looked at for.
	membersEvery = 15 * time.Minute
	// memberTime bounds a question to the platform: the person's event waits.
	memberTime = 5 * time.Second
)

// MemberReader is a Platform that can tell who's in a group.
type MemberReader interface {
	// Member says whether a person, by Person.ID, is in a group. It calls the platform.
	Member(ctx context.Context, group adapters.Target, person string) (bool, error)
}

// put takes a grant into account. mu is held.
func (a *access) put(g Grant) {
	a.drop(g.Person, g.Role)
	a.granted = append(a.granted, g)
}

// drop forgets what a person was given; "": all. mu is held.
func (a *access) drop(person string, role Role) {
	a.granted = slices.DeleteFunc(a.granted, func(g Grant) bool { return g.Person == person && (role == "" || g.Role == role) })
}

// whyVoid says of each grant why it doesn't count; "": it does. mu is held.
func (a *access) whyVoid(now time.Time) []string {
	const ungiven = "who gave it can't give it any more"
	out := make([]string, len(a.granted))
	admins := map[string]bool{GivenByCLI: true, GivenByWeb: true}
	for person, roles := range a.config.Roles {
		admins[person] = roles[Admin]
	}
	for i, g := range a.granted {
		out[i] = cmp.Or(a.ended(g, now), ungiven)
	}
	for again := true; again; { // whoever is an admin by this may have made others
		again = false
		for i, g := range a.granted {
			if out[i] == ungiven && admins[g.By] {
				out[i], again = "", true
				admins[g.Person] = admins[g.Person] || g.Role == Admin
			}
		}
	}
	return out
}

// ended says why a grant doesn't count, whoever gave it. mu is held.
func (a *access) ended(g Grant, now time.Time) string {
	ttl := cmp.Or(a.config.PairingTTL, defaultPairingTTL)
	switch {
	case g.Void != "":
		return g.Void
	case g.Chat != (adapters.Target{}) && now.Sub(g.Checked) >= ttl:
		return "nobody could tell for " + wording.Age(ttl) + " whether they're still in " + g.Chat.String()
	}
	return ""
}

// AccessList is who may do what, by the configuration and by what was given; the oldest
// first.
func (in *Inbound) AccessList() []Listed {
	a := in.access
	a.mu.RLock()
	defer a.mu.RUnlock()
	var out []Listed
	for person, roles := range a.config.Roles {
		for role := range roles {
			out = append(out, Listed{Grant: Grant{Person: person, Name: a.config.Names[person], Role: role}, Config: true})
		}
	}
	slices.SortFunc(out, func(x, y Listed) int {
		return cmp.Or(cmp.Compare(x.Person, y.Person), cmp.Compare(x.Role, y.Role))
	})
	for i, why := range a.whyVoid(time.Now()) {
		g := a.granted[i]
		g.Name = cmp.Or(a.config.Names[g.Person], g.Name)
		out = append(out, Listed{Grant: g, Void: why})
	}
	return out
}

// Give gives a person a role. by is GivenByCLI, GivenByWeb or a Person.ID. The error wraps
// sessions.ErrInvalid if the person isn't one of a platform that's on.
func (in *Inbound) Give(ctx context.Context, person string, role Role, by string) error {
	adapter, id, ok := strings.Cut(person, ":")
	if !ok || id == "" || in.platforms[adapter] == nil || strings.ContainsAny(id, " /\t\n") || strings.HasPrefix(id, "-") {
		return fmt.Errorf("give access: %w: %q isn't a person of a platform that's on: telegram:123, say", sessions.ErrInvalid, person)
	}
	role, err := ParseRole(string(role))
	if err != nil {
		return fmt.Errorf("give access: %w: %w", sessions.ErrInvalid, err)
	}
	g := Grant{Person: person, Role: role, By: by, At: time.Now()}
	if err := in.opt.Store.PutGrant(ctx, g); err != nil {
		return fmt.Errorf("give access to %s: %w", person, err)
	}
	in.access.mu.Lock()
	in.access.put(g)
	in.access.mu.Unlock()
	in.log.Info("access was given", "person", person, "role", role, "by", by)
	in.members.look()
	return nil
}

// Revoke takes back what was given to a person; role "": all of it. What the configuration
// gives stays: rest is that. sessions.ErrUnknown: they were given nothing.
func (in *Inbound) Revoke(ctx context.Context, person string, role Role, by string) (rest Roles, err error) {
	in.access.mu.RLock()
	had := slices.ContainsFunc(in.access.granted, func(g Grant) bool { return g.Person == person && (role == "" || g.Role == role) })
	rest = in.access.config.Roles[person]
	in.access.mu.RUnlock()
	if !had && len(rest) == 0 {
		return nil, fmt.Errorf("take back access: %w: %s was given nothing", sessions.ErrUnknown, person)
	}
	if err := in.opt.Store.DropGrants(ctx, person, role); err != nil {
		return nil, fmt.Errorf("take back the access of %s: %w", person, err)
	}
	in.access.mu.Lock()
	in.access.drop(person, role)
	in.access.mu.Unlock()
	in.log.Info("access was taken back", "person", person, "role", role, "by", by)
	in.sweep(ctx)
	return rest, nil
}

// used notes that a person did something.
func (in *Inbound) used(ctx context.Context, ev intake.Event) {
	in.privateOf(ctx, ev)
	now := time.Now()
	in.users.note(Visit{Place: ev.Place, Person: ev.Person, At: now})
	in.access.mu.Lock()
	note := false
	for i := range in.access.granted {
		if g := &in.access.granted[i]; g.Person == ev.Person.ID {
			note = note || now.Sub(g.Used) >= memberFor
			if note {
				g.Used = now
			}
		}
	}
	in.access.mu.Unlock()
	if !note {
		return
	}
	if err := in.opt.Store.UseGrants(ctx, ev.Person.ID, now); err != nil {
		in.log.Warn("note when access was used", "person", ev.Person.ID, "err", err)
	}
}

// privateOf notes whose private chat one is.
func (in *Inbound) privateOf(ctx context.Context, ev intake.Event) {
	chat := chatOf(ev.Place)
	in.access.mu.Lock()
	known := !ev.Private || in.access.private[chat] == ev.Person.ID
	if !known {
		in.access.private[chat] = ev.Person.ID
	}
	in.access.mu.Unlock()
	if known {
		return
	}
	if err := in.opt.Store.PutPrivateChat(ctx, chat, ev.Person.ID); err != nil {
		in.log.Warn("note whose private chat one is", "target", chat.String(), "err", err)
	}
}

// members looks who's still in the groups that gave them something. One goroutine does it
// now and then; what somebody does is looked at before.
type members struct {
	in   *Inbound
	wake chan struct{}

	mu   sync.Mutex
	last map[string]time.Time // by person and group: when it was looked
}

func newMembers(in *Inbound) *members {
	return &members{in: in, wake: make(chan struct{}, 1), last: map[string]time.Time{}}
}

// look has it looked now.
func (m *members) look() {
	select {
	case m.wake <- struct{}{}:
	default:
	}
}

// run looks until ctx ends.
func (m *members) run(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-m.wake:
		case <-timer.C:
		}
		m.in.access.mu.RLock()
		people := map[string]bool{}
		for _, g := range m.in.access.granted {
			people[g.Person] = true
		}
		m.in.access.mu.RUnlock()
		for person := range people {
			m.in.lookAtGroups(ctx, person)
		}
		m.in.sweep(ctx)
		timer.Reset(membersEvery)
	}
}

// due says whether it's time to look again.
func (m *members) due(key string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if at, ok := m.last[key]; ok && now.Sub(at) < memberFor {
		return false
	}
	for k, at := range m.last {
		if now.Sub(at) >= memberFor {
			delete(m.last, k)
		}
	}
	m.last[key] = now
	return true
}

// lookAtGroups looks whether a person is still in the groups that gave them something,
// and ends what those gave that they've left.
func (in *Inbound) lookAtGroups(ctx context.Context, person string) {
	in.access.mu.RLock()
	groups := map[adapters.Target]bool{}
	for _, g := range in.access.granted {
		if g.Person == person && g.Chat != (adapters.Target{}) && g.Void == "" {
			groups[g.Chat] = true
		}
	}
	in.access.mu.RUnlock()
	for group := range groups {
		reader, ok := in.platforms[group.Adapter].(MemberReader)
		if !ok || !in.members.due(person+" "+group.String(), time.Now()) {
			continue
		}
		call, cancel := context.WithTimeout(ctx, memberTime)
		is, err := reader.Member(call, group, person)
		cancel()
		switch {
		case err != nil:
			in.log.Warn("nobody can tell whether a person is still in a group", "person", person, "target", group.String(), "err", err)
		case is:
			in.seenIn(ctx, person, group, time.Now())
		default:
			in.left(ctx, person, group)
		}
	}
}

// seenIn notes that a person is in a group.
func (in *Inbound) seenIn(ctx context.Context, person string, group adapters.Target, now time.Time) {
	in.access.mu.Lock()
	note := false
	for i := range in.access.granted {
		if g := &in.access.granted[i]; g.Person == person && g.Chat == group {
			note = note || now.Sub(g.Checked) >= time.Hour
			g.Checked = now
		}
	}
	in.access.mu.Unlock()
	if !note {
		return
	}
	if err := in.opt.Store.CheckGrants(ctx, person, group, now); err != nil {
		in.log.Warn("note that a person is in a group", "person", person, "err", err)
	}
}

// left ends what a group gave to somebody who has left it.
func (in *Inbound) left(ctx context.Context, person string, group adapters.Target) {
	why := "they've left " + group.String() + ", which gave it"
	in.access.mu.Lock()
	gave := false
	for i := range in.access.granted {
		if g := &in.access.granted[i]; g.Person == person && g.Chat == group && g.Void == "" {
			g.Void, gave = why, true
		}
	}
	in.access.mu.Unlock()
	if !gave {
		return
	}
	in.log.Info("what a group gave has ended: its person has left it", "person", person, "target", group.String())
	if err := in.opt.Store.VoidGrants(ctx, person, group, why); err != nil {
		in.log.Error("end what a group gave", "person", person, "target", group.String(), "err", err)
	}
	in.sweep(ctx)
}

// sweep ends the mirroring to private chats of people who may see nothing any more.
func (in *Inbound) sweep(ctx context.Context) {
	done := map[adapters.Target]bool{}
	for _, s := range in.opt.Sessions.List() {
		for _, b := range in.opt.Hub.Status(s.ID) {
			chat := chatOf(b.Target)
			person := in.access.ownerOf(chat)
			if !b.Open || done[chat] || person == "" || in.access.knows(chat) || in.access.roles(person).Has(Viewer) {
				continue
			}
			done[chat] = true
			if err := in.opt.Hub.ChatLost(ctx, chat.Adapter, chat.Chat, "The person of this private chat has no access any more."); err != nil {
				in.log.Error("end the mirroring to a private chat", "target", chat.String(), "err", err)
			}
		}
	}
}

// ownerOf is whose private chat one is, as far as it's known; "": it's none.
func (a *access) ownerOf(chat adapters.Target) string {
	a.mu.RLock()
	defer a.mu.RUnlock()
	if p := a.private[chat]; p != "" {
		return p
	}
	if same := chat.Adapter + ":" + chat.Chat; a.was[same] { // on Telegram they have the same number
		return same
	}
	return ""
}
