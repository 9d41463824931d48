package inbound

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

const (
	// quoteRows is how many rows of a message are quoted at most, the first and the last ones, and quoteWidth how many
	// characters of each: enough to know which it is. The agent has what it said itself.
	quoteRows, quoteWidth = 12, 200
)

// withQuote is a text as it's typed that answers a message: below what that shows, if the binding says so.
//
// Only an agent that's known to read what's typed is sent quotes, and a text for it isn't typed into anything else: to a shell
// "> notes" is a file to be written. A text that a program does something with keeps its beginning. Of what the bot wrote only
// a mirror's messages are quoted: an answer to a card or a reply is to panebridge.
func (in *Inbound) withQuote(ctx context.Context, ev intake.Event, s intake.Said, text string, to sessions.Session) (string, error) {
	quotes := func(b adapters.Binding) bool { return b.Session == to.ID && b.Quotes && b.Input }
	if s.Quoted.Text == "" || to.Addressee.Agent() == "" || !slices.ContainsFunc(in.opt.Hub.BindingsAt(ev.Place), quotes) || begins(s.Text, "/!#") {
		return text, nil
	}
	if s.Quoted.Ours {
		id, err := in.opt.Store.MessageSession(ctx, ev.Place.Adapter, ev.Place.Chat, s.ReplyTo)
		switch {
		case errors.Is(err, sessions.ErrUnknown):
			return text, nil
		case err != nil:
			return "", fmt.Errorf("look for the message that's answered: %w", err)
		case id != to.ID:
			return text, nil
		}
	}
	if quote := quoteOf(s.Quoted.Text); quote != "" {
		return quote + "\n\n" + text, nil
	}
	return text, nil
}

// begins says whether a text begins with one of some characters, behind blanks.
func begins(text, with string) bool {
	text = strings.TrimSpace(text)
	return text != "" && strings.ContainsRune(with, rune(text[0]))
}

// quoteOf is the beginning and the end of a text as a quote; "": there's nothing to see of it.
func quoteOf(text string) string {
	rows := strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\v\f\u0085\u2028\u2029", r) })
	var shown []string
	for _, row := range rows {
		if row = strings.TrimRight(strings.Map(printableRune, row), " "); row != "" {
			shown = append(shown, "> "+adapters.Shorten(row, quoteWidth))
		}
	}
	if n := len(shown); n > quoteRows {
		shown = slices.Concat(shown[:quoteRows/2], []string{"> …"}, shown[n-quoteRows/2+1:])
	}
	return strings.Join(shown, "\n")
}

// printableRune drops what can't be typed, or turns the direction of writing.
func printableRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case !unicode.IsPrint(r):
		return -1
	}
	return r
}
