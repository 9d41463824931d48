package app_test

import (
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters/telegram/telegramtest"
	"github.com/panebridge/panebridge/internal/api"
)

// A voice note that was really spoken is shown as text in Telegram, and typed once its speaker has read it: it's a shell that
// would run it.
func TestVoiceNotes(t *testing.T) {
	slow(t)
	b, d := newBothPlatforms(t)
	d.cfg.Access.Operators = b.people()
	folder := t.TempDir()
	recording := filepath.Join(folder, "spoken.wav")
	if out, err := exec.CommandContext(t.Context(), "espeak-ng", "-w", recording, "list the files").CombinedOutput(); err != nil {
		t.Fatalf("make test installs espeak-ng: %v: %s", err, out)
	}
	content, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(folder, "transcribe")
	script := fmt.Sprintf("#!/bin/sh\n[ \"$(sha256sum <\"$1\" | cut -d' ' -f1)\" = %x ] && echo 'List the files.'\n", sha256.Sum256(content))
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	d.cfg.Voice.Command = []string{program}
	d.start()
	s, err := d.api.NewSession(d.ctx(), api.Create{Name: "listener", Command: []string{"sh", "-c", "stty -echo; while read -r line; do echo \"got: $line\"; done"}, Cwd: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	topic, _ := b.awaitPlaces(d, "listener")
	if _, err := b.ann.SendVoice(topic, content, 2*time.Second); err != nil {
		t.Fatal(err)
	}
	var shown telegramtest.Message
	d.await("the text in the chat", func() bool {
		for _, m := range b.telegram.See(topic) {
			if strings.Contains(m.Text, "🎤 List the files.") && len(m.Buttons) > 0 {
				shown = m
				return true
			}
		}
		return false
	})
	if _, err := b.ann.Press(topic.Chat, shown.ID, "Type it"); err != nil {
		t.Fatal(err)
	}
	d.await("the typed text", d.has(s.ID, "got: List the files."))
	out, err := d.api.Output(d.ctx(), string(s.ID), 0, 0)
	if n := strings.Count(fmt.Sprint(out.Lines), "got: "); err != nil || n != 1 {
		t.Errorf("it was typed %d times, %v", n, err)
	}
}
