package polling

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

// shellState is how far a shell's prompts and commands have been read.
type shellState struct {
	Seen     int64 // the newest mark that was worked in: twice the absolute number of its row, and 1 more for a command's
	Count    int   // that of the newest prompt, plus 1; 0: none was seen
	Running  bool  // a command was submitted, and no prompt has come since
	Inferred bool  // prompts are recognised by their look, not by marks
	Prompt   string
	// Split is the row of a prompt that begins behind output without a line end, and the
	// bytes of that output, which is a line already.
	Split shellSplit
}

type shellSplit struct {
	Row   int64
	Bytes int
}

// isKnown reports whether the pane's shell says where commands begin and end.
func (s *shellState) isKnown() bool { return s.Count > 0 || s.Inferred }

// turnCut says that a turn begins or ends with a shell's command.
type turnCut struct {
	at      int  // behind so many of the step's lines
	begin   bool // or ends
	running bool // an end: of a command that was seen to begin
	marker  bool // an end: by a turn marker
	status  *int // of an end; nil: unknown
}

// boundary is where a command begins or ends on the grid.
type boundary struct {
	row   int64 // an end is before the line that begins in this row, a begin behind the line that ends in it
	begin bool
	mark  sessions.Mark
	key   int64
	rest  string // the end of the output if it has no line end
	bytes int    // of the line that it has with the prompt
}

// findBoundaries are those that are undecided, in their order, and the number behind the
// rows that are final by them: all above a prompt, and a command that was submitted.
func (w *engineRun) findBoundaries() (out []boundary, final int64) {
	marks := w.shellMarks()
	if len(marks) == 0 {
		return nil, 0
	}
	var starts []int
	prompt := -1 // row of the last prompt
	last := w.lastRow()
	// A command's row may have become a line in the moment before it was marked.
	from := w.state.Next
	if seen := w.state.Shell.Seen; seen > 0 {
		from = min(from, seen/2)
	}
	for i := max(0, w.rowIndex(from)); i < len(w.s.Rows) && w.absRow(i) < last; {
		j, whole := w.lineEnd(i)
		starts = append(starts, i)
		for ; len(marks) > 0 && marks[0].Row <= j; marks = marks[1:] {
			m := marks[0]
			if m.Row < i {
				continue
			}
			b := boundary{mark: m, key: 2 * w.absRow(m.Row)}
			switch m.Kind {
			case sessions.MarkPrompt:
				prompt = m.Row
				first := starts[max(0, len(starts)-1-m.Above)]
				b.row = w.absRow(first)
				w.splitOff(&b, first)
			case sessions.MarkCommand:
				if !whole {
					continue
				}
				b.begin, b.row, b.key = true, w.absRow(j), b.key+1
				if j > m.Row && prompt < i {
					// What was typed ahead, and echoed right before, goes on below. The first
					// output goes on in its line.
					b.row = w.absRow(i) - 1
				}
			default:
				continue
			}
			if b.key < w.state.Shell.Seen {
				continue
			}
			out, final = append(out, b), max(final, b.row)
			if b.begin {
				final = b.row + 1
			}
		}
		i = j + 1
	}
	return out, final
}

// shellMarks are the snapshot's, or those that its prompts stand for, in the order in
// which they came about: a command's is made in a row that may have its prompt's.
func (w *engineRun) shellMarks() []sessions.Mark {
	if len(w.s.Marks) == 0 {
		return w.inferMarks()
	}
	marks := slices.Clone(w.s.Marks)
	slices.SortStableFunc(marks, func(a, b sessions.Mark) int {
		if a.Row != b.Row {
			return a.Row - b.Row
		}
		return int(a.Kind) - int(b.Kind)
	})
	return marks
}

// splitOff finds output without a line end before a prompt whose first row is i.
func (w *engineRun) splitOff(b *boundary, i int) {
	m := b.mark
	if m.Width == 0 || m.Width == sessions.FreshRow {
		return
	}
	text := w.s.Rows[i]
	if m.Row == i {
		text = text[:m.At]
	} else if m.Above == 0 {
		text = strings.Join(w.s.Rows[i:m.Row], "") + w.s.Rows[m.Row][:m.At]
	} else {
		text = trimRow(text)
	}
	over := utf8.RuneCountInString(text) - m.Width
	for at := range text {
		if over <= 0 {
			b.rest, b.bytes = trimRow(text[:at]), at
			return
		}
		over--
	}
}

// passBoundaries works in the boundaries that are at or before a place.
func (w *engineRun) passBoundaries(bs []boundary, upTo func(b boundary) bool) []boundary {
	for len(bs) > 0 && upTo(bs[0]) {
		b := bs[0]
		bs = bs[1:]
		w.state.Shell.Seen = b.key + 1
		if b.begin {
			w.commandBegins()
		} else {
			w.promptIsBack(b)
		}
	}
	return bs
}

func (w *engineRun) commandBegins() {
	sh := &w.state.Shell
	if sh.Running {
		return // it was seen before the rows were numbered anew
	}
	sh.Running = true
	w.step.cuts = append(w.step.cuts, turnCut{at: len(w.step.Lines), begin: true})
}

// promptIsBack ends a command, unless the prompt is only drawn again: then nothing was
// counted. Where something was and none was seen to begin, the screen was cleared.
func (w *engineRun) promptIsBack(b boundary) {
	sh := &w.state.Shell
	was, first, running := sh.Count, !sh.isKnown(), sh.Running
	inferred := b.mark.Inferred
	if !inferred && b.mark.Count+1 == was || inferred && !first && !running {
		return
	}
	sh.Count, sh.Running, sh.Inferred = b.mark.Count+1, false, inferred
	if b.rest != "" && (running || !first) {
		w.emitLine(b.rest, b.row)
		sh.Split = shellSplit{b.row, b.bytes}
	}
	end := turnCut{at: len(w.step.Lines), running: running}
	if (!first || running) && b.mark.Status >= 0 {
		end.status = &b.mark.Status
	}
	if first && !running {
		end.running = true // what came before the first prompt is a turn only if it had lines
	}
	w.step.cuts = append(w.step.cuts, end)
}

// shellDied ends the command with which a shell ended.
func (w *engineRun) shellDied() {
	sh := &w.state.Shell
	if !sh.Running {
		return
	}
	sh.Running = false
	end := turnCut{at: len(w.step.Lines), running: true}
	if w.s.DeadStatus >= 0 {
		end.status = &w.s.DeadStatus
	}
	w.step.cuts = append(w.step.cuts, end)
}

// splitBytes is how many bytes of the line that begins in a row are a line already.
func (w *engineRun) splitBytes(abs int64, text string) int {
	if sp := w.state.Shell.Split; sp.Bytes > 0 && sp.Row == abs {
		return min(sp.Bytes, len(text))
	}
	return 0
}

// withoutBreakSign is a line's text without zsh's sign for a missing line end.
func (w *engineRun) withoutBreakSign(sp lineSpan, text string) string {
	for _, m := range w.s.Marks {
		if m.Kind == sessions.MarkBroken && m.Row >= sp.i && m.Row <= sp.j {
			text = strings.Join(w.s.Rows[sp.i:m.Row], "") + w.s.Rows[m.Row][:m.At]
			_, size := utf8.DecodeLastRuneInString(text)
			return trimRow(text[:len(text)-size])
		}
	}
	return text
}

// commonPrompts are those of the shells of today's systems as they come.
var commonPrompts = []string{ //nolint:gochecknoglobals // a constant table
	// Debian, Fedora, macOS, fish: which tells its mode where it has several, each status of
	// a pipe, a signal by its name, and behind the bracket the command's where that's another.
	`(?:\[[A-Z]\] )?(?:\([^()]*\) )?\[?[\w.-]+@[\w.-]+[: ](?P<folder>[^#$%>❯❱»➤λ]*?)\]?(?P<status> \[\w+(?:\|\w+)*\](?: \d+)?)?[$#%>] ?`,
	`(?:(?P<folder>[^\s❯❱»➤][^❯❱»➤]*?) )?[❯❱] ?`, // pure, starship
	`[\w.-]+[#%] `,                                    // zsh's own
	`(?P<folder>[~/][\w./~-]*) [#%] `,                 // and one with the folder
	`➜\s+(?P<folder>\S+(?: git:\([^)]*\))?)(?: ✗)? +`, // oh-my-zsh
	`[╰└][─╼]*(?:\[[^\]]*\])?[$#%❯>➤λ] ?`,             // the last row of a prompt of two: Kali, some themes
	`[λ»▶➜] `,
	`(?:ba|z|da|k)?sh-\d[\d.]*[$#%] ?`, // a shell without files of its own
	`[$#%] ?`,
}

// NewPrompts compiles the expressions of prompts, besides the common ones; each has to match all
// of a row up to the cursor. A group named folder has what changes from prompt to prompt,
// one named status the exit status of the command before: its last word, a number or the
// name of a signal.
func NewPrompts(exprs []string) ([]*regexp.Regexp, error) {
	var out []*regexp.Regexp
	for _, e := range slices.Concat(exprs, commonPrompts) {
		re, err := regexp.Compile(`\A(?:` + e + `)`)
		if err != nil {
			return nil, fmt.Errorf("read the prompt %q: %w", e, err)
		}
		out = append(out, re)
	}
	return out, nil
}

// inferMarks are the marks that a shell without panebridge's integration would have
// made, as far as its prompts can be recognised: one stands before the cursor, two
// looks found it the same, and nothing is below it. From then on lines that begin with
// a prompt that's the same but for its folder are commands.
func (w *engineRun) inferMarks() []sessions.Mark {
	s, sh := w.s, &w.state.Shell
	if len(w.prompts) == 0 || sh.Count > 0 && !sh.Inferred || s.Alternate || !w.reachesBottom() || w.drawing {
		return nil
	}
	var out []sessions.Mark
	at := s.HistorySize + s.CursorY - s.First
	for i := max(0, w.rowIndex(w.state.Next)); i <= at && i < len(s.Rows); {
		j, whole := w.lineEnd(i)
		text := strings.Join(s.Rows[i:j+1], "")
		end, shape, status := w.matchPrompt(text)
		switch {
		case end == 0 || !whole || j-i > 0 && end > len(s.Rows[i]):
		case j >= at && (strings.TrimSpace(text[end:]) != "" || !w.isStable(i, j)):
			w.step.Settling = w.step.Settling || strings.TrimSpace(text[end:]) == ""
		case j >= at:
			sh.Prompt = shape
			out = append(out, sessions.Mark{Row: i, At: end, Kind: sessions.MarkPrompt, Status: status, Inferred: true})
		case shape == sh.Prompt && sh.Prompt != "":
			out = append(out, sessions.Mark{Row: i, At: end, Kind: sessions.MarkPrompt, Status: status, Inferred: true})
			if strings.TrimSpace(text[end:]) != "" {
				out = append(out, sessions.Mark{Row: j, Kind: sessions.MarkCommand, Inferred: true})
			}
		}
		i = j + 1
	}
	return out
}

// matchPrompt finds the prompt that a line begins with: where it ends (0: there's none),
// what of it doesn't change, and the status that it tells, or -1.
func (w *engineRun) matchPrompt(line string) (end int, shape string, status int) {
	for _, re := range w.prompts {
		m := re.FindStringSubmatchIndex(line)
		if m == nil || m[1] == 0 {
			continue
		}
		status := -1
		var varies [][2]int
		for i, name := range re.SubexpNames() {
			if name != "folder" && name != "status" || m[2*i] < 0 {
				continue
			}
			varies = append(varies, [2]int{m[2*i], m[2*i+1]})
			if name == "status" {
				status = toldStatus(line[m[2*i]:m[2*i+1]])
			}
		}
		slices.SortFunc(varies, func(a, b [2]int) int { return a[0] - b[0] })
		var b strings.Builder
		from := 0
		for _, v := range varies {
			b.WriteString(line[from:v[0]])
			from = v[1]
		}
		b.WriteString(strings.TrimRight(line[from:m[1]], " "))
		return m[1], b.String(), status
	}
	return 0, "", -1
}

// toldStatus is the exit status that a prompt tells by its last word, as the kernel counts
// signals; -1: it isn't one.
func toldStatus(text string) int {
	words := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	if len(words) == 0 {
		return -1
	}
	last := words[len(words)-1]
	if n, err := strconv.Atoi(last); err == nil {
		return n
	}
	if n := unix.SignalNum(last); n != 0 {
		return 128 + int(n)
	}
	return -1
}
