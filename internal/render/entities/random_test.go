package entities_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

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

// What's well-formed looks as it should.
func TestWellFormedTextLooksRight(t *testing.T) {
	rendertest.Documents(t, 0.4, func(t *rapid.T, seeds []uint64) {
		doc := rendertest.WellFormed(seeds)
		parts := []render.Part{{Kind: render.Answer, Source: doc.Source}}
		messages := split(t, parts, rapid.SampledFrom([]int{250, 400, 4096}).Draw(t, "limit"))
		checkShown(t, doc.Source, messages)
		for _, m := range messages {
			checkLooks(t, doc, m)
		}
	})
}

type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// split makes messages of parts, and holds each to Telegram's rules.
func split(t tester, parts []render.Part, limit int) []entities.Message {
	t.Helper()
	var out []entities.Message
	form := entities.Form(limit)
	for from, done := (render.Place{}), false; !done; {
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

// checkShown wants the marks of a source in the text of messages, each once and in
// order. Those in targets of links may be in the links instead.
func checkShown(t tester, source string, messages []entities.Message) {
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
func checkLooks(t tester, doc rendertest.Document, m entities.Message) {
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
func look(m entities.Message, at int) rendertest.Look {
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
