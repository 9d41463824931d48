package discordtest

import (
	"fmt"
	"maps"
	"slices"
)

// Command sends a slash command that the bot has registered, and returns the
// interaction's id. Options are by name: a string, an int or float64, a bool, the
// id of a user or channel, an Upload, or for a subcommand the map of its own.
func (p *Person) Command(channel, name string, options map[string]any) (string, error) {
	defer p.s.lock()()
	return p.command(channel, name, options, "", nil)
}

// Complete is what the phone sends while the person types an option: partial is
// what stands there, filled the options that were filled in before.
func (p *Person) Complete(channel, name, option, partial string, filled map[string]any) (string, error) {
	defer p.s.lock()()
	all := maps.Clone(filled)
	if all == nil {
		all = map[string]any{}
	}
	all[option] = partial
	return p.command(channel, name, all, option, func(o CommandOption) bool { return o.Autocomplete })
}

func (p *Person) command(channel, name string, options map[string]any, focused string, fits func(CommandOption) bool) (string, error) {
	s := p.s
	in, err := p.visible(channel)
	if err != nil {
		return "", err
	}
	command := s.command(in.guildID(), name)
	place := in.guildID()
	if command == nil {
		command, place = s.command("", name), ""
	}
	switch {
	case command == nil:
		return "", fmt.Errorf("there's no command /%s here", name)
	case in.kind == KindForum:
		return "", fmt.Errorf("%q is a forum, where nobody can write", in.name)
	case in.locked && in.archived:
		return "", fmt.Errorf("thread %q is locked", in.name)
	}
	resolved := map[string]any{}
	filled, err := s.fillOptions(in, command.Options, options, focused, resolved)
	if err != nil {
		return "", fmt.Errorf("/%s: %w", name, err)
	}
	if fits != nil && !slices.ContainsFunc(command.Options, func(o CommandOption) bool { return o.Name == focused && fits(o) }) {
		return "", fmt.Errorf("/%s: option %s isn't completed", name, focused)
	}
	data := map[string]any{"id": command.ID, "name": name, "type": 1, "options": filled}
	if place != "" {
		data["guild_id"] = place
	}
	if len(resolved) > 0 {
		data["resolved"] = map[string]any{"attachments": resolved}
	}
	kind := askCommand
	if focused != "" {
		kind = askAutocomplete
	}
	return s.ask(p, in, &Interaction{kind: kind, Name: name}, nil, data), nil
}

// fillOptions writes the options that were given, in the command's order.
func (s *Server) fillOptions(in *channel, known []CommandOption, given map[string]any, focused string, resolved map[string]any) ([]map[string]any, error) {
	list := []map[string]any{}
	left := maps.Clone(given)
	for _, o := range known {
		value, ok := left[o.Name]
		delete(left, o.Name)
		if !ok {
			if o.Required && focused == "" {
				return nil, fmt.Errorf("option %s is required", o.Name)
			}
			continue
		}
		w := map[string]any{"name": o.Name, "type": o.Type}
		if o.Name == focused {
			w["value"], w["focused"] = value, true
		} else if err := s.fillOption(in, o, value, w, resolved); err != nil {
			return nil, err
		}
		list = append(list, w)
	}
	for name := range left {
		return nil, fmt.Errorf("there's no option %s", name)
	}
	return list, nil
}

func (s *Server) fillOption(in *channel, o CommandOption, value any, w, resolved map[string]any) error {
	switch v := value.(type) {
	case map[string]any:
		below, err := s.fillOptions(in, o.Options, v, "", resolved)
		w["options"] = below
		if o.Type != OptionCommand {
			return fmt.Errorf("option %s is no subcommand", o.Name)
		}
		return err
	case Upload:
		f := s.addFile(in, v.Name, v.Content)
		w["value"], resolved[f.ID] = f.ID, s.wireFile(f)
		if o.Type != OptionFile {
			return fmt.Errorf("option %s takes no file", o.Name)
		}
		return nil
	}
	if !o.takes(value) {
		return fmt.Errorf("option %s can't be %v", o.Name, value)
	}
	w["value"] = value
	return nil
}

// takes reports whether a phone would let a value be sent.
func (o CommandOption) takes(value any) bool {
	if len(o.Choices) > 0 && !slices.ContainsFunc(o.Choices, func(c Choice) bool { return fmt.Sprint(c.Value) == fmt.Sprint(value) }) {
		return false
	}
	switch value.(type) {
	case string:
		return o.Type == OptionText || o.Type == OptionUser || o.Type == OptionChannel
	case int:
		return o.Type == OptionInteger || o.Type == OptionNumber
	case float64:
		return o.Type == OptionNumber
	case bool:
		return o.Type == OptionBoolean
	}
	return false
}

// Press presses the button with that custom id, or that label, below a message,
// and returns the interaction's id.
func (p *Person) Press(message, button string) (string, error) {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err != nil {
		return "", err
	}
	for _, c := range slices.Concat(m.Rows...) {
		switch {
		case c.Select || c.CustomID != button && c.Label != button:
		case c.Disabled:
			return "", fmt.Errorf("button %q is disabled", button)
		case c.CustomID == "":
			return "", fmt.Errorf("button %q sends nothing", button)
		default:
			return p.component(in, m, c, nil, map[string]any{"custom_id": c.CustomID, "component_type": componentButton}), nil
		}
	}
	return "", fmt.Errorf("message %s has no button %q", message, button)
}

// Select chooses options of the menu with that custom id, by their values.
func (p *Person) Select(message, menu string, values ...string) (string, error) {
	defer p.s.lock()()
	in, m, err := p.message(message)
	if err != nil {
		return "", err
	}
	for _, c := range slices.Concat(m.Rows...) {
		if !c.Select || c.CustomID != menu {
			continue
		}
		if c.Disabled || len(values) < c.Min || len(values) > c.Max {
			return "", fmt.Errorf("menu %q takes %d to %d values, if it's enabled", menu, c.Min, c.Max)
		}
		for i, v := range values {
			if slices.Contains(values[:i], v) {
				return "", fmt.Errorf("menu %q has the value %q once", menu, v)
			}
			if !slices.ContainsFunc(c.Options, func(o Option) bool { return o.Value == v }) {
				return "", fmt.Errorf("menu %q has no value %q", menu, v)
			}
		}
		return p.component(in, m, c, values, map[string]any{"custom_id": menu, "component_type": componentSelect, "values": append([]string{}, values...)}), nil
	}
	return "", fmt.Errorf("message %s has no menu %q", message, menu)
}

func (p *Person) component(in *channel, m *Message, c Component, values []string, data map[string]any) string {
	return p.s.ask(p, in, &Interaction{kind: askComponent, Name: c.CustomID, Values: values}, m, data)
}

// Submit fills in the form that an interaction opened, and sends it.
func (p *Person) Submit(interaction string, values map[string]string) (string, error) {
	s := p.s
	defer s.lock()()
	i := s.interactions[interaction]
	if i == nil || i.Form == nil || i.Person != p.ID {
		return "", fmt.Errorf("interaction %s opened no form for %s", interaction, p.Name)
	}
	rows := []map[string]any{}
	for _, f := range i.Form.Fields {
		value, ok := values[f.CustomID]
		if !ok {
			value = f.Value
		}
		rows = append(rows, map[string]any{"type": componentRow, "components": []map[string]any{{"type": componentText, "custom_id": f.CustomID, "value": value}}})
	}
	data := map[string]any{"custom_id": i.Form.CustomID, "components": rows}
	return s.ask(p, s.channels[i.Channel], &Interaction{kind: askModal, Name: i.Form.CustomID}, s.messages[i.Message], data), nil
}
