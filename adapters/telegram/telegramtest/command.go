package telegramtest

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

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
