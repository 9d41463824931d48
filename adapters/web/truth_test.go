package web_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/chromedp/chromedp"

	"github.com/panebridge/panebridge/internal/browsertest"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/sessions"
)

// shownNode is a node of the conversation, as the page has it.
type shownNode struct {
	N      int64  `json:"n"`
	After  int64  `json:"after"`
	Text   string `json:"text"`
	Drawn  bool   `json:"drawn"`
	Card   string `json:"card"` // of a tool: how far it is, its name, what it's about; "": it's none
	Hidden bool   `json:"hidden"`
}

// shownNodes are lines and gaps in the document, without who wrote them and what code's head says.
const shownNodes = `Array.from(document.querySelectorAll('#lines > [data-n], #lines > [data-after]'), (node) => {
	const copy = node.cloneNode(true);
	for (const part of copy.querySelectorAll('.author, .md-code-head, .md-box')) part.remove();
	return { n: Number(node.dataset.n ?? 0), after: Number(node.dataset.after ?? -1), text: copy.textContent, drawn: Boolean(node.dataset.drawn), hidden: node.hidden,
		card: [...node.querySelectorAll('.tool-card')].map((card) => [card.dataset.state, card.querySelector('.tool-name').textContent, card.querySelector('.tool-arg').textContent].join(' '))[0] ?? '' };
})`

// history is a drawn conversation, and what the log has of it.
type history struct {
	*testing.T

	s     *site
	b     *browsertest.Browser
	id    sessions.ID
	name  string
	other sessions.ID // has answers, too
	rand  *rand.Rand
	lines []sessions.Line
	gaps  []int64 // the lines behind which gaps stand
	done  []string
	tools []string // keys of calls that haven't returned
}

func (h *history) note(format string, args ...any) {
	h.done = append(h.done, fmt.Sprintf(format, args...))
}

func (h *history) block(kind sessions.LineKind, text string) {
	h.s.daemon.Block(h.id, kind, text)
	for i, line := range strings.Split(text, "\n") {
		h.lines = append(h.lines, sessions.Line{N: int64(len(h.lines) + 1), Kind: kind, Text: line, Begins: i == 0})
	}
}

func (h *history) flood(n int) {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprintf("row %d of a flood", len(h.lines)+1)
		h.lines = append(h.lines, sessions.Line{N: int64(len(h.lines) + 1), Kind: sessions.KindPane, Text: all[i]})
	}
	h.s.daemon.Append(h.id, sessions.KindPane, all...)
}

// step does one thing that agents, people, networks or readers do.
func (h *history) step() {
	seed := h.rand.Uint64()
	switch what := h.rand.IntN(17); what {
	case 0, 1, 2:
		h.note("an answer")
		h.block(sessions.KindAnswer, strings.TrimRight(rendertest.WellFormed([]uint64{seed}).Source, "\n"))
	case 3:
		h.note("an odd answer")
		h.block(sessions.KindAnswer, strings.TrimRight(rendertest.Garbage([]uint64{seed}), "\n"))
	case 4:
		h.note("a text")
		h.block(sessions.KindUser, fmt.Sprintf("please do %d\n<b>now</b>", seed%1000))
	case 5, 6:
		h.tool(seed)
	case 7:
		n := 1 + h.rand.IntN(1500)
		h.note("a flood of %d", n)
		h.flood(n)
	case 8:
		h.note("a gap")
		h.s.daemon.Gap(h.id, int64(h.rand.IntN(3)), "the terminal was cleared")
		h.gaps = append(h.gaps, int64(len(h.lines)))
	case 9:
		h.note("a turn")
		h.s.daemon.Turn(h.id, true)
		h.block(sessions.KindPane, "x")
		if h.s.daemon.Turn(h.id, false); h.rand.IntN(2) == 0 {
			h.s.daemon.Turn(h.id, true)
			h.s.daemon.FailTurn(h.id, "Overloaded")
		}
	case 10:
		h.note("the daemon restarts")
		h.s.stop()
		if h.rand.IntN(2) == 0 {
			h.flood(1 + h.rand.IntN(50))
		}
		h.s.start(h.T)
	case 11:
		h.note("the reader goes to the newest")
		browsertest.Eval[bool](h.b, `(document.querySelector('#newest').click(), true)`)
	case 12:
		h.note("the page is loaded anew")
		h.b.Do(chromedp.Reload())
		h.b.Until("the session", fmt.Sprintf(`document.querySelector('#lines > [data-n]') || %t`, len(h.lines) == 0))
	case 13, 14:
		h.note("another session for a moment")
		browsertest.Eval[string](h.b, fmt.Sprintf(`(document.querySelector('#newest').click(), location.hash = %q, '')`, h.other))
		h.b.Do(chromedp.Sleep(time.Duration(h.rand.IntN(40)) * time.Millisecond))
		browsertest.Eval[string](h.b, fmt.Sprintf(`(document.querySelector('#turn-before').click(), location.hash = %q, '')`, h.id))
		h.b.Until("the session", fmt.Sprintf(`document.querySelector('#name').textContent === %q && (document.querySelector('#lines > [data-n]') || %t)`, h.name, len(h.lines) == 0))
	default:
		part := h.rand.Float64()
		h.note("the reader goes to %.2f", part)
		h.scroll(part)
	}
}

func (h *history) scroll(part float64) {
	browsertest.Eval[float64](h.b, fmt.Sprintf(`(() => { const s = document.querySelector('#scroller'); return s.scrollTop = s.scrollHeight * %f; })()`, part))
}

// wrong says what the page shows that the log hasn't, or not there; "": nothing.
func (h *history) wrong() string {
	nodes := browsertest.Eval[[]shownNode](h.b, shownNodes)
	var last int64
	first, end := window(nodes)
	for i, node := range nodes {
		if node.N == 0 {
			if node.After != last && i > 0 {
				return fmt.Sprintf("a gap behind line %d stands behind line %d", node.After, last)
			}
			continue
		}
		if last > 0 && node.N != last+1 || node.N > int64(len(h.lines)) {
			return fmt.Sprintf("line %d stands behind line %d of %d", node.N, last, len(h.lines))
		}
		last = node.N
		line := h.lines[node.N-1]
		if line.Kind == sessions.KindTool {
			if wrong := h.wrongTool(node, first, end); wrong != "" {
				return wrong
			}
			continue
		}
		switch {
		case node.Drawn:
			if got, want := lettersOf(node.Text), lettersOf(h.drawnText(node.N, nodes[len(nodes)-1])); got != want {
				return fmt.Sprintf("the answer in line %d is\n%q, want\n%q", node.N, got, want)
			}
		case node.Hidden:
			if line.Kind != sessions.KindAnswer || line.Begins {
				return fmt.Sprintf("line %d is hidden", node.N)
			}
		case node.Text != line.Text:
			return fmt.Sprintf("line %d is %q, want %q", node.N, node.Text, line.Text)
		}
	}
	if browsertest.Eval[bool](h.b, `[...document.querySelectorAll('#lines .failure')].some((mark) => mark.textContent.includes('another'))`) {
		return "a mark of another session is there"
	}
	return h.wrongGaps(nodes)
}

// wrongGaps says which gap isn't there within the window, or is there twice.
func (h *history) wrongGaps(nodes []shownNode) string {
	var first, last int64
	shown := map[int64]int{}
	for _, node := range nodes {
		if node.N == 0 {
			shown[node.After]++
			continue
		}
		if first == 0 {
			first = node.N
		}
		last = node.N
	}
	want := map[int64]int{}
	for _, after := range h.gaps {
		want[after]++
	}
	for after, n := range want {
		if after >= first && after < last && shown[after] != n {
			return fmt.Sprintf("behind line %d stand %d gaps, want %d", after, shown[after], n)
		}
	}
	return ""
}

// drawnText is what's to be seen of the answer that begins in a line, as far as the document has it.
func (h *history) drawnText(n int64, end shownNode) string {
	last := end.N
	if last == 0 {
		last = end.After
	}
	var source []string
	for i := n - 1; i < last; i++ {
		if line := h.lines[i]; line.Kind != sessions.KindAnswer || line.Begins && i > n-1 {
			break
		}
		source = append(source, h.lines[i].Text)
	}
	return rendertest.TreeText(render.Tree(strings.Join(source, "\n")), false)
}

// lettersOf are a text's letters and digits.
func lettersOf(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

// What the page shows of drawn conversations is what the log has, once, in order, wherever the
// reader is.
func TestThePageShowsTheLog(t *testing.T) {
	t.Parallel()
	slow(t)
	const perBrowser = 100 // one has its patience
	s := newSite(t)
	other := s.daemon.Add("other", "claude")
	for i := range 30 {
		s.daemon.Turn(other, true)
		s.daemon.Block(other, sessions.KindAnswer, fmt.Sprintf("**another's** answer %d\n\n- a\n- b", i))
		s.daemon.FailTurn(other, "another's")
	}
	var b *browsertest.Browser
	i := 0
	for seed := range drawtest.Seeds(t, drawtest.Times(1000, 8, 2)) {
		if i%perBrowser == 0 {
			b = browse(t, 1280, 800)
			b.Do(s.open())
			b.Until("the page", `document.querySelectorAll('.session').length > 0`)
		}
		i++
		h := &history{T: t, s: s, b: b, other: other, name: fmt.Sprint("drawn ", i), id: s.daemon.Add(fmt.Sprint("drawn ", i), "claude"), rand: rand.New(rand.NewPCG(seed, 6))}
		browsertest.Eval[string](b, fmt.Sprintf(`location.hash = %q`, h.id))
		b.Until("the session", fmt.Sprintf(`document.querySelector('#name').textContent === 'drawn %d'`, i))
		settled := func() {
			t.Helper()
			wrong := ""
			for range 200 {
				if wrong = h.wrong(); wrong == "" && browsertest.Eval[bool](b, `![...document.querySelectorAll('.line.answer[data-begins]')].some((l) => !l.dataset.drawn)`) {
					return
				}
				b.Do(chromedp.Sleep(20 * time.Millisecond))
			}
			t.Fatalf("conversation %d, seed %d, after %s: %s", i, seed, strings.Join(h.done, ", "), wrong)
		}
		for range 5 + h.rand.IntN(20) {
			h.step()
			if wrong := h.wrong(); strings.Contains(wrong, "stands behind") {
				t.Fatalf("conversation %d, seed %d, after %s: %s", i, seed, strings.Join(h.done, ", "), wrong)
			}
		}
		for range 3 {
			h.note("a look")
			h.scroll(h.rand.Float64())
			settled()
		}
		browsertest.Eval[bool](b, `(document.querySelector('#newest').click(), true)`)
		h.note("the newest")
		b.Until("the newest line", fmt.Sprintf(`(document.querySelector('#newest').click(), [...document.querySelectorAll('#lines > [data-n]')].at(-1)?.dataset.n ?? '0') === '%d'`, len(h.lines)))
		settled()
		if err := s.daemon.Close(t.Context(), h.id); err != nil {
			t.Fatal(err)
		}
	}
}
