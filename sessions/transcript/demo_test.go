package transcript

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// What the demo agent writes is told word by word; it has its file open, which makes it sure.
func TestDemoTranscript(t *testing.T) {
	h := newHome(t)
	state := filepath.Join(h.dir, "state")
	text := fmt.Sprintf(`{"kind":"start","at":"2026-01-01T00:00:00Z","cwd":%q}
{"kind":"user","text":"release it","at":"2026-01-01T00:00:01Z"}
{"kind":"answer","text":"**Now**:\n\n`+"```"+`diff\n-1\n+2\n`+"```"+`","at":"2026-01-01T00:00:02Z"}
{"kind":"tool","text":"Shell(make)","tool":"Shell","id":"1","args":{"input":"make"},"at":"2026-01-01T00:00:03Z"}
{"kind":"tool_result","text":"made","tool":"Shell","id":"1","at":"2026-01-01T00:00:04Z"}
{"kind":"turn_end","at":"2026-01-01T00:00:05Z","interrupted":true}
{"kind":"helper","text":"not one of its kinds"}
`, h.cwd)
	other := h.put("state/demo-agent/1.jsonl", 2, text)
	held := h.put("state/demo-agent/2.jsonl", 1, text)
	where := func(w *Where) { w.Env, w.PID = map[string]string{"PANEBRIDGE_STATE_DIR": state}, os.Getpid() }
	if found := h.find(Demo, where); len(found) != 2 || found[0].Sure || found[0].LastUser != "release it" {
		t.Errorf("found %+v", found)
	}
	file, err := os.Open(held)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if found := h.find(Demo, where); runtime.GOOS == "linux" && (len(found) != 2 || !found[0].Sure || found[0].Ref.Path != held || found[1].Sure || found[1].Ref.Path != other) {
		t.Errorf("found %+v", found)
	}
	h.expect(h.find(Demo, nil)) // nobody says where

	r, err := Open(Ref{Format: Demo, Path: held}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = r.Close() }()
	records, err := r.Read(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, r := range records {
		got = append(got, fmt.Sprintf("%s %q %s%s %v %s", r.Kind, r.Text, r.ID, r.Tool, r.Interrupted, r.At.Format("05"))+r.Args+r.Whole)
	}
	want := []string{
		`user "release it"  false 01`, `answer "**Now**:\n\n` + "```" + `diff\n-1\n+2\n` + "```" + `"  false 02`,
		`tool "Shell(make)" 1Shell false 03{"input":"make"}`, `tool_result "made" 1Shell false 04made`, `turn_end ""  true 05`,
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || r.Skipped() != 1 {
		t.Errorf("read %q and skipped %d, want %q", got, r.Skipped(), want)
	}
}

// Every format's reader goes on from its own cursor, whatever its decoder keeps in it.
func TestEachFormatGoesOnFromItsCursor(t *testing.T) {
	for format := range decoders {
		ref := Ref{Format: format, Path: filepath.Join(t.TempDir(), "transcript.jsonl")}
		r, err := Open(ref, nil)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Open(ref, r.Cursor())
		if err != nil {
			t.Errorf("%s doesn't go on: %v", format, err)
			continue
		}
		if err := errors.Join(r.Close(), again.Close()); err != nil {
			t.Error(err)
		}
	}
}
