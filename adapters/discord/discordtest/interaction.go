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
