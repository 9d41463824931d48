package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/config"
)

func TestDiff(t *testing.T) {
	from, err := parse("agents: {a: {command: [a], env: {K: '${KEY}'}}, b: {command: [b]}, gone: {command: [c]}}")
	if err != nil {
		t.Fatal(err)
	}
	to, err := parse(`
tmux: {servers: [{socket_name: work}]}
sessions: {adopt: [x], tmux_prefix: my_, log_max_lines: 1000}
polling: {output_cadence_s: 2, turn_marker: ""}
adapters: {web: {enabled: false}}
agents: {a: {command: [a], env: {K: other}}, b: {command: [b]}, new: {command: [c]}}
log: {level: warn, format: json}
`)
	if err != nil {
		t.Fatal(err)
	}
	want := []config.Change{
		{Path: "tmux.servers"},
		{Path: "sessions.adopt", Reload: true},
		{Path: "sessions.tmux_prefix"},
		{Path: "sessions.log_max_lines", Reload: true},
		{Path: "polling.output_cadence_s", Reload: true},
		{Path: "polling.turn_marker", Reload: true},
		{Path: "adapters.web.enabled"},
		{Path: "agents.a", Reload: true},
		{Path: "agents.gone", Reload: true},
		{Path: "agents.new", Reload: true},
		{Path: "log.level", Reload: true},
		{Path: "log.format"},
	}
	if diff := cmp.Diff(want, config.Diff(from, to)); diff != "" {
		t.Error(diff)
	}
	if same := config.Diff(to, to); len(same) > 0 {
		t.Errorf("to itself: %v", same)
	}
}
