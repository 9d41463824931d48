package telegramtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ChatSpec describes a group.
type ChatSpec struct {
	Title    string
	Username string // of a public group
	Kind     Kind   // Supergroup unless it says Group
	Forum    bool
	// BotRights makes the bot an administrator; nil leaves it an ordinary member.
	BotRights *Rights
	// WithoutBot leaves the bot out, until Person.AddBot.
	WithoutBot bool
}

// AddChat makes a group. The first person owns it, the others are members.
func (s *Server) AddChat(spec ChatSpec, people ...*Person) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lastChatID++
	id := -s.lastChatID
	if spec.Kind == "" {
		spec.Kind = Supergroup
	}
	if spec.Kind == Supergroup {
		id -= 1_000_000_000_000 // their numbers begin with -100
	}
	c := newChat(id, spec.Kind)
	c.title, c.username, c.forum = spec.Title, spec.Username, spec.Forum
	for i, p := range people {
		status := ordinary
		if i == 0 {
			status = creator
		}
		c.members[p.ID] = &member{user: p.ID, status: status}
	}
	if !spec.WithoutBot {
		c.setBot(s.opts.Bot.ID, spec.BotRights)
	}
	s.chats[id] = c
	s.Touch()
	return id
}

// AddForum makes a forum in which the bot has all rights.
func (s *Server) AddForum(title string, people ...*Person) int64 {
	rights := AllRights()
	return s.AddChat(ChatSpec{Title: title, Forum: true, BotRights: &rights}, people...)
}

// SetLosesTopics makes a chat take messages to its deleted topics into the main
// chat, without a word (github.com/tdlib/telegram-bot-api/issues/854).
func (s *Server) SetLosesTopics(group int64, loses bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChat(group).losesTopics = loses
}

// SetDeafTopics makes a forum refuse messages to all its topics as if they weren't there, though
// topics can be made (github.com/tdlib/telegram-bot-api/issues/693 and 847).
func (s *Server) SetDeafTopics(group int64, deaf bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChat(group).deafTopics = deaf
}

// SetHidesTopics makes answers about a forum's messages leave out in which topic they are.
func (s *Server) SetHidesTopics(group int64, hides bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChat(group).hidesTopics = hides
}

// SetReactions allows these emoji alone as reactions in a group, and with an empty list none
// (core.telegram.org/bots/api#chatfullinfo, available_reactions); nil allows all.
func (s *Server) SetReactions(group int64, allowed []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mustChat(group).reactions = allowed
}

// mustChat: that a test asks for a chat that never was is a mistake in the test.
func (s *Server) mustChat(id int64) *chat {
	c := s.chats[id]
	if c == nil {
		panic(fmt.Sprintf("telegramtest: there's no chat %d", id))
	}
	return c
}

func (c *chat) setBot(bot int64, rights *Rights) {
	m := &member{user: bot, status: ordinary}
	if rights != nil {
		m.status, m.rights = administrator, *rights
	}
	c.members[bot] = m
}

// change changes a member's state and tells the bot: of itself by
// my_chat_member, of others by chat_member, for which it must ask and be an
// administrator (core.telegram.org/bots/api#update).
func (s *Server) change(c *chat, by *Person, user int64, set func()) {
	before := s.wireMember(c, user)
	set()
	content := map[string]any{
		"chat": s.wireChat(c), "from": by.User, "date": now().Unix(),
		"old_chat_member": before, "new_chat_member": s.wireMember(c, user),
	}
	switch {
	case user == s.opts.Bot.ID:
		s.update("my_chat_member", content)
	case c.isAdmin(s.opts.Bot.ID):
		s.update("chat_member", content)
	}
	s.Touch()
}

// groupOf returns a group that the person is in, and with want may change.
func (p *Person) groupOf(group int64, want func(Rights) bool) (*chat, error) {
	c := p.s.mustChat(group)
	switch {
	case c.kind == Private:
		return nil, errors.New("a private chat has no members")
	case !c.isIn(p.ID):
		return nil, fmt.Errorf("%s isn't in chat %d", p.Name(), group)
	case want != nil && !want(c.rights(p.ID)):
		return nil, fmt.Errorf("%s hasn't the right to do that in chat %d", p.Name(), group)
	}
	return c, nil
}

func (p *Person) inGroup(group int64, want func(Rights) bool, do func(*chat)) error {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	c, err := p.groupOf(group, want)
	if err == nil {
		do(c)
	}
	return err
}

func promote(r Rights) bool  { return r.PromoteMembers }
func restrict(r Rights) bool { return r.RestrictMembers }

// Join makes the person a member.
func (p *Person) Join(group int64) {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	c := p.s.mustChat(group)
	p.s.change(c, p, p.ID, func() { c.members[p.ID] = &member{user: p.ID, status: ordinary} })
	p.s.tell(c, p.s.service(c, p.ID, 0, "new_chat_members", []User{p.User}), "message")
}

// Leave takes the person out of a group.
func (p *Person) Leave(group int64) error {
	return p.inGroup(group, nil, func(c *chat) {
		p.s.change(c, p, p.ID, func() { c.members[p.ID] = &member{user: p.ID, status: left} })
		p.s.tell(c, p.s.service(c, p.ID, 0, "left_chat_member", p.User), "message")
	})
}

// AddBot brings the bot into a group; with rights as an administrator.
func (p *Person) AddBot(group int64, rights *Rights) error {
	return p.inGroup(group, nil, func(c *chat) {
		bot := p.s.opts.Bot
		p.s.change(c, p, bot.ID, func() { c.setBot(bot.ID, rights) })
		p.s.tell(c, p.s.service(c, p.ID, 0, "new_chat_members", []User{bot}), "message")
	})
}

// SetBotRights makes the bot an administrator with these rights, or with nil an
// ordinary member.
func (p *Person) SetBotRights(group int64, rights *Rights) error {
	return p.inGroup(group, promote, func(c *chat) {
		p.s.change(c, p, p.s.opts.Bot.ID, func() { c.setBot(p.s.opts.Bot.ID, rights) })
	})
}

// MuteBot lets the bot stay, but not write.
func (p *Person) MuteBot(group int64) error {
	return p.inGroup(group, restrict, func(c *chat) {
		p.s.change(c, p, p.s.opts.Bot.ID, func() {
			c.members[p.s.opts.Bot.ID] = &member{user: p.s.opts.Bot.ID, status: restricted}
		})
	})
}

// KickBot throws the bot out.
func (p *Person) KickBot(group int64) error {
	return p.inGroup(group, restrict, func(c *chat) {
		p.s.change(c, p, p.s.opts.Bot.ID, func() {
			c.members[p.s.opts.Bot.ID] = &member{user: p.s.opts.Bot.ID, status: kicked}
		})
	})
}

// Promote gives somebody rights.
func (p *Person) Promote(group int64, somebody *Person, rights Rights) error {
	return p.inGroup(group, promote, func(c *chat) {
		p.s.change(c, p, somebody.ID, func() {
			c.members[somebody.ID] = &member{user: somebody.ID, status: administrator, rights: rights}
		})
	})
}

// Migrate makes a supergroup of a group, with a new number; as a forum if wanted.
// The old number refuses everything from then on and names the new one. It returns
// the new number.
func (p *Person) Migrate(group int64, forum bool) (int64, error) {
	s := p.s
	var id int64
	err := p.inGroup(group, promote, func(old *chat) {
		id = -1_000_000_000_000 + old.id
		c := newChat(id, Supergroup)
		c.title, c.forum, c.members = old.title, forum, maps.Clone(old.members)
		s.chats[id] = c
		s.tell(old, s.service(old, p.ID, 0, "migrate_to_chat_id", id), "message")
		old.migratedTo = id
		s.tell(c, s.service(c, p.ID, 0, "migrate_from_chat_id", old.id), "message")
	})
	return id, err
}

// BlockBot blocks the bot in the person's private chat.
func (p *Person) BlockBot() { p.setBlocked(true) }

// UnblockBot takes that back.
func (p *Person) UnblockBot() { p.setBlocked(false) }

func (p *Person) setBlocked(blocked bool) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.chats[p.ID]
	status := func(blocked bool) wireMember {
		w := wireMember{Status: ordinary, User: s.opts.Bot}
		if blocked {
			never := int64(0)
			w.Status, w.UntilDate = kicked, &never
		}
		return w
	}
	s.update("my_chat_member", map[string]any{
		"chat": s.wireChat(c), "from": p.User, "date": now().Unix(),
		"old_chat_member": status(c.blocked), "new_chat_member": status(blocked),
	})
	c.blocked = blocked
	s.Touch()
}

// DeleteAccount makes the person vanish from Telegram.
func (p *Person) DeleteAccount() {
	p.s.mu.Lock()
	defer p.s.mu.Unlock()
	p.s.chats[p.ID].gone = true
}

// Chats returns the numbers of all chats, groups first, in the order they were
// made.
func (s *Server) Chats() []int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ids := slices.Collect(maps.Keys(s.chats))
	slices.SortFunc(ids, func(a, b int64) int {
		if (a < 0) != (b < 0) {
			return cmp.Compare(a, b)
		}
		return cmp.Compare(max(a, -a), max(b, -b))
	})
	return ids
}

func sortedKeys(m map[int64]*member) []int64 { return slices.Sorted(maps.Keys(m)) }
