package entities_test

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/render/entities"
)

// telegram is the stand-in, of which only the checks of texts are asked. They keep
// nothing.
var telegram = telegramtest.New(telegramtest.Options{})

// faults holds a message against what the stand-in refuses and changes: it must be
// shown as it was made, and mention nobody.
func faults(m entities.FormattedText, limit int) []string {
	if n := entities.Units(m.Text); n > limit {
		return []string{fmt.Sprintf("%d units, limit %d", n, limit)}
	}
	list := make([]telegramtest.Entity, len(m.Entities))
	for i, e := range m.Entities {
		list[i] = telegramtest.Entity{Type: string(e.Type), Offset: e.Offset, Length: e.Length, URL: e.URL, Language: e.Language}
	}
	text, shown, err := telegram.Shown(m.Text, list)
	if err != nil {
		return []string{"refused: " + err.Error()}
	}
	var bad []string
	if text != m.Text {
		bad = append(bad, fmt.Sprintf("%q is shown as %q", m.Text, text))
	}
	for _, e := range shown {
		if e.Type == "mention" || e.Type == "text_mention" {
			bad = append(bad, fmt.Sprintf("%+v mentions somebody", e))
		}
	}
	for _, e := range m.Entities {
		if !has(shown, e) {
			bad = append(bad, fmt.Sprintf("%+v isn't shown", e))
		}
		if wrong := unsound(m, e); wrong != "" {
			bad = append(bad, fmt.Sprintf("%+v %s", e, wrong))
		}
	}
	return bad
}

// has says whether an entity is among those that are shown. Telegram writes URLs in
// its own way.
func has(shown []telegramtest.Entity, e entities.Entity) bool {
	for _, s := range shown {
		if s.Type == string(e.Type) && s.Offset == e.Offset && s.Length == e.Length && s.Language == e.Language {
			return true
		}
	}
	return false
}

// unsound says what's wrong with an entity that the stand-in wouldn't mind.
func unsound(m entities.FormattedText, e entities.Entity) string {
	if text := slice(m.Text, e.Offset, e.Length); strings.Trim(text, " \n") != text {
		return fmt.Sprintf("has blanks at the ends of %q", text)
	}
	if e.Type != entities.TextLink {
		if e.URL != "" || e.Type != entities.Pre && e.Language != "" {
			return "has an argument that its type doesn't have"
		}
		return ""
	}
	if u, err := url.Parse(e.URL); err != nil || u.Scheme != "http" && u.Scheme != "https" {
		return "isn't a link of the web"
	}
	return ""
}

// slice is the part of a text at an offset, both in UTF-16 units.
func slice(s string, offset, length int) string {
	from, at := -1, 0
	for i, r := range s {
		if at == offset {
			from = i
		}
		if at == offset+length {
			return s[from:i]
		}
		at += entities.Units(string(r))
	}
	return s[max(from, 0):]
}
