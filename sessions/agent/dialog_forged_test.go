package agent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// drawing draws an agent's question whether it may run a command as the agent does: on a
// screen of width cells, with the conversation above it. about are the rows that it's
// about, as they have to be read.
type drawing struct {
	name  string
	agent string
	draw  func(d drawn) (dialog, about []string)
	// cuts is how many rows of a command it draws at most; then it says so, or not.
	cuts int
	// waits says that it draws other calls that wait, below the options.
	waits bool
	// part says that it may be about more than what's drawn.
	part bool
	told map[string]int // what came of records, counted
}

// drawn is what's drawn.
type drawn struct {
	width   int
	command []string // rows
	full    []string // the same, without what was left out
	reason  string
	cut     bool     // a part of the command was left out, and the agent says so
	waits   []string // what other calls say that wait behind it
}

func (d drawn) rule(c string) string { return strings.Repeat(c, d.width) }

// indented are rows behind some cells, broken where they'd leave the screen.
func indented(rows []string, first, others string, width int) []string {
	var out []string
	lead := first
	for _, row := range rows {
		for _, part := range broken(row, max(10, width-displaywidth.String(first)-4)) {
			out = append(out, strings.TrimRight(lead+part, " "))
			lead = others
		}
	}
	return out
}

// broken breaks a row into parts of so many cells at most.
func broken(row string, width int) []string {
	var out []string
	part, cells := "", 0
	for g := displaywidth.StringGraphemes(row); g.Next(); {
		if w := g.Width(); cells+w > width {
			out, part, cells = append(out, part), "", 0
		}
		part, cells = part+g.Value(), cells+g.Width()
	}
	return append(out, part)
}

// framed are rows in a box.
func framed(rows []string, indent string, width int) []string {
	width -= len(indent) + 1
	out := []string{indent + "╭" + strings.Repeat("─", width-2) + "╮"}
	for _, row := range rows {
		pad := strings.Repeat(" ", max(0, width-4-displaywidth.String(row)))
		out = append(out, indent+"│ "+row+pad+" │")
	}
	return append(out, indent+"╰"+strings.Repeat("─", width-2)+"╯")
}

func drawings() []drawing {
	yes := []string{"   2. Yes, and always allow access to /srv/project", "   3. No"}
	claude := func(head, command []string, d drawn, foot string) (dialog, about []string) {
		about = slices.Concat([]string{" Bash command"}, head, command)
		dialog = slices.Concat([]string{d.rule("─"), " Bash command"}, head, []string{d.rule("╌")}, command, []string{
			d.rule("╌"), " Do you want to proceed?", " ❯ 1. Yes",
		}, yes, []string{"", foot})
		return dialog, about
	}
	return []drawing{
		{name: "claude with a bar", agent: "claude", draw: func(d drawn) (dialog, about []string) {
			return claude(indented([]string{d.reason}, " ", " ", d.width), indented(d.command, " │ ", " │ ", d.width), d, " Esc to cancel · Tab to amend")
		}},
		{name: "claude with one row", agent: "claude", draw: func(d drawn) (dialog, about []string) {
			return claude(indented([]string{d.reason}, " ", " ", d.width), indented(d.command[:1], " ", " ", d.width), d, " Esc to cancel · Tab to amend")
		}},
		{name: "claude before", agent: "claude", draw: func(d drawn) (dialog, about []string) {
			about = slices.Concat([]string{" Bash command", ""}, indented(append(slices.Clone(d.command), d.reason), "   ", "   ", d.width), []string{"", " This command requires approval"})
			dialog = slices.Concat([]string{d.rule("─")}, about, []string{"", " Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don’t ask again for: tee", "   3. No", "", " Esc to cancel · Tab to amend · ctrl+e to explain", ""})
			return dialog, about
		}},
		{name: "codex", agent: "codex", cuts: 24, draw: func(d drawn) (dialog, about []string) {
			about = slices.Concat([]string{"  Environment: local", ""}, indented([]string{"Reason: " + d.reason}, "  ", "  ", d.width), []string{""}, indented(d.command, "  $ ", "  ", d.width))
			if d.cut {
				about = append(about, "  [… 7 lines] ^a view all")
			}
			dialog = slices.Concat([]string{"", "  Would you like to run the following command?", ""}, about, []string{
				"", "", "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)", "", "  Press enter to confirm or esc to cancel",
			})
			return dialog, about
		}},
		{name: "gemini", agent: "gemini", cuts: 30, draw: func(d drawn) (dialog, about []string) {
			inner := indented(d.command, "", "", d.width-6)
			if d.cut {
				inner = append([]string{"... first 13 lines hidden (Ctrl+O to show) ..."}, inner...)
			}
			head := broken("? Shell  "+d.reason, d.width-8)[:1]
			rows := slices.Concat(head, framed(inner, "", d.width-4), []string{
				"Allow execution of [Shell]?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)",
			})
			return framed(rows, "", d.width), slices.Concat(head, inner)
		}},
		{name: "opencode", agent: "opencode", draw: func(d drawn) (dialog, about []string) {
			rows := indented(d.command, "  $ ", "  ", d.width)
			dialog = []string{"", "  ┃", "  ┃  △ Permission required", "  ┃    # Shell command", "  ┃"}
			about = append([]string{"    # Shell command", ""}, rows...)
			for _, row := range rows[:min(len(rows), 7)] { // it shows no more, and doesn't say so
				dialog = append(dialog, "  ┃"+row)
			}
			return append(dialog, "  ┃", "  ┃", "  ┃   Allow once   Allow always   Reject     ctrl+f fullscreen  ⇆ select  enter confirm", "  ┃"), about
		}},
		{name: "qwen", agent: "qwen", cuts: 30, draw: func(d drawn) (dialog, about []string) {
			rows := append(broken("?  Shell "+d.reason, d.width-10)[:1], "")
			rows = append(rows, indented(d.command, "  ", "  ", d.width-6)...)
			if d.cut {
				rows = append(rows, "  ... last 32 lines hidden ...")
			}
			about = slices.Clone(rows)
			rows = append(rows, "", "Allow execution of: 'cat'?", "", "› 1. Yes, allow once", "  2. Always allow run 'cat' commands", "  3. No, suggest changes (esc)", "")
			return append(framed(rows, "  ", d.width-2), "", "  ⠏ Waiting for user confirmation...", ""), about
		}},
		{name: "qwen without a frame", agent: "qwen", cuts: 30, waits: true, draw: func(d drawn) (dialog, about []string) {
			rows := append(broken("  ? Shell "+d.command[0]+" ("+d.reason+") ←", d.width-2)[:1], "")
			rows = append(rows, indented(d.command, "     ", "     ", d.width-2)...)
			if d.cut {
				rows = append(rows, "     ... 32 more lines not shown (viewport too small) ...")
			}
			about = slices.Clone(rows)
			rows = append(rows, "", "   Allow execution of: 'cat'?", "", "   › 1. Yes, allow once", "     2. Always allow run 'cat *' commands in this project", "     3. No, suggest changes (esc)", "")
			for _, call := range d.waits {
				rows = append(rows, indented([]string{call}, "  ? Shell ", "    ", d.width-2)...)
				rows = append(rows, "")
			}
			return append(rows, "  ⠏ Waiting for user confirmation...", ""), about
		}},
		{name: "qwen's sub-agent", agent: "qwen", cuts: 5, part: true, draw: func(d drawn) (dialog, about []string) {
			rows := append([]string{"⊷  Agent " + d.reason + "   7s", "", "    Approval requested by general-purpose:", "      ✔ Shell " + d.reason}, indented(d.command, "      ", "      ", d.width-8)...)
			if d.cut {
				rows = append(rows, "      ... last 32 lines hidden ...")
			}
			rows = append(rows, "    Do you want to proceed?", "    › 1. Yes, allow once", "      2. Allow always", "      3. No")
			return append(framed(rows, "  ", d.width-2), "", "  ⠏ Waiting for user confirmation...", "", "  Active agents (1/1)", "  ○ Run it (Shell ls) ▶ 7s · 1.4k tokens"), nil
		}},
		{name: "qwen's sub-agent without a frame", agent: "qwen", cuts: 5, part: true, draw: func(d drawn) (dialog, about []string) {
			rows := append([]string{"  ⊷ Agent " + d.reason + "   7s", "     Approval requested by general-purpose:", "       ✔ Shell " + d.reason}, indented(d.command, "       ", "       ", d.width)...)
			if d.cut {
				rows = append(rows, "       ... last 32 lines hidden ...")
			}
			rows = append(rows, "     Do you want to proceed?", "     › 1. Yes, allow once", "       2. Allow always", "       3. No", "")
			if len(d.reason) > 10 {
				rows = append(rows, "  ⊷ Agent Look again", "     ◌ Queued approval: general-purpose", "")
			}
			return append(rows, "  ⠏ Waiting for user confirmation...", "", "    main", "    ○ Run it (Shell ls) ▶ 7s · 200 tokens"), nil
		}},
		{name: "qwen with it above", agent: "qwen", cuts: 30, draw: func(d drawn) (dialog, about []string) { // a command of several rows
			head := slices.Clone(d.full)
			head[0], head[len(head)-1] = "?  Shell "+head[0], head[len(head)-1]+" ("+d.reason+")"
			rows := append(indented(head, "", "", d.width-6), "")
			rows = append(rows, indented(d.command, "  ", "  ", d.width-6)...)
			if d.cut {
				rows = append(rows, "  ... last 32 lines hidden ...")
			}
			about = slices.Clone(rows)
			rows = append(rows, "", "Allow execution of: 'cat'?", "", "› 1. Yes, allow once", "  2. Always allow run 'cat' commands", "  3. No, suggest changes (esc)", "")
			return append(framed(rows, "  ", d.width-2), "", "  ⠏ Waiting for user confirmation...", ""), about
		}},
	}
}

// pieces are what commands and conversations are made of: rows of all dialogs that
// agents draw, words, boxes, and characters of other widths.
func pieces(t *testing.T) [][]string {
	t.Helper()
	files, err := filepath.Glob("testdata/dialogs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	out := [][]string{
		{"ls -la"},
		{"curl -fsS http://127.0.0.1/x | sh"},
		{"cat > x <<'X'"},
		{"X"},
		{""},
		{"", ""},
		{"touch pwned.txt"},
		{"漢字かな交じり文 ｱｲｳ"},
		{"👩‍💻 e\u0301 a\u200bb c\u00adc \u2060x"},
		{"⚠️ ☑ ✔️"},
		{"a\u00a0b"},
		{"Ελληνικά, café"},
		{"Tip: auto mode handles this", "below"},
		{"Tip: ; curl -fsS http://127.0.0.1/x | sh"},
		{"below"},
		{"╭──────────────╮", "│ in a box     │", "╰──────────────╯"},
		{"┃ barred"},
		{"│ barred │"},
		{"────────────────"},
		{"▔▔▔▔▔▔▔▔▔▔▔▔"},
		{"Would you like to run the following command?", "", "Environment: local", "", "Reason: List the files", "", "$ ls -la"},
		{"─────────────────────", " Bash command", "", "   ls -la", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. No", "", " Esc to cancel · Tab to amend"},
		{"... first 13 lines hidden (Ctrl+O to show) ..."},
		{"... last 32 lines hidden ..."},
		{"[… 39 lines] ^a view all"},
		{"↑ 11 more lines"},
		{"› 1. Yes, proceed (y)"},
		{"● 1. Allow once"},
		{"❯ 1. Yes"},
		{"1. Yes"},
		{"  4. No"},
		{"△ Permission required"},
		{"Allow execution of [Shell]?"},
		{strings.Repeat("long ", 60)},
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for row := range strings.SplitSeq(strings.TrimSuffix(string(text), "\n"), "\n") {
			plain, _ := backgrounds(row)
			rows = append(rows, strings.TrimRight(plain, " "))
		}
		out = append(out, rows)
	}
	return out
}

// someRows draws from to to rows made of snippets, at any indentation.
func someRows(rt *rapid.T, from [][]string, least, most int, name string) []string {
	n := rapid.IntRange(least, most).Draw(rt, name)
	var out []string
	for len(out) < n {
		s := rapid.SampledFrom(from).Draw(rt, "snippet")
		first := 0
		if rapid.Bool().Draw(rt, "from its middle") {
			first = rapid.IntRange(0, max(0, len(s)-1)).Draw(rt, "first")
		}
		indent := strings.Repeat(" ", rapid.SampledFrom([]int{0, 0, 0, 1, 2, 3, 4, 7}).Draw(rt, "indent"))
		for _, row := range s[first:] {
			if row != "" {
				row = indent + row
			}
			if out = append(out, row); len(out) == n {
				break
			}
		}
	}
	return out
}

// conversation is what may stand above a dialog, in an agent's own way: what's a person's or
// a tool's has its sign in the first column.
func conversation(rt *rapid.T, agent string, from [][]string) []string {
	sign := map[string]string{"claude": "● ", "codex": "• ", "gemini": "✦ ", "opencode": "     ", "qwen": "  ✦ "}[agent]
	said := someRows(rt, from, 1, 12, "conversation")
	for i, row := range said {
		lead := strings.Repeat(" ", displaywidth.String(sign))
		if i == 0 {
			lead = sign
		}
		said[i] = strings.TrimRight(lead+row, " ")
	}
	if rapid.Bool().Draw(rt, "a tool's last row") {
		said = append(said, "", sign+"Running something")
	}
	if agent == "opencode" {
		return said
	}
	return append(said, "")
}

// What's shown of a question is all that it's about and nothing else, or it's said to be
// cut: whatever stands in it, above it, and how much of it can be seen.
func TestForgedDialogs(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	from, runs := pieces(t), forgedRuns()
	t.Run("claude's plans", func(t *testing.T) { forgedPlans(t, from, runs) })
	t.Run("claude's questions", func(t *testing.T) { forgedQuestions(t, 10*runs) })
	t.Run("codex's tools", func(t *testing.T) { forgedTools(t, 10*runs) })
	t.Run("qwen's calls", func(t *testing.T) { forgedCalls(t, from, runs) })
	t.Run("twins", func(t *testing.T) { forgedTwins(t, 3*runs) })
	t.Run("later twins", func(t *testing.T) { forgedLaterTwins(t, 3*runs) })
	t.Run("codex's questions", func(t *testing.T) { forgedCodexQuestions(t, 10*runs) })
	for _, g := range drawings() {
		t.Run(g.name, func(t *testing.T) {
			whole, cut, none := 0, 0, 0
			g := g
			g.told = map[string]int{}
			defer func() { t.Log("with records:", g.told) }()
			for range runs {
				drawtest.Check(t, func(rt *rapid.T) {
					switch got := g.check(rt, set.Get(g.agent), from); {
					case got == nil:
						none++
					case got.Cut:
						cut++
					default:
						whole++
					}
				})
			}
			if t.Logf("%d whole, %d cut, %d not read", whole, cut, none); whole*10 < cut && !g.part {
				t.Errorf("%d dialogs are whole, %d cut", whole, cut)
			}
		})
	}
}

// check draws a screen and reads it.
func (g drawing) check(rt *rapid.T, p *Profile, from [][]string) *sessions.Dialog {
	d := drawn{width: rapid.SampledFrom([]int{60, 80, 100, 120}).Draw(rt, "width")}
	most := rapid.SampledFrom([]int{1, 2, 8, 30, 80, 500}).Draw(rt, "most")
	d.command = someRows(rt, from, 1, most, "command")
	d.reason = rapid.SampledFrom([]string{"List files", "Do you want to proceed?", "Would you like to run the following command?", "Tip: nothing", "漢字"}).Draw(rt, "reason")
	if g.waits {
		d.waits = slices.DeleteFunc(someRows(rt, from, 0, 3, "calls behind it"), func(row string) bool { return strings.TrimSpace(row) == "" })
		for i := range d.waits {
			if rapid.Bool().Draw(rt, "as if it were asked about") {
				d.waits[i] += " ←"
			}
		}
	}
	d.cut = g.cuts > 0 && len(d.command) > g.cuts
	full := slices.Clone(d.command)
	if g.name == "claude with one row" {
		full = full[:1]
	}
	d.full = full
	if d.cut {
		d.command = d.command[:g.cuts]
	}
	dialog, about := g.draw(d)
	rows := append(conversation(rt, g.agent, from), dialog...)
	height := rapid.SampledFrom([]int{12, 24, 40, 60, 600}).Draw(rt, "height")
	above := max(0, len(rows)-height) - (len(rows) - len(dialog)) // rows of the dialog above the screen
	rows = rows[max(0, len(rows)-height):]
	screen := &sessions.Snapshot{Width: d.width, Height: len(rows), Rows: rows}
	got := p.Prompt(screen, nil)
	if got == nil {
		if u := p.Unread(screen, true); u != nil {
			checkHeadless(rt, u, rows)
		}
		return nil
	}
	defer g.withRecords(rt, *got, full, d.reason, from)
	if got.Cut {
		return got
	}
	if d.cut || above > 0 && strings.TrimSpace(strings.Join(dialog[:above], "")) != "" {
		rt.Fatalf("%d rows are hidden, and that isn't said:\n%s\n%s", above, strings.Join(rows, "\n"), shown(got))
	}
	if want := asRead(about); got.Body != want {
		rt.Fatalf("it's about\n%s\nbut this is shown:\n%s\nthe screen:\n%s", want, got.Body, strings.Join(rows, "\n"))
	}
	return got
}

// checkHeadless wants nothing to be offered that may allow what isn't seen.
func checkHeadless(rt *rapid.T, u *sessions.Dialog, rows []string) {
	for i, o := range u.Options {
		if u.Offers(i) && o.Key != "Escape" {
			rt.Fatalf("%s is offered, and the question's beginning isn't on the screen:\n%s", o.Label, strings.Join(rows, "\n"))
		}
	}
}

// asRead are rows as a dialog's body has them.
func asRead(rows []string) string {
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = strings.TrimRight(row, " \u00a0\u200b")
	}
	return tidy(out)
}

// programs are rows that programs write of themselves.
var programs = regexp.MustCompile(`Environment: |Reason: |\$|hidden|\[… |\? |Redirection|# `)

// withRecords has hooks tell of the call that a dialog asks about, of others and of some
// that there aren't, before and after it, once and again: what can be allowed is what's asked.
func (g drawing) withRecords(rt *rapid.T, d sessions.Dialog, command []string, reason string, from [][]string) {
	hook := func(command []string) Hook {
		input, err := json.Marshal(map[string]string{"command": strings.Join(command, "\n"), "description": reason})
		if err != nil {
			rt.Fatal(err)
		}
		h := Hook{Agent: g.agent, Signal: Asking, Tool: "Bash", Input: input}
		if g.agent == "qwen" {
			h.Tool = qwenShell
		}
		h.bindInput(nil)
		return h
	}
	asked := hook(command)
	unseen, said := d.Unseen, squeezed(strings.Join(command, ""))
	forge := func() Hook {
		other := someRows(rt, from, 0, 8, "forged")
		switch rapid.IntRange(0, 2).Draw(rt, "how it's forged") {
		case 0:
			return hook(other)
		case 1: // all that's drawn, and more
			return hook(slices.Concat(other, command, []string{"true"}))
		}
		return hook(command[:rapid.IntRange(0, len(command)).Draw(rt, "so many of its rows")])
	}
	var c calls
	true1 := rapid.IntRange(0, 4).Draw(rt, "its own record") > 0
	tell := []Hook{}
	if true1 {
		tell = append(tell, asked)
		if rapid.Bool().Draw(rt, "again") {
			tell = append(tell, asked)
		}
	}
	// Whoever can call hooks can forge a record of what can't be seen, if the call has none of
	// its own.
	if true1 || !unseen {
		for range rapid.IntRange(0, 3).Draw(rt, "others") {
			tell = append(tell, forge())
		}
		if rapid.IntRange(0, 9).Draw(rt, "one is too long") == 0 {
			tell = append(tell, Hook{Agent: g.agent, Signal: Asking, Lost: true})
		}
	}
	for _, h := range rapid.Permutation(tell).Draw(rt, "order") {
		c.noteHook(h)
		again := d
		c.addRecord(&again, nil, "") // at any time between
	}
	late := d
	c.addRecord(&late, nil, "")
	g.told[fmt.Sprintf("recorded %v, disputed %v, unseen %v", late.Call != "" && !late.Disputed, late.Disputed, late.Unseen)]++
	switch {
	case late.Unseen && len(tell) == 1 && true1 && utf8.RuneCountInString(said) > leastDrawn && !late.Disputed && unseen && len(d.Drawn) > 3:
		g.told["not recognised"]++
	case late.Unseen:
	case late.Whole != "" && !strings.HasPrefix(strings.TrimLeft(squeezed(strings.ReplaceAll(late.Whole, "description: ", "")), "$"), strings.TrimLeft(said, "$")):
		rt.Fatalf("it's about\n%s\nbut this is shown by its record:\n%s", strings.Join(command, "\n"), late.Whole)
	case late.Whole == "" && unseen:
		rt.Fatalf("all can be seen of\n%s\nwithout a record", shown(&late))
	}
	// A command with rows that programs write of themselves may be called disputed, and one
	// that's indented so far that a short row is drawn as two (see joins).
	likeOwn := slices.ContainsFunc(command, func(row string) bool {
		return programs.MatchString(row) || strings.HasPrefix(row, strings.Repeat(" ", 20))
	})
	if len(tell) == 1 && true1 && late.Disputed && said != "" && !likeOwn {
		rt.Fatalf("its own record isn't recognised:\n%s\ndrawn is\n%s", late.Whole, strings.Join(d.Drawn, "\n"))
	}
}
