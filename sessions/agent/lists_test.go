package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// geminiList is a list as Gemini CLI 0.61.0 shows it: three rows at a time, however high
// the pane is.
type geminiList struct {
	question string
	labels   []string
	multi    bool
	checked  []bool
	mark     int // of the rows that can be marked
	from     int // the first of them that's shown
	answered []string
}

// rows are what can be marked: the options, all of them at once, a text, and what submits.
func (g *geminiList) rows() int {
	if g.multi {
		return len(g.labels) + 3
	}
	return len(g.labels) + 1
}

func (g *geminiList) screen() *sessions.Snapshot {
	rows := []string{"✦ I have a question.", "", "╭" + strings.Repeat("─", 98) + "╮"}
	add := func(text string) { rows = append(rows, fmt.Sprintf("│ %-96s │", text)) }
	add("Answer Questions")
	add("")
	add(g.question)
	if g.multi {
		add("(Select all that apply)")
	}
	add("")
	add("▲")
	for i := g.from; i < min(g.from+3, g.rows()); i++ {
		mark, number, check := " ", strconv.Itoa(i+1)+". ", ""
		if i == g.mark {
			mark = "●"
		}
		all := g.multi && i == len(g.labels)
		if g.multi {
			check = "[ ] "
			if i < len(g.labels) && g.checked[i] || all && !slices.Contains(g.checked, false) {
				check = "[x] "
			}
		}
		label, detail := "Enter a custom value", ""
		switch {
		case i < len(g.labels):
			label, detail = g.labels[i], "This is "+g.labels[i]
		case all:
			label, detail = "All of the above", "Select all options"
		case g.multi && i == len(g.labels)+2:
			number, check, label, detail = "", "", "  Done", "Finish selection"
		}
		add(mark + " " + number + check + label)
		if detail != "" {
			add("         " + detail)
		}
	}
	add("▼")
	add("")
	add("Enter to select · ↑/↓ to navigate · Esc to cancel")
	rows = append(rows, "╰"+strings.Repeat("─", 98)+"╯")
	return &sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}
}

func (g *geminiList) press(rt *rapid.T, key string) {
	n, err := strconv.Atoi(key)
	switch {
	case key == "Up":
		g.mark = (g.mark + g.rows() - 1) % g.rows()
	case key == "Down":
		g.mark = (g.mark + 1) % g.rows()
	case err == nil && n > len(g.labels):
		rt.Fatalf("%s is no option's number", key)
	case err == nil && g.multi:
		g.mark, g.checked[n-1] = n-1, !g.checked[n-1]
	case err == nil:
		g.answered = []string{g.labels[n-1]}
	case key == "Enter" && g.multi && g.mark == g.rows()-1:
		g.answered = []string{}
		for i, label := range g.labels {
			if g.checked[i] {
				g.answered = append(g.answered, label)
			}
		}
	default:
		rt.Fatalf("%s is pressed on row %d", key, g.mark+1)
	}
	g.from = min(max(g.from, g.mark-2), g.mark)
}

func (g *geminiList) hook(rt *rapid.T, labels []string, question string, multi bool) Hook {
	options := []map[string]string{}
	for _, label := range labels {
		options = append(options, map[string]string{"label": label, "description": "This is " + label})
	}
	text, err := json.Marshal(map[string]any{"tool_name": geminiQuestion, "tool_input": map[string]any{"questions": []any{
		map[string]any{"question": question, "header": "Way", "multiSelect": multi, "options": options},
	}}})
	if err != nil {
		rt.Fatal(err)
	}
	h, err := ParseHook("gemini", "BeforeTool", text, func(string) string { return "" }, time.Time{})
	if err != nil {
		rt.Fatal(err)
	}
	return h
}

// Of a list of which a part is on the screen all options are offered as the record of its
// call has them, wherever the mark stands and whatever a person has checked; what's chosen
// is what the agent is told. A record of another list is none.
func TestListsAreAnsweredByTheirRecord(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	p := set.Get("gemini")
	drawtest.Check(t, func(rt *rapid.T) {
		g := &geminiList{question: "Which way should it go?", multi: rapid.Bool().Draw(rt, "multi")}
		for i := range rapid.IntRange(3, 6).Draw(rt, "options") {
			g.labels = append(g.labels, fmt.Sprintf("%s %d", rapid.SampledFrom([]string{"Alpha", "Beta", "漢字", "Done", "1. Yes", "All of the above"}).Draw(rt, "label"), i))
			g.checked = append(g.checked, g.multi && rapid.IntRange(0, 3).Draw(rt, "checked") == 0)
		}
		for range rapid.IntRange(0, 9).Draw(rt, "moves") {
			g.press(rt, rapid.SampledFrom([]string{"Up", "Down"}).Draw(rt, "move"))
		}
		var told calls
		other := slices.Clone(g.labels)
		question, multi := g.question, g.multi
		how := rapid.SampledFrom([]string{"right", "right", "right", "label", "question", "kind", "order", "twice", "none"}).Draw(rt, "record")
		switch how {
		case "label":
			other[g.from%len(other)] += "?"
		case "question":
			question += "?"
		case "kind":
			multi = !multi
		case "order":
			slices.Reverse(other)
		case "twice":
			told.noteHook(g.hook(rt, append(slices.Clone(other), "one more"), question, multi))
		}
		if how != "none" {
			told.noteHook(g.hook(rt, other, question, multi))
		}
		shown := ""
		read := func() *sessions.Dialog {
			d := p.promptOrPart(g.screen(), nil)
			if d == nil || d.Window == nil {
				rt.Fatalf("%+v isn't read:\n%s", d, strings.Join(g.screen().Rows, "\n"))
			}
			return told.listDialog(p.formOf(d), d, shown)
		}
		if how == "right" && rapid.Bool().Draw(rt, "shown before") {
			shown = told[0].sum
		}
		d := read()
		if how != "right" || g.from >= len(g.labels) && shown == "" {
			if d != nil && (how != "twice" || len(d.Options) != len(g.labels) || g.from+3 <= len(g.labels)) { // where it ends tells two apart
				rt.Fatalf("%s: %+v is taken for\n%s", how, d, strings.Join(g.screen().Rows, "\n"))
			}
			return
		}
		if len(d.Options) != len(g.labels) || d.Cut || (d.Kind == sessions.PromptMulti) != g.multi {
			rt.Fatalf("%+v is offered of %q", d, g.labels)
		}
		want := []int{rapid.IntRange(0, len(g.labels)-1).Draw(rt, "wanted")}
		if g.multi {
			want = rapid.SliceOfNDistinct(rapid.IntRange(0, len(g.labels)-1), 0, -1, rapid.ID[int]).Draw(rt, "all wanted")
		}
		slices.Sort(want)
		seen := map[int]bool{}
		shown = d.Call
		for shows, steps := d.Print, 0; g.answered == nil; d, steps = read(), steps+1 {
			if steps == 25 || d.Print != shows {
				rt.Fatalf("step %d, %+v:\n%s", steps, d, strings.Join(g.screen().Rows, "\n"))
			}
			for i := range d.Options {
				o := &d.Options[i]
				if was, ok := seen[i]; ok && o.Hidden {
					o.Hidden, o.Checked = false, was
				} else if !o.Hidden {
					seen[i] = o.Checked
				}
			}
			step, err := p.Next(d, sessions.Answer{Options: want})
			if err != nil {
				rt.Fatal(err)
			}
			g.press(rt, step.Keys[0])
			if step.Last != (g.answered != nil) {
				rt.Fatalf("the last step is %+v, answered %q", step, g.answered)
			}
		}
		chosen := []string{}
		for _, i := range want {
			chosen = append(chosen, g.labels[i])
		}
		if !slices.Equal(g.answered, chosen) {
			rt.Fatalf("chosen %q, and it was told %q", chosen, g.answered)
		}
	})
}
