package discordtest

import (
	"regexp"
	"slices"
	"strings"
)

// The forms of mentions in a text (docs.discord.com/developers/reference#message-formatting).
var (
	userMention     = regexp.MustCompile(`<@!?(\d+)>`)
	roleMention     = regexp.MustCompile(`<@&(\d+)>`)
	everyoneMention = regexp.MustCompile(`@(?:everyone|here)\b`)
)

// mentioned is what a text mentions, by id.
type mentioned struct {
	users, roles map[string]bool
	everyone     bool
}

func (s *Server) mentions(text string) mentioned {
	m := mentioned{users: map[string]bool{}, roles: map[string]bool{}, everyone: everyoneMention.MatchString(text)}
	for _, found := range userMention.FindAllStringSubmatch(text, -1) {
		if _, known := s.users[found[1]]; known {
			m.users[found[1]] = true
		}
	}
	for _, found := range roleMention.FindAllStringSubmatch(text, -1) {
		m.roles[found[1]] = true
	}
	return m
}

// allowedMentions is docs.discord.com/developers/resources/message#allowed-mentions-object.
type allowedMentions struct {
	Parse       *[]string `json:"parse"`
	Users       []string  `json:"users"`
	Roles       []string  `json:"roles"`
	RepliedUser bool      `json:"replied_user"`
}

func (a *allowedMentions) check() *refusal {
	var parse []string
	if a.Parse != nil {
		parse = *a.Parse
	}
	for _, kind := range parse {
		if !slices.Contains([]string{"users", "roles", "everyone"}, kind) {
			return invalid("allowed_mentions.parse", "Value must be one of {'users', 'roles', 'everyone'}.")
		}
	}
	switch {
	case len(a.Users) > 100 || len(a.Roles) > 100:
		return invalid("allowed_mentions", "Must be 100 or fewer in length.")
	case slices.Contains(parse, "users") && len(a.Users) > 0:
		return invalid("allowed_mentions", `parse:["users"] and users: [ids...] are mutually exclusive.`)
	case slices.Contains(parse, "roles") && len(a.Roles) > 0:
		return invalid("allowed_mentions", `parse:["roles"] and roles: [ids...] are mutually exclusive.`)
	}
	return nil
}

// pings returns who's notified by name: whom the text mentions, as far as it's
// allowed, and who is answered. Without allowed_mentions everything is.
func (s *Server) pings(in *channel, m *Message, a *allowedMentions) ([]string, *refusal) {
	standard := []string{"users", "roles", "everyone"}
	if a == nil {
		a = &allowedMentions{Parse: &standard, RepliedUser: true}
	}
	if r := a.check(); r != nil {
		return nil, r
	}
	if a.Parse == nil {
		a.Parse = &[]string{}
	}
	found := s.mentions(m.Content)
	var list []string
	for id := range found.users {
		if id != s.bot.ID && (slices.Contains(*a.Parse, "users") || slices.Contains(a.Users, id)) {
			list = append(list, id)
		}
	}
	for id := range found.roles {
		if slices.Contains(*a.Parse, "roles") || slices.Contains(a.Roles, id) {
			list = append(list, "role "+id)
		}
	}
	if answered := s.messages[m.ReplyTo]; answered != nil && a.RepliedUser && answered.Author.ID != s.bot.ID {
		list = append(list, answered.Author.ID)
	}
	slices.Sort(list)
	list = slices.Compact(list)
	if found.everyone && slices.Contains(*a.Parse, "everyone") && in.permissions().has(MentionEveryone) {
		list = append(list, "everyone")
	}
	return list, nil
}

// wireMentions writes who's mentioned: of a person's message all, of the bot's
// those who were notified.
func (s *Server) wireMentions(m *Message, w *wireMessage) {
	ids := m.Pings
	if m.Author.ID != s.bot.ID {
		ids = nil
		for id := range s.mentions(m.Content).users {
			ids = append(ids, id)
		}
		slices.Sort(ids)
	}
	for _, id := range ids {
		role, isRole := strings.CutPrefix(id, "role ")
		switch {
		case isRole:
			w.MentionRoles = append(w.MentionRoles, role)
		case id == "everyone":
			w.MentionEveryone = true
		default:
			w.Mentions = append(w.Mentions, s.users[id].wire())
		}
	}
}
