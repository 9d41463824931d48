package web_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// tall is a screen of 60 rows, as they are in a big terminal, with a prompt in the row of that
// number, the cursor behind it, and nothing below.
func tall(prompt int) sessions.Screen {
	s := sessions.Screen{Width: 80, Height: 60, Rows: make([]string, 60), CursorX: 2, CursorY: prompt, CursorVisible: true}
	for y := range prompt {
		s.Rows[y] = fmt.Sprint("row ", y)
	}
	s.Rows[prompt] = "$ "
	return s
}

const (
	terminal = `document.querySelector('.terminal')`
	cursor   = `document.querySelector('#screen-rows .cursor')`
	// inView says that all of the cursor's cell is on the screen.
	inView = `((c, t) => c && c.top >= t.top && c.bottom <= t.bottom && c.width > 0)(` + cursor + `?.getBoundingClientRect(), ` + terminal + `.getBoundingClientRect())`
)

// The screen opens where its prompt is, with the cursor, and stays there while the program goes
// on; whoever scrolls away stays where he is.
func TestScreenOpensAtItsPrompt(t *testing.T) {
	s := newSite(t)
	id := s.daemon.Add("one", "")
	s.daemon.SetScreen(id, tall(59))
	b := browse(t, 390, 844)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
	b.Until("the prompt", inView)
	if text := browsertest.Eval[string](b, `document.querySelector('#screen-rows').textContent`); !strings.HasSuffix(text, "row 58\n$  \n") {
		t.Errorf("the screen is %q", text)
	}
	b.Shot("screen-phone")
	if width, height := browsertest.Eval[int](b, terminal+`.clientWidth`), browsertest.Eval[int](b, `document.querySelector('.secrets').offsetHeight`); width < 390 || height > 44 {
		t.Errorf("the terminal is %d pixels wide on a phone of 390; what's beside it is %d pixels high", width, height)
	}

	// A prompt that stands higher up is followed there, and down again.
	for _, y := range []int{10, 59} {
		s.daemon.SetScreen(id, tall(y))
		s.daemon.Live(id, fmt.Sprint("at ", y))
		b.Until(fmt.Sprint("the prompt in row ", y), fmt.Sprintf(`document.querySelector('#screen-rows').textContent.split('\n')[%d].startsWith('$') && %s`, y, inView))
	}
	browsertest.Eval[int](b, terminal+`.scrollTop = 0`)
	s.daemon.SetScreen(id, tall(58))
	s.daemon.Live(id, "elsewhere")
	b.Until("the new screen", `document.querySelector('#screen-rows').textContent.split('\n')[58].startsWith('$')`)
	if top := browsertest.Eval[int](b, terminal+`.scrollTop`); top != 0 {
		t.Errorf("whoever scrolled to the top is taken to %d", top)
	}
	b.Do(chromedp.Click("#tab-conversation"), chromedp.Click("#tab-screen"))
	b.Until("the prompt, when it's opened again", inView)

	// Programs that hide the cursor draw one of their own: the last row that has something is
	// what's looked at.
	hidden := tall(59)
	hidden.CursorVisible = false
	s.daemon.SetScreen(id, hidden)
	s.daemon.Live(id, "hidden")
	b.Until("no cursor", `!`+cursor)
	if browsertest.Eval[float64](b, terminal+`.scrollHeight - `+terminal+`.scrollTop - `+terminal+`.clientHeight`) > 2 {
		t.Error("the last row isn't in view")
	}
}
