package web_test

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// cutting are a server's connections, each of which breaks once its request has come and before the answer to it goes out,
// if cut says so of the request's first line: as when a tunnel is begun anew. Browsers send such a request again by themselves,
// if the connection was used before.
type cutting struct {
	net.Listener

	mu  sync.Mutex
	cut func(line string) bool
}

// cutSite is a site over such connections.
func cutSite(t *testing.T) (*site, *cutting) {
	t.Helper()
	s, cut := newSite(t), &cutting{}
	s.stop()
	s.listen = func(l net.Listener) net.Listener {
		cut.Listener = l
		return cut
	}
	s.start(t)
	return s, cut
}

// each has requests be cut off of which cut says so.
func (c *cutting) each(cut func(line string) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cut = cut
}

// next has the next request be cut off whose first line begins so.
func (c *cutting) next(prefix string) (wasCut func() bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	done := false
	c.cut = func(line string) bool {
		is := !done && strings.HasPrefix(line, prefix)
		done = done || is
		return is
	}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		return done
	}
}

func (c *cutting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	return &cutConn{Conn: conn, of: c}, err
}

type cutConn struct {
	net.Conn

	of    *cutting
	mu    sync.Mutex
	isCut bool
}

func (c *cutConn) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if line, _, found := bytes.Cut(b[:n], []byte("\r\n")); found {
		c.of.mu.Lock()
		isCut := c.of.cut != nil && c.of.cut(string(line))
		c.of.mu.Unlock()
		if isCut {
			c.mu.Lock()
			c.isCut = true
			c.mu.Unlock()
		}
	}
	return n, err
}

func (c *cutConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.isCut {
		return 0, errors.Join(errors.New("cut off"), c.Close())
	}
	return c.Conn.Write(b)
}

// A browser sends a request again by itself whose connection broke before the answer, and gets the answer that it was sent
// before. That says nothing of the request: a text is typed once and isn't "not sent", one that's taken back is in the field,
// nobody knows of a key, and who was let in stays in.
func TestAnAnswerIsLostOnAConnectionInUse(t *testing.T) {
	t.Parallel()
	slow(t)
	s, cut := cutSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {} // all wait
	id := s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.AwayAtTimes()
	b.Ignore("status of 401")
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.SendKeys("#text", "a draft"))
	stays := func(what string) {
		t.Helper()
		time.Sleep(3 * time.Second) // the list is asked for every 2 s
		if !browsertest.Eval[bool](b, pageShows+` && document.querySelector('#connection').hidden`) {
			t.Errorf("%s: the page isn't there", what)
		}
		if text := browsertest.Eval[string](b, field); text != "a draft" {
			t.Errorf("%s: the field has %q", what, text)
		}
	}
	for _, line := range []string{"GET /api/v1/sessions?", "GET /api/v1/adapters", "GET /api/v1/events", "GET /api/v1/sessions/" + string(id) + "/receipts"} {
		was := cut.next(line)
		if strings.Contains(line, "events") {
			browsertest.Eval[bool](b, `(location.hash = '', true)`)
			browsertest.Eval[bool](b, `(location.hash = '`+string(id)+`', true)`)
		}
		for end := time.Now().Add(10 * time.Second); !was() && time.Now().Before(end); {
			time.Sleep(20 * time.Millisecond)
		}
		stays(line)
	}
	browsertest.Eval[bool](b, `((e) => { e.value = ''; e.dispatchEvent(new Event('input')); e.focus(); return true; })(document.querySelector('#text'))`)
	for i := range 3 {
		text := fmt.Sprint("text ", i)
		was := cut.next("POST /api/v1/sessions/" + string(id) + "/input ")
		b.Do(browsertest.InsertText(text), browsertest.Enter())
		b.Until("it waits", atRest+fmt.Sprintf(` && %s.length === %d`, takeBack, i+1))
		if typed := s.typed(); !was() || len(typed) != i+1 || typed[i] != text || browsertest.Eval[string](b, notSent) != "" {
			t.Errorf("typed were %q, the page has %q", typed, browsertest.Eval[string](b, notSent))
		}
	}
	was := cut.next("POST /api/v1/sessions/" + string(id) + "/input/withdraw")
	browsertest.Eval[bool](b, `(`+takeBack+`[1].click(), true)`)
	b.Until("it's in the field", field+` === 'text 1'`)
	if typed := s.typed(); !was() || !slices.Equal(typed, []string{"text 0", "text 2"}) {
		t.Errorf("typed are %q", typed)
	}
	cut.next("POST /api/v1/sessions/" + string(id) + "/keys")
	b.Do(chromedp.Click(`[data-key="Up"]`))
	b.Until("nobody knows of the key", `/Nobody knows whether the key was pressed/.test(document.querySelector('#toast').textContent)`)
}

// What another server answers that has the port, or a proxy whose login is over, lets nothing be forgotten.
func TestAnotherServersRefusalForgetsNothing(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, answer := range map[string]func(http.ResponseWriter){
		"401":       func(w http.ResponseWriter) { http.Error(w, "log in", http.StatusUnauthorized) },
		"401, JSON": func(w http.ResponseWriter) { http.Error(w, `{"error":"log in"}`, http.StatusUnauthorized) },
		"no list":   func(w http.ResponseWriter) { _, _ = w.Write([]byte("[]")) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.daemon.Add("one", "")
			b := browse(t, 390, 844)
			b.AwayAtTimes()
			b.Ignore("status of 401")
			b.Do(before(fmt.Sprintf(badLine, 1)), s.open(), chromedp.WaitVisible("#foot"))
			browsertest.Eval[bool](b, `(fate = 'gone', true)`)
			b.Do(chromedp.SendKeys("#text", "on its way"), browsertest.Enter(), chromedp.SendKeys("#text", "a draft"))
			b.Until("it isn't answered", unsure)
			s.stop()
			l, err := net.Listen("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { answer(w) })}
			go func() { _ = server.Serve(l) }()
			time.Sleep(5 * time.Second)
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			browsertest.Eval[bool](b, `(good = true)`)
			s.start(t)
			b.Until("it to be sent", pageShows+` && `+atRest+` && document.querySelector('#connection').hidden`)
			if text, typed := browsertest.Eval[string](b, field), s.typed(); text != "a draft" || !slices.Equal(typed, []string{"on its way"}) {
				t.Errorf("the field has %q, typed were %q", text, typed)
			}
		})
	}
}

// What another server says of a start, when the daemon has the port again for all that's asked behind it, shuts nobody out.
func TestAnotherServersStartIsNone(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, said := range []string{`[]`, `{}`, `null`, `{"start": "x"}`, `{"start": 7, "now": 7}`, `nothing`} {
		t.Run(said, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.daemon.Add("one", "")
			b := browse(t, 390, 844)
			b.Do(s.enter())
			b.Until("the page", pageShows)
			b.Do(before(fmt.Sprintf(`(() => {
				const real = fetch;
				window.fetch = async (url, options) => url === '/api/v1/page/start' && !window.said ? new Response(window.said = %q) : real(url, options);
			})()`, said)), chromedp.Reload())
			b.Until("the page, or that it's shut", `window.said && (`+pageShows+` || `+gateShows+` === 'refused')`)
			if !browsertest.Eval[bool](b, pageShows) {
				t.Error("the browser isn't let in any more")
			}
		})
	}
}

// Who's let in already loses nothing by opening an address: one that's shared, one that was used, or one too many.
func TestAKnownBrowserOpensAnAddress(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.Ignore("status of 401")
	b.Ignore("status of 429")
	used, _ := s.keeper.NewAddress(time.Now(), "http://"+s.addr)
	b.Do(chromedp.Navigate(used), chromedp.WaitVisible("#layout"), s.open(), chromedp.WaitVisible("#foot"), chromedp.SendKeys("#text", "a draft"))
	has := func(what string) {
		t.Helper()
		b.Until(what, pageShows)
		b.Do(s.open(), chromedp.WaitVisible("#foot"))
		b.Until("the draft: "+what, field+` === 'a draft'`)
	}
	b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(used))
	has("a used address")
	url, _ := s.keeper.NewShare(time.Now(), "http://"+s.addr, browsers.Share{Name: "a phone", Roles: access.Roles{access.Operator: true}})
	b.Do(chromedp.Navigate(url))
	b.Until("it waits", gateShows+` === 'waiting'`)
	if _, err := s.keeper.Confirm(t.Context(), time.Now(), s.keeper.Waiting(time.Now())[0].ID); err != nil {
		t.Fatal(err)
	}
	has("a shared address")
}

// A text that waits and is taken back by somebody else stands above the field of who wrote it, as it was written.
func TestWhatSomebodyElseTakesBack(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newMaskedSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {} // all wait
	id := s.daemon.Add("one", "claude")
	b := browse(t, 390, 844)
	b.Ignore("status of 401")
	s.letsIn(t, b, "a phone", access.Operator)
	browsertest.Eval[bool](b, `(location.hash = '`+string(id)+`', true)`)
	b.Until("one", fmt.Sprintf(headSays, "one")+` && !document.querySelector('#text').disabled`)
	const secret = "echo password=hunter2secret"
	write := func(text string) string {
		t.Helper()
		n := len(s.daemon.Receipts())
		b.Do(chromedp.Focus("#text"), browsertest.InsertText(text), browsertest.Enter())
		b.Until("it waits", fmt.Sprintf(`%s.length === 1 && %s.some((t) => t.receipt)`, takeBack, kept))
		return s.daemon.Receipts()[n].ID
	}
	for _, isAway := range []bool{false, true} {
		receipt := write(secret)
		url := browsertest.Eval[string](b, `location.href`)
		if isAway {
			b.Do(chromedp.Navigate("about:blank"))
		}
		if _, err := s.daemon.Cancel(t.Context(), receipt); err != nil {
			t.Fatal(err)
		}
		if isAway {
			b.Do(chromedp.Navigate(url))
		}
		b.Until("it stands above the field", notSent+` === '`+secret+`'`)
		browsertest.Eval[bool](b, `([...document.querySelectorAll('.unsent button')].find((e) => e.textContent === 'Dismiss').click(), true)`)
	}
	// Another tab of the same device has it whole.
	write(secret)
	other := b.OpenTab(390, 844)
	other.Do(chromedp.Navigate(browsertest.Eval[string](b, `location.href`)))
	other.Until("it waits there, too", takeBack+`.length === 1`)
	browsertest.Eval[bool](other, `(`+takeBack+`[0].click(), true)`)
	other.Until("it's in the field, as it was written", field+` === '`+secret+`'`)
	b.Until("it's in that of the first tab", field+` === '`+secret+`' && `+kept+`.length === 0`)
	if text := browsertest.Eval[string](b, notSent); text != "" {
		t.Errorf("above the field stands %q, too", text)
	}
}

// What was written to a session that has ended, which has no field any more, can be copied.
func TestWhatWasWrittenToAnEndedSession(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.SendKeys("#text", "a draft"))
	s.daemon.SetState(id, sessions.StateEnded, "closed")
	b.Until("the draft", `document.querySelector('.unsent .receipt-text')?.textContent === 'a draft' && document.querySelector('.unsent .receipt-text').checkVisibility()`)
	b.Shot("ended-draft")
	if has := browsertest.Eval[string](b, `[...document.querySelectorAll('.unsent button')].map((e) => e.textContent).join()`); has != "Copy,Dismiss" {
		t.Errorf("there are the buttons %s", has)
	}
	browsertest.Eval[bool](b, `([...document.querySelectorAll('.unsent button')].find((e) => e.textContent === 'Dismiss').click(), true)`)
	b.Do(chromedp.Reload())
	b.Until("the page", fmt.Sprintf(headSays, "one"))
	time.Sleep(500 * time.Millisecond)
	if browsertest.Eval[bool](b, `Boolean(document.querySelector('.unsent'))`) {
		t.Error("what was dismissed is there again")
	}
}

// A text whose request hangs can be taken back soon, and one that couldn't be taken back may be tried again.
func TestARequestHangs(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Type = func(*apitest.Daemon, *sessions.Receipt) {}
	s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.Ignore("status of 409")
	b.Do(before(inputs), s.open(), chromedp.WaitVisible("#foot"))
	browsertest.Eval[bool](b, `(hold(), true)`)
	b.Do(chromedp.SendKeys("#text", "hello"), browsertest.Enter())
	b.Until("it can be taken back", takeBack+`.length === 1`)
	browsertest.Eval[bool](b, `(release(), true)`)
	b.Until("it has come", atRest+` && `+takeBack+`.length === 1`)
	receipt := s.daemon.Receipts()[0].ID
	s.daemon.SetReceipt(receipt, sessions.ReceiptTyping, "")
	browsertest.Eval[bool](b, `(`+takeBack+`[0]?.click(), true)`)
	b.Until("it's typed", `/typed already/.test(document.querySelector('#toast').textContent) || !`+takeBack+`.length`)
	s.daemon.SetReceipt(receipt, sessions.ReceiptHeld, "a dialog is open")
	b.Until("it's held", takeBack+`.length === 1`)
	browsertest.Eval[bool](b, `(`+takeBack+`[0].click(), true)`)
	b.Until("it's in the field", field+` === 'hello'`)
}

// Where the browser has no room left, the page says what would be lost with it.
func TestABrowserWithoutRoom(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.Do(before(fmt.Sprintf(badLine, 1)), s.open(), chromedp.WaitVisible("#foot"))
	browsertest.Eval[bool](b, `(() => { fate = 'gone'; for (let n = 5e6; n > 0; n = Math.floor(n / 2)) try { for (let i = 0; ; i += 1) localStorage.setItem('x' + n + '.' + i, 'x'.repeat(n)); } catch {} return true; })()`)
	b.Do(chromedp.SendKeys("#text", "hello"), browsertest.Enter())
	b.Until("word of it", `/no room left/.test(document.querySelector('#toast').textContent)`)
	browsertest.Eval[bool](b, `(localStorage.clear(), good = true)`)
	b.Until("it's sent", atRest)
}
