package standin

import "fmt"

// qwenGrey is the colour in which it writes what isn't typed.
const qwenGrey = "\x1b[38;2;108;112;134m"

func qwenTitle(*face, bool) string { return "Qwen - project" }

func qwenFoot(f *face) []string {
	var out []string
	if f.busy {
		out = append(out, "", fmt.Sprintf("  %s Assembling the interwebs... (%ds · ↓ %d tokens · esc to cancel)", []string{".  ", ".. ", "..."}[f.spin%3], f.spin/7, f.spin))
	}
	if len(f.queued) > 0 {
		out = append(out, "")
		for _, q := range f.queued {
			out = append(out, "  "+folded(q, f.width-4)[0])
		}
		out = append(out, "  Press ↑ to edit queued messages")
	}
	out = append(out, rule(f.width))
	switch {
	case len(f.box) > 0:
	case f.guess != "" && !f.busy:
		out = append(out, "> "+own(folded(f.guess, f.width-4)[0], underlined, qwenGrey))
	default:
		out = append(out, "> "+own("  Type your message or @path/to/file", underlined, qwenGrey))
	}
	for i, row := range f.box {
		out = append(out, sign(i == 0, ">")+" "+row+f.cursorAt(i))
	}
	out = append(out, rule(f.width))
	if f.popup != "" {
		return append(out, "  "+f.popup)
	}
	return append(out, "  ? for shortcuts")
}

func qwenDialog(d *dialog, width int) []string {
	var rows []string
	switch d.form {
	case "permission":
		rows = []string{"?  Shell " + d.body[0] + " ←", "", "  " + d.body[0], "", d.title, ""}
		for _, s := range d.list() {
			rows = append(rows, fmt.Sprintf("%s %d. %s", sign(s.marked, "›"), s.n, s.label))
		}
		rows = append(rows, "")
	default:
		rows = []string{"?  AskUserQuestion Ask user 1 question ←", "", "Storage", "", d.title, ""}
		for _, s := range d.list() {
			rows = append(rows, qwenStop(d, s)...)
		}
		hint := "↑/↓: Navigate | Enter: Select | Esc: Cancel"
		if d.multi {
			hint = "↑/↓: Navigate | Space: Toggle | Enter: Confirm | Esc: Cancel"
		}
		rows = append(rows, "", "", hint, "")
	}
	return append(framed("  ", width, rows), "", "  ⠏ Waiting for user confirmation...")
}

func qwenStop(d *dialog, s stop) []string {
	check, indent := "", "     "
	if d.multi {
		check, indent = box(s.checked, "✓")+" ", "         "
	}
	label := s.label
	if s.entry && s.marked {
		label = "> " + label
	}
	out := []string{fmt.Sprintf("%s %s%d. %s", sign(s.marked, "❯"), check, s.n, label)}
	if s.detail != "" {
		out = append(out, indent+s.detail)
	}
	return out
}
