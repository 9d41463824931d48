package web_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/adaptertest"
	"github.com/panebridge/panebridge/internal/browsers"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const (
	gateShows = `!document.querySelector('#gate').hidden && document.querySelector('#layout').hidden && document.querySelector('#gate').dataset.why`
	pageShows = `document.querySelector('#gate')?.hidden && !document.querySelector('#layout').hidden && document.querySelector('.session-name')?.textContent === 'one'`
)

// A browser that isn't let in sees what to do, and nothing else; one that was let in goes
// on until it's revoked.
func TestGateSaysWhatToDo(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, "secret line")
	b := browse(t, 1280, 800)
	sees := func(why, name string) {
		b.Helper()
		b.Until(why, gateShows+` === '`+why+`'`)
		text := browsertest.Eval[string](b, `document.querySelector('#gate').innerText`)
		if !strings.Contains(text, "panebridge page") {
			t.Errorf("%s: it doesn't say what to do: %s", why, text)
		}
		if strings.Contains(browsertest.Eval[string](b, `document.body.textContent`), "secret line") {
			t.Errorf("%s: the page still has what the session printed", why)
		}
		b.Shot(name)
		b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
		b.Until("a phone's size", `innerWidth === 390`)
		b.Shot(name + "-phone")
		if wide := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); wide > 390 {
			t.Errorf("%s: the page is %d pixels wide on a phone of 390", why, wide)
		}
		b.Do(chromedp.EmulateViewport(1280, 800))
		b.Until("a wide window", `innerWidth === 1280`)
	}

	b.Do(chromedp.Navigate("http://" + s.addr + "/"))
	sees("not-in", "gate-not-in")
	b.Ignore("429 (Too Many Requests)") // of the last address of these
	b.AwayAtTimes()
	for n := range 11 {
		want := "used"
		if n == 10 {
			want = "busy"
		}
		b.Do(chromedp.Navigate(fmt.Sprintf("http://%s/new/%d#WRONG", s.addr, n)))
		b.Until(want, gateShows+` === '`+want+`'`)
	}
	sees("busy", "gate-busy")
	s.stop() // the daemon forgets what was tried
	s.start(t)

	url, _ := s.keeper.NewAddress(time.Now(), "http://"+s.addr)
	b.Do(chromedp.Navigate(url))
	b.Until("the page", pageShows)
	if now := browsertest.Eval[string](b, `location.href`); now != "http://"+s.addr+"/#"+string(id) && now != "http://"+s.addr+"/" {
		t.Errorf("the address still shows %s", now)
	}
	b.Do(chromedp.Click(".session"))
	b.Until("it's looked at", lineCount+` === 1 && localStorage.length > 0`)
	// It keeps what was looked at, and nothing by which somebody is let in or that was shown.
	if history := browsertest.Eval[string](b, `document.cookie + Object.keys(localStorage) + JSON.stringify({...sessionStorage})`); history != "panebridge.looked{}" || strings.Contains(browsertest.Eval[string](b, `JSON.stringify({...localStorage})`), "secret line") {
		t.Errorf("the browser keeps %s where it shouldn't", history)
	}
	b.Shot("gate-let-in")
	b.Do(chromedp.Reload())
	b.Until("the page after a reload", pageShows)
	// An address that was used already does no harm to a browser that's known.
	b.Do(chromedp.Navigate(url))
	b.Until("the page by a used address", pageShows)
	if list := s.keeper.List(time.Now()); len(list) != 1 || !strings.HasSuffix(list[0].Label, " on Linux") || list[0].Address != s.addr {
		t.Errorf("known are %+v", list)
	}

	if _, err := s.keeper.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	sees("refused", "gate-revoked")
	b.Do(chromedp.Reload())
	sees("refused", "gate-revoked-again")
	b.Do(chromedp.Navigate(url))
	sees("used", "gate-used")
	b.Do(s.open())
	b.Until("the page by a new address", pageShows)

	// The thirty days are over while the page is open, and its tab is the only one.
	list, err := s.known.Browsers(t.Context())
	if err != nil || len(list) != 1 {
		t.Fatalf("stored are %+v, %v", list, err)
	}
	s.stop()
	list[0].Expires = time.Now().Add(-time.Second)
	if err := s.known.UpdateBrowser(t.Context(), list[0]); err != nil {
		t.Fatal(err)
	}
	s.start(t)
	sees("refused", "gate-expired")
}

// A browser changes its key in time, and another tab of it goes on with the new one.
func TestKeyIsChangedInTime(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the page", pageShows)
	was := s.keeper.List(time.Now())[0]
	browsertest.Eval[bool](b, `(async () => {
		const db = await new Promise((r) => { const o = indexedDB.open('panebridge', 1); o.onsuccess = () => r(o.result); });
		const store = db.transaction('keys', 'readwrite').objectStore('keys');
		store.get('browser').onsuccess = (e) => {
			store.put({ ...e.target.result, changeAt: 0 }, 'browser').onsuccess = () => { window.old = true; };
		};
	})(), true`)
	b.Until("an old key", `window.old`)
	b.Do(chromedp.Reload())
	b.Until("the page", pageShows)
	deadline := time.Now().Add(30 * time.Second)
	for string(s.keeper.List(time.Now())[0].Key) == string(was.Key) {
		if time.Now().After(deadline) {
			t.Fatal("the key wasn't changed")
		}
		b.Do(chromedp.Sleep(20 * time.Millisecond))
	}
	now := s.keeper.List(time.Now())
	if len(now) != 1 || now[0].ID != was.ID || !now[0].Expires.After(was.Expires) {
		t.Errorf("known are %+v, was %+v", now, was)
	}
	b.Do(chromedp.Click(".session"), chromedp.WaitVisible("#foot"), chromedp.SendKeys("#text", "still in"), browsertest.Enter(), chromedp.WaitVisible(".receipt[data-state=submitted]"))
}

// A phone that has opened a shared address shows a number, and nothing of any session, until
// somebody has let it in; one that's refused is told so, after a reload too.
func TestADeviceWaitsToBeLetIn(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.Append(id, sessions.KindPane, "secret line")
	b := browse(t, 390, 844)
	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	open := func() browsers.Waiting {
		b.Helper()
		url, _ := s.keeper.NewShare(time.Now(), "http://"+s.addr, browsers.Share{Name: "Ann's phone", Roles: access.Roles{access.Viewer: true}})
		b.Do(chromedp.Navigate(url))
		b.Until("it waits", gateShows+` === 'waiting'`)
		list := s.keeper.Waiting(time.Now())
		if len(list) != 1 {
			t.Fatalf("these wait: %+v", list)
		}
		text := browsertest.Eval[string](b, `document.body.innerText`)
		if !strings.Contains(text, list[0].Number) || strings.Contains(text, "secret line") || strings.Contains(text, "one") && strings.Contains(text, "needs you") {
			t.Errorf("it shows %s, and the number is %s", text, list[0].Number)
		}
		return list[0]
	}
	first := open()
	b.Shot("gate-waiting-phone")
	b.Do(chromedp.Reload())
	b.Until("it waits after a reload", gateShows+` === 'waiting'`)
	if err := s.keeper.Revoke(t.Context(), first.ID); err != nil {
		t.Fatal(err)
	}
	b.Until("it's refused", gateShows+` === 'declined'`)
	b.Shot("gate-declined-phone")
	b.Do(chromedp.Reload())
	b.Until("it isn't in", gateShows+` === 'not-in'`)

	second := open()
	if _, err := s.keeper.Confirm(t.Context(), time.Now(), second.ID); err != nil {
		t.Fatal(err)
	}
	b.Until("the page", pageShows)
	b.Do(chromedp.Reload())
	b.Until("the page after a reload", pageShows)
	if list := s.keeper.List(time.Now()); len(list) != 1 || list[0].Name != "Ann's phone" {
		t.Errorf("known are %+v", list)
	}
	third := open() // a device that's known opens another address, and is one device still
	if _, err := s.keeper.Confirm(t.Context(), time.Now(), third.ID); err != nil {
		t.Fatal(err)
	}
	b.Until("the page", pageShows)
	if list := s.keeper.List(time.Now()); len(list) != 1 || list[0].ID != third.ID {
		t.Errorf("known are %+v", list)
	}
}

// A device is offered what its roles give: a viewer's looks on, an approver's answers and doesn't type.
func TestADeviceIsOfferedWhatItMayDo(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, tc := range map[string]struct {
		roles                 access.Roles
		types, answers, gives bool
	}{
		"viewer":   {access.Roles{access.Viewer: true}, false, false, false},
		"approver": {access.Roles{access.Approver: true}, false, true, false},
		"operator": {access.Roles{access.Operator: true}, true, false, false},
		"admin":    {access.Roles{access.Admin: true}, true, true, true},
	} {
		s := newSite(t)
		id := s.daemon.Add("one", "")
		s.daemon.Append(id, sessions.KindPane, "a line")
		s.daemon.Ask(id, adaptertest.Permission())
		b := browse(t, 390, 844)
		url, _ := s.keeper.NewShare(time.Now(), "http://"+s.addr, browsers.Share{Roles: tc.roles})
		b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile), chromedp.Navigate(url))
		b.Until("it waits", gateShows+` === 'waiting'`)
		if _, err := s.keeper.Confirm(t.Context(), time.Now(), s.keeper.Waiting(time.Now())[0].ID); err != nil {
			t.Fatal(err)
		}
		b.Until("the page", pageShows)
		browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, id))
		b.Until("the question", `document.querySelector('.prompt-option')?.offsetHeight > 0`)
		b.Do(chromedp.Sleep(600 * time.Millisecond)) // a new question takes no click for a moment
		shown := func(selector string) bool {
			return browsertest.Eval[bool](b, `document.querySelector('`+selector+`').offsetHeight > 0`)
		}
		if shown("#composer") != tc.types || shown(".looks-on") == tc.types {
			t.Errorf("%s: it's offered to type: %t", name, shown("#composer"))
		}
		b.Do(chromedp.Click("#more"))
		if !shown("#mute") || shown("#rename") != tc.types || shown("#close") != tc.types {
			t.Errorf("%s: it's offered to rename and close: %t", name, shown("#rename"))
		}
		b.Do(chromedp.Click("#more"))
		if got := browsertest.Eval[bool](b, `!document.querySelector('.prompt-option').disabled`); got != tc.answers {
			t.Errorf("%s: it's offered to answer: %t", name, got)
		}
		b.Do(chromedp.Click("#tab-screen"))
		if shown(".secrets") != tc.gives {
			t.Errorf("%s: it's offered to see secrets: %t", name, shown(".secrets"))
		}
		b.Do(chromedp.Click("#tab-conversation"))
		b.Shot("device-" + name)
	}
}
