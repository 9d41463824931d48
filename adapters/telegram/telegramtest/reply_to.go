package telegramtest

import "strings"

// answer says which message a message answers.
type answer struct {
	MessageID    int    `json:"message_id"`
	ChatID       any    `json:"chat_id"`
	AllowWithout bool   `json:"allow_sending_without_reply"`
	Quote        string `json:"quote"`
}

// answerOf reads reply_parameters, or the reply_to_message_id of old, and checks
// that the message is there.
func (s *Server) answerOf(c *call, in *chat) (answer, *refusal) {
	a := answer{MessageID: int(c.number("reply_to_message_id")), AllowWithout: c.flag("allow_sending_without_reply")}
	if err := c.decode("reply_parameters", &a); err != nil {
		return a, badRequest("can't parse reply parameters JSON object")
	}
	if a.MessageID == 0 {
		return answer{}, nil
	}
	m := in.byID[a.MessageID]
	switch {
	case m == nil || !m.There():
		if a.AllowWithout {
			return answer{}, nil
		}
		return a, badRequest("message to be replied not found")
	case a.Quote != "" && !strings.Contains(m.Text, a.Quote):
		return a, badRequest("QUOTE_TEXT_INVALID")
	}
	return a, nil
}
