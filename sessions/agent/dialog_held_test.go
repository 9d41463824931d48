package agent

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

// Dialogs of which not enough can be seen, and those that want a secret, aren't read and
// so not answered: the session waits for somebody, and no text is typed into them.
func TestDialogsThatAreHeld(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"claude-low-question-down", "qwen-low-question", "qwen-long-60x20", "opencode-low-many", // lists that go on where nobody sees it
		"codex-login-key", "gemini-login-key",
	} {
		agent, _, _ := strings.Cut(name, "-")
		p := set.Get(agent)
		screen, styled := screenOf(t, "testdata/dialogs/"+name+".txt")
		if d := p.Prompt(screen, styled); d != nil {
			t.Errorf("%s is read as\n%s", name, shown(d))
		}
		if found := p.findSign(p.layout(screen, true)); found.state != sessions.StateWaiting {
			t.Errorf("%s: the session is %q, not waiting", name, found.state)
		}
		if box := p.Box(screen); !box.Known || box.Open {
			t.Errorf("%s: text would be typed into it: %+v", name, box)
		}
	}
}
