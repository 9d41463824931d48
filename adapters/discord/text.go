package discord

import (
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/discord"
)

// maxText is the longest content of a message. Discord says characters; UTF-16 units
// are never fewer.
const maxText = discord.MaxUnits

// nothingToSee stands for a page of which nothing can be seen: Discord refuses such
// messages.
const nothingToSee = "[nothing to see]"

// pageText is Shape.Text: markup is part of a message's content.
func pageText(p adapters.Page) string {
	if s := styled(p); s != "" {
		return s
	}
	return nothingToSee
}

// pageSize is Shape.Size.
func pageSize(p adapters.Page) int { return adapters.UTF16Len(styled(p)) }

// styled is a page with all its formatting; "" if nothing of it can be seen.
func styled(p adapters.Page) string {
	s := discord.Markdown(adapters.Rendered(p).Text())
	if p.Ending == nil || p.Ending.Link == "" {
		return s
	}
	linked, whole := p.Ending.Linked(), p.Ending.String()
	above, ok := strings.CutSuffix(s, noticeText(whole))
	if !ok {
		return s
	}
	s = above + "[" + noticeText(linked) + "](<" + p.Ending.Link + ">)"
	rest := strings.TrimPrefix(whole, linked) // a link whose text holds another is none
	if words, apart := strings.CutPrefix(rest, " "); apart {
		return s + " " + noticeText(words)
	}
	return s + noticeText(rest)
}

// noticeText is what panebridge says itself, as Discord takes it.
func noticeText(text string) string {
	return discord.Markdown(render.Page{Lines: []render.Line{render.Whole(render.Notice, text)}}.Text())
}

// cutNotice stands at the end of a post that's too long for a message.
const cutNotice = `\[the rest doesn't fit\]`

// postText is Markdown as Discord takes it, cut to what a message holds.
func postText(markdown string) string {
	source := []render.Part{{Kind: render.Answer, Source: markdown}}
	t, _, whole := discord.Form(maxText).Next(source, render.Place{})
	s := ""
	if whole {
		s = discord.Markdown(t)
	} else {
		t, _, _ = discord.Form(maxText-len(cutNotice)-2).Next(source, render.Place{})
		s = discord.Markdown(t) + "\n\n" + cutNotice
	}
	if s == "" {
		return nothingToSee
	}
	return s
}
