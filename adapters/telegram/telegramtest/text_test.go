package telegramtest_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

func TestTextsMustBeUTF8(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	a := w.do(post(t, w, "application/x-www-form-urlencoded", fmt.Sprintf("chat_id=%d&text=%%ff", w.forum)))
	if a.Description != "Bad Request: strings must be encoded in UTF-8" {
		t.Errorf("got %+v", a)
	}
}

// What Telegram does to a text without a word: a formatter has to know.
func TestWhatBecomesOfATextThatIsTaken(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	for _, c := range []struct {
		a    args
		want string
	}{
		{args{"text": "if x {\n\treturn\r\n}\n\n"}, "if x {\n return\n}"},
		{args{"text": "<a href=\"./local.md\">local.md</a>", "parse_mode": "html"}, "local.md"}, // "." is no host
		{args{"text": "<a href=\"/etc\">etc</a>", "parse_mode": "html"}, "etc"},
		{args{"text": "[Ada](tg://user?id=" + fmt.Sprint(w.ada.ID) + ")", "parse_mode": "MarkdownV2"}, "Ada text_mention[0+3]"},
		{args{"text": "@ada", "entities": []args{{"type": "url", "offset": 0, "length": 4}}}, "@ada mention[0+4]"},
		{args{"text": "@ada", "entities": []args{{"type": "code", "offset": 0, "length": 4}}}, "@ada code[0+4]"},
		{args{"text": "x", "entities": "null", "parse_mode": "none"}, "x"},
		{args{"text": "x", "entities": []args{{"type": "pre", "offset": 0, "length": 1, "language": "go", "url": "junk"}}}, "x pre[0+1]"},
		{args{"text": "q **b**", "entities": []args{{"type": "blockquote", "offset": 0, "length": 7}, {"type": "code", "offset": 2, "length": 5}}}, "q **b** blockquote[0+7] code[2+5]"},
		{args{"text": "abc", "entities": []args{
			{"type": "bold", "offset": 0, "length": 3}, {"type": "text_link", "offset": 0, "length": 3, "url": "https://a.b"}, {"type": "italic", "offset": 1, "length": 1},
		}}, "abc text_link[0+3] bold[0+3] italic[1+1]"},
	} {
		c.a["chat_id"] = w.forum
		m, _ := w.Message(w.forum, w.must("sendMessage", c.a).id())
		got := m.Text
		for _, e := range m.Entities {
			got += fmt.Sprintf(" %s[%d+%d]", e.Type, e.Offset, e.Length)
		}
		if got != c.want {
			t.Errorf("%v:\n got %q\nwant %q", c.a, got, c.want)
		}
	}
}

func TestShownAsksWithoutSending(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	bold := []telegramtest.Entity{{Type: "bold", Offset: 1, Length: 2}}
	text, list, err := w.Shown(" ab ", bold)
	ok(t, err)
	if text != "ab" || len(list) != 1 || list[0].Offset != 0 || bold[0].Offset != 1 {
		t.Errorf("shown is %q with %+v", text, list)
	}
	for text, want := range map[string]string{
		"":                                "Bad Request: text must be non-empty",
		"a":                               "Bad Request: entity begins after the end of the text at UTF-16 offset 1",
		"\xff":                            "Bad Request: strings must be encoded in UTF-8",
		strings.Repeat("x", 4097):         "Bad Request: message is too long",
		strings.Repeat("x", 1<<15) + "yz": "Bad Request: text is too long",
	} {
		entities := bold
		if text == "" {
			entities = nil
		}
		if _, _, err := w.Shown(text, entities); err == nil || err.Error() != want {
			t.Errorf("%.9q: %v, want %s", text, err, want)
		}
	}
	if _, _, err := w.Shown("abc", []telegramtest.Entity{{Type: "x", Length: 1}}); err == nil {
		t.Error("an entity of no kind is shown")
	}
	if n := len(w.Calls()); n != 0 {
		t.Errorf("%d calls were counted", n)
	}
}

func BenchmarkShown(b *testing.B) {
	s := telegramtest.New(telegramtest.Options{})
	text := strings.Repeat("A line with `code`, https://example.com/x and words.\n", 70)
	list := []telegramtest.Entity{{Type: "code", Offset: 12, Length: 6}, {Type: "bold", Offset: 100, Length: 40}}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, _, err := s.Shown(text, list); err != nil {
			b.Fatal(err)
		}
	}
}

func TestAnswers(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	id := got(t)(w.ada.Say(w.at(), "one two"))
	send := func(to args) args {
		return args{"chat_id": w.forum, "message_thread_id": w.topic, "text": "x", "reply_parameters": to}
	}
	w.refused("sendMessage", send(args{"message_id": id, "quote": "three"}), 400, "QUOTE_TEXT_INVALID")
	m, _ := w.Message(w.forum, w.must("sendMessage", send(args{"message_id": 999, "allow_sending_without_reply": true})).id())
	if m.ReplyTo != 0 {
		t.Errorf("it answers %d", m.ReplyTo)
	}
	m, _ = w.Message(w.forum, w.must("sendMessage", args{"chat_id": w.forum, "text": "x", "reply_to_message_id": id}).id())
	if m.ReplyTo != id {
		t.Errorf("it answers %d", m.ReplyTo)
	}
}

func TestBasicGroupsHaveTheirOwnWords(t *testing.T) {
	w := newWorld(t, telegramtest.Options{})
	ok(t, w.ada.KickBot(w.group))
	w.refused("sendMessage", args{"chat_id": w.group, "text": "x"}, 403, "Forbidden: bot was kicked from the group chat")
	for method, a := range map[string]args{
		"getChat": {}, "getChatMember": {"user_id": w.ada.ID}, "getChatAdministrators": {}, "sendChatAction": {"action": "typing"},
		"deleteMessages": {"message_ids": []int{1}}, "unpinChatMessage": {}, "createForumTopic": {"name": "x"}, "leaveChat": {},
		"sendMessageDraft": {"draft_id": 1, "text": "x"},
	} {
		a["chat_id"] = w.group
		w.refused(method, a, 403, "Forbidden: bot was kicked from the group chat")
	}
}
