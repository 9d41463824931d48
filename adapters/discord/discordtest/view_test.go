package discordtest_test

import (
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/discord/discordtest"
	"github.com/panebridge/panebridge/internal/chatview/chatviewtest"
)

func TestViewDoes(t *testing.T) {
	w := newWorld(t, discordtest.Options{Limits: generous()})
	w.withCommands()
	page := discordtest.NewView(w.Server, "")
	thread := w.thread("agent")
	menu := args{"type": 3, "custom_id": "menu", "min_values": 0, "max_values": 2, "options": []args{{"label": "A", "value": "a"}, {"label": "B", "value": "b"}}}
	m := w.must(post, "/channels/"+thread+"/messages", args{"content": "?", "components": []args{row(button("yes")), row(menu)}})
	ask := func(method, path, body string) (int, string) {
		rec := httptest.NewRecorder()
		page.ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), method, "http://127.0.0.1:7000"+path, strings.NewReader(body)))
		return rec.Code, strings.TrimSpace(rec.Body.String())
	}
	do := func(person, what, message, text, values string) string {
		t.Helper()
		_, body := ask("POST", "/do/"+what, fmt.Sprintf(
			`{"person":%q,"chat":%q,"thread":%q,"message":%q,"text":%q,"values":[%s]}`, person, w.text, thread, message, text, values))
		return body
	}
	const done = `{"ok":true}`
	ada, bob := w.ada.ID, w.bob.ID
	last := func() string {
		seen := w.Messages(thread)
		return seen[len(seen)-1].ID
	}
	if got := do(ada, "say", m, "hello", ""); got != done {
		t.Fatal(got)
	}
	said := last()
	for _, c := range []struct{ got, want string }{
		{do(ada, "edit", said, "hello!", ""), done},
		{do(bob, "edit", said, "mine", ""), "isn't Bob's"},
		{do(bob, "press", m, "yes", ""), done},
		{do(bob, "press", m, "no", ""), "has no button"},
		{do(bob, "choose", m, "menu", `"b","a"`), done},
		{do(bob, "choose", m, "menu", `"c"`), "has no value"},
		{do(bob, "react", m, "👍", ""), done},
		{do(ada, "say", "", "/stop", ""), done},
		{do(ada, "say", "", "/fly high", ""), "there's no command /fly"},
		{do(ada, "delete", said, "", ""), done},
		{do(ada, "create-topic", "", "docs", ""), done},
		{do(ada, "rename-topic", "", "x", ""), done},
		{do(ada, "close-topic", "", "", ""), done},
		{do(ada, "reopen-topic", "", "", ""), done},
		{do(ada, "fly", "", "", ""), "nobody can do that"},
		{do(ada, "fly-topic", "", "", ""), "nobody can do that"},
		{do(w.Bot().ID, "say", "", "x", ""), "there's no person"},
	} {
		if c.got != c.want && (c.want == done || !strings.Contains(c.got, c.want)) {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
	if all := w.Interactions(); len(all) != 3 || all[0].Name != "yes" || all[1].Name != "menu" || all[2].Name != "stop" {
		t.Errorf("the bot got %+v", all)
	}
	if c, _ := w.Channel(thread); c.Name != "x" || c.Archived {
		t.Errorf("the thread is %+v", c)
	}
	if _, body := ask("POST", fmt.Sprintf("/do/file?person=%s&chat=%s&thread=%s&name=a.html", ada, w.text, thread), "<script>"); body != done {
		t.Errorf("a file: %s", body)
	}
	_, state := ask("GET", fmt.Sprintf("/state?person=%s&chat=%s&thread=%s", ada, w.text, thread), "")
	_, address, _ := strings.Cut(state, `"address":"`)
	address, _, _ = strings.Cut(address, `"`)
	if code, body := ask("GET", "/media/"+address, ""); code != 200 || body != "<script>" {
		t.Errorf("the file %q is %d %q", address, code, body)
	}
	if code, _ := ask("GET", "/media/attachments/1/2/x", ""); code != 404 {
		t.Errorf("a file that isn't there: %d", code)
	}
	if _, state := ask("GET", "/state?person=x&chat=x", ""); strings.Contains(state, "hello") || strings.Contains(state, w.ada.DM().ID) {
		t.Errorf("nobody sees %s", state)
	}
	if got := do(ada, "delete-topic", "", "", ""); got != done {
		t.Error(got)
	}
}

// Whom nobody answers sees that, and doesn't wait any more.
func TestViewTellsWhoIsNotAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, discordtest.Options{Limits: generous()})
		id := w.must(post, "/channels/"+w.text+"/messages", args{"content": "?", "components": []args{row(button("yes"))}})
		said(t)(w.ada.Press(id, "yes"))
		state := func() string {
			rec := httptest.NewRecorder()
			path := fmt.Sprintf("http://localhost/state?person=%s&chat=%s&thread=0", w.ada.ID, w.text)
			discordtest.NewView(w.Server, "").ServeHTTP(rec, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
			return rec.Body.String()
		}
		if s := state(); !strings.Contains(s, `"data":"yes","done":false`) {
			t.Errorf("at once it says %s", s)
		}
		time.Sleep(4 * time.Second)
		if s := state(); !strings.Contains(s, `"data":"yes","done":true,"text":"The application didn't respond"`) {
			t.Errorf("later it says %s", s)
		}
	})
}

// afternoon fills a thread as some hours' work do, and returns the messages that ask.
func afternoon(t *testing.T, w *world, thread string) (permission, choice string) {
	t.Helper()
	at := "/channels/" + thread + "/messages"
	silent := discordtest.SuppressNotifications
	asked := said(t)(w.ada.Say(thread, "Move the retry logic out of the handlers, and run the tests afterwards please"))
	ok(t, w.bob.React(asked, "👀"))
	live := w.must(post, at, args{"content": "reading…", "flags": silent})
	w.must(patch, at+"/"+live, args{"content": "I'll look at the **handlers** first, then at `client.Do`.\n\nFound *four* places that retry ~~twice~~ __on their own__:\n" +
		"```go\nfunc (c *Client) Do(ctx context.Context) error {\n\tfor attempt := range 3 { // try again, the upstream is flaky and this comment is long enough to scroll\n\t\treturn c.once(ctx)\n\t}\n}\n```\n" +
		"> internal/http/handlers.go:88\n> internal/http/upload.go:41\nSee [issue 7](<https://example.com/issue/7>), ||and don't tell||. 日本語とCJK, \\*not italic\\* <script>alert(1)</script> <@" + w.ada.ID + ">\n- one\n- two"})
	w.must(post, at, args{"content": "", "flags": silent, "embeds": []args{{
		"title": "Build 312", "url": "https://example.com/312", "description": "**passed** in 3 min", "color": 0x2e9160, "footer": args{"text": "ci"},
		"fields": []args{{"name": "tests", "value": "1,204", "inline": true}, {"name": "coverage", "value": "`81 %`", "inline": true}},
	}}})
	choice = w.must(post, at, args{"content": "**agent asks you to choose any number**\n\nWhich tests?\n\n1\\. unit\n2\\. integration — slow", "components": []args{
		row(args{"type": 3, "custom_id": "which", "placeholder": "Choose any number, then press Send", "min_values": 0, "max_values": 3, "options": []args{
			{"label": "1. unit", "value": "0", "default": true}, {"label": "2. integration", "value": "1", "description": "slow: it needs a database"}, {"label": "3. everything else that there is in this repository, with a name that's rather long", "value": "2"},
		}}),
		row(button("Send"), args{"type": 2, "style": 2, "label": "Screen", "custom_id": "screen"}, args{"type": 2, "style": 4, "label": "Stop", "custom_id": "stop"}, args{"type": 2, "style": 5, "label": "docs", "url": "https://example.com"}),
	}})
	said(t)(w.bob.Reply(thread, live, "Looks right to me"))
	permission = w.must(post, at, args{"content": "**agent asks for permission**\n```\ngit push --force-with-lease\n```", "components": []args{
		row(args{"type": 2, "style": 3, "label": "Yes", "custom_id": "yes"}, args{"type": 2, "style": 2, "label": "No", "custom_id": "no"}),
	}})
	w.must(put, "/channels/"+thread+"/messages/pins/"+live, nil)
	return permission, choice
}

func TestViewInABrowser(t *testing.T) {
	if testing.Short() {
		t.Skip("a browser takes its time")
	}
	w := newWorld(t, discordtest.Options{Limits: generous()})
	thread := w.thread("agent")
	permission, choice := afternoon(t, w, thread)
	page := chatviewtest.Open(t, discordtest.NewView(w.Server, chatviewtest.Token), 1200, 900)
	page.Until(`document.querySelectorAll('.entry').length === 4`)
	page.Do(chromedp.Click(fmt.Sprintf(`a[href="#%s/%s"]`, w.text, thread)))
	page.Until(`document.querySelectorAll('.message').length === 6`)

	// Text stays text, and looks as its marks say.
	if text := chatviewtest.Eval[string](page, `document.querySelectorAll('.message .text')[1].textContent`); !strings.Contains(text, "*not italic* <script>alert(1)</script>") || !strings.Contains(text, "• one") || strings.Contains(text, "```") {
		t.Errorf("the text is %q", text)
	}
	for selector, want := range map[string]string{
		".text strong": "handlers", ".text em": "four", ".text s": "twice", ".text u": "on their own", ".text code": "client.Do", ".text a": "issue 7",
		".text .spoiler": "and don't tell", ".text .mention": "@Ada", ".text blockquote": "internal/http/handlers.go:88\ninternal/http/upload.go:41",
		".embed .title a": "Build 312", ".embed dd code": "81 %", ".menu summary": "1. unit",
	} {
		if got := chatviewtest.Eval[string](page, fmt.Sprintf(`document.querySelector(%q).textContent`, selector)); got != want {
			t.Errorf("%s is %q, want %q", selector, got, want)
		}
	}
	if n := chatviewtest.Eval[int](page, `document.querySelectorAll('main script, .message script').length`); n != 0 {
		t.Error("text became markup")
	}
	page.Shot("discord-wide")
	page.Scheme("dark")
	page.Shot("discord-wide-dark")
	page.Scheme("light")

	// Somebody presses; the bot says why not, for that person alone.
	page.Do(chromedp.Click(fmt.Sprintf(`[data-id="%s"] .key[data-style="success"]`, permission)))
	page.Until(`document.querySelector('.key.waiting')`)
	press := w.Interactions()[0]
	if press.Name != "yes" || press.Message != permission || press.Person != w.ada.ID {
		t.Fatalf("the press says %+v", press)
	}
	w.must(post, callback(press), args{"type": 4, "data": args{"content": "This takes the role approver.", "flags": discordtest.Ephemeral}})
	page.Until(`document.querySelector('.private .text')?.textContent === 'This takes the role approver.' && !document.querySelector('.key.waiting')`)

	// Somebody chooses: all at once, when the list is closed.
	page.Phone()
	page.Until(`document.querySelectorAll('.message').length === 7`)
	page.Do(chromedp.Click(`.menu summary`))
	page.Until(`document.querySelector('.menu').open`)
	page.Do(chromedp.Click(`.menu input[value="1"]`), chromedp.Click(`.menu input[value="2"]`), chromedp.Click(`.menu input[value="0"]`))
	page.Do(chromedp.Sleep(200 * time.Millisecond))
	page.Shot("discord-phone-menu")
	page.FitsPhone()
	if n := len(w.Interactions()); n != 1 {
		t.Errorf("%d interactions while the list is open", n)
	}
	page.Do(chromedp.Click(`.menu summary`))
	page.Until(`document.querySelector('.menu.waiting')`)
	all := w.Interactions()
	if i := all[1]; len(all) != 2 || i.Name != "which" || i.Message != choice || fmt.Sprint(i.Values) != "[1 2]" {
		t.Fatalf("the choice says %+v", all)
	}
	w.must(post, callback(all[1]), args{"type": 7, "data": args{"content": "Answered by Ada: integration.", "components": []args{}}})
	page.Until(`!document.querySelector('.menu')`)
	page.Shot("discord-phone")
	page.Do(chromedp.SendKeys("#text", "why not?"), chromedp.Click("#send"))
	page.Until(`document.querySelector('.message:last-child .text')?.textContent === 'why not?'`)
	page.Do(chromedp.Click("#back"))
	page.Until(`getComputedStyle(document.querySelector('nav')).display !== 'none'`)
	page.Shot("discord-phone-list")
}
