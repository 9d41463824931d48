package discordtest

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
