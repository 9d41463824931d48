package agent

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Of the calls that were recorded, those that were carried out are known by what was told as they were
// asked about, and no other is.
func TestACallThatWasMadeIsKnown(t *testing.T) {
	none := func(string) string { return "" }
	for agent, record := range map[string]string{
		"claude": `"tool_name":"Bash","tool_input":{"command":"make","description":"Build"}`,
		"qwen":   `"tool_name":"run_shell_command","tool_input":{"command":"make","description":"Build","is_background":false}`,
	} {
		h := newHost(t)
		var made []string
		h.w.opt.Made = func(_ sessions.ID, call string) { made = append(made, call) }
		p := h.pane(1)
		hook := func(event, record string) {
			t.Helper()
			one, err := ParseHook(agent, event, []byte("{"+record+"}"), none, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			one.PIDs = []int{os.Getpid()}
			one.Session = string(p.id)
			if !h.w.Hook(one) {
				t.Fatal("it's of no session")
			}
		}
		hook("PermissionRequest", record)
		hook("PostToolUse", strings.Replace(record, "make", "make all", 1))
		hook("PostToolUseFailure", record)
		if len(made) > 0 {
			t.Errorf("%s: %q were made", agent, made)
		}
		hook("PostToolUse", record)
		if len(made) != 1 || len(p.o.known.calls) != 1 || made[0] != p.o.known.calls[0].sum {
			t.Errorf("%s: made is %q of %+v", agent, made, p.o.known.calls)
		}
	}
}
