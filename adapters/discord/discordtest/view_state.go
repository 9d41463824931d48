package discordtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/chatview"
)

const (
	// shownMessages is how many messages of a channel the page shows.
	shownMessages = 300
	// followsWithin is how soon behind another a message is shown without its sender.
	followsWithin = 7 * time.Minute
)

// State implements chatview.World.
func (v view) State(person string, at chatview.Place) chatview.State {
	s := v.s
	defer s.lock()()
	st := chatview.State{
		Look: "discord", Bot: viewUser(s.bot), Chats: []chatview.Chat{}, Messages: []chatview.Message{}, Presses: []chatview.Press{}, Commands: []chatview.Command{},
	}
	for _, p := range s.people {
		st.People = append(st.People, viewUser(s.users[p.ID]))
	}
	for _, g := range s.guilds {
		for _, c := range g.channels {
			if c.parent == nil && c.there() {
				st.Chats = append(st.Chats, s.viewChannel(c))
			}
		}
	}
	for _, p := range s.people {
		if p.ID == person {
			st.Chats = append(st.Chats, s.viewChannel(p.dm))
		}
	}
	if c := s.channels[channelIn(at)]; c != nil && c.there() && (c.guild != nil || c.person == person) {
		st.Open = s.viewOpen(c, at)
		st.Messages, st.Presses = s.viewMessages(c, person), s.viewPresses(person)
		for _, place := range []string{c.guildID(), ""} {
			for _, command := range s.commands[place] {
				st.Commands = append(st.Commands, chatview.Command{Name: command.Name, Help: command.Description})
			}
			if c.guild == nil {
				break
			}
		}
	}
	return st
}

func viewUser(u User) chatview.Person { return chatview.Person{ID: u.ID, Name: u.Name, Bot: u.Bot} }

func (s *Server) viewChannel(c *channel) chatview.Chat {
	vc := chatview.Chat{ID: c.id, Title: c.name, Threads: c.guild != nil, Named: "thread"}
	first := chatview.Topic{Thread: chatview.NoThread, Name: c.name, Locked: c.kind == KindForum}
	switch {
	case c.guild == nil:
		vc.Title, first.Name = s.bot.Name, s.bot.Name // that's how its owner sees it
		if c.blocked {
			vc.Gone = "the bot is blocked"
		}
	case c.guild.gone:
		vc.Title, vc.Gone = c.guild.Name, "the bot isn't a member"
	default:
		vc.Title, vc.Group = c.guild.Name, c.guild.ID
		if c.kind == KindForum {
			vc.Named = "post"
		}
	}
	s.fillTopic(c, &first)
	vc.Topics = []chatview.Topic{first}
	if c.guild == nil {
		return vc
	}
	for _, t := range c.guild.channels {
		if t.parent == c && t.there() {
			topic := chatview.Topic{Thread: t.id, Name: t.name, Closed: t.archived, Locked: t.archived && t.locked}
			s.fillTopic(t, &topic)
			vc.Topics = append(vc.Topics, topic)
		}
	}
	return vc
}

func (s *Server) fillTopic(c *channel, t *chatview.Topic) {
	for _, ring := range s.rings {
		if ring.Channel == c.id {
			t.Rings++
		}
	}
	if now().Before(c.busy) {
		t.Doing = "typing"
	}
	for _, m := range slices.Backward(c.messages) {
		if m.There() && m.OnlyFor == "" {
			t.Last, t.LastAt = s.summary(m), m.At.UnixMilli()
			return
		}
	}
}

// summary is a message in one line.
func (s *Server) summary(m *Message) string {
	text := cut(s.text(m.Content).Text, 120)
	switch {
	case s.told(m) != "":
		return s.told(m)
	case text == "" && len(m.Files) > 0:
		return m.Files[0].Name
	}
	return text
}

// cut shortens a text without splitting a character.
func cut(text string, runes int) string {
	if list := []rune(text); len(list) > runes {
		return string(list[:runes]) + "…"
	}
	return text
}

// text reads a message's Markdown.
func (s *Server) text(markdown string) chatview.Text {
	return viewText(markdown, func(mention string) string {
		if u, known := s.users[mention[1:]]; known && mention[0] == '@' {
			return u.Name
		}
		if c := s.channels[mention[1:]]; c != nil && mention[0] == '#' {
			return c.name
		}
		return ""
	})
}

// told puts Discord's own messages in words; "" for others.
func (s *Server) told(m *Message) string {
	name := m.Author.Name
	switch m.Kind {
	case kindRenamed:
		return fmt.Sprintf("%s changed the name to “%s”", name, m.Content)
	case kindPinned:
		return name + " pinned a message to this channel"
	case kindThreadCreated:
		return fmt.Sprintf("%s started a thread: “%s”", name, m.Content)
	case kindStarter:
		if first := s.messages[m.ReplyTo]; first != nil && first.There() {
			return "The thread of: " + cut(s.text(first.Content).Text, 120)
		}
		return "The thread's first message was deleted"
	}
	return ""
}

func (s *Server) viewOpen(c *channel, at chatview.Place) *chatview.Open {
	o := &chatview.Open{Place: at, Drafts: []chatview.Text{}}
	if now().Before(c.busy) {
		o.Doing = "typing"
	}
	w := s.guard.limits.Routes["CreateMessage"]
	for _, name := range []string{"CreateMessage", "EditMessage"} {
		k := bucketKey{name, c.id}
		o.Windows = append(o.Windows, chatview.Window{Calls: w.Calls, Seconds: w.Per.Seconds(), Used: s.guard.logs[k].within(w.Per, now())})
		if b := s.guard.buckets[k]; b != nil && now().Before(b.blocked) {
			o.PenaltyUntil = max(o.PenaltyUntil, b.blocked.UnixMilli())
		}
	}
	if now().Before(s.guard.silence) {
		o.PenaltyUntil = max(o.PenaltyUntil, s.guard.silence.UnixMilli())
	}
	return o
}

// viewPresses are a person's presses and choices that were answered, or still may be, or
// that nobody has answered in time.
func (s *Server) viewPresses(person string) []chatview.Press {
	list := []chatview.Press{}
	for _, i := range s.asked {
		if i.Person != person || i.kind == askAutocomplete || now().Sub(i.At) > tokenLives {
			continue
		}
		p := chatview.Press{ID: i.ID, Message: i.Message, Data: i.Name, Done: !i.Answered.IsZero()}
		if i.Failed(now()) {
			p.Done, p.Text = true, "The application didn't respond"
		}
		list = append(list, p)
	}
	return list
}
