package telegramtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Person is somebody with a phone. What a person does reaches the bot as the
// updates that Telegram would send. Methods return an error when the person's
// phone wouldn't let them.
type Person struct {
	User
	s *Server
}

// AddUser adds somebody to Telegram. An ID of 0 is chosen.
func (s *Server) AddUser(u User) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u.ID == 0 {
		s.lastUserID++
		u.ID = s.lastUserID
	}
	s.users[u.ID] = u
	c := newChat(u.ID, Private)
	c.user, c.forum = u.ID, s.opts.PrivateTopics
	s.chats[u.ID] = c
	s.Touch()
	return &Person{u, s}
}

// Private returns the person's own chat with the bot.
func (p *Person) Private() Place { return Place{Chat: p.ID} }

// Upload is a file that a person sends.
type Upload struct {
	Kind     FileKind // Document unless said otherwise
	Name     string   // anything, "../" too: it comes from a stranger
	MIME     string
	Content  []byte
	Size     int64         // if it's to be more than Content has
	Duration time.Duration // of a voice note
}

// Post is what a person sends.
type Post struct {
	Text     string   // or the caption of File
	Entities []Entity // formatting; commands, mentions and links are found
	ReplyTo  int
	Quote    string // the part of ReplyTo that's answered
	File     *Upload
	Album    string // files sent together have the same
}

// Say sends a text and returns its message's id.
func (p *Person) Say(at Place, text string) (int, error) { return p.Send(at, Post{Text: text}) }

// Reply answers a message.
func (p *Person) Reply(at Place, message int, text string) (int, error) {
	return p.Send(at, Post{Text: text, ReplyTo: message})
}

// SendFile sends a file.
func (p *Person) SendFile(at Place, name string, content []byte, caption string) (int, error) {
	return p.Send(at, Post{Text: caption, File: &Upload{Name: name, Content: content}})
}

// SendPhoto sends a photo.
func (p *Person) SendPhoto(at Place, content []byte, caption string) (int, error) {
	return p.Send(at, Post{Text: caption, File: &Upload{Kind: Photo, Content: content}})
}

// SendVoice sends a voice note.
func (p *Person) SendVoice(at Place, content []byte, length time.Duration) (int, error) {
	return p.Send(at, Post{File: &Upload{Kind: Voice, MIME: "audio/ogg", Content: content, Duration: length}})
}

// Send sends anything. In a private chat that opens it to the bot.
func (p *Person) Send(at Place, post Post) (int, error) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := p.writable(at)
	if err != nil {
		return 0, err
	}
	m := &Message{
		Place: Place{Thread: at.Thread}, From: p.User, ReplyTo: post.ReplyTo, Quote: post.Quote, album: post.Album,
		File: s.uploaded(post.File),
	}
	m.Text, m.Entities = p.written(post.Text, post.Entities)
	if m.Text == "" && m.File == nil {
		return 0, errors.New("send: there's nothing to send")
	}
	m.root = c.rootOf(m)
	if c.kind == Private {
		c.opened = true
	}
	s.put(c, m)
	s.tell(c, m, "message")
	return m.ID, nil
}

// written does to a person's text what the phone and Telegram do.
func (p *Person) written(text string, list []Entity) (string, []Entity) {
	text, list = cleanText(text, list)
	text, list = trimText(text, list)
	list = append(list, findEntities(text, list)...)
	sortEntities(list)
	return text, list
}

// rootOf: outside topics, an answer in a supergroup belongs to a thread named
// after the message that the answers began with, which isn't a topic.
func (c *chat) rootOf(m *Message) int {
	answered := c.byID[m.ReplyTo]
	if c.kind != Supergroup || m.Thread != 0 || answered == nil {
		return 0
	}
	if answered.root != 0 {
		return answered.root
	}
	return answered.ID
}

func (s *Server) uploaded(u *Upload) *File {
	if u == nil {
		return nil
	}
	f := File{Kind: u.Kind, Name: u.Name, MIME: u.MIME, Content: u.Content, Size: u.Size, Duration: u.Duration}
	if f.Kind == "" {
		f.Kind = Document
	}
	if f.MIME == "" {
		f.MIME = mimeOf(f.Name)
	}
	if f.Kind == Photo {
		f.Name = "photo.jpg" // for the ending of its path; a photo has no name
		if r := f.measure(); r != nil {
			f.Width, f.Height = 800, 600 // the stand-in doesn't insist on real photos from people
		}
	}
	kept := s.addFile(f)
	if kept.Kind == Photo {
		kept.Name = ""
	}
	return kept
}

// writable returns the chat if the person may write at a place.
func (p *Person) writable(at Place) (*chat, error) {
	c := p.s.chats[at.Chat]
	switch {
	case c == nil:
		return nil, fmt.Errorf("write: there's no chat %d", at.Chat)
	case c.kind == Private && at.Chat != p.ID:
		return nil, errors.New("write: the chat is somebody else's")
	case !c.isIn(p.ID) || c.kind != Private && c.status(p.ID) == restricted:
		return nil, fmt.Errorf("write: %s isn't in the chat, or may not write there", p.Name())
	case c.migratedTo != 0:
		return nil, fmt.Errorf("write: the chat has become %d", c.migratedTo)
	case at.Thread == 0:
		return c, nil
	}
	t := c.topic(at.Thread)
	if t == nil {
		return nil, fmt.Errorf("write: there's no topic %d", at.Thread)
	}
	if t.closed && !c.rights(p.ID).ManageTopics {
		return nil, fmt.Errorf("write: topic %q is closed", t.name)
	}
	return c, nil
}

// Edit changes one of the person's own texts, or the caption of a file.
func (p *Person) Edit(chat int64, message int, text string) error {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(chat)
	m := c.byID[message]
	if m == nil || !m.There() || m.From.ID != p.ID {
		return fmt.Errorf("edit: message %d isn't %s's", message, p.Name())
	}
	text, list := p.written(text, nil)
	s.replace(m, formatted{text, list}, nil)
	s.tell(c, m, "edited_message")
	return nil
}

// Delete deletes a message of the person's, or as an administrator any. The bot
// isn't told: Telegram doesn't.
func (p *Person) Delete(chat int64, message int) error {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(chat)
	m := c.byID[message]
	if m == nil || !m.There() || m.From.ID != p.ID && !c.rights(p.ID).DeleteMessages {
		return fmt.Errorf("delete: %s can't delete message %d", p.Name(), message)
	}
	s.drop(c, m)
	return nil
}

// seen returns a message that the person can see; nil: it isn't there for them.
func (p *Person) seen(id int64, message int) (*chat, *Message) {
	c := p.s.mustChat(id)
	m := c.byID[message]
	if m == nil || !m.There() || !c.isIn(p.ID) {
		return c, nil
	}
	return c, m
}

// Press presses the button with that text (or that data) below a message, and
// returns the id of the press, for Server.Press.
func (p *Person) Press(chat int64, message int, button string) (string, error) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := p.seen(chat, message)
	if m == nil {
		return "", fmt.Errorf("press: %s sees no message %d", p.Name(), message)
	}
	for _, b := range slices.Concat(m.Buttons...) {
		if b.Text == button || b.Data != "" && b.Data == button {
			if b.Data == "" {
				return "", fmt.Errorf("press: button %q sends nothing", button)
			}
			return s.press(c, m, p.ID, b.Data), nil
		}
	}
	return "", fmt.Errorf("press: message %d has no button %q", message, button)
}

// Forge presses a button that isn't there, as a hostile program can: with any
// data, below any message of the chat.
func (p *Person) Forge(chat int64, message int, data string) (string, error) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(chat)
	m := c.byID[message]
	if m == nil {
		return "", fmt.Errorf("forge: there's no message %d", message)
	}
	return s.press(c, m, p.ID, data), nil
}

// React sets the person's reaction to a message; an empty emoji takes it back.
func (p *Person) React(chat int64, message int, emoji string) error {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c, m := p.seen(chat, message)
	if m == nil {
		return fmt.Errorf("react: %s sees no message %d", p.Name(), message)
	}
	list := []wireReaction{}
	if emoji != "" {
		list = append(list, wireReaction{"emoji", emoji})
	}
	old := m.react(p.ID, list)
	// In groups only administrators hear of reactions
	// (core.telegram.org/bots/api#update, message_reaction).
	if c.kind == Private || c.isAdmin(s.opts.Bot.ID) {
		s.update("message_reaction", map[string]any{
			"chat": s.wireChat(c), "message_id": m.ID, "user": p.User, "date": now().Unix(),
			"old_reaction": old, "new_reaction": list,
		})
	}
	s.Touch()
	return nil
}

// tell sends the bot a message, if it's in the chat and its privacy mode lets it
// through.
func (s *Server) tell(c *chat, m *Message, kind string) {
	if c.kind == Private && c.blocked || !c.isIn(s.opts.Bot.ID) || !s.hears(c, m) {
		return
	}
	s.update(kind, s.wire(c, m, true))
}

// hears applies privacy mode: without it, or as an administrator, the bot hears
// everything; else commands that name it or nobody, answers to it, mentions of
// it, and service messages (core.telegram.org/bots/features#privacy-mode).
func (s *Server) hears(c *chat, m *Message) bool {
	if !s.opts.Privacy || c.kind == Private || c.isAdmin(s.opts.Bot.ID) || m.Service != "" {
		return true
	}
	if answered := c.byID[m.ReplyTo]; answered != nil && answered.From.ID == s.opts.Bot.ID {
		return true
	}
	for _, e := range m.Entities {
		text := unitSlice(m.Text, e.Offset, e.Length)
		name, named := "", false
		switch e.Type {
		case "mention":
			name, named = text[1:], true
		case "bot_command":
			_, name, named = strings.Cut(text, "@")
			named = named || e.Offset == 0 && name == ""
		}
		if named && (name == "" || strings.EqualFold(name, s.opts.Bot.Username)) {
			return true
		}
	}
	return false
}

// CreateTopic makes a topic and returns its number.
func (p *Person) CreateTopic(group int64, name string) (int, error) {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(group)
	if !c.forum || !c.isIn(p.ID) {
		return 0, fmt.Errorf("create a topic: chat %d isn't a forum that %s is in", group, p.Name())
	}
	t := s.newTopic(c, p.ID, name, topicColours[len(c.topics)%len(topicColours)], "")
	s.tell(c, c.byID[t.id], "message")
	return t.id, nil
}

// RenameTopic renames a topic.
func (p *Person) RenameTopic(at Place, name string) error {
	return p.withTopic(at, manageTopics, func(c *chat, t *topic) {
		t.name = name
		p.s.tell(c, p.s.service(c, p.ID, t.id, "forum_topic_edited", map[string]any{"name": name}), "message")
	})
}

// CloseTopic closes a topic.
func (p *Person) CloseTopic(at Place) error { return p.turnTopic(at, true) }

// ReopenTopic opens a closed topic.
func (p *Person) ReopenTopic(at Place) error { return p.turnTopic(at, false) }

// CloseGeneral closes a forum's General topic: who may not manage topics can't write there.
func (p *Person) CloseGeneral(group int64) error { return p.turnGeneral(group, true, false) }

// HideGeneral hides it, which closes it, too (core.telegram.org/bots/api#hidegeneralforumtopic).
func (p *Person) HideGeneral(group int64) error { return p.turnGeneral(group, true, true) }

// ReopenGeneral opens it, which shows it again, too
// (core.telegram.org/bots/api#reopengeneralforumtopic).
func (p *Person) ReopenGeneral(group int64) error { return p.turnGeneral(group, false, false) }

func (p *Person) turnGeneral(group int64, closed, hidden bool) error {
	return p.inGroup(group, manageTopics, func(c *chat) {
		say := func(kind string) { p.s.tell(c, p.s.service(c, p.ID, 0, kind, map[string]any{}), "message") }
		switch {
		case closed && !c.closed:
			say("forum_topic_closed")
		case !closed && c.closed:
			say("forum_topic_reopened")
		}
		switch {
		case hidden && !c.hidden:
			say("general_forum_topic_hidden")
		case !hidden && c.hidden:
			say("general_forum_topic_unhidden")
		}
		c.closed, c.hidden = closed, hidden
	})
}

func (p *Person) turnTopic(at Place, closed bool) error {
	return p.withTopic(at, manageTopics, func(c *chat, t *topic) {
		if t.closed != closed {
			p.s.tell(c, p.s.setClosed(c, t, p.ID, closed), "message")
		}
	})
}

// DeleteTopic deletes a topic and everything in it. The bot isn't told: Telegram
// has no update for it.
func (p *Person) DeleteTopic(at Place) error {
	may := func(r Rights) bool { return r.DeleteMessages }
	return p.withTopic(at, may, func(c *chat, t *topic) { p.s.dropTopic(c, t) })
}

// withTopic: whoever made a topic may manage it.
func (p *Person) withTopic(at Place, may func(Rights) bool, do func(*chat, *topic)) error {
	s := p.s
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(at.Chat)
	t := c.topic(at.Thread)
	if t == nil {
		return fmt.Errorf("there's no topic %d in chat %d", at.Thread, at.Chat)
	}
	if c.kind != Private && !may(c.rights(p.ID)) && t.by != p.ID {
		return fmt.Errorf("%s may not change topic %q", p.Name(), t.name)
	}
	do(c, t)
	return nil
}
