package telegramtest_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/chatview/chatviewtest"
)

// day fills a world as a day's work does.
func day(t *testing.T, w *world) {
	t.Helper()
	at := w.at()
	send := func(text, mode string, more args) int {
		a := args{"chat_id": at.Chat, "message_thread_id": at.Thread, "text": text, "parse_mode": mode, "disable_notification": true}
		maps.Copy(a, more)
		return w.must("sendMessage", a).id()
	}
	asked := got(t)(w.ada.Say(at, "Move the retry logic out of the handlers, and /status afterwards please @panebridge_bot"))
	w.must("setMessageReaction", of(w, asked, args{"reaction": []args{thumb("👀")}}))
	live := send("reading…", "", nil)
	w.must("editMessageText", of(w, live, args{"parse_mode": "HTML", "text": "I’ll look at the <b>handlers</b> first, then at <code>client.Do</code>.\n\n" +
		"Found <i>four</i> places that retry <s>twice</s> <u>on their own</u>:\n<pre><code class=\"language-go\">func (c *Client) Do(ctx context.Context) error {\n" +
		"\tfor attempt := range 3 { // try again, the upstream is flaky and this comment is long enough to scroll\n\t\treturn c.once(ctx)\n\t}\n}</code></pre>\n" +
		"<blockquote>internal/http/handlers.go:88\ninternal/http/upload.go:41</blockquote>\nSee <a href=\"https://example.com/issue/7\">issue 7</a>, <tg-spoiler>and don’t tell</tg-spoiler>. " +
		"日本語とCJK、👩‍👩‍👧‍👦 &lt;script&gt;alert(1)&lt;/script&gt;"}))
	send("<blockquote expandable>"+strings.Repeat("line of a long quote that nobody reads to its end\n", 8)+"</blockquote>", "HTML", nil)
	picture := w.upload("sendPhoto", map[string]string{"chat_id": fmt.Sprint(at.Chat), "message_thread_id": fmt.Sprint(at.Thread), "caption": "/screen", "disable_notification": "true"},
		"photo", "screen.png", gradient(t))
	if !picture.OK {
		t.Fatal(picture.Description)
	}
	w.upload("sendDocument", map[string]string{"chat_id": fmt.Sprint(at.Chat), "message_thread_id": fmt.Sprint(at.Thread), "caption": "1,204 lines", "disable_notification": "true"},
		"document", "output.log", bytes.Repeat([]byte("ok  \texample.com/pkg\t0.01s\n"), 1204))
	send("Allow this command?\n<pre>git push --force-with-lease</pre>", "HTML", args{"disable_notification": false, "reply_markup": args{"inline_keyboard": [][]args{
		{{"text": "Yes", "callback_data": "y"}, {"text": "Yes, for this session", "callback_data": "s"}}, {{"text": "No, and say why", "callback_data": "n"}},
	}}})
	got(t)(w.bob.Reply(at, live, "Looks right to me"))
	done := send("done · 3 min 12 s", "", args{"disable_notification": false, "reply_parameters": args{"message_id": live}})
	w.must("pinChatMessage", of(w, done, args{"disable_notification": true}))
	ok(t, w.bob.React(w.forum, done, "🎉"))

	for i, name := range []string{"docs", "release 2.4", "flaky tests", "<b>evil</b> & co"} {
		topic := got(t)(w.ada.CreateTopic(w.forum, name))
		if i < 3 {
			got(t)(w.bob.Say(telegramtest.Place{Chat: w.forum, Thread: topic}, "go on with "+name))
		}
		if i == 1 {
			ok(t, w.ada.CloseTopic(telegramtest.Place{Chat: w.forum, Thread: topic}))
		}
		if i == 2 {
			w.must("sendMessage", args{"chat_id": w.forum, "message_thread_id": topic, "text": "done · 40 s"})
			w.must("sendChatAction", args{"chat_id": w.forum, "message_thread_id": topic, "action": "typing"})
		}
	}
	got(t)(w.ada.Say(w.ada.Private(), "/start"))
	w.must("sendMessage", args{"chat_id": w.ada.ID, "text": "Paired. /help says what I can do."})
	w.must("sendMessageDraft", args{"chat_id": w.ada.ID, "draft_id": 1, "text": "thinking about it…"})
	w.must("setMyCommands", args{"commands": []args{
		{"command": "new", "description": "start a session"},
		{"command": "sessions", "description": "who needs you, who works, who is done"},
		{"command": "stop", "description": "interrupt the agent"},
		{"command": "screen", "description": "the pane as a picture"},
	}})
}

func gradient(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 480, 200))
	for x := range 480 {
		for y := range 200 {
			img.Set(x, y, color.RGBA{uint8(20 + x/8), uint8(30 + y/4), 60, 255})
		}
	}
	var out bytes.Buffer
	ok(t, png.Encode(&out, img))
	return out.Bytes()
}

func TestViewInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	w := newWorld(t, telegramtest.Options{})
	day(t, w)
	page := chatviewtest.Open(t, telegramtest.NewView(w.Server, chatviewtest.Token), 1200, 900)
	page.Until(`document.querySelectorAll('.entry').length >= 7`)
	page.Shot("list")
	page.Do(chromedp.Click(fmt.Sprintf(`a[href="#%d/%d"]`, w.forum, w.topic)))
	page.Until(`document.querySelectorAll('.message').length === 8`)

	// Text stays text, and looks as its entities say.
	if text := chatviewtest.Eval[string](page, `document.querySelectorAll('.message .text')[1].textContent`); !strings.Contains(text, "<script>alert(1)</script>") || !strings.Contains(text, "for attempt := range 3") {
		t.Errorf("the text is %q", text)
	}
	for selector, want := range map[string]string{
		".text strong": "handlers", ".text em": "four", ".text s": "twice", ".text u": "on their own", ".text code": "client.Do",
		".text a": "issue 7", ".text .spoiler": "and don’t tell", ".text .command": "/status", ".text .mention": "@panebridge_bot",
	} {
		if got := chatviewtest.Eval[string](page, fmt.Sprintf(`document.querySelector(%q).textContent`, selector)); got != want {
			t.Errorf("%s is %q, want %q", selector, got, want)
		}
	}
	if n := chatviewtest.Eval[int](page, `document.querySelectorAll('main script, .message script, #chats b').length`); n != 0 {
		t.Error("text became markup")
	}
	if got := chatviewtest.Eval[string](page, `[...document.querySelectorAll('.rang')].map((e) => e.closest('.message').querySelector('.text').textContent.slice(0, 5)).join('|')`); got != "Allow|done " {
		t.Errorf("what rang is %s", got)
	}
	page.Shot("wide")
	page.Scheme("dark")
	page.Shot("wide-dark")
	page.Scheme("light")

	// Somebody presses, writes, and sees what's new without doing anything.
	page.Do(chromedp.Click(`.keyboard .row:nth-child(2) button`))
	page.Until(`document.querySelector('.key.waiting')`)
	press := w.last().CallbackQuery
	if press == nil || press.Data != "n" || press.From.ID != w.ada.ID {
		t.Fatalf("the press says %+v", press)
	}
	w.must("answerCallbackQuery", args{"callback_query_id": press.ID, "text": "Not allowed"})
	page.Until(`document.querySelector('#toast').textContent === 'Not allowed' && !document.querySelector('.key.waiting')`)
	page.Do(chromedp.SendKeys("#text", "why not?"), chromedp.Click("#send"))
	page.Until(`document.querySelector('.message:last-child .text')?.textContent === 'why not?'`)
	if m := w.last().Message; m == nil || m.Text != "why not?" || m.MessageThreadID != w.topic {
		t.Errorf("the message says %+v", m)
	}
	page.Do(chromedp.Click("#slash"))
	page.Until(`document.querySelectorAll('#commands button').length === 4`)
	page.Shot("commands")

	page.Phone()
	page.Until(`document.querySelectorAll('.message').length === 9`)
	page.Do(chromedp.Sleep(300 * time.Millisecond)) // pictures come later than text
	page.Shot("phone")
	page.FitsPhone()
	chatviewtest.Eval[int](page, `document.querySelector('#messages').scrollTop = 0`)
	page.Shot("phone-top")
	w.Penalise(w.forum, "", 10*time.Minute)
	page.Scheme("dark")
	page.Until(`document.querySelector('#budget.penalty')`)
	page.Shot("phone-dark")
	page.Scheme("light")
	page.Do(chromedp.Click("#back"))
	page.Until(`getComputedStyle(document.querySelector('nav')).display !== 'none'`)
	page.Shot("phone-list")
	page.Do(chromedp.Click(fmt.Sprintf(`a[href="#%d/0"]`, w.ada.ID)))
	page.Until(`document.querySelector('.draft')`)
	page.Shot("phone-private")
}
