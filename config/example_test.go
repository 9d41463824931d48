package config_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/discord"
	"github.com/panebridge/panebridge/adapters/telegram"
	"github.com/panebridge/panebridge/config"
)

func TestExampleFileIsUpToDate(t *testing.T) {
	file, err := os.ReadFile("../config.example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(all.Form().Example(), string(file)); diff != "" {
		t.Errorf("run go generate ./config:\n%s", diff)
	}
}

func TestExampleIsTheDefault(t *testing.T) {
	got, err := all.Form().Parse("c.yaml", []byte(all.Form().Example()), env(nil))
	if diff := cmp.Diff(all.Form().Default(), got); err != nil || diff != "" {
		t.Errorf("%v\n%s", err, diff)
	}
}

// What is commented out in the example is right too: without its comment mark
// it reads, but for the second of two keys that exclude each other.
func TestExampleCommentsAreValid(t *testing.T) {
	text := strings.NewReplacer("agents: {}", "agents:", "mirrors: []", "mirrors:", "chats: []", "chats:", "channels: []", "channels:", "people: {}", "people:", "profiles: {}", "profiles:", "rules: []", "rules:").Replace(all.Form().Example())
	text = regexp.MustCompile(`(?m)^( *)#   `).ReplaceAllString(text, "$1  ")
	text = strings.Replace(text, "socket_name: default\n", "\n", 1)
	text = strings.Replace(text, "# socket_path", "socket_path", 1)
	got, err := all.Form().Parse("c.yaml", []byte(text), env(map[string]string{"ANTHROPIC_API_KEY": "k"}))
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if len(got.Agents) != 1 || got.Profiles["qwen"].Node() == nil || got.Agents["claude"].Env["ANTHROPIC_API_KEY"].Reveal() != "k" || got.Tmux.Servers[0].SocketPath == "" || len(got.Mirrors) != 1 ||
		len(telegram.ConfigOf(got).Chats) != 1 || len(discord.ConfigOf(got).Channels) != 1 || len(got.People["me"]) != 2 || len(got.Redact.Rules) != 1 {
		t.Errorf("got %+v", got)
	}
}

// Every key has what doc.go promises of its tags.
func TestTags(t *testing.T) {
	for _, wrong := range config.WrongTags(all.Form().Default()) {
		t.Error(wrong)
	}
}
