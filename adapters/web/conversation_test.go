package web_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// conversation is of what agents write: headings, lists, code, a table, text of other scripts.
const conversation = "## What I found\n\nThe retry loop **never** sleeps: `retry()` calls `send()` at once.\n\n" +
	"1. Sleep between tries\n2. Give up after five\n   - and say why\n\n" +
	"```go\nfunc retry(ctx context.Context) error {\n\tfor i := range 5 { // five tries\n\t\tif err := send(ctx, \"a long text that goes on and on so that it doesn't fit into a phone\"); err == nil {\n\t\t\treturn nil\n\t\t}\n\t}\n\treturn errGivenUp\n}\n```\n\n" +
	"| file | lines | change |\n|:-----|------:|:------:|\n| `retry.go` | 48 | **new** |\n| `send.go` | 1203 | [see](https://example.com/send) |\n\n" +
	"> It was so since the first version.\n\n- [x] tests pass\n- [ ] documentation\n\nمرحبا بالعالم، هذا نص من اليمين.\n\n日本語の文章も正しく折り返されるべきです。https://example.com/日本"

// A conversation has bubbles, answers as documents, turns with their length, and where what's new begins.
func TestAConversation(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("refactor", "claude")
	for i := range 3 {
		s.daemon.Turn(id, true)
		s.daemon.Block(id, sessions.KindUser, fmt.Sprintf("please look why the upload hangs (%d)\nand mend it", i))
		s.daemon.Block(id, sessions.KindTool, "Read: retry.go")
		s.daemon.Block(id, sessions.KindAnswer, conversation)
		s.daemon.Turn(id, false)
		s.daemon.LastTurn(id, func(t *sessions.PlacedTurn) { t.StartedAt = t.EndedAt.Add(-time.Duration(i+1) * 65 * time.Second) })
	}
	for _, size := range [][2]int{{1280, 800}, {390, 844}} {
		b := browse(t, size[0], size[1])
		b.Do(s.open())
		b.Until("the answers", `document.querySelectorAll('#lines .line[data-drawn]').length === 3`)
		b.Until("the turns' ends", `[...document.querySelectorAll('.turn-end')].map((e) => e.textContent.split(' · ')[0]).join() === 'Done in 1 min 5 s,Done in 2 min 10 s,Done in 3 min 15 s'`)
		s.daemon.Known(id, "✢ Osmosing… (3s)", "Now I'm looking at", "the tests")
		b.Until("what it does", `document.querySelector('#live').checkVisibility()`)
		for _, scheme := range []string{"light", "dark"} {
			b.Do(browsertest.Scheme(scheme))
			b.Shot(fmt.Sprintf("conversation-%d-%s", size[0], scheme))
		}
		if got := browsertest.Eval[string](b, `[...document.querySelectorAll('.line.answer')][0].querySelector('table').innerText`); got != "file\tlines\tchange\nretry.go\t48\tnew\nsend.go\t1203\tsee" {
			t.Errorf("the table is %q", got)
		}
		if wide := browsertest.Eval[bool](b, `document.querySelector('#scroller').scrollWidth > document.querySelector('#scroller').clientWidth`); wide {
			t.Errorf("%d pixels: the conversation scrolls sideways", size[0])
		}
		browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop -= 100`)
		b.Do(chromedp.Click("#turn-before"))
		b.Until("the third turn", `(() => { const top = document.querySelector('#scroller').getBoundingClientRect().top; const bubble = document.querySelectorAll('.line.user[data-begins]')[2].getBoundingClientRect().top; return Math.abs(bubble - top - 12) < 3; })()`)
		b.Shot(fmt.Sprintf("conversation-%d-turn", size[0]))
		b.Do(chromedp.Click("#turn-before"))
		b.Until("the second turn", `(() => { const top = document.querySelector('#scroller').getBoundingClientRect().top; const bubble = document.querySelectorAll('.line.user[data-begins]')[1].getBoundingClientRect().top; return Math.abs(bubble - top - 12) < 3; })()`)
		b.Do(chromedp.Click("#turn-list"), chromedp.WaitVisible(".turn-entry"))
		b.Shot(fmt.Sprintf("conversation-%d-turns", size[0]))
		b.Do(chromedp.Click(".turn-entry[data-turn='1']"))
		b.Until("the first turn", `(() => { const top = document.querySelector('#scroller').getBoundingClientRect().top; const bubble = document.querySelectorAll('.line.user[data-begins]')[0].getBoundingClientRect().top; return Math.abs(bubble - top) < 40; })()`)
		s.daemon.Known(id, "")
	}
}

// Who comes back sees where what's new begins, and how much it is; who looked to the end sees no such
// mark.
func TestWhatIsNewSinceSomebodyLooked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	turn := func(lines ...string) {
		s.daemon.Turn(id, true)
		s.daemon.Append(id, sessions.KindPane, lines...)
		s.daemon.Turn(id, false)
	}
	turn("first", "second")
	b := browse(t, 1280, 800)
	b.Do(s.open())
	has := func(lines int) string {
		return fmt.Sprintf(`document.querySelector('#lines > [data-n]:last-of-type')?.dataset.n === '%d'`, lines)
	}
	const mark = `(document.querySelector('.unread')?.textContent ?? '') + '|' + (document.querySelector('.unread')?.nextSibling?.dataset.n ?? '')`
	b.Until("its lines", has(2))
	s.daemon.Append(id, sessions.KindPane, "third")
	b.Until("another", has(3))
	b.Do(chromedp.Reload())
	b.Until("its lines again", has(3))
	if got := browsertest.Eval[string](b, mark); got != "|" {
		t.Errorf("it says %q though all was looked at", got)
	}
	away := browsertest.Eval[string](b, `location.href`)
	b.Do(chromedp.Navigate("about:blank"))
	turn("fourth")
	turn("fifth", "sixth")
	b.Do(chromedp.Navigate(away))
	b.Until("where it's new", mark+` === '2 new turns since you looked|4'`)
	b.Shot("unread")
	b.Do(chromedp.Sleep(100*time.Millisecond), chromedp.Navigate("about:blank"))
	turn(texts(7, 3000)...)
	b.Do(chromedp.Navigate(away))
	b.Until("the button", `!document.querySelector('#unread').hidden && document.querySelector('#unread').textContent === '↑ New since you looked'`)
	b.Do(chromedp.Click("#unread"))
	b.Until("where it's new, far up", mark+` === 'New since you looked|7' && Math.abs(document.querySelector('.unread').getBoundingClientRect().top - document.querySelector('#scroller').getBoundingClientRect().top) < 100 && document.querySelector('#unread').hidden`)
}

// Who goes up while lines come stays there, at whatever moment it is.
func TestGoingUpWhileLinesCome(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Append(id, sessions.KindPane, texts(1, 400)...)
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("its lines", lineCount+` === 400`)
	ended, stop := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for n := 401; ; n++ {
			select {
			case <-stop:
				return
			case <-time.After(4 * time.Millisecond):
				s.daemon.Block(id, sessions.KindAnswer, fmt.Sprintf("**answer** %d", n)) // drawn when the server has said how
			}
		}
	}()
	const up = `(() => {
		document.querySelector('#newest').click();
		return new Promise((resolve) => setTimeout(() => {
			document.querySelector('#scroller').scrollTop = 600;
			setTimeout(() => { window.at = document.querySelector('#scroller').scrollTop; resolve(0); }, 150);
		}, %d));
	})()`
	for i := range 15 {
		browsertest.Eval[string](b, `(delete window.at, '')`)
		browsertest.Eval[string](b, `(`+fmt.Sprintf(up, 60+i*3)+`, '')`)
		b.Until("where the reader is", `window.at !== undefined`)
		if at := browsertest.Eval[float64](b, `window.at`); at > 650 {
			t.Errorf("who went up to 600 is at %v", at)
		}
	}
	close(stop)
	<-ended
}

// A screen reader reads what's new, and nothing of what's loaded above it.
func TestOldLinesAreNotReadOut(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Append(id, sessions.KindPane, texts(1, 1500)...)
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the newest", `document.querySelector('#lines').lastChild?.dataset.n === '1500'`)
	browsertest.Eval[string](b, `(() => {
		window.read = [];
		new MutationObserver((list) => { for (const { addedNodes, target } of list) if (target.getAttribute('aria-live') !== 'off') read.push(...Array.from(addedNodes, (n) => Number(n.dataset.n))); })
			.observe(document.querySelector('#lines'), { childList: true });
		return '';
	})()`)
	b.Until("the oldest", `(document.querySelector('#scroller').scrollTop = 0, document.querySelector('#lines .line').dataset.n === '1')`)
	b.Do(chromedp.Click("#newest"))
	b.Until("the end", `document.querySelector('#newest').hidden && document.querySelector('#lines').ariaLive === 'polite'`)
	s.daemon.Append(id, sessions.KindPane, "line 1501")
	b.Until("what's new", `document.querySelector('#lines').lastChild?.dataset.n === '1501'`)
	if read := browsertest.Eval[[]int](b, `read`); !slices.Equal(read, []int{1501}) {
		t.Errorf("read out: %d lines, %v", len(read), read[:min(len(read), 5)])
	}
}

// A gap that stands there before the first lines come stays before them, however many come at once.
func TestManyLinesComeBelowAGap(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Gap(id, 1, "the terminal was cleared")
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the gap", `document.querySelector('#lines').firstChild?.dataset.after === '0'`)
	s.daemon.Append(id, sessions.KindPane, texts(1, 400)...)
	b.Until("all lines", lineCount+` === 400`)
	if first := browsertest.Eval[[]string](b, `[...document.querySelectorAll('#lines > *')].slice(0, 2).map((n) => n.dataset.after ?? n.dataset.n)`); !slices.Equal(first, []string{"0", "1"}) {
		t.Errorf("it begins with %q", first)
	}
}

// Who reads something goes on reading it when the phone is turned, and turned back.
func TestTurningThePhoneKeepsThePlace(t *testing.T) {
	t.Parallel()
	random := drawtest.Rand(t, 0)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	for n := range 60 {
		s.daemon.Append(id, sessions.KindPane, fmt.Sprintf("line %d ", n)+strings.Repeat("goes on and ", random.IntN(40)))
		if n%7 == 0 {
			s.daemon.Block(id, sessions.KindAnswer, strings.Repeat("An answer is long, and wrapped elsewhere on a wide screen. ", 1+random.IntN(30)))
		}
	}
	b := browse(t, 390, 844)
	b.Do(s.open())
	b.Until("the answers", `document.querySelectorAll('#lines .line[data-drawn]').length === 9`)
	// The line at the upper edge of what's in view, and how much of it is above, in hundredths.
	const place = `(() => {
		const s = document.querySelector('#scroller').getBoundingClientRect();
		const at = [...document.querySelectorAll('#lines > [data-n]')].find((e) => e.getBoundingClientRect().bottom > s.top + 14);
		const box = at.getBoundingClientRect();
		return [Number(at.dataset.n), Math.round(100 * (s.top - box.top) / box.height)];
	})()`
	drawn := func() {
		browsertest.Eval[int](b, `(() => { window.frames = 0; const count = () => { if (++window.frames < 4) requestAnimationFrame(count); }; count(); return 0; })()`)
		b.Until("some frames", `window.frames === 4`)
	}
	for range 6 {
		browsertest.Eval[float64](b, fmt.Sprintf(`(() => { const s = document.querySelector('#scroller'); return s.scrollTop = %f * (s.scrollHeight - s.clientHeight - 100); })()`, random.Float64()))
		drawn()
		was := browsertest.Eval[[2]int](b, place)
		for _, size := range [][2]int64{{844, 390}, {390, 844}, {844, 390}, {390, 844}} {
			b.Do(chromedp.EmulateViewport(size[0], size[1]))
			b.Until("the width", fmt.Sprintf("innerWidth === %d", size[0]))
			drawn()
			is := browsertest.Eval[[2]int](b, place)
			if is[0] != was[0] || max(is[1]-was[1], was[1]-is[1]) > 25 {
				t.Errorf("%d pixels wide, line %d stands at the edge (%d %% above), where %d stood (%d %%)", size[0], is[0], is[1], was[0], was[1])
			}
		}
	}
}
