package sessions

import "testing"

func TestWhatStandsBeforeAPromptIsNoneOfIt(t *testing.T) {
	m := NewManager(Options{})
	raw, line := Terminal{}, Terminal{Canonical: true}
	id := ID("pb_000000000001")
	for _, c := range []struct {
		row  string
		term Terminal
		want bool
	}{
		{"half-# ", raw, false}, // it would show that in its line
		{"half-# ", line, true},
		{"rm -rf # ", line, true},
		{"half# ", line, true},
		{"# ", line, false},
		{"half-# ", line, true},
		{"foo:# ", line, true},
		{"/tmp/# ", line, true}, // it may be a folder, but then none stood there before
		{"# ", line, false},
		{"user@host:~$ ", line, false}, // another shell
		{"xuser@host:~$ ", line, true},
		{"user@host:~$ ", line, false},
	} {
		m.mu.Lock()
		if m.entries[id] == nil {
			m.entries[id] = newEntry(Session{ID: id})
		}
		m.mu.Unlock()
		if got := m.mayBeAhead(id, &Snapshot{Width: 80, Height: 1, Rows: []string{c.row}, CursorX: len(c.row)}, c.term); got != c.want {
			t.Errorf("%q: %v", c.row, got)
		}
	}
	for _, first := range []string{"# ", "$ ", "sh-5.2$ ", "dash$ ", "user@host:~/x$ ", "/tmp # ", "~ $ ", "[me]$ "} {
		m.entries[id] = newEntry(Session{ID: id})
		if m.mayBeAhead(id, &Snapshot{Width: 80, Height: 1, Rows: []string{first}, CursorX: len(first)}, line) {
			t.Errorf("at first: %q", first)
		}
	}
}
