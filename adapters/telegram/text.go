package telegram

import (
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

// formatted is a page as Telegram takes it. If that takes too many entities, it's
// shown as code, with its markup: nothing is lost then, and nobody mentioned.
func formatted(p adapters.Page) entities.Message {
	parts := partsOf(p)
	m := entities.From(render.Render(parts, render.Place{}, render.End(parts)))
	if tooMany(m) {
		code := []render.Part{{Kind: render.Pane, Source: adapters.PlainText(p)}}
		m = entities.From(render.Render(code, render.Place{}, render.End(code)))
	}
	if m.Text == "" {
		m = entities.Message{Text: nothingToSee}
	}
	return m
}

// tooMany says that a message has more entities than Telegram takes, whatever the
// length of its text.
func tooMany(m entities.Message) bool { return m.Size() > entities.Units(m.Text) }

// partsOf are what a page shows: its notices, and its lines by their kinds.
func partsOf(p adapters.Page) []render.Part {
	var b parts
	b.notice(adapters.Page{Double: p.Double})
	b.notice(adapters.Page{Cut: p.Cut, Dropped: p.Dropped})
	for _, piece := range p.Pieces {
		if piece.Gap != nil {
			// Above an empty line, as PlainText has it.
			b.notice(adapters.Page{Pieces: []adapters.Piece{{Gap: piece.Gap}}})
		}
		b.add(render.KindOf(piece.Line.Kind), piece.Text())
	}
	if len(p.Live) > 0 {
		b.add(render.Pane, strings.Join(p.Live, "\n"))
	}
	b.notice(adapters.Page{Attached: p.Attached})
	b.notice(adapters.Page{Ended: p.Ended})
	return b.list
}

// parts are stretches of one kind each.
type parts struct {
	list  []render.Part
	empty int // lines owed before the next text: they belong to what stands below them
}

func (b *parts) add(kind render.Kind, text string) {
	if text == "" {
		b.empty++
		return
	}
	text = strings.Repeat("\n", b.empty) + text
	b.empty = 0
	if n := len(b.list); n > 0 && b.list[n-1].Kind == kind {
		b.list[n-1].Source += "\n" + text
		return
	}
	b.list = append(b.list, render.Part{Kind: kind, Source: text})
}

// notice adds what a page says that has nothing else.
func (b *parts) notice(p adapters.Page) {
	if text := strings.TrimSuffix(adapters.PlainText(p), "\n"); text != "" {
		b.add(render.Notice, text)
	}
}

// cutNotice stands at the end of a post that's too long for a message.
const cutNotice = "[the rest doesn't fit]"

// postText is Markdown as Telegram takes it, cut to a length in UTF-16 units.
func postText(markdown string, longest int) entities.Message {
	source := []render.Part{{Kind: render.Answer, Source: markdown}}
	t, _, whole := entities.Form(longest).Next(source, render.Place{})
	if !whole {
		t, _, _ = entities.Form(longest-len(cutNotice)-2).Next(source, render.Place{})
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
func withoutEntities(m entities.Message) entities.Message {
	var b strings.Builder
	at := 0
	for _, name := range render.Mentions(m.Text) {
		b.WriteString(m.Text[at:name.Start])
		b.WriteString(strings.Replace(m.Text[name.Start:name.End], "@", "\uFF20", 1))
		at = name.End
	}
	b.WriteString(m.Text[at:])
	return entities.Message{Text: b.String()}
}
