package telegramtest

import "fmt"

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
