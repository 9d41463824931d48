package discordtest

import (
	"fmt"
	"slices"

	"github.com/panebridge/panebridge/internal/chatview"
)

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
