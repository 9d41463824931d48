package app_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/browsertest"
)

// What real agent programs do is on the page as a document: a table, what they ask with its buttons, which answer it,
// and the change that was allowed, line by line.
func TestLivePage(t *testing.T) {
	eachLiveAgent(t, func(t *testing.T, name string, random *rand.Rand) {
		t.Helper()
		if !slices.Contains([]string{"claude", "codex"}, name) {
			t.Skip("Claude Code and Codex are looked at")
		}
		m := liveMode{agent: name, width: 100, height: 40, hooks: agentlab.Agents()[name].Hooks, orders: true, page: true}
		k := promptRigOf(t, m, random)
		if err := k.run.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		address, err := k.api.NewAddress(k.ctx())
		k.must(err)
		b := &browser{browsertest.New(t, 1280, 800)}
		b.Do(chromedp.Navigate(address.URL), chromedp.WaitVisible("#inbox .card"))
		k.readsTable(b)
		k.answersOnPage(b, name)
		k.asksOnPage(b, name)
		k.crowds(b, address.URL)
	})
}

// crowds looks at the inbox with fifty sessions, of which the agent's asks something, and at the page without a daemon.
func (k *promptRig) crowds(b *browser, address string) {
	k.Helper()
	for i := range 49 {
		_, err := k.api.NewSession(k.ctx(), api.Create{Name: fmt.Sprint("shell ", i+1), Cwd: k.run.Cwd, Command: []string{"sh", "-c", "echo ready; exec cat"}})
		k.must(err)
	}
	k.plain(momentIdle, k.word("edit"))
	k.await("question", func() bool { return len(k.seen.open()) == 1 })
	b.Do(chromedp.Navigate(strings.SplitAfter(address, "/")[0] + "//" + strings.Split(address, "/")[2] + "/"))
	b.Until("all sessions, and the question", `document.querySelectorAll('.session').length >= 50 && document.querySelector('#inbox .prompt button:enabled')`)
	k.shots(b, "fifty")
	b.AwayAtTimes()
	k.kill()
	b.Until("that the daemon is away", `!document.querySelector('#connection').hidden`)
	k.shots(b, "away")
	b.Do(chromedp.Navigate("about:blank"))
}

func (k *promptRig) opensPage(b *browser) {
	k.Helper()
	browsertest.Eval[bool](b.Browser, fmt.Sprintf(`location.hash = %q, true`, "#"+string(k.id)))
	b.Until("the conversation", `!document.querySelector('#scroller')?.hidden && document.querySelector('#inbox').hidden`)
}

func (k *promptRig) readsTable(b *browser) {
	k.Helper()
	k.plain(momentIdle, k.word("table"))
	k.calm()
	k.opensPage(b)
	b.Until("a table, a list and code in colours", `document.querySelector('#lines table td')?.textContent.trim() === 'send' &&
		document.querySelector('#lines li .md-bold') && document.querySelector('#lines .md-pre span')`)
	k.shots(b, "table")
}

// answersOnPage allows a change by the page's button, and looks at it.
func (k *promptRig) answersOnPage(b *browser, name string) {
	k.Helper()
	o := k.word("edit")
	k.plain(momentIdle, o)
	k.await("question", func() bool { return len(k.seen.open()) == 1 })
	p := k.seen.open()[0]
	b.Until("the question's buttons", fmt.Sprintf(`document.querySelectorAll('#prompt:not([data-moving]) .prompt-option:enabled').length === %d`, len(p.Options)))
	for i, option := range p.Options {
		if shown := browsertest.Eval[string](b.Browser, fmt.Sprintf(`document.querySelectorAll('#prompt .prompt-label')[%d].textContent`, i)); !strings.HasPrefix(shown, option.Label) {
			k.Errorf("%s: button %d is %q, want %q", o, i+1, shown, option.Label)
		}
	}
	k.shots(b, "question")
	browsertest.Eval[bool](b.Browser, `document.activeElement.blur(), true`)
	b.Do(chromedp.KeyEvent("1"))
	b.Until("who answered", `/This page answered/.test(document.querySelector('#prompt').textContent)`)
	k.calm()
	text, err := os.ReadFile(filepath.Join(k.run.Cwd, "notes.txt"))
	k.must(err)
	if !strings.Contains(string(text), o.tag) {
		k.Errorf("%s: the file is\n%s\nscreen:\n%s", o, text, k.screen(k.Context()))
	}
	b.Until("the tool's card", `document.querySelector('#lines details.tool-card')`)
	browsertest.Eval[bool](b.Browser, `[...document.querySelectorAll('#lines details.tool-card')].at(-1).querySelector('summary').click(), true`)
	b.Until(name+"'s change", fmt.Sprintf(`[...document.querySelectorAll('#lines .diff *')].some((e) => e.textContent.includes(%q))`, o.tag))
	k.shots(b, "diff")
}

// asksOnPage answers a question of the agent's own on the page, if it has a tool for that.
func (k *promptRig) asksOnPage(b *browser, name string) {
	k.Helper()
	if name != "claude" {
		return
	}
	o := k.word("ask")
	k.plain(momentIdle, o)
	choices := agentlab.OrderChoices(o.tag)
	b.Until("the choices", fmt.Sprintf(`[...document.querySelectorAll('#prompt .prompt-label')].some((l) => l.textContent.startsWith(%q)) && document.querySelector('#prompt button:enabled')`, choices[1]))
	k.shots(b, "choices")
	browsertest.Eval[bool](b.Browser, `document.activeElement.blur(), true`)
	b.Do(chromedp.KeyEvent("2"))
	k.calm()
	if results := strings.Join(k.run.Model.Results(o.tag), "\n"); !strings.Contains(results, choices[1]) {
		k.Errorf("%s: the model was told %q", o, results)
	}
	b.Do(chromedp.Navigate("about:blank"))
}

// shots has pictures taken of both sizes.
func (k *promptRig) shots(b *browser, what string) {
	k.Helper()
	for _, size := range [][2]int64{{390, 844}, {1280, 800}} {
		b.Do(chromedp.EmulateViewport(size[0], size[1]))
		b.Shot(fmt.Sprintf("live-%s-%s-%d", k.mode.agent, what, size[0]))
	}
}
