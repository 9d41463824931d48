package telegramtest

import (
	"strconv"
	"time"
)

// callbackLives is for how long a press may be answered. Telegram doesn't say;
// bots that take longer than some ten to twenty seconds see "query is too old"
// (github.com/eternnoir/pyTelegramBotAPI/issues/1615).
const callbackLives = 15 * time.Second

// maxAnswer: "0-200 characters" (core.telegram.org/bots/api#answercallbackquery).
const maxAnswer = 200

// Press is a button that was pressed, and what the bot answered.
type Press struct {
	ID       string
	By       int64
	At       time.Time
	Message  int
	Data     string
	Answered time.Time // zero if not yet
	Text     string    // of the answer
	Alert    bool
}

var errOldQuery = badRequest("query is too old and response timeout expired or query ID is invalid")

// wireCallback is core.telegram.org/bots/api#callbackquery.
type wireCallback struct {
	ID           string       `json:"id"`
	From         User         `json:"from"`
	Message      *wireMessage `json:"message,omitempty"`
	ChatInstance string       `json:"chat_instance"`
	Data         string       `json:"data"`
}

func (s *Server) answerCallbackQuery(c *call) (any, *refusal) {
	p := s.presses[c.text("callback_query_id")]
	switch {
	case p == nil || !p.Answered.IsZero() || now().Sub(p.At) > callbackLives:
		return nil, errOldQuery
	case len([]rune(c.text("text"))) > maxAnswer:
		return nil, badRequest("MESSAGE_TOO_LONG")
	}
	p.Answered, p.Text, p.Alert = now(), c.text("text"), c.flag("show_alert")
	s.Touch()
	return true, nil
}

// press tells the bot that a button was pressed.
func (s *Server) press(c *chat, m *Message, by int64, data string) string {
	id := strconv.FormatInt(1<<52+int64(len(s.presses)), 10)
	s.presses[id] = &Press{ID: id, By: by, At: now(), Message: m.ID, Data: data}
	s.update("callback_query", wireCallback{
		ID: id, From: s.users[by], Message: s.wire(c, m, true),
		ChatInstance: strconv.FormatInt(-c.id, 10), Data: data,
	})
	return id
}

// Press returns what became of a press.
func (s *Server) Press(id string) (Press, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.presses[id]
	if p == nil {
		return Press{}, false
	}
	return *p, true
}
