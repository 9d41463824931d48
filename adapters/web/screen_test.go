package web_test

import (
	"fmt"
	"math"
	"slices"
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
	t.Parallel()
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

// What stands in a column of the pane stands in one on the page, whatever fonts draw characters of two cells and signs with.
func TestColumnsStandBelowEachOther(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "")
	rows := []string{"abcdef│", "日本語│", "🙂日🙂│", "⏺ ✻ ❯ │", "→←↑↓✓✗│", "\x1b[7m日\x1b[0mabcd│", "─┬┴┼█▌│"}
	s.daemon.SetScreen(id, sessions.Screen{Width: 20, Height: len(rows), Rows: rows})
	for _, width := range []int{1280, 390} {
		b := browse(t, width, 844)
		b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
		b.Until("the screen", `document.querySelector('#screen-rows').textContent.includes('日本語')`)
		at := browsertest.Eval[[]float64](b, `[...document.querySelectorAll('#screen-rows > div')].map((row) => {
			const last = document.createTreeWalker(row, NodeFilter.SHOW_TEXT), texts = [];
			while (last.nextNode()) texts.push(last.currentNode);
			const text = texts.find((t) => t.data.includes('│')), range = document.createRange();
			range.setStart(text, text.data.indexOf('│'));
			range.setEnd(text, text.data.indexOf('│') + 1);
			return range.getBoundingClientRect().left;
		})`)
		b.Shot(fmt.Sprint("columns-", width))
		for i, x := range at {
			if math.Abs(x-at[0]) > 0.6 {
				t.Errorf("%d pixels wide: the column of %q is at %.1f, that of %q at %.1f", width, rows[i], x, rows[0], at[0])
			}
		}
	}
}

// Columns stay in their order where words in them are written from right to left, and nothing turns what stands behind it.
func TestColumnsStayInTheirOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "")
	rows := []string{"│ab│cd│ef", "│אב│גד│הו", "│اب│دذ│رز", "│a\u202eb│cd│ef", "אב  גד  הו"}
	s.daemon.SetScreen(id, sessions.Screen{Width: 20, Height: len(rows), Rows: rows})
	b := browse(t, 1280, 844)
	b.Do(s.open(), chromedp.WaitVisible("#foot"), chromedp.Click("#tab-screen"))
	b.Until("the screen", `document.querySelector('#screen-rows').textContent.includes('cd')`)
	b.Shot("right-to-left")
	firsts := browsertest.Eval[[][]float64](b, `[...document.querySelectorAll('#screen-rows > div')].slice(0, 5).map((row) => {
		const walk = document.createTreeWalker(row, NodeFilter.SHOW_TEXT), at = [];
		while (walk.nextNode()) [...walk.currentNode.data].forEach((letter, i) => {
			if (!'aceאגהادر'.includes(letter)) return;
			const range = document.createRange();
			range.setStart(walk.currentNode, i);
			range.setEnd(walk.currentNode, i + 1);
			at.push(range.getBoundingClientRect().left);
		});
		return at;
	})`)
	for i, at := range firsts {
		if len(at) != 3 || !slices.IsSorted(at) {
			t.Errorf("the columns of %q begin at %v", rows[i], at)
		}
	}
	if a, z := browsertest.Eval[float64](b, letterAt(3, "b")), firsts[3][0]; a < z {
		t.Errorf("of %q the second letter stands at %v, the first at %v", rows[3], a, z)
	}
}

// letterAt is where a letter of a row on the screen begins.
func letterAt(row int, letter string) string {
	return fmt.Sprintf(`(() => {
		const walk = document.createTreeWalker(document.querySelectorAll('#screen-rows > div')[%d], NodeFilter.SHOW_TEXT), range = document.createRange();
		while (walk.nextNode() && !walk.currentNode.data.includes(%[2]q));
		range.setStart(walk.currentNode, walk.currentNode.data.indexOf(%[2]q));
		range.setEnd(walk.currentNode, walk.currentNode.data.indexOf(%[2]q) + 1);
		return range.getBoundingClientRect().left;
	})()`, row, letter)
}
