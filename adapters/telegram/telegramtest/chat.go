package telegramtest

import (
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
