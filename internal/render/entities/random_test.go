package entities_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/entities"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// limits are those that documents are split at: mostly small ones, because that's
// where messages end in odd places.
func limits(t *rapid.T) int {
	return rapid.SampledFrom([]int{70, 100, 150, 250, 400, 1000, 4096}).Draw(t, "limit")
}

// Whatever is rendered, Telegram takes it, and nothing is lost, doubled or out of
// order.
func TestAnyTextIsShown(t *testing.T) {
	rendertest.Documents(t, 0.6, func(t *rapid.T, seeds []uint64) {
		source := rendertest.Garbage(seeds)
		limit := limits(t)
		parts := []render.Part{{Kind: render.Answer, Source: source}}
		messages := split(t, parts, limit)
		checkShown(t, source, messages)
	})
}

// What's well-formed looks as it should, and all of its text is there, character for
// character.
func TestWellFormedTextLooksRight(t *testing.T) {
	rendertest.Documents(t, 0.4, func(t *rapid.T, seeds []uint64) {
		doc := rendertest.WellFormed(seeds)
		limit := rapid.SampledFrom([]int{250, 400, 4096}).Draw(t, "limit")
		var text strings.Builder
		for _, m := range pages(t, answerPage(doc.Source), limit) {
			text.WriteString(rendertest.Bare(m.Text))
			checkLooks(t, doc, m)
		}
		if got := text.String(); got != doc.Text {
			t.Fatalf("got  %q\nwant %q\nof\n%s", got, doc.Text, doc.Source)
		}
	})
}

type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// split makes messages of parts, and holds each to Telegram's rules.
func split(t tester, parts []render.Part, limit int) []entities.FormattedText {
	t.Helper()
	var out []entities.FormattedText
	form := entities.Form(limit)
	for from, done := (render.TextPosition{}), false; !done; {
		text, next, last := form.Next(parts, from)
		if !last && !from.Before(next) {
			t.Fatalf("message %d: no progress at %v\n%s", len(out), from, parts[0].Source)
		}
		from, done = next, last
		if text.Blank() {
			if !done {
				t.Fatalf("message %d shows nothing\n%s", len(out), parts[0].Source)
			}
			continue
		}
		m := entities.From(text)
		if bad := faults(m, limit); bad != nil {
			t.Fatalf("message %d: %s\n%q\nof\n%s", len(out), strings.Join(bad, "\n"), m.Text, parts[0].Source)
		}
		out = append(out, m)
	}
	return out
}

// answerPage is a page of the lines of an answer.
func answerPage(source string) render.Page {
	var p render.Page
	for l := range strings.SplitSeq(source, "\n") {
		p.Lines = append(p.Lines, render.Whole(render.Answer, l))
	}
	return p
}

// pages makes messages of a page, and holds each to Telegram's rules.
func pages(t tester, p render.Page, limit int) []entities.FormattedText {
	t.Helper()
	var out []entities.FormattedText
	form := entities.Form(limit)
	for len(p.Lines) > 0 {
		first, rest := form.Split(p)
		m := entities.From(first.Text())
		if bad := faults(m, limit); m.Text != "" && bad != nil {
			t.Fatalf("message %d: %s\n%q\nof\n%+v", len(out), strings.Join(bad, "\n"), m.Text, first)
		}
		out, p = append(out, m), rest
	}
	return out
}

// checkShown wants the marks of a source in the text of messages, each once and in
// order. Those in targets of links may be in the links instead.
func checkShown(t tester, source string, messages []entities.FormattedText) {
	t.Helper()
	var shown []rune
	links := map[rune]bool{}
	for _, m := range messages {
		shown = append(shown, rendertest.Marks(m.Text)...)
		for _, e := range m.Entities {
			u, err := url.PathUnescape(e.URL)
			if err != nil {
				t.Fatalf("%v", err)
			}
			for _, r := range rendertest.Marks(u) {
				links[r] = true
			}
		}
	}
	for i := 1; i < len(shown); i++ {
		if shown[i] <= shown[i-1] {
			t.Fatalf("%c is shown behind %c\n%s", shown[i], shown[i-1], source)
		}
	}
	for _, r := range rendertest.Marks(source) {
		if _, ok := slices.BinarySearch(shown, r); !ok && !links[r] {
			t.Fatalf("%c is lost\n%s\n%+v", r, source, messages)
		}
	}
}

// checkLooks wants each mark of a message to look as the document says.
func checkLooks(t tester, doc rendertest.Document, m entities.FormattedText) {
	t.Helper()
	at := 0
	for _, r := range m.Text {
		if want, ok := doc.Looks[r]; ok {
			if got := look(m, at); got != want {
				t.Fatalf("%c looks like %+v, want %+v\n%s\n%q %+v", r, got, want, doc.Source, m.Text, m.Entities)
			}
		}
		at += utf16.RuneLen(r)
	}
}

// look is how the unit at an offset looks.
func look(m entities.FormattedText, at int) rendertest.Look {
	var l rendertest.Look
	for _, e := range m.Entities {
		if at < e.Offset || at >= e.Offset+e.Length {
			continue
		}
		switch e.Type {
		case entities.Bold:
			l.Bold = true
		case entities.Italic:
			l.Italic = true
		case entities.Strikethrough:
			l.Strike = true
		case entities.Code:
			l.Code = true
		case entities.Pre:
			l.Pre, l.Language = true, e.Language
		case entities.Blockquote, entities.ExpandableBlockquote:
			l.Quote = true
		case entities.TextLink:
			l.URL = e.URL
		default:
		}
	}
	return l
}

// However an answer is divided between messages, all of them together show
// everything once, and each is the same whatever comes behind its last line.
func TestAnyDivisionShowsEverything(t *testing.T) {
	rendertest.Documents(t, 0.05, func(t *rapid.T, seeds []uint64) {
		source := rendertest.Garbage(seeds)
		links := rapid.Bool().Draw(t, "links")
		if links {
			source = rendertest.Links(seeds)
		}
		parts := []render.Part{{Kind: render.Answer, Source: source}}
		var messages []entities.FormattedText
		for from := 0; from < len(source); {
			to := from + rapid.IntRange(1, 200).Draw(t, "bytes")
			if links && rapid.Bool().Draw(t, "at a bracket") {
				to = bracket(source, from+1, rapid.IntRange(0, 3).Draw(t, "bracket"))
			}
			if rapid.Bool().Draw(t, "whole lines") {
				to = lineBreak(source, min(to, len(source)))
			}
			for to < len(source) && !utf8.RuneStart(source[to]) {
				to++
			}
			to = min(to, len(source))
			m := entities.From(render.Render(parts, render.TextPosition{Byte: from}, render.TextPosition{Byte: to}))
			known := []render.Part{{Kind: render.Answer, Source: source[:lineBreak(source, to)]}}
			if source[to-1] == '\n' {
				known[0].Source = source[:to]
			}
			again := entities.From(render.Render(known, render.TextPosition{Byte: from}, render.TextPosition{Byte: to}))
			if m.Text != again.Text || len(m.Entities) != len(again.Entities) {
				t.Fatalf("bytes %d to %d are %q, and %q when nothing comes behind the line\n%s", from, to, m.Text, again.Text, source)
			}
			messages = append(messages, m)
			from = to
		}
		checkShown(t, source, messages)
	})
}

// bracket is the place of a bracket behind a byte, after so many others.
func bracket(s string, at, others int) int {
	for i := at; i < len(s); i++ {
		if strings.IndexByte("[]()", s[i]) < 0 {
			continue
		}
		if others--; others < 0 {
			return i
		}
	}
	return len(s)
}

// lineBreak is the end of the line that a byte is in.
func lineBreak(s string, at int) int {
	if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(s)
}
