package discordtest

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/chatview"
)

// view is the stand-in as its page shows it.
type view struct{ s *Server }

var _ chatview.World = view{}

// NewView returns a page that shows the stand-in's channels and threads as a phone would;
// see chatview.New.
func NewView(s *Server, token string) http.Handler { return chatview.New(view{s}, token) }

// Changed implements chatview.World.
func (v view) Changed() <-chan struct{} { return v.s.Changed() }

// Do implements chatview.World. What's said that begins with "/" is a command.
func (v view) Do(what string, d chatview.Deed) error {
	at := channelIn(d.Place)
	p, err := v.personIn(d.Person, at)
	if err != nil {
		return err
	}
	if strings.HasSuffix(what, "-topic") {
		return p.doThread(what, d)
	}
	switch what {
	case "say":
		if strings.HasPrefix(d.Text, "/") && !strings.HasPrefix(d.Text, "//") {
			return p.commandLine(at, d.Text[1:])
		}
		_, err = p.Send(at, Post{Text: d.Text, ReplyTo: d.Message})
	case "edit":
		err = p.Edit(d.Message, d.Text)
	case "press":
		_, err = p.Press(d.Message, d.Text)
	case "choose":
		_, err = p.Select(d.Message, d.Text, d.Values...)
	case "react":
		err = p.React(d.Message, d.Text)
	case "delete":
		err = p.Delete(d.Message)
	default:
		err = errors.New("nobody can do that here")
	}
	return err
}

// doThread does something to a thread, or begins one.
func (p *Person) doThread(what string, d chatview.Deed) error {
	if what == "create-topic" {
		_, err := p.CreateThread(d.Chat, d.Text)
		if c, _ := p.s.Channel(d.Chat); c.Kind == KindForum {
			_, err = p.CreatePost(d.Chat, d.Text, d.Text)
		}
		return err
	}
	at := channelIn(d.Place)
	switch what {
	case "rename-topic":
		return p.Rename(at, d.Text)
	case "close-topic":
		return p.Archive(at)
	case "reopen-topic":
		return p.Unarchive(at)
	case "delete-topic":
		return p.DeleteChannel(at)
	}
	return errors.New("nobody can do that here")
}

// commandLine sends a command with its options as words in their order, of which the last
// takes what's left. A phone has a field for each.
func (p *Person) commandLine(channel, line string) error {
	name, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
	defer p.s.lock()()
	in, err := p.visible(channel)
	if err != nil {
		return err
	}
	command := p.s.command(in.guildID(), name)
	if command == nil {
		command = p.s.command("", name)
	}
	if command == nil {
		return fmt.Errorf("there's no command /%s here", name)
	}
	options := map[string]any{}
	for i, o := range command.Options {
		word := strings.TrimSpace(rest)
		if i < len(command.Options)-1 {
			word, rest, _ = strings.Cut(word, " ")
		}
		if word == "" {
			break
		}
		options[o.Name] = word
		if n, err := strconv.Atoi(word); err == nil && (o.Type == OptionInteger || o.Type == OptionNumber) {
			options[o.Name] = n
		} else if b, err := strconv.ParseBool(word); err == nil && o.Type == OptionBoolean {
			options[o.Name] = b
		}
	}
	_, err = p.command(channel, name, options, "", nil)
	return err
}

// SendFile implements chatview.World.
func (v view) SendFile(person string, at chatview.Place, name string, content []byte) error {
	to := channelIn(at)
	p, err := v.personIn(person, to)
	if err == nil {
		_, err = p.Attach(to, "", Upload{Name: name, Content: content})
	}
	return err
}

// File implements chatview.World. An address is an attachment's path.
func (v view) File(address string) (content []byte, picture, ok bool) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	f := v.s.files["/"+address]
	if f == nil {
		return nil, false, false
	}
	return f.Content, f.isPicture(), true
}

func (f *File) isPicture() bool { return strings.HasPrefix(f.MIME, "image/") }

// personIn returns somebody by id, if there's also such a channel.
func (v view) personIn(id, channel string) (*Person, error) {
	v.s.mu.Lock()
	defer v.s.mu.Unlock()
	i := slices.IndexFunc(v.s.people, func(p *Person) bool { return p.ID == id })
	switch {
	case i < 0:
		return nil, fmt.Errorf("there's no person %s", id)
	case v.s.channels[channel] == nil:
		return nil, fmt.Errorf("there's no channel %s", channel)
	}
	return v.s.people[i], nil
}

// channelIn is the channel that a place is: threads are channels.
func channelIn(at chatview.Place) string {
	if at.Thread != chatview.NoThread && at.Thread != "" {
		return at.Thread
	}
	return at.Chat
}

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

// viewMessages are the newest messages that a person sees in a channel.
func (s *Server) viewMessages(c *channel, person string) []chatview.Message {
	seen := slices.DeleteFunc(slices.Clone(c.messages), func(m *Message) bool {
		return !m.There() || m.OnlyFor != "" && m.OnlyFor != person
	})
	list := []chatview.Message{}
	var before *Message
	for _, m := range seen[max(0, len(seen)-shownMessages):] {
		vm := s.viewMessage(m)
		vm.Follows = before != nil && before.Author == m.Author && vm.Reply == nil && s.told(before) == "" && m.At.Sub(before.At) < followsWithin
		list = append(list, vm)
		before = m
	}
	return list
}

func (s *Server) viewMessage(m *Message) chatview.Message {
	vm := chatview.Message{
		ID: m.ID, From: viewUser(m.Author), At: m.At.UnixMilli(), Text: s.text(m.Content), Rang: m.Rang, Edits: len(m.History),
		Pinned: m.Pinned, Private: m.OnlyFor != "", Service: s.told(m), Reactions: s.viewReactions(m), Rows: viewRows(m.Rows),
	}
	if m.Flags&Loading != 0 {
		vm.Text = chatview.Text{Text: s.bot.Name + " is thinking…", Entities: []chatview.Entity{}}
	}
	for _, e := range m.Embeds {
		vm.Embeds = append(vm.Embeds, s.viewEmbed(e))
	}
	for _, f := range m.Files {
		kind := "document"
		if f.isPicture() {
			kind = "photo"
		}
		vm.Files = append(vm.Files, chatview.File{Address: f.path[1:], Kind: kind, Name: f.Name, Size: int64(len(f.Content))})
	}
	if answered := s.messages[m.ReplyTo]; m.Kind == kindReply && answered != nil && answered.There() {
		vm.Reply = &chatview.Reply{ID: answered.ID, Name: answered.Author.Name, Text: s.summary(answered)}
	}
	if i := m.interaction; m.Kind == kindCommand && i != nil && i.kind == askCommand {
		vm.Reply = &chatview.Reply{Name: s.users[i.Person].Name, Text: "used /" + i.Name}
	}
	return vm
}

// styles are those of buttons, by Discord's numbers.
var styles = []string{1: "primary", 2: "secondary", 3: "success", 4: "danger", 5: "secondary"}

func viewRows(rows [][]Component) [][]chatview.Part {
	var list [][]chatview.Part
	for _, row := range rows {
		var shown []chatview.Part
		for _, c := range row {
			p := chatview.Part{
				Text: c.Label, Data: c.CustomID, URL: c.URL, Style: styles[c.Style], Disabled: c.Disabled, Menu: c.Select, Least: c.Min, Most: c.Max,
			}
			if c.Select {
				p.Text = c.Placeholder
			}
			for _, o := range c.Options {
				p.Options = append(p.Options, chatview.Option{Label: o.Label, Detail: o.Description, Value: o.Value, Chosen: o.Default})
			}
			shown = append(shown, p)
		}
		list = append(list, shown)
	}
	return list
}

func (s *Server) viewEmbed(e Embed) chatview.Embed {
	v := chatview.Embed{Title: e.Title, URL: e.URL, Body: s.text(e.Description)}
	if e.Author != nil {
		v.Author = e.Author.Name
	}
	if e.Footer != nil {
		v.Footer = e.Footer.Text
	}
	if e.Color != 0 {
		v.Colour = fmt.Sprintf("%06x", e.Color&0xffffff)
	}
	for _, f := range e.Fields {
		v.Fields = append(v.Fields, chatview.Field{Name: f.Name, Value: s.text(f.Value), Inline: f.Inline})
	}
	return v
}

func (s *Server) viewReactions(m *Message) []chatview.Reaction {
	var shown []chatview.Reaction
	for _, r := range m.Reactions {
		i := slices.IndexFunc(shown, func(v chatview.Reaction) bool { return v.Emoji == r.Emoji })
		if i < 0 {
			shown = append(shown, chatview.Reaction{Emoji: r.Emoji})
			i = len(shown) - 1
		}
		shown[i].Names = append(shown[i].Names, s.users[r.User].Name)
	}
	return shown
}
