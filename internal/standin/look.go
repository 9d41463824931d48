package standin

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// face is what a program shows without a dialog.
type face struct {
	width  int
	box    []string // what stands in the input box, by rows; none: nothing
	popup  string   // a completion that's offered; "": none
	busy   bool
	spin   int      // counts while it's busy
	queued []string // what waits
	fresh  bool     // nothing was said yet
	guess  string   // what may be asked next; "": it has no guess
}

// cursorHere, in a row, is where the cursor is left: the terminal keeps the place.
const cursorHere = "\x1b7"

// cursorBack takes it there.
const cursorBack = "\x1b8"

// cursorAt is where the cursor is left, behind the last row of the box.
func (f *face) cursorAt(row int) string {
	if row == len(f.box)-1 {
		return cursorHere
	}
	return ""
}

// How text looks.
const (
	plain      = "\x1b[0m"
	dim        = "\x1b[2m"
	underlined = "\x1b[4m"
	reversed   = "\x1b[7m"
)

// own is a text that the program itself writes into its empty box, with the cursor on its
// first character.
func own(text, cursor, ghost string) string {
	first, size := utf8.DecodeRuneInString(text)
	return cursorHere + cursor + string(first) + plain + ghost + text[size:] + plain
}

// guesses are what a program takes to be what's asked next.
func guesses(agent string) []string {
	if agent != "claude" && agent != "qwen" {
		return nil
	}
	return []string{"", "now run the tests", "yes", "and say why, for each of the files that were changed so far, in a sentence", "do you want to proceed with the rest?"}
}

// look is how a program draws.
type look struct {
	alternate bool
	hidden    bool // the cursor
	title     func(f *face, dialog bool) string
	foot      func(f *face) []string
	dialog    func(d *dialog, width int) []string
	said      func(text string, width int) []string
	pasted    func(text string) string // stands in the box for a long text
	answer    string                   // what an answer begins with
}

func looks(agent string) look {
	pasted := func(format string) func(string) string {
		return func(text string) string { return fmt.Sprintf(format, strings.Count(text, "\n")+1) }
	}
	switch agent {
	case "codex":
		return look{
			alternate: true, title: codexTitle, foot: codexFoot, dialog: codexDialog, said: marked("› ", "  "), answer: "• ",
			pasted: func(text string) string {
				return fmt.Sprintf("[Pasted Content %d chars]", utf8.RuneCountInString(text))
			},
		}
	case "gemini":
		return look{hidden: true, title: geminiTitle, foot: geminiFoot, dialog: geminiDialog, said: geminiSaid, answer: "✦ ", pasted: pasted("[Pasted Text: %d lines]")}
	case "opencode":
		return look{alternate: true, title: opencodeTitle, foot: opencodeFoot, dialog: opencodeDialog, said: opencodeSaid, answer: "     ", pasted: pasted("[Pasted ~%d lines]")}
	case "qwen":
		return look{hidden: true, title: qwenTitle, foot: qwenFoot, dialog: qwenDialog, said: marked("  > ", "    "), answer: "  ✦ ", pasted: pasted("[Pasted Content %d lines]")}
	default:
		return look{alternate: true, hidden: true, title: claudeTitle, foot: claudeFoot, dialog: claudeDialog, said: marked("❯ ", "  "), answer: "● ", pasted: pasted("[Pasted text #1 +%d lines]")}
	}
}

// marked shows what was said behind a sign.
func marked(first, next string) func(string, int) []string {
	return func(text string, width int) []string {
		rows := folded(text, width-utf8.RuneCountInString(first)-2)
		for i, row := range rows {
			if i == 0 {
				rows[i] = first + row
			} else {
				rows[i] = next + row
			}
		}
		return append([]string{""}, rows...)
	}
}

// folded breaks a text into rows of at most so many characters.
func folded(text string, width int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		runes := []rune(strings.ReplaceAll(line, "\t", "    "))
		for len(runes) > width {
			out = append(out, string(runes[:width]))
			runes = runes[width:]
		}
		out = append(out, string(runes))
	}
	return out
}

func rule(width int) string { return strings.Repeat("─", width) }

// sign is a mark or as many blanks.
func sign(marked bool, mark string) string {
	if marked {
		return mark
	}
	return strings.Repeat(" ", utf8.RuneCountInString(mark))
}

// padded fills a row up to a width.
func padded(row string, width int) string {
	return row + strings.Repeat(" ", max(0, width-utf8.RuneCountInString(row)))
}

// framed draws a box around rows.
func framed(left string, width int, rows []string) []string {
	inner := width - 2*utf8.RuneCountInString(left) - 2
	out := []string{left + "╭" + strings.Repeat("─", inner) + "╮"}
	for _, r := range rows {
		out = append(out, left+"│ "+padded(r, inner-2)+" │")
	}
	return append(out, left+"╰"+strings.Repeat("─", inner)+"╯")
}

// stop is one place of a list where the mark can be.
type stop struct {
	n       int // its number, from 1
	label   string
	detail  string
	marked  bool
	checked bool
	entry   bool
}

// list are the stops of a dialog that have numbers, as they're drawn.
func (d *dialog) list() []stop {
	var out []stop
	for i := range d.stops() {
		at := d.optionAt(i)
		switch {
		case at >= 0:
			o := d.options[at]
			out = append(out, stop{i + 1, o.text(), o.detail, i == d.mark, o.checked, false})
		case d.entry != "" && i == d.entryAt():
			label := d.entry
			if d.typed != "" {
				label = d.typed
			}
			out = append(out, stop{i + 1, label, "", i == d.mark, false, true})
		}
	}
	return out
}

func box(checked bool, mark string) string {
	if checked {
		return "[" + mark + "]"
	}
	return "[ ]"
}
