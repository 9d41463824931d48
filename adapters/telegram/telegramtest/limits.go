package telegramtest

import "time"

// Window allows a number of calls in any span of that length. Spans are
// half-open: a call exactly Per after another one is outside its span.
type Window struct {
	Calls int
	Per   time.Duration
}

// Limits are the windows in which calls are counted, by when they arrive. All
// windows of a limit must have room.
type Limits struct {
	// Group is for one group or forum, all its topics together.
	Group []Window
	// Private is for one private chat.
	Private []Window
	// Bot is for all chats together.
	Bot []Window
	// Typing is for chat actions and drafts in one chat, on top of which they
	// don't count in Group and Private.
	Typing []Window
	// Commands is for setMyCommands and deleteMyCommands.
	Commands []Window
}

// TelegramLimits are Telegram's windows, and where the evidence conflicts the
// narrower ones.
func TelegramLimits() Limits {
	return Limits{
		// "In a group, bots are not able to send more than 20 messages per minute"
		// (core.telegram.org/bots/faq). Edits share the limit
		// (github.com/tdlib/td/issues/3034), and so does the message about a new
		// topic; a forum is one chat (github.com/tdlib/td/issues/2592).
		Group: []Window{{20, time.Minute}},
		// "In a single chat, avoid sending more than one message per second. We may
		// allow short bursts that go over this limit" (core.telegram.org/bots/faq).
		// Here: one a second on average over three seconds, all three at once if need
		// be.
		Private: []Window{{3, 3 * time.Second}},
		// "your bot is not able to broadcast more than about 30 messages per second"
		// (core.telegram.org/bots/faq).
		Bot: []Window{{30, time.Second}},
		// Both are messages.setTyping, of which a chat gets 20 in 5 s and 40 in 30 s
		// (core.telegram.org/api/bots/ai).
		Typing: []Window{{20, 5 * time.Second}, {40, 30 * time.Second}},
		// Not documented. Bots that set their commands at every start are silenced for
		// some eight minutes (github.com/openclaw/openclaw/issues/32017). Here: four in
		// ten minutes, enough to set the menus of a new bot once.
		Commands: []Window{{4, 10 * time.Minute}},
	}
}

func (l Limits) withDefaults() Limits {
	d := TelegramLimits()
	for _, pair := range []struct{ given, standard *[]Window }{
		{&l.Group, &d.Group}, {&l.Private, &d.Private}, {&l.Bot, &d.Bot}, {&l.Typing, &d.Typing}, {&l.Commands, &d.Commands},
	} {
		if len(*pair.given) == 0 {
			*pair.given = *pair.standard
		}
	}
	return l
}

// Family is a group of methods that are counted together.
type Family string

// The families. Free methods are neither counted nor stopped by a penalty:
// reading, and answerCallbackQuery, which is "without any limits"
// (github.com/tdlib/telegram-bot-api/issues/648).
const (
	Free     Family = ""
	Messages Family = "messages"
	Typing   Family = "typing"
	Menus    Family = "commands"
)

// Key names what calls are counted for: a family in a chat, or with chat 0 a
// family of the whole bot. Without a family, everything that's counted.
type Key struct {
	Chat   int64
	Family Family
}

// windowsOf returns the windows that count under a key; private says which kind
// of chat it is.
func (l Limits) windowsOf(k Key, private bool) []Window {
	switch {
	case k.Chat == 0 && k.Family == Menus:
		return l.Commands
	case k.Chat == 0 && k.Family == Free:
		return l.Bot
	case k.Family == Typing:
		return l.Typing
	case k.Family == Messages && private:
		return l.Private
	case k.Family == Messages:
		return l.Group
	}
	return nil
}
