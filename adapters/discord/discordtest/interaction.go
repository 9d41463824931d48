package discordtest

import (
	"slices"
	"strconv"
	"time"
)

// The kinds of interactions
// (docs.discord.com/developers/interactions/receiving-and-responding#interaction-object-interaction-type).
const (
	askCommand      = 2
	askComponent    = 3
	askAutocomplete = 4
	askModal        = 5
)

const (
	// answerWithin is for how long a person waits, and then sees that the
	// application didn't respond; tokenLives for how long its token is good
	// (docs.discord.com/developers/interactions/receiving-and-responding).
	answerWithin = 3 * time.Second
	tokenLives   = 15 * time.Minute
)

// Interaction is a command, a press, a choice or a form that a person sent, and
// what the bot made of it.
type Interaction struct {
	ID, Token string
	Person    string // by id
	Channel   string
	Message   string   // that the button or menu stands below
	Name      string   // of the command, or the custom id
	Values    []string // that were chosen of a menu
	At        time.Time
	Answered  time.Time // zero if not yet
	Deferred  bool      // the answer only said that one will come
	// Original is the first message that answers it, Followups are the others, by id.
	Original  string
	Followups []string
	Choices   []Choice // that were offered for an option
	Form      *Form    // that was opened

	kind      int
	ephemeral bool // a deferred answer is for the person alone
}

// Choice is a value that's offered for an option of a command.
type Choice struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
}

// Form is a modal: a title, and fields by their custom ids.
type Form struct {
	CustomID, Title string
	Fields          []FormField
}

// FormField is a text field of a form.
type FormField struct {
	CustomID, Label, Value string
	Long                   bool // more than one line
}

// Failed reports whether the person saw by then that the application did not
// respond.
func (i Interaction) Failed(now time.Time) bool {
	return i.Answered.IsZero() && now.Sub(i.At) >= answerWithin
}

// Interaction returns what became of an interaction.
func (s *Server) Interaction(id string) (Interaction, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.interactions[id]
	if i == nil {
		return Interaction{}, false
	}
	return i.snapshot(), true
}

// Interactions returns all interactions, in order.
func (s *Server) Interactions() []Interaction {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Interaction, 0, len(s.asked))
	for _, i := range s.asked {
		list = append(list, i.snapshot())
	}
	return list
}

// Unanswered returns those that have failed by now.
func (s *Server) Unanswered() []Interaction {
	return slices.DeleteFunc(s.Interactions(), func(i Interaction) bool { return !i.Failed(now()) })
}

func (i *Interaction) snapshot() Interaction {
	copied := *i
	copied.Followups, copied.Choices = slices.Clone(i.Followups), slices.Clone(i.Choices)
	return copied
}

// ask sends an interaction to the bot, whatever it asked the gateway for.
func (s *Server) ask(p *Person, in *channel, i *Interaction, m *Message, data map[string]any) string {
	i.ID = s.clock.next()
	i.Token, i.Person, i.Channel, i.At = "token-of-"+i.ID, p.ID, in.id, now()
	s.interactions[i.ID], s.byToken[i.Token] = i, i
	s.asked = append(s.asked, i)
	wire := map[string]any{
		"id": i.ID, "application_id": s.bot.ID, "type": i.kind, "data": data, "channel_id": in.id, "channel": in.wire(),
		"token": i.Token, "version": 1, "app_permissions": in.permissions().wire(), "locale": "en-GB", "entitlements": []any{},
		"authorizing_integration_owners": map[string]string{"0": in.guildID()}, "context": 0,
		"attachment_size_limit": s.opts.Limits.FileBytes,
	}
	if in.guild == nil {
		wire["user"], wire["context"] = s.users[p.ID].wire(), 1
	} else {
		member := in.guild.member(s.users[p.ID], true)
		member.Permissions = strconv.FormatUint(uint64(everything), 10)
		wire["guild_id"], wire["guild_locale"], wire["member"] = in.guild.ID, "en-GB", member
		wire["guild"] = map[string]any{"id": in.guild.ID, "locale": "en-GB", "features": []string{}}
	}
	if s.opts.BareInteractions {
		delete(wire, "channel")
	}
	if m != nil {
		i.Message = m.ID
		wire["message"] = s.wire(m, everyIntent, false)
	}
	s.dispatch("INTERACTION_CREATE", always, nil, wire)
	s.Touch()
	return i.ID
}

// The kinds of answers
// (docs.discord.com/developers/interactions/receiving-and-responding#interaction-response-object-interaction-callback-type).
const (
	answerMessage       = 4
	answerDeferred      = 5
	answerDeferredQuiet = 6
	answerUpdate        = 7
	answerChoices       = 8
	answerForm          = 9
)

// callbackForm is an answer. Its data are a message, choices or a form.
type callbackForm struct {
	Type int `json:"type"`
	Data *struct {
		messageForm
		Choices    []Choice        `json:"choices"`
		CustomID   string          `json:"custom_id"`
		Title      string          `json:"title"`
		Components []wireComponent `json:"components"`
	} `json:"data"`
}

// callback is the first answer, and the only one: within 3 s, or nobody waits for
// it any more.
func (s *Server) callback(c *call) (any, *refusal) {
	i := s.interactions[c.vars["interaction"]]
	switch {
	case i == nil || i.Token != c.vars["token"]:
		return nil, errNoInteraction
	case !i.Answered.IsZero():
		return nil, errAcknowledged
	case i.Failed(c.At):
		return nil, errNoInteraction
	}
	var form callbackForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if !i.takes(form.Type) {
		return nil, invalid("type", "The interaction can't be answered with type %d.", form.Type)
	}
	if r := s.acknowledge(c, i, form); r != nil {
		return nil, r
	}
	i.Answered = c.At
	return nil, nil
}

// takes reports whether an interaction can be answered so.
func (i *Interaction) takes(kind int) bool {
	if i.kind == askAutocomplete {
		return kind == answerChoices
	}
	switch kind {
	case answerMessage, answerDeferred:
		return true
	case answerDeferredQuiet, answerUpdate:
		return i.Message != ""
	case answerForm:
		return i.kind != askModal
	}
	return false
}

func (s *Server) acknowledge(c *call, i *Interaction, form callbackForm) *refusal {
	if form.Data == nil && form.Type != answerDeferred && form.Type != answerDeferredQuiet {
		return invalid("data", "This field is required")
	}
	switch form.Type {
	case answerMessage:
		m, r := s.reply(c, i, form.message())
		if r == nil {
			i.Original = m.ID
		}
		return r
	case answerDeferred:
		s.think(i, form)
	case answerDeferredQuiet:
		i.Deferred, i.Original = true, i.Message
	case answerUpdate:
		i.Original = i.Message
		return s.update(c, i.Message, form.message())
	case answerChoices:
		return i.offer(form.Data.Choices)
	case answerForm:
		return i.open(form)
	}
	return nil
}

func (f callbackForm) message() messageForm {
	m := f.Data.messageForm
	if f.Data.Components != nil {
		m.Components = &f.Data.Components
	}
	return m
}

// think shows that an answer will come.
func (s *Server) think(i *Interaction, form callbackForm) {
	m := &Message{ID: s.clock.next(), Author: s.bot, Kind: kindCommand, Flags: Loading, interaction: i}
	if form.Data != nil && form.Data.Flags != nil && *form.Data.Flags&Ephemeral != 0 {
		m.Flags, m.OnlyFor = m.Flags|Ephemeral, i.Person
	}
	i.Deferred, i.Original, i.ephemeral = true, m.ID, m.OnlyFor != ""
	s.post(s.channels[i.Channel], m)
}

// maxChoices is how many values are offered at most.
const maxChoices = 25

func (i *Interaction) offer(list []Choice) *refusal {
	if len(list) > maxChoices {
		return invalid("data.choices", "Must be %d or fewer in length.", maxChoices)
	}
	for _, c := range list {
		text, isText := c.Value.(string)
		if n := len([]rune(c.Name)); n < 1 || n > maxOption || isText && len([]rune(text)) > maxOption {
			return invalid("data.choices", "Must be between 1 and %d in length.", maxOption)
		}
	}
	i.Choices = list
	return nil
}

// open shows a form.
func (i *Interaction) open(form callbackForm) *refusal {
	f := &Form{CustomID: form.Data.CustomID, Title: form.Data.Title}
	if n := len([]rune(f.Title)); n < 1 || n > 45 {
		return invalid("data.title", "Must be between 1 and 45 in length.")
	}
	if r := checkCustomID("data", f.CustomID); r != nil {
		return r
	}
	for _, row := range form.Data.Components {
		if row.Type != componentRow || len(row.Components) != 1 || row.Components[0].Type != componentText {
			return invalid("data.components", "A form has rows of one text input each.")
		}
		field := row.Components[0]
		if r := checkCustomID("data.components", field.CustomID); r != nil {
			return r
		}
		if n := len([]rune(field.Label)); n < 1 || n > 45 || len([]rune(field.Value)) > maxRead {
			return invalid("data.components.label", "Must be between 1 and 45 in length.")
		}
		f.Fields = append(f.Fields, FormField{field.CustomID, field.Label, field.Value, field.Style == 2})
	}
	if len(f.Fields) < 1 || len(f.Fields) > maxInput {
		return invalid("data.components", "Must be between 1 and %d in length.", maxInput)
	}
	i.Form = f
	return nil
}

// askedBy returns the interaction whose token a call carries. It's good for 15
// minutes, and for nothing before the first answer.
func (s *Server) askedBy(c *call) (*Interaction, *refusal) {
	i := s.byToken[c.vars["token"]]
	if i == nil || c.vars["application"] != s.bot.ID {
		return nil, errNoWebhook
	}
	switch {
	case c.At.Sub(i.At) >= tokenLives:
		return nil, errWebhookToken
	case i.Answered.IsZero():
		return nil, errNoWebhook
	}
	return i, nil
}

// reply posts a message that answers an interaction. It needs no permission: the
// person has asked for it.
func (s *Server) reply(c *call, i *Interaction, form messageForm) (*Message, *refusal) {
	in := s.channels[i.Channel]
	switch {
	case !in.there():
		return nil, errNoChannel
	case in.archived && in.locked && !in.permissions().has(ManageThreads):
		return nil, errArchived
	}
	m, r := s.draft(c, in, form, 0)
	if r != nil {
		return nil, r
	}
	m.Kind, m.interaction = kindCommand, i
	if m.Flags&Ephemeral != 0 {
		m.OnlyFor, m.Rang, m.Pings = i.Person, false, nil
	} else if in.archived {
		s.archive(in, false)
	}
	m.ID = s.clock.next()
	s.post(in, m)
	c.Message = m.ID
	return m, nil
}

// createFollowup posts one more answer. The first after a deferred one takes the
// place of what said that it would come.
func (s *Server) createFollowup(c *call) (any, *refusal) {
	i, r := s.askedBy(c)
	if r != nil {
		return nil, r
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if first := s.messages[i.Original]; first != nil && first.There() && first.Flags&Loading != 0 {
		if r := s.update(c, first.ID, form); r != nil {
			return nil, r
		}
		return s.wire(first, everyIntent, false), nil
	}
	m, r := s.reply(c, i, form)
	if r != nil {
		return nil, r
	}
	i.Followups = append(i.Followups, m.ID)
	return s.wire(m, everyIntent, false), nil
}

// update changes a message by an interaction's token, an ephemeral one too. What
// said that an answer will come becomes that answer, and rings as one does.
func (s *Server) update(c *call, id string, form messageForm) *refusal {
	m := s.messages[id]
	if m == nil || !m.There() {
		return errNoMessage
	}
	in := s.channels[m.Channel]
	if in.archived {
		return errArchived
	}
	changed, r := s.redraft(c, m, in, form)
	if r != nil {
		return r
	}
	if changed.Flags&Loading != 0 {
		changed.Flags &^= Loading
		m.Rang = m.OnlyFor == ""
		if m.Pings, r = s.pings(in, changed, form.Allowed); r != nil {
			return r
		}
		if m.Rang {
			s.rings = append(s.rings, Ring{now(), in.id, m.ID, changed.Content, m.Pings})
		}
	}
	s.replace(in, m, changed)
	c.Message = m.ID
	return nil
}

// answerOf returns the message of an interaction that a call names.
func (s *Server) answerOf(c *call, original bool) (*Interaction, *Message, *refusal) {
	i, r := s.askedBy(c)
	if r != nil {
		return nil, nil, r
	}
	id := c.vars["message"]
	if original {
		id = i.Original
	}
	m := s.messages[id]
	if m == nil || !m.There() || !original && m.interaction != i {
		return nil, nil, errNoMessage
	}
	return i, m, nil
}

func (s *Server) getAnswer(c *call, original bool) (any, *refusal) {
	_, m, r := s.answerOf(c, original)
	if r != nil {
		return nil, r
	}
	return s.wire(m, everyIntent, false), nil
}

func (s *Server) editAnswer(c *call, original bool) (any, *refusal) {
	_, m, r := s.answerOf(c, original)
	if r != nil {
		return nil, r
	}
	var form messageForm
	if r := c.decode(&form); r != nil {
		return nil, r
	}
	if r := s.update(c, m.ID, form); r != nil {
		return nil, r
	}
	return s.wire(m, everyIntent, false), nil
}

func (s *Server) deleteAnswer(c *call, original bool) (any, *refusal) {
	_, m, r := s.answerOf(c, original)
	if r != nil {
		return nil, r
	}
	s.drop(m)
	return nil, nil
}

func (s *Server) getOriginal(c *call) (any, *refusal)    { return s.getAnswer(c, true) }
func (s *Server) editOriginal(c *call) (any, *refusal)   { return s.editAnswer(c, true) }
func (s *Server) deleteOriginal(c *call) (any, *refusal) { return s.deleteAnswer(c, true) }
func (s *Server) getFollowup(c *call) (any, *refusal)    { return s.getAnswer(c, false) }
func (s *Server) editFollowup(c *call) (any, *refusal)   { return s.editAnswer(c, false) }
func (s *Server) deleteFollowup(c *call) (any, *refusal) { return s.deleteAnswer(c, false) }
