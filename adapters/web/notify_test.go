package web_test

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/memnet"
	"github.com/panebridge/panebridge/internal/push"
	"github.com/panebridge/panebridge/internal/push/pushstoretest"
	"github.com/panebridge/panebridge/internal/push/pushtest"
	"github.com/panebridge/panebridge/sessions"
)

// notifying is a site that notifies by a push service of the machine's own.
type notifying struct {
	*site

	service *pushtest.Service
	device  *pushtest.Device // as the browser's PushManager subscribes
	next    *pushtest.Device // as it does when that was given up
}

func newNotifying(t *testing.T) *notifying {
	t.Helper()
	certificate, roots, err := pushtest.Certificate("127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &notifying{site: newSite(t), service: &pushtest.Service{Origin: "https://" + l.Addr().String()}}
	run(t, func(ctx context.Context) error {
		return memnet.Serve(ctx, tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{certificate}}), n.service)
	})
	store := pushstoretest.New()
	n.pusher = push.New(push.Options{
		Store: store, Notes: store, Prompts: n.daemon.Prompts, Mask: func(text string) string { return text },
		Name: func(id sessions.ID) (string, bool) {
			s, err := n.daemon.Get(string(id))
			return s.Name, err == nil
		},
		May:       func(browser string, now time.Time) bool { return n.keeper.Knows(browser, now) },
		RingAfter: func() time.Duration { return 0 }, Route: push.Route{Loopback: true, AnyPort: true, Roots: roots},
	})
	if err := n.pusher.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	n.pusher.Follow(&n.daemon.Feed)
	run(t, n.pusher.Run)
	n.device, n.next = n.service.Subscribe(n.pusher.PublicKey()), n.service.Subscribe(n.pusher.PublicKey())
	n.stop()
	n.prelude = standInNotifications
	n.start(t)
	n.keeper.OnGone(n.pusher.Forget)
	return n
}

// run runs a part until the test ends.
func run(t *testing.T, part func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- part(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("a part ended with %v", err)
		}
	})
}

// subscribes has the browser's PushManager subscribe with the stand-in: one without a maker's service has none.
func (n *notifying) subscribes() chromedp.Action[chromedp.Void] {
	given, err := json.Marshal([]*pushtest.Device{n.device, n.next})
	if err != nil {
		panic(err) // they're texts
	}
	return browsertest.Before(fmt.Sprintf(`(() => {
		if (!globalThis.PushManager) return;
		const given = %s;
		const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0)).buffer;
		const nth = () => Number(localStorage.getItem('given up'));
		const make = (key) => ({
			endpoint: given[nth()].Endpoint, options: { applicationServerKey: key, userVisibleOnly: true },
			getKey: (name) => bytes(name === 'auth' ? given[nth()].Auth : given[nth()].Key),
			unsubscribe: async () => { localStorage.removeItem('subscribed'); localStorage.setItem('given up', Math.min(nth() + 1, 1)); return true; },
		});
		PushManager.prototype.subscribe = async ({ userVisibleOnly, applicationServerKey: key }) => {
			if (!userVisibleOnly || key.byteLength !== 65) throw new TypeError('it takes userVisibleOnly, and a key of P-256');
			localStorage.setItem('subscribed', JSON.stringify([...key]));
			return make(key.buffer);
		};
		PushManager.prototype.getSubscription = async () => {
			const key = JSON.parse(localStorage.getItem('subscribed'));
			return key && make(Uint8Array.from(key).buffer);
		};
	})()`, given))
}

// awaitMessage waits for the nth message, from 1, that the device gets.
func (n *notifying) awaitMessage(t *testing.T, nth int) string {
	t.Helper()
	for end := time.Now().Add(time.Minute); len(n.device.Messages()) < nth; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the device got %d messages", len(n.device.Messages()))
		}
	}
	return n.device.Messages()[nth-1].Text
}

// standInNotifications are a browser's notifications, for a page and its worker: a Chromium without a window has none, and
// says that all are denied. They're as strict as the standard (Notifications API, "create a notification"). A message
// {click: tag} clicks one, {away: true} has nobody look at any page, and {change: true} changes the subscription.
const standInNotifications = `(() => {
	if (!globalThis.ServiceWorkerRegistration || !globalThis.indexedDB) return;
	const done = (request) => new Promise((resolve, reject) => { request.onsuccess = () => resolve(request.result); request.onerror = () => reject(request.error); });
	const store = async (mode, fn) => {
		const opening = indexedDB.open('notifications', 1);
		opening.onupgradeneeded = () => opening.result.createObjectStore('shown', { keyPath: 'tag' });
		const db = await done(opening);
		try { return await done(fn(db.transaction('shown', mode).objectStore('shown'))); } finally { db.close(); }
	};
	const made = (one) => ({ ...one, close: () => store('readwrite', (s) => s.delete(one.tag)) });
	const { prototype } = ServiceWorkerRegistration;
	prototype.showNotification = async (title, options) => {
		if (options.renotify && !options.tag) throw new TypeError('renotify takes a tag');
		if (options.renotify && options.silent) throw new TypeError('what is silent does not ring anew');
		await store('readwrite', (s) => s.put({ title, ...options }));
	};
	prototype.getNotifications = async (filter = {}) => (await store('readonly', (s) => s.getAll())).filter(({ tag }) => !filter.tag || tag === filter.tag).map(made);
	Object.defineProperty(Notification, 'permission', { get: () => 'granted' });
	Notification.requestPermission = async () => 'granted';
	if (globalThis.document) return;
	let isAway = false;
	const matchAll = Clients.prototype.matchAll;
	Clients.prototype.matchAll = async function (options) {
		const all = await matchAll.call(this, options);
		if (isAway) for (const one of all) Object.defineProperty(one, 'visibilityState', { value: 'hidden' });
		return all;
	};
	addEventListener('message', async ({ data }) => {
		if (data.away) isAway = true;
		if (data.change) {
			const change = new Event('pushsubscriptionchange');
			change.waitUntil = () => {};
			dispatchEvent(change);
		}
		if (!data.click) return;
		const click = new Event('notificationclick');
		click.notification = made(await store('readonly', (s) => s.get(data.click)));
		click.waitUntil = () => {};
		dispatchEvent(click);
	});
})();
`

// notifications are those that the browser shows, as lines, as they were when this was asked last.
const notifications = `(() => {
	navigator.serviceWorker.getRegistration('/').then((r) => r.getNotifications()).then((all) => {
		globalThis.shownNow = all.map((n) => n.title + ': ' + n.body + (n.silent ? ' (silent)' : '')).join('\\n');
	});
	return globalThis.shownNow;
})()`

// dismissAll closes them.
const dismissAll = `navigator.serviceWorker.getRegistration('/').then((r) => r.getNotifications()).then((all) => all.forEach((n) => n.close()))`

const notifySays = `document.querySelector('#notify-state').textContent`

// A device that's told to be is notified of a question, and the word of it goes when it was answered elsewhere. A click opens
// the session.
func TestADeviceIsNotified(t *testing.T) {
	t.Parallel()
	slow(t)
	for _, width := range []int{1200, 390} {
		t.Run(fmt.Sprint(width), func(t *testing.T) {
			t.Parallel()
			testNotified(t, width)
		})
	}
}

func testNotified(t *testing.T, width int) {
	t.Helper()
	n := newNotifying(t)
	id := n.daemon.Add("one", "claude")
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
	workers := b.WatchWorkers()
	b.Do(browsertest.Before(standInNotifications), n.subscribes(), n.enter())
	b.Until("the page", pageShows)
	b.Until("its worker", `navigator.serviceWorker.controller?.scriptURL.endsWith('/service-worker.js')`)
	deliver := workers.Push("http://" + n.addr)
	if width < 720 {
		click("#menu")
	}
	click("#notify")
	b.Until("that it's off", notifySays+`.includes('isn’t notified')`)
	click("#notify-on")
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	click("#notify-quiet")
	b.Until("its hours", `document.querySelector('#notify-hours').checkVisibility()`)
	own := n.keeper.List(time.Now())[0].ID
	await(t, "the quiet hours", func() bool {
		s, ok := n.pusher.Find(own)
		return ok && s.Quiet.From == "22:00" && s.Questions && s.Ends && s.Errors
	})
	for _, scheme := range []string{"light", "dark"} {
		b.Do(browsertest.Scheme(scheme))
		b.Shot(fmt.Sprintf("notify-%d-%s", width, scheme))
		for _, found := range b.Barriers("#screen-rows span") {
			t.Errorf("%s: %s", scheme, found)
		}
	}
	click("#notify-quiet")
	await(t, "no quiet hours", func() bool { s, _ := n.pusher.Find(own); return s.Quiet == push.QuietHours{} })
	click("#notify-close")

	ask := func(title string) {
		n.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptPermission, Title: title, Options: []sessions.DialogOption{{Label: "Yes"}, {Label: "No", Refuses: true}}})
	}
	ask("Delete the bucket?")
	deliver(n.awaitMessage(t, 1))
	b.Until("the notification", notifications+` === 'one: Delete the bucket? (silent)'`) // the page is looked at
	n.answerElsewhere(t, id)
	deliver(n.awaitMessage(t, 2))
	b.Until("that it goes", notifications+` === ''`)
	deliver(n.awaitMessage(t, 1)) // the service sends it again, behind its end
	deliver("nonsense")
	b.Until("what came behind it", notifications+` === 'panebridge: There’s something new. (silent)'`)
	b.Do(chromedp.Evaluate[chromedp.Void](dismissAll))
	b.Until("that it's closed", notifications+` === ''`)

	tell := func(message string) {
		t.Helper()
		browsertest.Eval[bool](b, "(navigator.serviceWorker.controller.postMessage("+message+"), true)")
	}
	tell("{ away: true }")
	ask("And its backup?")
	late := n.awaitMessage(t, 3)
	deliver(late)
	b.Until("the notification", notifications+` === 'one: And its backup?'`)
	deliver(late) // the service sends it again
	b.Until("that it doesn't ring twice", notifications+` === 'one: And its backup? (silent)'`)
	tell(fmt.Sprintf("{ click: 'session %s' }", id))
	b.Until("the session that was clicked", fmt.Sprintf(`location.hash === '#%s' && %s === ''`, id, notifications))
	b.Do(chromedp.Evaluate[chromedp.Void](`location.hash = ''`))
	n.answerElsewhere(t, id)
	deliver(n.awaitMessage(t, 4))
	b.Until("that it was answered", notifications+` === 'one: Answered (silent)'`)
	b.Do(chromedp.Evaluate[chromedp.Void](dismissAll))
	b.Until("that it was dismissed", notifications+` === ''`)
	deliver(late)
	b.Until("that it's over", notifications+` === 'one: That’s over by now (silent)'`)
	ask("And the other one?")
	deliver(n.awaitMessage(t, 5))
	b.Until("the notification", notifications+` === 'one: And the other one?'`)
	n.answerElsewhere(t, id)
	deliver(n.awaitMessage(t, 6))
	b.Until("that it was answered", notifications+` === 'one: Answered (silent)'`)
	deliver(late)  // it comes in another order
	for range 10 { // also while the one before is being shown
		from := len(n.device.Messages())
		ask("And now?")
		question := n.awaitMessage(t, from+1)
		n.answerElsewhere(t, id)
		deliver(n.awaitMessage(t, from+2))
		deliver(question)
	}
	deliver("nonsense")
	b.Until("that there's something new", notifications+`?.includes("panebridge: There’s something new.")`)
	if got := browsertest.Eval[string](b, notifications); !strings.Contains(got, "one: Answered (silent)") {
		t.Errorf("what came late is shown: %q", got)
	}
}

// Whoever looks at a page that isn't in touch with the daemon, or at the one that says so, doesn't see what's asked there.
func TestAQuestionRingsWherePagesAreOutOfTouch(t *testing.T) {
	t.Parallel()
	slow(t)
	n := newNotifying(t)
	id := n.daemon.Add("one", "claude")
	b := browse(t, 1200, 844)
	b.Ignore("status of 503")
	workers := b.WatchWorkers()
	b.Do(browsertest.Before(standInNotifications), n.subscribes(), n.enter())
	b.Until("the page", pageShows)
	b.Until("its worker", `navigator.serviceWorker.controller?.scriptURL.endsWith('/service-worker.js')`)
	deliver := workers.Push("http://" + n.addr)
	b.Do(chromedp.Click("#notify"), chromedp.Click("#notify-on"))
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	b.Do(chromedp.Click("#notify-close"))
	ask := func(title string) {
		n.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptPermission, Title: title, Options: []sessions.DialogOption{{Label: "Yes"}}})
	}
	ask("One?")
	one := n.awaitMessage(t, 1)
	n.answerElsewhere(t, id)
	n.awaitMessage(t, 2)
	ask("Two?")
	two := n.awaitMessage(t, 3)
	n.stop()
	b.Until("that it can't be reached", `!document.querySelector('#connection').hidden`)
	deliver(one)
	b.Until("the notification", notifications+` === 'one: One?'`)
	b.Do(chromedp.Navigate("http://" + n.addr + "/"))
	b.Until("the page that says so", `document.querySelector('h1')?.textContent === 'panebridge can’t be reached'`)
	deliver(two)
	b.Until("the notification", notifications+` === 'one: Two?'`)
	n.start(t)
	b.Until("the page", pageShows)
	deliver("nonsense")
	b.Until("that nothing sounds again", notifications+`?.includes('There’s something new. (silent)')`)
}

func (n *notifying) answerElsewhere(t *testing.T, id sessions.ID) {
	t.Helper()
	for _, p := range n.daemon.Prompts() {
		if p.Session == id {
			if _, err := n.daemon.Answer(t.Context(), p.ID, sessions.Answer{Options: []int{0}}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func await(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// While the daemon can't be reached, a visit says so and since when; the page comes by itself when it's back.
func TestAVisitInVainSaysSinceWhen(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	s.daemon.Add("one", "")
	b := browse(t, 390, 844)
	b.Ignore("status of 503")
	b.Do(s.enter())
	b.Until("the page", pageShows)
	b.Until("its worker", `navigator.serviceWorker.controller`)
	b.Until("that the time is kept", `(() => {
		indexedDB.databases().then((all) => {
			if (!all.some(({ name }) => name === 'panebridge-seen')) return;
			indexedDB.open('panebridge-seen').onsuccess = ({ target: { result: db } }) => {
				db.transaction('times').objectStore('times').get('seen').onsuccess = ({ target }) => { globalThis.keptTime = target.result; db.close(); };
			};
		});
		return globalThis.keptTime;
	})()`)
	s.stop()
	b.Do(chromedp.Navigate("http://" + s.addr + "/"))
	b.Until("the word", `document.querySelector('h1').textContent === 'panebridge can’t be reached'`)
	since := browsertest.Eval[string](b, `document.querySelector('#since').textContent`)
	if day := time.Now().Format("Monday"); !strings.HasPrefix(since, "It was reached last on "+day) {
		t.Errorf("it says %q", since)
	}
	for _, scheme := range []string{"light", "dark"} {
		b.Do(browsertest.Scheme(scheme))
		b.Shot("unreachable-" + scheme)
		for _, found := range b.Barriers("noscript") {
			t.Errorf("%s: %s", scheme, found)
		}
	}
	if kept := browsertest.Eval[string](b, `Object.keys(sessionStorage).join()`); kept != "" {
		t.Errorf("it keeps %q", kept)
	}
	s.start(t)
	b.Until("the page", pageShows)
}

// Where a device can't be notified, it's said why, and the switch does nothing.
func TestWhyADeviceIsNotNotified(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, c := range map[string]struct{ before, says string }{
		"denied":      {"", "The browser doesn’t allow it."}, // a Chromium without a window denies it
		"unsupported": {"delete globalThis.PushManager", "This browser can’t be notified."},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := newNotifying(t)
			n.daemon.Add("one", "")
			b := browse(t, 1200, 800)
			b.Do(browsertest.Before(c.before), n.enter())
			b.Until("the page", pageShows)
			b.Do(chromedp.Click("#notify"))
			b.Until("why", fmt.Sprintf(`%s.startsWith(%q) && document.querySelector('#notify-on').disabled && document.querySelector('#notify-wishes').disabled`, notifySays, c.says))
			b.Shot("notify-" + name)
		})
	}
}

// letNotified opens the page and has the browser notified.
func (n *notifying) letNotified(t *testing.T, b *browsertest.Browser) (browser string) {
	t.Helper()
	b.Do(browsertest.Before(standInNotifications), n.subscribes(), n.enter())
	b.Until("the page", pageShows)
	b.Until("its worker", `navigator.serviceWorker.controller?.scriptURL.endsWith('/service-worker.js')`)
	b.Do(chromedp.Click("#notify"))
	b.Until("that it's off", notifySays+`.includes('isn’t notified')`)
	b.Do(chromedp.Click("#notify-on"))
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	b.Do(chromedp.Click("#notify-close"))
	return n.keeper.List(time.Now())[0].ID
}

// What the push service has ended is begun anew by the next visit, with what was wanted; so is what the browser has changed, and
// of that the worker says so while nobody looks. What was turned off isn't.
func TestAnEndedSubscriptionIsBegunAnew(t *testing.T) {
	t.Parallel()
	slow(t)
	n := newNotifying(t)
	id := n.daemon.Add("one", "")
	b := browse(t, 1200, 800)
	b.Ignore("ERR_CONNECTION_REFUSED")
	own := n.letNotified(t, b)
	b.Do(chromedp.Click("#notify"))
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	b.Do(chromedp.Click("#notify-ends"))
	await(t, "that it isn't told of ends", func() bool { s, _ := n.pusher.Find(own); return !s.Ends })
	b.Do(chromedp.Click("#notify-close"))
	n.device.Forget(410)
	n.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptPermission, Title: "Go on?", Options: []sessions.DialogOption{{Label: "Yes"}}})
	await(t, "that it's forgotten", func() bool { _, known := n.pusher.Find(own); return !known })
	b.Do(chromedp.Reload())
	await(t, "that it's begun anew", func() bool { _, known := n.pusher.Find(own); return known })
	if s, _ := n.pusher.Find(own); s.Endpoint != n.next.Endpoint || !s.Questions || s.Ends || !s.Errors {
		t.Errorf("it's known as %+v", s)
	}
	await(t, "the question", func() bool { return len(n.next.Messages()) == 1 })

	b.Until("the page", pageShows)
	b.Until("its worker", `navigator.serviceWorker.controller`)
	const change = `localStorage.removeItem('subscribed'); navigator.serviceWorker.controller.postMessage({ change: true })`
	b.Do(chromedp.Evaluate[chromedp.Void](change))
	b.Until("that a page that's there subscribes", `localStorage.getItem('subscribed')`)
	n.stop()
	b.Do(chromedp.Evaluate[chromedp.Void](`navigator.serviceWorker.controller.postMessage({ away: true })`))
	// The page may still be at the change before, and takes back what's said when that's right.
	b.Until("that it's said", `(`+strings.ReplaceAll(change, ";", ",")+`, `+notifications+` ?? '').includes('panebridge: This device isn’t notified until the page is opened')`)
	n.start(t)
	b.Do(chromedp.Reload())
	b.Until("that it subscribes and is said no longer", pageShows+` && localStorage.getItem('subscribed') && !(`+notifications+` ?? 'isn’t notified').includes('isn’t notified')`)

	b.Do(chromedp.Click("#notify"))
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	b.Do(chromedp.Click("#notify-on"))
	b.Until("that it's off", notifySays+`.includes('isn’t notified')`)
	b.Do(chromedp.Reload())
	b.Until("the page", pageShows)
	b.Do(chromedp.Click("#notify"))
	b.Until("that it's off", notifySays+`.includes('isn’t notified')`)
	if _, known := n.pusher.Find(own); known {
		t.Error("it's notified, though it was turned off")
	}
}

// A tab that mutes a session leaves the wishes that another has changed as they are.
func TestTwoTabsWishTheSame(t *testing.T) {
	t.Parallel()
	slow(t)
	n := newNotifying(t)
	id := n.daemon.Add("one", "")
	b := browse(t, 1200, 800)
	own := n.letNotified(t, b)
	other := b.OpenTab(1200, 800)
	other.Do(browsertest.Before(standInNotifications), n.subscribes(), chromedp.Navigate("http://"+n.addr+"/#"+string(id)))
	other.Until("the session", `document.querySelector('#name').textContent === 'one'`)
	b.Do(chromedp.Click("#notify"))
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	b.Do(chromedp.Click("#notify-errors"))
	await(t, "that it isn't told of failures", func() bool { s, _ := n.pusher.Find(own); return !s.Errors })
	other.Do(chromedp.Click("#more"), chromedp.Click("#mute"))
	await(t, "that it's muted", func() bool { s, _ := n.pusher.Find(own); return len(s.Muted) == 1 })
	if s, _ := n.pusher.Find(own); s.Errors || !s.Ends {
		t.Errorf("it's known as %+v", s)
	}
}

// A click on an alert while the daemon can't be reached opens its session when it's back. Another site beside the page, as a
// proxy may have, is left alone meanwhile.
func TestAClickWhileNobodyAnswers(t *testing.T) {
	t.Parallel()
	slow(t)
	n := newNotifying(t)
	id := n.daemon.Add("one", "")
	n.daemon.Add("two", "")
	b := browse(t, 1200, 800)
	b.Ignore("status of 503")
	b.Ignore("ERR_CONNECTION_REFUSED")
	workers := b.WatchWorkers()
	n.letNotified(t, b)
	deliver := workers.Push("http://" + n.addr)
	n.stop()
	b.Do(chromedp.Navigate("http://" + n.addr + "/"))
	b.Until("the word", `document.querySelector('h1').textContent === 'panebridge can’t be reached'`)
	n.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptPermission, Title: "Go on?", Options: []sessions.DialogOption{{Label: "Yes"}}})
	deliver(n.awaitMessage(t, 1))
	b.Until("the question", notifications+`?.startsWith('one: Go on?')`)
	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf("navigator.serviceWorker.controller.postMessage({ click: 'session %s' })", id)))
	b.Until("where it leads", fmt.Sprintf(`location.hash === '#%s'`, id))
	n.start(t)
	b.Until("the session", pageShows+` && document.querySelector('#name').textContent === 'one'`)

	n.stop()
	if got := b.Refused("http://" + n.addr + "/grafana/"); !strings.Contains(got, "ERR_CONNECTION_REFUSED") {
		t.Errorf("another site is answered by the worker (%q)", got)
	}
	n.start(t)
}

// A visit puts right what the browser has lost. What's muted isn't told, and a device that's revoked gives its subscription up.
func TestASubscriptionIsPutRight(t *testing.T) {
	t.Parallel()
	slow(t)
	n := newNotifying(t)
	id := n.daemon.Add("one", "")
	b := browse(t, 1200, 800)
	b.Ignore("status of 401")
	b.Do(browsertest.Before(standInNotifications), n.subscribes(), n.enter())
	b.Until("the page", pageShows)
	b.Do(chromedp.Click("#notify"))
	b.Until("that it's off", notifySays+`.includes('isn’t notified')`)
	b.Do(chromedp.Click("#notify-ends"), chromedp.Click("#notify-on"))
	b.Until("that it's on", notifySays+`.includes('is notified, also when no page is open')`)
	own := n.keeper.List(time.Now())[0].ID
	if s, ok := n.pusher.Find(own); !ok || !s.Questions || s.Ends {
		t.Errorf("the browser is known as %+v", s)
	}
	const subscribed = `Boolean(localStorage.getItem('subscribed'))`
	b.Do(chromedp.Evaluate[chromedp.Void](`localStorage.removeItem('subscribed')`), chromedp.Reload())
	b.Until("that it subscribes again", pageShows+" && "+subscribed)
	if s, ok := n.pusher.Find(own); !ok || !s.Questions || s.Ends {
		t.Errorf("behind the visit the browser is known as %+v", s)
	}

	b.Do(chromedp.Evaluate[chromedp.Void](fmt.Sprintf(`location.hash = %q`, id)))
	b.Until("the session", `document.querySelector('#name').textContent === 'one'`)
	b.Do(chromedp.Click("#more"), chromedp.Click("#mute"))
	await(t, "that it's muted", func() bool {
		s, _ := n.pusher.Find(own)
		return len(s.Muted) == 1 && s.Muted[0] == id
	})
	n.daemon.Ask(id, sessions.Dialog{Kind: sessions.PromptPermission, Title: "Go on?", Options: []sessions.DialogOption{{Label: "Yes"}}})
	if err := n.keeper.Revoke(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	b.Until("the gate", gateShows+` === 'refused'`)
	b.Until("that it gave its subscription up", "!"+subscribed)
	if _, known := n.pusher.Find(own); known || n.device.Asked() != 0 {
		t.Errorf("the browser is subscribed: %v, and was told %d times", known, n.device.Asked())
	}
}
