package telegramtest

import (
	"context"
	"strings"
)

// method is what the stand-in knows of one method of the Bot API.
type method struct {
	name   string
	family Family
	run    func(*call) (any, *refusal)
	// waits is set instead of run for what may take long. It's called without the
	// lock.
	waits func(context.Context, *call) (any, *refusal)
}

// methods returns what's spoken, by name in small letters: "All methods in the
// Bot API are case-insensitive" (core.telegram.org/bots/api#making-requests).
func (s *Server) methodTable() map[string]method {
	table := map[string]method{}
	add := func(name string, family Family, run func(*call) (any, *refusal)) {
		table[strings.ToLower(name)] = method{name: name, family: family, run: run}
	}
	table["getupdates"] = method{name: "getUpdates", waits: s.getUpdates}

	add("getMe", Free, s.getMe)
	add("setWebhook", Free, s.setWebhook)
	add("deleteWebhook", Free, s.deleteWebhook)
	add("getWebhookInfo", Free, s.getWebhookInfo)
	add("getChat", Free, s.getChat)
	add("getChatMember", Free, s.getChatMember)
	add("getChatAdministrators", Free, s.getChatAdministrators)
	add("getFile", Free, s.getFile)
	add("getMyCommands", Free, s.getMyCommands)
	add("answerCallbackQuery", Free, s.answerCallbackQuery)
	add("leaveChat", Free, s.leaveChat)

	add("setMyCommands", Menus, s.setMyCommands)
	add("deleteMyCommands", Menus, s.deleteMyCommands)

	add("sendChatAction", Typing, s.sendChatAction)
	add("sendMessageDraft", Typing, s.sendMessageDraft)

	add("sendMessage", Messages, s.sendMessage)
	add("sendDocument", Messages, s.sendDocument)
	add("sendPhoto", Messages, s.sendPhoto)
	add("editMessageText", Messages, s.editMessageText)
	add("editMessageCaption", Messages, s.editMessageCaption)
	add("editMessageReplyMarkup", Messages, s.editMessageReplyMarkup)
	add("deleteMessage", Messages, s.deleteMessage)
	add("deleteMessages", Messages, s.deleteMessages)
	add("setMessageReaction", Messages, s.setMessageReaction)
	add("pinChatMessage", Messages, s.pinChatMessage)
	add("unpinChatMessage", Messages, s.unpinChatMessage)
	add("createForumTopic", Messages, s.createForumTopic)
	add("editForumTopic", Messages, s.editForumTopic)
	add("closeForumTopic", Messages, s.closeForumTopic)
	add("reopenForumTopic", Messages, s.reopenForumTopic)
	add("deleteForumTopic", Messages, s.deleteForumTopic)
	return table
}

func (s *Server) familyOf(name string) Family {
	return s.methods[strings.ToLower(name)].family
}
