package demotest_test

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
)

// Size of a wide picture, in pixels.
const wide, high = 1200, 800

// Each demo does what it says one can do, is ended by Ctrl-C, and leaves nothing behind.
func TestDemos(t *testing.T) {
	if os.Getenv("PANEBRIDGE_SCREENSHOTS") == "" && os.Getenv("PANEBRIDGE_STRESS") == "" {
		t.Skip("builds programs and starts browsers: for make pictures and make stress")
	}
	dir := folder(t)
	build(t, dir)
	t.Run("page", func(t *testing.T) {
		// The demo takes another port if its usual one isn't free: so it needn't be.
		if l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:7333"); err == nil {
			defer func() { _ = l.Close() }()
		}
		d := start(t, dir, "bin/panebridge", "demo", "--state-dir", filepath.Join(dir, "demo"))
		b := browse(t, d, wide, high)
		b.Do(chromedp.WaitVisible(".session"), chromedp.Click(".session"), chromedp.WaitVisible("#foot"))
		converse(b, conversation{lines: "#lines", button: "#prompt button", write: func(text string) {
			b.Do(chromedp.SendKeys("#text", text), browsertest.Enter())
		}})
		b.Shot("page")
		b.Do(browsertest.Phone(1), chromedp.Reload())
		b.Until("the question", button("#prompt button", "Yes"))
		settle(b)
		b.Shot("page-phone")
		onAPhone(b, dir)
	})
	for platform, place := range map[string]string{"telegram": "a topic", "discord": "a thread"} {
		t.Run(platform, func(t *testing.T) {
			b := browse(t, start(t, dir, "bin/chatdemo", "-platform", platform), browsertest.PhoneWidth, browsertest.PhoneHeight)
			const demo = `[...document.querySelectorAll('.entry.inside')].find((e) => e.querySelector('strong').textContent === 'demo')`
			b.Until(place+" for the session", demo)
			browsertest.Eval[any](b, demo+`.click()`)
			b.Do(chromedp.WaitVisible("#text"))
			converse(b, conversation{lines: "#messages", button: ".key", write: func(text string) {
				b.Do(chromedp.SendKeys("#text", text), chromedp.Click("#send"))
			}})
			b.Shot(platform)
		})
	}
}

// onAPhone goes from the session to the inbox, answers its question there, and goes back to
// the session, all of it by fingers.
func onAPhone(b *browsertest.Browser, dir string) {
	for name, script := range map[string]string{
		"tests": `echo 'ok  214 tests in 38 s'; exec sleep 600`,
		"docs":  `for page in $(seq 600); do echo "page $page of 600"; sleep 1; done`,
	} {
		cmd := exec.CommandContext(b.Context(), filepath.Join(dir, "bin/panebridge"), "--state-dir", filepath.Join(dir, "demo"), "sessions", "new", "--name", name, "--", "sh", "-c", script)
		cmd.Dir = filepath.Join(dir, "site")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v\n%s", err, out)
		}
	}
	b.Tap("the way back", `document.querySelector('#back')`)
	b.Until("all sessions in the inbox", `document.querySelectorAll('.card').length === 3`)
	b.Until("the question there", button(".card .prompt button", "Yes"))
	settle(b)
	b.Shot("page-phone-inbox")
	b.Tap("Yes", button(".card .prompt button", "Yes"))
	b.Until("that nothing waits", `!document.querySelector('.card[data-group=waits]')`)
	b.Tap("the session", `[...document.querySelectorAll('.card-link')].find((e) => e.querySelector('.card-name').textContent === 'demo')`)
	b.Until("what it did then", `document.querySelector('#lines').innerText.includes('You allowed it')`)
	settle(b)
	b.Shot("page-phone-conversation")
}

// conversation is where one is held with the demo's agent: selectors of what's said there and of
// buttons, and how one writes.
type conversation struct {
	lines, button string
	write         func(text string)
}

// converse writes what the demos say one can write, and leaves the last question open.
func converse(b *browsertest.Browser, c conversation) {
	says := func(text string) string {
		return fmt.Sprintf(`document.querySelector(%q).innerText.includes(%q)`, c.lines, text)
	}
	c.write("Is it ready for a release?")
	b.Until("the answer", says("You wrote: Is it ready for a release?"))
	c.write("help")
	b.Until("the list of what it knows", says("anything else: you get it back"))
	c.write("choose")
	b.Until("the question which it shall be", button(c.button, "Green"))
	browsertest.Eval[any](b, button(c.button, "Green")+`.click()`)
	b.Until("what was chosen", says("You chose option 1: Green"))
	c.write("ask")
	b.Until("the question whether it may", button(c.button, "Yes"))
	settle(b)
}

// button is the last button with an option that takes clicks, as an expression.
func button(selector, option string) string {
	return fmt.Sprintf(`[...document.querySelectorAll(%q)].findLast((b) => !b.disabled && b.innerText.trim().endsWith(%q))`, selector, option)
}

// settle waits until what moves has come to rest, and what comes a little later has come.
func settle(b *browsertest.Browser) { b.Do(chromedp.Sleep(4 * time.Second)) }

// folder is one for the demos, whose path is short enough for sockets.
func folder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pb-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Mkdir(filepath.Join(dir, "site"), 0o700); err != nil { // where the demo's sessions are
		t.Fatal(err)
	}
	return dir
}

func build(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "bin")+"/", "../../cmd/panebridge", "../../cmd/chatdemo")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// demo is a demo that runs, and what it has printed.
type demo struct {
	mu   sync.Mutex
	said strings.Builder
}

// Write takes what it prints.
func (d *demo) Write(p []byte) (int, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.Write(p)
}

func (d *demo) text() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.said.String()
}

// start starts a demo, which is ended with the test as somebody does by Ctrl-C.
func start(t *testing.T, dir string, command ...string) *demo {
	t.Helper()
	d := &demo{}
	cmd := exec.Command(filepath.Join(dir, command[0]), command[1:]...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PANEBRIDGE_STATE_DIR=", "PANEBRIDGE_CONFIG=", "TMUX=", "TMPDIR="+dir, "HOME="+filepath.Join(dir, "site"))
	cmd.Stdout, cmd.Stderr = io.Writer(d), io.Writer(d)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil || t.Failed() {
			t.Errorf("the demo has ended with %v and said:\n%s", err, d.text())
		}
		if out, err := exec.Command("tmux", "-S", filepath.Join(dir, "demo", "tmux.sock"), "list-sessions").CombinedOutput(); err == nil {
			t.Errorf("its tmux server still has:\n%s", out)
		}
		if left, err := filepath.Glob(filepath.Join(dir, "panebridge-*")); err != nil || len(left) > 0 {
			t.Errorf("it left %q, %v", left, err)
		}
	})
	return d
}

// browse opens the address that the demo prints.
func browse(t *testing.T, d *demo, width, height int) *browsertest.Browser {
	t.Helper()
	address := regexp.MustCompile(`http://127\.0\.0\.1:\d+/\S+`)
	for end := time.Now().Add(time.Minute); !address.MatchString(d.text()); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("the demo printed no address:\n%s", d.text())
		}
	}
	b := browsertest.New(t, width, height)
	b.Ignore("favicon")
	b.AwayAtTimes()
	b.Do(chromedp.Navigate(address.FindString(d.text())))
	return b
}
