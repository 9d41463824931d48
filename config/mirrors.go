package config

import (
	"slices"
	"strings"
)

// Mirror is a rule: sessions whose name matches are mirrored to a chat.
type Mirror struct {
	Session string `yaml:"session" is:"glob" eg:"agent-*" doc:"Pattern (* ? [a-z]) of session names."`
	To      string `yaml:"to" is:"target" eg:"telegram:-1001234567890" doc:"ADAPTER:CHAT, or ADAPTER:CHAT/THREAD for one thread or topic."`
	View    string `yaml:"view" oneof:"stream final screen" eg:"stream" doc:"stream, the default, shows output as it comes, final only finished turns, screen the screen as it is."`
	Input   bool   `yaml:"input" doc:"Whether what is written there goes to the session."`
}

// adapterNames are the platforms a session can be mirrored to.
var adapterNames = []string{"telegram", "discord"} //nolint:gochecknoglobals // a constant table

func targetProblem(text string) string {
	const must = "must be ADAPTER:CHAT, such as telegram:-1001234567890, "
	adapter, chat, ok := strings.Cut(text, ":")
	if !ok || adapter == "" {
		return must + "with ADAPTER one of " + strings.Join(adapterNames, ", ")
	}
	if !slices.Contains(adapterNames, adapter) {
		return "must name a known adapter before the colon: one of " + strings.Join(adapterNames, ", ")
	}
	chat, thread, threaded := strings.Cut(chat, "/")
	if !isChatID(chat) || threaded && !isChatID(thread) {
		return must + "with the chat's number, and after a / the thread's"
	}
	return ""
}

// isChatID: both platforms number their chats and threads; groups on Telegram
// have negative numbers.
func isChatID(text string) bool {
	digits := strings.TrimPrefix(text, "-")
	return digits != "" && len(digits) <= 20 && strings.Trim(digits, "0123456789") == ""
}

func (m *Mirror) check(p part) {
	for _, key := range []string{"session", "to"} {
		if !p.given(key) {
			p.problem(key, "must be given")
		}
	}
	if m.View == "" && !p.given("view") {
		m.View = "stream"
	}
}
