package web_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/heapprofiler"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// before has every document run a script before its own.
func before(script string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		_, err := cdp.Call(ctx, target, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

// heapOf is how much the page's JavaScript and its document take, in bytes, after the garbage was collected.
func heapOf(b *browsertest.Browser) float64 {
	b.Helper()
	var bytes float64
	b.Do(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		if _, err := cdp.Call(ctx, target, heapprofiler.CollectGarbage, cdp.Empty{}); err != nil {
			return err
		}
		used, err := cdp.Call(ctx, target, runtime.GetHeapUsage, cdp.Empty{})
		if err == nil {
			bytes = used.UsedSize + used.EmbedderHeapUsedSize + used.BackingStorageSize
		}
		return err
	}))
	return bytes
}

// A page with 100 sessions, the open one with 200,000 lines, is soon there, and takes no more
// memory when all of it was scrolled through. Its speed is in the log of the test, beside that of an
// empty page of the same server.
func TestALargeLog(t *testing.T) {
	t.Parallel()
	slow(t)
	const lines = 200_000
	s := newSite(t)
	for i := range 99 {
		s.daemon.Append(s.daemon.Add(fmt.Sprintf("session %d", i), "claude"), sessions.KindPane, "a line")
	}
	id := s.daemon.Add("large", "claude")
	for i := 0; i < lines; i += 1000 {
		s.daemon.Append(id, sessions.KindPane, texts(i+1, i+1000)...)
	}
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Ignore("favicon") // the empty page has none
	b.Until("the sessions", `document.querySelectorAll(".session").length === 100`)
	b.Do(before(`(() => {
		const look = () => {
			if (document.querySelector('#lines .line')?.checkVisibility()) requestAnimationFrame(() => setTimeout(() => { window.readable = performance.now(); }));
			else requestAnimationFrame(look);
		};
		addEventListener('load', () => { window.loaded = performance.now(); });
		requestAnimationFrame(look);
	})()`))
	address := "http://" + s.addr + "/"
	var first, empty []float64
	for range 3 {
		b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"empty"))
		b.Until("the empty page", `window.loaded`)
		empty = append(empty, browsertest.Eval[float64](b, `window.loaded`))
		b.Do(chromedp.Navigate("about:blank"), chromedp.Navigate(address+"#"+string(id)))
		b.Until("readable text", `window.readable`)
		first = append(first, browsertest.Eval[float64](b, `window.readable`))
		b.Until("the newest line", fmt.Sprintf(`document.querySelector('#lines').lastChild?.dataset.n === '%d'`, lines))
	}
	slices.Sort(first)
	slices.Sort(empty)
	t.Logf("readable text after %.0f ms (%.0f), an empty page after %.0f ms (%.0f): %.1f times", first[1], first, empty[1], empty, first[1]/empty[1])

	// From the end to the beginning, by steps that a wheel makes, and by the scroll bar.
	shows := func(what string) {
		t.Helper()
		all := numbers(b)
		for i, n := range all {
			if n != all[0]+i {
				t.Fatalf("%s: line %d stands behind line %d", what, n, all[0]+i-1)
			}
		}
	}
	for i := range 60 {
		browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop -= 2000`)
		b.Until("lines in view", linesInView)
		if i%20 == 0 {
			shows("by steps")
		}
	}
	for part := 9; part >= 0; part-- {
		browsertest.Eval[float64](b, fmt.Sprintf(`(() => { const s = document.querySelector('#scroller'); return s.scrollTop = s.scrollHeight * %d / 10; })()`, part))
		b.Until("lines in view", linesInView)
		first := browsertest.Eval[int](b, firstInView)
		if want := lines * part / 10; first < want-lines/50 || first > want+lines/50 {
			t.Errorf("at %d of 10 stands line %d", part, first)
		}
		shows("by the scroll bar")
	}
	b.Until("the first line", `document.querySelector('#lines').firstChild.dataset.n === '1' && document.querySelector('#lines-above').offsetHeight === 0`)
	heap := heapOf(b)
	t.Logf("heap after scrolling: %.1f MB, %d lines in the document", heap/1e6, len(numbers(b)))
	if heap > 100e6 {
		t.Errorf("the page takes %.0f MB", heap/1e6)
	}
	b.Do(chromedp.Click("#newest"))
	b.Until("the newest line again", fmt.Sprintf(`document.querySelector('#lines').lastChild?.dataset.n === '%d'`, lines))
}

// linesInView says that the reader sees lines and no empty room.
const linesInView = `(() => {
	const box = document.querySelector('#scroller').getBoundingClientRect();
	return [20, box.height / 2, box.height - 30].every((y) => document.elementFromPoint(box.left + box.width / 2, box.top + y)?.closest('#lines, .live, button'));
})()`

const firstInView = `(() => {
	const box = document.querySelector('#scroller').getBoundingClientRect();
	return Number(document.elementFromPoint(box.left + box.width / 2, box.top + 20).closest('#lines > *')?.dataset.n ?? -1);
})()`
