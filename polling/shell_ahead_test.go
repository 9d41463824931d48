package polling_test

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/polling"
)

// What's typed ahead is echoed by the terminal wherever the cursor is, also in the moment
// in which a command is submitted. It's a part of what the command prints then: it isn't
// overwritten, and the first line of output isn't of the turn before.
func TestEchoAsACommandIsSubmitted(t *testing.T) {
	t.Parallel()
	for name, ahead := range map[string]string{"short": "echo two", "wraps": "echo " + strings.Repeat("two ", 30)} {
		t.Run(name, func(t *testing.T) {
			// Shells expand all of PS0 before they print it.
			release := writeFile(t, "") + ".now"
			t.Cleanup(func() { _ = os.Remove(release) })
			command := shells(t)["bash"] + " -i"
			p := newPane(t, command, "80x24", polling.Options{Cadence: 100 * time.Millisecond})
			p.atPrompt()
			p.typeLine("PS0+='$(until [ -e " + release + " ]; do sleep 0.05; done)'")
			p.await("turn", func() bool { return len(p.turns()) == 1 })
			p.typeLine("echo one; echo more")
			p.await("submission", func() bool { return p.rowBelow("echo one; echo more", "") })
			p.tmux("send-keys", "-t", p.id, "-l", ahead)
			p.await("echo", func() bool { return p.rowBelow("echo one; echo more", "echo") })
			if err := os.WriteFile(release, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			p.await("turn", func() bool { return len(p.turns()) == 2 })
			want := []string{ahead + "one", "more"}
			if got := p.turns()[1].lines; !slices.Equal(got, want) {
				t.Errorf("turn %q, want %q; log:\n%s", got, want, strings.Join(p.log.text(), "\n"))
			}
		})
	}
}

// rowBelow reports whether a row of the pane ends with a text and the next one begins
// with another; "": the cursor is there.
func (p *pane) rowBelow(end, begin string) bool {
	p.Helper()
	rows := strings.Split(p.tmux("capture-pane", "-p", "-t", p.id), "\n")
	i := slices.IndexFunc(rows, func(r string) bool { return strings.HasSuffix(strings.TrimRight(r, " "), end) })
	if i < 0 {
		return false
	}
	if begin == "" {
		return p.tmux("display-message", "-p", "-t", p.id, "#{cursor_x}") == "0"
	}
	return i+1 < len(rows) && strings.HasPrefix(rows[i+1], begin)
}
