package app_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/creack/pty"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
)

// The whole way on a phone: it's let in by a shared address, answers a question from the inbox, sends a photo, and is
// looked at again after nights in which the daemon was started anew. All of it by fingers.
func TestPageOnAPhone(t *testing.T) {
	slow(t)
	page := freeAddress(t)
	c := newCertificate(t, shortTemp(t), "page", time.Hour, "pane.example.com")
	web, public := withTLS(t, page, c)
	s := newSiteOf(t, web)
	b := c.trusted(t, "pane.example.com")
	b.Ignore("status of 401") // it waits, or a request was signed for the start before
	b.Do(browsertest.Phone(2), browsertest.OnNewDocument(nights))

	s.sharesWithPhone(b, public)
	folder := filepath.Join(s.dir, "garden")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	made, err := s.api.NewSession(s.ctx(), api.Create{Name: "garden", Agent: "demo", Cwd: folder})
	if err != nil {
		t.Fatal(err)
	}
	s.answersByThumb(b, made)
	s.sendsPhoto(b, made, folder)
	s.outlastsNights(b)
	b.Away(time.Now(), time.Now().Add(time.Hour))
	s.stop()
}

// nights lets a test have them pass: the page's clock goes on by `later` milliseconds, and its timer of thirty seconds is
// over at once. A list of sessions that's answered after `holdList` comes to the page with `givesList`.
const nights = `(() => {
	const { now } = Date;
	window.later = 0;
	Date.now = () => now() + later;
	const wait = setTimeout;
	window.setTimeout = (fn, ms, ...rest) => wait(fn, ms === 30000 ? 0 : ms, ...rest);
	const { fetch } = window;
	let held = null;
	window.holdList = () => { held = new Promise((resolve) => { window.givesList = () => { held = null; resolve(); }; }); };
	window.holdsList = false;
	window.fetch = async (...asked) => {
		const answer = await fetch(...asked);
		if (held && new URL(answer.url).pathname === '/api/v1/sessions') {
			window.holdsList = true;
			await held;
		}
		return answer;
	};
})()`

// sharesWithPhone shares the page in a terminal, as somebody does, and lets in what shows the same number.
func (s *site) sharesWithPhone(b *browser, public string) {
	s.Helper()
	ask := exec.CommandContext(s.ctx(), s.program, "page", "share", "--name", "Ann's phone", "--role", "operator", "--role", "approver",
		"--state-dir", filepath.Join(s.dir, "state"))
	terminal, err := pty.StartWithSize(ask, &pty.Winsize{Rows: 60, Cols: 120})
	if err != nil {
		s.Fatal(err)
	}
	defer func() { _ = terminal.Close() }()
	said := &printed{}
	read := make(chan struct{})
	go func() {
		defer close(read)
		_, _ = said.copyFrom(terminal)
	}()
	find := func(what, pattern string) string {
		s.Helper()
		re := regexp.MustCompile(pattern)
		s.await(what, func() bool { return re.MatchString(said.text()) })
		return re.FindString(said.text())
	}
	find("a code", "[▄▀█]{8}")
	b.Do(chromedp.Navigate(find("an address", regexp.QuoteMeta(public)+`/new/\S+#\S+`)))
	b.Until("a number", `document.querySelector('#gate').dataset.why === 'waiting' && /^\d{3} ?\d{3}$/.test(document.querySelector('#gate-number').textContent)`)
	b.Shot("way-1-number")
	number := browsertest.Eval[string](b.Browser, `document.querySelector('#gate-number').textContent`)
	find("the question", `show the number `+number+`\. Let it in\?`)
	if _, err := terminal.WriteString("y\n"); err != nil {
		s.Fatal(err)
	}
	find("that it's let in", `Ann's phone is let in`)
	b.Until("the page", `document.querySelector('#gate').hidden && !document.querySelector('#no-sessions').hidden`)
	if err := ask.Wait(); err != nil {
		s.Errorf("page share ended with %v and said %s", err, said.text())
	}
	<-read
}

// answersByThumb touches an option of a question in the inbox.
func (s *site) answersByThumb(b *browser, asks api.Session) {
	s.Helper()
	if _, err := s.api.Input(s.ctx(), string(asks.ID), "ask", true); err != nil {
		s.Fatal(err)
	}
	b.Until("the question in the inbox", `document.querySelector('.card[data-group=waits] .prompt')?.textContent.includes('proceed?')`)
	b.Shot("way-2-inbox")
	b.Tap("Yes", `document.querySelector('.card .prompt [data-digit="1"]')`)
	s.await("the end of it", func() bool {
		now, err := s.api.Session(s.ctx(), string(asks.ID))
		return err == nil && now.State == "idle" && strings.Contains(strings.Join(s.lines(asks.ID), "\n"), "You allowed it")
	})
	if n := strings.Count(strings.Join(s.lines(asks.ID), "\n"), "You allowed it"); n != 1 {
		s.Errorf("it was answered %d times", n)
	}
	b.Until("that nothing waits", `!document.querySelector('.card[data-group=waits]')`)
}

// sendsPhoto chooses a photo by the button beside the text, and sends it with a text.
func (s *site) sendsPhoto(b *browser, to api.Session, folder string) {
	s.Helper()
	photo := filepath.Join(s.TempDir(), "IMG 0042.png")
	bytesOf := bigPicture(s.T, 1024)
	if len(bytesOf) < 2<<20 {
		s.Fatalf("a photo of %d bytes goes in one part", len(bytesOf))
	}
	if err := os.WriteFile(photo, bytesOf, 0o600); err != nil {
		s.Fatal(err)
	}
	b.Tap("the session", `document.querySelector('.card-link[href="#`+string(to.ID)+`"]')`)
	b.Until("it's open", `document.querySelector('#name').textContent === '`+to.Name+`' && !document.querySelector('#text').disabled`)
	b.ChooseFiles("+", `document.querySelector('#attach')`, photo)
	b.Until("the photo", `document.querySelector('.file[data-state=there]')`)
	b.Tap("the field", `document.querySelector('#text')`)
	b.Until("the focus", `document.activeElement.id === 'text'`)
	b.Do(browsertest.InsertText("What's on it?"))
	b.Shot("way-3-photo")
	b.Tap("Send", `document.querySelector('#send')`)
	b.Until("the answer", `/You wrote: What's on it\? \S*IMG_0042-\S+\.png/.test(document.querySelector('#lines').textContent)`)
	b.Until("that nothing is left to be sent", `document.querySelector('#text').value === '' && !document.querySelector('.file')`)
	b.Shot("way-4-answer")
	there, err := filepath.Glob(filepath.Join(folder, ".panebridge", "in", "IMG_0042-*.png"))
	if err != nil || len(there) != 1 {
		s.Fatalf("in its folder are %v, %v", there, err)
	}
	if got, err := os.ReadFile(there[0]); err != nil || !bytes.Equal(got, bytesOf) {
		s.Errorf("the photo of %d bytes has arrived with %d, %v", len(bytesOf), len(got), err)
	}
}

// bigPicture is one of that many pixels in each direction that can't be made smaller.
func bigPicture(t *testing.T, size int) []byte {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	drawn := image.NewRGBA(image.Rect(0, 0, size, size))
	for i := range drawn.Pix {
		drawn.Pix[i] = uint8(random.Uint32())
		if i%4 == 3 {
			drawn.Pix[i] = 255
		}
	}
	var out bytes.Buffer
	if err := png.Encode(&out, drawn); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// outlastsNights leaves the page open in a session, and comes back after the daemon was started anew: the first night it
// gives its connection back, the second the phone stops it before, and it's looked at too early. No line is lost or doubled, and a mark stands
// where what's new begins.
func (s *site) outlastsNights(b *browser) {
	s.Helper()
	dir := s.session("night", `
		lines 1 40 40; await dusk-1; lines 41 60 40; await gone-1; lines 61 80 40; : >printed-1; await dawn-1; lines 81 100 40
		await dusk-2; lines 101 120 40; await gone-2; lines 121 140 40; : >printed-2; await dawn-2; lines 141 160 40
		exec cat`)
	made, err := s.api.Session(s.ctx(), "night")
	if err != nil {
		s.Fatal(err)
	}
	b.Tap("the way back", `document.querySelector('#back')`)
	b.Tap("the session", `document.querySelector('.card-link[href="#`+string(made.ID)+`"]')`)
	b.Until("what it has printed", `document.querySelector('#lines').lastElementChild?.textContent === 'line 40'`)
	const ended = `performance.getEntriesByType('resource').filter((e) => e.name.includes('/api/v1/events')).length`
	for night := range 2 {
		first := 41 + 60*night // line of the night
		looked := fmt.Sprintf(`JSON.parse(localStorage.getItem('panebridge.looked'))?.sessions[%q]?.line === %d`, made.ID, first-1)
		b.Until("that all of it was looked at", looked)
		n := browsertest.Eval[int](b.Browser, ended)
		if night == 1 { // the list was asked for before the phone stops the page, and comes after it
			browsertest.Eval[bool](b.Browser, `holdList(), true`)
			b.Until("a list on its way", `holdsList`)
		}
		b.Hide(night == 1)
		if night == 0 {
			b.Until("it gives its connection back", fmt.Sprintf("%s === %d", ended, n+1))
		}
		at := func(part string) string { return fmt.Sprintf("%s-%d", part, night+1) }
		signal(s.T, dir, at("dusk"))
		s.await("lines of the evening", s.has(made.ID, fmt.Sprintf("line %d", first+19)))
		from := time.Now()
		s.kill()
		signal(s.T, dir, at("gone"))
		s.await("lines without a daemon", func() bool { return exists(dir, at("printed")) })
		wake := func() {
			browsertest.Eval[int](b.Browser, `later += 8 * 3600000`)
			b.Show()
		}
		if night == 1 { // somebody looks before the daemon is there, or the phone's radio
			wake()
			browsertest.Eval[bool](b.Browser, `givesList(), true`)
			b.Until("word that nobody answers", `document.querySelector('#connection').textContent.includes('isn’t reachable')`)
		}
		s.start()
		signal(s.T, dir, at("dawn"))
		s.await("lines of the morning", s.has(made.ID, fmt.Sprintf("line %d", first+59)))
		if night == 0 {
			wake()
		}
		b.Until("the newest line", fmt.Sprintf(`document.querySelector('#lines').lastElementChild?.textContent === 'line %d'`, first+59))
		b.Away(from, time.Now())
		b.Until("that nothing is said of the connection", `document.querySelector('#connection').hidden`)
		b.Until("the lines above", `!document.querySelector('#lines').hasAttribute('aria-busy')`)
		marks := browsertest.Eval[[]string](b.Browser, `Array.from(document.querySelectorAll('#lines .unread'), (e) => e.nextElementSibling.textContent)`)
		if want := []string{fmt.Sprintf("line %d", first)}; !slices.Equal(marks, want) {
			s.Errorf("night %d: what's new begins at %q, want %q", night+1, marks, want)
		}
		inView := `(() => { const { top, bottom } = document.querySelector('#lines .unread')?.getBoundingClientRect() ?? {}; const s = document.querySelector('#scroller').getBoundingClientRect(); return top >= s.top && bottom <= s.bottom; })()`
		if night == 1 { // the page may have come before the daemon had read all: then it stays at the end, as with what's printed from then on
			inView += ` || (({ scrollHeight, scrollTop, clientHeight }) => scrollHeight - scrollTop - clientHeight < 4)(document.querySelector('#scroller'))`
		}
		b.Until("the mark in view", inView)
		b.Shot(at("way-5-morning"))
		b.Until("all lines, upwards", `(() => { document.querySelector('#scroller').scrollTop = 0; return document.querySelector('#lines .line').textContent === 'line 1'; })()`)
		stand := browsertest.Eval[[]string](b.Browser, `Array.from(document.querySelectorAll('#lines .line'), (e) => e.textContent)`)
		if log := s.lines(made.ID); len(log) != first+59 || !slices.Equal(stand, log) {
			s.Errorf("night %d: the page has %d lines, and the log has %d others", night+1, len(stand), len(log))
		}
		b.Tap("the way to the newest line", `document.querySelector('#newest')`)
	}
	b.follows()
	b.Tap("the field", `document.querySelector('#text')`)
	b.Do(browsertest.InsertText("good morning"))
	b.Tap("Send", `document.querySelector('#send')`)
	s.await("what was typed", s.has(made.ID, "good morning"))
}

// printed is what a program prints.
type printed struct {
	mu   sync.Mutex
	said bytes.Buffer
}

func (p *printed) copyFrom(terminal *os.File) (int, error) {
	chunk := make([]byte, 4096)
	for {
		n, err := terminal.Read(chunk)
		p.mu.Lock()
		p.said.Write(chunk[:n])
		p.mu.Unlock()
		if err != nil {
			return p.said.Len(), err
		}
	}
}

func (p *printed) text() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.said.String()
}
