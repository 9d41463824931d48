package telegram

import (
	"time"

	"github.com/panebridge/panebridge/qos"
)

// Limits are Telegram's windows. A group may get 20 messages a minute: "bots are not able to send
// more than 20 messages per minute to the same group" (core.telegram.org/bots/faq). That's the
// default of qos.Options.GroupMPM, so Group has no windows here. Edits count as messages do: "limits
// for message editing and sending are shared" (github.com/tdlib/td/issues/2592, 3034).
func Limits() qos.Limits {
	return qos.Limits{
		// "Your bot should not send more than ~30 messages per second"
		// (core.telegram.org/bots/faq); the gap paces to 25, below it.
		Bot: qos.Limit{Windows: []qos.Window{{Calls: 30, Per: time.Second}}, Gap: 40 * time.Millisecond},
		// A message a second at most is asked for in every chat (same page).
		Group: qos.Limit{Gap: time.Second},
		// "In a single chat, avoid sending more than one message per second"; short
		// bursts are tolerated (same page).
		Private: qos.Limit{Windows: []qos.Window{{Calls: 60, Per: time.Minute}, {Calls: 3, Per: 3 * time.Second}}, Gap: time.Second},
		// Both are messages.setTyping, of which 20 per 5 s and 40 per 30 s are allowed
		// in a chat (core.telegram.org/api/bots/ai). 80 % of that is divided between
		// them; typing is sent every 5 s at most, so it needs little.
		Families: map[qos.Family]qos.Limit{
			qos.FamilyTyping: {Windows: []qos.Window{{Calls: 2, Per: 5 * time.Second}, {Calls: 7, Per: 30 * time.Second}}},
			qos.FamilyDraft:  {Windows: []qos.Window{{Calls: 14, Per: 5 * time.Second}, {Calls: 25, Per: 30 * time.Second}}},
		},
		IsPrivate: func(c qos.Chat) bool { return isPrivate(string(c)) },
	}
}
