package discordtest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// The types of a command's options that are understood
// (docs.discord.com/developers/interactions/application-commands#application-command-object-application-command-option-type).
const (
	OptionCommand = 1
	OptionText    = 3
	OptionInteger = 4
	OptionBoolean = 5
	OptionUser    = 6
	OptionChannel = 7
	OptionNumber  = 10
	OptionFile    = 11
)

// Command is a slash command.
type Command struct {
	ID          string          `json:"id"`
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Type        int             `json:"type,omitempty"`
	Options     []CommandOption `json:"options,omitempty"`
}

// CommandOption is one of a command's options.
type CommandOption struct {
	Type         int             `json:"type"`
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Required     bool            `json:"required,omitempty"`
	Autocomplete bool            `json:"autocomplete,omitempty"`
	Choices      []Choice        `json:"choices,omitempty"`
	Options      []CommandOption `json:"options,omitempty"`
}

// The limits of commands
// (docs.discord.com/developers/interactions/application-commands).
const (
	maxCommands       = 100
	maxCommandOptions = 25
	maxDescribed      = 100
	maxCommandRunes   = 8000
)

// commandName is in small letters where there are small ones.
var commandName = regexp.MustCompile(`^[-_'\p{L}\p{N}]{1,32}$`)

func checkNaming(at, name, description string) *refusal {
	if !commandName.MatchString(name) || strings.ToLower(name) != name {
		return invalid(at+"name", "Command name is invalid")
	}
	if n := utf8.RuneCountInString(description); n < 1 || n > maxDescribed {
		return invalid(at+"description", "Must be between 1 and %d in length.", maxDescribed)
	}
	return nil
}

func (c Command) check() *refusal {
	if c.Type > 1 {
		return invalid("type", "The stand-in knows slash commands only.")
	}
	if r := checkNaming("", c.Name, c.Description); r != nil {
		return r
	}
	text, err := json.Marshal(c)
	if err != nil || utf8.RuneCount(text) > maxCommandRunes {
		return invalid("options", "Command exceeds maximum size (%d)", maxCommandRunes)
	}
	return checkOptions(c.Options)
}

func checkOptions(list []CommandOption) *refusal {
	if len(list) > maxCommandOptions {
		return invalid("options", "Must be %d or fewer in length.", maxCommandOptions)
	}
	seen, optional := map[string]bool{}, false
	for _, o := range list {
		if r := o.check(); r != nil {
			return r
		}
		switch {
		case seen[o.Name]:
			return invalid("options.name", "Option names must be unique")
		case o.Required && optional:
			return invalid("options", "Required options must be placed before non-required options")
		}
		seen[o.Name], optional = true, optional || !o.Required
	}
	return nil
}

func (o CommandOption) check() *refusal {
	if r := checkNaming("options.", o.Name, o.Description); r != nil {
		return r
	}
	known := []int{OptionCommand, OptionText, OptionInteger, OptionBoolean, OptionUser, OptionChannel, OptionNumber, OptionFile}
	offers := slices.Contains([]int{OptionText, OptionInteger, OptionNumber}, o.Type)
	switch {
	case !slices.Contains(known, o.Type):
		return invalid("options.type", "Value must be one of the known types.")
	case o.Type == OptionCommand && o.Required:
		return invalid("options.required", "Subcommands can't be required.")
	case len(o.Choices) > maxChoices:
		return invalid("options.choices", "Must be %d or fewer in length.", maxChoices)
	case o.Autocomplete && (!offers || len(o.Choices) > 0):
		return invalid("options.autocomplete", "Only for text and numbers without choices.")
	case len(o.Choices) > 0 && !offers:
		return invalid("options.choices", "Only for text and numbers.")
	}
	return checkOptions(o.Options)
}

// Commands returns the commands that a guild has, or with "" those that are known
// everywhere.
func (s *Server) Commands(guild string) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Command
	for _, c := range s.commands[guild] {
		list = append(list, *c)
	}
	return list
}

// commandPlace returns whose commands a call is about.
func (s *Server) commandPlace(c *call) (string, *refusal) {
	if c.vars["application"] != s.bot.ID {
		return "", errNoApplication
	}
	if c.vars["guild"] == "" {
		return "", nil
	}
	g, r := s.guildOf(c)
	if r != nil {
		return "", r
	}
	return g.ID, nil
}

func (s *Server) getCommands(c *call) (any, *refusal) {
	place, r := s.commandPlace(c)
	if r != nil {
		return nil, r
	}
	return s.wireCommands(place), nil
}

func (s *Server) wireCommands(place string) []map[string]any {
	list := []map[string]any{}
	for _, command := range s.commands[place] {
		list = append(list, s.wireCommand(place, command))
	}
	return list
}

func (s *Server) wireCommand(place string, command *Command) map[string]any {
	w := map[string]any{
		"id": command.ID, "application_id": s.bot.ID, "type": 1, "name": command.Name, "description": command.Description,
		"options": command.Options, "version": command.ID, "default_member_permissions": nil,
	}
	if place != "" {
		w["guild_id"] = place
	}
	return w
}

// setCommands puts a list in the place of all there were. Those whose name was
// there before keep their id, and don't count for the day.
func (s *Server) setCommands(c *call) (any, *refusal) {
	place, r := s.commandPlace(c)
	if r != nil {
		return nil, r
	}
	var list []Command
	if r := c.decode(&list); r != nil {
		return nil, r
	}
	if len(list) > maxCommands {
		return nil, errCommands
	}
	seen := map[string]bool{}
	for _, command := range list {
		if r := command.check(); r != nil {
			return nil, r
		}
		if seen[command.Name] {
			return nil, invalid("name", "Application command names must be unique")
		}
		seen[command.Name] = true
	}
	var kept []*Command
	for _, command := range list {
		if r := s.identifyCommand(place, &command); r != nil {
			return nil, r
		}
		kept = append(kept, &command)
	}
	s.commands[place] = kept
	return s.wireCommands(place), nil
}

// identifyCommand gives a command the id of the one of its name, or a new one.
func (s *Server) identifyCommand(place string, command *Command) *refusal {
	if old := s.command(place, command.Name); old != nil {
		command.ID = old.ID
		return nil
	}
	command.ID = s.clock.next()
	return s.commandDay(place)
}

func (s *Server) command(place, name string) *Command {
	for _, c := range s.commands[place] {
		if c.Name == name {
			return c
		}
	}
	return nil
}

// createCommand adds a command, or replaces the one of its name.
func (s *Server) createCommand(c *call) (any, *refusal) {
	place, r := s.commandPlace(c)
	if r != nil {
		return nil, r
	}
	var command Command
	if r := c.decode(&command); r != nil {
		return nil, r
	}
	if r := command.check(); r != nil {
		return nil, r
	}
	old := s.command(place, command.Name)
	if old == nil && len(s.commands[place]) >= maxCommands {
		return nil, errCommands
	}
	if r := s.identifyCommand(place, &command); r != nil {
		return nil, r
	}
	if old != nil {
		*old = command
	} else {
		s.commands[place] = append(s.commands[place], &command)
	}
	return s.wireCommand(place, &command), nil
}

// commandOf returns the command that a call names.
func (s *Server) commandOf(c *call) (string, *Command, *refusal) {
	place, r := s.commandPlace(c)
	if r != nil {
		return "", nil, r
	}
	for _, command := range s.commands[place] {
		if command.ID == c.vars["command"] {
			return place, command, nil
		}
	}
	return "", nil, errNoCommand
}

func (s *Server) editCommand(c *call) (any, *refusal) {
	place, command, r := s.commandOf(c)
	if r != nil {
		return nil, r
	}
	changed := *command
	if r := c.decode(&changed); r != nil {
		return nil, r
	}
	changed.ID = command.ID
	if r := changed.check(); r != nil {
		return nil, r
	}
	*command = changed
	return s.wireCommand(place, command), nil
}

func (s *Server) deleteCommand(c *call) (any, *refusal) {
	place, command, r := s.commandOf(c)
	if r != nil {
		return nil, r
	}
	s.commands[place] = slices.DeleteFunc(s.commands[place], func(c *Command) bool { return c == command })
	return nil, nil
}
