package discordtest

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Person is somebody with a phone, in every guild, with a moderator's rights. What
// a person does reaches the bot as the events that Discord would send. Methods
// return an error when the person's phone wouldn't let them.
type Person struct {
	ID, Name string
	s        *Server
	dm       *channel
}

// Person returns the person of that name, and makes it if need be.
func (s *Server) Person(name string) *Person {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.people {
		if p.Name == name {
			return p
		}
	}
	p := &Person{ID: s.clock.next(), Name: name, s: s}
	s.users[p.ID] = User{ID: p.ID, Name: name}
	s.people = append(s.people, p)
	p.dm = &channel{id: s.clock.next(), s: s, kind: KindDM, person: p.ID, at: now()}
	s.addChannel(p.dm)
	s.Touch()
	return p
}

// DM returns the person's own channel with the bot.
func (p *Person) DM() *Channel { return p.dm.handle() }

// Block refuses all that the bot sends to the person's DM.
func (p *Person) Block() {
	defer p.s.lock()()
	p.dm.blocked = true
}

// Upload is a file that a person sends.
type Upload struct {
	Name    string // anything: it comes from a stranger
	Content []byte
}

// Post is what a person sends.
type Post struct {
	Text    string
	ReplyTo string
	Files   []Upload
}

// Say sends a text and returns its message's id.
func (p *Person) Say(channel, text string) (string, error) {
	return p.Send(channel, Post{Text: text})
}

// Reply answers a message.
func (p *Person) Reply(channel, message, text string) (string, error) {
	return p.Send(channel, Post{Text: text, ReplyTo: message})
}

// Attach sends a file with a text, which may be empty.
func (p *Person) Attach(channel, text string, file Upload) (string, error) {
	return p.Send(channel, Post{Text: text, Files: []Upload{file}})
}

// lock begins what somebody does.
func (s *Server) lock() (unlock func()) {
	s.mu.Lock()
	s.sweep()
	return s.mu.Unlock
}

// Send sends anything. It reopens an archived thread.
func (p *Person) Send(channel string, post Post) (string, error) {
	s := p.s
	defer s.lock()()
	in, err := p.writable(channel)
	if err != nil {
		return "", err
	}
	text, r := readContent(post.Text)
	if r != nil {
		return "", fmt.Errorf("send: %s", r)
	}
	m := &Message{Author: s.users[p.ID], Content: text}
	for _, up := range post.Files {
		m.Files = append(m.Files, s.addFile(in, up.Name, up.Content))
	}
	if m.isEmpty() {
		return "", errors.New("send: there's nothing to send")
	}
	if answered := s.messages[post.ReplyTo]; answered != nil {
		m.Kind, m.ReplyTo = kindReply, answered.ID
	}
	if in.archived {
		s.archive(in, false)
	}
	m.ID = s.clock.next()
	return s.post(in, m).ID, nil
}

// writable returns a channel that the person may write to.
func (p *Person) writable(channel string) (*channel, error) {
	in, err := p.visible(channel)
	switch {
	case err != nil:
		return nil, err
	case in.kind == KindForum:
		return nil, fmt.Errorf("write: %q is a forum, which has posts", in.name)
	case in.locked && in.archived:
		return nil, fmt.Errorf("write: thread %q is locked", in.name)
	}
	return in, nil
}

// visible returns a channel that the person sees.
func (p *Person) visible(id string) (*channel, error) {
	in := p.s.channels[id]
	if in == nil || !in.there() || in.guild == nil && in.person != p.ID {
		return nil, fmt.Errorf("%s sees no channel %s", p.Name, id)
	}
	return in, nil
}

// message returns a message that the person sees.
func (p *Person) message(id string) (*channel, *Message, error) {
	m := p.s.messages[id]
	if m == nil || !m.There() || m.OnlyFor != "" && m.OnlyFor != p.ID {
		return nil, nil, fmt.Errorf("%s sees no message %s", p.Name, id)
	}
	in, err := p.visible(m.Channel)
	return in, m, err
}

// Edit changes one of the person's own messages.
func (p *Person) Edit(message, text string) error {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err != nil {
		return err
	}
	if m.Author.ID != p.ID {
		return fmt.Errorf("edit: message %s isn't %s's", message, p.Name)
	}
	changed := *m
	changed.Content = strings.TrimSpace(text)
	p.s.replace(in, m, &changed)
	return nil
}

// Delete deletes a message, anybody's.
func (p *Person) Delete(message string) error {
	defer p.s.lock()()
	_, m, err := p.message(message)
	if err == nil {
		p.s.drop(m)
	}
	return err
}

// React puts an emoji below a message.
func (p *Person) React(message, emoji string) error {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err == nil {
		p.s.addReaction(in, m, Reaction{p.ID, emoji})
	}
	return err
}

// Unreact takes it away again.
func (p *Person) Unreact(message, emoji string) error {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err == nil && !slices.Contains(m.Reactions, Reaction{p.ID, emoji}) {
		return fmt.Errorf("unreact: %s hasn't reacted so", p.Name)
	}
	if err == nil {
		p.s.removeReaction(in, m, Reaction{p.ID, emoji})
	}
	return err
}
