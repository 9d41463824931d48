package browsertest

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// Size of a phone's page, in CSS pixels.
const (
	PhoneWidth  = 390
	PhoneHeight = 844
)

const phoneAgent = "Mozilla/5.0 (Linux; Android 16; Pixel 9) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Mobile Safari/537.36"

// Phone makes the browser one of a phone: its size, so many pixels for each of CSS, fingers, and what it calls itself.
func Phone(scale float64) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, emulation.SetUserAgentOverride, emulation.SetUserAgentOverrideParams{UserAgent: phoneAgent, Platform: "Linux armv8l"}); err != nil {
			return err
		}
		_, err := chromedp.EmulateViewport(PhoneWidth, PhoneHeight, chromedp.EmulateMobile, chromedp.EmulateTouch, chromedp.EmulateScale(scale))(ctx, target)
		return err
	})
}

// Tap touches the middle of what an expression finds, as a finger does, once it's in view, has come to rest and is what
// lies there.
func (b *Browser) Tap(what, expression string) {
	b.Helper()
	spot := fmt.Sprintf(`(() => {
		const e = %s;
		if (!e?.checkVisibility({ visibilityProperty: true }) || e.disabled || e.closest('[data-moving]')) return [];
		const inView = ({ left, right, top, bottom }) => left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
		if (!inView(e.getBoundingClientRect())) e.scrollIntoView({ block: 'center' });
		const { left, top, width, height } = e.getBoundingClientRect();
		const [x, y] = [left + width / 2, top + height / 2];
		return e.contains(document.elementFromPoint(x, y)) ? [x, y] : [];
	})()`, expression)
	var at, before []float64
	for end := time.Now().Add(onePatience); len(at) == 0 || len(before) == 0 || at[0] != before[0] || at[1] != before[1]; {
		if time.Now().After(end) {
			b.logPage()
			b.Fatalf("waited %v in vain to touch %s", onePatience, what)
		}
		b.Do(chromedp.Sleep(20 * time.Millisecond))
		before, at = at, Eval[[]float64](b, spot)
	}
	b.Do(touch(input.DispatchTouchEventTypeTouchStart, &input.TouchPoint{X: at[0], Y: at[1]}), touch(input.DispatchTouchEventTypeTouchEnd))
}

func touch(kind input.DispatchTouchEventType, points ...*input.TouchPoint) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.DispatchTouchEvent, input.DispatchTouchEventParams{Type: kind, TouchPoints: append([]*input.TouchPoint{}, points...)})
		return err
	})
}

// InsertText writes into the focused field as a phone's keyboard does.
func InsertText(text string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, input.InsertText, input.InsertTextParams{Text: text})
		return err
	})
}

// Hide hides the page, as one of a phone that lies on the table; it's stopped as well if frozen, as phones do after a while.
func (b *Browser) Hide(frozen bool) {
	b.Helper()
	b.Do(focus(false), lifecycle(page.SetWebLifecycleStateStateFrozen)) // which hides it first
	if !frozen {
		b.Do(lifecycle(page.SetWebLifecycleStateStateActive))
	}
	if !Eval[bool](b, "document.hidden") {
		b.Fatal("the page isn't hidden")
	}
}

// Show shows a page that was hidden.
func (b *Browser) Show() {
	b.Helper()
	b.Do(lifecycle(page.SetWebLifecycleStateStateActive), focus(true))
	b.Until("the page is shown", "!document.hidden")
}

func lifecycle(state page.SetWebLifecycleStateState) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.SetWebLifecycleState, page.SetWebLifecycleStateParams{State: state})
		return err
	})
}

// focus has a page be shown and have the focus whatever is known of its window.
func focus(on bool) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetFocusEmulationEnabled, emulation.SetFocusEmulationEnabledParams{Enabled: on})
		return err
	})
}

// ChooseFiles touches what asks for files, and chooses these.
func (b *Browser) ChooseFiles(what, expression string, files ...string) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.tab, onePatience)
	defer cancel()
	asked := make(chan *page.EventFileChooserOpened, 1)
	if err := chromedp.Listen(ctx, func(ev any) {
		if ev, ok := ev.(*page.EventFileChooserOpened); ok {
			select {
			case asked <- ev:
			default:
			}
		}
	}); err != nil {
		b.Fatal(err)
	}
	intercept := func(on bool) chromedp.Action[chromedp.Void] {
		return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, page.SetInterceptFileChooserDialog, page.SetInterceptFileChooserDialogParams{Enabled: on})
			return err
		})
	}
	b.Do(intercept(true))
	b.Tap(what, expression)
	select {
	case ev := <-asked:
		b.Do(intercept(false), chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
			_, err := cdp.Call(ctx, target, dom.SetFileInputFiles, dom.SetFileInputFilesParams{Files: files, BackendNodeID: ev.BackendNodeID})
			return err
		}))
	case <-ctx.Done():
		b.Fatalf("%s asks for no files", what)
	}
}

// OnNewDocument runs a script in each document before its own.
func OnNewDocument(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}
