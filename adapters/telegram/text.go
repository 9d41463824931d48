package telegram

import (
	"fmt"
	"strings"

	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
)

// The lengths of texts, in UTF-16 units (core.telegram.org/bots/api#sendmessage,
// #senddocument).
const (
	maxText    = entities.MaxUnits
	maxCaption = 1024
)

// nothingToSee stands for a page of which nothing can be seen: Telegram refuses
// such messages.
const nothingToSee = "[nothing to see]"

// pageText is Shape.Text.
func pageText(p adapters.Page) string { return formatted(p).Text }

// pageLook is Shape.Look.
func pageLook(p adapters.Page) string {
	m := formatted(p)
	return m.Text + fmt.Sprint(m.Entities)
}

// pageSize is Shape.Size: a page with more entities than Telegram takes is too long.
func pageSize(p adapters.Page) int { return styled(p).Size() }

// formatted is a page as Telegram takes it. If a page of one line takes too many
// entities, it's shown as code, with its markup: nothing is lost then, and nobody
// mentioned.
func formatted(p adapters.Page) entities.FormattedText {
	m := styled(p)
	if tooMany(m) {
		code := []render.Part{{Kind: render.Pane, Source: adapters.PlainText(p)}}
		m = entities.From(render.Render(code, render.TextPosition{}, render.End(code)))
	}
	if m.Text == "" {
		m = entities.FormattedText{Text: nothingToSee}
	}
	return m
}

// tooMany says that a message has more entities than Telegram takes, whatever the
// length of its text.
func tooMany(m entities.FormattedText) bool { return m.Size() > entities.Units(m.Text) }

// styled is a page with all its formatting.
func styled(p adapters.Page) entities.FormattedText {
	m := entities.From(adapters.Rendered(p).Text())
	if p.Ending == nil {
		return m
	}
	ending := strings.Count(m.Text, "\n") - strings.Count(p.Ending.String(), "\n") // the line in which it begins
	line, at := 0, 0
	for _, l := range p.Ending.Links() {
		for ; line < ending+l.Line; line++ {
			at += strings.IndexByte(m.Text[at:], '\n') + 1
		}
		if strings.HasPrefix(m.Text[at:], l.Text) {
			m.Entities = append(m.Entities, entities.Entity{
				Type: entities.TextLink, Offset: entities.Units(m.Text[:at]), Length: entities.Units(l.Text), URL: l.Address,
			})
		}
	}
	return m
}

// cutNotice stands at the end of a post that's too long for a message.
const cutNotice = "[the rest doesn't fit]"

// postText is Markdown as Telegram takes it, cut to a length in UTF-16 units.
func postText(markdown string, longest int) entities.FormattedText {
	source := []render.Part{{Kind: render.Answer, Source: markdown}}
	t, _, whole := entities.Form(longest).Next(source, render.TextPosition{})
	if !whole {
		t, _, _ = entities.Form(longest-len(cutNotice)-2).Next(source, render.TextPosition{})
	}
	m := entities.From(t)
	if tooMany(m) { // one address alone is too long
		m = withoutEntities(m)
	}
	if !whole {
		m.Text += "\n\n" + cutNotice
	}
	if m.Text == "" {
		m.Text = nothingToSee
	}
	return m
}

// wire is entities as the library encodes them.
func wire(list []entities.Entity) []models.MessageEntity {
	out := make([]models.MessageEntity, 0, len(list))
	for _, e := range list {
		out = append(out, models.MessageEntity{
			Type: models.MessageEntityType(e.Type), Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language,
		})
	}
	return out
}

// withoutEntities is a message without formatting. What would then mention somebody
// gets a wider "@", which doesn't.
func withoutEntities(m entities.FormattedText) entities.FormattedText {
	var b strings.Builder
	at := 0
	for _, name := range render.Mentions(m.Text) {
		b.WriteString(m.Text[at:name.Start])
		b.WriteString(strings.Replace(m.Text[name.Start:name.End], "@", "\uFF20", 1))
		at = name.End
	}
	b.WriteString(m.Text[at:])
	return entities.FormattedText{Text: b.String()}
}
