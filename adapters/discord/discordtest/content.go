package discordtest

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
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

// Embed is docs.discord.com/developers/resources/message#embed-object, as far as
// it's understood.
type Embed struct {
	Type        string       `json:"type,omitempty"`
	Title       string       `json:"title,omitempty"`
	Description string       `json:"description,omitempty"`
	URL         string       `json:"url,omitempty"`
	Timestamp   string       `json:"timestamp,omitempty"`
	Color       int          `json:"color,omitempty"`
	Footer      *EmbedText   `json:"footer,omitempty"`
	Author      *EmbedText   `json:"author,omitempty"`
	Image       *EmbedImage  `json:"image,omitempty"`
	Fields      []EmbedField `json:"fields,omitempty"`
}

// EmbedText is an embed's footer (Text) or author (Name).
type EmbedText struct {
	Text string `json:"text,omitempty"`
	Name string `json:"name,omitempty"`
}

// EmbedImage is an image by its address.
type EmbedImage struct {
	URL string `json:"url,omitempty"`
}

// EmbedField is a field of an embed.
type EmbedField struct {
	Name   string `json:"name"`
	Value  string `json:"value"`
	Inline bool   `json:"inline,omitempty"`
}

// The limits of embeds (docs.discord.com/developers/resources/message#embed-object-embed-limits).
const (
	maxEmbeds, maxEmbedTotal    = 10, 6000
	maxTitle, maxDescription    = 256, 4096
	maxFields, maxFieldName     = 25, 256
	maxFieldValue, maxFooter    = 1024, 2048
	embedTooLong                = "Must be %d or fewer in length."
	embedTotalTooLong, required = "Embed size exceeds maximum size of 6000", "This field is required"
)

func checkEmbeds(list []Embed) *refusal {
	if len(list) > maxEmbeds {
		return invalid("embeds", embedTooLong, maxEmbeds)
	}
	total := 0
	for i := range list {
		size, r := list[i].check()
		if r != nil {
			return r
		}
		total += size
		if list[i].Type == "" {
			list[i].Type = "rich"
		}
	}
	if total > maxEmbedTotal {
		return invalid("embeds", embedTotalTooLong)
	}
	return nil
}

// check returns how many characters an embed has.
func (e Embed) check() (int, *refusal) {
	size := units(e.Title) + units(e.Description)
	footer := 0
	for _, t := range []*EmbedText{e.Footer, e.Author} {
		if t != nil {
			footer = max(footer, units(t.Text))
			size += units(t.Text) + units(t.Name)
		}
	}
	switch {
	case units(e.Title) > maxTitle:
		return 0, invalid("embeds.title", embedTooLong, maxTitle)
	case units(e.Description) > maxDescription:
		return 0, invalid("embeds.description", embedTooLong, maxDescription)
	case len(e.Fields) > maxFields:
		return 0, invalid("embeds.fields", embedTooLong, maxFields)
	case footer > maxFooter:
		return 0, invalid("embeds.footer", embedTooLong, maxFooter)
	}
	for _, f := range e.Fields {
		size += units(f.Name) + units(f.Value)
		if f.Name == "" || f.Value == "" {
			return 0, invalid("embeds.fields", required)
		}
		if units(f.Name) > maxFieldName || units(f.Value) > maxFieldValue {
			return 0, invalid("embeds.fields", embedTooLong, maxFieldValue)
		}
	}
	return size, nil
}

// The kinds of components (docs.discord.com/developers/components/reference#component-object-component-types).
const (
	componentRow    = 1
	componentButton = 2
	componentSelect = 3
	componentText   = 4
)

// styleLink is the style of a button that opens an address and tells nobody.
const styleLink = 5

// The limits of components.
const (
	maxRows, maxButtons, maxOptions   = 5, 5, 25
	maxLabel, maxCustomID, maxOption  = 80, 100, 100
	maxPlaceholder, maxInput, maxRead = 150, 5, 4000
)

// Component is a button or a select menu below a message.
type Component struct {
	Select      bool // it's a select menu
	CustomID    string
	Label, URL  string // of a button
	Style       int
	Disabled    bool
	Placeholder string // of a menu
	Options     []Option
	Min, Max    int // how many options may be chosen at once
}

// Option is one line of a select menu.
type Option struct {
	Label       string `json:"label"`
	Value       string `json:"value"`
	Description string `json:"description,omitempty"`
	Default     bool   `json:"default,omitempty"`
}

// wireComponent is a component of any kind, a text input of a modal too.
type wireComponent struct {
	Type        int             `json:"type"`
	Components  []wireComponent `json:"components,omitempty"`
	Style       int             `json:"style,omitempty"`
	Label       string          `json:"label,omitempty"`
	Emoji       map[string]any  `json:"emoji,omitempty"`
	CustomID    string          `json:"custom_id,omitempty"`
	URL         string          `json:"url,omitempty"`
	Disabled    bool            `json:"disabled,omitempty"`
	Placeholder string          `json:"placeholder,omitempty"`
	Options     []Option        `json:"options,omitempty"`
	Min         *int            `json:"min_values,omitempty"`
	Max         *int            `json:"max_values,omitempty"`
	Required    *bool           `json:"required,omitempty"`
	MinLength   *int            `json:"min_length,omitempty"`
	MaxLength   *int            `json:"max_length,omitempty"`
	Value       string          `json:"value,omitempty"`
}

// readRows reads the components of a message: rows of buttons, or of one menu.
func readRows(list []wireComponent) ([][]Component, *refusal) {
	if len(list) > maxRows {
		return nil, invalid("components", "Must be %d or fewer in length.", maxRows)
	}
	var rows [][]Component
	seen := map[string]bool{}
	for i, w := range list {
		at := fmt.Sprintf("components.%d", i)
		if w.Type != componentRow {
			return nil, invalid(at+".type", "Value must be 1.")
		}
		row, r := readRow(at+".components", w.Components, seen)
		if r != nil {
			return nil, r
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func readRow(at string, list []wireComponent, seen map[string]bool) ([]Component, *refusal) {
	if len(list) == 0 || len(list) > maxButtons {
		return nil, invalid(at, "Must be between 1 and %d in length.", maxButtons)
	}
	var row []Component
	for i, w := range list {
		at := fmt.Sprintf("%s.%d", at, i)
		c, r := w.read(at)
		if r == nil && c.Select && len(list) > 1 {
			r = invalid(at, "The specified component exceeds the maximum width")
		}
		if r == nil && c.CustomID != "" && seen[c.CustomID] {
			r = invalid(at+".custom_id", "Component custom id cannot be duplicated")
		}
		if r != nil {
			return nil, r
		}
		seen[c.CustomID] = true
		row = append(row, c)
	}
	return row, nil
}

func (w wireComponent) read(at string) (Component, *refusal) {
	c := Component{
		Select: w.Type == componentSelect, CustomID: w.CustomID, Label: w.Label, URL: w.URL, Style: w.Style, Disabled: w.Disabled,
		Placeholder: w.Placeholder, Options: w.Options, Min: 1, Max: 1,
	}
	switch w.Type {
	case componentButton:
		return c, w.checkButton(at)
	case componentSelect:
		if w.Min != nil {
			c.Min = *w.Min
		}
		if w.Max != nil {
			c.Max = *w.Max
		}
		return c, c.checkSelect(at)
	}
	return c, invalid(at+".type", "Value must be one of {2, 3}.")
}

func (w wireComponent) checkButton(at string) *refusal {
	switch {
	case w.Style < 1 || w.Style > styleLink:
		return invalid(at+".style", "Value must be one of {1, 2, 3, 4, 5}.")
	case utf8.RuneCountInString(w.Label) > maxLabel:
		return invalid(at+".label", "Must be %d or fewer in length.", maxLabel)
	case w.Label == "" && w.Emoji == nil:
		return invalid(at, "A button must have a label or an emoji.")
	case w.Style == styleLink && (w.URL == "" || w.CustomID != ""):
		return invalid(at, "A link button must have a url and cannot have a custom id.")
	case w.Style != styleLink && w.URL != "":
		return invalid(at, "Only a link button can have a url.")
	case w.Style != styleLink:
		return checkCustomID(at, w.CustomID)
	}
	return nil
}

func checkCustomID(at, id string) *refusal {
	if n := utf8.RuneCountInString(id); n < 1 || n > maxCustomID {
		return invalid(at+".custom_id", "Must be between 1 and %d in length.", maxCustomID)
	}
	return nil
}

func (c Component) checkSelect(at string) *refusal {
	switch {
	case len(c.Options) < 1 || len(c.Options) > maxOptions:
		return invalid(at+".options", "Must be between 1 and %d in length.", maxOptions)
	case utf8.RuneCountInString(c.Placeholder) > maxPlaceholder:
		return invalid(at+".placeholder", "Must be %d or fewer in length.", maxPlaceholder)
	case c.Min < 0 || c.Max < max(1, c.Min) || c.Max > len(c.Options):
		return invalid(at, "min_values and max_values must fit the options.")
	}
	seen, chosen := map[string]bool{}, 0
	for _, o := range c.Options {
		if o.Default {
			chosen++
		}
		for _, text := range []string{o.Label, o.Value, o.Description} {
			if utf8.RuneCountInString(text) > maxOption {
				return invalid(at+".options", "Must be %d or fewer in length.", maxOption)
			}
		}
		if o.Label == "" || o.Value == "" || seen[o.Value] {
			return invalid(at+".options", "Every option needs a label and a value of its own.")
		}
		seen[o.Value] = true
	}
	if chosen > c.Max {
		return invalid(at+".options", "No more than %d options can be default values.", c.Max)
	}
	return checkCustomID(at, c.CustomID)
}

func wireRows(rows [][]Component) []wireComponent {
	list := make([]wireComponent, 0, len(rows))
	for _, row := range rows {
		w := wireComponent{Type: componentRow}
		for _, c := range row {
			w.Components = append(w.Components, c.wire())
		}
		list = append(list, w)
	}
	return list
}

func (c Component) wire() wireComponent {
	w := wireComponent{
		Type: componentButton, Style: c.Style, Label: c.Label, CustomID: c.CustomID, URL: c.URL, Disabled: c.Disabled,
		Placeholder: c.Placeholder, Options: c.Options,
	}
	if c.Select {
		w.Type, w.Min, w.Max = componentSelect, &c.Min, &c.Max
	}
	return w
}
