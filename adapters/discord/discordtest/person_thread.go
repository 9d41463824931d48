package discordtest

import "fmt"

// CreateThread begins a thread in a text channel and returns its id.
func (p *Person) CreateThread(channel, name string) (string, error) {
	defer p.s.lock()()
	in, err := p.visible(channel)
	if err != nil {
		return "", err
	}
	if in.kind != KindText {
		return "", fmt.Errorf("begin a thread: %q is no text channel", in.name)
	}
	t := p.s.addThread(in, p.s.clock.next(), threadForm{Name: name}, p.ID)
	p.s.announce(t)
	return t.id, nil
}

// CreatePost begins a post in a forum and returns its id, which its first message
// has too.
func (p *Person) CreatePost(forum, name, text string) (string, error) {
	defer p.s.lock()()
	in, err := p.visible(forum)
	if err != nil {
		return "", err
	}
	if in.kind != KindForum {
		return "", fmt.Errorf("begin a post: %q is no forum", in.name)
	}
	t := p.s.addThread(in, p.s.clock.next(), threadForm{Name: name}, p.ID)
	p.s.post(t, &Message{ID: t.id, Author: p.s.users[p.ID], Content: text})
	return t.id, nil
}

// Archive closes a thread, until somebody writes there.
func (p *Person) Archive(thread string) error { return p.set(thread, channelForm{Archived: new(true)}) }

// Unarchive opens it again.
func (p *Person) Unarchive(thread string) error {
	return p.set(thread, channelForm{Archived: new(false)})
}

// Lock leaves writing in a thread, and opening it again, to those who manage
// threads.
func (p *Person) Lock(thread string) error { return p.set(thread, channelForm{Locked: new(true)}) }

// Unlock lets everybody write again.
func (p *Person) Unlock(thread string) error { return p.set(thread, channelForm{Locked: new(false)}) }

func (p *Person) set(thread string, form channelForm) error {
	defer p.s.lock()()
	t, err := p.visible(thread)
	if err != nil {
		return err
	}
	if t.parent == nil {
		return fmt.Errorf("%q is no thread", t.name)
	}
	p.s.change(t, form, p.s.users[p.ID])
	return nil
}

// Rename gives a channel or thread another name.
func (p *Person) Rename(channel, name string) error {
	defer p.s.lock()()
	in, err := p.visible(channel)
	if err != nil {
		return err
	}
	if r := checkName(name); r != nil || in.guild == nil {
		return fmt.Errorf("rename: %q can't be the name of %q", name, in.name)
	}
	p.s.change(in, channelForm{Name: &name}, p.s.users[p.ID])
	return nil
}

// DeleteChannel deletes a channel, with its threads, or one thread.
func (p *Person) DeleteChannel(channel string) error {
	defer p.s.lock()()
	in, err := p.visible(channel)
	if err != nil {
		return err
	}
	if in.guild == nil {
		return fmt.Errorf("delete: a DM stays")
	}
	p.s.dropChannel(in)
	return nil
}
