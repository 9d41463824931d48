package web_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/sessions"
)

// seenTools are the cards and lines of tools that can be seen, one below the other.
const seenTools = `[...document.querySelectorAll('#lines .line')].filter((l) => !l.hidden).map((l) => {
	const card = l.querySelector('.tool-card');
	return card ? [card.dataset.kind, card.dataset.state, ...[...card.querySelectorAll('.tool-head > span')].slice(1).map((e) => e.textContent)].join('|') : l.textContent;
})`

// toolText is what an open card shows, part by part.
const toolText = `[...document.querySelectorAll('.tool-card[open] .tool-body > *')].map((e) => e.innerText.replace(/\s+/g, ' ').trim())`

func toolCall(call, name string, args map[string]any) sessions.ToolPart {
	text, _ := json.Marshal(args)
	return sessions.ToolPart{Part: sessions.ToolCall, Call: call, Name: name, Whole: &sessions.ToolDetail{Args: string(text)}}
}

func toolResult(call, name, output, diff string, failed bool) sessions.ToolPart {
	return sessions.ToolPart{Part: sessions.ToolReturned, Call: call, Name: name, Failed: failed, Whole: &sessions.ToolDetail{Output: output, Diff: diff}}
}

func wantTools(t *testing.T, b *browsertest.Browser, want ...string) {
	t.Helper()
	text, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	b.Until(strings.Join(want, " / "), `JSON.stringify(`+seenTools+`) === `+fmt.Sprintf("%q", text))
}

// Each tool is one card, folded: its call with its result, whenever that comes; lines of which no more is
// known stay lines. What it prints is text. It's opened by a key, and shows all of it.
func TestToolsAreCards(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	evil := `<img src=x onerror="window.hit = 1">`
	s.daemon.Append(id, sessions.KindTool, "⚙ Old: x", "  a line of an old log")
	s.daemon.Block(id, sessions.KindAnswer, "I look.")
	s.daemon.Tool(id, "⚙ Bash: seq 1 300", toolCall("a", "Bash", map[string]any{"command": "seq 1 300\n" + evil, "run_in_background": false}))
	s.daemon.Tool(id, "⚙ Read: /a.go", toolCall("b", "Read", map[string]any{"file_path": "/a.go"}))
	s.daemon.Tool(id, "  1\n  2\n  3\n  … +297 lines", toolResult("a", "Bash", "1\n2\n"+evil+"\n300", "", false))
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible(".tool-card"))
	wantTools(t, b, "⚙ Old: x", "  a line of an old log", "I look.", "run|done|Bash|seq 1 300|done", "read|running|Read|/a.go|running…")
	b.Do(chromedp.Focus(".tool-card[data-kind=run] summary"), browsertest.Enter())
	b.Until("the card is open", `document.querySelectorAll('.tool-card[open] .tool-body > *').length === 3`)
	if got := browsertest.Eval[[]string](b, toolText); strings.Join(got, "|") != "Command seq 1 300 "+evil+"|Run in background false|Output Copy 1 2 "+evil+" 300" {
		t.Errorf("it shows %q", got)
	}
	// The result of the other comes while its card is open.
	b.Do(chromedp.Click(".tool-card[data-kind=read] summary"))
	b.Until("it waits", `/It hasn’t returned yet/.test(document.querySelector('.tool-card[data-kind=read]').innerText)`)
	s.daemon.Tool(id, "✗ exit status 1\n  no such file", toolResult("b", "Read", "exit status 1\nno such file", "", true))
	wantTools(t, b, "⚙ Old: x", "  a line of an old log", "I look.", "run|done|Bash|seq 1 300|done", "read|failed|Read|/a.go|exit status 1")
	b.Until("its result", `/Output.*no such file/s.test(document.querySelector('.tool-card[data-kind=read]').innerText)`)
	b.Shot("tools-open")
	// A question stays as it is, a call that nothing came of says so, a result without its call has a card.
	s.daemon.Tool(id, "❓ Which?\n› 1. A", sessions.ToolPart{Part: sessions.ToolQuestion, Call: "q", Name: "AskUserQuestion", Whole: &sessions.ToolDetail{Args: "{}"}})
	s.daemon.Tool(id, "  A", toolResult("q", "AskUserQuestion", "A", "", false))
	s.daemon.Tool(id, "⚙ Bash: sleep 9", toolCall("c", "Bash", map[string]any{"command": "sleep 9"}))
	s.daemon.Tool(id, "  out", toolResult("gone", "!", "out", "", false))
	s.daemon.Block(id, sessions.KindAnswer, "Done.")
	wantTools(t, b, "⚙ Old: x", "  a line of an old log", "I look.", "run|done|Bash|seq 1 300|done", "read|failed|Read|/a.go|exit status 1",
		"❓ Which?", "› 1. A", "  A", "run|unknown|Bash|sleep 9|", "run|done|shell|out|done", "Done.")
	if browsertest.Eval[bool](b, `Boolean(window.hit) || document.querySelectorAll('#lines img').length > 0`) {
		t.Error("something of it is HTML")
	}
	// Of a result that isn't among the lines its card hears when it asks.
	browsertest.Eval[string](b, `(document.querySelector('.tool-card[data-state=unknown]').scrollIntoView({ block: 'center' }), '')`) // out from below the buttons
	b.Do(chromedp.Click(".tool-card[data-state=unknown] summary"))
	b.Until("that there's none", `/There’s no result/.test(document.querySelector('.tool-card[data-state=unknown]').innerText)`)
	b.Do(chromedp.Click(".tool-card[data-state=unknown] summary"))
	// What isn't kept any more is shown by its lines.
	b.Ignore("status of 404")
	s.daemon.DropDetails(id)
	b.Do(chromedp.Reload())
	b.Until("the cards again", `document.querySelectorAll('.tool-card').length >= 3`)
	browsertest.Eval[string](b, `document.querySelector('.tool-card[data-state=unknown] summary')?.click(), ''`)
	b.Until("its lines", `/isn’t kept any more.*sleep 9/s.test(document.querySelector('.tool-card[data-state=unknown]').innerText)`)
}

// An edit is shown line by line, with signs, colours and the numbers of the lines where they're known.
func TestEditsAreDiffs(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Block(id, sessions.KindUser, "Rename it, please.")
	s.daemon.Tool(id, "⚙ Edit: /src/queue/retry.go", toolCall("a", "Edit", map[string]any{"file_path": "/src/queue/retry.go", "old_string": "a", "new_string": "b"}))
	s.daemon.Tool(id, "  updated", toolResult("a", "Edit", "updated", "--- retry.go\n+++ retry.go\n@@ -97,4 +97,5 @@ func (q *Queue) retry() {\n \tfor {\n-\t\twait := time.Second\n+\t\twait := q.backoff(n) // 日本語 <b>\n+\t\tn++\n \t\tselect {\n \t\t}\n@@ -120,2 +121,1 @@\n-\t\tlog.Print(\"retry\")\n \t}\n", false))
	s.daemon.Tool(id, "⚙ apply_patch: add docs/retry.md, delete old.md", sessions.ToolPart{Part: sessions.ToolCall, Call: "b", Name: "apply_patch", Whole: &sessions.ToolDetail{
		Args: `"*** Begin Patch\n*** Add File: docs/retry.md\n+# Retry\n+\n` + strings.Repeat(`+It waits longer each time, up to a minute, and says so in the log when it gives up.\n`, 500) + `*** Delete File: old.md\n*** End Patch"`,
	}})
	s.daemon.Tool(id, "✗ refused by the person", toolResult("b", "apply_patch", "", "", true))
	for _, size := range [][2]int{{1280, 900}, {390, 844}} {
		b := browse(t, size[0], size[1])
		b.Do(s.open(), chromedp.WaitVisible(".tool-card"))
		b.Do(chromedp.Click(".tool-card[data-state=done] summary"))
		b.Until("the diff", `document.querySelectorAll('.tool-card[open] .diff-row').length === 8`)
		rows := browsertest.Eval[[]string](b, `[...document.querySelectorAll('.tool-card[open] .diff > *')].map((e) => [...e.children].map((c) => c.textContent).join('|') || e.textContent)`)
		want := []string{
			"func (q *Queue) retry() {", "97|97| |\tfor {", "98||−|\t\twait := time.Second", "|98|+|\t\twait := q.backoff(n) // 日本語 <b>",
			"|99|+|\t\tn++", "99|100| |\t\tselect {", "100|101| |\t\t}", "⋯", "120||−|\t\tlog.Print(\"retry\")", "121|121| |\t}",
		}
		if strings.Join(rows, "\n") != strings.Join(want, "\n") {
			t.Errorf("the rows are\n%s", strings.Join(rows, "\n"))
		}
		if colours := browsertest.Eval[int](b, `new Set([...document.querySelectorAll('.tool-card[open] .diff-row')].map((e) => getComputedStyle(e).backgroundColor)).size`); colours != 3 {
			t.Errorf("the rows have %d colours", colours)
		}
		if head := browsertest.Eval[string](b, `document.querySelector('.tool-card[open] .tool-part-head').innerText.replace(/\s+/g, ' ')`); head != "/src/queue/retry.go edited +2 −2" {
			t.Errorf("above it stands %q", head)
		}
		if size[0] < 600 {
			if h := browsertest.Eval[float64](b, `document.querySelector('.tool-head').getBoundingClientRect().height`); h < 44 {
				t.Errorf("a card's head is %.0f pixels tall on a phone", h)
			}
			if w := browsertest.Eval[float64](b, `document.querySelector('#scroller').scrollWidth - document.querySelector('#scroller').clientWidth`); w > 0 {
				t.Errorf("the conversation is %.0f pixels too wide", w)
			}
		}
		b.Shot(fmt.Sprint("tools-diff-", size[0]))
		b.Do(browsertest.Scheme("dark"))
		b.Shot(fmt.Sprint("tools-diff-dark-", size[0]))
		b.Do(chromedp.Click(".tool-card[data-state=done] summary"), chromedp.Click(".tool-card[data-state=failed] summary"))
		b.Until("the patch", `document.querySelectorAll('.tool-card[open] .diff-row').length === 300`)
		if text := browsertest.Eval[string](b, `document.querySelector('.tool-card[open]').innerText.replace(/\s+/g, ' ')`); !strings.Contains(text, "docs/retry.md added +502 −0") || !strings.Contains(text, "old.md deleted") || !strings.Contains(text, "refused by the person") {
			t.Errorf("the patch is %q", text)
		}
		browsertest.Eval[string](b, `document.querySelector('.diff-more').click(), ''`)
		b.Until("all of it", `document.querySelectorAll('.tool-card[open] .diff-row').length === 502 && document.activeElement.classList.contains('diff')`)
		for _, scheme := range []string{"light", "dark"} {
			b.Do(browsertest.Scheme(scheme))
			for _, text := range append(browsertest.Eval[[]string](b, faint), b.Barriers("#screen-rows span")...) {
				t.Errorf("%s: %s", scheme, text)
			}
			if size[0] < 600 {
				for _, text := range browsertest.Eval[[]string](b, small) {
					t.Errorf("%s: %s", scheme, text)
				}
			}
		}
	}
}

// Secrets of a tool are masked until an admin asks for them, in its head always; they're masked again when
// the card comes into the list again.
func TestSecretsOfToolsAreMasked(t *testing.T) {
	t.Parallel()
	slow(t)
	const secret = "ghp_x7Kq2mVb9TzR4wLcE8sYpD1nHfJ6uA3gQ0iZ"
	s := newMaskedSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Tool(id, "⚙ Bash: curl -H 'token "+secret+"'", toolCall("a", "Bash", map[string]any{"command": "curl -H 'token " + secret + "'"}))
	s.daemon.Tool(id, "  "+secret, toolResult("a", "Bash", "one\n"+secret+"\nthree", "", false))
	b := browse(t, 1280, 800)
	b.Do(s.open(), chromedp.WaitVisible(".tool-card"))
	b.Until("a mask in the head", `/token.*masked/.test(document.querySelector('.tool-arg').textContent)`)
	b.Do(chromedp.Click(".tool-card summary"))
	b.Until("its output", `/three/.test(document.querySelector('.tool-card').innerText)`)
	hidden := `[...document.querySelectorAll('.tool-card')].every((e) => !e.textContent.includes('` + secret + `'))`
	if !browsertest.Eval[bool](b, hidden) {
		t.Error("a secret is shown")
	}
	b.Do(chromedp.Click(".tool-note button"))
	b.Until("the secrets", `document.querySelector('.tool-card').innerText.split('`+secret+`').length - 1 === 2`)
	b.Do(chromedp.Click(".tool-note button"))
	b.Until("masks", hidden)
}

// A result whose call stands far above has a card of its own, with all of the use; when the call comes
// into the list, it stands in that.
func TestAResultFarBelowItsCall(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	s.daemon.Tool(id, "⚙ Bash: make", toolCall("a", "Bash", map[string]any{"command": "make\nall"}))
	s.daemon.Append(id, sessions.KindPane, texts(2, 800)...)
	s.daemon.Tool(id, "✗ exit status 2\n  no rule", toolResult("a", "Bash", "no rule", "", true))
	b := browse(t, 1280, 800)
	b.Do(s.open())
	own := `document.querySelector('#lines .line[data-n="801"] .tool-card')`
	b.Until("a card of its own", own+`?.dataset.state === 'failed'`)
	browsertest.Eval[string](b, own+`.querySelector('summary').click(), ''`)
	b.Until("the call in it", `/make\s+all.*no rule/s.test(`+own+`.innerText)`)
	browsertest.Eval[int](b, `document.querySelector('#scroller').scrollTop = 0`)
	call := `document.querySelector('#lines .line[data-n="1"] .tool-card')`
	b.Until("the call", call+` && (`+call+`.dataset.state !== 'running')`)
	browsertest.Eval[string](b, call+`.querySelector('summary').click(), ''`)
	b.Until("all of it in the call's card", `/make\s+all.*no rule/s.test(`+call+`.innerText) && `+call+`.dataset.state === 'failed'`)
	if n := browsertest.Eval[int](b, `[...document.querySelectorAll('.tool-card')].filter((e) => e.checkVisibility()).length`); n != 1 {
		t.Errorf("%d cards are seen", n)
	}
}

// tool has an agent call a tool or get a result, with or without all of it.
func (h *history) tool(seed uint64) {
	add := func(text string, part *sessions.ToolPart) {
		if part == nil {
			h.block(sessions.KindTool, text)
			return
		}
		first := len(h.lines)
		h.s.daemon.Tool(h.id, text, *part)
		for i, line := range strings.Split(text, "\n") {
			h.lines = append(h.lines, sessions.Line{N: int64(len(h.lines) + 1), Kind: sessions.KindTool, Text: line, Begins: i == 0})
		}
		h.lines[first].Tool = part
	}
	switch {
	case seed%5 == 0:
		h.note("a tool of an old log")
		add(fmt.Sprintf("⚙ Bash: seq %d\n  more", seed%1000), nil)
	case seed%2 == 0 && len(h.tools) > 0:
		i := h.rand.IntN(len(h.tools))
		part := toolResult(h.tools[i], "Bash", "1", "", seed%3 == 0)
		h.tools = append(h.tools[:i:i], h.tools[i+1:]...)
		h.note("a tool's result")
		add(fmt.Sprintf("  %d\n  2\n  … +3 lines", seed%1000), &part)
	default:
		key := fmt.Sprint("call ", len(h.lines))
		part := toolCall(key, "Bash", map[string]any{"command": "seq"})
		h.tools = append(h.tools, key)
		h.note("a tool's call")
		add(fmt.Sprintf("⚙ Bash: seq %d … (+1 line)\n  more", seed%1000), &part)
	}
}

// window is the numbers of the first and the last line in the document.
func window(nodes []shownNode) (first, last int64) {
	for _, node := range nodes {
		if node.N > 0 && first == 0 {
			first = node.N
		}
		last = max(last, node.N)
	}
	return first, last
}

// wrongTool says what's wrong with a line of a tool in a window of lines; "": nothing.
func (h *history) wrongTool(node shownNode, first, last int64) string {
	begins := node.N
	for !h.lines[begins-1].Begins {
		begins--
	}
	line, tool := h.lines[node.N-1], h.lines[begins-1].Tool
	if begins < first || tool == nil {
		if node.Hidden || node.Card != "" || node.Text != line.Text {
			return fmt.Sprintf("line %d is %+v, want %q", node.N, node, line.Text)
		}
		return ""
	}
	partner := int64(0) // its call or result within the window
	for n := first; n <= min(last, int64(len(h.lines))); n++ {
		if other := h.lines[n-1].Tool; other != nil && other.Call == tool.Call && n != begins {
			partner = n
		}
	}
	want := "" // state and name
	switch {
	case node.N > begins, tool.Part == sessions.ToolReturned && partner > 0:
	case tool.Part == sessions.ToolReturned:
		want = stateOf(tool)
	case partner > 0:
		want = stateOf(h.lines[partner-1].Tool)
	default:
		want = "running"
	}
	if want == "" {
		if !node.Hidden {
			return fmt.Sprintf("line %d isn't hidden: %+v", node.N, node)
		}
		return ""
	}
	about := strings.TrimSpace(strings.TrimPrefix(line.Text, "⚙ Bash: "))
	state, rest, _ := strings.Cut(node.Card, " ")
	if node.Hidden || rest != "Bash "+about || state != want && (want != "running" || state != "unknown") {
		return fmt.Sprintf("line %d is %+v, want a card of %s that's %s", node.N, node, about, want)
	}
	return ""
}

func stateOf(result *sessions.ToolPart) string {
	if result.Failed {
		return "failed"
	}
	return "done"
}

// What's left of a block or a use whose beginning has gone out of the window is there: lines, and a result
// with a card of its own.
func TestToolsWhoseBeginningIsGone(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newSite(t)
	id := s.daemon.Add("one", "claude")
	b := browse(t, 1280, 800)
	b.Do(s.open())
	b.Until("the session", `document.querySelector('#name').textContent === 'one'`)
	s.daemon.Tool(id, "⚙ Bash: seq 3\n  more\n  and more", toolCall("a", "Bash", map[string]any{"command": "seq 3"}))
	s.daemon.Tool(id, "  1\n  2", toolResult("a", "Bash", "1", "", false))
	b.Until("the card", `document.querySelectorAll('.tool-card').length === 1`)
	s.daemon.Append(id, sessions.KindPane, texts(6, 5001)...) // the window has 5000 lines
	first := `document.querySelector('#lines > [data-n]')`
	b.Until("the rest of the call", first+`.dataset.n === '2' && !`+first+`.hidden && `+first+`.textContent === '  more'`)
	b.Until("a card of the result", `document.querySelector('#lines > [data-n="4"] .tool-card')?.checkVisibility()`)
}
