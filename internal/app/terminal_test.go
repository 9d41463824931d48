package app_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// timesEchoes presses keys as a keyboard does, and returns how many milliseconds it took each time until the program's answer was
// drawn. Whatever it typed before stands on the screen.
const timesEchoes = `window.echoes = null, (async (n) => {
	const rows = document.querySelector('#screen-rows'), field = document.querySelector('#screen-keys'), all = [];
	const drawn = (text) => new Promise((done) => {
		const look = () => { if (!rows.textContent.replaceAll('\n', '').includes(text)) return; seen.disconnect(); requestAnimationFrame(() => done(performance.now())); };
		const seen = new MutationObserver(look);
		seen.observe(rows, { childList: true, subtree: true, characterData: true });
		look();
	});
	for (let i = 0; i < n; i++) {
		const text = '<' + i + '>';
		for (const key of text.slice(0, -1)) { field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true })); await new Promise((r) => setTimeout(r, 60)); }
		const at = performance.now();
		field.dispatchEvent(new KeyboardEvent('keydown', { key: '>', bubbles: true, cancelable: true }));
		all.push(await drawn(text) - at);
		await new Promise((r) => setTimeout(r, 50 + Math.random() * 200));
	}
	window.echoes = all;
})(%d), true`

// What's typed into the page's screen comes to the program, in its order, and what it draws to the page.
func TestTerminal(t *testing.T) {
	slow(t)
	s := newSite(t)
	s.session("terminal", `stty raw -echo; printf 'ready\r\n'; exec cat`)
	_, file := s.recorder("keys", "raw")
	b := &browser{browsertest.New(t, 1280, 900)}
	b.Do(chromedp.Navigate(s.url()), chromedp.WaitVisible(".session"))
	browsertest.Eval[bool](b.Browser, watching)
	b.choose("terminal")
	b.Do(chromedp.Click("#tab-screen"))
	b.Until("the screen", `document.querySelector('#screen-rows').textContent.includes('ready')`)
	b.Do(chromedp.Click("#screen-type"))
	browsertest.Eval[bool](b.Browser, fmt.Sprintf(timesEchoes, 40))
	b.Until("all echoes", `window.echoes`)
	ms := browsertest.Eval[[]float64](b.Browser, `window.echoes`)
	slices.Sort(ms)
	t.Logf("key to echo drawn: p50 %.0f ms, p95 %.0f ms, max %.0f ms", ms[len(ms)/2], ms[len(ms)*95/100], ms[len(ms)-1])
	b.Shot("terminal")

	b.choose("keys")
	b.Do(chromedp.Click("#screen-type"), chromedp.KeyEvent("ls -l; #ü"+kb.Tab+kb.ArrowUp+kb.Backspace+kb.Escape+kb.Enter))
	want := "ls -l; #ü\t\x1b[A\x7f\x1b\r"
	deadline := time.Now().Add(20 * time.Second)
	for got := ""; got != want; {
		got = ""
		for _, r := range reads(t, file) {
			got += string(r)
		}
		if time.Now().After(deadline) {
			t.Fatalf("the program has read %q, want %q", got, want)
		}
		time.Sleep(50 * time.Millisecond)
	}
	s.stop()
}
