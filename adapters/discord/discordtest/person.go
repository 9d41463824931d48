package discordtest

import (
	"errors"
	"fmt"
	"maps"
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

// Command sends a slash command that the bot has registered, and returns the
// interaction's id. Options are by name: a string, an int or float64, a bool, the
// id of a user or channel, an Upload, or for a subcommand the map of its own.
func (p *Person) Command(channel, name string, options map[string]any) (string, error) {
	defer p.s.lock()()
	return p.command(channel, name, options, "", nil)
}

// Complete is what the phone sends while the person types an option: partial is
// what stands there, filled the options that were filled in before.
func (p *Person) Complete(channel, name, option, partial string, filled map[string]any) (string, error) {
	defer p.s.lock()()
	all := maps.Clone(filled)
	if all == nil {
		all = map[string]any{}
	}
	all[option] = partial
	return p.command(channel, name, all, option, func(o CommandOption) bool { return o.Autocomplete })
}

func (p *Person) command(channel, name string, options map[string]any, focused string, fits func(CommandOption) bool) (string, error) {
	s := p.s
	in, err := p.visible(channel)
	if err != nil {
		return "", err
	}
	command := s.command(in.guildID(), name)
	place := in.guildID()
	if command == nil {
		command, place = s.command("", name), ""
	}
	switch {
	case command == nil:
		return "", fmt.Errorf("there's no command /%s here", name)
	case in.kind == KindForum:
		return "", fmt.Errorf("%q is a forum, where nobody can write", in.name)
	case in.locked && in.archived:
		return "", fmt.Errorf("thread %q is locked", in.name)
	}
	resolved := map[string]any{}
	filled, err := s.fillOptions(in, command.Options, options, focused, resolved)
	if err != nil {
		return "", fmt.Errorf("/%s: %w", name, err)
	}
	if fits != nil && !slices.ContainsFunc(command.Options, func(o CommandOption) bool { return o.Name == focused && fits(o) }) {
		return "", fmt.Errorf("/%s: option %s isn't completed", name, focused)
	}
	data := map[string]any{"id": command.ID, "name": name, "type": 1, "options": filled}
	if place != "" {
		data["guild_id"] = place
	}
	if len(resolved) > 0 {
		data["resolved"] = map[string]any{"attachments": resolved}
	}
	kind := askCommand
	if focused != "" {
		kind = askAutocomplete
	}
	return s.ask(p, in, &Interaction{kind: kind, Name: name}, nil, data), nil
}

// fillOptions writes the options that were given, in the command's order.
func (s *Server) fillOptions(in *channel, known []CommandOption, given map[string]any, focused string, resolved map[string]any) ([]map[string]any, error) {
	list := []map[string]any{}
	left := maps.Clone(given)
	for _, o := range known {
		value, ok := left[o.Name]
		delete(left, o.Name)
		if !ok {
			if o.Required && focused == "" {
				return nil, fmt.Errorf("option %s is required", o.Name)
			}
			continue
		}
		w := map[string]any{"name": o.Name, "type": o.Type}
		if o.Name == focused {
			w["value"], w["focused"] = value, true
		} else if err := s.fillOption(in, o, value, w, resolved); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	for name := range left {
		return nil, fmt.Errorf("there's no option %s", name)
	}
	return list, nil
}

func (s *Server) fillOption(in *channel, o CommandOption, value any, w, resolved map[string]any) error {
	switch v := value.(type) {
	case map[string]any:
		below, err := s.fillOptions(in, o.Options, v, "", resolved)
		w["options"] = below
		if o.Type != OptionCommand {
			return fmt.Errorf("option %s is no subcommand", o.Name)
		}
		return err
	case Upload:
		f := s.addFile(in, v.Name, v.Content)
		w["value"], resolved[f.ID] = f.ID, s.wireFile(f)
		if o.Type != OptionFile {
			return fmt.Errorf("option %s takes no file", o.Name)
		}
		return nil
	}
	if !o.takes(value) {
		return fmt.Errorf("option %s can't be %v", o.Name, value)
	}
	w["value"] = value
	return nil
}

// takes reports whether a phone would let a value be sent.
func (o CommandOption) takes(value any) bool {
	if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(c Choice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(value) }) {
		return false
	}
	switch value.(type) {
	case string:
		return o.Type == OptionText || o.Type == OptionUser || o.Type == OptionChannel
	case int:
		return o.Type == OptionInteger || o.Type == OptionNumber
	case float64:
		return o.Type == OptionNumber
	case bool:
		return o.Type == OptionBoolean
	}
	return false
}

// Press presses the button with that custom id, or that label, below a message,
// and returns the interaction's id.
func (p *Person) Press(message, button string) (string, error) {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err != nil {
		return "", err
	}
	for _, c := range slices.Concat(m.Rows...) {
		switch {
		case c.Select || c.CustomID != button && c.Label != button:
		case c.Disabled:
			return "", fmt.Errorf("button %q is disabled", button)
		case c.CustomID == "":
			return "", fmt.Errorf("button %q sends nothing", button)
		default:
			return p.component(in, m, c, nil, map[string]any{"custom_id": c.CustomID, "component_type": componentButton}), nil
		}
	}
	return "", fmt.Errorf("message %s has no button %q", message, button)
}

// Select chooses options of the menu with that custom id, by their values.
func (p *Person) Select(message, menu string, values ...string) (string, error) {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err != nil {
		return "", err
	}
	for _, c := range slices.Concat(m.Rows...) {
		if !c.Select || c.CustomID != menu {
			continue
		}
		if c.Disabled || len(values) < c.Min || len(values) > c.Max {
			return "", fmt.Errorf("menu %q takes %d to %d values, if it's enabled", menu, c.Min, c.Max)
		}
		for i, v := range values {
			if slices.Contains(values[:i], v) {
				return "", fmt.Errorf("menu %q has the value %q once", menu, v)
			}
			if !slices.ContainsFunc(c.Options, func(o Option) bool { return o.Value == v }) {
				return "", fmt.Errorf("menu %q has no value %q", menu, v)
			}
		}
		return p.component(in, m, c, values, map[string]any{"custom_id": menu, "component_type": componentSelect, "values": append([]string{}, values...)}), nil
	}
	return "", fmt.Errorf("message %s has no menu %q", message, menu)
}

func (p *Person) component(in *channel, m *Message, c Component, values []string, data map[string]any) string {
	return p.s.ask(p, in, &Interaction{kind: askComponent, Name: c.CustomID, Values: values}, m, data)
}

// Submit fills in the form that an interaction opened, and sends it.
func (p *Person) Submit(interaction string, values map[string]string) (string, error) {
	s := p.s
	defer s.lock()()
	i := s.interactions[interaction]
	if i == nil || i.Form == nil || i.Person != p.ID {
		return "", fmt.Errorf("interaction %s opened no form for %s", interaction, p.Name)
	}
	rows := []map[string]any{}
	for _, f := range i.Form.Fields {
		value, ok := values[f.CustomID]
		if !ok {
			value = f.Value
		}
		rows = append(rows, map[string]any{"type": componentRow, "components": []map[string]any{{"type": componentText, "custom_id": f.CustomID, "value": value}}})
	}
	data := map[string]any{"custom_id": i.Form.CustomID, "components": rows}
	return s.ask(p, s.channels[i.Channel], &Interaction{kind: askModal, Name: i.Form.CustomID}, s.messages[i.Message], data), nil
}

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
