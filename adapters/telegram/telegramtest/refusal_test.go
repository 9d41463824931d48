package telegramtest_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// Every refusal of one call in a fresh world. {} in want is left out.
func TestRefusals(t *testing.T) {
	long := strings.Repeat("x", 4097)
	emoji := "😀 ok"
	styled := func(list ...args) args { return args{"text": "one two three", "entities": list} }
	span := func(kind string, offset, length int) args {
		return args{"type": kind, "offset": offset, "length": length}
	}
	var many []args
	for i := range 101 {
		many = append(many, span("bold", i*2, 1))
	}
	links := func(n int) (list []args) {
		for i := range n {
			e := span("text_link", i*2, 1)
			e["url"] = "https://example.com/" + strings.Repeat("a", 200)
			list = append(list, e)
		}
		return list
	}

	// Of sendMessage to the forum's topic.
	for name, c := range map[string]struct {
		a    args
		want string
	}{
		"empty text":            {args{"text": ""}, "message text is empty"},
		"no text":               {args{}, "message text is empty"},
		"blank text":            {args{"text": " \n\t\u200b"}, "text must be non-empty"},
		"too long":              {args{"text": long}, "message is too long"},
		"too long in UTF-16":    {args{"text": strings.Repeat("😀", 2049)}, "message is too long"},
		"raw text too long":     {args{"text": "<b>" + strings.Repeat("&lt;", 8192) + "</b>", "parse_mode": "HTML"}, "text is too long"},
		"unknown parse mode":    {args{"text": "x", "parse_mode": "Markdown"}, "unsupported parse_mode"},
		"broken HTML":           {args{"text": "<b>x", "parse_mode": "HTML"}, `can't parse entities: Can't find end tag corresponding to start tag "b"`},
		"broken MarkdownV2":     {args{"text": "a.b", "parse_mode": "MarkdownV2"}, `can't parse entities: Character '.' is reserved and must be escaped with the preceding '\'`},
		"unknown entity":        {styled(span("sparkle", 0, 3)), "can't parse MessageEntity: Unsupported type specified"},
		"entities no array":     {args{"text": "x", "entities": args{}}, "can't parse MessageEntity"},
		"negative offset":       {styled(span("bold", -1, 3)), "receive an entity with incorrect offset -1"},
		"negative length":       {styled(span("bold", 1, -3)), "receive an entity with incorrect length -3"},
		"empty entity":          {styled(span("bold", 1, 0)), "is empty"},
		"begins after the end":  {styled(span("bold", 13, 1)), "entity begins after the end of the text at UTF-16 offset 13"},
		"ends after the end":    {styled(span("bold", 10, 9)), "entity beginning at UTF-16 offset 10 ends after the end of the text at UTF-16 offset 19"},
		"begins inside a pair":  {args{"text": emoji, "entities": bold(1, 2)}, "entity begins in a middle of a UTF-16 symbol at byte offset 0"},
		"ends inside a pair":    {args{"text": emoji, "entities": bold(0, 1)}, "entity beginning at UTF-16 offset 0 ends in a middle of a UTF-16 symbol at byte offset 0"},
		"crossing":              {styled(span("bold", 0, 5), span("italic", 3, 5)), "italic at UTF-16 offset 3 crosses bold at 0"},
		"bold in code":          {styled(span("code", 0, 5), span("bold", 1, 2)), "bold at UTF-16 offset 1 is inside code at 0"},
		"code in bold":          {styled(span("bold", 0, 5), span("code", 1, 2)), "code at UTF-16 offset 1 is inside bold at 0"},
		"code and bold alike":   {styled(span("bold", 0, 5), span("code", 0, 5)), "bold at UTF-16 offset 0 is inside code at 0"},
		"code in pre":           {styled(span("pre", 0, 5), span("code", 1, 2)), "is inside pre"},
		"quote in quote":        {styled(span("blockquote", 0, 9), span("expandable_blockquote", 1, 2)), "is inside blockquote"},
		"quote in a link":       {styled(args{"type": "text_link", "offset": 0, "length": 9, "url": "https://example.com"}, span("blockquote", 1, 2)), "is inside text_link"},
		"too many entities":     {args{"text": strings.Repeat("x ", 101), "entities": many}, "ENTITIES_TOO_LONG"},
		"entities too large":    {args{"text": strings.Repeat("x ", 60), "entities": links(50)}, "ENTITIES_TOO_LONG"},
		"link to a local file":  {styled(args{"type": "text_link", "offset": 0, "length": 3, "url": "/etc/passwd"}), "entity URL '/etc/passwd' is invalid: Wrong HTTP URL"},
		"link to localhost":     {styled(args{"type": "text_link", "offset": 0, "length": 3, "url": "http://localhost:80"}), "Wrong HTTP URL"},
		"link to a protocol":    {styled(args{"type": "text_link", "offset": 0, "length": 3, "url": "mailto:a@example.com"}), "Unsupported URL protocol"},
		"mention of nobody":     {styled(args{"type": "text_mention", "offset": 0, "length": 3, "user": args{"id": 1}}), "user not found"},
		"mention without user":  {styled(span("text_mention", 0, 3)), `Can't find field "user"`},
		"link to nobody":        {styled(args{"type": "text_link", "offset": 0, "length": 3, "url": "tg://user?id=1"}), "user not found"},
		"emoji without id":      {styled(span("custom_emoji", 0, 3)), "invalid custom emoji identifier specified"},
		"unknown topic":         {args{"text": "x", "message_thread_id": 999}, "message thread not found"},
		"General by its number": {args{"text": "x", "message_thread_id": 1}, "message thread not found"},
		"answer to nothing":     {args{"text": "x", "reply_parameters": args{"message_id": 999}}, "message to be replied not found"},
		"broken answer":         {args{"text": "x", "reply_parameters": "{"}, "can't parse reply parameters JSON object"},
		"broken preview":        {args{"text": "x", "link_preview_options": "["}, "can't parse link preview options JSON object"},
		"data too long":         {args{"text": "x", "reply_markup": buttons("ok", strings.Repeat("d", 65))}, "BUTTON_DATA_INVALID"},
		"data empty":            {args{"text": "x", "reply_markup": buttons("ok", "")}, "BUTTON_DATA_INVALID"},
		"button without text":   {args{"text": "x", "reply_markup": buttons("", "d")}, "inline keyboard button text must be non-empty"},
		"button that's nothing": {args{"text": "x", "reply_markup": args{"inline_keyboard": [][]args{{{"text": "x"}}}}}, "Text buttons are unallowed in the inline keyboard"},
		"button to localhost":   {args{"text": "x", "reply_markup": args{"inline_keyboard": [][]args{{{"text": "x", "url": "localhost:80"}}}}}, "inline keyboard button URL 'localhost:80' is invalid: Wrong HTTP URL"},
		"copies too much":       {args{"text": "x", "reply_markup": args{"inline_keyboard": [][]args{{{"text": "x", "copy_text": args{"text": long}}}}}}, "BUTTON_COPY_TEXT_INVALID"},
		"row too long":          {args{"text": "x", "reply_markup": args{"inline_keyboard": [][]args{row(9)}}}, "reply markup is too long"},
		"too many buttons":      {args{"text": "x", "reply_markup": args{"inline_keyboard": rows(13)}}, "reply markup is too long"},
		"keyboard no JSON":      {args{"text": "x", "reply_markup": "{"}, "can't parse reply keyboard markup JSON object"},
		"keyboard no object":    {args{"text": "x", "reply_markup": "[]"}, "object expected as reply markup"},
		"keyboard no rows":      {args{"text": "x", "reply_markup": args{"inline_keyboard": []int{1}}}, `must be an Array of Arrays`},
	} {
		t.Run("send/"+name, func(t *testing.T) {
			w := newWorld(t, telegramtest.Options{})
			if c.a["message_thread_id"] == nil {
				c.a["message_thread_id"] = w.topic
			}
			c.a["chat_id"] = w.forum
			w.refused("sendMessage", c.a, http.StatusBadRequest, c.want)
			if seen := w.See(w.at()); len(seen) != 1 {
				t.Errorf("a refused message is there: %+v", seen)
			}
			if list := w.Refusals(); len(list) != 1 || list[0].Code != http.StatusBadRequest {
				t.Errorf("refusals are %+v", list)
			}
		})
	}

	// Of other methods.
	for name, c := range map[string]struct {
		method string
		a      func(*world) args
		want   string
	}{
		"no chat":               {"sendMessage", func(*world) args { return args{"text": "x"} }, "400 Bad Request: chat_id is empty"},
		"unknown chat":          {"sendMessage", func(*world) args { return args{"text": "x", "chat_id": 42} }, "400 Bad Request: chat not found"},
		"unknown name":          {"sendMessage", func(*world) args { return args{"text": "x", "chat_id": "@nobody"} }, "400 Bad Request: chat not found"},
		"chat without number":   {"sendMessage", func(*world) args { return args{"text": "x", "chat_id": "ada"} }, "400 Bad Request: chat not found"},
		"writes first":          {"sendMessage", func(w *world) args { return args{"text": "x", "chat_id": w.ada.ID} }, "403 Forbidden: bot can't initiate conversation with a user"},
		"edit of nothing":       {"editMessageText", on(999, args{"text": "x"}), "400 Bad Request: message to edit not found"},
		"edit of others":        {"editMessageText", func(w *world) args { return of(w, got(w.t)(w.ada.Say(w.at(), "hi")), args{"text": "x"}) }, "400 Bad Request: message can't be edited"},
		"edit of service":       {"editMessageText", func(w *world) args { return of(w, w.topic, args{"text": "x"}) }, "400 Bad Request: message can't be edited"},
		"edit to nothing":       {"editMessageText", on(999, args{"text": ""}), "400 Bad Request: message text is empty"},
		"edit of a file's text": {"editMessageText", func(w *world) args { return of(w, sendPhoto(w), args{"text": "x"}) }, "400 Bad Request: there is no text in the message to edit"},
		"caption of text":       {"editMessageCaption", func(w *world) args { return of(w, say(w), args{"caption": "x"}) }, "400 Bad Request: there is no caption in the message to edit"},
		"caption too long":      {"editMessageCaption", func(w *world) args { return of(w, sendPhoto(w), args{"caption": long}) }, "400 Bad Request: message caption is too long"},
		"markup unchanged":      {"editMessageReplyMarkup", func(w *world) args { return of(w, say(w), args{}) }, "400 Bad Request: message is not modified"},
		"delete nothing":        {"deleteMessage", on(999, args{}), "400 Bad Request: message to delete not found"},
		"delete without id":     {"deleteMessage", func(w *world) args { return args{"chat_id": w.forum} }, "400 Bad Request: message identifier is not specified"},
		"delete of a topic":     {"deleteMessage", func(w *world) args { return of(w, w.topic, args{}) }, "400 Bad Request: message can't be deleted"},
		"delete no list":        {"deleteMessages", func(w *world) args { return args{"chat_id": w.forum, "message_ids": "x"} }, "400 Bad Request: can't parse message identifiers"},
		"delete none":           {"deleteMessages", func(w *world) args { return args{"chat_id": w.forum, "message_ids": []int{}} }, "400 Bad Request: message identifiers are not specified"},
		"delete too many":       {"deleteMessages", func(w *world) args { return args{"chat_id": w.forum, "message_ids": make([]int, 101)} }, "400 Bad Request: too many message identifiers"},
		"delete others": {"deleteMessages", func(w *world) args {
			return args{"chat_id": w.group, "message_ids": []int{got(w.t)(w.ada.Say(telegramtest.Place{Chat: w.group}, "hi"))}}
		}, "400 Bad Request: message can't be deleted"},
		"document missing":        {"sendDocument", func(w *world) args { return args{"chat_id": w.forum} }, "400 Bad Request: there is no document in the request"},
		"photo missing":           {"sendPhoto", func(w *world) args { return args{"chat_id": w.forum} }, "400 Bad Request: there is no photo in the request"},
		"document by address":     {"sendDocument", func(w *world) args { return args{"chat_id": w.forum, "document": "https://example.com/x"} }, "400 Bad Request: failed to get HTTP URL content"},
		"document unknown":        {"sendDocument", func(w *world) args { return args{"chat_id": w.forum, "document": "x"} }, "400 Bad Request: wrong file identifier/HTTP URL specified"},
		"file without id":         {"getFile", func(*world) args { return args{} }, "400 Bad Request: file_id not specified"},
		"file unknown":            {"getFile", func(*world) args { return args{"file_id": "x"} }, "400 Bad Request: wrong file_id or the file is temporarily unavailable"},
		"file too large":          {"getFile", func(w *world) args { return args{"file_id": bigFile(w)} }, "400 Bad Request: file is too big"},
		"unknown action":          {"sendChatAction", func(w *world) args { return args{"chat_id": w.forum, "action": "dance"} }, "400 Bad Request: wrong parameter action in request"},
		"action in no topic":      {"sendChatAction", func(w *world) args { return args{"chat_id": w.forum, "action": "typing", "message_thread_id": 999} }, "400 Bad Request: message thread not found"},
		"draft in a group":        {"sendMessageDraft", func(w *world) args { return args{"chat_id": w.forum, "draft_id": 1, "text": "x"} }, "400 Bad Request: TEXTDRAFT_PEER_INVALID"},
		"draft without id":        {"sendMessageDraft", func(w *world) args { return args{"chat_id": opened(w), "draft_id": 0, "text": "x"} }, "400 Bad Request: invalid draft identifier specified"},
		"draft with a word as id": {"sendMessageDraft", func(w *world) args { return args{"chat_id": opened(w), "draft_id": "a", "text": "x"} }, "400 Bad Request: invalid draft identifier specified"},
		"draft too long":          {"sendMessageDraft", func(w *world) args { return args{"chat_id": opened(w), "draft_id": 1, "text": long} }, "400 Bad Request: message is too long"},
		"topic in a group":        {"createForumTopic", func(w *world) args { return args{"chat_id": w.group, "name": "x"} }, "400 Bad Request: the chat is not a forum"},
		"topic without name":      {"createForumTopic", func(w *world) args { return args{"chat_id": w.forum, "name": " "} }, "400 Bad Request: TOPIC_TITLE_EMPTY"},
		"topic with a long name":  {"createForumTopic", func(w *world) args { return args{"chat_id": w.forum, "name": long[:129]} }, "400 Bad Request: topic title is too long"},
		"topic in pink":           {"createForumTopic", func(w *world) args { return args{"chat_id": w.forum, "name": "x", "icon_color": 1} }, "400 Bad Request: invalid icon color"},
		"rename to the same":      {"editForumTopic", inTopic(args{"name": "api-refactor"}), "400 Bad Request: TOPIC_NOT_MODIFIED"},
		"rename to nothing":       {"editForumTopic", inTopic(args{"name": " "}), "400 Bad Request: TOPIC_TITLE_EMPTY"},
		"rename of no topic":      {"editForumTopic", func(w *world) args { return args{"chat_id": w.forum, "message_thread_id": 999, "name": "x"} }, "400 Bad Request: TOPIC_ID_INVALID"},
		"rename without topic":    {"editForumTopic", func(w *world) args { return args{"chat_id": w.forum, "name": "x"} }, "400 Bad Request: invalid message thread identifier specified"},
		"reopen of open":          {"reopenForumTopic", inTopic(args{}), "400 Bad Request: TOPIC_NOT_MODIFIED"},
		"close of closed":         {"closeForumTopic", func(w *world) args { ok(w.t, w.ada.CloseTopic(w.at())); return inTopic(args{})(w) }, "400 Bad Request: TOPIC_NOT_MODIFIED"},
		"pin of nothing":          {"pinChatMessage", on(999, args{}), "400 Bad Request: message to pin not found"},
		"pin of service":          {"pinChatMessage", func(w *world) args { return of(w, w.topic, args{}) }, "400 Bad Request: message can't be pinned"},
		"pin twice":               {"pinChatMessage", func(w *world) args { a := of(w, say(w), args{}); w.must("pinChatMessage", a); return a }, "400 Bad Request: CHAT_NOT_MODIFIED"},
		"unpin of nothing":        {"unpinChatMessage", on(999, args{}), "400 Bad Request: message to unpin not found"},
		"reaction to nothing":     {"setMessageReaction", on(999, args{}), "400 Bad Request: message to react not found"},
		"reaction to service":     {"setMessageReaction", func(w *world) args { return of(w, w.topic, args{}) }, "400 Bad Request: message can't be reacted"},
		"two reactions":           {"setMessageReaction", on(999, args{"reaction": []args{thumb("👍"), thumb("👎")}}), "400 Bad Request: REACTIONS_TOO_MANY"},
		"reaction of no kind":     {"setMessageReaction", on(999, args{"reaction": []args{thumb("🦖")}}), "400 Bad Request: REACTION_INVALID"},
		"reaction no JSON":        {"setMessageReaction", on(999, args{"reaction": "x"}), "400 Bad Request: can't parse reaction types"},
		"answer to no press":      {"answerCallbackQuery", func(*world) args { return args{"callback_query_id": "1"} }, "400 Bad Request: query is too old and response timeout expired or query ID is invalid"},
		"answer too long":         {"answerCallbackQuery", func(w *world) args { return args{"callback_query_id": press(w), "text": long} }, "400 Bad Request: MESSAGE_TOO_LONG"},
		"command in capitals":     {"setMyCommands", func(*world) args { return args{"commands": []args{{"command": "New", "description": "x"}}} }, "400 Bad Request: BOT_COMMAND_INVALID"},
		"command unexplained":     {"setMyCommands", func(*world) args { return args{"commands": []args{{"command": "new", "description": ""}}} }, "400 Bad Request: BOT_COMMAND_DESCRIPTION_INVALID"},
		"too many commands":       {"setMyCommands", func(*world) args { return args{"commands": make([]args, 101)} }, "400 Bad Request: BOT_COMMANDS_TOO_MUCH"},
		"commands no JSON":        {"setMyCommands", func(*world) args { return args{"commands": "x"} }, "400 Bad Request: can't parse commands"},
		"commands nowhere":        {"setMyCommands", func(*world) args { return args{"commands": []args{}, "scope": args{"type": "moon"}} }, "400 Bad Request: can't parse BotCommandScope"},
		"commands broken scope":   {"getMyCommands", func(*world) args { return args{"scope": "{"} }, "400 Bad Request: can't parse BotCommandScope"},
		"commands unknown chat":   {"deleteMyCommands", func(*world) args { return args{"scope": args{"type": "chat", "chat_id": 42}} }, "400 Bad Request: chat not found"},
		"member unknown":          {"getChatMember", func(w *world) args { return args{"chat_id": w.forum, "user_id": 42} }, "400 Bad Request: member not found"},
		"member without number":   {"getChatMember", func(w *world) args { return args{"chat_id": w.forum} }, "400 Bad Request: invalid user_id specified"},
		"admins in private":       {"getChatAdministrators", func(w *world) args { return args{"chat_id": opened(w)} }, "400 Bad Request: there are no administrators in the private chat"},
		"leave in private":        {"leaveChat", func(w *world) args { return args{"chat_id": opened(w)} }, "400 Bad Request: chat member status can't be changed in private chats"},
		"updates of no kind":      {"getUpdates", func(*world) args { return args{"allowed_updates": "x"} }, "400 Bad Request: can't parse allowed updates"},
		"webhook to nowhere":      {"setWebhook", func(*world) args { return args{"url": "nowhere"} }, "400 Bad Request: bad webhook"},
		"webhook secret":          {"setWebhook", func(*world) args { return args{"url": "https://example.com/", "secret_token": "ä"} }, "400 Bad Request: secret token contains unallowed characters"},
		"webhook kinds":           {"setWebhook", func(*world) args { return args{"url": "https://example.com/", "allowed_updates": "x"} }, "400 Bad Request: can't parse allowed updates"},
		"reading with a webhook":  {"getUpdates", func(w *world) args { w.must("setWebhook", args{"url": "https://example.com/"}); return args{} }, "409 Conflict: can't use getUpdates method while webhook is active; use deleteWebhook to delete the webhook first"},
		"unknown method":          {"sendPoll", func(*world) args { return args{} }, "404 Not Found"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, telegramtest.Options{})
			a := c.a(w)
			got := w.call(c.method, a)
			if text := fmt.Sprintf("%d %s", got.ErrorCode, got.Description); got.OK || !strings.HasPrefix(text, c.want) {
				t.Errorf("%s %v:\n got %s\nwant %s", c.method, a, text, c.want)
			}
		})
	}
}

func row(n int) []args {
	var list []args
	for i := range n {
		list = append(list, args{"text": fmt.Sprint(i), "callback_data": "d"})
	}
	return list
}

func rows(n int) [][]args {
	var list [][]args
	for range n {
		list = append(list, row(8))
	}
	return list
}

func thumb(emoji string) args { return args{"type": "emoji", "emoji": emoji} }

func on(message int, a args) func(*world) args {
	return func(w *world) args { return of(w, message, a) }
}

func of(w *world, message int, a args) args {
	a["chat_id"], a["message_id"] = w.forum, message
	return a
}

func inTopic(a args) func(*world) args {
	return func(w *world) args {
		a["chat_id"], a["message_thread_id"] = w.forum, w.topic
		return a
	}
}

func say(w *world) int {
	return w.must("sendMessage", args{"chat_id": w.forum, "message_thread_id": w.topic, "text": "hello"}).id()
}

func sendPhoto(w *world) int {
	known := got(w.t)(w.ada.SendPhoto(w.at(), pixel(w.t), ""))
	m, _ := w.Message(w.forum, known)
	return w.must("sendPhoto", args{"chat_id": w.forum, "message_thread_id": w.topic, "photo": m.File.ID}).id()
}

func bigFile(w *world) string {
	id := got(w.t)(w.ada.Send(w.at(), telegramtest.Post{File: &telegramtest.Upload{Name: "big.iso", Content: []byte("x"), Size: 21 << 20}}))
	m, _ := w.Message(w.forum, id)
	return m.File.ID
}

// opened makes ada write to the bot, so that it may answer.
func opened(w *world) int64 {
	got(w.t)(w.ada.Say(w.ada.Private(), "/start"))
	return w.ada.ID
}

func press(w *world) string {
	m := w.must("sendMessage", args{"chat_id": w.forum, "text": "?", "reply_markup": buttons("yes", "y")}).id()
	id, err := w.ada.Press(w.forum, m, "yes")
	ok(w.t, err)
	return id
}

func TestTokens(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	for path, want := range map[string]string{
		"/bot" + strings.Replace(w.Token(), "stand", "stood", 1) + "/getMe": "401 Unauthorized",
		"/bot12/getMe": "404 Not Found",
		"/getMe":       "404 Not Found",
		"/file/bot" + strings.Replace(w.Token(), "stand", "stood", 1) + "/x": "401 Unauthorized",
		"/file/bot" + w.Token() + "/../../etc/passwd":                        "404 Not Found",
	} {
		a := w.do(httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if text := fmt.Sprintf("%d %s", a.ErrorCode, a.Description); text != want {
			t.Errorf("%s: %s, want %s", path, text, want)
		}
	}
	if a := w.do(httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/bot"+w.Token()+"/GETME", nil)); !a.OK {
		t.Errorf("methods are case-insensitive and may be got: %+v", a)
	}
}

func TestEditsMustChangeSomething(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	m := w.must("sendMessage", args{"chat_id": w.forum, "text": "one two", "entities": bold(0, 3), "reply_markup": buttons("a", "b")}).id()
	edit := func(a args) args {
		a["chat_id"], a["message_id"] = w.forum, m
		return a
	}
	same := args{"text": "one two ", "entities": bold(0, 3), "reply_markup": buttons("a", "b")}
	w.refused("editMessageText", edit(same), 400, "message is not modified: specified new message content and reply markup are exactly the same as a current content and reply markup of the message")
	w.must("editMessageText", edit(args{"text": "one two", "entities": bold(0, 3)})) // takes the buttons away
	w.must("editMessageText", edit(args{"text": "one two"}))                         // takes bold away
	w.refused("editMessageText", edit(args{"text": "one two"}), 400, "message is not modified")
	w.must("editMessageText", edit(args{"text": "three"}))
	seen, _ := w.Message(w.forum, m)
	if seen.Text != "three" || len(seen.History) != 3 || seen.History[0].Buttons == nil || seen.History[2].Text != "one two" {
		t.Errorf("the message is %+v", seen)
	}
}

func TestRightsThatAreTaken(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	mine := w.must("createForumTopic", args{"chat_id": w.forum, "name": "mine"})
	var topic struct {
		ID int `json:"message_thread_id"`
	}
	decode(t, mine.Result, &topic)
	m := say(w)
	hers := got(t)(w.ada.Say(w.at(), "hi"))
	ok(t, w.ada.SetBotRights(w.forum, nil))

	w.refused("createForumTopic", args{"chat_id": w.forum, "name": "x"}, 400, "not enough rights to create a topic")
	w.refused("editForumTopic", args{"chat_id": w.forum, "message_thread_id": w.topic, "name": "x"}, 400, "not enough rights to manage topics")
	w.must("editForumTopic", args{"chat_id": w.forum, "message_thread_id": topic.ID, "name": "still mine"})
	w.must("closeForumTopic", args{"chat_id": w.forum, "message_thread_id": topic.ID})
	w.refused("sendMessage", args{"chat_id": w.forum, "message_thread_id": topic.ID, "text": "x"}, 400, "TOPIC_CLOSED")
	w.refused("deleteForumTopic", args{"chat_id": w.forum, "message_thread_id": w.topic}, 400, "not enough rights")
	w.refused("pinChatMessage", of(w, m, args{}), 400, "not enough rights to manage pinned messages in the chat")
	w.refused("unpinChatMessage", of(w, m, args{}), 400, "not enough rights to manage pinned messages in the chat")
	w.refused("deleteMessage", of(w, hers, args{}), 400, "message can't be deleted")
	w.must("deleteMessage", of(w, m, args{}))
	ok(t, w.ada.MuteBot(w.forum))
	w.refused("sendMessage", args{"chat_id": w.forum, "text": "x"}, 400, "not enough rights to send text messages to the chat")
}

func TestClosedTopicTakesAdministrators(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	ok(t, w.ada.CloseTopic(w.at()))
	say(w)
	if _, err := w.bob.Say(w.at(), "hi"); err == nil {
		t.Error("bob could write in a closed topic")
	}
	got(t)(w.ada.Say(w.at(), "hi"))
}

func TestChatsThatAreGone(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	send := func(chat int64) args { return args{"chat_id": chat, "text": "x"} }
	private := opened(w)
	w.must("sendMessage", send(private))
	w.ada.BlockBot()
	w.refused("sendMessage", send(private), 403, "Forbidden: bot was blocked by the user")
	w.ada.UnblockBot()
	w.must("sendMessage", send(private))

	ok(t, w.ada.KickBot(w.forum))
	w.refused("sendMessage", send(w.forum), 403, "Forbidden: bot was kicked from the supergroup chat")
	ok(t, w.ada.AddBot(w.forum, nil))
	w.must("sendMessage", send(w.forum))
	w.must("leaveChat", args{"chat_id": w.forum})
	w.refused("sendMessage", send(w.forum), 403, "Forbidden: bot is not a member of the supergroup chat")
	w.refused("getChat", args{"chat_id": w.forum}, 403, "Forbidden: bot is not a member of the supergroup chat")

	moved, err := w.ada.Migrate(w.group, true)
	ok(t, err)
	a := w.refused("sendMessage", send(w.group), 400, "Bad Request: group chat was upgraded to a supergroup chat")
	if a.Parameters.MigrateToChatID != moved {
		t.Errorf("migrate_to_chat_id is %d, want %d", a.Parameters.MigrateToChatID, moved)
	}
	w.must("sendMessage", send(moved))
	if _, err := w.ada.Say(telegramtest.Place{Chat: w.group}, "x"); err == nil {
		t.Error("the old group can still be written to")
	}

	got(t)(w.bob.Say(w.bob.Private(), "/start"))
	w.bob.DeleteAccount()
	w.refused("sendMessage", send(w.bob.ID), 403, "Forbidden: user is deactivated")
}

func TestTopicsThatAreDeleted(t *testing.T) {
	w := newWorld(t, telegramtest.Options{PrivateTopics: true})
	m := say(w)
	ok(t, w.ada.DeleteTopic(w.at()))
	w.refused("sendMessage", args{"chat_id": w.forum, "message_thread_id": w.topic, "text": "x"}, 400, "message thread not found")
	w.refused("editMessageText", of(w, m, args{"text": "x"}), 400, "message to edit not found")
	w.refused("closeForumTopic", args{"chat_id": w.forum, "message_thread_id": w.topic}, 400, "TOPIC_ID_INVALID")

	private := opened(w)
	topic := got(t)(w.ada.CreateTopic(private, "notes"))
	w.must("sendMessage", args{"chat_id": private, "message_thread_id": topic, "text": "x"})
	ok(t, w.ada.DeleteTopic(telegramtest.Place{Chat: private, Thread: topic}))
	w.refused("sendMessage", args{"chat_id": private, "message_thread_id": topic, "text": "x"}, 400, "message thread not found")
	w.SetLosesTopics(private, true)
	w.must("sendMessage", args{"chat_id": private, "message_thread_id": topic, "text": "lost"})
	seen := w.See(w.ada.Private())
	if last := seen[len(seen)-1]; last.Text != "lost" {
		t.Errorf("the main chat ends with %+v", last)
	}
}

func TestPressesGrowOld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		first, second := press(w), press(w)
		w.must("answerCallbackQuery", args{"callback_query_id": first, "text": "done", "show_alert": true})
		w.refused("answerCallbackQuery", args{"callback_query_id": first}, 400, "query is too old")
		if p, _ := w.Press(first); p.Text != "done" || !p.Alert || p.Data != "y" {
			t.Errorf("the press is %+v", p)
		}
		time.Sleep(15*time.Second + time.Nanosecond)
		w.refused("answerCallbackQuery", args{"callback_query_id": second}, 400, "query is too old")
	})
}

func TestOldMessagesStay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, telegramtest.Options{})
		m := w.must("sendMessage", args{"chat_id": w.group, "text": "x"}).id()
		time.Sleep(48 * time.Hour)
		w.refused("deleteMessage", args{"chat_id": w.group, "message_id": m}, 400, "message can't be deleted")
		old := say(w)
		time.Sleep(48 * time.Hour)
		w.must("deleteMessage", of(w, old, args{})) // an administrator may
	})
}
