package discordtest

import (
	"encoding/json"
	"strings"
	"unicode"
)

// messageForm is what a message is sent or edited with; what's absent is nil.
type messageForm struct {
	Content     *string           `json:"content"`
	Embeds      *[]Embed          `json:"embeds"`
	Components  *[]wireComponent  `json:"components"`
	Attachments *[]attachmentForm `json:"attachments"`
	Flags       *Flags            `json:"flags"`
	Nonce       json.RawMessage   `json:"nonce"`
	Enforce     bool              `json:"enforce_nonce"`
	Allowed     *allowedMentions  `json:"allowed_mentions"`
	Reference   *struct {
		Message string `json:"message_id"`
		Fail    *bool  `json:"fail_if_not_exists"`
	} `json:"message_reference"`
	Stickers *[]string `json:"sticker_ids"`
}

// maxContent is how long a message may be. Discord says characters; here they're
// UTF-16 units, of which there are never fewer
// (docs.discord.com/developers/resources/message#create-message).
const maxContent = 2000

// createMessage sends a message.
func (s *Server) createMessage(c *call) (any, *refusal) {
	in, r := s.channelOf(c, 0)
	if r != nil {
		return nil, r
	}
	if in.kind == KindForum {
		return nil, errNotText
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	m, r := s.draft(c, in, form, in.sending())
	if r == nil {
		r = s.mayPost(in)
	}
	if r != nil {
		return nil, r
	}
	if first := s.sentBefore(m.Nonce, form.Enforce); first != nil {
		c.Message = first.ID
		return s.answer(first), nil
	}
	if in.archived {
		s.archive(in, false)
	}
	m.ID, m.Flags = s.clock.next(), m.Flags&^Ephemeral // that's for interactions alone
	s.post(in, m)
	s.remember(m)
	c.Message = m.ID
	return s.answer(m), nil
}

// answer is a message as the call that made it gets it: with its nonce.
func (s *Server) answer(m *Message) *wireMessage {
	w := s.wire(m, everyIntent, false)
	w.Nonce = m.Nonce
	return w
}

// mayPost: a message reopens an archived thread, unless that's locked and the bot
// may not manage threads (docs.discord.com/developers/topics/threads#active--archived-threads).
func (s *Server) mayPost(in *channel) *refusal {
	switch {
	case in.blocked:
		return errBlocked
	case !in.locked || in.permissions().has(ManageThreads):
		return nil
	case in.archived:
		return errArchived
	}
	return errThreadLocked
}

// draft makes a message of a form, or says what's wrong with it.
func (s *Server) draft(c *call, in *channel, form messageForm, need Permission) (*Message, *refusal) {
	m := &Message{Author: s.bot}
	if form.Embeds != nil && len(*form.Embeds) > 0 {
		need |= EmbedLinks
	}
	if len(c.files) > 0 {
		need |= AttachFiles
	}
	if r := in.demand(need); r != nil {
		return nil, r
	}
	if r := s.fill(c, m, in, form); r != nil {
		return nil, r
	}
	if m.isEmpty() {
		return nil, errEmpty
	}
	if !c.route.open && in.guild.blocks(m.Content) {
		return nil, errAutoMod
	}
	var r *refusal
	if m.Nonce, r = readNonce(form); r != nil {
		return nil, r
	}
	if r := s.readReference(m, in, form); r != nil {
		return nil, r
	}
	m.Rang = m.Flags&SuppressNotifications == 0
	if m.Pings, r = s.pings(in, m, form.Allowed); r != nil {
		return nil, r
	}
	return m, nil
}

// fill puts what a form has into a message, new or edited.
func (s *Server) fill(c *call, m *Message, in *channel, form messageForm) *refusal {
	if form.Content != nil {
		content, r := readContent(*form.Content)
		if r != nil {
			return r
		}
		m.Content = content
	}
	if form.Embeds != nil {
		if r := checkEmbeds(*form.Embeds); r != nil {
			return r
		}
		m.Embeds = *form.Embeds
	}
	if form.Components != nil {
		rows, r := readRows(*form.Components)
		if r != nil {
			return r
		}
		m.Rows = rows
	}
	if r := m.setFlags(form.Flags); r != nil {
		return r
	}
	return s.fillFiles(c, m, in, form.Attachments)
}

// readContent checks a text and takes away what Discord takes away: white space
// at both ends.
func readContent(text string) (string, *refusal) {
	if n := units(text); n > maxContent {
		return "", invalid("content", "Must be %d or fewer in length.", maxContent)
	}
	return strings.TrimFunc(text, unicode.IsSpace), nil
}

// units counts UTF-16 units.
func units(text string) int {
	n := 0
	for _, r := range text {
		if n++; r > 0xffff {
			n++
		}
	}
	return n
}

func (m *Message) isEmpty() bool {
	return m.Content == "" && len(m.Embeds) == 0 && len(m.Files) == 0 && len(m.Rows) == 0
}

// setFlags takes the flags that a bot may give a message: for an edit, only
// whether embeds are shown.
func (m *Message) setFlags(f *Flags) *refusal {
	if f == nil {
		return nil
	}
	if *f&componentsV2 != 0 {
		return invalid("flags", "The stand-in doesn't know components of version 2.")
	}
	may := SuppressEmbeds
	if m.ID == "" {
		may |= SuppressNotifications | Ephemeral
	}
	m.Flags = m.Flags&^SuppressEmbeds | *f&may
	return nil
}

// readReference finds the message that's answered.
func (s *Server) readReference(m *Message, in *channel, form messageForm) *refusal {
	if form.Reference == nil || form.Reference.Message == "" {
		return nil
	}
	answered := s.messages[form.Reference.Message]
	if answered == nil || !answered.There() || answered.Channel != in.id {
		if form.Reference.Fail == nil || *form.Reference.Fail {
			return invalid("message_reference", "Unknown message")
		}
		return nil
	}
	if r := in.demand(ReadHistory); r != nil {
		return r
	}
	m.Kind, m.ReplyTo = kindReply, answered.ID
	return nil
}
