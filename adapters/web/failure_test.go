package web_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const seenLog = `[...document.querySelectorAll('#lines > *')].filter((l) => !l.hidden).map((l) => l.innerText).join('|')`

// A turn that failed says so and why where it ended, also if others ended behind it, the page
// was opened later, or it had no lines.
func TestFailedTurnsAreShownWhereTheyEnded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Turn(id, true)
	s.daemon.FailTurn(id, "no key")
	turn := func(line string) {
		s.daemon.Turn(id, true)
		s.daemon.Append(id, sessions.KindTool, line)
	}
	turn("first")
	s.daemon.FailTurn(id, "API Error: <b>Overloaded</b>")
	b := browse(t, 390, 844)
	b.Do(s.open())
	want := "failed: no key|first|failed: API Error: <b>Overloaded</b>"
	b.Until("the failures of before", seenLog+` === `+strconv.Quote(want))
	turn("second")
	s.daemon.FailTurn(id, "no more credit")
	turn("third")
	s.daemon.Turn(id, false)
	s.daemon.Turn(id, true)
	s.daemon.FailTurn(id, "again")
	s.daemon.Gap(id, 2, "the terminal was cleared")
	turn("fourth")
	want += "|second|failed: no more credit|third|failed: again|at least 2 lines missing: the terminal was cleared|fourth"
	b.Until("those that came", seenLog+` === `+strconv.Quote(want))
	b.Shot("failed-turn")
	b.Do(chromedp.Reload())
	b.Until("the same again", seenLog+` === `+strconv.Quote(want))
	if browsertest.Eval[int](b, `document.querySelectorAll('#lines b').length`) != 0 {
		t.Error("what the program says is HTML")
	}
}

// They're where they belong, too, in a window of lines that goes up and down a long log.
func TestFailedTurnsOfALongLog(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	const turns = 130
	for i := range turns {
		s.daemon.Turn(id, true)
		s.daemon.Append(id, sessions.KindTool, make([]string, 50)...)
		if i%2 == 0 {
			s.daemon.FailTurn(id, "no")
		} else {
			s.daemon.Turn(id, false)
		}
	}
	b := browse(t, 1280, 800)
	b.Do(s.open())
	// right says whether each failed turn whose end is in the window is there, behind its line, once.
	const right = `(() => {
		const lines = [...document.querySelectorAll('#lines .line')].map((l) => Number(l.dataset.n));
		const ends = lines.filter((n) => n % 100 === 50).join();
		return lines.length > 0 && ends === [...document.querySelectorAll('#lines .failure')].map((f) => f.previousSibling?.dataset.n).join();
	})()`
	b.Until("the newest", right+` && document.querySelector('#lines').lastChild.dataset.n === '6500'`)
	b.Until("the oldest", `(document.querySelector('#scroller').scrollTop = 0, document.querySelector('#lines .line').dataset.n === '1') && `+right)
	b.Do(chromedp.Click("#newest"))
	b.Until("the newest again", right+` && document.querySelector('#lines').lastChild?.dataset.n === '6500'`)
}

// A session that has printed nothing isn't a blank page.
func TestASessionWithoutLinesSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	b := browse(t, 390, 844)
	b.Do(s.open())
	const says = `(() => {
		const before = getComputedStyle(document.querySelector('#lines'), '::before');
		return before.visibility === 'visible' && before.content.includes('Nothing was printed so far');
	})()`
	b.Until("the session", `document.querySelector('#name').textContent === 'one'`)
	b.Until("that there's nothing", says)
	b.Shot("without-lines")
	s.daemon.Known(id, "✢ Osmosing… (3s)")
	b.Until("no such words beside what it's doing", `!`+says)
	s.daemon.Known(id, "")
	s.daemon.Append(id, sessions.KindTool, "a line")
	b.Until("the line", `!`+says+` && document.querySelectorAll('#lines .line').length === 1`)
}
