package polling

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

// prompts are those of the shells of today's systems as they come.
var prompts = []string{ //nolint:gochecknoglobals // a constant table
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
	for _, e := range slices.Concat(exprs, prompts) {
		re, err := regexp.Compile(`\A(?:` + e + `)`)
		if err != nil {
			return nil, fmt.Errorf("read the prompt %q: %w", e, err)
		}
		out = append(out, re)
	}
	return out, nil
}

// inferred are the marks that a shell without panebridge's integration would have
// made, as far as its prompts can be recognised: one stands before the cursor, two
// looks found it the same, and nothing is below it. From then on lines that begin with
// a prompt that's the same but for its folder are commands.
func (w *work) inferred() []sessions.Mark {
	s, sh := w.s, &w.state.Shell
	if len(w.prompts) == 0 || sh.Count > 0 && !sh.Inferred || s.Alternate || !w.reaches() || w.drawing {
		return nil
	}
	var out []sessions.Mark
	at := s.HistorySize + s.CursorY - s.First
	for i := max(0, w.index(w.state.Next)); i <= at && i < len(s.Rows); {
		j, whole := w.logical(i)
		text := strings.Join(s.Rows[i:j+1], "")
		end, shape, status := w.prompt(text)
		switch {
		case end == 0 || !whole || j-i > 0 && end > len(s.Rows[i]):
		case j >= at && (strings.TrimSpace(text[end:]) != "" || !w.stable(i, j)):
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

// prompt finds the prompt that a line begins with: where it ends (0: there's none),
// what of it doesn't change, and the status that it tells, or -1.
func (w *work) prompt(line string) (end int, shape string, status int) {
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
