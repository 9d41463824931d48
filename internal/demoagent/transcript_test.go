package demoagent_test

import (
	"bufio"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/demoagent"
)

// kept are the records of the one transcript in a folder, as "kind text", without the first.
func kept(t *testing.T, folder string) (list []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.jsonl"))
	if err != nil || len(files) != 1 {
		t.Fatalf("transcripts: %q, %v", files, err)
	}
	if info, err := os.Stat(files[0]); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the transcript is %v, %v", info, err)
	}
	file, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for s := bufio.NewScanner(file); s.Scan(); {
		var r struct {
			Kind, Text  string
			Interrupted bool
		}
		if err := json.Unmarshal(s.Bytes(), &r); err != nil {
			t.Fatalf("%s: %v", s.Text(), err)
		}
		if r.Interrupted {
			r.Text = "interrupted"
		}
		list = append(list, strings.TrimSpace(r.Kind+" "+r.Text))
	}
	if list[0] != "start" {
		t.Errorf("it begins with %q", list[0])
	}
	return list[1:]
}

// It says nothing until it's asked, and its transcript has the exact words of all that follows: a
// question comes behind its reason.
func TestKeepsATranscript(t *testing.T) {
	opts := fast
	opts.Transcripts = filepath.Join(t.TempDir(), "kept")
	term := start(t.Context(), t, opts)
	if shown := term.waitFor("\n> "); strings.Trim(shown, "─") != " demo\r" {
		t.Errorf("unasked it says %q", shown)
	}
	if list := kept(t, opts.Transcripts); len(list) > 0 {
		t.Errorf("unasked it keeps %q", list)
	}
	term.press("two words\rask\r")
	reason := term.waitFor("Do you want to proceed?")
	if !strings.Contains(reason, "+1.3.0") || !strings.Contains(reason, "I'd like to **make the release**") {
		t.Errorf("before the question it says %q", reason)
	}
	before := kept(t, opts.Transcripts)
	if last := before[len(before)-1]; !strings.HasPrefix(last, "answer The tests pass.") || !strings.Contains(last, "```diff\n--- a/VERSION\n") || !strings.HasSuffix(last, "with it.") {
		t.Errorf("the last that's kept before the question is %q", last)
	}
	term.press("1")
	term.waitFor(over)
	var kinds []string
	for _, r := range kept(t, opts.Transcripts) {
		kind, text, _ := strings.Cut(r, " ")
		kinds = append(kinds, kind)
		if kind == "answer" && strings.HasPrefix(text, "You wrote: ") && !strings.HasPrefix(text, "You wrote: two words\n\n| what | how many |\n") {
			t.Errorf("kept is %q", text)
		}
	}
	if got, want := strings.Join(kinds, " "), "user answer tool tool_result answer used turn_end user answer tool tool_result answer used turn_end"; got != want {
		t.Errorf("kept are %s, want %s", got, want)
	}
}

// Of an answer that's interrupted the transcript has what was said of it.
func TestKeepsWhatWasInterrupted(t *testing.T) {
	interrupts := make(chan os.Signal)
	folder := t.TempDir()
	term := start(t.Context(), t, demoagent.Options{Think: -1, BulkEvery: time.Hour, Interrupt: interrupts, Transcripts: folder})
	term.waitFor("\n> ")
	term.press("count 5\r")
	term.waitFor("line 1 of 5\r\n")
	interrupts <- os.Interrupt
	term.waitFor(over)
	if got, want := strings.Join(kept(t, folder), "|"), "user count 5|answer line 1 of 5|turn_end interrupted"; got != want {
		t.Errorf("kept is %s, want %s", got, want)
	}
}
