package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// forgedTwins has Qwen Code ask about a call whose own record isn't drawn as it is, while others wait
// that are made to say just what's drawn: none of these is shown in its place.
func forgedTwins(t *testing.T, runs int) {
	t.Helper()
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	p := set.Get("qwen")
	told := map[string]int{}
	defer func() { t.Log("with twins:", told) }()
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			own, rows := someTwin(rt)
			rows = append([]string{"  > do it", "", "  ◆ I do.", ""}, rows...)
			d := p.Prompt(&sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}, nil)
			if d == nil {
				rt.Fatalf("it isn't read:\n%s", strings.Join(rows, "\n"))
			}
			tell := []Hook{own}
			for range rapid.IntRange(1, 3).Draw(rt, "twins") {
				tell = append(tell, twinOf(rt, d, own))
			}
			tell = rapid.Permutation(tell).Draw(rt, "order")
			for i := range rapid.SampledFrom([]int{0, 0, 12, 40}).Draw(rt, "more") {
				tell = append(tell, qwenHook(rt, qwenAgent, map[string]string{"description": "other", "prompt": fmt.Sprint(i), "subagent_type": "x"}))
			}
			if rapid.Bool().Draw(rt, "the twin last") {
				tell = append(tell, twinOf(rt, d, own))
			}
			var k calls
			for _, h := range tell {
				k.noteHook(h)
			}
			late := *d
			if tool, ok := p.formOf(d).toolOf(d); ok {
				k.addRecord(&late, p.formOf(d), tool)
			}
			told[fmt.Sprintf("recorded %v, unseen %v", late.Call != "" && !late.Disputed, late.Unseen)]++
			if late.Call != "" && !late.Disputed && late.Call != newCall(own).sum {
				rt.Fatalf("it asks about %s %s\nand this is shown:\n%s\non the screen\n%s", own.Tool, own.Input, late.Whole, strings.Join(rows, "\n"))
			}
		})
	}
}

func qwenHook(rt *rapid.T, tool string, input map[string]string) Hook {
	text, err := json.Marshal(input)
	if err != nil {
		rt.Fatal(err)
	}
	h := Hook{Agent: "qwen", Signal: Asking, Tool: tool, Input: text}
	h.bindInput(nil)
	return h
}

// someTwin draws a call, and what Qwen Code 0.24.4 draws of it.
func someTwin(rt *rapid.T) (own Hook, rows []string) {
	words := rapid.SampledFrom([]string{"Run the tests", "Tidy up /tmp/x/", "Look at the list again"}).Draw(rt, "words")
	options := []string{"", "   › 1. Yes, allow once", "     2. Always allow in this project", "     3. Always allow for this user", "     4. No, suggest changes (esc)", "", "  ⠏ Waiting for user confirmation...", ""}
	sub := func(title string, body ...string) []string {
		out := append([]string{"  ⊷ Agent " + words + "   6s", "     Approval requested by general-purpose:"}, body...)
		return append(out, "     "+title, "     › 1. Yes, allow once", "       2. Allow always", "       3. No", "", "  ⠏ Waiting for user confirmation...", "")
	}
	odd := rapid.SampledFrom([][2]string{{"\x1b[0m", `\u001b[0m`}, {"\u0378", ""}, {"\U0001ccfa", ""}}).Draw(rt, "odd") // and what's drawn of it
	switch rapid.IntRange(0, 4).Draw(rt, "kind") {
	case 0: // a link is drawn otherwise
		own = qwenHook(rt, qwenAgent, map[string]string{"description": words + " [here](http://127.0.0.1/x)", "prompt": "Run evil", "subagent_type": "general-purpose"})
		drawn := words + " here (http://127.0.0.1/x)"
		return own, append([]string{"  ? Agent " + words + " [here](http://127.0.0.1/x) ←", "", "     " + drawn, "", "   Do you want to proceed?"}, options...)
	case 1: // a tool of an MCP server
		own = qwenHook(rt, "mcp__lab__put_any", map[string]string{"name": "evil", "text": words})
		return own, sub("Do you want to proceed?", "       MCP Server: lab", "       Tool: put_any")
	case 2: // a change of which the file's rows around it are drawn
		own = qwenHook(rt, "edit", map[string]string{"file_path": "/home/me/.bashrc", "old_string": "HISTSIZE=1", "new_string": "HISTSIZE=1\nevil &"})
		return own, sub("Apply this change?", "       ... first 12 lines hidden ...", "       13    shopt -s histappend", "       14    # "+words, "       15    alias ll='ls -l'")
	case 3: // what can't be drawn
		own = qwenHook(rt, qwenShell, map[string]string{"command": "echo " + words + odd[0] + " / evil", "description": words})
		return own, sub("Do you want to proceed?", "       echo "+words+odd[1]+" / evil")
	}
	own = qwenHook(rt, qwenShell, map[string]string{"command": "echo " + words + odd[0] + " / evil", "description": words})
	drawn := "echo " + words + odd[1] + " / evil"
	return own, append([]string{"  ? Shell " + drawn + " (" + words + ") ←", "", "     " + drawn, "", "   Allow execution of: 'echo'?"}, options...)
}

// twinOf is a call that says what a dialog draws, and isn't what it's about.
func twinOf(rt *rapid.T, d *sessions.Dialog, own Hook) Hook {
	drawn := strings.Join(d.Drawn, "\n")
	switch rapid.IntRange(0, 3).Draw(rt, "twin") {
	case 0:
		return qwenHook(rt, qwenShell, map[string]string{"command": "echo \"\n" + drawn + "\"", "description": "Say it"})
	case 1: // blanks make another command
		if own.Tool == qwenShell {
			return qwenHook(rt, qwenShell, map[string]string{"command": strings.ReplaceAll(strings.TrimSpace(drawn), " /", "/"), "description": "Tidy up"})
		}
	case 2:
		return qwenHook(rt, qwenAgent, map[string]string{"description": strings.TrimSpace(drawn), "prompt": "Be good", "subagent_type": "general-purpose"})
	}
	return qwenHook(rt, own.Tool, map[string]string{"description": strings.TrimSpace(drawn), "command": strings.TrimSpace(drawn), "prompt": "Be good"})
}
