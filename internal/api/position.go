package api

import (
	"fmt"
	"strconv"
	"strings"
)

// position is a place in a session's output log, between what a client has and
// what it hasn't. Gaps stand behind a line, several of them behind one perhaps,
// so the number of that line isn't always enough.
type position struct {
	line int64 // number of the newest line that was sent; -1: none, and what was dropped isn't wanted
	gap  int64 // newest gap row read, as Log.ReadSince wants it

	base int64 // gap row from which on sent counts; 0: the first behind line
	sent int   // gaps behind line, beginning after base, that the client has
	skip int   // of sent, those that the next read will return again
}

// headPosition is a position behind all that's in a log.
func headPosition(line, gap int64) position { return position{line: line, gap: gap, base: gap} }

// parsePosition reads what an event's id or the parameter from says: N, N.G or
// N.G.S, where N is the number of the next line (0: the oldest kept), and S the
// number of gaps right before it that the client has, not counting those of
// rows up to G.
func parsePosition(text string) (position, error) {
	parts := strings.Split(text, ".")
	var n [3]int64
	if len(parts) > len(n) {
		return position{}, positionError(text)
	}
	for i, part := range parts {
		v, err := strconv.ParseInt(part, 10, 64)
		if err != nil || v < 0 {
			return position{}, positionError(text)
		}
		n[i] = v
	}
	sent := int(min(n[2], 1<<20))
	return position{line: n[0] - 1, gap: n[1], base: n[1], sent: sent, skip: sent}, nil
}

func positionError(text string) error {
	return badRequest(fmt.Sprintf("from must be a line number or the id of an event, not %q", text))
}

// id returns the position as an event's id. Behind a line it is the next line's
// number alone.
func (p position) id() string {
	id := strconv.FormatInt(p.line+1, 10)
	if p.base == 0 && p.sent == 0 {
		return id
	}
	id += "." + strconv.FormatInt(p.base, 10)
	if p.sent > 0 {
		id += "." + strconv.Itoa(p.sent)
	}
	return id
}

// behind moves the position behind a line.
func (p *position) behind(line int64) { p.line, p.base, p.sent, p.skip = line, 0, 0, 0 }
