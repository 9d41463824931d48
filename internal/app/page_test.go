package app_test

import (
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"go.yaml.in/yaml/v4"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/browsertest"
)

// pageLines is how many lines the page keeps in the document: of a log that's
// no longer, it shows all.
const pageLines = 5000

// The page in a browser, before the program as people run it and a tmux server:
// a long output arrives whole, what's typed arrives once, and a daemon that's
// killed is only missed until it runs again.
func TestPage(t *testing.T) {
	slow(t)
	s := newSite(t)
	b := &browser{browsertest.New(t, 1280, 900)}
	b.Ignore("status of 401") // a request was signed for the start before
	b.Do(chromedp.Navigate(s.url()), chromedp.WaitVisible("#no-sessions"))
	browsertest.Eval[bool](b.Browser, watching)

	t.Run("5,000 lines arrive in order", func(t *testing.T) { s.in(t).showsEveryLine(b.in(t)) })
	t.Run("what is typed arrives once", func(t *testing.T) { s.in(t).typesOnce(b.in(t)) })
	t.Run("a killed daemon is survived", func(t *testing.T) { s.in(t).survivesKill(b.in(t)) })
	t.Run("a secret is shown on request", func(t *testing.T) { s.in(t).hidesSecrets(b.in(t)) })
	t.Run("a file is sent", func(t *testing.T) { s.in(t).takesFile(b.in(t)) })
	t.Run("an agent is made, talked to and closed", func(t *testing.T) { s.in(t).servesAgent(b.in(t)) })
	b.Away(time.Now(), time.Now().Add(time.Hour))
	s.stop()
}

// browser is one with the page in it.
type browser struct{ *browsertest.Browser }

func (b *browser) in(t *testing.T) *browser {
	t.Helper()
	return &browser{b.In(t)}
}

func (s *site) showsEveryLine(b *browser) {
	dir := s.session("many", `await go; lines 1 5000 25; exec cat`)
	b.choose("many")
	signal(s.T, dir, "go")
	b.showsLines(pageLines)
	b.follows()
}

func (s *site) typesOnce(b *browser) {
	_, file := s.recorder("raw", "raw")
	b.choose("raw")
	b.write("-n; Grüße, $HOME #{x}")
	b.Do(browsertest.Enter())
	b.receipt("submitted", "-n; Grüße, $HOME #{x}")
	b.write("first")
	b.Do(browsertest.Enter(chromedp.ModifierShift))
	b.write("second")
	b.Do(chromedp.Click("#send"))
	b.receipt("submitted", "first\nsecond")
	b.Until("empty composer", `document.querySelector('#text').value === ''`)
	b.Until("text among the lines", `Array.from(document.querySelectorAll('#lines .line'), (e) => e.textContent).join('\n').includes('Grüße')`)
	want := []string{"-n; Grüße, $HOME #{x}", "first\nsecond"}
	checkReads(s.T, "raw", reads(s.T, file), want)
	// Nothing of it is typed again, whatever happens to the daemon later.
	s.root.Cleanup(func() { checkReads(s.root, "raw", reads(s.root, file), want) })
}

func (s *site) survivesKill(b *browser) {
	// Slowly, until the daemon is down: so it's killed in the middle, however
	// fast the machine is. The rest comes while it's down, and while it starts.
	dir := s.session("killed", `
		await go; lines 1 1000 25
		i=1001; while [ $i -le 3000 ] && [ ! -e down ]; do echo "line $i"; i=$((i+1)); sleep 0.02; done
		lines $i 4000 25; : >printed
		await up; lines 4001 5000 25
		while IFS= read -r x; do echo "$x" >>read; echo "got <$x>"; done`)
	b.choose("killed")
	signal(s.T, dir, "go")
	b.Until("more than 1,000 lines", lineCount+` > 1000`)
	killed := time.Now()
	s.kill()
	signal(s.T, dir, "down")
	b.Until("word of the lost connection", `!document.querySelector('#connection').hidden`)
	b.write("while it's down")
	s.await("lines printed without a daemon", func() bool { return exists(dir, "printed") })
	if n := browsertest.Eval[int](b.Browser, lineCount); n <= 1000 || n >= 4000 {
		s.Errorf("%d lines were shown when the daemon was killed, want more than 1,000 and fewer than 4,000", n)
	}
	signal(s.T, dir, "up")
	s.start()
	b.Until("connection", `document.querySelector('#connection').hidden`)
	b.Away(killed, time.Now())
	b.showsLines(pageLines)

	// What was written is still there to be sent. What was sent while it's down is typed when it's back, once.
	b.Do(chromedp.Focus("#text"))
	b.Do(browsertest.Enter())
	b.receipt("submitted", "while it's down")
	b.Until("answer", `document.querySelector('#lines').lastElementChild.textContent === "got <while it's down>"`)
	b.follows()
	killed = time.Now()
	s.kill()
	b.Until("word of the lost connection", `!document.querySelector('#connection').hidden`)
	b.write("sent meanwhile")
	b.Do(browsertest.Enter())
	b.Until("word that nobody has answered", `/no answer yet/.test(document.querySelector('.outgoing')?.textContent)`)
	s.start()
	b.Until("connection", `document.querySelector('#connection').hidden`)
	b.Away(killed, time.Now())
	b.receipt("submitted", "sent meanwhile")
	b.Until("answer", `document.querySelector('#lines').lastElementChild.textContent === 'got <sent meanwhile>'`)
	read, err := os.ReadFile(filepath.Join(dir, "read"))
	if string(read) != "while it's down\nsent meanwhile\n" || err != nil {
		s.Errorf("the program has read %q, %v", read, err)
	}
}

// hidesSecrets: among the lines and on the screen, until somebody asks to see them.
func (s *site) hidesSecrets(b *browser) {
	const secret = "x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"
	s.session("secret", `echo "🔑 it is ghp_`+secret+`, they say"; exec cat`)
	b.choose("secret")
	b.Until("the line", `document.querySelector('#lines').textContent.includes('they say')`)
	if text := browsertest.Eval[string](b.Browser, `document.querySelector('#conversation').textContent`); strings.Contains(text, secret[:13]) || !strings.Contains(text, "🔑 it is ghp_[masked: GitHub token], they say") {
		s.Errorf("the page shows %q", text)
	}
	b.Do(chromedp.Click("#lines .secret"))
	b.Until("the secret", `document.querySelector('#lines').textContent.includes('🔑 it is ghp_`+secret+`, they say')`)
	b.Do(chromedp.Click("#lines .secret"))
	b.Until("no secret", `!document.querySelector('#lines').textContent.includes('`+secret+`')`)
	b.Do(chromedp.Click("#tab-screen"))
	b.Until("the screen", `document.querySelector('#screen-rows').textContent.includes('they say')`)
	if text := browsertest.Eval[string](b.Browser, `document.querySelector('#screen-rows').textContent`); strings.Contains(text, secret[:13]) {
		s.Errorf("the screen shows %q", text)
	}
	b.Do(chromedp.Click("#tab-conversation"))
	b.Do(chromedp.Focus("#text"), browsertest.InsertText("🔑 take ghp_"+secret+", please\nDB_PASSWORD=hunter2hunter2"))
	b.Do(browsertest.Enter())
	b.receipt("submitted", "🔑 take ghp_[masked: GitHub token], please\nDB_PASSWORD=[masked: password]")
	if all := browsertest.Eval[string](b.Browser, `[...receipts].join()`); strings.Contains(all, secret[:13]) || strings.Contains(all, "hunter2") {
		s.Errorf("the receipts show %q", all)
	}
	b.Do(chromedp.Click("#tab-screen"))
	b.Do(chromedp.Click("#screen-secrets"))
	b.Until("the secret on the screen", `document.querySelector('#screen-rows').textContent.includes('`+secret+`')`)
	b.Do(chromedp.Click("#tab-conversation"))
}

// takesFile: a file is where the session's program can read it, and its path is typed.
func (s *site) takesFile(b *browser) {
	dir := s.session("files", `while IFS= read -r x; do set -- $x; echo "got $(cat "$2") of $1"; done`)
	file := filepath.Join(s.TempDir(), "Ein Bild.txt")
	if err := os.WriteFile(file, []byte("a picture"), 0o600); err != nil {
		s.Fatal(err)
	}
	b.choose("files")
	b.Do(chromedp.SetUploadFiles("#file", []string{file}))
	b.Until("the file", `document.querySelector('.file[data-state=there]')`)
	b.write("look:")
	b.Do(browsertest.Enter())
	b.Until("what's in it", `document.querySelector('#lines').textContent.includes('got a picture of look:')`)
	if all, err := filepath.Glob(filepath.Join(dir, ".panebridge", "in", "Ein_Bild-*.txt")); len(all) != 1 || err != nil {
		s.Errorf("in the session's folder are %v, %v", all, err)
	}
}

// servesAgent also leaves pictures, with PANEBRIDGE_SCREENSHOTS.
func (s *site) servesAgent(b *browser) {
	b.Do(chromedp.Click("#new"), chromedp.WaitVisible("#new-dialog"), chromedp.SendKeys("#new-name", "helper"))
	b.Until("the agents", `document.querySelector('#new-agent option[value=demo]')`)
	b.Do(chromedp.SetValue("#new-agent", "demo"), chromedp.Click("#new-create"))
	b.Until("new session", `document.querySelector('#name').textContent === 'helper'`)
	b.Until("silence", `document.querySelector('.session[aria-current]')?.dataset.state === 'idle' && document.querySelector('#lines').textContent === ''`)
	b.write("count 200")
	b.Do(browsertest.Enter())
	b.Until("last of 200", `document.querySelector('#lines').textContent.includes('line 200 of 200')`)
	b.follows()
	b.write("hello")
	b.Do(browsertest.Enter())
	b.Until("answer", `document.querySelector('#lines').textContent.includes('You wrote: hello')`)
	b.Until("end of both turns", `document.querySelector('.session[aria-current]')?.dataset.state === 'idle' && document.querySelector('#lines').textContent.includes('Unicode: ')`)
	b.write("ask")
	b.Do(browsertest.Enter())
	b.Until("question", `document.querySelector('.session[aria-current]')?.dataset.state === 'waiting' && document.querySelector('#prompt').textContent.includes('proceed?')`)
	b.Until("its reason", `document.querySelector('#lines').textContent.includes('make the release')`)
	b.Shot("wide")
	b.Do(chromedp.Click("#tab-screen"))
	b.Until("colours", `document.querySelector('#screen-rows .f6') && getComputedStyle(document.querySelector('#screen-rows .f6')).color === 'rgb(86, 191, 196)'`)
	b.Shot("wide-screen")

	b.Do(chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile))
	b.Until("narrow page with the list moved out", `innerWidth === 390 && document.documentElement.scrollWidth <= 390 && getComputedStyle(document.querySelector('#drawer')).visibility === 'hidden'`)
	b.Shot("phone-screen")
	b.Do(chromedp.Click("#tab-conversation"))
	b.Shot("phone")
	b.Do(chromedp.Click("#back"), chromedp.Click("#menu"))
	b.Until("list", `document.querySelector('#drawer').getBoundingClientRect().left === 0`)
	b.Shot("phone-list")
	b.choose("helper")
	b.Until("list moved out", `getComputedStyle(document.querySelector('#drawer')).visibility === 'hidden'`)
	b.Do(chromedp.EmulateViewport(1280, 900))
	b.Until("wide page", `innerWidth === 1280`)

	b.Do(chromedp.Click("[data-key=Escape]"))
	b.Until("answer to the question", `document.querySelector('#lines').textContent.includes('You canceled')`)
	b.Do(chromedp.Click("#more"), chromedp.Click("#close"), chromedp.WaitVisible("#close-dialog"), chromedp.Click("#close-confirm"))
	b.Until("end", `document.querySelector('.session[aria-current]')?.dataset.state === 'ended' && document.querySelector('#text').disabled && !document.querySelector('#close-dialog').open`)
}

// watching has the page remember what it shows only for a while: the lines that came, in
// their order, and how far each input got.
const watching = `(() => {
	window.came = [];
	new MutationObserver((changes) => {
		for (const { addedNodes } of changes) for (const e of addedNodes) if (e.matches('.line')) came.push({ n: Number(e.dataset.n), text: e.textContent });
	}).observe(document.querySelector('#lines'), { childList: true });
	window.receipts = new Set();
	new MutationObserver(() => {
		for (const e of document.querySelectorAll('.receipt')) receipts.add(e.dataset.state + ' ' + e.querySelector('.receipt-text').textContent);
	}).observe(document.querySelector('#receipts'), { subtree: true, childList: true, attributes: true });
	return true;
})()`

const lineCount = `document.querySelectorAll('#lines .line').length`

// choose opens a session from the list.
func (b *browser) choose(name string) {
	b.Helper()
	b.Do(chromedp.Click(`//button[contains(@class,"session")][.//span[text()="` + name + `"]]`))
	b.Until(name+" in the head", `document.querySelector('#name').textContent === '`+name+`'`)
	browsertest.Eval[bool](b.Browser, `came.length = 0, came.push(...Array.from(document.querySelectorAll('#lines .line'), (e) => ({ n: Number(e.dataset.n), text: e.textContent }))), true`)
}

// showsLines waits for that many lines, and sees that each came once and that
// they stand in order.
func (b *browser) showsLines(n int) {
	b.Helper()
	b.Until(fmt.Sprintf("%d lines", n), fmt.Sprintf("%s >= %d", lineCount, n))
	for what, got := range map[string][]string{
		"lines that came":  browsertest.Eval[[]string](b.Browser, `came.sort((a, b) => a.n - b.n).map((line) => line.text)`),
		"lines that stand": browsertest.Eval[[]string](b.Browser, `Array.from(document.querySelectorAll('#lines .line'), (e) => e.textContent)`),
	} {
		if len(got) != n {
			b.Errorf("%s: %d, want %d", what, len(got), n)
		}
		for i, line := range got {
			if want := fmt.Sprintf("line %d", i+1); line != want {
				b.Errorf("%s: number %d is %q, want %q", what, i+1, line, want)
				break
			}
		}
	}
	if gaps := browsertest.Eval[[]string](b.Browser, `Array.from(document.querySelectorAll('#lines .gap'), (e) => e.textContent)`); len(gaps) > 0 {
		b.Errorf("there are gaps: %q", gaps)
	}
}

// follows sees that the newest line is in view, and stays there: nobody has
// scrolled up.
func (b *browser) follows() {
	b.Helper()
	b.Until("newest line in view", `(() => { const s = document.querySelector('#scroller'); return s.scrollHeight - s.scrollTop - s.clientHeight < 2 && document.querySelector('#newest').hidden })()`)
}

// write types into the composer.
func (b *browser) write(text string) {
	b.Helper()
	b.Do(chromedp.SendKeys("#text", text))
}

// receipt waits until the page has shown that an input got that far. One that was
// submitted may be answered before the page looks again.
func (b *browser) receipt(state, text string) {
	b.Helper()
	shown := fmt.Sprintf("receipts.has(%q)", state+" "+text)
	if state == "submitted" {
		shown += fmt.Sprintf(" || receipts.has(%q)", "answered "+text)
	}
	b.Until(state+" receipt", shown)
}

// site is the program itself, in a process that can be killed, with a tmux
// server of its own.
type site struct {
	*daemon
	root    *testing.T // outlives the test's parts
	program string
	process **exec.Cmd // shared with the parts
}

func newSite(t *testing.T) *site {
	t.Helper()
	return newSiteOf(t, map[string]any{"listen": freeAddress(t)})
}

// newSiteOf is a site whose page has other settings.
func newSiteOf(t *testing.T, web map[string]any) *site {
	t.Helper()
	dir := shortTemp(t)
	s := &site{
		daemon:  &daemon{T: t, dir: dir, socket: filepath.Join(dir, "tmux"), api: client.New(filepath.Join(dir, "state", "panebridge.sock"))},
		root:    t,
		program: builtProgram(t), process: new(*exec.Cmd),
	}
	text, err := yaml.Marshal(map[string]any{
		"tmux":     map[string]any{"servers": []map[string]any{{"socket_path": s.socket}}},
		"adapters": map[string]any{"web": web},
		"agents":   map[string]any{"demo": map[string]any{"command": []string{s.program, "demo-agent"}}},
	})
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "config.yaml"), text, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { endTmux(s.socket) })
	s.start()
	t.Cleanup(s.kill)
	return s
}

// freeAddress returns one on which nothing listens. It's below the ports that
// systems give to outgoing connections: one of those could take it while the
// daemon is down.
func freeAddress(t *testing.T) string {
	t.Helper()
	for range 1000 {
		var lc net.ListenConfig
		l, err := lc.Listen(t.Context(), "tcp", fmt.Sprintf("127.0.0.1:%d", 10_000+rand.IntN(20_000)))
		if err != nil {
			continue
		}
		defer l.Close()
		return l.Addr().String()
	}
	t.Fatal("no free port")
	return ""
}

// in is the site for a part of the test.
func (s *site) in(t *testing.T) *site {
	t.Helper()
	part := *s
	d := *s.daemon
	d.T = t
	part.daemon = &d
	return &part
}

// start starts the daemon, and returns when all its parts are well.
func (s *site) start() {
	s.Helper()
	said, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		s.Fatal(err)
	}
	defer said.Close()
	cmd := exec.Command(s.program, "run", "--config", filepath.Join(s.dir, "config.yaml"), "--state-dir", filepath.Join(s.dir, "state"))
	cmd.Stdout, cmd.Stderr = said, said
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	*s.process = cmd
	s.awaitTmux()
}

// kill kills the daemon, if it runs.
func (s *site) kill() {
	if cmd := *s.process; cmd != nil {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		*s.process = nil
	}
	if s.root.Failed() {
		said, _ := os.ReadFile(filepath.Join(s.dir, "log"))
		s.root.Logf("the daemon said:\n%s", said)
	}
}

// stop ends the daemon as Ctrl-C does, with the page still open.
func (s *site) stop() {
	s.Helper()
	cmd := *s.process
	*s.process = nil
	_ = cmd.Process.Signal(os.Interrupt)
	defer time.AfterFunc(patience, func() { _ = cmd.Process.Kill() }).Stop()
	if err := cmd.Wait(); err != nil {
		s.Errorf("the daemon ended with %v", err)
	}
}

// url is what the daemon gives to people.
func (s *site) url() string {
	s.Helper()
	out, err := exec.Command(s.program, "status", "--url", "--state-dir", filepath.Join(s.dir, "state")).CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	return strings.TrimSpace(string(out))
}

// functions are for the programs in the panes.
const functions = `
	await() { until [ -e "$1" ]; do sleep 0.05; done; } # a file that the test makes
	lines() { # from $1 to $2, with a pause after each $3
		i=$1
		while [ $i -le $2 ]; do
			echo "line $i"
			[ $((i % $3)) -ne 0 ] || sleep 0.02
			i=$((i + 1))
		done
	}
`

// session makes a session that runs a script in a folder of its own.
func (s *site) session(name, script string) string {
	s.Helper()
	dir := filepath.Join(s.dir, name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		s.Fatal(err)
	}
	if _, err := s.api.NewSession(s.ctx(), api.Create{Name: name, Cwd: dir, Command: []string{"sh", "-c", functions + script}}); err != nil {
		s.Fatal(err)
	}
	return dir
}

// signal makes a file for which a script waits.
func signal(t *testing.T, dir, name string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func exists(dir, name string) bool {
	_, err := os.Stat(filepath.Join(dir, name))
	return err == nil
}
