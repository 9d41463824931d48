package app_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/api"
)

// A program that asks before it has printed a whole line, and so has no place of its own in
// the chats yet, rings within 3 s beside those of others.
func TestAQuestionBeforeAnyLineRings(t *testing.T) {
	slow(t) // and not beside others: its bar is seconds
	r := newStandinRig(t)
	r.await("the gateway", func() bool { return r.discord.Gateways() == 1 })
	dir := t.TempDir()
	_, err := r.api.NewSession(r.ctx(), api.Create{Name: "early", Cwd: dir, Command: []string{"sh", "-c", `sleep 1; date +%s.%N >drawn; printf 'Delete all? [y/N] '; read -r x; sleep 60`}})
	if err != nil {
		t.Fatal(err)
	}
	var rang []time.Time
	r.await("the messages", func() bool {
		rang = nil
		for _, m := range r.telegram.Messages(r.forum) {
			if m.Rang && strings.Contains(m.Text, "early needs you") {
				rang = append(rang, m.At)
			}
		}
		for _, m := range r.discord.Messages(r.channel) {
			if m.Rang && strings.Contains(m.Content, "**early needs you**") {
				rang = append(rang, m.At)
			}
		}
		return len(rang) == 2
	})
	drawn := timeIn(t, filepath.Join(dir, "drawn"))
	for _, at := range rang {
		if took := at.Sub(drawn); took > 3*time.Second {
			t.Errorf("it rang %s after it was drawn", took)
		}
	}
}
