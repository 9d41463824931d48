package app_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/cli"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// recording is a `doctor record` that runs.
type runningRecord struct {
	file string
	done chan int
	out  bytes.Buffer
	err  bytes.Buffer
}

func startRecord(p *played, name string, flags ...string) *runningRecord {
	p.Helper()
	r := &runningRecord{file: filepath.Join(p.dir, name+".tar.gz"), done: make(chan int, 1)}
	args := append([]string{"doctor", "record", string(p.id), "--state-dir", filepath.Join(p.dir, "state"), "--for", "10m", "--out", r.file}, flags...)
	go func() {
		r.done <- cli.Main(context.Background(), cli.Build{}, args, cli.Stdio{In: strings.NewReader(""), Out: &r.out, Err: &r.err}, os.LookupEnv)
	}()
	return r
}

// open waits until it has ended, and opens what was recorded.
func (r *runningRecord) open(t *testing.T) *recording.Recording {
	t.Helper()
	if code := <-r.done; code != 0 {
		t.Fatalf("exit code %d: %s", code, r.err.String())
	}
	file, err := os.Open(r.file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	rec, err := recording.OpenArchive(file)
	if err != nil {
		t.Fatal(err)
	}
	return rec
}

// What `doctor record` writes of a pane in which a recording is played opens as one, and
// shows the same words; with --private it has none of what the model said.
func TestRecordOfAPlayedRecording(t *testing.T) {
	slow(t)
	const name = "claude/tools-full-120x40"
	p := playAgent(newDaemon(t), name, 4, true)
	plain, private := startRecord(p, "plain"), startRecord(p, "private", "--private", "--json")
	p.finish()
	p.tmux("kill-session", "-t", "agent")
	rec, hidden := plain.open(t), private.open(t)
	if rec.Agent != "claude" || rec.Width != 120 || rec.Height != 40 || !rec.Heard || rec.Private || !hidden.Private {
		t.Errorf("it's of %s, %dx%d, heard %t, private %t", rec.Agent, rec.Width, rec.Height, rec.Heard, rec.Private)
	}
	for _, want := range []string{plain.file, "the session ended", "Look through it before you send it"} {
		if !strings.Contains(plain.out.String(), want) {
			t.Errorf("it says %q, without %q", plain.out.String(), want)
		}
	}
	lab, err := recording.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	words := longSeen(t, lab)
	shown, left := allRows(t, rec), allRows(t, hidden)
	for _, w := range words {
		if !strings.Contains(shown, w) {
			t.Errorf("no frame shows %q", w)
		}
	}
	if len(words) < 20 {
		t.Errorf("only %d words were looked for", len(words))
	}
	for _, answer := range p.truth() {
		for w := range strings.FieldsSeq(answer) {
			if len(letters(w)) > 8 && strings.Contains(left, letters(w)) {
				t.Errorf("with --private %q can be read", w)
			}
		}
	}
	p.checkHeard(rec)
	p.checkHeard(hidden)
}

// checkHeard looks at the hooks, records and verdicts of a recording.
func (p *played) checkHeard(rec *recording.Recording) {
	p.Helper()
	hooks, err := rec.Hooks()
	if err != nil {
		p.Fatal(err)
	}
	signals := map[agent.Signal]int{}
	for _, h := range hooks {
		var heard agent.Hook
		if err := json.Unmarshal(h.Heard, &heard); err != nil {
			p.Fatal(err)
		}
		signals[heard.Signal]++
		if rec.Private && (heard.Cwd != "" || heard.Transcript != "" || strings.ContainsAny(heard.Text, "abcdefghijklmnopqrstuvwyz")) {
			p.Errorf("a private hook has %q, %q, %q", heard.Cwd, heard.Transcript, heard.Text)
		}
	}
	if signals[agent.TurnDone] == 0 || signals[agent.ToolStart] == 0 {
		p.Errorf("hooks %v", signals)
	}
	records, err := rec.Records()
	if err != nil {
		p.Fatal(err)
	}
	answers := 0
	for _, r := range records {
		if r.Kind == "answer" {
			answers++
		}
	}
	if want := len(p.truth()); answers != want {
		p.Errorf("%d answers, want %d", answers, want)
	}
	verdicts, err := rec.Verdicts()
	if err != nil {
		p.Fatal(err)
	}
	began, ended := 0, 0
	var states []string
	for _, v := range verdicts {
		states = append(states, v.State)
		if v.Began {
			began++
		}
		if v.Ended {
			ended++
		}
	}
	for _, want := range []sessions.State{sessions.StateIdle, sessions.StateWorking, sessions.StateWaiting} {
		if !slices.Contains(states, string(want)) {
			p.Errorf("it was never %s: %q", want, states)
		}
	}
	if began == 0 || ended != began {
		p.Errorf("%d turns began, %d ended", began, ended)
	}
}

// longSeen are words that stood on the screen for four seconds.
func longSeen(t *testing.T, rec *recording.Recording) []string {
	t.Helper()
	frames, err := rec.Frames()
	if err != nil {
		t.Fatal(err)
	}
	seen, found := map[string]int{}, map[string]bool{}
	for _, f := range frames {
		now := map[string]int{}
		for w := range strings.FieldsSeq(strings.Join(f.Snapshot.Rows, "\n")) {
			if len(letters(w)) == len(w) && len(w) > 4 {
				now[w] = seen[w] + 1
				found[w] = found[w] || now[w] > 40
			}
		}
		seen = now
	}
	var out []string
	for w, long := range found {
		if long {
			out = append(out, w)
		}
	}
	return out
}

// allRows are the rows of all frames.
func allRows(t *testing.T, rec *recording.Recording) string {
	t.Helper()
	frames, err := rec.Frames()
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, f := range frames {
		for _, row := range f.Snapshot.Rows {
			b.WriteString(row + "\n")
		}
	}
	return b.String()
}
