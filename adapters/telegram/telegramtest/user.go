package telegramtest

import "strings"

// User is somebody on Telegram, a person or a bot, as the Bot API writes it.
type User struct {
	ID           int64  `json:"id"`
	IsBot        bool   `json:"is_bot"`
	FirstName    string `json:"first_name"`
	LastName     string `json:"last_name,omitempty"`
	Username     string `json:"username,omitempty"`
	LanguageCode string `json:"language_code,omitempty"`
}

// Name is what a chat shows above a message.
func (u User) Name() string {
	return strings.TrimSpace(u.FirstName + " " + u.LastName)
}

// me is what getMe answers; these fields come with no other call
// (core.telegram.org/bots/api#user).
type me struct {
	User
	CanJoinGroups           bool `json:"can_join_groups"`
	CanReadAllGroupMessages bool `json:"can_read_all_group_messages"`
	SupportsInlineQueries   bool `json:"supports_inline_queries"`
	HasTopicsEnabled        bool `json:"has_topics_enabled"`
	AllowsUsersTopics       bool `json:"allows_users_to_create_topics"`
}

func (s *Server) getMe(*call) (any, *refusal) {
	return me{
		User: s.opts.Bot, CanJoinGroups: true, CanReadAllGroupMessages: !s.opts.Privacy,
		HasTopicsEnabled: s.opts.PrivateTopics, AllowsUsersTopics: s.opts.PrivateTopics,
	}, nil
}
