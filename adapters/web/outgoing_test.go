package web_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api/apitest"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// inputs lets a test hold back what's sent to sessions, until release() is called.
const inputs = `(() => {
	const real = fetch;
	let held = null;
	window.hold = () => { held = new Promise((resolve) => { window.release = () => { held = null; resolve(); }; }); };
	window.fetch = async (url, options) => {
		if (url.endsWith('/input')) await held;
		return real(url, options);
	};
})()`

// What's sent goes out of the field at once, so that the next text can be written: each is typed as it was when it was sent,
// in its order, also by somebody who looks at another session meanwhile.
func TestTextsAreSentAsTheyWere(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	one, two := s.daemon.Add("one", ""), s.daemon.Add("two", "")
	b := browse(t, 1280, 800)
	b.Do(before(inputs), s.open(), chromedp.WaitVisible("#foot"))
	browsertest.Eval[bool](b, `(location.hash = '`+string(one)+`', true)`)
	b.Until("the first", `document.querySelector('#name').textContent === 'one' && !document.querySelector('#text').disabled`)
	browsertest.Eval[bool](b, `(hold(), true)`)
	for _, text := range []string{"hello", "next"} {
		b.Do(chromedp.SendKeys("#text", text), browsertest.Enter())
		b.Until("an empty field", `document.querySelector('#text').value === ''`)
	}
	b.Do(chromedp.SendKeys("#text", "thi"))
	b.Until("what's on its way", `[...document.querySelectorAll('.outgoing .receipt-text')].map((e) => e.textContent).join() === 'hello,next'`)
	b.Shot("outgoing")
	browsertest.Eval[bool](b, `(location.hash = '`+string(two)+`', true)`)
	b.Until("the second", `document.querySelector('#name').textContent === 'two' && document.querySelector('#text').value === '' && !document.querySelector('.outgoing')`)
	browsertest.Eval[bool](b, `(location.hash = '`+string(one)+`', true)`)
	b.Until("what was written", `document.querySelector('#name').textContent === 'one' && document.querySelector('#text').value === 'thi' && document.querySelectorAll('.outgoing').length === 2`)
	browsertest.Eval[bool](b, `(release(), true)`)
	b.Until("all to be sent", `!document.querySelector('.outgoing') && document.querySelector('#text').value === 'thi'`)
	b.Do(chromedp.Reload())
	b.Until("the draft", `document.querySelector('#text').value === 'thi'`)
	var texts []string
	for _, r := range s.daemon.Receipts() {
		texts = append(texts, r.Text)
	}
	if !slices.Equal(texts, []string{"hello", "next"}) {
		t.Errorf("sent were %q", texts)
	}
}

// badLine has what's sent to sessions meet a fate each that's drawn: it comes there and is answered, its answer is lost, it
// never comes, or it comes later than it was given up. window.good ends that. The page waits a tenth of its time.
const badLine = `(() => {
	const real = fetch, later = setTimeout, now = Date.now;
	let seed = %d;
	const draw = (n) => { seed = (seed * 1103515245 + 12345) %% 2147483648; return Math.floor(seed / 65536) %% n; };
	window.ahead = 0;
	Date.now = () => now() + window.ahead;
	window.setTimeout = (fn, ms, ...more) => later(fn, ms / 10, ...more);
	window.fate = '';
	window.good = false;
	window.fetch = async (url, options) => {
		if (!/\/input(\/withdraw)?$/.test(url) || window.good) return real(url, options);
		window.tried = url;
		switch (window.fate || ['answered', 'lost', 'gone', 'late'][draw(4)]) {
		case 'answered': return real(url, options);
		case 'lost': await real(url, options); break;
		case 'late': later(() => real(url, options).catch(() => {}), draw(400)); break;
		}
		throw new TypeError('the connection broke');
	};
})()`

const (
	atRest   = `!document.querySelector('.outgoing')`
	kept     = `Object.keys(localStorage).filter((k) => k.startsWith('panebridge.outgoing.')).flatMap((k) => JSON.parse(localStorage.getItem(k)))`
	notSent  = `[...document.querySelectorAll('.unsent .receipt-text')].map((e) => e.textContent).join()`
	unsure   = `/no answer yet/.test(document.querySelector('.outgoing')?.textContent)`
	takeBack = `[...document.querySelectorAll('#receipts button')].filter((e) => e.textContent === 'Take back')`
)

// Over a bad line each text is typed once, or stands in the field or above it, and never both: whether it's taken back, written to
// another session meanwhile, or the page is loaded anew.
func TestTextsOverABadLine(t *testing.T) {
	t.Parallel()
	slow(t)
	for seed := range drawtest.Seeds(t, drawtest.Times(100, 4, 2)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			s, cut := cutSite(t)
			var mu sync.Mutex
			s.daemon.Type = func(d *apitest.Daemon, r *sessions.Receipt) {
				mu.Lock()
				defer mu.Unlock()
				if random.IntN(2) == 0 {
					d.SetReceipt(r.ID, sessions.ReceiptSubmitted, "")
				}
			}
			draw := func(n int) int {
				mu.Lock()
				defer mu.Unlock()
				return random.IntN(n)
			}
			one, two := s.daemon.Add("one", ""), s.daemon.Add("two", "")
			b := browse(t, 1280, 800)
			b.AwayAtTimes()
			b.Ignore("status of 401")
			b.Ignore("status of 409") // it's typed already
			b.Do(before(fmt.Sprintf(badLine, seed%1000)), s.open(), chromedp.WaitVisible("#foot"))
			at := func(id sessions.ID, name string) {
				browsertest.Eval[bool](b, fmt.Sprintf(`(location.hash = '%s', true)`, id))
				b.Until(name, fmt.Sprintf(headSays, name)+` && !document.querySelector('#text').disabled`)
			}
			at(one, "one")
			cut.each(func(line string) bool { return strings.Contains(line, " /api/") && draw(10) == 0 })
			written := 0
			var steps []string
			for range 12 {
				step := draw(7)
				steps = append(steps, fmt.Sprint(step))
				switch step {
				case 0, 1:
					b.Do(chromedp.Focus("#text"), browsertest.InsertText(fmt.Sprintf("text %d.", written)), browsertest.Enter())
					written++
				case 2:
					browsertest.Eval[bool](b, fmt.Sprintf(`(() => { const all = %s; all[%d %% all.length]?.click(); return true; })()`, takeBack, draw(10)))
				case 3:
					b.Do(chromedp.Reload())
					b.Until("the page", fmt.Sprintf(headSays, "one")+` && !document.querySelector('#text').disabled`)
				case 5: // what's taken up after a reload is taken back at once, maybe before the server has said what became of it
					b.Do(chromedp.Reload())
					for range 40 {
						if browsertest.Eval[bool](b, fmt.Sprintf(`(() => { const [first] = %s; first?.click(); return Boolean(first); })()`, takeBack)) {
							break
						}
						time.Sleep(5 * time.Millisecond)
					}
					b.Until("the page", fmt.Sprintf(headSays, "one")+` && !document.querySelector('#text').disabled`)
				case 4:
					at(two, "two")
					at(one, "one")
				default:
					time.Sleep(time.Duration(draw(300)) * time.Millisecond)
				}
			}
			browsertest.Eval[bool](b, `(good = true)`)
			cut.each(nil)
			steps = append(steps, browsertest.Eval[string](b, `JSON.stringify(`+kept+`)`))
			b.Until("to know of each text", atRest+` && !`+kept+`.some((t) => t.unsent === undefined && (!t.receipt || t.back))`)
			time.Sleep(500 * time.Millisecond) // what comes late is there
			stands := browsertest.Eval[string](b, field+` + [...document.querySelectorAll('.unsent .receipt-text')].map((e) => e.textContent).join('')`)
			typed := map[string]int{}
			for _, r := range s.daemon.Receipts() {
				if r.State != sessions.ReceiptCancelled {
					typed[r.Text]++
				}
			}
			for i := range written {
				text := fmt.Sprintf("text %d.", i)
				n := strings.Count(stands, text)
				for all, times := range typed {
					n += times * strings.Count(all, text)
				}
				if n != 1 {
					t.Errorf("%q was typed, or stands on the page, %d times; typed was %v, the page has %q after the steps %v", text, n, typed, stands, steps)
				}
			}
		})
	}
}

// A text that nobody answered for two minutes isn't sent when somebody does: its time may be over. It stands above the field,
// unless it had come.
func TestATextThatIsTooOld(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, fate := range []string{"gone", "lost"} {
		t.Run(fate, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.daemon.Add("one", "")
			b := browse(t, 390, 844)
			b.Do(before(fmt.Sprintf(badLine, 1)), s.open(), chromedp.WaitVisible("#foot"))
			browsertest.Eval[bool](b, `(fate = '`+fate+`', true)`)
			b.Do(chromedp.SendKeys("#text", "first"), browsertest.Enter())
			b.Until("it isn't answered", unsure)
			b.Do(chromedp.SendKeys("#text", "second"), browsertest.Enter(), chromedp.SendKeys("#text", "third"))
			b.Shot("no-answer")
			browsertest.Eval[bool](b, `(ahead = 130000, true)`)
			if fate == "gone" { // what's being signed for was young enough yet
				b.Until("it's asked whether it had come", `tried.endsWith('/withdraw')`)
			}
			browsertest.Eval[bool](b, `(good = true)`)
			var want []string
			if fate == "gone" {
				b.Until("that both aren't sent", atRest+` && `+notSent+` === 'first,second' && /in time/.test(document.querySelector('#toast').textContent)`)
			} else {
				want = []string{"first"}
				b.Until("what hadn't come isn't sent", atRest+` && `+notSent+` === 'second'`)
			}
			if text := browsertest.Eval[string](b, field); text != "third" {
				t.Errorf("the field has %q", text)
			}
			b.Shot("unsent-" + fate)
			if typed := s.typed(); !slices.Equal(typed, want) {
				t.Errorf("typed were %q", typed)
			}
			if fate != "gone" {
				return
			}
			for n := 1; n >= 0; n-- { // each comes behind what came back before
				browsertest.Eval[bool](b, `([...document.querySelectorAll('.unsent button')].find((e) => e.textContent === 'Write again').click(), true)`)
				b.Until("it's in the field", fmt.Sprintf(`document.querySelectorAll('.unsent').length === %d`, n))
			}
			if text := browsertest.Eval[string](b, field); text != "first\nsecond\nthird" {
				t.Errorf("the field has %q", text)
			}
		})
	}
}

// typed are the texts that were sent and not taken back.
func (s *site) typed() (texts []string) {
	for _, r := range s.daemon.Receipts() {
		if r.State != sessions.ReceiptCancelled {
			texts = append(texts, r.Text)
		}
	}
	return texts
}

// What became of a text is there after a reload if it isn't well: it can be written again, as it was, until somebody has
// dismissed it.
func TestATextThatFailedIsThereAfterAReload(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newMaskedSite(t)
	s.daemon.Type = func(d *apitest.Daemon, r *sessions.Receipt) {
		d.SetReceipt(r.ID, sessions.ReceiptFailed, "the session has ended")
	}
	id := s.daemon.Add("one", "claude")
	b := browse(t, 390, 844)
	b.Ignore("status of 401")
	s.letsIn(t, b, "a phone", access.Operator)
	browsertest.Eval[bool](b, `(location.hash = '`+string(id)+`', true)`)
	const text = "echo password=hunter2secret"
	press := func(name string) string {
		return `[...document.querySelectorAll('.receipt button')].find((e) => e.textContent === '` + name + `')`
	}
	b.Do(chromedp.WaitVisible("#foot"), chromedp.Focus("#text"), browsertest.InsertText(text), browsertest.Enter())
	b.Until("it failed", press("Write again"))
	b.Do(chromedp.Reload())
	b.Until("it's there after a reload", press("Write again"))
	b.Shot("failed")
	browsertest.Eval[bool](b, `(`+press("Write again")+`.click(), true)`)
	b.Until("it's in the field", field+` === '`+text+`' && !document.querySelector('.receipt')`)
	b.Do(chromedp.Focus("#text"), browsertest.Enter())
	b.Until("it failed again", press("Dismiss"))
	browsertest.Eval[bool](b, `(`+press("Dismiss")+`.click(), true)`)
	b.Do(chromedp.Reload())
	b.Until("the page", `document.querySelector('#text') && !document.querySelector('#text').disabled`)
	time.Sleep(time.Second)
	if n := browsertest.Eval[int](b, `document.querySelectorAll('.receipt').length`); n != 0 {
		t.Errorf("%d receipts are there", n)
	}
}

// Two tabs have the same draft: what the one has sent or changed doesn't stand in the other's field any more, also if that
// slept meanwhile.
func TestTwoTabsHaveOneDraft(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.SendKeys("#text", "hello"))
	other := b.OpenTab(1280, 800)
	other.Do(chromedp.Navigate(browsertest.Eval[string](b, `location.href`)))
	other.Until("the draft", field+` === 'hello' && !document.querySelector('#text').disabled`)
	other.Do(chromedp.Focus("#text"), browsertest.Enter())
	other.Until("it's sent", field+` === '' && `+atRest)
	b.Until("it's out of the other field, too", field+` === ''`)
	b.Do(chromedp.Focus("#text"), browsertest.Enter(), browsertest.InsertText("more"))
	other.Until("what's written in the other", field+` === 'more'`)
	// A page that sleeps hears nothing: it looks when it's sent.
	browsertest.Eval[bool](b, `(window.addEventListener('storage', (e) => e.stopImmediatePropagation(), true), true)`)
	other.Do(chromedp.Focus("#text"), browsertest.Enter())
	other.Until("it's sent", field+` === '' && `+atRest)
	b.Do(chromedp.Focus("#text"), browsertest.Enter())
	b.Until("it's seen to be sent", field+` === ''`)
	if typed := s.typed(); !slices.Equal(typed, []string{"hello", "more"}) {
		t.Errorf("typed were %q", typed)
	}
}

// What stands in the field when a session ends stands in that of the one that's begun in its place.
func TestADraftGoesOnWithItsSession(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "")
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.SendKeys("#text", "hello"))
	s.daemon.SetState(id, sessions.StateEnded, "closed")
	b.Do(chromedp.Click("#more"), chromedp.WaitVisible("#restart"), chromedp.Click("#restart"), chromedp.WaitVisible("#close-confirm"), chromedp.Click("#close-confirm"))
	b.Until("the draft at the new session", field+` === 'hello' && !location.hash.includes('`+string(id)+`') && !document.querySelector('#text').disabled`)
}

// Who got no answer to Create, and presses it again, has one session.
func TestASessionIsCreatedOnce(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	b := browse(t, 1280, 800)
	b.Do(before(`(() => {
		const real = fetch;
		window.lose = 1;
		window.fetch = async (url, options) => {
			const answer = await real(url, options);
			if (!url.endsWith('/sessions') || options?.method !== 'POST' || window.lose === 0) return answer;
			window.lose -= 1;
			throw new TypeError('the connection broke');
		};
	})()`), s.open(), chromedp.WaitVisible("#no-sessions"))
	b.Do(chromedp.Click("#begin"), chromedp.WaitVisible("#new-create"), chromedp.Click("#new-create"))
	b.Until("that nobody answered", `document.querySelector('#new-error').textContent !== ''`)
	b.Do(chromedp.Click("#new-create"))
	b.Until("the session", `!document.querySelector('#new-dialog').open && !document.querySelector('#text').disabled`)
	if n := len(s.daemon.Requests()); n != 1 {
		t.Errorf("%d sessions were begun", n)
	}
	// Another time it's another session, also after one that nobody answered to.
	browsertest.Eval[bool](b, `(lose = 1, true)`)
	for _, button := range []string{"#new-cancel", "#new-create"} {
		b.Do(chromedp.Click("#new"), chromedp.WaitVisible("#new-create"))
		if button == "#new-cancel" {
			b.Do(chromedp.Click("#new-create"))
			b.Until("that nobody answered", `document.querySelector('#new-error').textContent !== ''`)
		}
		b.Do(chromedp.Click(button))
		b.Until("the end of the dialog", `!document.querySelector('#new-dialog').open`)
	}
	if n := len(s.daemon.Requests()); n != 3 {
		t.Errorf("%d sessions were begun", n)
	}
}

// A text that isn't answered stays with its tab as long as that's there. What a tab leaves stands in another.
func TestWhatATabLeavesIsTakenUp(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"))
	other := b.OpenTab(1280, 800)
	other.Do(before(fmt.Sprintf(badLine, 1)), chromedp.Navigate(browsertest.Eval[string](b, `location.href`)))
	other.Until("the session", fmt.Sprintf(headSays, "one")+` && !document.querySelector('#text').disabled`)
	other.Do(chromedp.Evaluate[chromedp.Void](`fate = 'gone'`), chromedp.SendKeys("#text", "hello"), browsertest.Enter())
	other.Until("it isn't answered", unsure)
	time.Sleep(5 * time.Second) // the first tab asks for sessions every 2 s
	if text := browsertest.Eval[string](b, notSent); text != "" || !browsertest.Eval[bool](other, unsure) {
		t.Errorf("the first tab has %q", text)
	}
	other.Do(chromedp.Navigate("about:blank"))
	b.Until("it to stand in the first tab", notSent+` === 'hello'`)
	browsertest.Eval[bool](b, `([...document.querySelectorAll('.unsent button')].find((e) => e.textContent === 'Write again').click(), true)`)
	b.Until("it to stand in its field", field+` === 'hello' && !document.querySelector('.unsent') && `+kept+`.length === 0`)
	if typed := s.typed(); len(typed) != 0 {
		t.Errorf("typed were %q", typed)
	}
}

// Tabs that send at the same time lose nothing of each other's.
func TestTwoTabsSendAtOnce(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	one, two := s.daemon.Add("one", ""), s.daemon.Add("two", "")
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible("#foot"))
	other := b.OpenTab(1280, 800)
	other.Do(chromedp.Navigate(browsertest.Eval[string](b, `location.href`)))
	const texts = 40
	for _, tab := range []struct {
		*browsertest.Browser

		id   sessions.ID
		name string
	}{{b, one, "one"}, {other, two, "two"}} {
		browsertest.Eval[bool](tab.Browser, fmt.Sprintf(`(location.hash = '%s', true)`, tab.id))
		tab.Until(tab.name, fmt.Sprintf(headSays, tab.name)+` && !document.querySelector('#text').disabled`)
		browsertest.Eval[bool](tab.Browser, fmt.Sprintf(`((async () => {
			const field = document.querySelector('#text');
			for (let i = 0; i < %d; i++) {
				field.value = '%s ' + i;
				field.dispatchEvent(new Event('input'));
				document.querySelector('#composer').requestSubmit();
				await new Promise((resolve) => { setTimeout(resolve, 25); });
			}
			window.all = true;
		})(), true)`, texts, tab.name))
	}
	for _, tab := range []*browsertest.Browser{b, other} {
		tab.Until("all to be sent", `window.all && `+atRest)
	}
	for name, id := range map[string]sessions.ID{"one": one, "two": two} {
		var typed, want []string
		for _, r := range s.daemon.Receipts() {
			if r.Session == id {
				typed = append(typed, r.Text)
			}
		}
		for i := range texts {
			want = append(want, fmt.Sprint(name, " ", i))
		}
		if !slices.Equal(typed, want) {
			t.Errorf("typed into %s were %d texts: %q", name, len(typed), typed)
		}
	}
}

// A text that's on its way to a session which is forgotten meanwhile stands above the inbox, until somebody dismisses it.
func TestATextToASessionThatIsForgotten(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, others := range []int{0, 1} {
		t.Run(fmt.Sprint(others, " others"), func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			id := s.daemon.Add("one", "")
			for range others {
				s.daemon.Add("two", "")
			}
			b := browse(t, 390, 844)
			b.Ignore("status of 404")
			b.Do(before(fmt.Sprintf(badLine, 1)), s.open(), chromedp.WaitVisible("#foot"))
			browsertest.Eval[bool](b, fmt.Sprintf(`(location.hash = '%s', fate = 'gone', true)`, id))
			b.Until("one", fmt.Sprintf(headSays, "one")+` && !document.querySelector('#text').disabled`)
			b.Do(chromedp.Focus("#text"), browsertest.InsertText("first line\n<b>second</b>"), browsertest.Enter())
			b.Until("it isn't answered", unsure)
			b.Do(chromedp.SendKeys("#text", "next"), browsertest.Enter())
			s.daemon.SetState(id, sessions.StateEnded, "closed")
			if err := s.daemon.Forget(t.Context(), id); err != nil {
				t.Fatal(err)
			}
			browsertest.Eval[bool](b, `(good = true, location.hash = '', true)`)
			const stranded = `[...document.querySelectorAll('.stranded:not([hidden]) .stranded-text')].map((e) => e.textContent).join('|')`
			b.Until("both above the inbox", stranded+` === 'first line\n<b>second</b>|next'`)
			b.Shot(fmt.Sprint("stranded-", others))
			b.Do(chromedp.Reload())
			b.Until("both after a reload", stranded+` === 'first line\n<b>second</b>|next'`)
			b.Do(chromedp.Click(".stranded .receipt:first-child .button"))
			b.Until("the other alone", stranded+` === 'next'`)
			b.Do(chromedp.Click(".stranded .receipt:first-child .button"))
			b.Until("none", `document.querySelector('.stranded').hidden && `+kept+`.length === 0`)
		})
	}
}

// Where something else than panebridge has the port, what it answers says nothing of a text.
func TestAnotherServersAnswerIsNone(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, fate := range []string{"gone", "lost"} {
		t.Run(fate, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.daemon.Add("one", "")
			b := browse(t, 1280, 800)
			b.Ignore("status of 404")
			b.Do(before(fmt.Sprintf(badLine, 1)), s.open(), chromedp.WaitVisible("#foot"))
			browsertest.Eval[bool](b, `(fate = '`+fate+`', true)`)
			b.Do(chromedp.SendKeys("#text", "first"), browsertest.Enter())
			b.Until("it isn't answered", unsure)
			s.stop()
			l, err := net.Listen("tcp", s.addr)
			if err != nil {
				t.Fatal(err)
			}
			var asked atomic.Int32
			server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				asked.Add(1)
				http.NotFound(w, r)
			})}
			go func() { _ = server.Serve(l) }()
			browsertest.Eval[bool](b, `(good = true)`)
			for asked.Load() < 20 {
				time.Sleep(20 * time.Millisecond)
			}
			if !browsertest.Eval[bool](b, unsure) {
				t.Error("it's not on its way any more")
			}
			if err := server.Close(); err != nil {
				t.Error(err)
			}
			s.start(t)
			b.Until("it to be sent", atRest)
			if typed := s.typed(); !slices.Equal(typed, []string{"first"}) || browsertest.Eval[string](b, field+` + `+notSent) != "" {
				t.Errorf("typed were %q", typed)
			}
		})
	}
}

// What's written to a session that's just begun isn't forgotten by a list that was asked for before.
func TestAListOfBeforeForgetsNothing(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	b := browse(t, 1280, 800)
	b.Do(before(`(() => {
		const real = fetch;
		window.fetch = async (url, options) => {
			const answer = await real(url, options);
			if (/\/sessions\?ended/.test(url) && window.slow && !window.release) await new Promise((resolve) => { window.release = resolve; });
			return answer;
		};
	})()`), s.open(), chromedp.WaitVisible("#no-sessions"))
	browsertest.Eval[bool](b, `(slow = true)`)
	b.Until("a list that was asked for", `window.release`)
	b.Do(chromedp.Click("#begin"), chromedp.WaitVisible("#new-create"), chromedp.Click("#new-create"))
	b.Until("the session", `!document.querySelector('#new-dialog').open && !document.querySelector('#text').disabled`)
	b.Do(chromedp.SendKeys("#text", "hello"))
	browsertest.Eval[bool](b, `(release(), true)`)
	time.Sleep(500 * time.Millisecond)
	b.Do(chromedp.Reload())
	b.Until("what was written", field+` === 'hello'`)
}
