package polling

import (
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// terminal is a grid with what drawing programs need besides: moves of the
// cursor, erasing, and changes of size with reflow. It does as tmux does; of the
// control sequences it knows those that drawing uses. The cursor may only be
// moved to where nothing stands right of it.
type terminal struct {
	*grid
	hidden   bool // the cursor is
	scrolled int  // rows of history that come back when the screen gets higher; not exact behind a change of width
}

func newTerminal(width, height, limit int) *terminal {
	return &terminal{grid: newGrid(width, height, limit)}
}

func (t *terminal) snapshot(w sessions.RowWindow) sessions.Snapshot {
	s := t.grid.snapshot(w)
	s.CursorVisible = !t.hidden
	return s
}

// put prints text with line ends and control sequences. It returns the rest
// behind the first n bytes; a sequence isn't cut.
func (t *terminal) put(text string, n int) (rest string) {
	for had := len(text); text != "" && had-len(text) < n; {
		switch {
		case strings.HasPrefix(text, "\x1b["):
			end := strings.IndexFunc(text[2:], func(r rune) bool { return r >= '@' }) + 3
			t.control(text[2:end-1], text[end-1])
			text = text[end:]
			continue
		case text[0] == '\n':
			before := t.hs
			t.down()
			t.scrolled = max(0, t.scrolled+t.hs-before)
		case text[0] == '\r': // what's printed next goes behind what stands in the row
		default:
			before := t.hs
			t.write(text[:1])
			t.scrolled = max(0, t.scrolled+t.hs-before)
		}
		text = text[1:]
	}
	return text
}

func (t *terminal) control(parameter string, final byte) {
	t.written++
	switch {
	case parameter == "?25":
		t.hidden = final == 'l'
	case parameter == "2" && final == 'J':
		t.pushScreen()
	case parameter == "3" && final == 'J':
		t.clearHistory()
		t.scrolled = 0
	case final == 'H':
		t.y = 0
	case final == 'A':
		t.y = max(0, t.y-atLeastOne(parameter))
	case final == 'K':
		t.erase(t.hs + t.y)
	default:
		panic("unknown sequence " + parameter + string(final))
	}
}

func atLeastOne(parameter string) int {
	n, err := strconv.Atoi(parameter)
	if err != nil {
		return 1
	}
	return max(1, n)
}

func (t *terminal) erase(at int) {
	t.rows[at], t.wrapped[at] = "", false
	if at > 0 {
		t.wrapped[at-1] = false
	}
}

// pushScreen clears the screen: what's on it goes into history first.
func (t *terminal) pushScreen() {
	last := len(t.rows)
	for last > t.hs && t.rows[last-1] == "" {
		last--
	}
	if last == t.hs {
		return
	}
	y := t.y
	t.y = t.height - 1
	for range last - t.hs {
		t.down()
	}
	t.y, t.scrolled = y, 0
}

// resize changes the size. The height is changed first, then the rows are
// wrapped anew.
func (t *terminal) resize(width, height int) {
	t.written++
	t.resizeHeight(height)
	if width != t.width {
		t.reflow(width)
	}
}

func (t *terminal) resizeHeight(height int) {
	if fewer := t.height - height; fewer > 0 {
		eaten := min(fewer, t.height-1-t.y) // rows below the cursor
		t.rows, t.wrapped = t.rows[:len(t.rows)-eaten], t.wrapped[:len(t.wrapped)-eaten]
		t.hs += fewer - eaten
		t.scrolled += fewer - eaten
		t.y -= fewer - eaten
	} else {
		back := min(-fewer, t.scrolled)
		t.hs -= back
		t.scrolled -= back
		t.y += back
	}
	t.height = height
	t.pad()
}

func (t *terminal) reflow(width int) {
	var rows []string
	var wrapped []bool
	cursor := t.hs + t.y
	newCursor := 0
	for i := 0; i < len(t.rows); {
		j := i
		text := t.rows[j]
		for t.wrapped[j] && j+1 < len(t.rows) {
			j++
			text += t.rows[j]
		}
		before := 0 // bytes of the line up to the cursor
		for k := i; k <= j && k <= cursor; k++ {
			before += len(t.rows[k])
		}
		if i <= cursor && cursor <= j {
			newCursor = len(rows) + max(0, before-1)/width
		}
		for ; len(text) > width; text = text[width:] {
			rows, wrapped = append(rows, text[:width]), append(wrapped, true)
		}
		rows, wrapped = append(rows, text), append(wrapped, false)
		i = j + 1
	}
	t.rows, t.wrapped, t.width = rows, wrapped, width
	t.hs = max(0, len(rows)-t.height)
	t.pad()
	t.scrolled = min(t.scrolled, t.hs)
	t.y = max(0, newCursor-t.hs)
}
