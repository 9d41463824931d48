package telegramtest

import (
	"slices"
	"time"
)

// maxTopicName: "1-128 characters" (core.telegram.org/bots/api#createforumtopic).
// Telegram cuts a longer name; the stand-in refuses it.
const maxTopicName = 128

// topicColours are the colours an icon may have (same page).
var topicColours = []int64{7322096, 16766590, 13338331, 9367192, 16749490, 16478047}

// topic is a topic of a forum, or of a private chat with topics. Its number is
// the id of the message that says it was created.
type topic struct {
	id      int
	name    string
	colour  int64
	icon    string
	by      int64
	closed  bool
	deleted bool
}

// Topic is a topic as a person sees it.
type Topic struct {
	Place
	Name      string
	Closed    bool
	CreatedBy int64
	Deleted   bool
}

// wireTopic is core.telegram.org/bots/api#forumtopic.
type wireTopic struct {
	MessageThreadID   int    `json:"message_thread_id"`
	Name              string `json:"name"`
	IconColor         int64  `json:"icon_color"`
	IconCustomEmojiID string `json:"icon_custom_emoji_id,omitempty"`
}

func (c *chat) topic(id int) *topic {
	for _, t := range c.topics {
		if t.id == id && !t.deleted {
			return t
		}
	}
	return nil
}

func (c *chat) hadTopic(id int) bool {
	return slices.ContainsFunc(c.topics, func(t *topic) bool { return t.id == id })
}

// newTopic makes a topic and the message that says so.
func (s *Server) newTopic(c *chat, by int64, name string, colour int64, icon string) *topic {
	t := &topic{name: name, colour: colour, icon: icon, by: by}
	created := map[string]any{"name": name, "icon_color": colour}
	if icon != "" {
		created["icon_custom_emoji_id"] = icon
	}
	m := s.service(c, by, 0, "forum_topic_created", created)
	t.id, m.Thread = m.ID, m.ID
	c.topics = append(c.topics, t)
	return t
}

// sendThread returns the topic that a message of the bot goes to; 0 is the chat
// itself.
func (s *Server) sendThread(c *chat, thread int) (int, *refusal) {
	manages := c.rights(s.opts.Bot.ID).ManageTopics
	if thread == 0 {
		if c.closed && !manages {
			return 0, badRequest("TOPIC_CLOSED")
		}
		return 0, nil
	}
	t := c.topic(thread)
	switch {
	case t == nil && c.losesTopics && c.hadTopic(thread):
		return 0, nil
	case t == nil, c.deafTopics:
		return 0, badRequest("message thread not found")
	case t.closed && !manages:
		return 0, badRequest("TOPIC_CLOSED")
	}
	return thread, nil
}

// topicChat returns the chat of a call about topics.
func (s *Server) topicChat(c *call) (*chat, *refusal) {
	chat, r := s.chatOf(c, writes)
	if r == nil && !chat.forum {
		r = badRequest("the chat is not a forum")
	}
	return chat, r
}

// topicOf returns the topic of a call. Whoever made a topic may manage it without
// the right to manage others (core.telegram.org/bots/api#editforumtopic).
func (s *Server) topicOf(c *call, may func(Rights) bool) (*chat, *topic, *refusal) {
	chat, r := s.topicChat(c)
	if r != nil {
		return nil, nil, r
	}
	id := int(c.number("message_thread_id"))
	if id <= 0 {
		return nil, nil, badRequest("invalid message thread identifier specified")
	}
	t := chat.topic(id)
	if t == nil {
		return nil, nil, badRequest("TOPIC_ID_INVALID")
	}
	if !may(chat.rights(s.opts.Bot.ID)) && t.by != s.opts.Bot.ID {
		return nil, nil, badRequest("not enough rights to manage topics in the chat")
	}
	return chat, t, nil
}

func manageTopics(r Rights) bool { return r.ManageTopics }

func checkTopicName(name string) *refusal {
	switch {
	case isBlank(name):
		return badRequest("TOPIC_TITLE_EMPTY")
	case len([]rune(name)) > maxTopicName:
		return badRequest("topic title is too long")
	}
	return nil
}

func (s *Server) createForumTopic(c *call) (any, *refusal) {
	chat, r := s.topicChat(c)
	if r != nil {
		return nil, r
	}
	if !chat.rights(s.opts.Bot.ID).ManageTopics {
		return nil, badRequest("not enough rights to create a topic")
	}
	if r := checkTopicName(c.text("name")); r != nil {
		return nil, r
	}
	colour := topicColours[0]
	if c.has("icon_color") {
		if colour = c.number("icon_color"); !slices.Contains(topicColours, colour) {
			return nil, badRequest("invalid icon color specified")
		}
	}
	t := s.newTopic(chat, s.opts.Bot.ID, c.text("name"), colour, c.text("icon_custom_emoji_id"))
	return wireTopic{t.id, t.name, t.colour, t.icon}, nil
}

func (s *Server) editForumTopic(c *call) (any, *refusal) {
	chat, t, r := s.topicOf(c, manageTopics)
	if r != nil {
		return nil, r
	}
	name := t.name
	if c.has("name") {
		name = c.text("name")
		if r := checkTopicName(name); r != nil {
			return nil, r
		}
	}
	icon := t.icon
	if _, given := c.values["icon_custom_emoji_id"]; given {
		icon = c.text("icon_custom_emoji_id")
	}
	if name == t.name && icon == t.icon {
		return nil, badRequest("TOPIC_NOT_MODIFIED")
	}
	t.name, t.icon = name, icon
	s.service(chat, s.opts.Bot.ID, t.id, "forum_topic_edited", map[string]any{"name": name})
	return true, nil
}

func (s *Server) closeForumTopic(c *call) (any, *refusal)  { return s.turnTopic(c, true) }
func (s *Server) reopenForumTopic(c *call) (any, *refusal) { return s.turnTopic(c, false) }

func (s *Server) turnTopic(c *call, closed bool) (any, *refusal) {
	chat, t, r := s.topicOf(c, manageTopics)
	if r != nil {
		return nil, r
	}
	if t.closed == closed {
		return nil, badRequest("TOPIC_NOT_MODIFIED")
	}
	s.setClosed(chat, t, s.opts.Bot.ID, closed)
	return true, nil
}

func (s *Server) setClosed(c *chat, t *topic, by int64, closed bool) *Message {
	t.closed = closed
	kind := "forum_topic_reopened"
	if closed {
		kind = "forum_topic_closed"
	}
	return s.service(c, by, t.id, kind, map[string]any{})
}

func (s *Server) deleteForumTopic(c *call) (any, *refusal) {
	chat, t, r := s.topicOf(c, func(r Rights) bool { return r.DeleteMessages })
	if r != nil {
		return nil, r
	}
	s.dropTopic(chat, t)
	return true, nil
}

// dropTopic deletes a topic with all its messages. Nobody is told: there's no
// update for it.
func (s *Server) dropTopic(c *chat, t *topic) {
	t.deleted = true
	for _, m := range c.messages {
		if m.Thread == t.id && m.DeletedAt.IsZero() {
			s.drop(c, m)
		}
	}
	s.Touch()
}

// Topics returns the topics of a chat that aren't deleted, oldest first. A
// forum's General topic, which always is, isn't among them.
func (s *Server) Topics(chat int64) []Topic {
	return slices.DeleteFunc(s.AllTopics(chat), func(t Topic) bool { return t.Deleted })
}

// AllTopics returns the deleted ones, too.
func (s *Server) AllTopics(chat int64) []Topic {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := []Topic{}
	for _, t := range s.mustChat(chat).topics {
		list = append(list, Topic{Place{chat, t.id}, t.name, t.closed, t.by, t.deleted})
	}
	return list
}

// now is the time of the bubble, if there's one.
func now() time.Time { return time.Now() }
