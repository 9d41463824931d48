package telegramtest_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-telegram/bot/models"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// updates returns what waits for the bot, as the library reads it.
func (w *world) updates() []models.Update {
	w.t.Helper()
	var list []models.Update
	for _, raw := range w.Pending() {
		var u models.Update
		ok(w.t, json.Unmarshal(raw, &u))
		list = append(list, u)
	}
	return list
}

func (w *world) last() models.Update {
	w.t.Helper()
	list := w.updates()
	if len(list) == 0 {
		w.t.Fatal("no update waits")
	}
	return list[len(list)-1]
}

func TestWhatAPersonSees(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	first := w.must("sendMessage", args{"chat_id": w.forum, "message_thread_id": w.topic, "text": "working…", "disable_notification": true}).id()
	w.must("editMessageText", of(w, first, args{"text": "working… 2", "disable_notification": false}))
	done := w.must("sendMessage", args{
		"chat_id": w.forum, "message_thread_id": w.topic, "text": " done · 3 min ", "reply_parameters": args{"message_id": first, "quote": "2"},
		"reply_markup": args{"inline_keyboard": [][]any{{
			args{"text": "Again", "callback_data": "again", "copy_text": args{"text": ""}}, args{"text": "Log", "url": "example.com/log"},
		}, {args{"text": "Copy", "copy_text": args{"text": "abc"}}}}},
	})
	w.must("sendMessage", args{"chat_id": w.forum, "text": "in General", "disable_notification": true})
	w.must("setMessageReaction", of(w, first, args{"reaction": []args{thumb("👍")}}))
	w.must("pinChatMessage", of(w, done.id(), args{"disable_notification": true}))

	seen := w.See(w.at())
	texts := ""
	for _, m := range seen {
		texts += fmt.Sprintf("%s%s|", m.Service, m.Text)
	}
	if texts != "forum_topic_created|working… 2|done · 3 min|pinned_message|" {
		t.Errorf("the topic shows %s", texts)
	}
	if m := seen[1]; m.Rang || m.EditedAt.IsZero() || m.History[0].Text != "working…" || len(m.Reactions) != 1 || m.Reactions[0].Emoji != "👍" {
		t.Errorf("the first message is %+v", m)
	}
	if m := seen[2]; !m.Rang || m.ReplyTo != first || m.Quote != "2" || !m.Pinned || fmt.Sprint(m.Buttons) != "[[{Again again  } {Log  http://example.com/log }] [{Copy   abc}]]" {
		t.Errorf("the second message is %+v", m)
	}
	if g := w.See(telegramtest.Place{Chat: w.forum}); len(g) != 1 || g[0].Text != "in General" {
		t.Errorf("General shows %+v", g)
	}
	if rings := w.Rings(); len(rings) != 1 || rings[0].Text != "done · 3 min" || rings[0].Place != w.at() {
		t.Errorf("rings are %+v", rings)
	}

	w.must("unpinChatMessage", args{"chat_id": w.forum})
	w.must("pinChatMessage", of(w, first, args{}))
	w.must("deleteMessages", args{"chat_id": w.forum, "message_ids": []int{first, 999}})
	if rings := w.Rings(); len(rings) != 2 {
		t.Errorf("a loud pin: rings are %+v", rings)
	}
	if n := len(w.See(w.at())); n != 4 { // less the deleted one, more the pin
		t.Errorf("%d messages are seen", n)
	}
	var full models.ChatFullInfo
	decode(t, w.must("getChat", args{"chat_id": w.forum}).Result, &full)
	if !full.IsForum || full.Title != "agents" || full.PinnedMessage != nil {
		t.Errorf("getChat says %+v", full)
	}

	topic := w.must("createForumTopic", args{"chat_id": w.forum, "name": "docs", "icon_color": 7322096})
	w.must("editForumTopic", args{"chat_id": w.forum, "message_thread_id": w.topic, "name": "api"})
	w.must("closeForumTopic", args{"chat_id": w.forum, "message_thread_id": w.topic})
	if list := w.Topics(w.forum); len(list) != 2 || list[0].Name != "api" || !list[0].Closed || list[1].CreatedBy != w.Bot().ID {
		t.Errorf("topics are %+v; made %s", list, topic.Result)
	}
	w.must("deleteForumTopic", args{"chat_id": w.forum, "message_thread_id": w.topic})
	if n := len(w.Topics(w.forum)); n != 1 || len(w.See(w.at())) != 0 {
		t.Errorf("%d topics are left, and %d messages in the deleted one", n, len(w.See(w.at())))
	}
}

func TestDraftsAndActionsFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		private := opened(w)
		at := w.ada.Private()
		w.must("sendMessageDraft", args{"chat_id": private, "draft_id": 7, "text": ""})
		w.must("sendMessageDraft", args{"chat_id": private, "draft_id": 7, "text": "thin", "entities": bold(0, 4)})
		w.must("sendChatAction", args{"chat_id": private, "action": "typing"})
		if d := w.Drafts(at); len(d) != 1 || d[0].Text != "thin" || w.Doing(at) != "typing" {
			t.Errorf("drafts are %+v, doing %q", d, w.Doing(at))
		}
		time.Sleep(5 * time.Second)
		if len(w.Drafts(at)) != 1 || w.Doing(at) != "" {
			t.Errorf("after 5 s: %d drafts, doing %q", len(w.Drafts(at)), w.Doing(at))
		}
		time.Sleep(25 * time.Second)
		if len(w.Drafts(at)) != 0 {
			t.Error("the draft is still there after 30 s")
		}
		w.must("sendMessageDraft", args{"chat_id": private, "draft_id": 8, "text": "x"})
		w.must("sendMessage", args{"chat_id": private, "text": "x!"})
		if len(w.Drafts(at)) != 0 {
			t.Error("the draft is still there beside its message")
		}
		w.must("sendChatAction", args{"chat_id": w.forum, "action": "typing", "message_thread_id": 1})
		if w.Doing(telegramtest.Place{Chat: w.forum}) != "typing" {
			t.Error("nobody types in General")
		}
	})
}

func TestWhatPeopleDoReachesTheBot(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	u := w.last() // the topic that was made
	if m := u.Message; m == nil || m.ForumTopicCreated == nil || m.ForumTopicCreated.Name != "api-refactor" || m.MessageThreadID != w.topic || !m.IsTopicMessage || m.ID != w.topic {
		t.Fatalf("creating a topic says %+v", u.Message)
	}

	id := got(t)(w.ada.Say(w.at(), "/new@panebridge_bot claude"))
	m := w.last().Message
	if m.ID != id || m.Text != "/new@panebridge_bot claude" || m.From.ID != w.ada.ID || m.Chat.ID != w.forum || !m.Chat.IsForum ||
		m.Chat.Type != models.ChatTypeSupergroup || m.Entities[0].Type != models.MessageEntityTypeBotCommand || m.Entities[0].Length != 19 {
		t.Errorf("saying says %+v", m)
	}
	if r := m.ReplyToMessage; r == nil || r.ID != w.topic || r.ForumTopicCreated == nil {
		t.Errorf("in a topic everything answers its beginning, not %+v", r)
	}

	mine := w.must("sendMessage", args{"chat_id": w.forum, "message_thread_id": w.topic, "text": "which?", "reply_markup": buttons("A", "a")}).id()
	_, err := w.ada.Send(w.at(), telegramtest.Post{Text: "that", ReplyTo: mine, Quote: "which"})
	ok(t, err)
	if m := w.last().Message; m.ReplyToMessage.ID != mine || !m.ReplyToMessage.From.IsBot || m.Quote.Text != "which" {
		t.Errorf("answering says %+v", m)
	}
	ok(t, w.ada.Edit(w.forum, id, "/new codex"))
	if e := w.last().EditedMessage; e == nil || e.Text != "/new codex" || e.EditDate == 0 {
		t.Errorf("editing says %+v", e)
	}

	press, err := w.bob.Press(w.forum, mine, "A")
	ok(t, err)
	if q := w.last().CallbackQuery; q == nil || q.ID != press || q.Data != "a" || q.From.ID != w.bob.ID || q.Message.Message.ID != mine ||
		q.Message.Message.ReplyMarkup.InlineKeyboard[0][0].CallbackData != "a" {
		t.Errorf("pressing says %+v", q)
	}
	_, err = w.bob.Forge(w.forum, mine, "forged")
	ok(t, err)
	if q := w.last().CallbackQuery; q.Data != "forged" {
		t.Errorf("forging says %+v", q)
	}
	if _, err := w.bob.Press(w.forum, mine, "B"); err == nil {
		t.Error("a button that isn't there could be pressed")
	}

	got(t)(w.ada.SendFile(w.at(), "../a.txt", []byte("a"), "look"))
	if m := w.last().Message; m.Document == nil || m.Document.FileName != "../a.txt" || m.Document.MimeType != "text/plain" || m.Document.FileSize != 1 || m.Caption != "look" {
		t.Errorf("a file says %+v", m)
	}
	got(t)(w.ada.SendPhoto(w.at(), picture(t, 30, 20), ""))
	if m := w.last().Message; len(m.Photo) != 1 || m.Photo[0].Width != 30 || m.Photo[0].Height != 20 {
		t.Errorf("a photo says %+v", m.Photo)
	}
	got(t)(w.ada.SendVoice(w.at(), []byte("ogg"), 3*time.Second))
	if m := w.last().Message; m.Voice == nil || m.Voice.Duration != 3 || m.Voice.MimeType != "audio/ogg" {
		t.Errorf("a voice note says %+v", m.Voice)
	}

	before := len(w.Pending())
	ok(t, w.ada.Delete(w.forum, id))
	got := w.last()
	if len(w.Pending()) != before {
		t.Errorf("deleting says %+v, and should say nothing", got)
	}
	ok(t, w.ada.RenameTopic(w.at(), "renamed"))
	if m := w.last().Message; m.ForumTopicEdited == nil || m.ForumTopicEdited.Name != "renamed" {
		t.Errorf("renaming says %+v", m)
	}
	ok(t, w.ada.CloseTopic(w.at()))
	if m := w.last().Message; m.ForumTopicClosed == nil || m.MessageThreadID != w.topic {
		t.Errorf("closing says %+v", m)
	}
	ok(t, w.ada.ReopenTopic(w.at()))
	if w.last().Message.ForumTopicReopened == nil {
		t.Errorf("reopening says %+v", w.last().Message)
	}
	before = len(w.Pending())
	ok(t, w.ada.DeleteTopic(w.at()))
	if len(w.Pending()) != before {
		t.Error("deleting a topic says something")
	}
	for i, u := range w.updates()[1:] {
		if u.ID != w.updates()[i].ID+1 {
			t.Errorf("update %d follows %d", u.ID, w.updates()[i].ID)
		}
	}
}

func TestMembersComeAndGo(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	rights := telegramtest.Rights{PinMessages: true}
	ok(t, w.ada.SetBotRights(w.forum, &rights))
	m := w.last().MyChatMember
	if m == nil || !m.OldChatMember.Administrator.CanManageTopics || m.NewChatMember.Administrator.CanManageTopics || !m.NewChatMember.Administrator.CanPinMessages {
		t.Errorf("taking rights says %+v", m)
	}
	if err := w.bob.SetBotRights(w.forum, nil); err == nil {
		t.Error("an ordinary member could take the bot's rights")
	}
	var me models.ChatMember
	decode(t, w.must("getChatMember", args{"chat_id": w.forum, "user_id": w.Bot().ID}).Result, &me)
	if me.Type != models.ChatMemberTypeAdministrator || me.Administrator.CanManageTopics {
		t.Errorf("the bot is %+v", me)
	}
	var admins []models.ChatMember
	decode(t, w.must("getChatAdministrators", args{"chat_id": w.forum}).Result, &admins)
	if len(admins) != 2 || admins[0].Type != models.ChatMemberTypeOwner {
		t.Errorf("administrators are %+v", admins)
	}

	w.call("getUpdates", args{"allowed_updates": []string{"message", "chat_member", "my_chat_member", "message_reaction"}})
	eve := w.AddUser(telegramtest.User{FirstName: "Eve"})
	if _, err := eve.Say(w.at(), "hi"); err == nil {
		t.Error("a stranger could write")
	}
	eve.Join(w.forum)
	list := w.updates()
	if c, m := list[len(list)-2].ChatMember, list[len(list)-1].Message; c == nil || c.NewChatMember.Type != models.ChatMemberTypeMember || m == nil || m.NewChatMembers[0].ID != eve.ID {
		t.Errorf("joining says %+v, %+v", c, m)
	}
	ok(t, w.ada.Promote(w.forum, eve, telegramtest.AllRights()))
	if c := w.last().ChatMember; c == nil || c.NewChatMember.Type != models.ChatMemberTypeAdministrator {
		t.Errorf("promoting says %+v", c)
	}
	id := got(t)(eve.Say(w.at(), "hi"))
	ok(t, w.bob.React(w.forum, id, "👍"))
	ok(t, w.bob.React(w.forum, id, "👎"))
	if r := w.last().MessageReaction; r == nil || r.OldReaction[0].ReactionTypeEmoji.Emoji != "👍" || r.NewReaction[0].ReactionTypeEmoji.Emoji != "👎" || r.User.ID != w.bob.ID {
		t.Errorf("reacting says %+v", r)
	}
	ok(t, eve.Leave(w.forum))
	if m := w.last().Message; m == nil || m.LeftChatMember == nil || m.LeftChatMember.ID != eve.ID {
		t.Errorf("leaving says %+v", m)
	}
	ok(t, w.ada.KickBot(w.forum))
	if m := w.last().MyChatMember; m == nil || m.NewChatMember.Type != models.ChatMemberTypeBanned {
		t.Errorf("kicking says %+v", m)
	}
	before := len(w.Pending())
	got(t)(w.ada.Say(w.at(), "alone at last"))
	if len(w.Pending()) != before {
		t.Error("the bot hears a group that it was thrown out of")
	}

	moved, err := w.ada.Migrate(w.group, true)
	ok(t, err)
	list = w.updates()
	from, to := list[len(list)-2].Message, list[len(list)-1].Message
	if from.MigrateToChatID != moved || from.Chat.ID != w.group || to.MigrateFromChatID != w.group || to.Chat.ID != moved || !to.Chat.IsForum {
		t.Errorf("migrating says %+v, %+v", from, to)
	}
	w.ada.BlockBot()
	if m := w.last().MyChatMember; m.NewChatMember.Type != models.ChatMemberTypeBanned || m.Chat.ID != w.ada.ID {
		t.Errorf("blocking says %+v", m)
	}
}

func TestAnswersOutsideTopicsHaveAThreadThatIsNoTopic(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	general := telegramtest.Place{Chat: w.forum}
	first := got(t)(w.ada.Say(general, "one"))
	if m := w.last().Message; m.MessageThreadID != 0 || m.ReplyToMessage != nil {
		t.Errorf("General says %+v", m)
	}
	second := got(t)(w.bob.Reply(general, first, "two"))
	got(t)(w.ada.Reply(general, second, "three"))
	if m := w.last().Message; m.MessageThreadID != first || m.IsTopicMessage {
		t.Errorf("an answer in General has thread %d (topic: %v), want %d", m.MessageThreadID, m.IsTopicMessage, first)
	}
	if n := len(w.See(general)); n != 3 {
		t.Errorf("General shows %d messages", n)
	}
}

func TestPrivacyMode(t *testing.T) {
	w := newWorld(t, telegramtest.Options{Privacy: true})
	at := telegramtest.Place{Chat: w.group}
	mine := w.must("sendMessage", args{"chat_id": w.group, "text": "hi"}).id()
	for text, heard := range map[string]bool{
		"just talking": false, "/sessions": true, "/sessions@panebridge_bot": true, "/sessions@other_bot": false,
		"hey @panebridge_bot": true, "hey @other_bot": false, "do /sessions": false,
	} {
		before := len(w.Pending())
		got(t)(w.ada.Say(at, text))
		if (len(w.Pending()) > before) != heard {
			t.Errorf("%q: heard is %v", text, !heard)
		}
	}
	before := len(w.Pending())
	got(t)(w.ada.Reply(at, mine, "an answer"))
	got(t)(w.ada.Say(w.at(), "an administrator hears everything"))
	if len(w.Pending()) != before+2 {
		t.Error("answers, or what administrators hear, went unheard")
	}
	var me models.User
	decode(t, w.must("getMe", nil).Result, &me)
	if me.CanReadAllGroupMessages {
		t.Error("getMe says that it reads everything")
	}
}

func TestMenus(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	set := func(name string, scope args) {
		w.must("setMyCommands", args{"commands": []args{{"command": "/" + name, "description": name}}, "scope": scope})
	}
	set("a", args{"type": "default"})
	set("b", args{"type": "all_group_chats"})
	set("c", args{"type": "chat", "chat_id": w.forum})
	set("d", args{"type": "chat_member", "chat_id": w.forum, "user_id": w.bob.ID})
	for _, c := range []struct {
		chat, user int64
		want       string
	}{{w.ada.ID, w.ada.ID, "a"}, {w.group, w.ada.ID, "b"}, {w.forum, w.ada.ID, "c"}, {w.forum, w.bob.ID, "d"}} {
		if list := w.Commands(c.chat, c.user); len(list) != 1 || list[0].Command != c.want {
			t.Errorf("in %d %d finds %+v, want %s", c.chat, c.user, list, c.want)
		}
	}
	if raw := w.must("getMyCommands", args{"scope": args{"type": "chat", "chat_id": fmt.Sprint(w.forum)}}).Result; !strings.Contains(string(raw), `"command":"c"`) {
		t.Errorf("getMyCommands says %s", raw)
	}
	if raw := w.must("getMyCommands", args{"language_code": "de"}).Result; string(raw) != "[]" {
		t.Errorf("getMyCommands says %s", raw)
	}
}
