package standin

import (
	"fmt"
	"strings"
)

// Gemini CLI's colours.
const (
	geminiGrey  = "\x1b[38;2;175;175;175m"
	geminiWhite = "\x1b[38;2;255;255;255m"
)

func geminiTitle(f *face, dialog bool) string {
	text := "◇  Ready (project)"
	switch {
	case dialog:
		text = "✋  Action Required (project)"
	case f.busy:
		text = "✦  Working… (project)"
	}
	return padded(text, 80)
}

func geminiFoot(f *face) []string {
	out := []string{"", ""}
	if len(f.queued) > 0 {
		out = append(out, "  Queued (press ↑ to edit):")
		for _, q := range f.queued {
			out = append(out, "    "+folded(q, f.width-6)[0])
		}
		out = append(out, "")
	}
	if f.busy {
		out = append(out, padded(fmt.Sprintf(" %c Thinking... (esc to cancel, %ds)", []rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[f.spin%10], f.spin/7), f.width-17)+"? for shortcuts")
	} else {
		out = append(out, padded("", f.width-17)+"? for shortcuts")
	}
	out = append(out, rule(f.width), " Shift+Tab to accept edits", strings.Repeat("▄", f.width))
	if len(f.box) == 0 {
		out = append(out, " > "+own("  Type your message or @path/to/file", reversed, geminiGrey))
	}
	for i, row := range f.box {
		out = append(out, " "+sign(i == 0, ">")+" "+geminiWhite+row+f.cursorAt(i)+plain)
	}
	out = append(out, strings.Repeat("▀", f.width))
	if f.popup != "" {
		return append(out, " "+f.popup)
	}
	return append(out, padded(" workspace (/directory)", f.width/2)+"sandbox", padded(" /srv/project", f.width/2)+"no sandbox")
}

func geminiSaid(text string, width int) []string {
	return append(append([]string{strings.Repeat("▄", width)}, marked(" > ", "   ")(text, width)[1:]...), strings.Repeat("▀", width))
}

func geminiDialog(d *dialog, width int) []string {
	switch d.form {
	case "permission":
		rows := []string{"? Shell  " + d.body[0]}
		rows = append(rows, framed("", width-4, d.body)...)
		rows = append(rows, d.title, "")
		return framed("", width, append(rows, geminiList(d, "")...))
	case "trust":
		rows := append([]string{"", d.title, ""}, d.body...)
		rows = append(rows, "", "")
		return framed(" ", width, append(append(rows, geminiList(d, "")...), ""))
	}
	rows := []string{"Answer Questions", "", d.title, ""}
	rows = append(rows, geminiList(d, " ")...)
	hint := "Enter to select · ↑/↓ to navigate · Esc to cancel"
	if d.optionAt(d.mark) < 0 {
		hint = "Enter to submit · Tab/Shift+Tab to switch questions · Esc to cancel"
	}
	return framed("", width, append(rows, "", hint))
}

func geminiList(d *dialog, gap string) []string {
	var out []string
	for _, s := range d.list() {
		out = append(out, fmt.Sprintf("%s %d. %s%s", sign(s.marked, "●"), s.n, gap, s.label))
		if s.detail != "" {
			out = append(out, "      "+s.detail)
		}
	}
	return out
}
