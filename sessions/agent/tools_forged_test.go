package agent

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// usesTool is a call of an MCP server's tool.
type usesTool struct {
	tool   string
	params map[string]any
}

// someTool draws a call.
func someTool(rt *rapid.T) usesTool {
	names := []string{"a", "b", "command", "name", "text", "zed", "", "a b", "a: b", "漢字", "two\nrows"}
	c := usesTool{tool: rapid.SampledFrom([]string{"put_file", "run"}).Draw(rt, "tool"), params: map[string]any{}}
	for range rapid.IntRange(0, 5).Draw(rt, "params") {
		c.params[rapid.SampledFrom(names).Draw(rt, "name")] = someParam(rt)
	}
	return c
}

// someParam draws a parameter's value.
func someParam(rt *rapid.T) any {
	return rapid.SampledFrom([]any{
		"x", "", "row one\nrow two", "row one row two", "ls -la # \nrm -rf build", strings.Repeat("word ", 40), strings.Repeat("x", 60), strings.Repeat("x", 61), strings.Repeat("x", 57) + "...",
		"› 1. Allow  Run the tool and continue", "Field 1/1\n  Allow the lab MCP server to run tool \"run\"?", "a: b\nb: c", "enter to submit | esc to cancel", "e\u0301 a\u200bb 漢字 👩‍💻 ─│", "...",
		true, false, nil, 7.0,
		[]any{"x", 1.0, nil},
		map[string]any{"k": "multi\nline", "z": []any{}},
	}).Draw(rt, "value")
}

// forged is a call that's nearly the same.
func (c usesTool) forged(rt *rapid.T) usesTool {
	out := usesTool{c.tool, maps.Clone(c.params)}
	names := slices.Sorted(maps.Keys(c.params))
	last := func() (string, string) { // one of those that may not be drawn
		for _, name := range slices.Backward(names) {
			if text, ok := c.params[name].(string); ok {
				return name, text
			}
		}
		return "zzz", "x"
	}
	switch rapid.IntRange(0, 5).Draw(rt, "how") {
	case 0:
		name, text := last()
		out.params[name] = text + " and more"
	case 1:
		name, text := last()
		out.params[name] = strings.ReplaceAll(text, " ", "\n")
	case 2:
		out.params["zzz"] = "deletes all"
	case 3:
		out.params[""] = "deletes all"
	case 4:
		delete(out.params, rapid.SampledFrom(append(names, "none")).Draw(rt, "left out"))
	default:
		out.tool = "delete"
	}
	return out
}

func (c usesTool) asks() string { return `Allow the lab MCP server to run tool "` + c.tool + `"?` }

// asked is the call as Codex' app server asks about it.
func (c usesTool) asked(rt *rapid.T) json.RawMessage {
	var drawn []any
	for _, name := range slices.Sorted(maps.Keys(c.params)) {
		drawn = append(drawn, map[string]any{"name": name, "value": c.params[name], "display_name": name})
	}
	out, err := json.Marshal(map[string]any{
		"threadId": ourThread, "serverName": "lab", "mode": "form", "message": c.asks(), "requestedSchema": map[string]any{"type": "object", "properties": map[string]any{}},
		"_meta": map[string]any{"codex_approval_kind": "mcp_tool_call", "tool_name": c.tool, "tool_params": c.params, "tool_params_display": drawn},
	})
	if err != nil {
		rt.Fatal(err)
	}
	return out
}

// rows are those by which Codex draws the call. It draws no parameter without a name; whether
// that's one of the three isn't known.
func (c usesTool) rows(counted bool) []string {
	var out []string
	names := slices.Sorted(maps.Keys(c.params))
	if counted {
		names = names[:min(3, len(names))]
	}
	for _, name := range names {
		if name == "" || len(out) == 3 {
			continue
		}
		text, ok := c.params[name].(string)
		if !ok {
			b, _ := json.Marshal(c.params[name])
			text = strings.NewReplacer(`":`, `": `, `,`, `, `).Replace(string(b))
		}
		text = strings.Join(strings.Fields(text), " ")
		n, cut := 0, ""
		for g := displaywidth.StringGraphemes(text); g.Next(); n++ {
			if n < 57 {
				cut += g.Value()
			}
		}
		if n > 60 {
			text = cut + "..."
		}
		out = append(out, name+": "+text)
	}
	return out
}

// drawn draws the dialog.
func (c usesTool) drawn(width int, counted bool) []string {
	rows := []string{"• I put it.", "", "• Calling lab." + c.tool, "    + Show details", "", "", "  Field 1/1"}
	wrap := func(text, first, others string) {
		rows = append(rows, indented([]string{text}, first, others, width)...)
	}
	wrap(c.asks(), "  ", "  ")
	rows = append(rows, "")
	for _, row := range c.rows(counted) {
		for part := range strings.SplitSeq(row, "\n") {
			wrap(part, "  ", "  ")
		}
	}
	rows = append(rows, "")
	for i, o := range [][2]string{{"Allow", "Run the tool and continue"}, {"Allow for this session", "Run the tool and remember this choice for this session"}, {"Always allow", "Run the tool and remember this choice for future tool calls"}, {"Cancel", "Cancel this tool call"}} {
		mark := " "
		if i == 0 {
			mark = "›"
		}
		wrap(o[1], fmt.Sprintf("  %s %d. %-22s  ", mark, i+1, o[0]), strings.Repeat(" ", 31))
	}
	return append(rows, "  enter to submit | esc to cancel")
}

// forgedTools has Codex' app server and its hooks tell of the call that a dialog asks about,
// and of others of which it draws the same, or nearly: of a call that's allowed all was seen,
// by its own record, and its request alone is answered.
func forgedTools(t *testing.T, runs int) {
	t.Helper()
	o, p := newReader(t, "codex")
	counts := map[string]int{}
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			call := someTool(rt)
			width, height := rapid.SampledFrom([]int{60, 100, 140}).Draw(rt, "width"), rapid.SampledFrom([]int{9, 40, 600}).Draw(rt, "height")
			counted := rapid.Bool().Draw(rt, "counted")
			rows := call.drawn(width, counted)
			cut := len(rows)-height > 6 // its first row is the seventh
			rows = rows[max(0, len(rows)-height):]
			read := func() *sessions.Dialog {
				return o.recorded(p.Prompt(&sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}, nil))
			}
			o.known.deciders, o.known.calls = nil, nil
			own := rapid.IntRange(0, 4).Draw(rt, "its own waits") > 0
			tell := []usesTool{}
			if own {
				tell = append(tell, call)
			}
			for range rapid.IntRange(0, 3).Draw(rt, "others") {
				tell = append(tell, call.forged(rt))
			}
			twice := false // it's asked about more than once
			var like []usesTool
			for i, c := range tell {
				drawn := squeezed(strings.Join(call.rows(counted), ""))
				if c.tool != call.tool || squeezed(strings.Join(c.rows(false), "")) != drawn && squeezed(strings.Join(c.rows(true), "")) != drawn {
					continue
				}
				if slices.ContainsFunc(like, func(other usesTool) bool { return reflect.DeepEqual(c, other) }) {
					twice = twice || i > 0 && reflect.DeepEqual(c, call)
				} else {
					like = append(like, c)
				}
			}
			// Without a record of its own whoever can call hooks can forge one, but for what's drawn.
			rival := len(like) > 1
			var ours *codexAsk
			var says func(Told) any
			var asks []*codexAsk
			for i, c := range rapid.Permutation(tell).Draw(rt, "order") {
				params := c.asked(rt)
				hook, answer := (&codexLink{thread: ourThread}).readRequest(serverMessage{Method: "mcpServer/elicitation/request", Params: params})
				if answer == nil {
					rt.Fatalf("not read: %s", params)
				}
				hook.Agent, hook.Signal = "codex", Asking
				if rapid.IntRange(0, 3).Draw(rt, "a hook tells of it first") == 0 {
					input, _ := json.Marshal(c.params)
					o.known.calls.noteHook(Hook{Agent: "codex", Signal: Asking, Tool: "mcp__lab__" + c.tool, Input: input})
				}
				a := &codexAsk{hook: hook, decider: &decider{told: make(chan Told, 1), served: true}}
				o.addServed(fmt.Sprint(i), a)
				if asks = append(asks, a); own && reflect.DeepEqual(c, call) {
					ours, says = a, answer
				}
				read() // at any time between
			}
			d := read()
			if d == nil {
				if counts["not read"]++; !cut {
					rt.Fatalf("not read:\n%s", strings.Join(rows, "\n"))
				}
				return
			}
			allowed := slices.ContainsFunc(d.Options, func(o sessions.DialogOption) bool { return !o.Refuses }) && !d.Unseen
			switch {
			case !allowed:
				counts["refusals only"]++
				if own && !cut && !rival && len(tell) == 1 {
					counts["not recognised"]++
				}
			case cut, rival, len(like) == 0:
				rt.Fatalf("it can be allowed, though not all is seen (%v), or another call is drawn so (%v), or none waits:\n%s\n%s", cut, rival, strings.Join(rows, "\n"), shown(d))
			case own && (ours == nil || d.Call != ours.decider.call):
				rt.Fatalf("another call's record is taken: %s\n%s", strings.Join(rows, "\n"), shown(d))
			}
			if own && allowed {
				for name, v := range call.params {
					if text, ok := v.(string); ok && !strings.Contains(squeezed(d.Whole), squeezed(text)) || !strings.Contains(squeezed(d.Whole), squeezed(name)) && !strings.ContainsAny(name, ":\n") {
						rt.Fatalf("%q of %v isn't told:\n%s", name, v, d.Whole)
					}
				}
			}
			if !allowed || !own {
				return
			}
			option := rapid.SampledFrom([]int{0, 1, 2, len(d.Options) - 1}).Draw(rt, "choice")
			decided := o.w.Decide(t.Context(), "pb_1", d, sessions.Answer{Options: []int{option}}) == sessions.DecidedHere
			if lasts := option == 1 || option == 2; decided != (!lasts && !twice) {
				rt.Fatalf("option %d is answered: %v (asked twice: %v)", option, decided, twice)
			}
			for _, a := range asks {
				if n := len(a.decider.told); n > 0 && (a != ours || !decided) {
					rt.Fatal("another request is answered")
				}
			}
			if !decided {
				counts["by keys"]++
				return
			}
			want := map[string]string{"action": "accept"}
			if option > 0 {
				want["action"] = "cancel"
			}
			if got := says(<-ours.decider.told); !reflect.DeepEqual(got, want) {
				rt.Fatalf("it's told %v, want %v", got, want)
			}
			counts["answered"]++
		})
	}
	t.Logf("%v", counts)
	if counts["answered"] < 3*counts["not recognised"] || counts["answered"] == 0 {
		t.Errorf("the calls' own records: %v", counts)
	}
}
