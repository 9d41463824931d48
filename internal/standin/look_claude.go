package standin

import (
	"fmt"
	"strings"
)

func claudeTitle(*face, bool) string { return "✳ Claude Code" }

func claudeFoot(f *face) []string {
	var out []string
	if f.busy && f.spin%7 < 5 { // it's seldom there while text is written
		out = append(out, "", string([]rune("·✢✳✶✻✽")[f.spin%6])+" Imagining…")
	}
	for _, q := range f.queued {
		out = append(out, "", "❯ "+folded(q, f.width-4)[0], "  ⎿  Queued · ctrl+x ctrl+s to send now")
	}
	out = append(out, "", rule(f.width))
	switch {
	case len(f.box) > 0:
		for i, row := range f.box {
			out = append(out, sign(i == 0, "❯")+"\u00a0"+row+f.cursorAt(i))
		}
	case len(f.queued) > 0:
		out = append(out, "❯\u00a0"+own("Press up to edit queued messages", reversed, dim))
	case f.fresh && !f.busy:
		out = append(out, "❯\u00a0"+own(`Try "edit <filepath> to…"`, reversed, dim))
	case f.guess != "" && !f.busy:
		out = append(out, "❯\u00a0"+own(folded(f.guess, f.width-4)[0], reversed, dim))
	default:
		out = append(out, "❯\u00a0"+cursorHere)
	}
	out = append(out, rule(f.width))
	switch {
	case len(f.box) > 0 && !f.busy:
		return append(out, "  ⏸ manual mode on")
	case f.busy:
		return append(out, "  ⏸ manual mode on · esc to interrupt")
	}
	return append(out, "  ⏸ manual mode on · ? for shortcuts")
}

func claudeDialog(d *dialog, width int) []string {
	switch d.form {
	case "permission":
		return claudePermission(d, width)
	case "plan":
		out := []string{strings.Repeat("▔", width), "", "  " + rule(width-4), "   Exit plan mode?", ""}
		for _, row := range d.body {
			out = append(out, "    "+row)
		}
		out = append(out, "")
		for _, s := range d.list() {
			out = append(out, fmt.Sprintf("    %s %d. %s", sign(s.marked, "❯"), s.n, s.label))
		}
		return out
	case "trust":
		return []string{
			rule(width), " Accessing workspace:", "", " " + d.body[0], "",
			" Quick safety check: Is this a project you created or one you trust? (Like your own code, a",
			" well-known open source project, or work from your team). If not, take a moment to review what's in",
			" this folder first.", "", " Claude Code'll be able to read, edit, and execute files here.", "", " Security guide", "",
			" " + sign(d.mark == 0, "❯") + " " + d.options[0].label, " " + sign(d.mark == 1, "❯") + " " + d.options[1].label,
			"", " Enter to confirm · Esc to cancel",
		}
	case "mode":
		return []string{
			rule(width), "  " + d.title, "", "  " + d.body[0], "",
			"  " + sign(d.mark == 0, "❯") + " " + d.options[0].label, "  " + sign(d.mark == 1, "❯") + " " + d.options[1].label,
		}
	case "review":
		out := []string{rule(width), "←  ☒ Parts  ✔ Submit  →", "", d.title, "", " ● " + d.body[0], "   " + d.body[1], ""}
		for _, s := range d.list() {
			out = append(out, fmt.Sprintf("%s %d. %s", sign(s.marked, "❯"), s.n, s.label))
		}
		return out
	}
	return claudeQuestion(d, width)
}

func claudePermission(d *dialog, width int) []string {
	dashes := strings.Repeat("╌", width)
	out := []string{rule(width), " Bash command", " Run what's needed", dashes}
	for _, row := range d.body {
		out = append(out, " "+row)
	}
	out = append(out, dashes, "", " "+d.title)
	for _, s := range d.list() {
		out = append(out, fmt.Sprintf(" %s %d. %s", sign(s.marked, "❯"), s.n, s.label))
	}
	return append(out, "", " Esc to cancel · Tab to amend")
}

func claudeQuestion(d *dialog, width int) []string {
	out := []string{rule(width), " ☐ Storage", "", d.title, ""}
	if d.multi {
		out[1] = "←  " + map[bool]string{true: "☒", false: "☐"}[len(d.checked()) > 0] + " Parts  ✔ Submit  →"
	}
	last := len(d.list())
	for i, s := range d.list() {
		check, indent := "", "     "
		if d.multi {
			check, indent = box(s.checked, "✔")+" ", "         "
		}
		row := fmt.Sprintf("%s %d. %s%s", sign(s.marked, "❯"), s.n, check, s.label)
		if !d.multi && i == last-1 {
			out = append(out, rule(width), row) // it stands apart
			continue
		}
		out = append(out, row)
		if s.detail != "" {
			out = append(out, indent+s.detail)
		}
	}
	if d.multi {
		out = append(out, sign(d.mark == d.stops()-1, "❯")+"    Submit", rule(width), fmt.Sprintf("  %d. Chat about this", last+1))
	}
	vim := ""
	if d.optionAt(d.mark) < 0 {
		vim = "ctrl+g to edit in Vim · "
	}
	return append(out, "", "Enter to select · ↑/↓ to navigate · "+vim+"Esc to cancel")
}
