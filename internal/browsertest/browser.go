// Package browsertest is a headless Chromium for tests of pages.
package browsertest

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// How long a browser that hangs is waited for, in all and for one thing. A loaded machine
// needs a fraction of either.
const (
	patience    = 12 * time.Minute
	onePatience = 4 * time.Minute
)

// Browser is a browser with one tab. It ends with its test, which fails for what its
// console says.
type Browser struct {
	*testing.T

	tab  context.Context //nolint:containedctx // chromedp keeps the tab in it
	said *console
}

// New starts a browser, so many pixels wide and high. more are further options of its start.
func New(t *testing.T, width, height int, more ...chromedp.ExecAllocatorOption) *Browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(options(t), append(more, chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(width, height))...)...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	return in(t, ctx, width, height)
}

// options are those of every start.
func options(t *testing.T) []chromedp.ExecAllocatorOption {
	t.Helper()
	return append(append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...),
		chromedp.ExecPath(chromium(t)), chromedp.WSURLReadTimeout(onePatience), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.NoFirstRun,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-features", "Translate,BlinkGenPropertyTrees,"+toolbar),
		chromedp.Flag("force-prefers-reduced-motion", true), // a click on what still moves goes beside it
	)
}

// in makes the tab of a chromedp context the test's.
func in(t *testing.T, tab context.Context, width, height int) *Browser {
	t.Helper()
	b := &Browser{T: t, tab: tab, said: &console{}}
	// What this starts ends with its context. Each of the windows is as one that somebody looks at, whichever has the focus.
	if err := chromedp.Do(tab, chromedp.EmulateViewport(int64(width), int64(height)), focus(true)); err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Listen(tab, b.said.listen); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.said.check(t) })
	return b
}

// toolbar are parts of a window that nobody sees here. Each window renders them as pages of their own, which takes
// more than the test's page.
const toolbar = "WebUIOmniboxPopup,WebUIOmniboxAimPopup,WebUIOmniboxFullPopup"

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no browser: install chromium (apt install chromium)")
	return ""
}

// In is the browser for a part of the test.
func (b *Browser) In(t *testing.T) *Browser {
	t.Helper()
	return &Browser{T: t, tab: b.tab, said: b.said}
}

// OpenTab opens another tab of the browser, which keeps what this one keeps. It ends with the test.
func (b *Browser) OpenTab(width, height int) *Browser {
	b.Helper()
	ctx, cancel := chromedp.NewContext(b.tab)
	b.Cleanup(cancel)
	return in(b.T, ctx, width, height)
}

// Do does something in the browser. What isn't done in time fails the test, and says what
// the page shows.
func (b *Browser) Do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.tab, onePatience)
	defer cancel()
	if err := chromedp.Do(ctx, steps...); err != nil {
		if ctx.Err() != nil {
			b.logPage()
		}
		b.Fatal(err)
	}
}

// Eval returns the value of a JavaScript expression.
func Eval[T any](b *Browser, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.tab, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// Until waits for a JavaScript expression to be true. (chromedp.Poll makes a function of
// a string, which a page's content security policy forbids.)
func (b *Browser) Until(what, expression string) {
	b.Helper()
	pause := 5 * time.Millisecond
	for end := time.Now().Add(onePatience); !Eval[bool](b, "Boolean("+expression+")"); pause = min(pause*3/2, 100*time.Millisecond) {
		if time.Now().After(end) {
			b.logPage()
			b.Fatalf("waited %v in vain: %s", onePatience, what)
		}
		b.Do(chromedp.Sleep(pause))
	}
}

// logPage logs what the page shows, what its last word was, and what its fields have.
func (b *Browser) logPage() {
	b.Helper()
	b.Logf("the page shows: …%s", Eval[string](b, "document.body.innerText.slice(-3000)"))
	b.Logf("its last word: %q", Eval[string](b, "document.querySelector('#toast')?.textContent ?? ''"))
	b.Logf("its fields have %q", Eval[[]string](b, "[...document.querySelectorAll('input, textarea')].map((e) => e.value).filter(Boolean)"))
}

// Enter presses Enter as a keyboard does: what the page makes of the key decides whether
// a line end is typed. (chromedp.SendKeys types one in any case.)
func Enter(modifiers ...chromedp.Modifier) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		p := input.DispatchKeyEventParams{Type: "keyDown", Key: "Enter", Code: "Enter", Text: "\r", WindowsVirtualKeyCode: 13}
		for _, m := range modifiers {
			p.Modifiers |= int64(m)
		}
		if _, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p); err != nil {
			return err
		}
		p.Type, p.Text = "keyUp", ""
		_, err := cdp.Call(ctx, target, input.DispatchKeyEvent, p)
		return err
	})
}

// Scheme has pages prefer "dark" or "light".
func Scheme(name string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: name}},
		})
		return err
	})
}

// SaveTo has the browser save what's downloaded in a folder, without asking.
func SaveTo(dir string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, browser.SetDownloadBehavior, browser.SetDownloadBehaviorParams{
			Behavior: browser.SetDownloadBehaviorBehaviorAllow, DownloadPath: dir, BrowserContextID: chromedp.FromContext(ctx).BrowserContextID,
		})
		return err
	})
}

// Shot saves a screenshot where PANEBRIDGE_SCREENSHOTS says, for people to look at.
func (b *Browser) Shot(name string) {
	b.Helper()
	dir := os.Getenv("PANEBRIDGE_SCREENSHOTS")
	if dir == "" {
		return
	}
	picture, err := chromedp.Run(b.tab, chromedp.CaptureScreenshot())
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o600)
	}
	if err != nil {
		b.Fatal(err)
	}
}
