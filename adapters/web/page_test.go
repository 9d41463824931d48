package web_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/web"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/ttywatch"
	"github.com/panebridge/panebridge/polling"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/viewing"
)

// slow marks a test that waits for real programs for more than a second or two, which
// -short leaves out.
func slow(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short leaves out what takes more than a second or two")
	}
}

// site is a daemon with the page, which can be stopped and started again on the
// same port.
type site struct {
	goesOn   api.Continuations // nil: no session goes on by itself
	used     api.UsageLog      // nil: nobody counts
	exhibits api.Exhibits      // nil: nothing is shown
	daemon   *apitest.Daemon
	adapters []api.Adapter
	bindings atomic.Pointer[[]api.Binding] // of each session
	access   accessList
	masker   *redact.Masker   // nil: nothing is masked
	files    api.TakeFilePart // nil: none is taken
	give     api.ReadFile     // nil: none is given
	diff     api.DiffOf       // nil: it isn't told
	mail     letterBox
	search   *search.Indexer                 // nil: nothing can be searched
	pusher   *push.Pusher                    // nil: nobody is notified
	prelude  string                          // stands before the page\'s worker
	listen   func(net.Listener) net.Listener // nil: as it is
	broker   *api.Broker
	known    *browserstest.Store // survives a start
	keeper   *browsers.Doorkeeper
	addr     string
	stop     func()
}

// outbound shows a site's adapters; nothing can be bound.
type outbound struct{ *site }

func (o outbound) Adapters(context.Context) ([]api.Adapter, error) { return o.adapters, nil }
func (o outbound) Unbind(context.Context, string) error            { return sessions.ErrUnknown }

func (o outbound) Explain(context.Context, string) (api.Explanation, error) {
	return api.Explanation{}, sessions.ErrUnknown
}

func (o outbound) Bindings(sessions.ID) []api.Binding {
	if all := o.bindings.Load(); all != nil {
		return *all
	}
	return nil
}

func (o outbound) Bind(context.Context, sessions.ID, api.Bind) (api.Binding, error) {
	return api.Binding{}, sessions.ErrUnknown
}

func (s *site) takeFile(p api.FilePart) (string, error) {
	if s.files == nil {
		return "", sessions.ErrUnavailable
	}
	return s.files(p)
}

// pageHandler serves the page. Its files are compressed once.
var pageHandler = sync.OnceValue(web.Handler) // for all tests

// pageAndSources serves the page, and for tests alone the modules of which it's made, and an empty page. prelude stands before its worker.
func pageAndSources(prelude string) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /service-worker.js", func(w http.ResponseWriter, r *http.Request) {
		r.Header.Del("Accept-Encoding")
		got := httptest.NewRecorder()
		pageHandler().ServeHTTP(got, r)
		w.Header().Set("Content-Type", got.Header().Get("Content-Type"))
		_, _ = io.WriteString(w, prelude+got.Body.String())
	})
	mux.Handle("/", pageHandler())
	mux.Handle("GET /sources/", http.StripPrefix("/sources/", http.FileServer(http.Dir("static"))))
	mux.HandleFunc("GET /empty", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>empty</title><p>empty")
	})
	return mux
}

func (s *site) readFile(one sessions.Session, path string) (string, []byte, error) {
	if s.give == nil {
		return "", nil, sessions.ErrUnavailable
	}
	return s.give(one, path)
}

func (s *site) diffOf(ctx context.Context, one sessions.Session, since, file string, open bool) (api.Changes, error) {
	if s.diff == nil {
		return api.Changes{}, sessions.ErrUnavailable
	}
	return s.diff(ctx, one, since, file, open)
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{broker: api.NewBroker(), known: &browserstest.Store{}, addr: freeAddress(t)}
	s.daemon = &apitest.Daemon{}
	s.broker.Follow(&s.daemon.Feed)
	s.start(t)
	t.Cleanup(func() { s.stop() })
	return s
}

// ports is how many were given to sites.
var ports atomic.Int64 // all tests take theirs from it

// freeAddress is an address at which nobody listens, nor will while its site is stopped: no other test gets its port,
// and whoever asks the system for any gets one above these (ip_local_port_range). Another process of these tests begins
// elsewhere among them.
func freeAddress(t *testing.T) string {
	t.Helper()
	for {
		addr := fmt.Sprintf("127.0.0.1:%d", 20000+(int64(os.Getpid())*211+ports.Add(1))%12000)
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", addr)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		return addr
	}
}

// newMaskedSite is a site whose secrets are masked.
func newMaskedSite(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	masker, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	s.masker = masker
	s.start(t)
	return s
}

func (s *site) start(t *testing.T) {
	t.Helper()
	s.keeper = browsers.New(time.Now(), s.known)
	if err := s.keeper.Load(t.Context(), time.Now()); err != nil {
		t.Fatal(err)
	}
	server, err := api.NewServer(api.Options{
		Sessions: s.daemon, Output: s.daemon, Broker: s.broker, Page: pageAndSources(s.prelude), Browsers: s.keeper,
		Health:   func() api.Health { return api.Health{State: api.HealthOK} },
		Outbound: outbound{s}, Access: &s.access, Masker: s.masker, Files: s.takeFile, Mail: &s.mail, ReadFile: s.readFile, Diff: s.diffOf, Search: s.search, Push: s.pusher,
		Continuations: s.goesOn, Usage: s.used, Exhibits: s.exhibits,
		Terminals: viewing.NewGallery(viewing.Options{Screen: s.daemon.Screen, WatchWrites: func(string) (polling.WriteWatch, error) { return nil, ttywatch.ErrUnsupported }}),
		Conversations: func(_ context.Context, agent, folder string) ([]api.PastConversation, error) {
			if agent != "claude" {
				return nil, sessions.ErrInvalid
			}
			return []api.PastConversation{{ID: "c-1", Title: "the retries of " + folder, Changed: time.Now().Add(-2 * time.Hour)}, {ID: "c-2"}}, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", s.addr)
	// The browser that's just being started has what this process had open until it's begun.
	for end := time.Now().Add(time.Minute); errors.Is(err, syscall.EADDRINUSE) && time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		l, err = lc.Listen(t.Context(), "tcp", s.addr)
	}
	if err != nil {
		t.Fatal(err)
	}
	s.addr = l.Addr().String()
	if s.listen != nil {
		l = s.listen(l)
	}
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

// program is the browser of all tests. TestMain ends it.
var program browsertest.Program // once for all of them

// TestMain has no more than four windows open at once: pages compute more than they wait.
func TestMain(m *testing.M) {
	flag.Parse() // before it sets one
	if n, err := strconv.Atoi(flag.Lookup("test.parallel").Value.String()); err != nil || n > 4 {
		if err := flag.Set("test.parallel", "4"); err != nil {
			panic(err)
		}
	}
	status := m.Run()
	program.End()
	os.Exit(status)
}

// browse opens a window of that size in the browser. That a site which is being restarted can't be
// reached is no news.
func browse(t *testing.T, width, height int) *browsertest.Browser {
	t.Helper()
	b := program.New(t, width, height)
	b.AwayAtTimes()
	b.Ignore("status of 401") // a request was signed for the start before
	return b
}

// enter opens an address that lets the browser in: the page shows the inbox.
func (s *site) enter() chromedp.Action[chromedp.Void] {
	url, _ := s.keeper.NewAddress(time.Now(), "http://"+s.addr)
	return chromedp.Navigate(url)
}

// open does so, and opens the session in which most is to be seen: one that asks; else the last that printed.
func (s *site) open() chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := s.enter()(ctx, target); err != nil {
			return err
		}
		list := s.daemon.List()
		if len(list) == 0 {
			return nil
		}
		worth := func(one sessions.Session) (int, time.Time) {
			_, asks := s.daemon.PromptOf(one.ID)
			switch {
			case one.State == sessions.StateEnded:
				return 0, one.EndedAt
			case asks || one.State == sessions.StateWaiting:
				return 2, one.CreatedAt
			case one.LastOutputAt.After(one.CreatedAt):
				return 1, one.LastOutputAt
			default:
				return 1, one.CreatedAt
			}
		}
		most := slices.MaxFunc(list, func(x, y sessions.Session) int {
			a, at := worth(x)
			b, bt := worth(y)
			return cmp.Or(cmp.Compare(a, b), at.Compare(bt))
		})
		_, err := chromedp.Evaluate[bool](fmt.Sprintf(`(location.hash = %q, true)`, most.ID))(ctx, target)
		return err
	})
}

const lineCount = `document.querySelectorAll('#lines .line').length`

// numbers returns the numbers of the lines in the document.
func numbers(b *browsertest.Browser) []int {
	b.Helper()
	return browsertest.Eval[[]int](b, `Array.from(document.querySelectorAll('#lines .line'), (e) => Number(e.dataset.n))`)
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
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("many", "claude")
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"))
	start := time.Now()
	for i := 0; i < 5000; i += 50 {
		s.daemon.Append(id, sessions.KindPane, texts(i+1, i+50)...)
	}
	b.Until("5,000 lines", lineCount+" === 5000")
	t.Logf("5,000 lines took %v", time.Since(start))
	inOrder(t, numbers(b), 1, 5000)

	s.daemon.Append(id, sessions.KindPane, texts(5001, 6000)...)
	b.Until("line 6000", `document.querySelector('#lines').lastChild?.dataset.n === '6000'`)
	inOrder(t, numbers(b), 1001, 6000)
	b.Until("the newest line is in view", `(() => { const s = document.querySelector('#scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()`)

	// Scrolling up loads what's older; what came meanwhile waits below.
	browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop = document.querySelector('#lines-above').offsetHeight`)
	b.Until("older lines", `document.querySelector('#lines').firstChild.dataset.n === '501'`)
	inOrder(t, numbers(b), 501, 5500)
	// Far from the window another begins, there.
	browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop = 0`)
	b.Until("the oldest lines", `document.querySelector('#lines').firstChild.dataset.n === '1'`)
	if all := numbers(b); len(all) < 500 {
		t.Errorf("%d lines", len(all))
	} else {
		inOrder(t, all, 1, len(all))
	}
	s.daemon.Append(id, sessions.KindPane, texts(6001, 6010)...)
	b.Until("the button counts", `/10 new/.test(document.querySelector('#newest').textContent)`)
	b.Do(chromedp.Click("#newest"))
	b.Until("the newest after the jump", `document.querySelector('#lines').lastChild?.dataset.n === '6010'`)
	inOrder(t, numbers(b), 5511, 6010)
	s.daemon.Append(id, sessions.KindPane, texts(6011, 6012)...)
	b.Until("the newest goes on", `document.querySelector('#lines').lastChild?.dataset.n === '6012'`)
	inOrder(t, numbers(b), 5511, 6012)
}

func TestTypingShowsHowFarItGot(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	s.daemon.Add("one", "claude")
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"),
		chromedp.SendKeys("#text", "first"), browsertest.Enter(), chromedp.WaitVisible(".receipt[data-state=stored]"))
	first := s.daemon.Receipts()[0]
	if first.Text != "first" || !first.Submit || first.Author != "web" {
		t.Errorf("receipt is %+v", first)
	}
	s.daemon.SetReceipt(first.ID, sessions.ReceiptTyped, "")
	b.Do(chromedp.WaitVisible(".receipt[data-state=typed]"))
	s.daemon.SetReceipt(first.ID, sessions.ReceiptSubmitted, "")
	b.Do(chromedp.WaitVisible(".receipt[data-state=submitted]"))

	b.Do(chromedp.SendKeys("#text", "second"), browsertest.Enter(), chromedp.WaitVisible(".receipt[data-state=stored]"))
	second := s.daemon.Receipts()[1]
	s.daemon.SetReceipt(second.ID, sessions.ReceiptHeld, "a dialog is open")
	b.Do(chromedp.WaitVisible(".receipt[data-state=held]"))
	if text := browsertest.Eval[string](b, `document.querySelector('.receipt[data-state=held]').textContent`); !strings.Contains(text, "a dialog is open") {
		t.Errorf("the held receipt says %q", text)
	}
	b.Do(chromedp.Click(".receipt[data-state=held] button"), chromedp.WaitVisible(".receipt[data-state=cancelled]"))
	if text := browsertest.Eval[string](b, `document.querySelector('#text').value`); text != "second" {
		t.Errorf("what was taken back is %q", text)
	}

	b.Do(chromedp.Click("[data-key=Escape]"), chromedp.Click("[data-key='C-c']"))
	deadline := time.Now().Add(5 * time.Second)
	for len(s.daemon.Pressed()) < 2 && time.Now().Before(deadline) {
		b.Do(chromedp.Sleep(20 * time.Millisecond))
	}
	if keys := strings.Join(s.daemon.Pressed(), " "); keys != "Escape C-c" {
		t.Errorf("keys pressed: %s", keys)
	}
}

func TestRestartLeavesNoGapAndNoDouble(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 100)...)
	s.daemon.Gap(id, 3, "first")
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the first lines", lineCount+" === 100")
	for round := range 2 {
		s.stop()
		b.Until("the bar says so", `!document.querySelector('#connection').hidden`)
		from := 101 + 100*round
		s.daemon.Append(id, sessions.KindPane, texts(from, from+99)...)
		s.start(t)
		b.Until("the lines printed meanwhile", fmt.Sprintf("%s === %d", lineCount, from+99))
		b.Until("the bar goes away", `document.querySelector('#connection').hidden`)
	}
	inOrder(t, numbers(b), 1, 300)
	if n := browsertest.Eval[int](b, `document.querySelectorAll('#lines .gap').length`); n != 1 {
		t.Errorf("there are %d gaps, want 1", n)
	}
}

func TestOutputStaysText(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("<b>name</b>", "")
	evil := `<script>window.hit = 1</script><img src=x onerror="window.hit = 1">`
	s.daemon.Append(id, sessions.KindPane, evil)
	s.daemon.Gap(id, 2, evil)
	s.daemon.Live(id, evil)
	s.daemon.SetState(id, sessions.StateWaiting, evil)
	s.daemon.SetScreen(id, sessions.Screen{Rows: []string{"", "\x1b[31m" + evil, "\x1b[38:2::1:2:3;7mtrue\x1b[0m"}})
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the line", lineCount+" === 1")
	if text := browsertest.Eval[string](b, `document.querySelector('#lines .line').textContent`); text != evil {
		t.Errorf("the line is %q", text)
	}
	b.Do(chromedp.Click("#tab-screen"))
	b.Until("the screen", `document.querySelectorAll('#screen-rows span').length === 2`)
	if text := browsertest.Eval[string](b, `document.querySelector('#screen-rows').textContent`); text != "\n"+evil+"\ntrue\n" {
		t.Errorf("the screen is %q", text)
	}
	if colour := browsertest.Eval[string](b, `getComputedStyle(document.querySelectorAll('#screen-rows span')[1]).backgroundColor`); colour != "rgb(1, 2, 3)" {
		t.Errorf("reversed true colour is %s", colour)
	}
	if hit := browsertest.Eval[bool](b, `Boolean(window.hit) || document.querySelectorAll('#main script, #main img, #drawer b').length > 0`); hit {
		t.Error("text became markup")
	}
}

func TestDialogs(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.daemon.Add("one", "")
	s.daemon.Search = sessions.AgentSearch{Names: []string{"claude", "codex"}, Folders: []string{"/usr/local/bin", "/usr/bin"}}
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#new"), chromedp.WaitVisible("#new-none"))
	if text := browsertest.Eval[string](b, `document.querySelector('#new-none').textContent`); !strings.HasPrefix(text, "None of claude, codex is in /usr/local/bin, /usr/bin.") {
		t.Errorf("without agents it says %q", text)
	}
	b.Shot("new-none")
	b.Do(chromedp.Click("#new-cancel"))
	s.stop()
	s.daemon.Search.Found = map[string]sessions.Agent{"claude": {}, "codex": {}}
	s.start(t)
	b.Until("the bar goes away", `document.querySelector('#connection').hidden`)
	b.Do(chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"), chromedp.SendKeys("#new-name", "two"))
	b.Until("the agents", `[...document.querySelectorAll('#new-agent option')].map((o) => o.textContent).join() === 'a shell,claude,codex' && document.querySelector('#new-none').hidden`)
	choose := func(agent string) {
		browsertest.Eval[bool](b, fmt.Sprintf(`((e) => { e.value = %q; e.dispatchEvent(new Event('change')); return true; })(document.querySelector('#new-agent'))`, agent))
	}
	choose("claude")
	b.Do(chromedp.SendKeys("#new-cwd", "/work"), chromedp.SendKeys("#new-text", "and the tests"))
	b.Until("what it can go on with", `document.querySelector('#new-resume-row').checkVisibility() && [...document.querySelectorAll('#new-resume option')].map((o) => o.textContent).join('|') === 'a new conversation|the retries of /work · 2 hours ago|(without words)'`)
	b.Shot("new-resume")
	b.Do(chromedp.SetValue("#new-resume", "c-1"), chromedp.Click("#new-create"))
	b.Until("it's open", `document.querySelector('#name').textContent === 'two'`)
	for deadline := time.Now().Add(time.Minute); len(s.daemon.Receipts()) == 0 && time.Now().Before(deadline); {
		b.Do(chromedp.Sleep(20 * time.Millisecond))
	}
	if asked := s.daemon.Requests(); len(asked) != 1 || asked[0].Agent != "claude" || asked[0].Cwd != "/work" || asked[0].Resume != "c-1" {
		t.Errorf("begun are %+v", asked)
	}
	if sent := s.daemon.Receipts(); len(sent) != 1 || sent[0].Text != "and the tests" {
		t.Errorf("sent are %+v", sent)
	}
	b.Ignore("status of 404") // what's asked of the session while it's taken away
	two, err := s.daemon.Get("two")
	if err == nil {
		err = errors.Join(s.daemon.Close(t.Context(), two.ID), s.daemon.Forget(t.Context(), two.ID))
	}
	if err != nil {
		t.Fatal(err)
	}
	b.Until("the inbox", `document.querySelector('#inbox').checkVisibility()`)
	b.Do(chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"), chromedp.SendKeys("#new-name", "two"))
	b.Until("the agents", `document.querySelectorAll('#new-agent option').length === 3`)
	choose("codex")
	b.Shot("new-agents")
	b.Do(chromedp.Click("#new-create"))
	b.Until("the new session is open", `document.querySelector('#name').textContent === 'two' && document.querySelector('#about').textContent.includes('codex')`)
	b.Do(chromedp.Click("#more"), chromedp.Click("#close"), chromedp.WaitVisible("#close-dialog"))
	if text := browsertest.Eval[string](b, `document.querySelector('#close-text').textContent`); !strings.Contains(text, "two") {
		t.Errorf("the question is %q", text)
	}
	b.Do(chromedp.Click("#close-confirm"))
	b.Until("it has ended", `document.querySelector('#close').disabled && document.querySelector('#text').disabled`)
	if list := s.daemon.List(); list[1].State != sessions.StateEnded || list[0].State == sessions.StateEnded {
		t.Errorf("sessions are %+v", list)
	}

	// There's nobody to write to any more, but it can be removed.
	visible := func(id string) bool {
		return browsertest.Eval[bool](b, fmt.Sprintf(`document.getElementById(%q).checkVisibility()`, id))
	}
	if visible("composer") || visible("below") || !visible("ended") {
		t.Error("an ended session offers a composer, or doesn't say that it has ended")
	}
	b.Shot("ended")
	b.Do(chromedp.Click("#remove"), chromedp.WaitVisible("#close-dialog"))
	if text := browsertest.Eval[string](b, `document.querySelector('#close-dialog').textContent`); !strings.Contains(text, "two") || !strings.Contains(text, "Remove") {
		t.Errorf("the question is %q", text)
	}
	b.Do(chromedp.Click("#close-confirm"))
	b.Until("the inbox is open", `document.querySelector('#name').textContent === 'Inbox' && document.querySelectorAll('.session').length === 1`)
	b.Do(chromedp.Click(".session"), chromedp.WaitVisible("#foot"))
	if !visible("composer") || visible("ended") {
		t.Error("the session that lives has no composer")
	}
	if list := s.daemon.List(); len(list) != 1 || list[0].Name != "one" {
		t.Errorf("sessions are %+v", list)
	}
}

func TestChatsShowWhatWaits(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("agent", "claude")
	b := browse(t, 1000, 700)
	b.Do(s.open())
	b.Until("the list", `document.querySelector('.session')`)
	if !browsertest.Eval[bool](b, `document.getElementById('delivery').hidden`) {
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
	b.Until("the panel", `document.querySelectorAll('.chat').length === 2`)
	for chat, want := range []string{"-1001234567890|18/20|1 final, 3 stream waiting, 12 s · looks again in 60 min", "<b>7</b>|18/20|silent for 3 h, by the platform’s order"} {
		got := browsertest.Eval[string](b, fmt.Sprintf(`['name','used','about'].map((c) => document.querySelectorAll('.chat')[%d].querySelector('.chat-' + c).textContent).join('|')`, chat))
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	b.Shot("chats")
}

// TestLooks fills the page as a day's work does; with PANEBRIDGE_SCREENSHOTS it
// leaves pictures. It asserts that a phone needn't scroll sideways.
func TestLooks(t *testing.T) {
	t.Parallel()
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

	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible(".session"))
	browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
	b.Until("lines", lineCount+" > 20")
	b.Shot("desktop")
	b.Do(chromedp.SendKeys("#text", "and then run the tests, please"), browsertest.Enter(), chromedp.WaitVisible(".receipt[data-state=held]"))
	b.Shot("held")
	b.Do(chromedp.Click("#tab-screen"), chromedp.WaitVisible("#screen-rows span"))
	b.Shot("screen")
	b.Do(chromedp.Click("#tab-conversation"), chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"))
	b.Shot("dialog")
	b.Do(chromedp.Click("#new-cancel"), browsertest.Scheme("dark"))
	b.Shot("dark")

	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Reload())
	b.Until("lines", lineCount+" > 20")
	b.Shot("phone-dark")
	b.Do(browsertest.Scheme("light"))
	b.Shot("phone")
	if wide := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d pixels wide on a phone of 390", wide)
	}
	b.Do(chromedp.Click("#back"), chromedp.Click("#menu"), chromedp.WaitVisible("#drawer .session"))
	b.Until("the drawer is open", `document.querySelector('#drawer').getBoundingClientRect().left === 0`)
	b.Shot("phone-drawer")
	s.stop()
	b.Until("the bar", `!document.querySelector('#connection').hidden`)
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
	t.Parallel()
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
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, texts(1, 200)...)
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the lines", lineCount+" === 200")
	browsertest.Eval[bool](b, `(() => {
		const s = document.querySelector('#scroller');
		s.scrollTop -= 5; // its event comes when the foot has grown
		const item = document.createElement('li');
		item.style.height = '100px';
		document.querySelector('#receipts').append(item);
		return true;
	})()`)
	s.daemon.Append(id, sessions.KindPane, texts(201, 300)...)
	b.Until("the new lines", lineCount+" === 300")
	b.Until("the newest line is in view", `(() => { const s = document.querySelector('#scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 })()`)
	if !browsertest.Eval[bool](b, `document.querySelector('#newest').hidden`) {
		t.Error("the page doesn't follow the newest line any more")
	}
	// A reader who goes up stays there.
	browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop -= 300`)
	b.Until("the button", `!document.querySelector('#newest').hidden`)
}

func TestWiderWindowWithTheListOpen(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"), chromedp.Click("#menu"))
	b.Until("the drawer is open", `document.querySelector('#drawer').getBoundingClientRect().left === 0`)
	b.Do(chromedp.EmulateViewport(844, 390))
	b.Until("list and inbox stand side by side", `innerWidth === 844 && document.querySelector('#main').getBoundingClientRect().top === 0 && document.querySelector('#main').getBoundingClientRect().right === 844`)
}
