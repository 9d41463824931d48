package config_test

import (
	"testing"

	"github.com/panebridge/panebridge/config"
)

func TestWhatAConfigurationHolds(t *testing.T) {
	const part = "adapters:\n  discord:\n    enabled: true\n    channels:\n      - {id: \"1\", threads: true} # agents\naccess: {admins: [\"discord:1\"]}\n"
	for text, want := range map[string]bool{
		part:            true,
		part + part:     false, // keys twice are no YAML
		"":              false,
		"log: {}\n":     false,
		"adapters: 3\n": false,
		"adapters: {discord: {channels: [{threads: true, id: \"1\"}], enabled: true, guild: \"5\"}, web: {}}\naccess:\n  admins:\n    - \"telegram:2\"\n    - 'discord:1'\n": true,
		"adapters: {discord: {channels: [{threads: true, id: \"2\"}], enabled: true}}\naccess: {admins: [\"discord:1\"]}\n":                                                  false,
		"adapters: {discord: {channels: [{threads: false, id: \"1\"}], enabled: true}}\naccess: {admins: [\"discord:1\"]}\n":                                                 false,
		"adapters: {discord: {channels: [{threads: true, id: \"1\"}], enabled: true}}\n":                                                                                     false,
		"adapters: [discord\n": false,
	} {
		if got := config.Holds([]byte(text), []byte(part)); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}
