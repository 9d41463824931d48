package app_test

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/creack/pty"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
)

// timesEchoes presses keys as a keyboard does in the field, and keeps in echoes after how many milliseconds each time the
// program's answer was drawn in what shows it.
const timesEchoes = `window.echoes = null, (async (n, show, typeInto) => {
	const rows = document.querySelector(show), field = document.querySelector(typeInto), all = [];
	const drawn = (text) => new Promise((done) => {
		const look = () => { if (!rows.textContent.replaceAll('\n', '').includes(text)) return; seen.disconnect(); requestAnimationFrame(() => done(performance.now())); };
		const seen = new MutationObserver(look);
		seen.observe(rows, { childList: true, subtree: true, characterData: true });
		look();
	});
	const press = (key) => field.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
	for (let i = 0; i < n; i++) {
		const text = '<' + i + '>';
		for (const key of text.slice(0, -1)) { press(key); await new Promise((r) => setTimeout(r, 60)); }
		const at = performance.now();
		press('>');
		all.push(await drawn(text) - at);
		await new Promise((r) => setTimeout(r, 50 + Math.random() * 200));
	}
	window.echoes = all;
})(%d, '%s', '%s'), true`

// timeEchoes logs how soon keys are answered on the page.
func (b *browser) timeEchoes(what string, n int, show, typeInto string) {
	b.Helper()
	browsertest.Eval[bool](b.Browser, fmt.Sprintf(timesEchoes, n, show, typeInto))
	b.Until("all echoes", `window.echoes`)
	ms := browsertest.Eval[[]float64](b.Browser, `window.echoes`)
	slices.Sort(ms)
	b.Logf("%s, from a key to what it draws: p50 %.0f ms, p95 %.0f ms, max %.0f ms of %d", what, ms[n/2], ms[n*95/100], ms[n-1], n)
}

// barePage is a page that shows what a tmux client writes to a pseudo terminal, and has it read keys: nothing is between.
const barePage = `<!doctype html><pre id="out"></pre><textarea id="in"></textarea><script>
const out = document.querySelector('#out');
(async () => {
	const reader = (await fetch('/out')).body.pipeThrough(new TextDecoderStream()).getReader();
	for (let all = ''; ;) { const { done, value } = await reader.read(); if (done) return; all = (all + value).slice(-4000); out.textContent = all.replace(/\x1b\[[0-9;?]*[A-Za-z]|\x1b[()][0-9A-Za-z]|\x1b./g, ''); }
})();
let pressed = Promise.resolve();
document.querySelector('#in').addEventListener('keydown', ({ key }) => { pressed = pressed.then(() => fetch('/key', { method: 'POST', body: key })); });
</script>`

// servesBare serves a bare page of a session until the test ends, and returns its address.
func (s *site) servesBare(session string) string {
	s.Helper()
	all, err := s.api.Sessions(s.ctx())
	at := slices.IndexFunc(all, func(one api.Session) bool { return one.Name == session })
	if err != nil || at < 0 {
		s.Fatalf("there's no session %s: %v", session, err)
	}
	s.tmux("set-option", "-t", all[at].Tmux.Session, "status", "off") // whose clock would come amid an echo
	cmd := exec.Command("tmux", "-u", "-S", s.socket, "attach-session", "-t", "="+all[at].Tmux.Session)
	cmd.Env = append(os.Environ(), "TERM=xterm-256color", "TMUX=")
	master, err := pty.StartWithSize(cmd, &pty.Winsize{Rows: 41, Cols: 120})
	if err != nil {
		s.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, barePage) })
	mux.HandleFunc("POST /key", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(master, r.Body) })
	mux.HandleFunc("GET /out", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		buf := make([]byte, 1<<16)
		for r.Context().Err() == nil {
			n, err := master.Read(buf)
			if err != nil {
				return
			}
			_, _ = w.Write(buf[:n])
			_ = http.NewResponseController(w).Flush()
		}
	})
	bare := httptest.NewServer(mux)
	s.root.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGHUP)
		_ = cmd.Wait()
		_ = master.Close()
		bare.CloseClientConnections()
		bare.Close()
	})
	return bare.URL
}

// What's typed into the page's screen comes to the program, in its order, and what it draws to the page.
func TestTerminal(t *testing.T) {
	slow(t)
	s := newSite(t)
	const echoes = `stty raw -echo; printf 'ready\r\n'; exec cat`
	s.session("terminal", echoes)
	s.session("bare", echoes)
	for i := range drawtest.Times(98, 2, 2) {
		s.session(fmt.Sprint("beside-", i), fmt.Sprintf(`while [ %d -lt 10 ]; do echo "line $((n = n + 1)) of what an agent says, as long as lines are"; sleep 0.3; done; exec cat`, i))
	}
	_, file := s.recorder("keys", "raw")
	b := &browser{browsertest.New(t, 1280, 900)}
	b.Do(chromedp.Navigate(s.url()), chromedp.WaitVisible(".session"))
	browsertest.Eval[bool](b.Browser, watching)
	b.choose("terminal")
	b.Do(chromedp.Click("#tab-screen"))
	b.Until("the screen", `document.querySelector('#screen-rows').textContent.includes('ready')`)
	b.Do(chromedp.Click("#screen-type"))
	keys := drawtest.Times(200, 15, 15)
	b.timeEchoes("the terminal", keys, "#screen-rows", "#screen-keys")
	b.Shot("terminal")

	b.choose("keys")
	b.Until("its screen", `document.querySelector('#screen-rows').childElementCount > 0`) // what's typed before is refused, and told so
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
	b.Do(chromedp.Navigate(s.servesBare("bare")))
	b.Until("the bare screen", `document.querySelector('#out').textContent.includes('ready')`)
	b.timeEchoes("a bare attached client", keys, "#out", "#in")
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
