package typing

import (
	"strconv"

	"github.com/panebridge/panebridge/sessions"
)

// checks are what was seen of a list of which a part is on the screen at a time, while an
// answer goes through it: which options are checked.
type checks struct {
	key     string // that was pressed last
	print   string // of the dialog
	marked  int    // see ListWindow
	checked map[int]bool
}

// recall adds what was seen before to a look at a list. Where the mark stands somewhere else
// than the keys have moved it, somebody at the pane has: what was seen before counts no more.
func (c *checks) recall(d *sessions.Dialog) {
	if d == nil || d.Window == nil {
		return
	}
	moved := max(d.Window.Marked-c.marked, c.marked-d.Window.Marked)
	if d.Print != c.print || moved > 1 && c.key != strconv.Itoa(d.Window.Marked) {
		c.checked = map[int]bool{}
	}
	c.print, c.marked = d.Print, d.Window.Marked
	for i := range d.Options {
		o := &d.Options[i]
		if !o.Hidden {
			c.checked[i] = o.Checked
		} else if seen, ok := c.checked[i]; ok {
			o.Checked, o.Hidden = seen, false
		}
	}
}
