package app

import (
	"testing"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/sessions/agent"
)

// A program is begun again by its name, or by the configuration's command for it; one that has no
// name of its own, as the demo's agent, by the latter alone.
func TestReviveTypesWhatRunsTheProgram(t *testing.T) {
	profiles, err := agent.LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	cfg := all.Form().Default()
	d := &daemon{config: cfg, profiles: profiles}
	check := func(program, conversation, want string) {
		t.Helper()
		if line, ok := d.revive("", program, conversation); line != want || ok != (want != "") {
			t.Errorf("%s is begun by %q, %t, want %q", program, line, ok, want)
		}
	}
	check("claude", "", "claude")
	check("claude", "7", "claude --resume 7")
	check("demo", "", "")
	check("shell", "", "")
	check("nobody", "", "")
	cfg.Agents = map[string]config.Agent{"demo": {Command: []string{"/opt/panebridge", "demo-agent"}}}
	check("demo", "", "/opt/panebridge demo-agent")
	check("demo", "7", "")
}
