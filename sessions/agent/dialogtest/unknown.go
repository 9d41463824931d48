// Package dialogtest draws dialogs of programs that nobody knows.
package dialogtest

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Unknown is a dialog of a program that nobody knows, as it draws it below what it has
// printed before.
type Unknown struct {
	Rows []string // of the dialog; without what stands above it
	// Secret says that it asks for a key or a code; Field that the cursor stands behind the
	// last row, where what's typed appears. Else it's hidden.
	Secret, Field bool
}

// DrawUnknown draws one at random: boxes of all kinds or none, marks, numbers, checks,
// options side by side, a question with "y/n", a field for a key.
func DrawUnknown(random *rand.Rand) Unknown {
	u := unknownDrawing{random}
	switch random.IntN(8) {
	case 0:
		return Unknown{Rows: []string{u.question() + u.pick(" [y/N] ", " [Y/n]: ", " (yes/no)? ", " (y/n) ", " [yes/no/always] ")}, Field: true}
	case 1:
		return Unknown{Rows: []string{u.pick("Enter your API key: ", "Password: ", "Paste the authorization code here: ", "Passphrase for key 'id': ", "One-time code: ", "Access token > ")}, Field: true, Secret: true}
	case 2:
		return Unknown{Rows: []string{u.pick("Press any key to continue...", "Press Enter to continue", "-- press return to proceed --", "Hit any key to continue")}, Field: true}
	case 3:
		open, shut := u.brackets()
		row := fmt.Sprintf("   %sYes%s   %sNo%s   ", open, shut, open, shut)
		if random.IntN(2) == 0 {
			row = fmt.Sprintf("  %sAllow%s  %sAlways%s  %sCancel%s ", open, shut, open, shut, open, shut)
		}
		return Unknown{Rows: u.framed([]string{u.question() + "?", "", row, "", u.hint()})}
	default:
		return Unknown{Rows: u.framed(u.list())}
	}
}

type unknownDrawing struct{ *rand.Rand }

func (u unknownDrawing) pick(of ...string) string { return of[u.IntN(len(of))] }

func (u unknownDrawing) question() string {
	return u.pick("Delete 14 files", "Do you want to deploy to production", "Which region should be used", "Trust the authors of this folder",
		"Überschreiben", "Run `make install` now", "このコマンドを実行しますか", "Overwrite the lock file", "May the tool read ~/.ssh")
}

func (u unknownDrawing) brackets() (open, shut string) {
	pairs := [][2]string{{"[ ", " ]"}, {"<", ">"}, {"< ", " >"}, {"[", "]"}}
	p := pairs[u.IntN(len(pairs))]
	return p[0], p[1]
}

func (u unknownDrawing) hint() string {
	return u.pick("Enter to select · Esc to cancel", "↑/↓ to navigate, Enter to confirm", "[Enter] confirm  [Esc] cancel", "enter submit  esc dismiss",
		"Use arrow keys to move, Space to toggle, Enter to accept", "esc: cancel · enter: choose", "(Press <enter> to select)", "Press ENTER to continue or ESC to quit")
}

// list is a question with options one below the other, one of them marked.
func (u unknownDrawing) list() []string {
	mark := u.pick("❯", "›", ">", "▸", "►", "▶", "→", "➜", "●", "◉", "»")
	numbers, checks := u.IntN(2) == 0, u.IntN(4) == 0
	asks, hint := u.IntN(4) > 0, u.IntN(4) > 0
	indent := strings.Repeat(" ", u.IntN(4))
	var rows []string
	if asks || !hint {
		rows = append(rows, u.question()+"?", "")
	} else {
		rows = append(rows, u.question()+":", "")
	}
	n := 2 + u.IntN(5)
	marked := u.IntN(n)
	for i := range n {
		row := indent + strings.Repeat(" ", 2)
		if i == marked {
			row = indent + mark + " "
		}
		if numbers {
			row += fmt.Sprintf("%d. ", i+1)
		}
		if checks {
			row += u.pick("[ ] ", "[x] ")
		}
		rows = append(rows, row+u.pick("Yes", "No", "Yes, and don't ask again", "Europe (Frankfurt)", "Cancel", "main", "Always allow `git status`", "何もしない", "Let me edit it first"))
	}
	if hint {
		rows = append(rows, "", indent+u.hint())
	}
	return rows
}

// framed draws a box around rows, or none.
func (u unknownDrawing) framed(rows []string) []string {
	frames := []string{"", "", "╭─╮│╰╯", "┌─┐│└┘", "+-+|++", "╔═╗║╚╝", "  ┃   ", "▔▔▔   "}
	f := []rune(frames[u.IntN(len(frames))])
	if len(f) == 0 {
		return rows
	}
	width := 20 + u.IntN(60)
	for _, row := range rows {
		width = max(width, len([]rune(row))+2)
	}
	edge := func(left, right rune) string {
		return strings.TrimRight(string(left)+strings.Repeat(string(f[1]), width)+string(right), " ")
	}
	out := []string{edge(f[0], f[2])}
	for _, row := range rows {
		pad := width - 1 - len([]rune(row))
		out = append(out, strings.TrimRight(string(f[3])+" "+row+strings.Repeat(" ", pad)+string(f[3]), " "))
	}
	return append(out, edge(f[4], f[5]))
}
