package agent

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
)

var update = flag.Bool("update", false, "write what was read as what's expected")

// shown is a dialog as the golden files have it.
func shown(d *sessions.Dialog) string {
	if d == nil {
		return "none that can be read\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s): %s\n", d.Kind, d.Form, d.Title)
	if d.Cut {
		b.WriteString("  (cut)\n")
	}
	for line := range strings.Lines(d.Body) {
		fmt.Fprintf(&b, "  | %s\n", strings.TrimRight(line, "\n"))
	}
	for i, o := range d.Options {
		mark, check := " ", ""
		if i == d.Marked {
			mark = ">"
		}
		if d.Kind == sessions.PromptMulti {
			check = map[bool]string{true: "[x] ", false: "[ ] "}[o.Checked]
		}
		fmt.Fprintf(&b, "  %s %s%s", mark, check, o.Label)
		if o.Key != "" {
			fmt.Fprintf(&b, "  <%s>", o.Key)
		}
		if o.Detail != "" {
			fmt.Fprintf(&b, "  — %s", o.Detail)
		}
		b.WriteByte('\n')
	}
	if d.Text != "" {
		fmt.Fprintf(&b, "  text: %s", d.Text)
		if d.TextKey != "" {
			fmt.Fprintf(&b, "  <%s>", d.TextKey)
		}
		if d.Marked == len(d.Options) {
			fmt.Fprintf(&b, "  > %q", d.Typed)
		}
		b.WriteByte('\n')
	}
	if d.Marked == len(d.Options)+1 {
		b.WriteString("  > what submits\n")
	}
	return b.String()
}

// golden compares a text with a file below testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs; -update writes it anew. Read:\n%s", file, got)
	}
}

// stand is a dialog that stood on the screen of a recording.
type stand struct {
	from, to time.Duration
	dialog   *sessions.Dialog
}

// stands are the dialogs that are read in a recording's frames, and those that can't be.
func stands(p *Profile, frames []recording.Frame) []stand {
	var out []stand
	last := ""
	for i := range frames {
		d := p.Prompt(&frames[i].Snapshot, nil)
		now := ""
		if d != nil {
			now = d.Print
		}
		if now != "" && now != last {
			out = append(out, stand{from: frames[i].At, dialog: d})
		}
		if now != "" {
			out[len(out)-1].to = frames[i].At
		}
		last = now
	}
	return out
}

// Every dialog of the recordings is read from its second frame on, as one, and nothing
// is where the agent was idle or at work.
func TestDialogsOfRecordings(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	all, err := recording.All()
	if err != nil {
		t.Fatal(err)
	}
	seen, stood, frames := map[string][]string{}, 0, 0
	for _, r := range all {
		parts := partsOf(t, r)
		found := stands(set.Get(r.Agent), parts.frames)
		stood, frames = stood+len(found), frames+len(parts.frames)
		for _, s := range found {
			if text := shown(s.dialog); !slices.Contains(seen[r.Agent], text) {
				seen[r.Agent] = append(seen[r.Agent], text)
			}
		}
		for _, span := range parts.spans {
			checkSpan(t, r.Name, found, span)
		}
	}
	var b strings.Builder
	for _, agent := range set.Names() {
		slices.Sort(seen[agent])
		for _, text := range seen[agent] {
			fmt.Fprintf(&b, "%s: %s\n", agent, text)
		}
	}
	golden(t, "dialogs.txt", b.String())
	t.Logf("%d dialogs in %d frames of %d recordings", stood, frames, len(all))
	if stood < 70 {
		t.Errorf("%d dialogs were read, of at least 70", stood)
	}
}

// The screen may be behind the model and the keys by this much.
const drawnWithin = 700 * time.Millisecond

func checkSpan(t *testing.T, name string, found []stand, span recording.Span) {
	t.Helper()
	from, to := span.From+drawnWithin, span.To-drawnWithin
	if to <= from {
		return
	}
	covered := from
	for i, s := range found {
		if s.from >= to || s.to <= from {
			continue
		}
		// Two tools called at once ask one after the other, of which the timeline doesn't know.
		next := i > 0 && s.from-found[i-1].to <= 2*recording.FrameStep
		if span.State != sessions.StateWaiting && !next && s.dialog.Kind != sessions.PromptSetup {
			t.Errorf("%s: %v from %v to %v, but a dialog stood there: %s", name, span.State, span.From, span.To, shown(s.dialog))
		}
		if s.from <= covered+2*recording.FrameStep {
			covered = s.to
		}
	}
	if span.State == sessions.StateWaiting && covered < to {
		t.Errorf("%s: waiting from %v to %v, but a dialog is read up to %v only", name, span.From, span.To, covered)
	}
}

// Dialogs of the real programs that no recording has, as they were on the screen.
func TestDialogsOfScreens(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/dialogs/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d screens, %v", len(files), err)
	}
	var b strings.Builder
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		agent, _, _ := strings.Cut(name, "-")
		snap, styled := screenOf(t, file)
		d := set.Get(agent).Prompt(snap, styled)
		fmt.Fprintf(&b, "%s\n%s\n", name, shown(d))
		again := set.Generic().Prompt(snap, styled)
		if d != nil && (again == nil || again.Print == "" || again.Title != d.Title || len(again.Options) != len(d.Options)) {
			t.Errorf("%s isn't read without knowing the program: %s", name, shown(again))
		}
	}
	menus, err := filepath.Glob("testdata/menus/*.txt")
	if err != nil || len(menus) < 6 {
		t.Fatalf("%d screens, %v", len(menus), err)
	}
	for _, file := range menus {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		agent, _, _ := strings.Cut(name, "-")
		fmt.Fprintf(&b, "%s\n%s\n", name, shown(set.Get(agent).Prompt(screenOf(t, file))))
	}
	golden(t, "screens.txt", b.String())
}

// screenOf reads a screen that was captured, with its colours perhaps.
func screenOf(t *testing.T, file string) (*sessions.Snapshot, *sessions.Screen) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	styled := &sessions.Screen{Width: 100, Height: len(rows), Rows: rows}
	snap := &sessions.Snapshot{Width: 100, Height: len(rows)}
	for _, row := range rows {
		plain, _ := backgrounds(row)
		snap.Rows = append(snap.Rows, plain)
	}
	return snap, styled
}
