package discordtest

import (
	"encoding/json"
	"time"
	"unicode/utf8"
)

// maxNonce is how many characters a nonce has at most
// (docs.discord.com/developers/resources/message#create-message).
const maxNonce = 25

// nonce is a message that was sent with one.
type nonce struct {
	message *Message
	at      time.Time
}

// readNonce reads a text or a number.
func readNonce(form messageForm) (string, *refusal) {
	if len(form.Nonce) == 0 || string(form.Nonce) == "null" {
		return "", nil
	}
	var text string
	var n json.Number
	switch {
	case json.Unmarshal(form.Nonce, &text) == nil:
	case json.Unmarshal(form.Nonce, &n) == nil:
		text = n.String()
	default:
		return "", invalid("nonce", "Could not interpret as a nonce.")
	}
	if utf8.RuneCountInString(text) > maxNonce {
		return "", invalid("nonce", "Must be %d or fewer in length.", maxNonce)
	}
	return text, nil
}

// sentBefore returns the message that has used an enforced nonce already, wherever
// that was: Discord looks at the author alone. One that was deleted counts as well,
// since what's sent again was sent.
func (s *Server) sentBefore(text string, enforced bool) *Message {
	n, known := s.nonces[text]
	if text == "" || !enforced || !known || now().Sub(n.at) >= s.opts.Limits.Nonces {
		return nil
	}
	return n.message
}

// remember keeps the nonce of a message.
func (s *Server) remember(m *Message) {
	if m.Nonce != "" {
		s.nonces[m.Nonce] = nonce{m, now()}
	}
}
