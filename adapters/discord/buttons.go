package discord

import (
	"fmt"
	"slices"

	"github.com/bwmarrin/discordgo"

	"github.com/panebridge/panebridge/adapters"
)

// What a message may have below it (docs.discord.com/developers/components/reference).
const (
	maxRows    = 5
	maxInRow   = 5
	maxLabel   = 80  // characters of a button
	maxOptions = 25  // of a select menu, which fills a row
	maxHint    = 150 // characters of what stands in a select menu
)

// menuMark begins the custom id of a menu. What's chosen of a menu whose custom id begins
// otherwise is a button.
const menuMark = "m:"

// below is what a message has below it: menus, then buttons. nil: nothing.
func below(menus []adapters.Menu, rows [][]adapters.Button) []discordgo.MessageComponent {
	var out []discordgo.MessageComponent
	for _, m := range menus {
		out = append(out, discordgo.ActionsRow{Components: []discordgo.MessageComponent{menu(m)}})
	}
	return append(out, keyboard(rows, maxRows-len(menus))...)
}

// menu is a menu as Discord takes it.
func menu(m adapters.Menu) discordgo.SelectMenu {
	out := discordgo.SelectMenu{
		MenuType: discordgo.StringSelectMenu, CustomID: menuMark + m.Data, Placeholder: cut(m.Hint, maxHint),
		MinValues: &m.Least, MaxValues: min(m.Most, len(m.Options)),
	}
	for _, o := range m.Options {
		out.Options = append(out.Options, discordgo.SelectMenuOption{
			Label: cut(o.Label, adapters.MaxOption), Description: cut(o.Detail, adapters.MaxOption), Value: o.Value, Default: o.Chosen,
		})
	}
	return out
}

// keyboard is buttons as Discord takes them, in so many rows at most: rows as they are if
// they fit, else filled up, and more buttons than fit as select menus. nil: none.
func keyboard(rows [][]adapters.Button, most int) []discordgo.MessageComponent {
	var all []adapters.Button
	var fitting [][]adapters.Button
	for _, row := range rows {
		all = append(all, row...)
		fitting = slices.AppendSeq(fitting, slices.Chunk(row, maxInRow))
	}
	switch {
	case len(all) == 0:
		return nil
	case len(all) > most*maxInRow:
		return menus(all, most)
	case len(fitting) > most:
		fitting = slices.Collect(slices.Chunk(all, maxInRow))
	}
	var out []discordgo.MessageComponent
	for _, row := range fitting {
		var line discordgo.ActionsRow
		for _, b := range row {
			line.Components = append(line.Components, button(b))
		}
		out = append(out, line)
	}
	return out
}

func button(b adapters.Button) discordgo.Button {
	out := discordgo.Button{Label: cut(b.Label, maxLabel), Style: discordgo.SecondaryButton, CustomID: b.Data}
	if b.URL != "" {
		out.Style, out.URL, out.CustomID = discordgo.LinkButton, b.URL, ""
	}
	return out
}

// menus are buttons as the options of select menus, whose values are the buttons' data.
// Addresses can't be options, and are left out; what's too much is counted.
func menus(all []adapters.Button, most int) []discordgo.MessageComponent {
	all = slices.DeleteFunc(slices.Clone(all), func(b adapters.Button) bool { return b.URL != "" })
	var out []discordgo.MessageComponent
	for options := range slices.Chunk(all, maxOptions) {
		n := len(out)
		if n == most {
			break
		}
		list := discordgo.SelectMenu{
			MenuType: discordgo.StringSelectMenu, CustomID: fmt.Sprintf("s%d", n+1),
			Placeholder: fmt.Sprintf("%d to %d of %d", n*maxOptions+1, n*maxOptions+len(options), len(all)),
		}
		for _, b := range options {
			list.Options = append(list.Options, discordgo.SelectMenuOption{Label: cut(b.Label, adapters.MaxOption), Value: b.Data})
		}
		out = append(out, discordgo.ActionsRow{Components: []discordgo.MessageComponent{list}})
	}
	return out
}

// cut shortens a text to so many characters.
func cut(text string, most int) string {
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}
