package transcript_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/panebridge/panebridge/sessions/transcript"
)

// Where agents keep files anything may stand: a pipe isn't waited for, and a file as large
// as a disk isn't read.
func TestWhatStandsInTheFilesPlaces(t *testing.T) {
	pipe := func(t *testing.T, path string) {
		t.Helper()
		if err := syscall.Mkfifo(path, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	large := func(t *testing.T, path string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(`{"toolUseId":"t","agentType":"x"}`), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(path, 1<<40); err != nil {
			t.Fatal(err)
		}
	}
	for _, format := range transcript.Formats() {
		t.Run(string(format), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "s.jsonl")
			pipe(t, path)
			r, err := transcript.Open(transcript.Ref{Format: format, Path: path, Session: "s"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = r.Close() }()
			if got, err := r.Read(t.Context(), 0); len(got) > 0 {
				t.Errorf("a pipe gave %v, %v", got, err)
			}
		})
	}
	for name, put := range map[string]func(*testing.T, string){"a pipe": pipe, "a large file": large} {
		t.Run("what describes a sub-agent is "+name, func(t *testing.T) {
			f := newFamily(t, transcript.Claude, nil)
			if err := os.MkdirAll(f.folder, 0o700); err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Join(f.folder, "agent-1.meta.json"))
			f.write(filepath.Join(f.folder, "agent-1.jsonl"), `{"type":"assistant","timestamp":"2026-01-02T03:04:05.000Z","message":{"content":[{"type":"text","text":"W"}]}}`+"\n")
			f.write(f.main, `{"type":"assistant","uuid":"u","timestamp":"2026-01-02T03:04:05.000Z","message":{"id":"m","model":"x","content":[{"type":"text","text":"the agent's"}]}}`+"\n")
			got, err := f.r.Read(t.Context(), 0)
			if err != nil || len(got) != 1 || got[0].Text != "the agent's" {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
