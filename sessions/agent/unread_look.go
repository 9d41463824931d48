package agent

import (
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// unread is how dialogs that no form knows are looked for on a program's screen.
type unread struct {
	waits bool // the program itself tells that it waits for a person
	// line says that it waits for a line at the terminal: arrows do nothing there.
	line bool
	// typed says the same, and that what stands in the row is what somebody types.
	typed bool
	// before are rows that stood there when the program began: they aren't its. It's kept
	// until its input box is drawn; nil: all rows count.
	before map[string]bool
	of     *agentRun // whose they are
	// stood is what stood there when the program that has the foreground got it, and mine that
	// it isn't the pane's shell.
	stood stood
	mine  bool
}

// backdrop is what stood on a pane's screen when each program got the foreground, since its
// shell had it last: none of them asks that. One may follow another between two looks, so that
// the shell isn't seen in between.
type backdrop struct {
	of   map[int]stood // by process group
	last stood         // of the look before
}

// noteScreen takes in a screen that isn't a program's own, and which group has the foreground, and returns
// what stood there when that got it. shell: it's the pane's shell, which has no backdrop.
func (b *backdrop) noteScreen(screen *sessions.Snapshot, group int, shell bool) stood {
	rows := visibleRows(screen)
	rows = slices.Clone(rows[:min(len(rows), screen.CursorY+1)])
	if shell {
		*b = backdrop{last: stood{screen.HistorySize, rows}}
		return b.last
	}
	if _, known := b.of[group]; !known {
		if b.of == nil {
			b.of = map[int]stood{}
		}
		b.of[group] = b.last
	}
	if screen.Alternate {
		return b.of[group] // the other screen comes back as it was
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" { // the cursor is below what was printed
		rows = rows[:len(rows)-1]
	}
	b.last = stood{screen.HistorySize, rows}
	return b.of[group]
}

// stood are the rows of a screen up to the one that the cursor is in, in which a command is
// typed. A shell's program begins below them.
type stood struct {
	first int // row of the history and the screen together
	rows  []string
}

// standsAt are the rows of a screen that stood there; none, if the command's own row does no
// longer: what has cleared the screen may have drawn all that's on it.
func (b stood) standsAt(s *sessions.Snapshot) (rows []int) {
	now := visibleRows(s)
	at := func(i int) int { return b.first + i - s.HistorySize }
	last := len(b.rows) - 1
	if last < 0 || s.Alternate || at(last) < 0 || at(last) >= len(now) || b.rows[last] == "" || !strings.HasPrefix(now[at(last)], b.rows[last]) {
		return nil
	}
	for i, row := range b.rows {
		if n := at(i); n >= 0 && now[n] == row {
			rows = append(rows, n)
		}
	}
	return append(rows, at(last))
}

// lookUnread works in a look at the screen. read: there's a dialog that can be read.
func (o *Observer) lookUnread(s *sessions.Observation, screen *sessions.Snapshot, read bool) unread {
	p := o.profile()
	u := &o.unasked
	if o.program != u.of {
		*u = unread{of: o.program}
		if o.program != nil && len(p.spec.Input.Box) > 0 {
			u.before = map[string]bool{}
			for _, row := range visibleRows(screen) {
				u.before[row] = true
			}
		}
	}
	l := p.layout(screen, true)
	if read || l.foot >= 0 {
		u.before = nil
	}
	switch group := o.asked.group; {
	case o.program != nil || screen.Alternate && group == screen.PID:
		o.backdrop, u.stood, u.mine = backdrop{}, stood{}, false
	case group <= 0:
		u.mine = false
	default:
		u.mine = group != screen.PID
		u.stood = o.backdrop.noteScreen(screen, group, !u.mine)
	}
	u.line, u.typed = o.line.waiting, o.line.waiting && !o.line.asks && o.line.holds
	// While a hook decides in a person's place the program's state says nothing.
	u.waits = !read && s.Known && s.State == sessions.StateWaiting && !p.unsure(l)
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.unread = *u
	return *u
}

// unread looks for a dialog that no form knows. A shell that has the foreground asks
// nothing, and neither do programs that show texts.
func (w *Watchers) unread(p *Profile, s *sessions.Snapshot, u unread) *sessions.Dialog {
	if p == nil {
		return nil
	}
	d := p.Unread(u.ownScreen(s), u.waits)
	if d != nil && (u.typed || u.line && len(d.Options) <= len(plainKeys)) {
		return nil
	}
	if d == nil || len(p.spec.Input.Box) > 0 {
		return d
	}
	if w.opt.Reads != nil && w.opt.Reads(s).Canonical && w.opt.Processes.Rest(s.PID) {
		return nil // it gets lines alone, and none is waited for
	}
	found := w.opt.Processes.Foreground(s.PID, true) // a pager has it with what it shows
	viewer := func(p Process) bool { return slices.Contains(viewers, p.title()) }
	if len(found) > 0 && interactiveShell(found[0]) || slices.ContainsFunc(found, viewer) || len(found) == 0 && shellLine(s, w.opt.Prompts).Open {
		return nil
	}
	return d
}

// ownScreen is a screen without the rows that aren't the program's.
func (u unread) ownScreen(s *sessions.Snapshot) *sessions.Snapshot {
	var others []int
	if u.mine {
		others = u.stood.standsAt(s)
	}
	if len(u.before) == 0 && len(others) == 0 {
		return s
	}
	out := *s
	out.Rows = slices.Clone(s.Rows)
	for i, row := range visibleRows(s) {
		if u.before[row] || slices.Contains(others, i) {
			out.Rows[max(0, len(s.Rows)-s.Height)+i] = ""
		}
	}
	return &out
}

// viewers are programs that show texts, of whatever these are.
var viewers = strings.Fields("less more most pager man ed ex vi vim nvim view vimdiff nano emacs hx micro kak bat delta tig top htop btop watch tail tmux screen") //nolint:gochecknoglobals // a constant table
