package telegramtest

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is a chat's type, as the Bot API writes it.
type Kind string

// The kinds of chats that a bot meets here. Channels aren't simulated.
const (
	Private    Kind = "private"
	Group      Kind = "group"
	Supergroup Kind = "supergroup"
)

// Place is a chat, or a topic in it. Thread 0 is the chat itself; in a forum
// that's the General topic.
type Place struct {
	Chat   int64
	Thread int
}

// generalTopic is the number of a forum's General topic. Messages there carry no
// number, sending with it is refused, yet a chat action needs it
// (github.com/tdlib/telegram-bot-api/issues/798).
const generalTopic = 1

type chat struct {
	id       int64
	kind     Kind
	title    string
	username string
	user     int64 // of a private chat: the person
	forum    bool
	opened   bool // of a private chat: the person has written first
	blocked  bool // of a private chat: the person has blocked the bot
	gone     bool // of a private chat: the account is deleted

	// losesTopics: a message to a deleted topic lands in the main chat instead of
	// being refused, as private chats did for a while
	// (github.com/tdlib/telegram-bot-api/issues/854).
	losesTopics bool
	deafTopics  bool // see Server.SetDeafTopics
	hidesTopics bool // see Server.SetHidesTopics
	closed      bool // General is, see Person.CloseGeneral
	hidden      bool // General is, see Person.HideGeneral

	reactions  []string // that are allowed; nil: all
	migratedTo int64

	members  map[int64]*member
	topics   []*topic
	messages []*Message // in order, the deleted ones too
	byID     map[int]*Message
	lastID   int // in a supergroup; elsewhere ids are counted over all chats
	pinned   []int
	drafts   map[draftKey]Draft
	actions  map[int]Action // by thread
}

// newChat makes a chat. The first message of a supergroup says that it was made.
func newChat(id int64, kind Kind) *chat {
	return &chat{
		id: id, kind: kind, lastID: 1, members: map[int64]*member{}, byID: map[int]*Message{},
		drafts: map[draftKey]Draft{}, actions: map[int]Action{},
	}
}

// wireChat is a chat inside a message (core.telegram.org/bots/api#chat).
type wireChat struct {
	ID        int64  `json:"id"`
	Type      Kind   `json:"type"`
	Title     string `json:"title,omitempty"`
	Username  string `json:"username,omitempty"`
	FirstName string `json:"first_name,omitempty"`
	LastName  string `json:"last_name,omitempty"`
	IsForum   bool   `json:"is_forum,omitempty"`
}

func (s *Server) wireChat(c *chat) wireChat {
	w := wireChat{ID: c.id, Type: c.kind, Title: c.title, Username: c.username, IsForum: c.forum && c.kind == Supergroup}
	if c.kind == Private {
		u := s.users[c.user]
		w.Username, w.FirstName, w.LastName = u.Username, u.FirstName, u.LastName
	}
	return w
}

// nextMessageID counts per supergroup, and elsewhere over all chats of the bot,
// as Telegram does: an id alone names no message.
func (s *Server) nextMessageID(c *chat) int {
	if c.kind == Supergroup {
		c.lastID++
		return c.lastID
	}
	s.lastMessageID++
	return s.lastMessageID
}

// findChat returns the chat a call names, whether the bot may use it or not.
func (s *Server) findChat(name string) (*chat, *refusal) {
	name = strings.TrimSpace(name)
	if name == "" {
		return nil, badRequest("chat_id is empty")
	}
	if username, ok := strings.CutPrefix(name, "@"); ok {
		for _, c := range s.chats {
			if c.kind == Supergroup && c.username != "" && strings.EqualFold(c.username, username) {
				return c, nil
			}
		}
		return nil, badRequest("chat not found")
	}
	id, err := strconv.ParseInt(name, 10, 64)
	if err != nil {
		return nil, badRequest("chat not found")
	}
	c := s.chats[id]
	if c == nil {
		return nil, badRequest("chat not found")
	}
	return c, nil
}

// access is what a call wants of its chat.
type access int

const (
	reads access = iota
	writes
)

// chatOf returns the chat of a call, if the bot is in it.
func (s *Server) chatOf(c *call, want access) (*chat, *refusal) {
	chat, r := s.findChat(c.text("chat_id"))
	if r != nil {
		return nil, r
	}
	if chat.kind == Private {
		return chat, chat.refusesPrivately(want)
	}
	return chat, chat.refusesBot(s.opts.Bot.ID, want)
}

func (c *chat) refusesPrivately(want access) *refusal {
	switch {
	case !c.opened:
		// A bot can't write first (core.telegram.org/bots/faq).
		return forbidden("bot can't initiate conversation with a user")
	case want == reads:
		return nil
	case c.gone:
		return forbidden("user is deactivated")
	case c.blocked:
		return forbidden("bot was blocked by the user")
	}
	return nil
}

func (c *chat) refusesBot(bot int64, want access) *refusal {
	if c.migratedTo != 0 {
		if want == reads {
			return nil
		}
		r := badRequest("group chat was upgraded to a supergroup chat")
		r.migrateTo = c.migratedTo
		return r
	}
	name := string(c.kind) + " chat"
	switch c.status(bot) {
	case kicked:
		return forbidden("bot was kicked from the " + name)
	case left:
		return forbidden("bot is not a member of the " + name)
	}
	return nil
}

// Action is a chat action somebody sees, such as "typing".
type Action struct {
	Name  string
	Until time.Time
}

// actionLasts: "The status is set for 5 seconds or less"
// (core.telegram.org/bots/api#sendchataction).
const actionLasts = 5 * time.Second

// User is somebody on Telegram, a person or a bot, as the Bot API writes it.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name,omitempty"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Name is what a chat shows above a message.
func (u User) Name() string {
	return strings.TrimSpace(u.FirstName + " " + u.LastName)
}

// me is what getMe answers; these fields come with no other call
// (core.telegram.org/bots/api#user).
type me struct {
	User
	CanJoinGroups           bool `json:"can_join_groups"`
	CanReadAllGroupMessages bool `json:"can_read_all_group_messages"`
	SupportsInlineQueries   bool `json:"supports_inline_queries"`
	HasTopicsEnabled        bool `json:"has_topics_enabled"`
	AllowsUsersTopics       bool `json:"allows_users_to_create_topics"`
}

func (s *Server) getMe(*call) (any, *refusal) {
	return me{
		User: s.opts.Bot, CanJoinGroups: true, CanReadAllGroupMessages: !s.opts.Privacy,
		HasTopicsEnabled: s.opts.PrivateTopics, AllowsUsersTopics: s.opts.PrivateTopics,
	}, nil
}

// The states of a member (core.telegram.org/bots/api#chatmember).
const (
	creator       = "creator"
	administrator = "administrator"
	ordinary      = "member"
	restricted    = "restricted" // may read, but not write
	left          = "left"
	kicked        = "kicked"
)

// Rights are an administrator's.
type Rights struct {
	ManageTopics    bool `json:"can_manage_topics"`
	DeleteMessages  bool `json:"can_delete_messages"`
	PinMessages     bool `json:"can_pin_messages"`
	ChangeInfo      bool `json:"can_change_info"`
	InviteUsers     bool `json:"can_invite_users"`
	RestrictMembers bool `json:"can_restrict_members"`
	PromoteMembers  bool `json:"can_promote_members"`
}

// AllRights returns every right there is.
func AllRights() Rights {
	return Rights{true, true, true, true, true, true, true}
}

type member struct {
	user   int64
	status string
	rights Rights
}

// status returns a user's state in the chat.
func (c *chat) status(user int64) string {
	if m := c.members[user]; m != nil {
		return m.status
	}
	return left
}

// rights returns what a user may do; an owner may do everything.
func (c *chat) rights(user int64) Rights {
	if c.kind == Private {
		return Rights{PinMessages: true, DeleteMessages: true, ManageTopics: c.forum}
	}
	switch m := c.members[user]; {
	case m == nil:
		return Rights{}
	case m.status == creator:
		return AllRights()
	case m.status == administrator:
		return m.rights
	}
	return Rights{}
}

// isAdmin reports whether a user is more than an ordinary member.
func (c *chat) isAdmin(user int64) bool {
	status := c.status(user)
	return status == creator || status == administrator
}

// isIn reports whether a user is in the chat at all.
func (c *chat) isIn(user int64) bool {
	if c.kind == Private {
		return true
	}
	return slices.Contains([]string{creator, administrator, ordinary, restricted}, c.status(user))
}

// wireMember is a member in any of its states; fields that a state doesn't have
// are left out.
type wireMember struct {
	Status              string `json:"status"`
	User                User   `json:"user"`
	IsAnonymous         *bool  `json:"is_anonymous,omitempty"`
	CanBeEdited         *bool  `json:"can_be_edited,omitempty"`
	CanManageChat       *bool  `json:"can_manage_chat,omitempty"`
	CanManageVideoChats *bool  `json:"can_manage_video_chats,omitempty"`
	*Rights
	IsMember        *bool  `json:"is_member,omitempty"`
	CanSendMessages *bool  `json:"can_send_messages,omitempty"`
	UntilDate       *int64 `json:"until_date,omitempty"`
}

func (s *Server) wireMember(c *chat, user int64) wireMember {
	w := wireMember{Status: c.status(user), User: s.users[user]}
	yes, no, never := true, false, int64(0)
	switch w.Status {
	case creator:
		w.IsAnonymous = &no
	case administrator:
		rights := c.rights(user)
		w.Rights, w.IsAnonymous, w.CanBeEdited = &rights, &no, &no
		w.CanManageChat, w.CanManageVideoChats = &yes, &no
	case restricted:
		w.IsMember, w.CanSendMessages, w.UntilDate = &yes, &no, &never
	case kicked:
		w.UntilDate = &never
	}
	return w
}

func (s *Server) getChatMember(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, reads)
	if r != nil {
		return nil, r
	}
	id := c.number("user_id")
	if id <= 0 {
		return nil, badRequest("invalid user_id specified")
	}
	if _, ok := s.users[id]; !ok {
		return nil, badRequest("member not found")
	}
	if chat.kind == Private {
		return wireMember{Status: ordinary, User: s.users[id]}, nil
	}
	return s.wireMember(chat, id), nil
}

func (s *Server) getChatAdministrators(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, reads)
	if r != nil {
		return nil, r
	}
	if chat.kind == Private {
		return nil, badRequest("there are no administrators in the private chat")
	}
	admins := []wireMember{}
	for _, id := range sortedKeys(chat.members) {
		if chat.isAdmin(id) {
			admins = append(admins, s.wireMember(chat, id))
		}
	}
	return admins, nil
}

func (s *Server) leaveChat(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, writes)
	if r != nil {
		return nil, r
	}
	if chat.kind == Private {
		return nil, badRequest("chat member status can't be changed in private chats")
	}
	chat.members[s.opts.Bot.ID] = &member{user: s.opts.Bot.ID, status: left}
	s.Touch()
	return true, nil
}

// wireFullChat is what getChat answers
// (core.telegram.org/bots/api#chatfullinfo), as far as there's anything to say.
type wireFullChat struct {
	wireChat
	AccentColorID     int             `json:"accent_color_id"`
	MaxReactionCount  int             `json:"max_reaction_count"`
	AcceptedGiftTypes map[string]bool `json:"accepted_gift_types"`
	Permissions       map[string]bool `json:"permissions,omitempty"`
	PinnedMessage     *wireMessage    `json:"pinned_message,omitempty"`
}

func (s *Server) getChat(c *call) (any, *refusal) {
	chat, r := s.chatOf(c, reads)
	if r != nil {
		return nil, r
	}
	full := wireFullChat{wireChat: s.wireChat(chat), MaxReactionCount: 11, AcceptedGiftTypes: map[string]bool{}}
	if chat.kind != Private {
		full.Permissions = map[string]bool{"can_send_messages": true, "can_send_documents": true, "can_send_photos": true}
	}
	if n := len(chat.pinned); n > 0 {
		full.PinnedMessage = s.wire(chat, chat.byID[chat.pinned[n-1]], false)
	}
	return full, nil
}
