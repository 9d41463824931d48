package discordtest

import (
	"fmt"
	"unicode/utf8"
)

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
