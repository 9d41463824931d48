package browsertest

import (
	"context"
	"strings"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/serviceworker"
	"github.com/chromedp/chromedp"
)

// Before runs a script in each page that the tab opens from now on, before the page's own.
func Before(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

// Refused opens an address at which nobody answers, and returns the browser's word for why; "": something was shown.
func (b *Browser) Refused(address string) (why string) {
	b.Helper()
	b.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		got, err := cdp.Call(ctx, target, page.Navigate, page.NavigateParams{URL: address})
		if err == nil {
			why = got.ErrorText
		}
		return err
	}))
	return why
}

// Workers are the registrations of service workers that the browser has.
type Workers struct {
	b     *Browser
	found chan serviceworker.RegistrationID
}

// WatchWorkers has the browser tell of its service workers.
func (b *Browser) WatchWorkers() *Workers {
	b.Helper()
	w := &Workers{b: b, found: make(chan serviceworker.RegistrationID, 64)}
	err := chromedp.Listen(b.tab, func(ev any) {
		told, ok := ev.(*serviceworker.EventWorkerRegistrationUpdated)
		if !ok {
			return
		}
		for _, r := range told.Registrations {
			if !r.IsDeleted && strings.HasPrefix(r.ScopeURL, "http") {
				select {
				case w.found <- r.RegistrationID:
				default: // the last are enough
				}
			}
		}
	})
	if err != nil {
		b.Fatal(err)
	}
	b.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, serviceworker.Enable, cdp.Empty{})
		return err
	}))
	return w
}

// Push delivers what was pushed to the first worker that the browser told of, as it is when a push service's message
// was decrypted.
func (w *Workers) Push(origin string) func(text string) {
	w.b.Helper()
	var id serviceworker.RegistrationID
	select {
	case id = <-w.found:
	case <-time.After(onePatience):
		w.b.Fatal("the browser tells of no service worker")
	}
	return func(text string) {
		w.b.Helper()
		w.b.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, serviceworker.DeliverPushMessage, serviceworker.DeliverPushMessageParams{Origin: origin, RegistrationID: id, Data: text})
			return err
		}))
	}
}
