package access

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
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

// ListedGrant is a role that a person has or had, as access is listed.
type ListedGrant struct {
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

// putGrant takes a grant into account. mu is held.
func (g *Guard) putGrant(given Grant) {
	g.dropGrants(given.Person, given.Role)
	g.granted = append(g.granted, given)
}

// dropGrants forgets what a person was given; "": all. mu is held.
func (g *Guard) dropGrants(person string, role Role) {
	g.granted = slices.DeleteFunc(g.granted, func(x Grant) bool { return x.Person == person && (role == "" || x.Role == role) })
}

// whyVoid says of each grant why it doesn't count; "": it does. mu is held.
func (g *Guard) whyVoid(now time.Time) []string {
	const ungiven = "who gave it can't give it any more"
	out := make([]string, len(g.granted))
	admins := map[string]bool{GivenByCLI: true, GivenByWeb: true}
	for person, roles := range g.config.Roles {
		admins[person] = roles[Admin]
	}
	for i, x := range g.granted {
		out[i] = cmp.Or(g.whyEnded(x, now), ungiven)
	}
	for again := true; again; { // whoever is an admin by this may have made others
		again = false
		for i, x := range g.granted {
			if out[i] == ungiven && admins[x.By] {
				out[i], again = "", true
				admins[x.Person] = admins[x.Person] || x.Role == Admin
			}
		}
	}
	return out
}

// whyEnded says why a grant doesn't count, whoever gave it. mu is held.
func (g *Guard) whyEnded(x Grant, now time.Time) string {
	ttl := cmp.Or(g.config.PairingTTL, defaultPairingTTL)
	switch {
	case x.Void != "":
		return x.Void
	case x.Chat != (adapters.Target{}) && now.Sub(x.Checked) >= ttl:
		return "nobody could tell for " + wording.Age(ttl) + " whether they're still in " + x.Chat.String()
	}
	return ""
}

// ListAccess returns who may do what: first by the configuration, then by grants, the oldest first.
func (g *Guard) ListAccess() []ListedGrant {
	g.mu.RLock()
	defer g.mu.RUnlock()
	var out []ListedGrant
	for person, roles := range g.config.Roles {
		for role := range roles {
			out = append(out, ListedGrant{Grant: Grant{Person: person, Name: g.config.Names[person], Role: role}, Config: true})
		}
	}
	slices.SortFunc(out, func(x, y ListedGrant) int {
		return cmp.Or(cmp.Compare(x.Person, y.Person), cmp.Compare(x.Role, y.Role))
	})
	for i, why := range g.whyVoid(time.Now()) {
		x := g.granted[i]
		x.Name = cmp.Or(g.config.Names[x.Person], x.Name)
		out = append(out, ListedGrant{Grant: x, Void: why})
	}
	return out
}

// GiveRole gives a person a role. by is GivenByCLI, GivenByWeb or a Person.ID. The error wraps
// sessions.ErrInvalid if the person isn't one of a platform that's on.
func (g *Guard) GiveRole(ctx context.Context, person string, role Role, by string) error {
	adapter, id, ok := strings.Cut(person, ":")
	if !ok || id == "" || g.opt.Platforms[adapter] == nil || strings.ContainsAny(id, " /\t\n") || strings.HasPrefix(id, "-") {
		return fmt.Errorf("give access: %w: %q isn't a person: that's a platform that's on (%s), a colon, and a person's id there", sessions.ErrInvalid, person,
			cmp.Or(strings.Join(slices.Sorted(maps.Keys(g.opt.Platforms)), ", "), "none is"))
	}
	role, err := ParseRole(string(role))
	if err != nil {
		return fmt.Errorf("give access: %w: %w", sessions.ErrInvalid, err)
	}
	given := Grant{Person: person, Role: role, By: by, At: time.Now()}
	if err := g.opt.Store.PutGrant(ctx, given); err != nil {
		return fmt.Errorf("give access to %s: %w", person, err)
	}
	g.mu.Lock()
	g.putGrant(given)
	g.mu.Unlock()
	g.log.Info("access was given", "person", person, "role", role, "by", by)
	g.checkGroupsSoon()
	return nil
}

// RevokeRoles takes back what was given to a person; role "": all of it. What the configuration
// gives stays: rest is that. sessions.ErrUnknown: they were given nothing.
func (g *Guard) RevokeRoles(ctx context.Context, person string, role Role, by string) (rest Roles, err error) {
	g.mu.RLock()
	had := slices.ContainsFunc(g.granted, func(x Grant) bool { return x.Person == person && (role == "" || x.Role == role) })
	rest = g.config.Roles[person]
	g.mu.RUnlock()
	if !had && len(rest) == 0 {
		return nil, fmt.Errorf("take back access: %w: %s was given nothing", sessions.ErrUnknown, person)
	}
	if err := g.opt.Store.DropGrants(ctx, person, role); err != nil {
		return nil, fmt.Errorf("take back the access of %s: %w", person, err)
	}
	g.mu.Lock()
	g.dropGrants(person, role)
	g.mu.Unlock()
	g.log.Info("access was taken back", "person", person, "role", role, "by", by)
	g.endPrivateMirrors(ctx)
	return rest, nil
}

// noteUse notes that a person did something.
func (g *Guard) noteUse(ctx context.Context, ev intake.Event) {
	g.notePrivateChat(ctx, ev)
	now := time.Now()
	g.users.noteVisit(Visit{Place: ev.Place, Person: ev.Person, At: now})
	g.mu.Lock()
	note := false
	for i := range g.granted {
		if x := &g.granted[i]; x.Person == ev.Person.ID {
			note = note || now.Sub(x.Used) >= memberFor
			if note {
				x.Used = now
			}
		}
	}
	g.mu.Unlock()
	if !note {
		return
	}
	if err := g.opt.Store.UseGrants(ctx, ev.Person.ID, now); err != nil {
		g.log.Warn("note when access was used", "person", ev.Person.ID, "err", err)
	}
}

// notePrivateChat notes whose private chat one is.
func (g *Guard) notePrivateChat(ctx context.Context, ev intake.Event) {
	chat := ev.Place.WholeChat()
	g.mu.Lock()
	known := !ev.Private || g.private[chat] == ev.Person.ID
	if !known {
		g.private[chat] = ev.Person.ID
	}
	g.mu.Unlock()
	if known {
		return
	}
	if err := g.opt.Store.PutPrivateChat(ctx, chat, ev.Person.ID); err != nil {
		g.log.Warn("note whose private chat one is", "target", chat.String(), "err", err)
	}
}

// groupLooks are when it was looked last whether people are in groups, by person and group.
type groupLooks struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// checkGroupsSoon has WatchGroups look now.
func (g *Guard) checkGroupsSoon() {
	select {
	case g.wake <- struct{}{}:
	default:
	}
}

// WatchGroups asks the platforms every 15 minutes who is still in the groups that gave access, and ends what
// those gave who have left. It blocks until ctx ends. Without it people who only read would never be checked.
func (g *Guard) WatchGroups(ctx context.Context) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-g.wake:
		case <-timer.C:
		}
		g.mu.RLock()
		people := map[string]bool{}
		for _, x := range g.granted {
			people[x.Person] = true
		}
		g.mu.RUnlock()
		for person := range people {
			g.checkGroups(ctx, person)
		}
		g.endPrivateMirrors(ctx)
		timer.Reset(membersEvery)
	}
}

// isDue says whether it's time to look again.
func (l *groupLooks) isDue(key string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.last[key]; ok && now.Sub(at) < memberFor {
		return false
	}
	if l.last == nil {
		l.last = map[string]time.Time{}
	}
	for k, at := range l.last {
		if now.Sub(at) >= memberFor {
			delete(l.last, k)
		}
	}
	l.last[key] = now
	return true
}

// checkGroups looks whether a person is still in the groups that gave them something,
// and ends what those gave that they've left.
func (g *Guard) checkGroups(ctx context.Context, person string) {
	g.mu.RLock()
	groups := map[adapters.Target]bool{}
	for _, x := range g.granted {
		if x.Person == person && x.Chat != (adapters.Target{}) && x.Void == "" {
			groups[x.Chat] = true
		}
	}
	g.mu.RUnlock()
	for group := range groups {
		reader, ok := g.opt.Platforms[group.Adapter].(MemberReader)
		if !ok || !g.groupLooks.isDue(person+" "+group.String(), time.Now()) {
			continue
		}
		call, cancel := context.WithTimeout(ctx, memberTime)
		is, err := reader.Member(call, group, person)
		cancel()
		switch {
		case err != nil:
			g.log.Warn("nobody can tell whether a person is still in a group", "person", person, "target", group.String(), "err", err)
		case is:
			g.noteMember(ctx, person, group, time.Now())
		default:
			g.EndMembership(ctx, person, group)
		}
	}
}

// noteMember notes that a person is in a group.
func (g *Guard) noteMember(ctx context.Context, person string, group adapters.Target, now time.Time) {
	g.mu.Lock()
	note := false
	for i := range g.granted {
		if x := &g.granted[i]; x.Person == person && x.Chat == group {
			note = note || now.Sub(x.Checked) >= time.Hour
			x.Checked = now
		}
	}
	g.mu.Unlock()
	if !note {
		return
	}
	if err := g.opt.Store.CheckGrants(ctx, person, group, now); err != nil {
		g.log.Warn("note that a person is in a group", "person", person, "err", err)
	}
}

// EndMembership ends what a group gave to a person who has left it.
func (g *Guard) EndMembership(ctx context.Context, person string, group adapters.Target) {
	why := "they've left " + group.String() + ", which gave it"
	g.mu.Lock()
	gave := false
	for i := range g.granted {
		if x := &g.granted[i]; x.Person == person && x.Chat == group && x.Void == "" {
			x.Void, gave = why, true
		}
	}
	g.mu.Unlock()
	if !gave {
		return
	}
	g.log.Info("what a group gave has ended: its person has left it", "person", person, "target", group.String())
	if err := g.opt.Store.VoidGrants(ctx, person, group, why); err != nil {
		g.log.Error("end what a group gave", "person", person, "target", group.String(), "err", err)
	}
	g.endPrivateMirrors(ctx)
}

// endPrivateMirrors ends the mirroring to private chats of people who may see nothing any more.
func (g *Guard) endPrivateMirrors(ctx context.Context) {
	done := map[adapters.Target]bool{}
	for _, s := range g.opt.Sessions() {
		for _, b := range g.opt.Hub.Status(s.ID) {
			chat := b.Target.WholeChat()
			person := g.ownerOf(chat)
			if !b.Open || done[chat] || person == "" || g.KnowsChat(chat) || g.RolesOf(person).Has(Viewer) {
				continue
			}
			done[chat] = true
			if err := g.opt.Hub.DisableChat(ctx, chat.Adapter, chat.Chat, "The person of this private chat has no access any more."); err != nil {
				g.log.Error("end the mirroring to a private chat", "target", chat.String(), "err", err)
			}
		}
	}
}

// ownerOf is whose private chat one is, as far as it's known; "": it's none.
func (g *Guard) ownerOf(chat adapters.Target) string {
	g.mu.RLock()
	defer g.mu.RUnlock()
	if p := g.private[chat]; p != "" {
		return p
	}
	if same := chat.Adapter + ":" + chat.Chat; g.was[same] { // on Telegram they have the same number
		return same
	}
	return ""
}

// PrivateChat returns a person's private chat with the bot other than the chat of beside; false: none is
// known.
func (g *Guard) PrivateChat(person string, beside adapters.Target) (adapters.Target, bool) {
	g.mu.RLock()
	defer g.mu.RUnlock()
	for chat, whose := range g.private {
		if whose == person && person != "" && chat != beside.WholeChat() {
			return chat, true
		}
	}
	return adapters.Target{}, false
}

const (
	// codeLetters has no two that look alike: 30^8 codes are 6.5·10^11.
	codeLetters = "23456789ABCDEFGHJKMNPQRSTVWXYZ"
	codeLen     = 8
	codeFor     = 10 * time.Minute
	maxCodes    = 20 // that wait to be used at a time

	// Wrong codes that are looked at in codeFor. With all of the codes there can be,
	// a guess hits once in 3·10^7 such times; and 200 people must guess to keep
	// others from being let in.
	triesPerPerson = 5
	triesOverall   = 1000
)

// PairingCode is a pairing code that was given out.
type PairingCode struct {
	Hash    string // codeHash of it
	Role    Role
	By      string // who made it: "cli", "telegram:123"
	Expires time.Time
}

// CodeUse is who uses a code. It gives the person the code's role, and makes Chat
// known unless it's empty.
type CodeUse struct {
	Key    string // of the event
	Person intake.Person
	Chat   adapters.Target
	At     time.Time
}

// Grant is what using a code gives.
func (u CodeUse) Grant(c PairingCode) Grant {
	x := Grant{Person: u.Person.ID, Name: u.Person.Name, Role: c.Role, By: c.By, At: u.At, Chat: u.Chat}
	if u.Chat != (adapters.Target{}) {
		x.Checked = u.At // who writes there is in there
	}
	return x
}

// MakePairingCode makes a code. Whoever is the first to write "/pair CODE" to the bot before expires gets the
// role; written in a group, it makes the group known, too. by says who made it.
func (g *Guard) MakePairingCode(ctx context.Context, role Role, by string) (code string, expires time.Time, err error) {
	if role, err = ParseRole(string(role)); err != nil {
		return "", time.Time{}, fmt.Errorf("make a pairing code: %w: %w", sessions.ErrInvalid, err)
	}
	code, expires = newCode(), time.Now().Add(codeFor)
	if g.opt.Paired != nil {
		g.opt.Paired(code)
	}
	err = g.opt.Store.PutCode(ctx, PairingCode{Hash: codeHash(code), Role: role, By: by, Expires: expires}, maxCodes)
	if err != nil {
		return "", time.Time{}, fmt.Errorf("make a pairing code: %w", err)
	}
	g.log.Info("a pairing code was made", "role", role, "by", by, "expires", expires)
	return code, expires, nil
}

func newCode() string {
	code := make([]byte, 0, codeLen)
	var b [1]byte
	for len(code) < codeLen {
		_, _ = rand.Read(b[:])                    // documented never to fail
		if int(b[0]) < 256-256%len(codeLetters) { // all letters equally often
			code = append(code, codeLetters[int(b[0])%len(codeLetters)])
		}
	}
	return string(code)
}

// codeHash is how a code is kept. It's a plain hash: a code lives for ten minutes
// in a file that only its owner reads.
func codeHash(code string) string {
	sum := sha256.Sum256([]byte("panebridge pairing code " + code))
	return hex.EncodeToString(sum[:])
}

// ReadCode returns the code in "/pair CODE", written in any case, with spaces or dashes; "": there is none.
func ReadCode(ev intake.Event) string {
	said, ok := ev.Action.(intake.Said)
	if !ok {
		return ""
	}
	name, args, ok := intake.ReadCommand(said.Text)
	if !ok || name != "pair" || len(args) > 4*codeLen {
		return ""
	}
	code := strings.NewReplacer(" ", "", "-", "").Replace(strings.ToUpper(args))
	if len(code) != codeLen || strings.Trim(code, codeLetters) != "" {
		return ""
	}
	return code
}

// useCode lets a person in who writes a pairing code. Admission.Paired is false if there's
// none in the event, or a wrong one: what happens then isn't told from what else a
// stranger may write.
func (g *Guard) useCode(ctx context.Context, ev intake.Event) (Admission, error) {
	code := ReadCode(ev)
	if code == "" || ev.Person.ID == "" {
		return Admission{}, nil
	}
	now := time.Now()
	if now.Sub(ev.At) > codeFor || !g.guesses.allowsGuess(ev.Person.ID, now) {
		return Admission{}, nil
	}
	use := CodeUse{Key: ev.Key, Person: ev.Person, At: now}
	if !ev.Private {
		use.Chat = ev.Place.WholeChat()
	}
	c, err := g.opt.Store.UseCode(ctx, codeHash(code), use)
	if errors.Is(err, sessions.ErrUnknown) {
		g.guesses.noteWrong(ev.Person.ID)
		if g.strange.logged.Due(ev.Person.ID+" code", now) {
			g.log.Warn("a wrong pairing code", "person", ev.Person.ID, "target", ev.Place.String())
		}
		return Admission{}, nil
	}
	if err != nil {
		return Admission{}, fmt.Errorf("use a pairing code: %w", err)
	}
	g.mu.Lock()
	g.putGrant(use.Grant(c))
	if use.Chat != (adapters.Target{}) {
		g.chats[use.Chat] = true
	}
	g.mu.Unlock()
	if ev.Private {
		g.notePrivateChat(ctx, ev)
		if err := g.opt.Hub.ReviveChat(ctx, ev.Place.Adapter, ev.Place.Chat); err != nil {
			g.log.Warn("bindings of a private chat couldn't be tried again", "target", ev.Place.String(), "err", err)
		}
	}
	g.log.Info("a person was let in by a pairing code", "person", ev.Person.ID, "target", ev.Place.String(), "role", c.Role, "by", c.By)
	text := "You're in, as " + string(c.Role) + ". /help shows what you can do."
	if use.Chat != (adapters.Target{}) {
		text = "You're in, as " + string(c.Role) + ", and this chat is known now. /help shows what you can do."
	}
	return Admission{Paired: true, Role: c.Role, Welcome: text}, nil
}

// guesses counts wrong codes in windows of codeFor.
type guesses struct {
	mu       sync.Mutex
	begin    time.Time
	overall  int
	byPerson map[string]int // at most triesOverall
}

// allowsGuess says whether another code of a person is looked at.
func (t *guesses) allowsGuess(person string, now time.Time) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if now.Sub(t.begin) >= codeFor {
		t.begin, t.overall, t.byPerson = now, 0, map[string]int{}
	}
	return t.overall < triesOverall && t.byPerson[person] < triesPerPerson
}

// noteWrong counts a wrong code.
func (t *guesses) noteWrong(person string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.overall++
	t.byPerson[person]++
}
