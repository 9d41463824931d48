package agent

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// forgedCalls draws Qwen Code's questions whether it may begin a sub-agent or fetch a page, of
// which only a part is on the screen: what can be allowed is what its own record says.
func forgedCalls(t *testing.T, from [][]string, runs int) {
	t.Helper()
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]int{}
	defer func() { t.Log("with records:", told) }()
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			c := qwenCall{
				tool: rapid.SampledFrom([]string{qwenAgent, qwenFetch}).Draw(rt, "tool"), description: someText(rt, from, 4), prompt: someText(rt, from, 40),
				url: "http://127.0.0.1/" + rapid.StringMatching(`[a-z]{0,80}(\?[a-z]=[0-9*_]{1,60})?`).Draw(rt, "url"),
			}
			got := c.read(rt, set.Get("qwen"), from)
			if got == nil {
				told["not read"]++
				return
			}
			if !got.Unseen {
				rt.Fatalf("all is said to be seen of\n%s", shown(got))
			}
			told[c.check(rt, set.Get("qwen"), got, from)]++
		})
	}
	if told["recorded"]*4 < told["unseen"] {
		t.Errorf("%d were recorded, %d weren't", told["recorded"], told["unseen"])
	}
}

// someText draws a text of so many rows at most.
func someText(rt *rapid.T, from [][]string, most int) string {
	return strings.Join(someRows(rt, from, 1, rapid.SampledFrom([]int{1, 1, 2, most}).Draw(rt, "most"), "text"), "\n")
}

// qwenCall is a call of a tool, of which Qwen Code draws a part.
type qwenCall struct{ tool, description, prompt, url string }

// hook is what a hook tells of it.
func (c qwenCall) hook(rt *rapid.T) Hook {
	values := map[string]string{"description": c.description, "prompt": c.prompt, "subagent_type": "general-purpose"}
	if c.tool == qwenFetch {
		values = map[string]string{"url": c.url, "prompt": c.prompt}
	}
	return qwenHook(rt, c.tool, values)
}

// read draws the question as Qwen Code 0.15.10 or 0.24.4 does, and reads it.
func (c qwenCall) read(rt *rapid.T, p *Profile, from [][]string) *sessions.Dialog {
	width := rapid.SampledFrom([]int{60, 80, 100, 120}).Draw(rt, "width")
	drawn := strings.NewReplacer("**", "", "`", "")
	head, body := "Agent "+c.description, strings.Split(drawn.Replace(c.description), "\n")
	if c.tool == qwenFetch {
		head = "WebFetch Fetching content from " + c.url + ` (format: auto) and processing with prompt: "` + c.prompt + `"`
		body = append(strings.Split(drawn.Replace("Fetch content from "+c.url+" and process with: "+c.prompt), "\n"), "", "URLs to fetch:")
		body = append(body, indented([]string{c.url}, " - ", "", width-8)...)
	}
	options := []string{"› 1. Yes, allow once", "  2. Always allow it in this project", "  3. Always allow it for this user", "  4. No, suggest changes (esc)", ""}
	var dialog []string
	if rapid.Bool().Draw(rt, "framed") {
		rows := append(broken("?  "+strings.Split(head, "\n")[0], width-10)[:1], "")
		rows = slices.Concat(rows, indented(body, "  ", "  ", width-8), []string{"", "Do you want to proceed?", ""}, options)
		dialog = framed(rows, "  ", width-2)
	} else {
		rows := indented(strings.Split(head+" ←", "\n"), "  ? ", "    ", width)
		rows = slices.Concat(rows, []string{""}, indented(body, "     ", "     ", width), []string{"", "   Do you want to proceed?", ""})
		dialog = append(rows, indented(options, "   ", "   ", width)...)
		if rapid.Bool().Draw(rt, "another waits") {
			dialog = append(dialog, "  ? Agent Look again", "")
		}
	}
	rows := slices.Concat(conversation(rt, "qwen", from), dialog, []string{"", "  ⠏ Waiting for user confirmation...", ""})
	height := rapid.SampledFrom([]int{12, 24, 40, 60, 600}).Draw(rt, "height")
	rows = rows[max(0, len(rows)-height):]
	screen := &sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}
	got := p.Prompt(screen, nil)
	if got == nil {
		if u := p.Unread(screen, true); u != nil {
			checkHeadless(rt, u, rows)
		}
	}
	return got
}

// check has hooks tell of the call and of others like it, and returns what came of it.
func (c qwenCall) check(rt *rapid.T, p *Profile, d *sessions.Dialog, from [][]string) string {
	tell := []Hook{c.hook(rt)}
	for range rapid.IntRange(0, 2).Draw(rt, "others") {
		other := c
		switch rapid.IntRange(0, 3).Draw(rt, "how it's another") {
		case 0: // drawn alike
			other.prompt = someText(rt, from, 8)
		case 1:
			other.description, other.url = someText(rt, from, 2), "http://127.0.0.1/other"
		case 2: // of another tool, that says the same
			other.tool = map[string]string{qwenAgent: "skill", qwenFetch: qwenAgent}[c.tool]
			other.description += "\n" + c.prompt
		default:
			tell = append(tell, qwenHook(rt, qwenShell, map[string]string{"command": c.description + "\n" + c.prompt}))
			continue
		}
		tell = append(tell, other.hook(rt))
	}
	if rapid.IntRange(0, 9).Draw(rt, "one is too long") == 0 {
		tell = append(tell, Hook{Agent: "qwen", Signal: Asking, Lost: true})
	}
	var k calls
	for _, h := range rapid.Permutation(tell).Draw(rt, "order") {
		k.noteHook(h)
	}
	late := *d
	if tool, ok := p.formOf(d).toolOf(d); ok {
		k.addRecord(&late, p.formOf(d), tool)
	}
	switch {
	case late.Disputed:
		return "disputed"
	case late.Unseen:
		return "unseen"
	}
	own := newCall(tell[0])
	if late.Call != own.sum || late.Whole != own.said || !strings.Contains(squeezed(late.Whole), squeezed(c.prompt)) {
		rt.Fatalf("it's about %+v\nbut this is shown by its record:\n%s", c, late.Whole)
	}
	return "recorded"
}
