package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// edits is a change of a file: old rows in it are replaced by new ones, around which the file
// has others.
type edits struct {
	path          string
	above, below  []string // what's drawn of the file around it
	old, now      []string
	first, shared int // the number of its first row; rows that old and new begin with alike
	create        bool
	over          bool     // the whole file is written anew
	crops         int      // how many cells of a longer row are left out where it's broken
	bare          bool     // the head has nothing but the path
	frame         bool     // of Qwen Code: as 0.15 draws it
	beside        []string // rows of calls in the same frame, above it
}

// someEdits draws one.
func someEdits(rt *rapid.T, from [][]string) edits {
	n := func(name string, least, most int) int { return rapid.IntRange(least, most).Draw(rt, name) }
	e := edits{
		path:  rapid.SampledFrom([]string{"notes.txt", "src/a b.go", "x/漢字.md", ".bashrc", "a: b.txt"}).Draw(rt, "path"),
		first: n("number of its first row", 1, 1200), create: rapid.IntRange(0, 2).Draw(rt, "a new file") == 0,
	}
	e.now = someRows(rt, append(from, []string{"- evil"}, []string{"+ evil"}, []string{"7 + evil"}, []string{"    7   evil"}, []string{"→ Edit other.txt"}, []string{" Edit file", " other.txt"}, []string{"..."}, []string{strings.Repeat("+ - ", 40)}), 1, n("new rows at most", 1, 12), "new")
	if e.create {
		e.first = 1
		return e
	}
	e.over = rapid.Bool().Draw(rt, "written anew")
	e.old = someRows(rt, from, 0, 4, "old")
	if rapid.Bool().Draw(rt, "alike in the beginning") {
		e.shared = 1
		e.old, e.now = slices.Insert(e.old, 0, "shared"), slices.Insert(e.now, 0, "shared")
	}
	e.above, e.below = someRows(rt, from, 0, 3, "above"), someRows(rt, from, 0, 3, "below")
	e.first = max(e.first, len(e.above)+1)
	return e
}

// diffRow is a row as it's drawn.
type diffRow struct {
	n    int
	sign string
	text string
}

func (e edits) rows() (out []diffRow) {
	n := e.first - len(e.above)
	add := func(sign string, rows []string, at int) int {
		for i, row := range rows {
			out = append(out, diffRow{at + i, sign, row})
		}
		return at + len(rows)
	}
	n = add(" ", e.above, n)
	n = add(" ", e.now[:e.shared], n)
	add("-", e.old[min(e.shared, len(e.old)):], n)
	n = add("+", e.now[e.shared:], n)
	add(" ", e.below, n)
	return out
}

// drawnAs draws the dialog as an agent does.
func (e edits) drawnAs(agent string, width int) []string {
	rows := e.rows()
	digits := len(fmt.Sprint(rows[len(rows)-1].n))
	for _, r := range rows {
		digits = max(digits, len(fmt.Sprint(r.n)))
	}
	numbered := func(lead, between string, width int) (out []string) {
		for _, r := range rows {
			sign := r.sign + between
			if e.create && agent != "opencode" {
				sign = ""
			}
			first := fmt.Sprintf("%s%*d %s", lead, digits, r.n, sign)
			others := strings.Repeat(" ", len(first))
			if agent == "claude" && sign != "" {
				others = others[1:] + sign
			}
			out = append(out, cropped(indented([]string{r.text}, first, others, width+e.crops), max(displaywidth.String(first)+10, width+e.crops-4)-e.crops)...)
		}
		return out
	}
	switch agent {
	case "claude":
		head, title := " Edit file", " Do you want to make this edit to "+e.path+"?"
		if e.create {
			head, title = " Create file", " Do you want to create "+e.path+"?"
		}
		return slices.Concat([]string{strings.Repeat("─", width), head, " " + e.path, strings.Repeat("╌", width)}, numbered(" ", "", width), []string{
			strings.Repeat("╌", width), title, " ❯ 1. Yes", "   2. Yes, and switch to accept edits", "   3. No", "", " Esc to cancel · Tab to amend",
		})
	case "qwen":
		if e.frame {
			head := "?  Edit " + e.path + ": some... => others... ←"
			if e.create || e.over {
				head = "?  WriteFile Writing to " + e.path + " ←"
			}
			return framed(slices.Concat(e.beside, []string{head, ""}, numbered("", " ", width-4), []string{
				"", "Apply this change?", "", "› 1. Yes, allow once", "  2. Yes, allow always", "  3. No, suggest changes (esc)", "",
			}), "", width)
		}
		// as 0.24 does, without a frame
		head := "  ? Edit " + e.path + ": some... => others... ←"
		if e.bare { // 0.24.4
			head = "  ? Edit " + e.path + " ←"
		}
		if e.create || e.over {
			head = "  ? WriteFile Writing to " + e.path + " ←"
		}
		return slices.Concat([]string{head, ""}, numbered("   ", " ", width), []string{
			"   Apply this change?", "", "   › 1. Yes, allow once", "     2. Yes, allow always", "     3. No, suggest changes (esc)",
		})
	case "gemini":
		head := "? Edit  " + e.path + ": some... => others..."
		if e.create || e.over {
			head = "? WriteFile  Writing to " + e.path
		}
		return framed(slices.Concat([]string{head}, framed(numbered("", " ", width-8), "", width-4), []string{
			"Apply this change?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)",
		}), "", width)
	}
	drawn := numbered("  ", " ", width)
	out := []string{"", "  ┃", "  ┃  △ Permission required", "  ┃    → Edit " + e.path, "  ┃"}
	for _, row := range drawn[:min(len(drawn), 9)] { // the others can be scrolled to
		out = append(out, "  ┃"+row)
	}
	for range 9 - len(drawn) {
		out = append(out, "  ┃")
	}
	return append(out, "  ┃", "  ┃   Allow once   Allow always   Reject     ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃")
}

// cropped are the rows of one that was broken, which have so many cells at most.
func cropped(rows []string, cells int) []string {
	for i, row := range rows {
		for displaywidth.String(row) > cells {
			_, size := utf8.DecodeLastRuneInString(row)
			row = row[:len(row)-size]
		}
		rows[i] = strings.TrimRight(row, " ")
	}
	return rows
}

// hook is what the agent tells of it.
func (e edits) hook(rt *rapid.T, agent string, request int) Hook {
	var in map[string]any
	var diff strings.Builder
	fmt.Fprintf(&diff, "Index: %s\n===\n--- %s\n+++ %s\n@@ -1,2 +3,4 @@\n", e.path, e.path, e.path)
	for _, r := range e.rows() {
		diff.WriteString(r.sign + r.text + "\n")
	}
	path := "/srv/project/" + e.path
	switch {
	case (agent == "claude" || agent == "qwen") && (e.create || agent == "qwen" && e.over):
		in = map[string]any{"file_path": path, "content": strings.Join(e.now, "\n")}
	case agent == "claude", agent == "qwen":
		in = map[string]any{"file_path": path, "old_string": strings.Join(e.old, "\n"), "new_string": strings.Join(e.now, "\n")}
	case agent == "gemini":
		in = map[string]any{"type": "edit", "filePath": path, "fileDiff": diff.String(), "newContent": strings.Join(e.now, "\n")}
	default:
		in = map[string]any{"filepath": path, "diff": diff.String()}
	}
	input, err := json.Marshal(in)
	if err != nil {
		rt.Fatal(err)
	}
	h := Hook{Agent: agent, Signal: Asking, Tool: "Edit", Input: input}
	if agent == "opencode" {
		h.Tool, h.Request = "edit", fmt.Sprintf("per_%d", request)
	}
	return h
}

// forged is another change, that's nearly the same.
func (e edits) forged(rt *rapid.T, from [][]string) edits {
	out := e
	out.old, out.now = slices.Clone(e.old), slices.Clone(e.now)
	switch rapid.IntRange(0, 5).Draw(rt, "how it's forged") {
	case 0:
		out.path = "harmless.txt"
	case 1:
		out.now = append(out.now[:max(1, e.shared):max(1, e.shared)], someRows(rt, from, 0, 3, "harmless")...)
	case 2: // the new as the old
		out.old, out.now = append(out.old, out.now[e.shared:]...), append(out.now[:e.shared:e.shared], "harmless")
		out.create = false
	case 3: // all of it, and more
		out.now = append(out.now, "# all of that is a comment")
	case 4:
		out.below = append(slices.Clone(out.now), out.below...)
		out.now = append(out.now[:e.shared:e.shared], "harmless")
		out.create = false
	default:
		out.now[len(out.now)-1] += " # harmless"
	}
	return out
}

// same reports whether two changes put the same into the same file, blanks and blank rows apart.
func (e edits) same(other edits) bool {
	return e.path == other.path && slices.Equal(squeezedRows(e.now), squeezedRows(other.now)) && slices.Equal(squeezedRows(e.old), squeezedRows(other.old))
}

// Hooks tell of the change of a file that a dialog asks about, of others and of some that
// there aren't, late, again and in any order: what's shown by a record is what's asked.
func TestForgedChanges(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	from, runs := pieces(t), forgedRuns()
	for _, agent := range []string{"claude", "gemini", "opencode", "qwen"} {
		t.Run(agent, func(t *testing.T) {
			told := map[string]int{}
			p := set.Get(agent)
			for range runs {
				drawtest.Check(t, func(rt *rapid.T) { told[forgedChange(rt, p, agent, from)]++ })
			}
			t.Log(told)
			if told["recorded"]+10 < 5*told["not recognised"] { // 10: few are drawn with -short
				t.Errorf("the calls' own records: %v", told)
			}
		})
	}
}

func forgedChange(rt *rapid.T, p *Profile, agent string, from [][]string) string {
	e := someEdits(rt, from)
	if agent == "qwen" {
		e.crops, e.bare, e.frame = rapid.IntRange(0, 3).Draw(rt, "crops"), rapid.Bool().Draw(rt, "a bare head"), rapid.Bool().Draw(rt, "in a frame")
		e.beside = rapid.SampledFrom([][]string{nil, {"o  ReadFile notes.txt", ""}, {"✓  Shell ls", "   notes.txt", "   7 + evil", "", "x  Edit other.txt: a => b", "   ?  Edit evil.txt: a => b ←", ""}}).Draw(rt, "beside it")
	}
	width := rapid.SampledFrom([]int{60, 100, 118}).Draw(rt, "width")
	rows := append(conversation(rt, agent, from), e.drawnAs(agent, width)...)
	rows = rows[max(0, len(rows)-rapid.SampledFrom([]int{24, 60, 600}).Draw(rt, "height")):]
	d := p.Prompt(&sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}, nil)
	if d == nil {
		return "not read"
	}
	own := rapid.IntRange(0, 4).Draw(rt, "its own record") > 0
	all := map[string]edits{}
	var tell []Hook
	add := func(e edits) {
		h := e.hook(rt, agent, len(tell))
		all[sumOf(h)] = e
		tell = append(tell, h)
		if rapid.IntRange(0, 4).Draw(rt, "again") == 0 {
			tell = append(tell, h)
		}
	}
	if own {
		add(e)
	}
	if own || !d.Unseen && e.crops == 0 { // of what can't be seen one can be forged, if the call's own doesn't come
		for range rapid.IntRange(0, 2).Draw(rt, "others") {
			add(e.forged(rt, from))
		}
	}
	var c calls
	f := p.formOf(d)
	add1 := func(d sessions.Dialog) *sessions.Dialog {
		if drawn := f.readChange(&d); drawn != nil {
			c.recordChange(&d, drawn)
		} else {
			c.addRecord(&d, nil, "")
		}
		return &d
	}
	for _, h := range rapid.Permutation(tell).Draw(rt, "order") {
		c.noteHook(h)
		add1(*d)
	}
	late := add1(*d)
	switch {
	case late.Call != "" && !late.Disputed && !all[late.Call].same(e):
		rt.Fatalf("this is shown:\n%s\nof\n%s", late.Whole, strings.Join(rows, "\n"))
	case late.Call != "" && !late.Disputed:
		return "recorded"
	case late.Disputed && !late.Unseen:
		rt.Fatal("it's disputed, and can be allowed")
	case late.Disputed && own && len(all) == 1:
		rt.Fatalf("its own record is disputed:\n%s\nof\n%s", late.Whole, strings.Join(rows, "\n"))
	case late.Disputed:
		return "disputed"
	case agent == "gemini" && strings.Contains(e.path, ": "):
		return "of a path that its title doesn't tell from the change"
	case agent == "qwen" && (e.over && !e.create || strings.Contains(e.path, ": ")):
		return "of what it overwrites, or of such a path"
	case own && len(all) == 1 && !d.Cut:
		return "not recognised"
	}
	return "as drawn"
}
