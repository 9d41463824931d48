package agent

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// serverCall is a call of a tool of an MCP server, with its parameters in their order.
type serverCall struct {
	server, tool string
	names        []string
	values       []any
}

// someServerCall draws one, of which texts have any dialog of any agent.
func someServerCall(rt *rapid.T, from [][]string) serverCall {
	c := serverCall{server: rapid.SampledFrom([]string{"lab", "my-server", "a_b"}).Draw(rt, "server"), tool: rapid.SampledFrom([]string{"put_any", "run", "delete_all"}).Draw(rt, "tool")}
	names := rapid.Permutation([]string{"a", "command", "name", "text", "zed", "a b", "a: b", "漢字", "two\nrows", "q\"uote", "description", "MCP Server", "Tool"}).Draw(rt, "names")
	for _, name := range names[:rapid.IntRange(0, 4).Draw(rt, "params")] {
		c.names = append(c.names, name)
		c.values = append(c.values, someArgument(rt, from))
	}
	return c
}

// someArgument draws a value.
func someArgument(rt *rapid.T, from [][]string) any {
	switch rapid.IntRange(0, 3).Draw(rt, "kind of value") {
	case 0:
		most := rapid.SampledFrom([]int{1, 2, 8, 30, 500}).Draw(rt, "most")
		return strings.Join(someRows(rt, from, 1, most, "rows"), "\n")
	case 1:
		return rapid.SampledFrom([]any{true, false, nil, 7, -3.5, []any{"x", 1, nil, []any{}}, map[string]any{"k": "multi\nline", "a b": map[string]any{}}, []any{}, map[string]any{}}).Draw(rt, "value")
	}
	return rapid.SampledFrom([]any{
		"x", "", "row one\nrow two", "row one row two", "ls -la # \nrm -rf build", strings.Repeat("word ", 40), strings.Repeat("x", 200), "\nx", "x\n", "\n",
		"say \"hi\" \\ 'x'", "\\n", "e\u0301 a\u200bb 漢字 👩‍💻 ─│ \u202ex\u001b[31m\ta", "…", "x…", "b: \"x\"", "x\n b: \"x\"", "}", "\"}", "←",
		"x\nMCP Server: lab\nTool: put_any", "  ? put_any (lab MCP Server) {} ←", strings.Repeat("╌", 120),
		"x\n" + strings.Repeat("╌", 100) + "\n About the lab — Run Tool:\n │ It reads.\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend",
		"Allow execution of MCP tool \"run\" from server \"lab\"?\n\n● 1. Allow once\n╰────────╯",
	}).Draw(rt, "value")
}

// forged is a call that's nearly the same.
func (c serverCall) forged(rt *rapid.T) serverCall {
	out := serverCall{c.server, c.tool, slices.Clone(c.names), slices.Clone(c.values)}
	last := len(out.names) - 1
	switch how := rapid.IntRange(0, 6).Draw(rt, "how"); {
	case how == 0:
		out.tool = rapid.SampledFrom([]string{"delete", "put_any", "run"}).Draw(rt, "other tool")
	case how == 1:
		out.server = "other"
	case how == 2 || last < 0:
		out.names, out.values = append(out.names, "zzz"), append(out.values, "deletes all")
	case how == 3:
		out.names, out.values = out.names[:last], out.values[:last]
	case how == 4: // the next parameter as a row of the one before
		if text, ok := out.values[max(0, last-1)].(string); ok && last > 0 {
			out.values[last-1] = text + "\n " + out.names[last] + ": " + inJSON(out.values[last])
			out.names, out.values = out.names[:last], out.values[:last]
		}
	case how == 5:
		out.names[last] += "x"
	default:
		if text, ok := out.values[last].(string); ok {
			out.values[last] = text + " # and more"
		} else {
			out.values[last] = "other"
		}
	}
	return out
}

// inJSON is a value as JavaScript writes it.
func inJSON(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)
	return strings.TrimSuffix(b.String(), "\n")
}

func (c serverCall) json() string {
	var fields []string
	for i, name := range c.names {
		fields = append(fields, inJSON(name)+":"+inJSON(c.values[i]))
	}
	return "{" + strings.Join(fields, ",") + "}"
}

// letters are what two calls have alike that look the same.
func (c serverCall) letters() string { return drawnLetters(c.server + "." + c.tool + c.json()) }

// hook is what the agent tells of it.
func (c serverCall) hook(agent string, n int) Hook {
	h := Hook{Agent: agent, Signal: Asking, Tool: "mcp__" + c.server + "__" + c.tool, Input: json.RawMessage(c.json())}
	switch agent {
	case "gemini":
		h.Signal = ToolStart
	case "opencode":
		h.Tool, h.Request, h.Conversation, h.Saves = c.server+"_"+c.tool, fmt.Sprintf("per_%d", n), "ses_1", []string{"*"}
	}
	h.bindInput(nil)
	return h
}

// aTitle is a name as Claude Code draws it.
func aTitle(name string) string {
	words := strings.Split(name, "_")
	for i, word := range words {
		words[i] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, " ")
}

// tame replaces what terminals don't draw as Claude Code does.
func tame(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\u00a0':
			return ' '
		case r == '\u200d':
			return r
		case unicode.In(r, unicode.Cc, unicode.Cf):
			return unicode.ReplacementChar
		}
		return r
	}, text)
}

// claudeRows are the parameters as Claude Code draws them.
func (c serverCall) claudeRows(rt *rapid.T, width int) (out []string) {
	for i, name := range c.names {
		key := tame(inJSON(name))
		if bareName.MatchString(name) {
			key = name
		}
		text, isText := c.values[i].(string)
		inline := `"` + tame(strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text)) + `"`
		block := strings.Split(text, "\n")
		if !isText {
			inline = tame(bareJSON(json.RawMessage(inJSON(c.values[i]))))
			block = []string{inline}
		}
		row := " " + key + ": " + inline
		if !strings.Contains(text, "\n") && displaywidth.String(row) < width-4 && (len(text) < 3 || rapid.Bool().Draw(rt, "short")) {
			out = append(out, row)
			continue
		}
		out = append(out, " "+key+":")
		for _, row := range block {
			out = append(out, indented([]string{tame(row)}, "   │ ", "   │ ", width)...)
		}
	}
	return out
}

// toolDrawings draw the question whether a tool of an MCP server may be called, as agents do: the
// dialog, and what of it has to be shown where all is drawn.
var toolDrawings = []struct {
	name, agent string
	whole       bool // all of it is drawn
	draw        func(rt *rapid.T, c serverCall, width int) (dialog, about []string)
}{
	{"claude", "claude", true, func(rt *rapid.T, c serverCall, width int) (dialog, about []string) {
		rule, title := strings.Repeat("╌", width), c.server+" — "+aTitle(c.tool)
		about = []string{" Tool use", " " + title + " Tool: (MCP)"}
		dialog = append([]string{strings.Repeat("─", width)}, about...)
		if rows := c.claudeRows(rt, width); len(rows) > 0 {
			about = append(append(about, rule), rows...)
			dialog, about = append(append(append(dialog, rule), rows...), rule), append(about, rule)
		}
		tail := []string{" About the " + title + " Tool:", " │ Puts all that it's given into a file.", ""}
		about = append(about, tail[:2]...)
		return slices.Concat(dialog, tail, []string{
			" Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don't ask again for " + title + " commands in /srv/project", "   3. No", "", " Esc to cancel · Tab to amend",
		}), about
	}},
	{"gemini", "gemini", false, func(_ *rapid.T, c serverCall, width int) (dialog, about []string) {
		head := "?  " + c.tool + " (" + c.server + " MCP Server) " + c.json()
		if row := broken(head, width-6)[0]; row != head {
			head = row + "…"
		}
		return framed([]string{
			"Action Required", "", head, "", "MCP Server: " + c.server, "Tool: " + c.tool, "", "MCP Tool Details:", "(press Ctrl+O to expand MCP tool details)",
			`Allow execution of MCP tool "` + c.tool + `" from server "` + c.server + `"?`, "",
			"● 1. Allow once", "  2. Allow tool for this session", "  3. Allow all server tools for this session", "  4. No, suggest changes (esc)",
		}, "", width), nil
	}},
	{"qwen", "qwen", false, func(_ *rapid.T, c serverCall, width int) (dialog, about []string) {
		head := "?  " + c.tool + " (" + c.server + " MCP Server) " + c.json()
		if row := broken(head, width-10)[0]; row != head {
			head = row + "…"
		}
		rows := append([]string{head + " ←", "", "  MCP Server: " + c.server, "  Tool: " + c.tool, ""}, qwenAsks(c)...)
		return append(framed(rows, "  ", width-2), "", "  ⠏ Waiting for user confirmation...", ""), nil
	}},
	{"qwen without a frame", "qwen", true, func(rt *rapid.T, c serverCall, width int) (dialog, about []string) {
		head := func(c serverCall) []string {
			return indented([]string{"? " + c.tool + " (" + c.server + " MCP Server) " + c.json()}, "  ", "    ", width-2)
		}
		rows := head(c)
		rows[0] += strings.Repeat(" ", max(1, width-4-displaywidth.String(rows[0]))) + "←"
		rows = append(rows, "", "     MCP Server: "+c.server, "     Tool: "+c.tool)
		about = append(slices.Clone(rows), "")
		rows = append(rows, "")
		for _, row := range qwenAsks(c) {
			rows = append(rows, strings.TrimRight("   "+row, " "))
		}
		for range rapid.IntRange(0, 2).Draw(rt, "others that wait") {
			rows = append(append(rows, head(c.forged(rt))...), "")
		}
		return append(rows, "  ⠏ Waiting for user confirmation...", ""), about[:len(about)-1]
	}},
	{"opencode", "opencode", false, func(_ *rapid.T, c serverCall, _ int) (dialog, about []string) {
		name := c.server + "_" + c.tool
		return []string{
			"", "  ┃", "  ┃  △ Permission required", "  ┃    ⚙ Call tool " + name, "  ┃", "  ┃  Tool: " + name, "  ┃", "  ┃",
			"  ┃   Allow once   Allow always   Reject             ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃",
		}, nil
	}},
}

func qwenAsks(c serverCall) []string {
	return []string{
		`Allow execution of MCP tool "` + c.tool + `" from server "` + c.server + `"?`, "", "› 1. Yes, allow once", "  2. Always allow mcp__" + c.server + "__" + c.tool + " in this project",
		"  3. Always allow mcp__" + c.server + "__" + c.tool + " for this user", "  4. No, suggest changes (esc)", "",
	}
}

// Hooks tell of the call that a dialog about an MCP server's tool asks about, of others and of some
// that there aren't, late, again and side by side: what can be allowed was shown whole, by its own
// record or by the screen.
func TestForgedServerCalls(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	from, runs := pieces(t), forgedRuns()
	for i, g := range toolDrawings {
		t.Run(g.name, func(t *testing.T) {
			told := map[string]int{}
			for range runs {
				drawtest.Check(t, func(rt *rapid.T) { told[forgedServerCall(rt, set.Get(g.agent), i, from)]++ })
			}
			t.Log(told)
			if told["recorded"]+5 < 5*told["not recognised"] || told["recorded"] == 0 {
				t.Errorf("the calls' own records: %v", told)
			}
		})
	}
}

func forgedServerCall(rt *rapid.T, p *Profile, drawing int, from [][]string) string {
	g, call := toolDrawings[drawing], someServerCall(rt, from)
	width := rapid.SampledFrom([]int{70, 100, 120}).Draw(rt, "width")
	dialog, about := g.draw(rt, call, width)
	rows := append(conversation(rt, g.agent, from), dialog...)
	height := rapid.SampledFrom([]int{12, 24, 40, 600}).Draw(rt, "height")
	hidden := max(0, len(rows)-height) - (len(rows) - len(dialog)) // rows of the dialog above the screen
	rows = rows[max(0, len(rows)-height):]
	screen := &sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}
	d := p.Prompt(screen, nil)
	if d == nil {
		if u := p.Unread(screen, true); u != nil {
			checkHeadless(rt, u, rows)
		}
		return "not read"
	}
	f := p.formOf(d)
	if !d.Unseen {
		if !g.whole || hidden > 0 && strings.TrimSpace(strings.Join(dialog[:hidden], "")) != "" {
			rt.Fatalf("%d rows are hidden, and that isn't said:\n%s\n%s", hidden, strings.Join(rows, "\n"), shown(d))
		}
		if want := asRead(about); squeezed(d.Body) != squeezed(want) {
			rt.Fatalf("it's about\n%s\nbut this is shown:\n%s\nthe screen:\n%s", want, d.Body, strings.Join(rows, "\n"))
		}
	}
	own := rapid.IntRange(0, 4).Draw(rt, "its own record") > 0
	all := map[string]serverCall{}
	var tell []Hook
	add := func(c serverCall) {
		h := c.hook(g.agent, len(tell))
		all[sumOf(h)] = c
		for tell = append(tell, h); g.agent != "opencode" && rapid.IntRange(0, 4).Draw(rt, "again") == 0; {
			tell = append(tell, h)
		}
	}
	if own {
		add(call)
	}
	if own || !d.Unseen { // of what can't be seen one can be forged, if the call's own doesn't come
		for range rapid.IntRange(0, 2).Draw(rt, "others") {
			add(call.forged(rt))
		}
		if rapid.IntRange(0, 9).Draw(rt, "a command waits") == 0 {
			tell = append(tell, Hook{Agent: g.agent, Signal: Asking, Tool: "Bash", Input: json.RawMessage(`{"command":"ls"}`)})
		}
		if rapid.IntRange(0, 9).Draw(rt, "one is too long") == 0 {
			tell = append(tell, Hook{Agent: g.agent, Signal: Asking, Tool: "Bash", Lost: true})
		}
	}
	var c calls
	ask := func() *sessions.Dialog {
		again := *d
		if f.Params != nil {
			c.recordTool(f, &again)
		} else {
			c.addRecord(&again, nil, "")
		}
		return &again
	}
	heard := false // its own
	for _, h := range rapid.Permutation(tell).Draw(rt, "order") {
		c.noteHook(h)
		heard = heard || sumOf(h) == sumOf(call.hook(g.agent, 0))
		if now := ask(); heard && now.Call != "" && !now.Disputed && all[now.Call].letters() != call.letters() {
			rt.Fatalf("this is shown:\n%s\nof\n%s", now.Whole, strings.Join(rows, "\n"))
		}
	}
	late := ask()
	switch {
	case late.Disputed && !late.Unseen:
		rt.Fatal("it's disputed, and can be allowed")
	case late.Disputed && own && len(all) == 1:
		rt.Fatalf("its own record is disputed:\n%s\nof\n%s", late.Whole, strings.Join(rows, "\n"))
	case late.Disputed:
		return "disputed"
	case late.Call != "" && all[late.Call].letters() != call.letters():
		rt.Fatalf("this is shown:\n%s\nof\n%s", late.Whole, strings.Join(rows, "\n"))
	case late.Call != "" && own && late.Call != sumOf(call.hook(g.agent, 0)):
		rt.Fatalf("another's record is taken:\n%s\nof\n%s", late.Whole, strings.Join(rows, "\n"))
	case late.Call != "":
		return "recorded"
	case !late.Unseen:
		if d.Unseen {
			rt.Fatal("it can be allowed without a record")
		}
		if own && len(tell) == 1 {
			return "not recognised"
		}
		return "as drawn"
	case own && len(tell) == 1 && hidden <= 0 && !d.Headless:
		return "not recognised"
	}
	return "refusals only"
}
