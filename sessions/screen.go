package sessions

import (
	"context"
	"fmt"
	"strings"
)

// Screen is a pane as it looks now.
type Screen struct {
	Width, Height int
	Rows          []string // Height rows, top to bottom, with SGR escape sequences; each row starts with default attributes
	CursorX       int      // column from 0
	CursorY       int      // row from 0
	CursorVisible bool
	Alternate     bool   // the program draws on the alternate screen
	Title         string // set by the program
	Dead          bool   // the program has ended and tmux shows what it left
}

// Shows reports whether a screen has the rows of a look at all of it.
func (s *Screen) Shows(snap *Snapshot) bool {
	for i := range max(len(s.Rows), len(snap.Rows)) {
		var a, b string
		if i < len(s.Rows) {
			a = unstyled(s.Rows[i])
		}
		if i < len(snap.Rows) {
			b = snap.Rows[i]
		}
		if strings.TrimRight(a, " ") != strings.TrimRight(b, " ") {
			return false
		}
	}
	return true
}

// unstyled is a row without what tmux writes into it for attributes: CSI sequences,
// links (OSC 8) and shifts between character sets.
func unstyled(row string) string {
	if !strings.ContainsAny(row, "\x1b\x0e\x0f") {
		return row
	}
	var b strings.Builder
	for i := 0; i < len(row); i++ {
		switch c := row[i]; {
		case c == 0x0e || c == 0x0f:
		case c != 0x1b:
			b.WriteByte(c)
		case i+1 < len(row) && row[i+1] == ']':
			end := strings.Index(row[i:], "\x1b\\")
			if end < 0 {
				return b.String()
			}
			i += end + 1
		default:
			i += 2
			for i < len(row) && (row[i] < 0x40 || row[i] > 0x7e) {
				i++
			}
		}
	}
	return b.String()
}

// NewRequest asks for a session in a pane of its own.
type NewRequest struct {
	Name    string   // unique among living sessions, at most 100 bytes without control characters; "" for one made from Agent or "shell"
	Agent   string   // key of the configuration's agents, or ""
	Cwd     string   // absolute folder; "" for the daemon's user's home
	Command []string // program and arguments; empty: the agent's, else the user's shell
	Server  string   // configured tmux server; "" for the first
	// Resume is the agent's own id of the conversation that it goes on with; "": a new
	// one. It doesn't go with Command.
	Resume string
}

// AdoptRequest asks to mirror a pane that exists.
type AdoptRequest struct {
	Tmux   string // pane id ("%12"), or the exact name of a tmux session, all of whose panes are adopted
	Server string // configured tmux server; "" for the first that has it
	Name   string // as in NewRequest; "" for the tmux session's name
}

// InputRequest is text for a session.
type InputRequest struct {
	Text   string // at most MaxInputBytes, valid UTF-8, no control characters but newline and tab
	Submit bool   // press Enter behind it
	Author string // who wrote it
	Name   string // what people call the author; "": Author
	Origin string // the place it was written at, as a target of adapters; "": none of theirs
	// Key names the input for whoever may ask for it again, not knowing whether it was
	// taken: the same key gives the same receipt, and nothing is typed again. "": each
	// request is an input of its own.
	Key string
}

// MaxInputBytes bounds one input: tmux takes 1 MB in one command line in about
// 75 ms and 5 MB in 380 ms, during which it serves nobody else (measured on
// tmux 3.3a).
const MaxInputBytes = 1 << 20

// Screen shows a session's pane as it is now.
func (m *Manager) Screen(ctx context.Context, id ID) (Screen, error) {
	s, srv, err := m.living(id)
	if err != nil {
		return Screen{}, err
	}
	if now, up := srv.Identity(); up && now != s.Pane.Identity {
		return Screen{}, fmt.Errorf("%s: %w: its tmux server was started anew", s.Name, ErrEnded)
	}
	return srv.Screen(ctx, s.Pane.ID)
}

// PromptScreen returns the screen on which a question stands, with its colours. If that one
// has gone, or can't be seen, it's what's known of the question's rows.
func (m *Manager) PromptScreen(ctx context.Context, p Prompt) Screen {
	if s, srv, err := m.living(p.Session); err == nil && !p.Final() {
		snap, err := srv.Snapshot(ctx, s.Pane.ID, Window{})
		screen, fail := srv.Screen(ctx, s.Pane.ID)
		if err == nil && fail == nil && snap.Server == s.Pane.Identity && screen.Shows(&snap) {
			if d := m.samePartOf(p.Session, m.opt.Dialogs.Read(p.Session, &snap, nil)); d != nil && d.Print == p.Dialog.Print {
				return screen
			}
		}
	}
	out := Screen{Rows: strings.Split(p.Dialog.Body, "\n"), CursorY: -1}
	for _, row := range out.Rows {
		out.Width = max(out.Width, len([]rune(row)))
	}
	out.Height = len(out.Rows)
	return out
}
