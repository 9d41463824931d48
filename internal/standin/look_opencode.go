package standin

import (
	"fmt"
	"strings"
)

// opencode's colours.
const (
	ocPlain  = "\x1b[38;2;255;255;255m\x1b[48;2;10;10;10m"
	ocGrey   = "\x1b[38;2;128;128;128m"
	ocTyped  = "\x1b[38;2;238;238;238m"
	ocPanel  = "\x1b[48;2;20;20;20m"
	ocBar    = "\x1b[48;2;30;30;30m"
	ocChosen = "\x1b[48;2;245;167;66m"
)

func opencodeTitle(*face, bool) string { return "OC | A title" }

func opencodeFoot(f *face) []string {
	var out []string
	for _, q := range f.queued {
		out = append(out, "", "  ┃", "  ┃  "+folded(q, f.width-8)[0], "  ┃   QUEUED", "  ┃")
	}
	out = append(out, "", "  ┃")
	if len(f.box) == 0 {
		text := cursorHere
		if f.fresh {
			text = own(`Ask anything… "Fix a TODO in the codebase"`, ocGrey, ocGrey)
		}
		out = append(out, "  ┃  "+text)
	}
	for i, row := range f.box {
		out = append(out, "  ┃  "+ocTyped+row+f.cursorAt(i)+plain)
	}
	if f.popup != "" {
		out = append(out, "  ┃  ", "  ┃  Build · "+f.popup)
	} else {
		out = append(out, "  ┃", "  ┃  Build · Mock Model Mock")
	}
	out = append(out, "  ╹"+strings.Repeat("▀", f.width-5))
	if f.busy {
		bar := []rune("⬝⬝⬝⬝⬝⬝⬝⬝")
		bar[f.spin%8] = '■'
		return append(out, padded("   "+string(bar)+"  esc interrupt", f.width-28)+"tab agents  ctrl+p commands", "")
	}
	return append(out, padded("", f.width-28)+"tab agents  ctrl+p commands", "")
}

func opencodeSaid(text string, width int) []string {
	out := []string{"", "  ┃"}
	for _, row := range folded(text, width-8) {
		out = append(out, "  ┃  "+row)
	}
	return append(out, "  ┃")
}

func opencodeDialog(d *dialog, width int) []string {
	if d.sideways {
		return opencodeSideways(d, width)
	}
	out := []string{"", "  ┃"}
	if d.form == "review" {
		for _, row := range []string{"   Parts   Confirm", "", "  Review", "", "  " + d.body[0], "  " + d.body[1], "", "  ⇆ tab  enter submit  esc dismiss", ""} {
			out = append(out, strings.TrimRight("  ┃"+row, " "))
		}
		return append(out, "")
	}
	if d.multi {
		out = append(out, "  ┃   Parts   Confirm", "  ┃")
	}
	out = append(out, "  ┃  "+d.title, "  ┃")
	for _, s := range d.list() {
		check, label := "", s.label
		if d.multi {
			check = box(s.checked, "✓") + " "
		}
		if s.entry {
			label = d.entry
		}
		out = append(out, fmt.Sprintf("  ┃  %d. %s%s", s.n, check, label))
		switch {
		case s.entry && s.marked:
			out = append(out, "  ┃     "+s.label)
		case s.detail != "":
			out = append(out, "  ┃     "+s.detail)
		}
	}
	hint := "  ↑↓ select  enter submit  esc dismiss"
	if d.multi {
		hint = "  ⇆ tab  ↑↓ select  enter toggle  esc dismiss"
	}
	return append(out, "  ┃", "  ┃"+hint, "  ┃", "")
}

// opencodeSideways draws a dialog whose mark is a colour.
func opencodeSideways(d *dialog, width int) []string {
	row := func(ground, text string) string {
		return "  ┃" + ground + padded(text, width-8) + ocPlain
	}
	out := []string{"", row(ocPanel, ""), row(ocPanel, "  △ "+d.title)}
	if d.form == "permission" {
		out = append(out, row(ocPanel, "    # Shell command"), row(ocPanel, ""), row(ocPanel, "  $ "+d.body[0]), row(ocPanel, ""))
	} else {
		out = append(out, row(ocPanel, ""), row(ocPanel, "  This will allow the following patterns until OpenCode is restarted"), row(ocPanel, ""), row(ocPanel, "  "+d.body[0]), row(ocPanel, ""))
	}
	var bar strings.Builder
	bar.WriteString("  ")
	used := 2
	for i, o := range d.options {
		if i > 0 {
			bar.WriteString(" ")
			used++
		}
		if i == d.mark {
			bar.WriteString(ocChosen + " " + o.label + " " + ocBar)
		} else {
			bar.WriteString(" " + o.label + " ")
		}
		used += len(o.label) + 2
	}
	keys := "⇆ select  enter confirm"
	if d.form == "permission" {
		keys = "ctrl+f fullscreen  " + keys
	}
	bar.WriteString(strings.Repeat(" ", max(2, width-10-used-len(keys)+2)) + keys)
	return append(out, row(ocBar, ""), "  ┃"+ocBar+bar.String()+" "+ocPlain, row(ocBar, ""), "")
}
