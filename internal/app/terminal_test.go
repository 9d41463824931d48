package app_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
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

// However people come to look and go, beside sessions and windows that do, too, and with daemons that are killed meanwhile: the
// tmux server lives on, and nothing is left in it behind the next start but what a daemon has when nobody looks.
func TestWatchingLeavesNothingInTmux(t *testing.T) {
	slow(t)
	s := newSite(t)
	for i := range 4 {
		s.session(fmt.Sprint("kept-", i), `while :; do echo "line $((n = n + 1))"; sleep 0.1; done`)
	}
	pid := s.serverPID()
	left := func() string {
		return s.tmux("list-clients", "-F", "#{client_session} #{client_flags}") + "\n" + s.tmux("list-panes", "-a", "-F", "#{session_name} #{pane_pipe} #{session_attached}")
	}
	s.await("one client", func() bool { return strings.Count(s.tmux("list-clients"), "\n") == 0 })
	before := left()
	w := &lookers{site: s, rng: drawtest.Rand(t, 0)}
	for range drawtest.Times(2000, 150, 150) {
		w.change()
	}
	w.end()
	s.await("nothing but what there was", func() bool { return left() == before })
	if now := s.serverPID(); now != pid {
		t.Errorf("the tmux server was %d and is %d", pid, now)
	}
	s.stop()
}

// lookers are people who look at sessions, and a user who makes and ends some.
type lookers struct {
	*site
	rng     *rand.Rand
	looks   []func() // that end a look each
	made    []string
	numbers int
}

func (w *lookers) change() {
	w.Helper()
	switch n := w.rng.IntN(100); {
	case n < 45:
		w.look()
	case n < 75 && len(w.looks) > 0:
		i := w.rng.IntN(len(w.looks))
		w.looks[i]()
		w.looks = slices.Delete(w.looks, i, i+1)
	case n < 85:
		w.numbers++
		name := fmt.Sprint("mine-", w.numbers)
		w.tmux("new-session", "-d", "-s", name, "cat")
		w.made = append(w.made, name)
		_, _ = w.api.Adopt(w.ctx(), api.Create{Tmux: w.tmux("display-message", "-p", "-t", "="+name+":", "#{pane_id}")})
	case n < 97 && len(w.made) > 0:
		i := w.rng.IntN(len(w.made))
		w.tmux("kill-session", "-t", "="+w.made[i])
		w.made = slices.Delete(w.made, i, i+1)
	case n >= 99:
		w.kill()
		w.start()
	}
	time.Sleep(time.Duration(w.rng.IntN(20)) * time.Millisecond)
}

// look begins to look at a session's terminal or events, and types into it at times.
func (w *lookers) look() {
	all, err := w.api.Sessions(w.ctx())
	if err != nil || len(all) == 0 {
		return
	}
	id := string(all[w.rng.IntN(len(all))].ID)
	ctx, cancel := context.WithCancel(w.root.Context())
	var done sync.WaitGroup
	isTerminal := w.rng.IntN(2) == 0
	done.Go(func() {
		ignore := func(client.Event) error { return nil }
		if isTerminal {
			_ = w.api.Terminal(ctx, id, ignore) // it ends with the session and with the daemon
		} else {
			_ = w.api.Events(ctx, id, "", ignore)
		}
	})
	if w.rng.IntN(4) == 0 {
		_ = w.api.Keys(w.ctx(), id, "x")
	}
	w.looks = append(w.looks, func() { cancel(); done.Wait() })
}

// end ends all looks, and what was made.
func (w *lookers) end() {
	w.Helper()
	for _, end := range w.looks {
		end()
	}
	for _, name := range w.made {
		w.tmux("kill-session", "-t", "="+name)
	}
	w.kill()
	w.start()
}
