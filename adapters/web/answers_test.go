package web_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/adapters/web"
	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

const seenText = `[...document.querySelectorAll('#lines .line')].filter((l) => !l.hidden).map((l) => l.innerText).join('|')`

// Answers look as their Markdown says, block by block, and nothing in them is HTML; what
// a known agent is writing stands below the lines, without its screen.
func TestAnswersAreMarkdown(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	evil := `<img src=x onerror="window.hit = 1">`
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the session", `document.querySelector('#name').textContent === 'one'`)
	s.daemon.Known(id, "✢ Osmosing… (3s)", "Some text", evil)
	b.Until("what's being written", `document.querySelector('#live-rows').textContent.startsWith('Some text')`)
	if live := browsertest.Eval[string](b, `document.querySelector('#live-rows').textContent`); live != "Some text\n"+evil {
		t.Errorf("below the lines stands %q", live)
	}
	if status := browsertest.Eval[string](b, `document.querySelector('#live-status').textContent`); status != "✢ Osmosing… (3s)" {
		t.Errorf("it does %q", status)
	}
	s.daemon.Known(id, "")
	s.daemon.Block(id, sessions.KindUser, "do *it*")
	s.daemon.Block(id, sessions.KindTool, "⚙ Bash: seq 1 3")
	s.daemon.Block(id, sessions.KindAnswer, "# Title\n\n**bold** [x](https://example.com/a) `c`\n\n"+evil+"\n\n```go\nfunc a() {")
	s.daemon.Block(id, sessions.KindAnswer, "- *next*\n- [bad](javascript:window.hit=1)")
	b.Until("the answers", `document.querySelectorAll('#lines .line[data-drawn]').length === 2`)
	b.Until("no live region", `document.querySelector('#live').hidden`)
	got := browsertest.Eval[string](b, seenText)
	want := regexp.MustCompile(`^you .*\ndo \*it\*\|⚙ Bash: seq 1 3\|Title\n\nbold x c\n\n` + regexp.QuoteMeta(evil) + `\n\ngo\nCopy\nfunc a\(\) {\|next\n+bad \(javascript:window.hit=1\)$`)
	if !want.MatchString(got) {
		t.Errorf("it shows %q, want %q", got, want)
	}
	for what, count := range map[string]int{"h2": 1, ".md-bold": 1, ".md-code": 1, ".md-italic": 1, "li": 2, ".code-keyword": 1, "pre.md-pre[data-language=go]": 1, "a": 1, "img": 0} {
		if n := browsertest.Eval[int](b, `document.querySelectorAll('#lines `+what+`').length`); n != count {
			t.Errorf("%d times %s, want %d", n, what, count)
		}
	}
	if browsertest.Eval[bool](b, `Boolean(window.hit)`) {
		t.Error("something of it ran")
	}
	b.Shot("answers")
	// After a reload it's the same.
	b.Do(chromedp.Reload())
	b.Until("the answers again", `document.querySelectorAll('#lines .line[data-drawn]').length === 2`)
	if again := browsertest.Eval[string](b, seenText); again != got {
		t.Errorf("after a reload it shows %q", again)
	}
}

func TestMarkdownTakesBlocks(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		`{"blocks": ["a", "**b**"]}`: http.StatusOK, `{"blocks": []}`: http.StatusOK, `nothing`: http.StatusBadRequest,
		`{"blocks": ["` + strings.Repeat("x", 5<<20) + `"]}`: http.StatusBadRequest,
		`{"blocks": [` + strings.Repeat(`"",`, 200) + `""]}`: http.StatusBadRequest,
	} {
		w := httptest.NewRecorder()
		web.Handler().ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/markdown", strings.NewReader(body)))
		if w.Code != want {
			t.Errorf("%.40s: %d, want %d", body, w.Code, want)
		}
		if w.Code == http.StatusOK && !json.Valid(w.Body.Bytes()) {
			t.Errorf("%.40s: %s", body, w.Body)
		}
	}
}
