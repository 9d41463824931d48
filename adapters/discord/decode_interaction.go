package discord

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/adapters/intake"
)

// interactionJSON is what's read of an interaction
// (docs.discord.com/developers/interactions/receiving-and-responding).
type interactionJSON struct {
	ID      string      `json:"id"`
	App     string      `json:"application_id"`
	Type    int         `json:"type"`
	Token   string      `json:"token"`
	Guild   string      `json:"guild_id"`
	Channel string      `json:"channel_id"`
	Where   channelJSON `json:"channel"`
	Member  memberJSON  `json:"member"` // in a server
	User    *userJSON   `json:"user"`   // in a private chat
	// Context says whose private chat it is; nil: not known.
	Context *int `json:"context"`
	Message struct {
		ID string `json:"id"`
	} `json:"message"`
	Data struct {
		Name      string       `json:"name"`
		Type      int          `json:"type"`
		Options   []optionJSON `json:"options"`
		CustomID  string       `json:"custom_id"`
		Component int          `json:"component_type"`
		Values    []string     `json:"values"`
	} `json:"data"`
}

type optionJSON struct {
	Name    string          `json:"name"`
	Value   json.RawMessage `json:"value"`
	Focused bool            `json:"focused"`
}

// Kinds of interactions, commands and components.
const (
	interactionCommand  = 2
	interactionPress    = 3
	interactionComplete = 4

	commandSlash    = 1
	componentSelect = 3
)

// replyMark begins what stands for a message in the event of a slash command: there is
// none that could be answered or reacted to.
const replyMark = "i"

// readInteraction reads what every interaction has.
func (r record) readInteraction(e *intake.Event) (i interactionJSON, err error) {
	if err := r.into(&i); err != nil {
		return i, err
	}
	if !isID(i.ID) || !isID(i.App) || !isToken(i.Token) {
		return i, errors.New("read an event: the interaction's id, application_id or token is missing")
	}
	parent := r.Parent
	if isThread(i.Where.Type) {
		parent = i.Where.Parent
	}
	if e.Place, err = placeAt(i.Channel, parent); err != nil {
		return i, err
	}
	// A private chat of others, where somebody has brought the application, isn't ours.
	e.At, e.Private = madeAt(i.ID), i.Guild == "" && (i.Context == nil || *i.Context == contextBotDM)
	switch {
	case i.Member.User != nil:
		e.Person = person(*i.Member.User, i.Member.Nick)
	case i.User != nil:
		e.Person = person(*i.User, "")
	}
	return i, nil
}

// maxToken bounds an interaction's token, in bytes: those seen have some 200.
const maxToken = 1024

// isToken says whether a text can be a part of an address as it is.
func isToken(s string) bool {
	for _, c := range []byte(s) {
		switch {
		case c >= '0' && c <= '9', c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '-', c == '_', c == '=', c == ':':
		case c == '.' && s != "." && s != "..":
		default:
			return false
		}
	}
	return s != "" && len(s) <= maxToken
}

// interaction reads a slash command, or a pressed button or chosen entry of a menu.
func (r record) interaction(e *intake.Event) error {
	i, err := r.readInteraction(e)
	if err != nil || e.Person.ID == "" {
		return err
	}
	switch {
	case i.Type == interactionCommand && i.Data.Type == commandSlash && i.Data.Name != "":
		e.Message = replyMark + i.ID
		e.Action = intake.Said{Text: commandLine(i.Data.Name, i.given())}
	case i.Type == interactionPress:
		if !isID(i.Message.ID) {
			return errors.New("read an event: message.id is missing")
		}
		e.Message = i.Message.ID
		pressed := intake.Pressed{Data: i.Data.CustomID, Token: i.App + " " + i.Token, Stays: true}
		if i.Data.Component == componentSelect {
			pressed.Data, pressed.Chosen = i.chosen()
		}
		if pressed.Data != "" {
			e.Action = pressed
		}
	}
	return nil
}

// chosen is what was chosen of a select menu: values of a menu, or one of the buttons that
// it stands for.
func (i interactionJSON) chosen() (data string, values []string) {
	if data, ok := strings.CutPrefix(i.Data.CustomID, menuMark); ok {
		return data, i.Data.Values
	}
	if len(i.Data.Values) > 0 {
		return i.Data.Values[0], nil
	}
	return "", nil
}

// given are the arguments as they were given, by name.
func (i interactionJSON) given() map[string]string {
	out := map[string]string{}
	for _, o := range i.Data.Options {
		out[o.Name] = o.text()
	}
	return out
}

// text is an argument as it's written.
func (o optionJSON) text() string {
	var s string
	if err := json.Unmarshal(o.Value, &s); err == nil {
		return s
	}
	var n float64
	if err := json.Unmarshal(o.Value, &n); err == nil {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return ""
}

// focused is the argument that's being written; false: none.
func (i interactionJSON) focused() (optionJSON, bool) {
	for _, o := range i.Data.Options {
		if o.Focused {
			return o, true
		}
	}
	return optionJSON{}, false
}

// commandLine is a slash command as it's written as a text, on one line: its arguments in
// the order of the command's parameters, whatever order they were given in. Blanks within
// them stay: they may be part of a name.
func commandLine(name string, given map[string]string) string {
	words := []string{"/" + name}
	add := func(text string) {
		text = strings.TrimSpace(strings.Map(func(r rune) rune {
			if unicode.IsControl(r) {
				return ' '
			}
			return r
		}, text))
		if text != "" {
			words = append(words, text)
		}
	}
	for _, c := range commands.Commands() {
		if c.Name != name {
			continue
		}
		for _, p := range c.Params {
			add(given[p.Name])
			delete(given, p.Name)
		}
	}
	var rest []string
	for name := range given { // of another version of panebridge
		rest = append(rest, name)
	}
	slices.Sort(rest)
	for _, name := range rest {
		add(given[name])
	}
	return strings.Join(words, " ")
}
