package app_test

import (
	"fmt"
	"net"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
)

// The page as docs/page.md has it behind an nginx, for a device that's let in: all that it shows
// is what the log has, whatever is started anew meanwhile.
func TestPageBehindNginx(t *testing.T) {
	slow(t)
	for _, other := range []bool{false, true} {
		name := "of the same user"
		if other {
			name = "of another user"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if other && os.Geteuid() != 0 {
				t.Skip("an nginx of another user takes root")
			}
			testPageBehindNginx(t, other)
		})
	}
}

func testPageBehindNginx(t *testing.T, other bool) {
	t.Helper()
	const name = "pane.example.com"
	page, proxy := freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(proxy)
	if err != nil {
		t.Fatal(err)
	}
	public := "https://" + name + ":" + port
	web := webSettings(t, fill(t, shown(t, "Caddy, nginx", "yaml"), "https://"+name, public))
	web["listen"] = page
	s := newSiteOf(t, web)
	c := newCertificate(t, s.dir, "proxy", time.Hour, name)
	nginx := newNginx(t, proxy, page, other, c)
	b := c.trusted(t, name)
	b.Ignore("status of 401") // it waits, or a request was signed for the start before
	b.Ignore("status of 502") // the proxy is there without the daemon
	s.letsDeviceIn(b, public)
	s.talksToAgent(b, "Ann's phone")
	s.goesOn(b, []outage{
		{"nginx", nginx.stop, nginx.start},
		{"the daemon", s.kill, s.start},
		{"nginx again", nginx.stop, nginx.start},
	})
	if text := browsertest.Eval[string](b.Browser, `location.origin`); text != public {
		t.Errorf("the page is at %s", text)
	}
	b.Away(time.Now(), time.Now().Add(time.Hour)) // a look at a receipt may meet a daemon that's ending
	s.stop()
	b.Until("word that the daemon is away", `document.querySelector('#connection').textContent.includes('isn’t reachable')`)
}

// letsDeviceIn lets a browser in by a shared address, once its number was compared.
func (s *site) letsDeviceIn(b *browser, public string) {
	s.Helper()
	shared, err := s.api.SharePage(s.ctx(), api.ShareRequest{Name: "Ann's phone", Roles: []string{"operator", "approver"}})
	if err != nil || !strings.HasPrefix(shared.URL, public+"/new/") {
		s.Fatalf("shared is %+v, %v", shared, err)
	}
	b.Do(chromedp.Navigate(shared.URL))
	b.Until("a number", `document.querySelector('#gate').dataset.why === 'waiting' && document.querySelector('#gate-number').textContent`)
	waits, err := s.api.Page(s.ctx())
	number := browsertest.Eval[string](b.Browser, `document.querySelector('#gate-number').textContent`)
	if err != nil || len(waits.Waiting) != 1 || waits.Waiting[0].Number != number || waits.Waiting[0].From != "127.0.0.1" {
		s.Fatalf("%s is shown, and waiting are %+v, %v", number, waits.Waiting, err)
	}
	if _, err := s.api.ConfirmDevice(s.ctx(), waits.Waiting[0].ID); err != nil {
		s.Fatal(err)
	}
	b.Until("the page", `!document.querySelector('#layout').hidden && document.querySelector('#gate').hidden`)
	b.Until("an empty list", `!document.querySelector('#no-sessions').hidden`)
	browsertest.Eval[bool](b.Browser, watching)
}

// talksToAgent types to an agent, which has it ask, and answers its question; who is what people
// read of who answered.
func (s *site) talksToAgent(b *browser, who string) {
	s.Helper()
	made, err := s.api.NewSession(s.ctx(), api.Create{Name: "helper", Agent: "demo"})
	if err != nil {
		s.Fatal(err)
	}
	b.choose(made.Name)
	b.Until("silence", `document.querySelector('.session[aria-current]')?.dataset.state === 'idle'`)
	b.write("ask")
	b.Do(browsertest.Enter())
	b.Until("a question", `document.querySelector('#prompt').textContent.includes('proceed?') && document.querySelector('#prompt:not([data-moving]) [data-digit="1"]:enabled')`)
	b.Do(chromedp.Click(`#prompt [data-digit="1"]`))
	b.Until("who answered", `document.querySelector('#prompt').textContent.includes(`+fmt.Sprintf("%q", who+" answered: Yes")+`)`)
	s.await("the end of it", func() bool {
		now, err := s.api.Session(s.ctx(), string(made.ID))
		return err == nil && now.State == "idle"
	})
	if n := strings.Count(strings.Join(s.lines(made.ID), "\n"), "You allowed it"); n != 1 {
		s.Errorf("it was answered %d times", n)
	}
}

// outage is a time without something that's between a browser and the daemon, or without that.
type outage struct {
	name       string
	stop, back func()
}

// goesOn has a session print 4,000 lines, during which there are outages, and types a text to it.
// What the page shows is what the log has.
func (s *site) goesOn(b *browser, outages []outage) {
	s.Helper()
	const all = 4000
	dir := s.session("long", fmt.Sprintf(`
		await go; lines 1 500 25
		i=501; while [ $i -lt %[1]d ] && [ ! -e rest ]; do echo "line $i"; i=$((i+1)); sleep 0.01; done
		lines $i %[1]d 25
		read -r x; echo "got <$x>"; exec cat`, all))
	b.choose("long")
	signal(s.T, dir, "go")
	for _, o := range outages {
		n := browsertest.Eval[int](b.Browser, lineCount)
		b.Until("lines", fmt.Sprintf("%s > %d", lineCount, n+10))
		from := time.Now()
		o.stop()
		b.Until("word that "+o.name+" is away", `!document.querySelector('#connection').hidden`)
		o.back()
		b.Until("word that "+o.name+" is back", `document.querySelector('#connection').hidden`)
		b.Away(from, time.Now())
	}
	if n := browsertest.Eval[int](b.Browser, lineCount); n >= all {
		s.Errorf("all %d lines were there before the last outage was over", n)
	}
	signal(s.T, dir, "rest")
	b.showsLines(all)
	made, err := s.api.Session(s.ctx(), "long")
	if err != nil {
		s.Fatal(err)
	}
	stand := browsertest.Eval[[]string](b.Browser, `Array.from(document.querySelectorAll('#lines .line'), (e) => e.textContent)`)
	if log := s.lines(made.ID); !slices.Equal(stand, log) {
		s.Errorf("the page has %d lines, and the log has %d others", len(stand), len(log))
	}
	b.write("after it all")
	b.Do(browsertest.Enter())
	b.receipt("submitted", "after it all")
	b.Until("what was typed", `document.querySelector('#lines').lastElementChild.textContent === 'got <after it all>'`)
	if n := strings.Count(strings.Join(s.lines(made.ID), "\n"), "got <after it all>"); n != 1 {
		s.Errorf("it was typed %d times", n)
	}
}

// A tunnel by SSH that begins at another port, as docs/page.md has it, with the address that
// `panebridge page` prints.
func TestPageThroughTunnel(t *testing.T) {
	slow(t)
	page, near := freeAddress(t), freeAddress(t)
	_, port, err := net.SplitHostPort(near)
	if err != nil {
		t.Fatal(err)
	}
	text := fill(t, shown(t, "An SSH tunnel", "yaml"), "localhost:9000", "localhost:"+port, "-L 9000:127.0.0.1:7333", "-L "+port+":"+page)
	web := webSettings(t, text)
	web["listen"] = page
	s := newSiteOf(t, web)
	_, command, _ := strings.Cut(text, "# ")
	tunnel := newTunnel(t, near, strings.Fields(command))
	b := &browser{browsertest.New(t, 1280, 900)}
	b.Ignore("status of 401") // a request was signed for the start before
	b.Do(chromedp.Navigate(fill(t, s.url(), page, "localhost:"+port)), chromedp.WaitVisible("#no-sessions"))
	browsertest.Eval[bool](b.Browser, watching)
	s.talksToAgent(b, "This page")
	s.goesOn(b, []outage{
		{"the tunnel", tunnel.stop, tunnel.start},
		{"the daemon", s.kill, s.start},
	})
	b.Away(time.Now(), time.Now().Add(time.Hour))
	s.stop()
}
