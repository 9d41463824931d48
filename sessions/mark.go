package sessions

import "strings"

// Mark is something that a shell with panebridge's integration has written into its
// prompt, or into the row of a command: characters without a width, which are part of
// the row's cells and so stay where they are, whatever happens to the rows. They are
// cut from the rows where these are read, so nothing else sees them.
type Mark struct {
	Row  int // in Snapshot.Rows
	At   int // bytes of that row before it
	Kind MarkKind
	// Of a prompt's end:
	Status int // exit status of the command before it; -1: unknown
	Count  int // of commands that were run, modulo MarkCounts
	Above  int // rows of the prompt above this one
	Width  int // characters of the prompt's first row; 0: the shell doesn't know; FreshRow
	// Inferred: it's no mark of a shell's, the row looks like a prompt.
	Inferred bool
}

// FreshRow is the width of a prompt that always begins its row.
const FreshRow = 80

// MarkKind is what stands at a mark.
type MarkKind int

// The kinds of mark.
const (
	MarkPrompt  MarkKind = iota + 1 // the end of a prompt; what's behind it is typed
	MarkCommand                     // in the first cell of the last row of a command that was submitted
	MarkBroken                      // behind the sign with which zsh says that output had no last line end
)

// A mark is of variation selectors, which have no width, mean nothing behind the
// characters that prompts have, and are three bytes long. tmux before 3.5 keeps 21
// bytes in a cell: six of them behind a character of three bytes.
const (
	markLead   = "\xef\xb8"
	markSubmit = 0x80 // U+FE00
	markDigit  = 0x81 // U+FE01 … U+FE0C: the digits
	markEnd    = 0x8d // U+FE0D, and for a prompt five digits, the lowest first
	markBase   = 12
	markDigits = 5

	markStatuses, markAbove = 256, 3
	// MarkCounts is how far a shell counts its commands.
	MarkCounts = 4
)

// CutMarks cuts the marks out of rows, in place, and returns them in their order.
func CutMarks(rows []string) []Mark {
	var out []Mark
	for i, row := range rows {
		if strings.Contains(row, markLead) {
			rows[i], out = cutMarks(row, i, out)
		}
	}
	return out
}

func cutMarks(row string, n int, out []Mark) (string, []Mark) {
	var b strings.Builder
	for {
		at := strings.Index(row, markLead)
		if at < 0 || at+3 > len(row) {
			b.WriteString(row)
			return b.String(), out
		}
		b.WriteString(row[:at])
		row = row[at:]
		m, size := readMark(row)
		if size == 0 {
			b.WriteString(row[:2])
			row = row[2:]
			continue
		}
		m.Row, m.At = n, b.Len()
		out, row = append(out, m), row[size:]
	}
}

// readMark reads the mark at the beginning of a text; size 0: there's none.
func readMark(s string) (m Mark, size int) {
	switch s[2] {
	case markSubmit:
		return Mark{Kind: MarkCommand}, 3
	case markEnd:
	default:
		return Mark{}, 0
	}
	value, scale := 0, 1
	for i := 1; i <= markDigits; i++ {
		if len(s) < 3*(i+1) || s[3*i:3*i+2] != markLead {
			return Mark{Kind: MarkBroken}, 3
		}
		d := int(s[3*i+2]) - markDigit
		if d < 0 || d >= markBase {
			return Mark{Kind: MarkBroken}, 3
		}
		value += d * scale
		scale *= markBase
	}
	m = Mark{Kind: MarkPrompt, Status: value % markStatuses}
	value /= markStatuses
	m.Count, value = value%MarkCounts, value/MarkCounts
	m.Above, m.Width = value%markAbove, value/markAbove
	return m, 3 * (markDigits + 1)
}
