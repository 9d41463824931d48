package telegramtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// The limits of an inline keyboard. "1-64 bytes"
// (core.telegram.org/bots/api#inlinekeyboardbutton). Telegram doesn't document a
// limit of buttons; more than 100, or 8 in a row, are refused here because
// phones don't show them.
const (
	maxCallbackData = 64
	maxButtons      = 100
	maxRow          = 8
	maxMarkup       = 10 << 10
)

// Button is a button below a message. One of Data, URL and Copy is set.
type Button struct {
	Text string
	Data string // callback_data
	URL  string
	Copy string // what pressing it copies
}

// wireMarkup is core.telegram.org/bots/api#inlinekeyboardmarkup.
type wireMarkup struct {
	InlineKeyboard [][]wireButton `json:"inline_keyboard"`
}

type wireButton struct {
	Text         string  `json:"text"`
	URL          string  `json:"url,omitempty"`
	CallbackData *string `json:"callback_data,omitempty"`
	CopyText     *struct {
		Text string `json:"text"`
	} `json:"copy_text,omitempty"`
}

func wireButtons(rows [][]Button) *wireMarkup {
	if len(rows) == 0 {
		return nil
	}
	w := &wireMarkup{}
	for _, row := range rows {
		wired := make([]wireButton, 0, len(row))
		for _, b := range row {
			wired = append(wired, b.wire())
		}
		w.InlineKeyboard = append(w.InlineKeyboard, wired)
	}
	return w
}

func (b Button) wire() wireButton {
	w := wireButton{Text: b.Text, URL: b.URL}
	if b.Data != "" {
		w.CallbackData = &b.Data
	}
	if b.Copy != "" {
		w.CopyText = &struct {
			Text string `json:"text"`
		}{b.Copy}
	}
	return w
}

// buttonsOf reads reply_markup. Other keyboards than inline ones are read and
// leave no trace: this project has no use for them.
func buttonsOf(c *call) ([][]Button, *refusal) {
	raw := c.text("reply_markup")
	if raw == "" {
		return nil, nil
	}
	if !json.Valid([]byte(raw)) {
		return nil, badRequest("can't parse reply keyboard markup JSON object")
	}
	if !bytes.HasPrefix(bytes.TrimSpace([]byte(raw)), []byte("{")) {
		return nil, badRequest("object expected as reply markup")
	}
	var markup wireMarkup
	if err := json.Unmarshal([]byte(raw), &markup); err != nil {
		return nil, badRequest(`field "inline_keyboard" of the InlineKeyboardMarkup must be an Array of Arrays`)
	}
	return readButtons(markup)
}

func readButtons(markup wireMarkup) ([][]Button, *refusal) {
	var rows [][]Button
	count, size := 0, 0
	for _, wired := range markup.InlineKeyboard {
		var row []Button
		for _, w := range wired {
			b, r := readButton(w)
			if r != nil {
				return nil, r
			}
			row = append(row, b)
			count, size = count+1, size+len(b.Text)+len(b.Data)+len(b.URL)
		}
		if len(row) > maxRow {
			return nil, badRequest("reply markup is too long")
		}
		if len(row) > 0 {
			rows = append(rows, row)
		}
	}
	if count > maxButtons || size > maxMarkup {
		return nil, badRequest("reply markup is too long")
	}
	return rows, nil
}

// readButton takes the first kind that's there, as Telegram does; an empty
// copy_text beside it is what a client sends that can't leave it out.
func readButton(w wireButton) (Button, *refusal) {
	b := Button{Text: w.Text}
	switch {
	case strings.TrimSpace(w.Text) == "":
		return b, badRequest("inline keyboard button text must be non-empty")
	case w.URL != "":
		url, why := checkLink(w.URL)
		if why != "" {
			return b, badRequest("inline keyboard button URL '%s' is invalid: %s", w.URL, why)
		}
		b.URL = url
	case w.CallbackData != nil:
		if b.Data = *w.CallbackData; b.Data == "" || len(b.Data) > maxCallbackData {
			return b, badRequest("BUTTON_DATA_INVALID")
		}
	case w.CopyText != nil && w.CopyText.Text != "":
		if b.Copy = w.CopyText.Text; len([]rune(b.Copy)) > 256 {
			return b, badRequest("BUTTON_COPY_TEXT_INVALID")
		}
	default:
		return b, badRequest("can't parse inline keyboard button: Text buttons are unallowed in the inline keyboard")
	}
	return b, nil
}

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

// The limits of commands (core.telegram.org/bots/api#botcommand).
const (
	maxCommands    = 100
	maxDescription = 256
)

var commandName = regexp.MustCompile(`^[a-z0-9_]{1,32}$`)

// Command is a command of the bot's menu.
type Command struct {
	Command     string `json:"command"`
	Description string `json:"description"`
}

// commandScope says who sees a menu
// (core.telegram.org/bots/api#botcommandscope).
type commandScope struct {
	Type   string `json:"type"`
	ChatID any    `json:"chat_id"`
	UserID int64  `json:"user_id"`
}

// scopeOf returns the name that a call's scope and language have here.
func (s *Server) scopeOf(c *call) (string, *refusal) {
	scope := commandScope{Type: "default"}
	if c.has("scope") {
		decoder := json.NewDecoder(strings.NewReader(c.text("scope")))
		decoder.UseNumber()
		if err := decoder.Decode(&scope); err != nil {
			return "", badRequest("can't parse BotCommandScope: %v", err)
		}
	}
	switch scope.Type {
	case "default", "all_private_chats", "all_group_chats", "all_chat_administrators":
		return scopeName(scope.Type, 0, 0, c.text("language_code")), nil
	case "chat", "chat_administrators", "chat_member":
		chat, r := s.findChat(fmt.Sprint(scope.ChatID))
		if r != nil {
			return "", r
		}
		return scopeName(scope.Type, chat.id, scope.UserID, c.text("language_code")), nil
	}
	return "", badRequest("can't parse BotCommandScope: Unsupported type specified")
}

func scopeName(kind string, chat, user int64, language string) string {
	return fmt.Sprintf("%s/%d/%d/%s", kind, chat, user, language)
}

func (s *Server) setMyCommands(c *call) (any, *refusal) {
	var list []Command
	if err := c.decode("commands", &list); err != nil {
		return nil, badRequest("can't parse commands JSON object")
	}
	if len(list) > maxCommands {
		return nil, badRequest("BOT_COMMANDS_TOO_MUCH")
	}
	for i := range list {
		list[i].Command = strings.TrimPrefix(list[i].Command, "/")
		switch {
		case !commandName.MatchString(list[i].Command):
			return nil, badRequest("BOT_COMMAND_INVALID")
		case isBlank(list[i].Description) || len([]rune(list[i].Description)) > maxDescription:
			return nil, badRequest("BOT_COMMAND_DESCRIPTION_INVALID")
		}
	}
	name, r := s.scopeOf(c)
	if r != nil {
		return nil, r
	}
	s.commands[name] = list
	s.Touch()
	return true, nil
}

func (s *Server) getMyCommands(c *call) (any, *refusal) {
	name, r := s.scopeOf(c)
	if r != nil {
		return nil, r
	}
	if list := s.commands[name]; list != nil {
		return list, nil
	}
	return []Command{}, nil
}

func (s *Server) deleteMyCommands(c *call) (any, *refusal) {
	name, r := s.scopeOf(c)
	if r != nil {
		return nil, r
	}
	delete(s.commands, name)
	s.Touch()
	return true, nil
}

// Commands returns the menu a person finds in a chat: the narrowest that was
// set, in the order of core.telegram.org/bots/api#determining-list-of-commands.
// Languages aren't looked at.
func (s *Server) Commands(chat, user int64) []Command {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := s.mustChat(chat)
	names := []string{scopeName("chat", chat, 0, ""), scopeName("all_private_chats", 0, 0, "")}
	if c.kind != Private {
		names = []string{scopeName("chat_member", chat, user, "")}
		if c.isAdmin(user) {
			names = append(names, scopeName("chat_administrators", chat, 0, ""))
		}
		names = append(names, scopeName("chat", chat, 0, ""))
		if c.isAdmin(user) {
			names = append(names, scopeName("all_chat_administrators", 0, 0, ""))
		}
		names = append(names, scopeName("all_group_chats", 0, 0, ""))
	}
	for _, name := range append(names, scopeName("default", 0, 0, "")) {
		if list := s.commands[name]; len(list) > 0 {
			return list
		}
	}
	return nil
}
