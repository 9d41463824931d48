package standin

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

func codexTitle(f *face, dialog bool) string {
	switch {
	case dialog:
		return "[ " + map[bool]string{true: "!", false: "."}[f.spin%2 == 0] + " ] Action Required | A title | codex"
	case f.busy:
		return string([]rune("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏")[f.spin%10]) + " A title | codex"
	}
	return "A title | codex"
}

func codexFoot(f *face) []string {
	var out []string
	if f.busy && f.spin%9 < 7 {
		out = append(out, "", fmt.Sprintf("• Working (%ds • esc to interrupt)", f.spin/7))
	}
	if len(f.queued) > 0 {
		out = append(out, "", "• Messages to be submitted after the next tool call")
		for _, q := range f.queued {
			out = append(out, "  ↳ "+folded(q, f.width-6)[0])
		}
	}
	out = append(out, "", "")
	switch {
	case len(f.box) == 0:
		out = append(out, "› "+own("Ask Codex to do anything", dim, dim))
	default:
		for i, row := range f.box {
			out = append(out, sign(i == 0, "›")+" "+row+f.cursorAt(i))
		}
	}
	out = append(out, "")
	if f.popup != "" {
		return append(out, "  "+f.popup, "")
	}
	return append(out, "  mock-model default · /srv/project · A title", padded("  ← for agents · ? for shortcuts", f.width-27)+"⚠ 4 warnings · f2 to view")
}

func codexDialog(d *dialog, _ int) []string {
	var out []string
	switch d.form {
	case "permission":
		out = []string{"", "", "  " + d.title, "", "  Environment: local", "", "  Reason: It's needed", "", "  $ " + d.body[0], "", ""}
		for _, s := range d.list() {
			out = append(out, fmt.Sprintf("%s %d. %s", sign(s.marked, "›"), s.n, s.label))
		}
		return append(out, "", "  Press enter to confirm or esc to cancel")
	case "hooks":
		out = []string{"  " + d.title, "  " + d.body[0], "  Hooks can run outside the sandbox after you trust them.", "", ""}
		for _, s := range d.list() {
			out = append(out, fmt.Sprintf("%s %d. %s", sign(s.marked, "›"), s.n, s.label))
		}
		return append(out, "", "  enter confirm · esc skip")
	}
	out = []string{"", "", "  Question 1/1 (1 unanswered)", "  " + d.title, ""}
	widest := 0
	for _, s := range d.list() {
		widest = max(widest, utf8.RuneCountInString(s.label))
	}
	for _, s := range d.list() {
		out = append(out, fmt.Sprintf("  %s %d. %s  %s", sign(s.marked, "›"), s.n, padded(s.label, widest), s.detail))
	}
	if !d.open {
		return append(out, "", "  tab to add notes | enter to submit answer | esc to interrupt", "")
	}
	text := d.typed
	if text == "" {
		text = "Add notes"
	}
	return append(out, "", "  › "+strings.TrimRight(text, " "), "", "  tab or esc to clear notes | enter to submit answer", "")
}
