package app_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// browserPatience is for a browser that hangs; waiting for one thing has
// pagePatience. A loaded machine needs a fraction of either.
const (
	browserPatience = 12 * time.Minute
	pagePatience    = 4 * time.Minute
)

// browser is a headless Chromium with one tab.
type browser struct {
	*testing.T
	tab  context.Context //nolint:containedctx // chromedp keeps the tab in it
	said *complaints
}

// newBrowser starts a browser, which ends with the test. What its console says
// is collected from here on.
func newBrowser(t *testing.T, width, height int) *browser {
	t.Helper()
	opts := append([]chromedp.ExecAllocatorOption{}, chromedp.DefaultExecAllocatorOptions[:]...)
	opts = append(opts,
		chromedp.ExecPath(chromium(t)), chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(width, height),
		chromedp.WSURLReadTimeout(pagePatience), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true),
	)
	ctx, cancel := context.WithTimeout(t.Context(), browserPatience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewExecAllocator(ctx, opts...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	b := &browser{T: t, tab: ctx, said: &complaints{}}
	b.do(chromedp.EmulateViewport(int64(width), int64(height)))
	if err := chromedp.Listen(ctx, b.said.listen); err != nil {
		t.Fatal(err)
	}
	return b
}

func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Fatal("no browser: install chromium (apt install chromium)")
	return ""
}

// in is the browser for a part of the test.
func (b *browser) in(t *testing.T) *browser {
	t.Helper()
	return &browser{T: t, tab: b.tab, said: b.said}
}

func (b *browser) do(steps ...chromedp.Action[chromedp.Void]) {
	b.Helper()
	if err := chromedp.Do(b.tab, steps...); err != nil {
		b.Fatal(err)
	}
}

func eval[T any](b *browser, expression string) T {
	b.Helper()
	v, err := chromedp.Run(b.tab, chromedp.Evaluate[T](expression))
	if err != nil {
		b.Fatalf("evaluate %s: %v", expression, err)
	}
	return v
}

// until waits for a JavaScript expression to be true. (chromedp.Poll makes a
// function of a string, which the page's content security policy forbids.)
func (b *browser) until(what, expression string) {
	b.Helper()
	for end := time.Now().Add(pagePatience); !eval[bool](b, "Boolean("+expression+")"); {
		if time.Now().After(end) {
			b.Logf("the page shows: …%s", eval[string](b, "document.body.innerText.slice(-3000)"))
			b.Fatalf("no %s within %v", what, pagePatience)
		}
		b.do(chromedp.Sleep(50 * time.Millisecond))
	}
}

// enter presses Enter as a keyboard does: what the page makes of the key decides
// whether a line end is typed. (chromedp.SendKeys types one in any case.)
func (b *browser) enter(modifiers ...chromedp.Modifier) {
	b.Helper()
	b.do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
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
	}))
}

// shot saves a screenshot where PANEBRIDGE_SCREENSHOTS says, for people to look at.
func (b *browser) shot(name string) {
	b.Helper()
	dir := os.Getenv("PANEBRIDGE_SCREENSHOTS")
	if dir == "" {
		return
	}
	png, err := chromedp.Run(b.tab, chromedp.CaptureScreenshot())
	if err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), png, 0o600); err != nil {
		b.Fatal(err)
	}
}

// complaints are what the browser's console says: exceptions, errors, and what
// the content security policy refused.
type complaints struct {
	mu       sync.Mutex
	list     []string
	failures []failure // requests that got no answer
	absences []absence
}

type failure struct {
	at   time.Time
	text string
}

// absence is a time in which the server can't be reached.
type absence struct{ from, to time.Time }

// listen is called by the browser's reader.
func (c *complaints) listen(ev any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch ev := ev.(type) {
	case *runtime.EventExceptionThrown:
		c.list = append(c.list, fmt.Sprintf("exception: %+v", ev.ExceptionDetails))
	case *runtime.EventConsoleAPICalled:
		if ev.Type == runtime.ConsoleAPICalledTypeError {
			c.list = append(c.list, fmt.Sprintf("console: %v", ev.Args))
		}
	case *log.EventEntryAdded:
		text := ev.Entry.Text + " " + ev.Entry.URL
		switch {
		case ev.Entry.Level != log.EntryLevelError:
		case strings.Contains(ev.Entry.Text, "net::ERR_"):
			c.failures = append(c.failures, failure{time.UnixMicro(int64(ev.Entry.Timestamp.Float64() * 1000)), text})
		default:
			c.list = append(c.list, "log: "+text)
		}
	}
}

// absent notes that the server was away: requests may fail then, but not at any
// other time.
func (c *complaints) absent(from, to time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.absences = append(c.absences, absence{from, to})
}

func (c *complaints) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, text := range c.list {
		t.Error(text)
	}
	for _, f := range c.failures {
		expected := false
		for _, a := range c.absences {
			expected = expected || f.at.After(a.from) && f.at.Before(a.to)
		}
		if !expected {
			t.Errorf("at %v: %s", f.at, f.text)
		}
	}
}
