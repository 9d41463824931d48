package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
)

// Reading is what the system tells of a pane's terminal.
type Reading struct {
	Canonical bool // it collects lines
	Hidden    bool // and doesn't show what's typed
	// Reads says that By, of those in the foreground, waits for a line. Waits tells this
	// wait of By's from its others: it's the same as long as By hasn't run since. Both are
	// unset where nobody waits, or that isn't known.
	Reads bool
	By    Process
	Waits uint64
}

// How often a program that has asked is looked at until it reads: each sixth of readSoon at first, then each sixth of
// the time for which its question has stood, and each readLate at last. A busy machine's programs read late, and
// nothing else tells that they do.
const (
	readSoon = 3 * time.Second
	readLate = 20 * time.Second
)

var (
	// linePrompt is a sign behind which a program takes one command after the other:
	// "sqlite> ", "ada@host:/srv $ ", or something that was typed behind one.
	linePrompt = regexp.MustCompile(`(?:[>$#%❯»λ➜]|^\?-|^\((?:[A-Za-z]\w*)\)|^In ?\[\d+\]:)(?:\s|$)`)
	// lineLabel is what debuggers and calculators show of where they are: "(gdb)", "In [3]:".
	lineLabel = regexp.MustCompile(`^(?:\S*[)\]]|(?:In|Out) ?\[\d*\]:|[^\pL\pN]*)$`)
	// lineAsk is how a question for a line ends.
	lineAsk = regexp.MustCompile(`(?i)(?:[:?？：…\])]|\. ?\. ?\.)$|\b(?:press|hit|type) [\[<]?(?:enter|return)\b`)
	// lineShells read a command as other programs read a line, behind any prompt.
	lineShells = strings.Fields("sh dash ash busybox ksh ksh93 mksh oksh posh yash csh") //nolint:gochecknoglobals // a constant table
)

// lineAsked is what was found out about the row that the cursor stands in. A program that
// waits prints nothing, so what comes into the row while it waits was typed. It's for one
// goroutine.
type lineAsked struct {
	row   string // of a program that doesn't read yet
	since time.Time

	by    string // who waits for a line, or did last, and whether what's typed is hidden
	waits uint64
	stood string // in the row when this wait was first seen
	first time.Time
	// firm says that it stood there: a screen may be a moment behind its program.
	firm bool
	asks bool // that's a question, or what's typed is hidden
	// waiting says that somebody waited for a line at the last look.
	waiting bool
	holds   bool // and something stood in its row
	// fed says that the program has waited with nothing in its row before: what stands in one
	// later may be what somebody types.
	fed bool
}

// How long a screen may be behind its program: a row that has changed by the second look at
// a wait was printed before it, if that look comes soon. It's asked for after lineBehindFor;
// a busy machine has it come seconds later.
const (
	lineBehindFor = 100 * time.Millisecond
	lineSecond    = 10 * time.Second
)

// noteLine works in a look at a program that waits for a line, and reports whether it asks for
// one.
func (a *lineAsked) noteLine(r Reading, row string, now time.Time) bool {
	by := fmt.Sprint(r.By.PID, " ", r.By.Started.UnixNano(), " ", r.Hidden)
	goesOn := row == a.stood || a.stood != "" && strings.HasPrefix(row, a.stood)
	switch ago := now.Sub(a.first); {
	case by != a.by, r.Waits != a.waits && !goesOn:
	case r.Waits != a.waits: // it asks the same again
		a.waits, a.first, a.firm = r.Waits, now, false
		return a.asks
	case a.firm, goesOn && (a.asks || row == a.stood), ago > lineSecond:
		a.firm = a.firm || ago >= lineBehindFor
		if r.Hidden && row != "" {
			a.stood = row
		}
		return a.asks
	default:
		a.stood = row
		a.judgeRow(r)
		return a.asks
	}
	printed := row != "" && row == a.row // it stood there before the program read
	a.fed = by == a.by && (a.fed || a.stood == "" && a.firm) && !printed
	a.by, a.waits, a.stood, a.first, a.firm = by, r.Waits, row, now, false
	a.judgeRow(r)
	return a.asks
}

// judgeRow decides whether what stands in the row asks for a line.
func (a *lineAsked) judgeRow(r Reading) {
	switch {
	case r.Hidden:
		a.asks = true
	case a.fed, interactiveShell(r.By) && slices.Contains(lineShells, baseName(r.By.Name)):
		a.asks = false
	default:
		a.asks = asksForLine(a.stood)
	}
}

// asksForLine reports whether what stands before the cursor reads like a question for a
// line. A prompt for commands doesn't.
func asksForLine(row string) bool {
	letters := 0
	for _, r := range row {
		if unicode.IsLetter(r) {
			letters++
		}
	}
	return letters > 1 && lineAsk.MatchString(row) && !linePrompt.MatchString(row) && !lineLabel.MatchString(row)
}

// asksLine says why a program that no profile knows waits for a line at the terminal; "":
// it doesn't. d is what people are told of it, nil: nothing that they could be. again is
// when to look once more: a program reads behind what it asks.
func (o *Observer) asksLine(l sessions.Poll) (reason string, d *sessions.Dialog, again time.Time) {
	s := l.Screen
	if s != nil {
		o.line.waiting = false
	}
	if o.w.opt.Reads == nil || s == nil || s.Alternate || s.Dead || l.Last {
		return "", nil, time.Time{}
	}
	before, behind := lineAtCursor(s)
	r := o.w.opt.Reads(s)
	a := &o.line
	a.waiting, a.holds = r.Reads, before != ""
	switch {
	case !r.Canonical:
		*a = lineAsked{} // another program may have the terminal next
	case !r.Reads:
		if a.row != before {
			a.row, a.since = before, l.Now
		}
		if r.Hidden || asksForLine(before) {
			again = l.Now.Add(min(max(readSoon, l.Now.Sub(a.since))/6, readLate))
		}
	case behind != "" || shellLine(s, o.w.opt.Prompts).Open || !a.noteLine(r, before, l.Now):
	case r.Hidden:
		reason = sessions.ReasonAsksHidden
	default:
		reason = sessions.ReasonAsksLine
	}
	if r.Reads && !a.firm {
		again = sooner(again, l.Now.Add(lineBehindFor))
	}
	if reason == "" || strings.IndexFunc(a.stood, unicode.IsLetter) < 0 {
		return reason, nil, again
	}
	h := sha256.Sum256(fmt.Append(nil, a.by, "\x00", a.stood))
	return reason, &sessions.Dialog{
		Kind: sessions.PromptLine, Title: printable(a.stood), Hidden: r.Hidden, Options: []sessions.DialogOption{}, Marked: -1,
		First: s.CursorY, Last: s.CursorY, Print: "l" + hex.EncodeToString(h[:12]),
	}, again
}

// lineAtCursor is what stands before and behind the cursor in its line, without blanks at
// the ends; a line may take several rows.
func lineAtCursor(s *sessions.Snapshot) (before, behind string) {
	first, at, ok := s.CursorLine()
	if !ok {
		return "", ""
	}
	before, behind = cutAt(s.Rows[at], s.CursorX)
	return strings.TrimSpace(strings.Join(s.Rows[first:at], "") + before), strings.TrimSpace(behind)
}
