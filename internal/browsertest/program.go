package browsertest

import (
	"context"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
)

// Program is a browser that the tests of a package share: starting one takes more than most of
// them do. What one test stores, keeps or is let do, no other has. The zero value starts when the
// first test needs it.
type Program struct {
	mu      sync.Mutex
	running context.Context //nolint:containedctx // chromedp keeps the browser in it; nil: none was started
	end     func()
}

// New opens a window in the browser, so many pixels wide and high.
func (p *Program) New(t *testing.T, width, height int) *Browser {
	t.Helper()
	ctx, cancel := context.WithTimeout(p.start(t), patience)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx, chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	return in(t, ctx, width, height)
}

// start starts the browser unless it runs.
func (p *Program) start(t *testing.T) context.Context {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running != nil && p.running.Err() == nil {
		return p.running
	}
	p.stop() // it died
	allocator, endAll := chromedp.NewExecAllocator(context.Background(), options(t)...)
	ctx, cancel := chromedp.NewContext(allocator)
	p.running, p.end = ctx, func() { cancel(); endAll() }
	if err := chromedp.Do(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// End ends the browser, for a package's TestMain.
func (p *Program) End() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stop()
}

func (p *Program) stop() {
	if p.end != nil {
		p.end()
	}
	p.running, p.end = nil, nil
}
