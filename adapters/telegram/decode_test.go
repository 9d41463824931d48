package telegram_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
)

// town is a stand-in that nobody calls: its people act, and what Telegram would send
// is decoded.
type town struct {
	*testing.T
	*telegramtest.Server
	ada, bob     *telegramtest.Person
	forum, group int64
	topic        int
	read         int // how many of the updates
}

func newTown(t *testing.T) *town {
	t.Helper()
	w := &town{T: t, Server: telegramtest.New(telegramtest.Options{PrivateTopics: true})}
	w.ada = w.AddUser(telegramtest.User{FirstName: "Ada", LastName: "Lovelace"})
	w.bob = w.AddUser(telegramtest.User{FirstName: "Bob"})
	w.forum = w.AddForum("agents", w.ada, w.bob)
	w.group = w.AddChat(telegramtest.ChatSpec{Title: "group", Kind: telegramtest.Group}, w.ada, w.bob)
	w.topic = w.got(w.ada.CreateTopic(w.forum, "api"))
	w.events() // of all that
	return w
}

func (w *town) got(n int, err error) int {
	w.Helper()
	w.ok(err)
	return n
}

func (w *town) ok(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *town) decoder() telegram.Decoder {
	return telegram.Decoder{Bot: w.Bot().ID, User: w.Bot().Username}
}

// events are what has happened since the last call.
func (w *town) events() (list []intake.Event) {
	w.Helper()
	all := w.Pending()
	for _, raw := range all[w.read:] {
		e, ok, err := w.decoder().Decode(raw)
		if err != nil {
			w.Errorf("%s: %v", raw, err)
		}
		if ok {
			list = append(list, e)
		}
	}
	w.read = len(all)
	return list
}

// one is the one thing that has happened since the last call.
func (w *town) one() intake.Event {
	w.Helper()
	list := w.events()
	if len(list) != 1 {
		w.Fatalf("%d events: %+v", len(list), list)
	}
	return list[0]
}

func (w *town) at() telegramtest.Place {
	return telegramtest.Place{Chat: w.forum, Thread: w.topic}
}

func (w *town) want(e intake.Event, place adapters.Target, p *telegramtest.Person, a intake.Action) {
	w.Helper()
	if e.Place != place || fmt.Sprintf("%#v", e.Action) != fmt.Sprintf("%#v", a) || e.Person.ID != fmt.Sprintf("telegram:%d", p.ID) || e.Person.Name != p.Name() ||
		!strings.HasPrefix(e.Key, "telegram:8700") {
		w.Errorf("the event is %+v, want %+v by %s at %v", e, a, p.Name(), place)
	}
}

func TestDecodeMessages(t *testing.T) {
	w := newTown(t)
	topic, general := target(w.forum, w.topic), target(w.forum, 0)
	m := w.got(w.ada.Say(w.at(), "run the tests"))
	e := w.one()
	w.want(e, topic, w.ada, intake.Said{Text: "run the tests"})
	if e.Private || e.Message != fmt.Sprint(m) || time.Since(e.At) > time.Minute {
		t.Errorf("the event is %+v", e)
	}

	w.got(w.bob.Reply(w.at(), m, "yes"))
	w.want(w.one(), topic, w.bob, intake.Said{Text: "yes", ReplyTo: fmt.Sprint(m), Quoted: intake.Quoted{Text: "run the tests"}})
	w.got(w.bob.Send(w.at(), telegramtest.Post{Text: "which?", ReplyTo: m, Quote: "tests"}))
	w.want(w.one(), topic, w.bob, intake.Said{Text: "which?", ReplyTo: fmt.Sprint(m), Quoted: intake.Quoted{Text: "tests"}})

	// In General, and in a thread of answers there, there's no topic.
	first := w.got(w.ada.Say(telegramtest.Place{Chat: w.forum}, "hello"))
	w.want(w.one(), general, w.ada, intake.Said{Text: "hello"})
	w.got(w.bob.Reply(telegramtest.Place{Chat: w.forum}, first, "hi"))
	w.want(w.one(), general, w.bob, intake.Said{Text: "hi", ReplyTo: fmt.Sprint(first), Quoted: intake.Quoted{Text: "hello"}})

	w.got(w.ada.Say(w.ada.Private(), "just us"))
	if e := w.one(); !e.Private || e.Place != target(w.ada.ID, 0) {
		t.Errorf("the event is %+v", e)
	}
	mine := w.got(w.ada.CreateTopic(w.ada.ID, "mine"))
	w.events()
	w.got(w.ada.Say(telegramtest.Place{Chat: w.ada.ID, Thread: mine}, "in a topic of ours"))
	if e := w.one(); !e.Private || e.Place != target(w.ada.ID, mine) {
		t.Errorf("the event is %+v", e)
	}

	w.ok(w.ada.Edit(w.forum, m, "run all tests"))
	w.want(w.one(), topic, w.ada, intake.Edited{Text: "run all tests"})
}

func TestDecodeFiles(t *testing.T) {
	w := newTown(t)
	for name, c := range map[string]struct {
		send func() (int, error)
		want intake.Attachment
		text string
	}{
		"a document": {
			func() (int, error) { return w.ada.SendFile(w.at(), "../../etc/passwd", []byte("x"), "look") },
			intake.Attachment{Name: "../../etc/passwd", Kind: intake.FileDocument, Size: 1},
			"look",
		},
		"a photo": {
			func() (int, error) { return w.ada.SendPhoto(w.at(), []byte("xy"), "") },
			intake.Attachment{Kind: intake.FilePhoto, Size: 2},
			"",
		},
		"a voice note": {
			func() (int, error) { return w.ada.SendVoice(w.at(), []byte("xyz"), time.Second) },
			intake.Attachment{Kind: intake.FileVoice, Size: 3},
			"",
		},
	} {
		w.got(c.send())
		said, ok := w.one().Action.(intake.Said)
		if !ok || len(said.Files) != 1 || said.Text != c.text {
			t.Fatalf("%s: %+v", name, said)
		}
		f := said.Files[0]
		if f.ID == "" {
			t.Errorf("%s has no id", name)
		}
		if f.ID = ""; f != c.want {
			t.Errorf("%s is %+v, want %+v", name, f, c.want)
		}
	}
}

func TestDecodePresses(t *testing.T) {
	w := newTown(t)
	m := w.got(w.ada.Say(w.at(), "x"))
	w.events()
	id, err := w.bob.Forge(w.forum, m, "o:0123456789abcdef")
	w.ok(err)
	e := w.one()
	w.want(e, target(w.forum, w.topic), w.bob, intake.Pressed{Data: "o:0123456789abcdef", Token: id})
	if e.Message != fmt.Sprint(m) || !e.At.IsZero() {
		t.Errorf("the press is %+v: Telegram doesn't say when it was", e)
	}
}

func TestDecodeWhatHappensToPlaces(t *testing.T) {
	w := newTown(t)
	topic := target(w.forum, w.topic)
	w.ok(w.ada.CloseTopic(w.at()))
	w.want(w.one(), topic, w.ada, intake.ThreadClosed{})
	w.ok(w.ada.ReopenTopic(w.at()))
	w.want(w.one(), topic, w.ada, intake.ThreadOpened{})
	w.ok(w.ada.RenameTopic(w.at(), "another name"))
	w.ok(w.ada.DeleteTopic(w.at()))
	if list := w.events(); len(list) != 0 {
		t.Errorf("a rename and a deletion are %+v", list)
	}

	to, err := w.ada.Migrate(w.group, false)
	w.ok(err)
	moved := w.events()
	if len(moved) != 2 {
		t.Fatalf("a group that moves is %+v", moved)
	}
	w.want(moved[0], target(w.group, 0), w.ada, intake.ChatMoved{To: fmt.Sprint(to)})
	w.want(moved[1], target(to, 0), w.ada, intake.ChatMoved{From: fmt.Sprint(w.group)})

	for why, do := range map[string]func() error{
		"The bot may not write in the chat: allow it to send messages there.": func() error { return w.ada.MuteBot(w.forum) },
		"The bot was removed from the chat: add it again.":                    func() error { return w.ada.KickBot(w.forum) },
	} {
		w.ok(do())
		w.want(w.one(), target(w.forum, 0), w.ada, intake.ChatLost{Why: why})
		w.ok(w.ada.AddBot(w.forum, nil))
		w.want(w.one(), target(w.forum, 0), w.ada, intake.ChatBack{})
	}
	w.ada.BlockBot()
	w.want(w.one(), target(w.ada.ID, 0), w.ada, intake.ChatLost{Why: "The person has blocked the bot: unblock it, and send it /start."})
	w.ada.UnblockBot()
	w.want(w.one(), target(w.ada.ID, 0), w.ada, intake.ChatBack{})
	w.bob.Join(w.forum)
	if list := w.events(); len(list) != 0 {
		t.Errorf("coming and going is %+v", list)
	}
}

func TestDecodeCommands(t *testing.T) {
	w := newTown(t)
	for text, want := range map[string]string{
		"/new":                           "/new",
		"/new claude ~/src":              "/new claude ~/src",
		"/new@panebridge_bot claude":     "/new claude",
		"/new@PaneBridge_Bot":            "/new",
		"/new@another_bot claude":        "", // not for us
		"//compact":                      "//compact",
		"see /new@another_bot":           "see /new@another_bot",
		"/home/ada/x@panebridge_bot":     "/home/ada/x@panebridge_bot",
		"😀 /new@another_bot":             "😀 /new@another_bot",
		"mail ada@example.com":           "mail ada@example.com",
		"/stop@panebridge_bot\nand more": "/stop\nand more",
	} {
		w.got(w.ada.Say(w.at(), text))
		list := w.events()
		switch {
		case want == "" && len(list) == 0:
		case len(list) != 1 || list[0].Action.(intake.Said).Text != want:
			t.Errorf("%q is %+v, want %q", text, list, want)
		}
	}
}

// Of who isn't a person, nothing is passed on that could be a wish.
func TestDecodeNobody(t *testing.T) {
	w := newTown(t)
	chat := map[string]any{"id": w.forum, "type": "supergroup", "is_forum": true}
	user := func(id int64, bot bool) map[string]any {
		return map[string]any{"id": id, "is_bot": bot, "first_name": "Ada"}
	}
	message := func(with map[string]any) map[string]any {
		m := map[string]any{"message_id": 5, "date": 1_900_000_000, "chat": chat, "text": "/new claude", "from": user(w.ada.ID, false)}
		maps.Copy(m, with)
		return m
	}
	for name, m := range map[string]map[string]any{
		"an anonymous administrator": message(map[string]any{"from": user(1087968824, true), "sender_chat": chat}),
		"a channel":                  message(map[string]any{"from": user(136817688, true), "sender_chat": map[string]any{"id": -1009, "type": "channel"}}),
		"a channel as a person":      message(map[string]any{"sender_chat": map[string]any{"id": -1009, "type": "channel"}}),
		"a linked channel's post":    message(map[string]any{"from": user(777000, false), "is_automatic_forward": true}),
		"another bot":                message(map[string]any{"from": user(99, true)}),
		"the bot itself":             message(map[string]any{"from": user(w.Bot().ID, true)}),
		"nobody":                     message(map[string]any{"from": nil}),
		"a negative number":          message(map[string]any{"from": user(-5, false)}),
	} {
		for _, kind := range []string{"message", "edited_message"} {
			w.Push(map[string]any{kind: m})
			if list := w.events(); len(list) != 0 {
				t.Errorf("%s: %+v", name, list)
			}
		}
		w.Push(map[string]any{"callback_query": map[string]any{"id": "1", "from": m["from"], "data": "o:x", "message": message(nil)}})
		if list := w.events(); len(list) != 0 && name != "a channel as a person" {
			t.Errorf("%s pressed: %+v", name, list)
		}
	}
	// But that a topic was closed is so, whoever did it.
	w.Push(map[string]any{"message": message(map[string]any{
		"from": user(1087968824, true), "sender_chat": chat, "text": nil, "forum_topic_closed": map[string]any{}, "message_thread_id": 9, "is_topic_message": true,
	})})
	if e := w.one(); e.Person.ID != "" || e.Place != target(w.forum, 9) || e.Action != (intake.ThreadClosed{}) {
		t.Errorf("the event is %+v", e)
	}
}

func TestDecodeTheRest(t *testing.T) {
	d := telegram.Decoder{Bot: 1, User: "bot"}
	from, chat := `"from":{"id":7,"first_name":"Ada"}`, `"chat":{"id":-1001,"type":"supergroup"}`
	for name, c := range map[string]struct {
		raw  string
		want string // the action, or "error"; "": nothing
	}{
		"the largest photo": {
			`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"photo":[{"file_id":"s","width":90,"height":90,"file_size":9},{"file_id":"l","width":1280,"height":1280,"file_size":5},{"file_id":"m","width":320,"height":320}]}}`,
			`{  { false} [{l  photo 5}] }`,
		},
		"an animation is a document once": {
			`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"animation":{"file_id":"a"},"document":{"file_id":"a","file_name":"a.gif"}}}`,
			`{  { false} [{a a.gif document 0}] }`,
		},
		"a part of an album": {
			`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"media_group_id":"13","caption":"x","photo":[{"file_id":"s"}]}}`,
			`{x  { false} [{s  photo 0}] 13}`,
		},
		"a video":                    {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"video":{"file_id":"v","file_size":-1}}}`, `{  { false} [{v  document 0}] }`},
		"a command in a caption":     {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"caption":"/a@bot x","caption_entities":[{"type":"bot_command","offset":0,"length":6}],"voice":{"file_id":"v"}}}`, `{/a x  { false} [{v  voice 0}] }`},
		"a command that's passed on": {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"forward_origin":{"type":"user"},"text":"/close@bot","entities":[{"type":"bot_command","offset":0,"length":10}]}}`, `{//close@bot  { false} [] }`},
		"another bot's, passed on":   {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"forward_origin":{"type":"user"},"text":"/a@b","entities":[{"type":"bot_command","offset":0,"length":4}]}}`, `{//a@b  { false} [] }`},
		"a text that's passed on":    {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"forward_origin":{"type":"user"},"text":"look at /a"}}`, `{look at /a  { false} [] }`},
		"an entity that's too long":  {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"text":"/a@bot","entities":[{"type":"bot_command","offset":0,"length":99},{"type":"bot_command","offset":0,"length":-1}]}}`, `{/a@bot  { false} [] }`},
		"a sticker":                  {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"sticker":{"file_id":"v"}}}`, ``},
		"an edited location":         {`{"update_id":1,"edited_message":{"message_id":2,` + from + `,` + chat + `,"location":{}}}`, ``},
		"an unknown kind":            {`{"update_id":1,"poll_answer":{"option_ids":[1]}}`, ``},
		"a press somewhere else":     {`{"update_id":1,"callback_query":{"id":"1",` + from + `,"inline_message_id":"x","data":"d"}}`, ``},
		"a press below what's gone":  {`{"update_id":1,"callback_query":{"id":"1",` + from + `,"message":{"message_id":2,` + chat + `,"date":0},"data":"d"}}`, `{d 1 false []}`},
		"a game":                     {`{"update_id":1,"callback_query":{"id":"1",` + from + `,"message":{"message_id":2,` + chat + `},"game_short_name":"g"}}`, ``},
		"somebody else was banned":   {`{"update_id":1,"my_chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"kicked","user":{"id":2}}}}`, ``},
		"restricted, but may write":  {`{"update_id":1,"my_chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"restricted","can_send_messages":true,"user":{"id":1}}}}`, `{}`},
		"somebody left":              {`{"update_id":1,"chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"left","user":{"id":2}}}}`, `{telegram:2}`},
		"somebody was thrown out":    {`{"update_id":1,"chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"kicked","user":{"id":2}}}}`, `{telegram:2}`},
		"restricted, and out":        {`{"update_id":1,"chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"restricted","user":{"id":2}}}}`, `{telegram:2}`},
		"restricted, and in":         {`{"update_id":1,"chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"restricted","is_member":true,"user":{"id":2}}}}`, ``},
		"somebody came":              {`{"update_id":1,"chat_member":{` + from + `,` + chat + `,"new_chat_member":{"status":"member","user":{"id":2}}}}`, ``},
		"a message that one left":    {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"left_chat_member":{"id":2}}}`, `{telegram:2}`},
		"fields of another shape":    {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"text":"x","dice":7,"animation":"no","via_bot":[]}}`, `{x  { false} [] }`},
		"a text that's a number":     {`{"update_id":1,"message":{"message_id":2,` + from + `,` + chat + `,"text":7}}`, `error`},
		"no chat":                    {`{"update_id":1,"message":{"message_id":2,` + from + `,"text":"x"}}`, `error`},
		"no message_id":              {`{"update_id":1,"message":{` + from + `,` + chat + `,"text":"x"}}`, `error`},
		"no update_id":               {`{"message":{"message_id":2,` + from + `,` + chat + `,"text":"x"}}`, `error`},
		"a number too large":         {`{"update_id":1,"message":{"message_id":99999999999999999999,` + from + `,` + chat + `,"text":"x"}}`, `error`},
		"nothing":                    {``, `error`},
		"null":                       {`null`, `error`},
		"that we pinned":             {`{"update_id":1,"message":{"message_id":2,"from":{"id":1,"is_bot":true},` + chat + `,"pinned_message":{"message_id":1}}}`, `{}`},
		"that we renamed a topic":    {`{"update_id":1,"message":{"message_id":2,"from":{"id":1,"is_bot":true},` + chat + `,"forum_topic_edited":{"name":"x"}}}`, `{}`},
		"what we wrote":              {`{"update_id":1,"message":{"message_id":2,"from":{"id":1,"is_bot":true},` + chat + `,"text":"x"}}`, ``},
		"that another bot pinned":    {`{"update_id":1,"message":{"message_id":2,"from":{"id":5,"is_bot":true},` + chat + `,"pinned_message":{"message_id":1}}}`, ``},
		"half of it":                 {`{"update_id":1,"message":{"text":"my-password`, `error`},
	} {
		e, ok, err := d.Decode([]byte(c.raw))
		got := ""
		switch {
		case err != nil:
			got = "error"
			if strings.Contains(err.Error(), "my-password") || strings.Contains(err.Error(), "999") {
				t.Errorf("%s: the error is %v", name, err)
			}
		case ok:
			got = fmt.Sprint(e.Action)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q (%v)", name, got, c.want, err)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, raw := range seeds() {
		f.Add(raw)
	}
	d := telegram.Decoder{Bot: 7000000001, User: "panebridge_bot"}
	f.Fuzz(func(t *testing.T, raw []byte) {
		e, ok, err := d.Decode(raw)
		if err != nil || !ok {
			if ok || e.Action != nil {
				t.Errorf("an event and an error: %+v, %v", e, err)
			}
			return
		}
		checkEvent(t, e)
	})
}

// checkEvent holds an event against what inbound may rely on.
func checkEvent(t *testing.T, e intake.Event) {
	t.Helper()
	if e.Action == nil || e.Place.Adapter != "telegram" || e.Place.Chat == "" || e.Place.Chat == "0" || !strings.HasPrefix(e.Key, "telegram:") {
		t.Errorf("the event is %+v", e)
	}
	if _, err := json.Marshal(e.At); err != nil {
		t.Errorf("the time can't be written: %v", err)
	}
	wish := true
	switch a := e.Action.(type) {
	case intake.Said:
		if a.Text == "" && len(a.Files) == 0 {
			t.Error("nothing was said")
		}
	case intake.Edited:
		wish = a.Text != ""
	case intake.Pressed:
		if a.Data == "" || a.Token == "" {
			t.Errorf("the press is %+v", a)
		}
	default:
		wish = false
	}
	if wish && (!strings.HasPrefix(e.Person.ID, "telegram:") || strings.HasPrefix(e.Person.ID, "telegram:-") || e.Message == "") {
		t.Errorf("a wish of nobody: %+v", e)
	}
}

// seeds are updates of all kinds, as Telegram sends them.
func seeds() (list [][]byte) {
	s := telegramtest.New(telegramtest.Options{PrivateTopics: true})
	ada := s.AddUser(telegramtest.User{FirstName: "Ada", Username: "ada"})
	forum := s.AddForum("agents", ada)
	topic, _ := ada.CreateTopic(forum, "api")
	at := telegramtest.Place{Chat: forum, Thread: topic}
	m, _ := ada.Say(at, "/new@panebridge_bot claude 😀 #tag https://example.com")
	_, _ = ada.Reply(at, m, "yes")
	_, _ = ada.SendFile(at, "../../x", []byte("x"), "look /at")
	_, _ = ada.SendPhoto(ada.Private(), []byte("x"), "")
	_, _ = ada.Send(at, telegramtest.Post{File: &telegramtest.Upload{Content: []byte("x")}, Album: "1"})
	_, _ = ada.SendVoice(at, []byte("x"), time.Second)
	_ = ada.Edit(forum, m, "another")
	_, _ = ada.Forge(forum, m, "o:0123456789abcdef")
	_ = ada.CloseTopic(at)
	_ = ada.ReopenTopic(at)
	group := s.AddChat(telegramtest.ChatSpec{Title: "g", Kind: telegramtest.Group}, ada)
	_, _ = ada.Migrate(group, true)
	_ = ada.KickBot(forum)
	ada.BlockBot()
	for _, raw := range s.Pending() {
		list = append(list, raw)
	}
	return list
}
