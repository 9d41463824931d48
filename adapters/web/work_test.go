package web_test

import (
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// seenWork is what can be seen of a conversation, one below the other.
const seenWork = `[...document.querySelectorAll('#lines > *')].filter((l) => l.checkVisibility()).map((l) => {
	const card = l.querySelector('.tool-card');
	const line = l.querySelector('.work-line');
	return [line?.textContent, card?.checkVisibility() ? card.querySelector('.tool-arg').textContent : !line && !card && l.textContent].filter(Boolean).join(' + ');
})`

func wantWork(t *testing.T, b *browsertest.Browser, want ...string) {
	t.Helper()
	text := "["
	for i, w := range want {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf("%q", w)
	}
	b.Until(fmt.Sprint(want), `JSON.stringify(`+seenWork+`) === `+fmt.Sprintf("%q", text+"]"))
}

// On a device less of the work can be shown: cards are counted in one line that opens them, or hidden, and what agents
// think is there for who wants it. It's kept, and what comes is shown so, too.
func TestLessOfTheWork(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Block(id, sessions.KindAnswer, "I look.")
	s.daemon.Block(id, sessions.KindThought, "∴ Where is it?")
	call := func(n int, name, about string, failed bool) {
		s.daemon.Tool(id, fmt.Sprintf("⚙ %s: %s", name, about), toolCall(fmt.Sprint(n), name, map[string]any{"command": about}))
		mark := "  "
		if failed {
			mark = "✗ "
		}
		s.daemon.Tool(id, mark+"out", toolResult(fmt.Sprint(n), name, "out", "", failed))
	}
	call(1, "Bash", "make", true)
	call(2, "Read", "/a.go", false)
	s.daemon.Block(id, sessions.KindAnswer, "Now the tests.")
	call(3, "Bash", "go test", false)
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible(".tool-card"))
	wantWork(t, b, "I look.", "make", "/a.go", "Now the tests.", "go test")
	choose := func(what, extent string) {
		b.Do(chromedp.Click("#more"), chromedp.Click("#work"), chromedp.WaitVisible("#work-"+what))
		browsertest.Eval[string](b, `(() => { const s = document.getElementById('work-`+what+`'); s.value = '`+extent+`'; s.dispatchEvent(new Event('change')); return ''; })()`)
		b.Do(chromedp.Click("#work-dialog .button"), chromedp.WaitNotVisible("#work-dialog"))
	}
	choose("tools", "brief")
	wantWork(t, b, "I look.", "read 1 file, ran 1 command · 1 failed", "Now the tests.", "ran 1 command")
	b.Shot("work-brief")
	call(4, "Edit", "/b.go", false)
	wantWork(t, b, "I look.", "read 1 file, ran 1 command · 1 failed", "Now the tests.", "ran 1 command, edited 1 file")
	b.Do(chromedp.Focus(".work-line"), browsertest.Enter())
	wantWork(t, b, "I look.", "read 1 file, ran 1 command · 1 failed + make", "/a.go", "Now the tests.", "ran 1 command, edited 1 file")
	b.Shot("work-unfolded")
	b.Do(chromedp.Reload(), chromedp.WaitVisible(".work-line"))
	wantWork(t, b, "I look.", "read 1 file, ran 1 command · 1 failed", "Now the tests.", "ran 1 command, edited 1 file")
	b.Do(browsertest.Phone(1))
	b.Shot("work-phone")
	b.Do(chromedp.EmulateViewport(1280, 800))
	choose("thinking", "all")
	wantWork(t, b, "I look.", "∴ Where is it?", "read 1 file, ran 1 command · 1 failed", "Now the tests.", "ran 1 command, edited 1 file")
	choose("tools", "none")
	wantWork(t, b, "I look.", "∴ Where is it?", "Now the tests.")
	call(5, "Bash", "make", false)
	s.daemon.Block(id, sessions.KindAnswer, "Done.")
	wantWork(t, b, "I look.", "∴ Where is it?", "Now the tests.", "Done.")
	choose("tools", "all")
	choose("thinking", "none")
	wantWork(t, b, "I look.", "make", "/a.go", "Now the tests.", "go test", "/b.go", "make", "Done.")
}
