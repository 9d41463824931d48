package agent

import (
	"regexp"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Why a session waits whose program reads a line. What stands on the row isn't said: some of
// it may have been typed.
const (
	reasonLine   = "its program asks for a line, and waits for it"
	reasonHidden = "its program asks for something that it doesn't show, a password perhaps, and waits for it"
)

// readSoon is how long behind its question a program is looked at again until it reads.
const readSoon = 3 * time.Second

// promptFirst is a row of a program that takes one command after the other: "sqlite> ".
var promptFirst = regexp.MustCompile(`^\s*\S*[>$#%❯»](?:\s|$)`)

// lineAsked is what was found out about the row that the cursor stands in.
type lineAsked struct {
	row   string
	since time.Time
	// empty is the grid row in which the program was seen to wait for a line with nothing
	// before the cursor, plus one; 0: in none. What stands there later was typed: a program
	// that waits prints nothing, and the Enter that ends its wait begins another row.
	empty int
}

// typed reports whether what stands before the cursor in a grid row of a program that waits
// for a line is what somebody types.
func (l *lineAsked) typed(row int, before string) bool {
	if before == "" {
		l.empty = row + 1
	} else if l.empty != row+1 {
		l.empty = 0
	}
	return before != "" && l.empty != 0
}

// asksLine says why a program that no profile knows waits for a line at the terminal; "":
// it doesn't. again is when to look once more: a program reads behind what it asks.
func (o *Observer) asksLine(l sessions.Look) (reason string, again time.Time) {
	s := l.Screen
	if o.w.opt.Reads == nil || s == nil || s.Alternate || s.Dead || l.Last {
		return "", time.Time{}
	}
	at := len(s.Rows) - s.Height + s.CursorY
	if at < 0 || at >= len(s.Rows) {
		return "", time.Time{}
	}
	before := strings.TrimSpace(cells(s.Rows[at], s.CursorX))
	canonical, reads, hidden := o.w.opt.Reads(s)
	switch {
	case !canonical:
	case reads && hidden:
		return reasonHidden, time.Time{}
	case reads && o.line.typed(s.HistorySize+s.CursorY, before):
	case before == "" || promptFirst.MatchString(before) || shellLine(s, o.w.opt.Prompts).Open:
	case reads:
		return reasonLine, time.Time{}
	default:
		if o.line.row != before {
			o.line.row, o.line.since = before, l.Now
		}
		if l.Now.Sub(o.line.since) < readSoon {
			return "", l.Now.Add(readSoon / 6)
		}
	}
	return "", time.Time{}
}
