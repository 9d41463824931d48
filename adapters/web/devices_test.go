package web_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsers/browserstest"
	"github.com/panebridge/panebridge/internal/browsertest"
)

const devicesSay = `document.querySelector('#devices-dialog').innerText`

// letsIn has a browser open an address that's shared with it, and lets it in.
func (s *site) letsIn(t *testing.T, b *browsertest.Browser, name string, role access.Role) {
	t.Helper()
	url, _ := s.keeper.NewShare(time.Now(), "http://"+s.addr, browsers.Share{Name: name, Roles: access.Roles{role: true}})
	b.Do(chromedp.Navigate(url))
	b.Until("it waits", gateShows+` === 'waiting'`)
	if _, err := s.keeper.Confirm(t.Context(), time.Now(), s.keeper.Waiting(time.Now())[0].ID); err != nil {
		t.Fatal(err)
	}
	b.Until("the page", pageShows)
}

// opensShared has a device open a shared address: it waits to be let in.
func (s *site) opensShared(t *testing.T, name string, role access.Role) browsers.Waiting {
	t.Helper()
	url, _ := s.keeper.NewShare(time.Now(), "http://"+s.addr, browsers.Share{Name: name, Roles: access.Roles{role: true}})
	_, token, _ := strings.Cut(url, "#")
	body, err := json.Marshal(api.KeyRequest{Token: token, Key: browserstest.NewSigner().PublicKey()})
	if err != nil {
		t.Fatal(err)
	}
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+s.addr+"/api/v1/page/keys", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	all := s.keeper.Waiting(time.Now())
	if resp.StatusCode != http.StatusAccepted || len(all) == 0 {
		t.Fatalf("status %d, and waiting are %+v", resp.StatusCode, all)
	}
	return all[len(all)-1]
}

// An admin's page says which devices use it and which wait, and how these are let in; it revokes them after a question,
// itself too, on a phone's screen as well.
func TestDevicesAreSeenAndRevoked(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, width := range []int{1200, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			testDevices(t, width)
		})
	}
}

func testDevices(t *testing.T, width int) {
	t.Helper()
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, width, 844)
	if width < 720 {
		b.Do(browsertest.Phone(1))
	}
	click := func(selector string) {
		t.Helper()
		if width < 720 {
			b.Tap(selector, fmt.Sprintf(`document.querySelector(%q)`, selector))
			return
		}
		b.Do(chromedp.Click(selector))
	}
	b.Do(s.enter())
	b.Until("the page", pageShows)
	own := s.keeper.List(time.Now())[0]
	let := s.opensShared(t, "<b>Ann's phone</b>", access.Operator)
	if _, err := s.keeper.Confirm(t.Context(), time.Now(), let.ID); err != nil {
		t.Fatal(err)
	}
	if width < 720 {
		click("#menu")
	}
	click("#devices")
	b.Until("both devices", devicesSay+`.includes("<b>Ann's phone</b>") && document.querySelectorAll('.device').length === 2`)
	text := browsertest.Eval[string](b, devicesSay)
	for _, want := range []string{"operator", "this device", "at " + s.addr, "Last seen just now", "let in just now"} {
		if !strings.Contains(text, want) {
			t.Errorf("it doesn't say %q: %s", want, text)
		}
	}
	if marked := browsertest.Eval[string](b, `document.querySelector('.device-own').closest('.device').querySelector('button').id`); marked != "device-ask-"+own.ID {
		t.Errorf("%s is marked as this device", marked)
	}
	waits := s.opensShared(t, "a tablet", access.Viewer)
	b.Until("the one that waits", devicesSay+fmt.Sprintf(`.includes(%q)`, waits.Number))
	text = browsertest.Eval[string](b, devicesSay)
	if !strings.Contains(text, "panebridge page confirm "+waits.ID) || !strings.Contains(text, "/devices") || !strings.Contains(text, "from 127.0.0.1") {
		t.Errorf("it doesn't say how the one that waits is let in: %s", text)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Do(browsertest.Scheme(scheme))
		b.Shot(fmt.Sprintf("devices-%d-%s", width, scheme))
		for _, found := range b.Barriers("#screen-rows span") {
			t.Errorf("%s: %s", scheme, found)
		}
	}
	if wide := browsertest.Eval[int](b, `document.querySelector('#devices-dialog').scrollWidth - document.querySelector('#devices-dialog').clientWidth`); wide > 0 {
		t.Errorf("the dialog is %d pixels too wide", wide)
	}

	known := func() string {
		var names []string
		for _, b := range s.keeper.List(time.Now()) {
			names = append(names, b.Name)
		}
		return fmt.Sprintf("%q, and %d wait", names, len(s.keeper.Waiting(time.Now())))
	}
	click("#device-ask-" + waits.ID)
	b.Until("the question", fmt.Sprintf(`document.activeElement.id === 'device-keep-%s'`, waits.ID))
	if width < 720 {
		for _, text := range browsertest.Eval[[]string](b, small) {
			t.Error(text)
		}
	}
	b.Shot(fmt.Sprintf("devices-question-%d", width))
	for _, found := range b.Barriers("#screen-rows span") {
		t.Errorf("question: %s", found)
	}
	click("#device-keep-" + waits.ID)
	b.Until("no question", fmt.Sprintf(`document.activeElement.id === 'device-ask-%s'`, waits.ID))
	if got := known(); !strings.Contains(got, "1 wait") {
		t.Errorf("after Not now these are known: %s", got)
	}
	click("#device-ask-" + waits.ID)
	click("#device-revoke-" + waits.ID)
	b.Until("that it's refused", devicesSay+`.includes("a tablet is refused") && document.querySelector('#devices-waiting').hidden`)
	click("#device-ask-" + let.ID)
	click("#device-revoke-" + let.ID)
	b.Until("that it's revoked", devicesSay+`.includes("may use the page no longer") && document.querySelectorAll('.device').length === 1`)
	if got := known(); got != `[""], and 0 wait` {
		t.Errorf("known are %s", got)
	}
	click("#device-ask-" + own.ID)
	b.Until("what becomes of this one", devicesSay+`.includes('the page shuts')`)
	click("#device-revoke-" + own.ID)
	b.Until("the page is shut", gateShows+` === 'refused' && !document.querySelector('dialog[open]')`)
	if text := browsertest.Eval[string](b, `document.querySelector('#devices-dialog').textContent`); strings.Contains(text, "Ann") || strings.Contains(text, s.addr) {
		t.Errorf("the shut page still has %s", text)
	}
	if got := known(); got != `[], and 0 wait` {
		t.Errorf("known are %s", got)
	}
}

// An admin is told of a device that begins to wait, without the dialog; who isn't one asks nothing of them.
func TestAnAdminIsToldOfADeviceThatWaits(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 1200, 800)
	b.Do(browsertest.OnNewDocument(quick), s.enter())
	b.Until("the page", pageShows)
	b.Until("it has asked", `asked > 0`)
	if text := browsertest.Eval[string](b, `document.querySelector('#devices').innerText.trim()`); text != "Devices…" {
		t.Errorf("nobody waits, and the button says %q", text)
	}
	s.opensShared(t, "a tablet", access.Viewer)
	b.Until("word of it", `!document.querySelector('#toast').hidden && document.querySelector('#toast').textContent === "a tablet waits to be let in. See Devices…"`)
	if text := browsertest.Eval[string](b, `document.querySelector('#devices').innerText.trim()`); text != "Devices… 1 waits" {
		t.Errorf("the button says %q", text)
	}

	viewer := browse(t, 1200, 800)
	url, _ := s.keeper.NewShare(time.Now(), "http://"+s.addr, browsers.Share{Name: "looks on", Roles: access.Roles{access.Approver: true}})
	viewer.Do(browsertest.OnNewDocument(quick), chromedp.Navigate(url))
	viewer.Until("it waits", gateShows+` === 'waiting'`)
	for _, w := range s.keeper.Waiting(time.Now()) {
		if _, err := s.keeper.Confirm(t.Context(), time.Now(), w.ID); err != nil {
			t.Fatal(err)
		}
	}
	viewer.Until("the page", pageShows)
	viewer.Until("time has passed", `waited > 3`)
	if n := browsertest.Eval[int](viewer, `asked`); n != 0 {
		t.Errorf("a device that's no admin's has asked %d times", n)
	}
	if browsertest.Eval[bool](viewer, `document.querySelector('#devices').checkVisibility()`) {
		t.Error("a device that's no admin's is offered to see devices")
	}
}

// quick makes ten seconds a moment, counts them in `waited`, and in `asked` how often devices are asked for.
const quick = `(() => {
	const wait = setTimeout;
	const { fetch } = window;
	window.waited = 0;
	window.asked = 0;
	window.setTimeout = (fn, ms, ...rest) => wait(() => {
		if (ms === 10000) waited += 1;
		fn(...rest);
	}, ms === 10000 ? 100 : ms);
	window.fetch = (path, ...rest) => {
		if (path === '/api/v1/page') asked += 1;
		return fetch(path, ...rest);
	};
})()`
