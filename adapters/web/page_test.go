package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/web"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/sessions"
)

const token = "page-token"

// site is a daemon with the page, which can be stopped and started again on the
// same port.
type site struct {
	daemon   *apitest.Daemon
	adapters []api.Adapter
	broker   *api.Broker
	addr     string
	stop     func()
}

// outbound shows a site's adapters; nothing can be bound.
type outbound struct{ *site }

func (o outbound) Adapters(context.Context) ([]api.Adapter, error) { return o.adapters, nil }
func (o outbound) Bindings(sessions.ID) []api.Binding              { return nil }
func (o outbound) Unbind(context.Context, string) error            { return sessions.ErrUnknown }

func (o outbound) Bind(context.Context, sessions.ID, api.Bind) (api.Binding, error) {
	return api.Binding{}, sessions.ErrUnknown
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{broker: api.NewBroker(), addr: "127.0.0.1:0"}
	s.daemon = &apitest.Daemon{Sink: s.broker}
	s.start(t)
	t.Cleanup(func() { s.stop() })
	return s
}

func (s *site) start(t *testing.T) {
	t.Helper()
	server, err := api.NewServer(api.Options{
		Sessions: s.daemon, Output: s.daemon, Broker: s.broker, Page: web.Handler(), Token: token,
		Health:   func() api.Health { return api.Health{State: api.HealthOK} },
		Outbound: outbound{s},
	})
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx, nil, l) }()
	s.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

// complaints are what the browser's console says: errors, and what the content
// security policy refused.
type complaints struct {
	mu   sync.Mutex
	list []string
}

func (c *complaints) add(text string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, text)
}

func (c *complaints) listen(ev any) {
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		c.add(fmt.Sprintf("exception: %+v", ev.ExceptionDetails))
	case *log.EventEntryAdded:
		// That a server which is being restarted can't be reached is no news.
		if ev.Entry.Level == log.EntryLevelError && !strings.Contains(ev.Entry.Text, "net::ERR_") {
			c.add("log: " + ev.Entry.Text + " " + ev.Entry.URL)
		}
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError {
			c.add(fmt.Sprintf("console: %v", ev.Args))
		}
	}
}

func (c *complaints) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.list {
		t.Error(text)
	}
}

// browse starts a browser of that size.
func browse(t *testing.T, width, height int) (context.Context, *complaints) {
	t.Helper()
	opts := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	opts = append(opts,
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(width, height),
		chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
	)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	said := &complaints{}
	run(ctx, t, chromedp.EmulateViewport(int64(width), int64(height)))
	if err := chromedp.Listen(ctx, said.listen); err != nil {
		t.Fatal(err)
	}
	return ctx, said
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no browser: install chromium (apt install chromium)")
	return ""
}

func run(ctx context.Context, t *testing.T, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

func (s *site) open() chromedp.Action[chromedp.Void] {
	return chromedp.Navigate("http://" + s.addr + "/?token=" + token)
}

// until waits for a JavaScript expression to be true. (chromedp.Poll makes a
// function of a string, which the page's content security policy forbids.)
func until(ctx context.Context, t *testing.T, what, expression string) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !eval[bool](ctx, t, "Boolean("+expression+")"); {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
		run(ctx, t, chromedp.Sleep(20*time.Millisecond))
	}
}

func eval[T any](ctx context.Context, t *testing.T, expression string) T {
	t.Helper()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression))
	if err != nil {
		t.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// enter presses Enter as a keyboard does: what the page makes of the key decides
// whether a newline is typed. (chromedp.SendKeys types one in any case.)
func enter() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		p := input.DispatchKeyEventParams{Type: "keyDown", Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}
		if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p); err != nil {
			return err
		}
		p.Type, p.Text = "keyUp", ""
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p)
		return err
	})
}

func colourScheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

// shot saves a screenshot where PANEBRIDGE_SCREENSHOTS says, for people to look at.
func shot(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	dir := os.Getenv("PANEBRIDGE_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		t.Fatal(err)
	}
}

const lineCount = `document.querySelectorAll('#lines .line').length`

// numbers returns the numbers of the lines in the document.
func numbers(ctx context.Context, t *testing.T) []int {
	t.Helper()
	return eval[[]int](ctx, t, `Array.from(document.querySelectorAll('#lines .line'), (e) => Number(e.dataset.n))`)
}

func inOrder(t *testing.T, got []int, first, last int) {
	t.Helper()
	if len(got) != last-first+1 {
		t.Fatalf("there are %d lines, want %d", len(got), last-first+1)
	}
	for i, n := range got {
		if n != first+i {
			t.Fatalf("line %d stands at %d", n, first+i)
		}
	}
}

func texts(from, to int) []string {
	var list []string
	for i := from; i <= to; i++ {
		list = append(list, fmt.Sprintf("line %d", i))
	}
	return list
}

func TestManyLinesArriveInOrder(t *testing.T) {
	s := newSite(t)
	id := s.daemon.Add("many", "claude")
	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open(), chromedp.WaitVisible("#foot"))
	start := time.Now()
	for i := 0; i < 5000; i += 50 {
		s.daemon.Append(id, sessions.KindPane, texts(i+1, i+50)...)
	}
	until(ctx, t, "5,000 lines", lineCount+" === 5000")
	t.Logf("5,000 lines took %v", time.Since(start))
	inOrder(t, numbers(ctx, t), 1, 5000)

	s.daemon.Append(id, sessions.KindPane, texts(5001, 6000)...)
	until(ctx, t, "line 6000", `document.querySelector('#lines').lastChild?.dataset.n === '6000'`)
	inOrder(t, numbers(ctx, t), 1001, 6000)
	until(ctx, t, "the newest line is in view", `(() => { const s = document.querySelector('#scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()`)

	// Scrolling up loads what's older; what came meanwhile waits below.
	eval[int](ctx, t, `document.querySelector('#scroller').scrollTop = 0`)
	until(ctx, t, "older lines", `document.querySelector('#lines').firstChild.dataset.n === '501'`)
	inOrder(t, numbers(ctx, t), 501, 5500)
	s.daemon.Append(id, sessions.KindPane, texts(6001, 6010)...)
	until(ctx, t, "the button counts", `/10 new/.test(document.querySelector('#newest').textContent)`)
	run(ctx, t, chromedp.Click("#newest"))
	until(ctx, t, "the newest after the jump", `document.querySelector('#lines').lastChild?.dataset.n === '6010'`)
	inOrder(t, numbers(ctx, t), 5511, 6010)
	s.daemon.Append(id, sessions.KindPane, texts(6011, 6012)...)
	until(ctx, t, "the newest goes on", `document.querySelector('#lines').lastChild?.dataset.n === '6012'`)
	inOrder(t, numbers(ctx, t), 5511, 6012)
	said.check(t)
}

func TestTypingShowsHowFarItGot(t *testing.T) {
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	s.daemon.Add("one", "claude")
	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open(), chromedp.WaitVisible("#foot"),
		chromedp.SendKeys("#text", "first"), enter(), chromedp.WaitVisible(".receipt[data-state=stored]"))
	first := s.daemon.Receipts()[0]
	if first.Text != "first" || !first.Submit || first.Author != "web" {
		t.Errorf("receipt is %+v", first)
	}
	s.daemon.SetReceipt(first.ID, sessions.ReceiptTyped, "")
	run(ctx, t, chromedp.WaitVisible(".receipt[data-state=typed]"))
	s.daemon.SetReceipt(first.ID, sessions.ReceiptSubmitted, "")
	run(ctx, t, chromedp.WaitVisible(".receipt[data-state=submitted]"))

	run(ctx, t, chromedp.SendKeys("#text", "second"), enter(), chromedp.WaitVisible(".receipt[data-state=stored]"))
	second := s.daemon.Receipts()[1]
	s.daemon.SetReceipt(second.ID, sessions.ReceiptHeld, "a dialog is open")
	run(ctx, t, chromedp.WaitVisible(".receipt[data-state=held]"))
	if text := eval[string](ctx, t, `document.querySelector('.receipt[data-state=held]').textContent`); !strings.Contains(text, "a dialog is open") {
		t.Errorf("the held receipt says %q", text)
	}
	run(ctx, t, chromedp.Click(".receipt[data-state=held] button"), chromedp.WaitVisible(".receipt[data-state=cancelled]"))
	if text := eval[string](ctx, t, `document.querySelector('#text').value`); text != "second" {
		t.Errorf("what was taken back is %q", text)
	}

	run(ctx, t, chromedp.Click("[data-key=Escape]"), chromedp.Click("[data-key='C-c']"))
	deadline := time.Now().Add(5 * time.Second)
	for len(s.daemon.Pressed()) < 2 && time.Now().Before(deadline) {
		run(ctx, t, chromedp.Sleep(20*time.Millisecond))
	}
	if keys := strings.Join(s.daemon.Pressed(), " "); keys != "Escape C-c" {
		t.Errorf("keys pressed: %s", keys)
	}
	said.check(t)
}

func TestRestartLeavesNoGapAndNoDouble(t *testing.T) {
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 100)...)
	s.daemon.Gap(id, 3, "first")
	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open())
	until(ctx, t, "the first lines", lineCount+" === 100")
	for round := range 2 {
		s.stop()
		until(ctx, t, "the bar says so", `!document.querySelector('#connection').hidden`)
		from := 101 + 100*round
		s.daemon.Append(id, sessions.KindPane, texts(from, from+99)...)
		s.start(t)
		until(ctx, t, "the lines printed meanwhile", fmt.Sprintf("%s === %d", lineCount, from+99))
		until(ctx, t, "the bar goes away", `document.querySelector('#connection').hidden`)
	}
	inOrder(t, numbers(ctx, t), 1, 300)
	if n := eval[int](ctx, t, `document.querySelectorAll('#lines .gap').length`); n != 1 {
		t.Errorf("there are %d gaps, want 1", n)
	}
	said.check(t)
}

func TestOutputStaysText(t *testing.T) {
	s := newSite(t)
	id := s.daemon.Add("<b>name</b>", "")
	evil := `<script>window.hit = 1</script><img src=x onerror="window.hit = 1">`
	s.daemon.Append(id, sessions.KindPane, evil)
	s.daemon.Gap(id, 2, evil)
	s.daemon.Live(id, evil)
	s.daemon.SetState(id, sessions.StateWaiting, evil)
	s.daemon.SetScreen(id, sessions.Screen{Rows: []string{"", "\x1b[31m" + evil, "\x1b[38:2::1:2:3;7mtrue\x1b[0m"}})
	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open())
	until(ctx, t, "the line", lineCount+" === 1")
	if text := eval[string](ctx, t, `document.querySelector('#lines .line').textContent`); text != evil {
		t.Errorf("the line is %q", text)
	}
	run(ctx, t, chromedp.Click("#tab-screen"))
	until(ctx, t, "the screen", `document.querySelectorAll('#screen-rows span').length === 2`)
	if text := eval[string](ctx, t, `document.querySelector('#screen-rows').textContent`); text != "\n"+evil+"\ntrue\n" {
		t.Errorf("the screen is %q", text)
	}
	if colour := eval[string](ctx, t, `getComputedStyle(document.querySelectorAll('#screen-rows span')[1]).backgroundColor`); colour != "rgb(1, 2, 3)" {
		t.Errorf("reversed true colour is %s", colour)
	}
	if hit := eval[bool](ctx, t, `Boolean(window.hit) || document.querySelectorAll('#main script, #main img, #drawer b').length > 0`); hit {
		t.Error("text became markup")
	}
	said.check(t)
}

func TestDialogs(t *testing.T) {
	s := newSite(t)
	s.daemon.Add("one", "")
	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open(), chromedp.WaitVisible("#foot"),
		chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"), chromedp.SendKeys("#new-name", "two"),
		chromedp.SendKeys("#new-agent", "codex"), chromedp.Click("#new-create"))
	until(ctx, t, "the new session is open", `document.querySelector('#name').textContent === 'two'`)
	run(ctx, t, chromedp.Click("#close"), chromedp.WaitVisible("#close-dialog"))
	if text := eval[string](ctx, t, `document.querySelector('#close-text').textContent`); !strings.Contains(text, "two") {
		t.Errorf("the question is %q", text)
	}
	run(ctx, t, chromedp.Click("#close-confirm"))
	until(ctx, t, "it has ended", `document.querySelector('#close').disabled && document.querySelector('#text').disabled`)
	if list := s.daemon.List(); list[1].State != sessions.StateEnded || list[0].State == sessions.StateEnded {
		t.Errorf("sessions are %+v", list)
	}

	// There's nobody to write to any more, but it can be removed.
	visible := func(id string) bool {
		return eval[bool](ctx, t, fmt.Sprintf(`document.getElementById(%q).checkVisibility()`, id))
	}
	if visible("composer") || visible("below") || !visible("ended") {
		t.Error("an ended session offers a composer, or doesn't say that it has ended")
	}
	shot(ctx, t, "ended")
	run(ctx, t, chromedp.Click("#remove"), chromedp.WaitVisible("#close-dialog"))
	if text := eval[string](ctx, t, `document.querySelector('#close-dialog').textContent`); !strings.Contains(text, "two") || !strings.Contains(text, "Remove") {
		t.Errorf("the question is %q", text)
	}
	run(ctx, t, chromedp.Click("#close-confirm"))
	until(ctx, t, "the other session is open", `document.querySelector('#name').textContent === 'one' && document.querySelectorAll('.session').length === 1`)
	if !visible("composer") || visible("ended") {
		t.Error("the session that lives has no composer")
	}
	if list := s.daemon.List(); len(list) != 1 || list[0].Name != "one" {
		t.Errorf("sessions are %+v", list)
	}
	said.check(t)
}

func TestChatsShowWhatWaits(t *testing.T) {
	s := newSite(t)
	s.daemon.Add("agent", "claude")
	ctx, said := browse(t, 1000, 700)
	run(ctx, t, s.open())
	until(ctx, t, "the list", `document.querySelector('.session')`)
	if !eval[bool](ctx, t, `document.getElementById('delivery').hidden`) {
		t.Error("without a chat platform the panel shows")
	}

	s.stop()
	now := time.Now()
	windows := []api.WindowUse{{Calls: 20, Seconds: 60, Used: 18}}
	s.adapters = []api.Adapter{{Name: "telegram", Mode: "strict", Multiplier: 1, Chats: []api.Chat{
		{
			Chat: "-1001234567890", Windows: windows, NextSlot: now.Add(time.Hour), Multiplier: 1,
			Waiting: map[string]api.Waiting{"stream": {Count: 3, OldestAge: 12}, "final": {Count: 1, OldestAge: 2}},
		},
		{Chat: "<b>7</b>", Windows: windows, PenaltyUntil: now.Add(3 * time.Hour), Multiplier: 0.7, Waiting: map[string]api.Waiting{}},
	}}}
	s.start(t)
	until(ctx, t, "the panel", `document.querySelectorAll('.chat').length === 2`)
	for chat, want := range []string{"-1001234567890|18/20|1 final, 3 stream waiting, 12 s · next slot in 60 min", "<b>7</b>|18/20|silent for 3 h, by the platform’s order"} {
		got := eval[string](ctx, t, fmt.Sprintf(`['name','used','about'].map((c) => document.querySelectorAll('.chat')[%d].querySelector('.chat-' + c).textContent).join('|')`, chat))
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	shot(ctx, t, "chats")
	said.check(t)
}

// TestLooks fills the page as a day's work does; with PANEBRIDGE_SCREENSHOTS it
// leaves pictures. It asserts that a phone needn't scroll sideways.
func TestLooks(t *testing.T) {
	s := newSite(t)
	id := s.daemon.Add("api-refactor", "claude")
	other := s.daemon.Add("docs", "codex")
	s.daemon.Add("build", "")
	ended := s.daemon.Add("yesterday", "gemini")
	s.daemon.Append(other, sessions.KindPane, "Allow this command?")
	s.daemon.SetState(other, sessions.StateWaiting, "asks whether a command may run")
	s.daemon.SetState(ended, sessions.StateEnded, "closed")
	s.daemon.SetState(id, sessions.StateWorking, "")
	fill(s.daemon, id)
	s.daemon.SetScreen(id, picture())
	s.daemon.Type = func(d *apitest.Daemon, r *sessions.Receipt) {
		d.SetReceipt(r.ID, sessions.ReceiptHeld, "a dialog is open: it's typed when the dialog has closed")
	}

	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open())
	until(ctx, t, "lines", lineCount+" > 20")
	shot(ctx, t, "desktop")
	run(ctx, t, chromedp.SendKeys("#text", "and then run the tests, please"), enter(), chromedp.WaitVisible(".receipt[data-state=held]"))
	shot(ctx, t, "held")
	run(ctx, t, chromedp.Click("#tab-screen"), chromedp.WaitVisible("#screen-rows span"))
	shot(ctx, t, "screen")
	run(ctx, t, chromedp.Click("#tab-conversation"), chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"))
	shot(ctx, t, "dialog")
	run(ctx, t, chromedp.Click("#new-cancel"), colourScheme("dark"))
	shot(ctx, t, "dark")

	run(ctx, t, chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Reload())
	until(ctx, t, "lines", lineCount+" > 20")
	shot(ctx, t, "phone-dark")
	run(ctx, t, colourScheme("light"))
	shot(ctx, t, "phone")
	if wide := eval[int](ctx, t, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390", wide)
	}
	run(ctx, t, chromedp.Click("#menu"), chromedp.WaitVisible("#drawer .session"))
	until(ctx, t, "the drawer is open", `document.querySelector('#drawer').getBoundingClientRect().left === 0`)
	shot(ctx, t, "phone-drawer")
	s.stop()
	until(ctx, t, "the bar", `!document.querySelector('#connection').hidden`)
	said.check(t)
}

func fill(d *apitest.Daemon, id sessions.ID) {
	d.Append(id, sessions.KindUser, "Move the retry logic out of the handlers and into the client.")
	d.Append(id, sessions.KindAnswer, "I'll look at the handlers first.")
	d.Append(id, sessions.KindTool, "Read(internal/http/handlers.go)", "Search(pattern: \"retry\", path: \"internal\")")
	d.Append(id, sessions.KindPane, "● Found 4 places that retry on their own:", "",
		"  internal/http/handlers.go:88    for attempt := 0; attempt < 3; attempt++ {",
		"  internal/http/upload.go:41      backoff.Retry(func() error {",
		"  internal/jobs/sync.go:132       // try again, the upstream is flaky", "")
	d.Gap(id, 214, "the pane printed faster than its history is long")
	d.Append(id, sessions.KindPane, "╭─────────────────────────────────────╮", "│ 12 files changed, 240 insertions(+) │", "╰─────────────────────────────────────╯")
	d.Append(id, sessions.KindNotice, "The daemon was restarted; nothing was lost.")
	for i := range 12 {
		d.Append(id, sessions.KindPane, fmt.Sprintf("ok  \texample.com/service/internal/pkg%02d\t0.%03ds", i, 17*i+4))
	}
	d.Append(id, sessions.KindAnswer, "All four now call `client.Do`, which retries twice with jitter and gives up on 4xx. A long line follows, to see how it wraps on a narrow window: "+strings.Repeat("word ", 30))
	d.Live(id, "✻ Thinking… (12s · esc to interrupt)", "", "╭──────────────────────────────╮", "│ >                            │", "╰──────────────────────────────╯")
}

func picture() sessions.Screen {
	var cube strings.Builder
	for i := 16; i < 88; i++ {
		fmt.Fprintf(&cube, "\x1b[48;5;%dm ", i)
	}
	base, bright := "", ""
	for i := range 8 {
		base += fmt.Sprintf("\x1b[3%dm colour%d \x1b[0m", i, i)
		bright += fmt.Sprintf("\x1b[9%dm bright%d \x1b[0m", i, i)
	}
	gradient := ""
	for i := range 72 {
		gradient += fmt.Sprintf("\x1b[48;2;%d;%d;%dm ", 255-i*3, i*3, 128)
	}
	return sessions.Screen{Width: 100, Height: 16, Rows: []string{
		"\x1b[1m● claude\x1b[0m \x1b[2m~/project\x1b[0m", "", base, bright, cube.String(), gradient, "",
		"\x1b[1mbold\x1b[0m \x1b[2mdim\x1b[0m \x1b[3mitalic\x1b[0m \x1b[4munderline\x1b[0m \x1b[7mreverse\x1b[0m \x1b[9mstrike\x1b[0m \x1b[31;7mred reverse\x1b[0m", "",
		"\x1b[32m+ func (c *Client) Do(ctx context.Context) error {\x1b[0m", "\x1b[31m- for attempt := 0; attempt < 3; attempt++ {\x1b[0m", "",
		"\x1b[38;5;174m╭──────────────────────────────────────────╮\x1b[0m", "\x1b[38;5;174m│\x1b[0m > 日本語 ok                               \x1b[38;5;174m│\x1b[0m", "\x1b[38;5;174m╰──────────────────────────────────────────╯\x1b[0m", "",
	}}
}

func TestSessionJSONIsWhatThePageReads(t *testing.T) {
	text, err := json.Marshal(api.Session{})
	if err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"id", "name", "agent", "state", "cwd", "owned", "lines", "created_at"} {
		if !strings.Contains(string(text), `"`+field+`":`) {
			t.Errorf("sessions have no %s", field)
		}
	}
}

// What's below the lines grows when an input is sent: that isn't the reader
// going up.
func TestFollowsTheNewestWhenTheFootGrows(t *testing.T) {
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 200)...)
	ctx, said := browse(t, 1280, 800)
	run(ctx, t, s.open())
	until(ctx, t, "the lines", lineCount+" === 200")
	eval[bool](ctx, t, `(() => {
		const s = document.querySelector('#scroller');
		s.scrollTop -= 5; // its event comes when the foot has grown
		const item = document.createElement('li');
		item.style.height = '100px';
		document.querySelector('#receipts').append(item);
		return true;
	})()`)
	s.daemon.Append(id, sessions.KindPane, texts(201, 300)...)
	until(ctx, t, "the new lines", lineCount+" === 300")
	until(ctx, t, "the newest line is in view", `(() => { const s = document.querySelector('#scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()`)
	if !eval[bool](ctx, t, `document.querySelector('#newest').hidden`) {
		t.Error("the page doesn't follow the newest line any more")
	}
	// A reader who goes up stays there.
	eval[int](ctx, t, `document.querySelector('#scroller').scrollTop -= 300`)
	until(ctx, t, "the button", `!document.querySelector('#newest').hidden`)
	said.check(t)
}

func TestWiderWindowWithTheListOpen(t *testing.T) {
	s := newSite(t)
	s.daemon.Add("one", "")
	ctx, said := browse(t, 390, 844)
	run(ctx, t, s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#menu"))
	until(ctx, t, "the drawer is open", `document.querySelector('#drawer').getBoundingClientRect().left === 0`)
	run(ctx, t, chromedp.EmulateViewport(844, 390))
	until(ctx, t, "list and session stand side by side", `innerWidth === 844 && document.querySelector('#main').getBoundingClientRect().top === 0 && document.querySelector('#main').getBoundingClientRect().right === 844`)
	said.check(t)
}
