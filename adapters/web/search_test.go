package web_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/sessions"
)

const (
	searchSays  = `document.querySelector('#search-status').textContent`
	searchField = `document.querySelector('#search-field')`
	hitsFound   = `[...document.querySelectorAll('#search-hits .hit')].map((e) => e.querySelector('.hit-name').textContent + ': ' + e.querySelector('.hit-line').textContent).join('; ')`
	hitMarks    = `[...document.querySelectorAll('#search-hits mark')].map((e) => e.textContent).join('; ')`
	searchShown = `document.querySelector('#search').checkVisibility()`
	// foundLine is the number of the line that a search led to, if all of it is in view.
	foundLine = `(() => {
		const box = document.querySelector('#scroller').getBoundingClientRect();
		const node = document.querySelector('#lines .found-line');
		const at = node?.getBoundingClientRect();
		return node && at.top >= box.top && at.top < box.bottom ? Number(node.dataset.n) : 0;
	})()`
)

// newSearchedSite is a masked site whose lines can be searched.
func newSearchedSite(t *testing.T) *site {
	t.Helper()
	s := newMaskedSite(t)
	index, err := search.OpenIndex(t.Context(), filepath.Join(t.TempDir(), search.File), s.daemon)
	if err != nil {
		t.Fatal(err)
	}
	s.stop()
	s.search = &search.Indexer{Index: index, List: s.daemon.List, Logger: slog.New(slog.DiscardHandler)}
	s.search.Follow(&s.daemon.Feed)
	s.start(t)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- s.search.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		<-done
		_ = index.Close()
	})
	return s
}

// indexed waits until all lines of sessions can be found.
func (s *site) indexed(t *testing.T, ids ...sessions.ID) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		isAll := true
		for _, id := range ids {
			one, err := s.daemon.Get(string(id))
			if err != nil {
				t.Fatal(err)
			}
			last, _ := s.search.Index.Last(id)
			isAll = isAll && last == one.Lines
		}
		if isAll {
			return
		}
		if time.Now().After(end) {
			t.Fatal("the lines aren't indexed")
		}
	}
}

// seeks writes a text into the field at once.
func seeks(text string) string {
	return fmt.Sprintf(`(() => { const field = %s; field.value = %q; field.dispatchEvent(new InputEvent('input')); return true; })()`, searchField, text)
}

// typeText types letters by keys.
func typeText(b *browsertest.Browser, text string) {
	b.Helper()
	for _, r := range text {
		b.Do(typed(string(r)))
	}
}

// What was sought is found in all sessions and marked; a line leads to its place, however far up that is, and back leads to
// what was found. All of it works by the keyboard, and nothing of it is kept.
func TestASearchLeadsToItsLine(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSearchedSite(t)
	large, other := s.daemon.Add("large", "claude"), s.daemon.Add("other", "claude")
	for i := 0; i < 6000; i += 1000 {
		lines := texts(i+1, i+1000)
		switch i {
		case 0:
			lines[136] = "an old needle, and <b>markup</b>"
		case 4000:
			lines[0] = "the pin_needleWork of a NEEDLE"
		}
		s.daemon.Append(large, sessions.KindPane, lines...)
	}
	s.daemon.Block(other, sessions.KindAnswer, "Here it is:\n\n- one\n- a needle in a list\n- three")
	s.indexed(t, large, other)
	b := browse(t, 1280, 844)
	b.Ignore("status of 400") // a query without letters
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"))
	browsertest.Eval[bool](b, fmt.Sprintf(`(location.hash = %q, true)`, large))
	b.Until("its end", `document.querySelector('#lines').lastChild?.dataset.n === '6000'`)
	b.Do(typed("/"))
	b.Until("the field", `document.activeElement.id === 'search-field'`)
	typeText(b, "needle")
	b.Until("what was found", hitsFound+` === 'other: - a needle in a list; large: the pin_needleWork of a NEEDLE; large: an old needle, and <b>markup</b>'`)
	if marks := browsertest.Eval[string](b, hitMarks); marks != "needle; needle; NEEDLE; needle" {
		t.Errorf("marked is %s", marks)
	}
	b.Until("how many", searchSays+` === '3 lines.'`)
	b.Shot("search")

	// To the oldest, which isn't in the window, and back.
	b.Do(chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown), chromedp.KeyEvent(kb.ArrowDown))
	b.Until("it has the focus", `document.activeElement.href?.endsWith('/137')`)
	b.Do(browsertest.Enter())
	b.Until("the line", foundLine+` === 137`)
	b.Until("what's around it", `document.querySelector('#lines [data-n="137"]').textContent === 'an old needle, and <b>markup</b>' && document.activeElement.dataset.n === '137'`)
	if browsertest.Eval[bool](b, `Boolean(document.querySelector('#lines [data-n="6000"]'))`) {
		t.Error("all of the log was loaded")
	}
	b.Shot("search-line")
	s.daemon.Append(large, sessions.KindPane, "one more")
	b.Until("the line stays", foundLine+` === 137`)
	b.Do(chromedp.NavigateBack())
	b.Until("what was found", searchShown+` && `+searchField+`.value === 'needle' && document.activeElement.href?.endsWith('/137')`)

	// A line within an answer is where that's drawn.
	b.Do(chromedp.KeyEvent(kb.ArrowUp), chromedp.KeyEvent(kb.ArrowUp), browsertest.Enter())
	b.Until("the answer", foundLine+` === 1 && document.querySelector('#lines .found-line li')`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Until("what was found", searchShown+` && document.activeElement.href?.endsWith('/4')`)

	// Only in the session that it was opened from.
	b.Do(chromedp.Click("#search-only"))
	b.Until("of one", hitsFound+` === 'large: the pin_needleWork of a NEEDLE; large: an old needle, and <b>markup</b>'`)
	b.Do(chromedp.Click("#search-only"))
	b.Until("of all", searchSays+` === '3 lines.'`)

	// Escape goes to the field, and from there to where one came from.
	b.Do(chromedp.Focus("#search-hits a"), chromedp.KeyEvent(kb.Escape))
	b.Until("the field", `document.activeElement.id === 'search-field'`)
	b.Do(chromedp.KeyEvent(kb.Escape))
	b.Until("the session", fmt.Sprintf(headSays, "large"))
	b.Until("its end", `document.querySelector('#lines').lastChild?.dataset.n === '6001'`)
	kept := browsertest.Eval[string](b, `JSON.stringify([location.href, history.state, {...localStorage}, {...sessionStorage}, document.cookie])`)
	if strings.Contains(kept, "needle") {
		t.Errorf("the browser keeps %s", kept)
	}
	b.Do(chromedp.Reload())
	b.Until("the session", fmt.Sprintf(headSays, "large"))
	b.Do(typed("/"))
	b.Until("an empty field", `document.activeElement.id === 'search-field' && `+searchField+`.value === ''`)
	b.Do(typed("-"), typed(">"))
	b.Until("why not", searchSays+`.startsWith('Write a word to look for')`)
	browsertest.Eval[bool](b, seeks(""))
	typeText(b, "nothingofthat")
	b.Until("nothing", searchSays+` === 'Nothing was found.'`)
}

// In a line that's found each text is marked that was sought, whatever letters they have.
func TestWhatIsFoundIsMarked(t *testing.T) {
	t.Parallel()
	random := drawtest.Rand(t, 3)
	letters := []string{"a", "a", "b", "B", "c", "C", "D", "1", " ", " ", "_", ".", "-", `"`, "数", "据", "ก", "٣", "É", "é", "e\u0301", "o\u0302\u0323", "서", "버", "가", "İ", "ß", "K", "हि", "🙂"}
	draw := func(most int) string {
		var b strings.Builder
		for range 1 + random.IntN(most) {
			b.WriteString(letters[random.IntN(len(letters))])
		}
		return b.String()
	}
	type pair struct{ Query, Line string }
	pairs := []pair{{"server", "the HTTPServer is up"}, {"resume", "a résumé"}, {"RÉSUMÉ", "a re\u0301sume"}}
	for len(pairs) < 3000 {
		p := pair{draw(5), draw(25)}
		if runes := []rune(p.Line); random.IntN(2) == 0 {
			from := random.IntN(len(runes))
			p.Query = string(runes[from : from+1+random.IntN(len(runes)-from)])
		}
		if q, err := search.ParseQuery(p.Query); err == nil && q.Matches(p.Line) {
			pairs = append(pairs, p)
		}
	}
	all, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	s := newSite(t)
	b := browse(t, 800, 600)
	b.Do(s.enter(), chromedp.WaitVisible("#no-sessions"))
	browsertest.Eval[bool](b, `(import('/sources/sought.js').then(({ textsOf, soughtIn }) => {
		window.unmarked = `+string(all)+`.filter(({ Query, Line }) => textsOf(Query).filter((text) => text.replace(/\p{M}/gu, '') !== '').some((text) => soughtIn(Line, [text]).length === 0)).map(({ Query, Line }) => Query + ' in ' + Line);
	}), true)`)
	b.Until("all was looked for", `Array.isArray(window.unmarked)`)
	for i, what := range browsertest.Eval[[]string](b, `window.unmarked`) {
		if i < 10 {
			t.Errorf("unmarked is %q", what)
		}
	}
}

// heldSearches has answers of searches come when the test says so, whatever was aborted.
const heldSearches = `(() => {
	const plain = window.fetch;
	window.held = [];
	window.fetch = (url, options) => {
		if (!String(url).includes('/search?')) return plain(url, options);
		return new Promise((resolve, reject) => {
			const { signal, ...rest } = options;
			const answer = plain(url, rest);
			window.held.push(() => answer.then(resolve, reject));
		});
	};
})()`

// However late answers come and in whichever order, what's shown is what was sought last.
func TestALateAnswerReplacesNoNewer(t *testing.T) {
	t.Parallel()
	slow(t)
	random := drawtest.Rand(t, 1)
	s := newSearchedSite(t)
	id := s.daemon.Add("one", "claude")
	words := []string{"alpha", "beta", "gamma", "delta", "epsilon"}
	for _, word := range words {
		s.daemon.Append(id, sessions.KindPane, "a line with "+word)
	}
	s.indexed(t, id)
	b := browse(t, 1280, 844)
	b.Do(before(heldSearches), s.enter(), chromedp.WaitVisible("#inbox"), typed("/"))
	b.Until("the field", `document.activeElement.id === 'search-field'`)
	for range 6 {
		n := 2 + random.IntN(len(words)-1)
		asked := make([]string, n)
		for i := range asked {
			asked[i] = words[random.IntN(len(words))]
			if i > 0 && asked[i] == asked[i-1] {
				asked[i] = words[(random.IntN(len(words)-1)+1)%len(words)] + " line"
			}
			browsertest.Eval[bool](b, seeks(asked[i]))
			b.Until("it's asked for", fmt.Sprintf(`window.held.length === %d`, i+1))
		}
		for _, i := range random.Perm(n) {
			browsertest.Eval[bool](b, fmt.Sprintf(`(window.came = false, window.held[%d]().then(() => setTimeout(() => { window.came = true; }, 30)), true)`, i))
			b.Until("it came", `window.came`)
			if shown := browsertest.Eval[string](b, hitsFound); shown != "" && !strings.Contains(asked[n-1], strings.TrimPrefix(shown, "one: a line with ")) {
				t.Fatalf("asked for %q, answered by %d, shown is %q", asked, i, shown)
			}
		}
		word, _, _ := strings.Cut(asked[n-1], " ")
		b.Until("the last", hitsFound+fmt.Sprintf(` === 'one: a line with %s'`, word))
		browsertest.Eval[bool](b, `(window.held = [], true)`)
		browsertest.Eval[bool](b, seeks(""))
		b.Until("nothing", hitsFound+` === ''`)
	}
}

// Searches that are given up on the way, as fast as somebody types, leave the one that counts as it is.
func TestSearchesThatAreGivenUpHarmNoOther(t *testing.T) {
	t.Parallel()
	slow(t)
	random := drawtest.Rand(t, 2)
	s := newSearchedSite(t)
	id := s.daemon.Add("one", "claude")
	words := []string{"alpha", "beta", "gamma"}
	for _, word := range words {
		s.daemon.Append(id, sessions.KindPane, "a line with "+word)
	}
	s.indexed(t, id)
	b := browse(t, 1280, 844)
	b.Do(s.enter(), chromedp.WaitVisible("#inbox"), typed("/"))
	b.Until("the field", `document.activeElement.id === 'search-field'`)
	browsertest.Eval[bool](b, `(window.said = [], new MutationObserver(() => window.said.push(`+searchSays+`)).observe(document.querySelector('#search-status'), { childList: true, characterData: true, subtree: true }), true)`)
	for range 4 {
		var steps strings.Builder
		last := ""
		for range 40 {
			last = words[random.IntN(len(words))]
			fmt.Fprintf(&steps, "%s; %s.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', bubbles: true })); await new Promise((resolve) => setTimeout(resolve, %d));\n", seeks(last), searchField, random.IntN(8))
		}
		browsertest.Eval[bool](b, `(window.ready = false, (async () => { `+steps.String()+` window.ready = true; })(), true)`)
		b.Until("all was asked for", `window.ready`)
		b.Until("the last", hitsFound+fmt.Sprintf(` === 'one: a line with %s'`, last))
	}
	if said := browsertest.Eval[[]string](b, `[...new Set(window.said)]`); len(said) != 1 || said[0] != "1 line." {
		t.Errorf("said was %q", said)
	}
}

// A viewer's device finds what masking leaves; an admin's has secrets hidden until they're clicked.
func TestASearchOnThePageShowsNoSecret(t *testing.T) {
	t.Parallel()
	slow(t)
	const secret = "ghp_x7KqPm2vRt9Ls4Wd8Yz1Bn6Hc3Jf5Gk0Ta"
	s := newSearchedSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Append(id, sessions.KindPane, "a token="+secret+" stands here")
	s.indexed(t, id)
	for _, role := range []access.Role{access.Viewer, access.Admin} {
		b := browse(t, 390, 844)
		s.letsIn(t, b, "a phone", role)
		b.Do(browsertest.Phone(3), chromedp.WaitVisible("#inbox"))
		b.Tap("the search", `document.querySelector('#search-open')`)
		b.Until("the field", `document.activeElement.id === 'search-field'`)
		b.Do(browsertest.InsertText("token stands"))
		b.Until("it's found", hitsFound+`.includes('[masked: ')`)
		if text := browsertest.Eval[string](b, `document.body.textContent`); strings.Contains(text, secret[4:12]) {
			t.Errorf("to the %s the page has %s", role, text)
		}
		b.Shot("search-phone-" + string(role))
		if role == access.Admin {
			b.Tap("the secret", `document.querySelector('#search-hits .secret')`)
			b.Until("it's shown", hitsFound+fmt.Sprintf(`.includes(%q)`, secret))
			b.Until("and nothing was opened", searchShown)
		}
		browsertest.Eval[bool](b, seeks(""))
		b.Until("an empty list", hitsFound+` === ''`)
		b.Do(chromedp.Focus("#search-field"), browsertest.InsertText(secret[:12]))
		want := "Nothing was found."
		if role == access.Admin {
			want = "1 line."
		}
		b.Until("what's found by its beginning", searchSays+fmt.Sprintf(` === %q`, want))
	}
}

// Older lines come when they're asked for; what can't be found is said; it can be used on a phone, and by everybody.
func TestASearchOnAPhone(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSearchedSite(t)
	id := s.daemon.Add("a session with a long name that goes on", "claude")
	for n := range 120 {
		s.daemon.Append(id, sessions.KindPane, fmt.Sprintf("line %d has a word %s", n, strings.Repeat("and more ", n%40)))
	}
	s.daemon.Append(id, sessions.KindPane, strings.Repeat("é", 3000)+" word "+strings.Repeat("x", 3000))
	s.indexed(t, id)
	b := browse(t, 390, 844)
	b.Do(s.open(), browsertest.Phone(3))
	b.Until("its end", `document.querySelector('#lines').lastChild?.dataset.n === '121'`)
	b.Tap("the menu", `document.querySelector('#more')`)
	b.Tap("its search", `document.querySelector('#search-here')`)
	b.Until("the field", `document.activeElement.id === 'search-field' && document.querySelector('#search-only').checked`)
	b.Do(browsertest.InsertText("word"))
	b.Until("the newest", `document.querySelectorAll('#search-hits .hit').length === 50 && `+searchSays+` === 'The newest 50 lines.'`)
	if first := browsertest.Eval[string](b, `document.querySelector('.hit-line').innerText`); !strings.HasPrefix(first, "…é") || !strings.Contains(first, " word x") || len([]rune(first)) > 700 {
		t.Errorf("a long line is shown as %q", first)
	}
	b.Shot("search-phone")
	if wide := browsertest.Eval[int](b, `document.documentElement.scrollWidth`); wide > 390 {
		t.Errorf("the page is %d px wide", wide)
	}
	s.daemon.Append(id, sessions.KindPane, "a new word") // meanwhile
	s.indexed(t, id)
	b.Tap("older", `document.querySelector('#search-more')`)
	b.Until("older", `document.querySelectorAll('#search-hits .hit').length === 99`)
	b.Tap("older", `document.querySelector('#search-more')`)
	b.Until("all but the one that came", `document.querySelectorAll('#search-hits .hit').length === 121 && document.querySelector('#search-more').hidden && `+searchSays+` === '121 lines.'`)
	for _, scheme := range []string{"light", "dark"} {
		b.Do(browsertest.Scheme(scheme))
		for _, barrier := range b.Barriers("") {
			t.Errorf("%s: %s", scheme, barrier)
		}
	}
	browsertest.Eval[bool](b, `(document.querySelector('#search').scrollTop = 0, true)`)
	b.Shot("search-phone-dark")
	b.Tap("the last", `[...document.querySelectorAll('.hit-link')].at(-1)`)
	b.Until("the line", foundLine+` === 1`)
	b.Shot("search-phone-line")
	b.Tap("back", `document.querySelector('#back')`)
	b.Until("what was found", searchShown+` && document.querySelectorAll('#search-hits .hit').length === 121`)
}

// What can't be found yet is said, and so is that a session or a line isn't there any more.
func TestASearchForWhatIsGone(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSearchedSite(t)
	gone, trimmed := s.daemon.Add("gone", "claude"), s.daemon.Add("trimmed", "claude")
	s.daemon.Append(gone, sessions.KindPane, "a needle in a session")
	s.daemon.Append(trimmed, sessions.KindPane, append([]string{"a needle on top"}, texts(1, 40)...)...)
	s.indexed(t, gone, trimmed)
	b := browse(t, 1280, 844)
	b.Ignore("status of 404") // the list may have the session still
	b.Do(before(`(() => {
		const plain = window.fetch;
		window.fetch = async (url, options) => {
			const response = await plain(url, options);
			if (!String(url).includes('/search?')) return response;
			return Response.json({ ...await response.json(), behind: 1234 });
		};
	})()`), s.enter(), chromedp.WaitVisible("#inbox"), typed("/"))
	b.Until("the field", `document.activeElement.id === 'search-field'`)
	typeText(b, "needle")
	b.Until("what's behind", searchSays+` === '2 lines. 1234 lines can’t be found yet: try again soon.'`)
	s.daemon.Drop(trimmed, 10)
	s.daemon.SetState(gone, sessions.StateEnded, "closed")
	if err := s.daemon.Forget(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	browsertest.Eval[bool](b, `(document.querySelectorAll('.hit-link')[0].click(), true)`)
	b.Until("the line isn't kept", `document.querySelector('#toast').checkVisibility() && document.querySelector('#toast').textContent === 'That line isn’t kept any more.'`)
	b.Until("what's next", foundLine+` === 11`)
	b.Do(chromedp.NavigateBack())
	b.Until("what was found", searchShown)
	browsertest.Eval[bool](b, `(document.querySelectorAll('.hit-link')[1].click(), true)`)
	b.Until("the session isn't there", `document.querySelector('#toast').textContent === 'That session isn’t there any more.'`)
}

// Without an index the page says what the daemon says.
func TestASearchThatTheDaemonRefuses(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := browse(t, 1280, 844)
	b.Ignore("status of 503")
	b.Do(s.enter(), chromedp.WaitVisible("#layout"))
	b.Until("the page", `document.querySelector('#no-sessions').checkVisibility()`)
	b.Do(typed("/"))
	b.Until("the field", `document.activeElement.id === 'search-field'`)
	typeText(b, "word")
	b.Until("why", searchSays+` === 'nothing can be searched: the log says why'`)
}
