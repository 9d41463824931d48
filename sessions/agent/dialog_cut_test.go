package agent

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// screenCase is a screen with the dialog that's on it.
type screenCase struct {
	name   string
	p      *Profile
	rows   []string
	dialog *sessions.Dialog
}

func screenCases(t *testing.T) []screenCase {
	t.Helper()
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("testdata/dialogs/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	var out []screenCase
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		agent, _, _ := strings.Cut(name, "-")
		snap, _ := screenOf(t, file)
		if d := set.Get(agent).Prompt(snap, nil); d != nil && len(d.Options) > 0 {
			out = append(out, screenCase{name, set.Get(agent), snap.Rows, d})
		}
	}
	if len(out) < 40 {
		t.Fatalf("%d screens have a dialog", len(out))
	}
	return out
}

func screenOfRows(rows []string) *sessions.Snapshot {
	return &sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}
}

// Of a dialog that's only partly visible the options are as they were, or nothing is.
func TestCutDialogs(t *testing.T) {
	cases := screenCases(t)
	drawtest.Check(t, func(rt *rapid.T) {
		c := rapid.SampledFrom(cases).Draw(rt, "screen")
		from := rapid.IntRange(0, len(c.rows)-1).Draw(rt, "from")
		to := rapid.IntRange(from+1, len(c.rows)).Draw(rt, "to")
		if c.p.formOf(c.dialog).Foot == nil {
			to = max(to, c.dialog.Last+1) // it isn't to be seen whether more follows, but terminals cut at the top
		}
		d := c.p.Prompt(screenOfRows(c.rows[from:to]), nil)
		if d == nil {
			return
		}
		if d.Form != c.dialog.Form || d.Text != c.dialog.Text || len(d.Options) != len(c.dialog.Options) {
			rt.Fatalf("%s from %d to %d:\n%s", c.name, from, to, shown(d))
		}
		for i, o := range d.Options {
			if was := c.dialog.Options[i]; o != was && to > c.dialog.Last {
				rt.Fatalf("%s from %d to %d: %+v was %+v", c.name, from, to, o, was)
			}
		}
		if from > c.dialog.First && !d.Cut {
			rt.Fatalf("%s from %d to %d isn't cut", c.name, from, to)
		}
	})
}

// What stands above an input box, or anything else that isn't a dialog's, is quoted.
func TestQuotedDialogs(t *testing.T) {
	boxes := map[string]string{
		"claude":   inputBox + "  ? for shortcuts",
		"codex":    "\n› Ask Codex to do anything\n\n  mock-model default",
		"gemini":   "──────────────\n Shift+Tab to accept edits\n▄▄▄▄▄▄▄▄▄▄▄▄\n > Type\n▀▀▀▀▀▀▀▀▀▀▀▀",
		"qwen":     "────────────────\n> Type your message\n───────────────",
		"demo":     "\n──────────────── demo\n> ",
		"pi":       "──────────────\n\n──────────────\n~/project\n0.0%/128k (auto)",
		"opencode": "\n  ┃\n  ┃  Build\n  ╹▀▀▀▀▀▀▀▀▀▀▀▀▀▀",
	}
	generic := func() *Profile {
		set, err := LoadSet()
		if err != nil {
			t.Fatal(err)
		}
		return set.Generic()
	}()
	for _, c := range screenCases(t) {
		quoted := slices.Concat(c.rows[:c.dialog.Last+1], strings.Split(boxes[c.p.Name()], "\n"))
		if d := c.p.Prompt(screenOfRows(quoted), nil); d != nil {
			t.Errorf("%s above an input box is read as\n%s", c.name, shown(d))
		}
		quoted = append(slices.Clone(c.rows[:c.dialog.Last+1]), "user@host:~$ ")
		if d := generic.Prompt(screenOfRows(quoted), nil); d != nil {
			t.Errorf("%s above a shell's prompt is read as\n%s", c.name, shown(d))
		}
	}
}

// Blanks and rows make another question of the same letters, at one width; at another they're where
// its rows are broken.
func TestBlanksMakeAnotherQuestion(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	drawtest.Check(t, func(rt *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"rm", "-rf", "/tmp/x", "/", ":", "#", "touch", "a"}), 2, 8).Draw(rt, "words")
		command := func(label string) string {
			var b strings.Builder
			for i, w := range words {
				if i > 0 {
					b.WriteString(rapid.SampledFrom([]string{" ", "", "\n"}).Draw(rt, label))
				}
				b.WriteString(w)
			}
			return b.String()
		}
		read := func(command string, width int) *sessions.Dialog {
			rows := append([]string{"  > do it", "", "  ◆ I do.", "", "  ? Shell it (Do it) ←", ""}, indented(strings.Split(command, "\n"), "     ", "     ", width)...)
			rows = append(rows, "", "   Allow execution of: 'rm'?", "", "   › 1. Yes, allow once", "     2. No, suggest changes (esc)", "", "  ⠏ Waiting for user confirmation...", "")
			d := set.Get("qwen").Prompt(&sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}, nil)
			if d == nil {
				rt.Fatalf("it isn't read:\n%s", strings.Join(rows, "\n"))
			}
			return d
		}
		one, other := command("between"), command("between others")
		if a, b := read(one, 100), read(other, 100); a.Asks(b) != (one == other) || a.TellsAs(b) != (one == other) {
			rt.Fatalf("%q and %q: asks the same %t, tells the same %t", one, other, a.Asks(b), a.TellsAs(b))
		}
		if a, b := read(one, 100), read(one, 24); !a.Asks(b) {
			rt.Fatalf("%q is another question at another width", one)
		}
	})
}

// One letter of another command, question or option makes another fingerprint; marks,
// checks and what's typed don't.
func TestPrints(t *testing.T) {
	for _, c := range screenCases(t) {
		d := *c.dialog
		d.Options = slices.Clone(d.Options)
		same := func(what string, want bool) {
			t.Helper()
			if got := printOf(&d) == c.dialog.Print; got != want {
				t.Errorf("%s, other %s: same fingerprint %v", c.name, what, got)
			}
		}
		d.Marked, d.Typed, d.Options[0].Checked = 7, "text", true
		same("mark", true)
		d.Body += " -f"
		same("body", false)
		d.Body = c.dialog.Body
		d.Options[0].Label += "s"
		same("option", false)
		d.Options[0].Label = c.dialog.Options[0].Label
		d.Options = d.Options[1:]
		same("options", false)
		d.Options, d.Title = c.dialog.Options, d.Title+"?"
		same("title", false)
	}
	prints := map[string]string{}
	for _, c := range screenCases(t) {
		prints[c.name] = c.dialog.Print
	}
	for _, same := range [][]string{
		{"claude-multi", "claude-multi-checked", "claude-multi-submit"},
		{"claude-long", "claude-entry", "claude-entry-typed"},
		{"claude-plan-text", "claude-plan-entry", "claude-plan-typed"},
		{"codex-question", "codex-notes", "codex-notes-typed"},
		{"gemini-plan", "gemini-plan-entry", "gemini-plan-typed", "gemini-plan-typed-up"},
		{"gemini-entry", "gemini-entry-typed"},
		{"opencode-multi", "opencode-multi-checked"},
		{"opencode-entry", "opencode-entry-typed"},
		{"opencode-permission", "opencode-permission-last", "opencode-permission-60x20"},
		{"qwen-multi", "qwen-multi-checked"},
		{"qwen-entry", "qwen-entry-typed"},
	} {
		for _, name := range same {
			if prints[name] == "" || prints[name] != prints[same[0]] {
				t.Errorf("%s has fingerprint %q, %s has %q", name, prints[name], same[0], prints[same[0]])
			}
		}
	}
}

// A dialog counts, and has gone, when two looks in succession read the same.
func TestAskingIsSureAtTheSecondLook(t *testing.T) {
	now := time.Now()
	one, two := &sessions.Dialog{Print: "1"}, &sessions.Dialog{Print: "2"}
	var a dialogWatch
	for i, tt := range []struct {
		after time.Duration
		read  *sessions.Dialog
		sure  bool
	}{
		{0, nil, true},
		{time.Second, one, false},
		{10 * time.Millisecond, one, false}, // too soon: what it's about may be filled in later
		{60 * time.Millisecond, one, false},
		{140 * time.Millisecond, one, true},
		{time.Second, one, true},
		{time.Second, nil, false}, // drawn anew
		{60 * time.Millisecond, one, false},
		{210 * time.Millisecond, one, true},
		{time.Second, two, false},
		{210 * time.Millisecond, two, true},
		{time.Second, nil, false},
		{60 * time.Millisecond, nil, true},
	} {
		now = now.Add(tt.after)
		sure, again := a.noteDialog(tt.read, false, now)
		if sure != tt.sure || sure != again.IsZero() || !sure && again.Sub(now) > 210*time.Millisecond {
			t.Errorf("look %d: sure %v, again in %v", i, sure, again.Sub(now))
		}
	}
	a = dialogWatch{}
	if sure, _ := a.noteDialog(one, false, now); sure {
		t.Error("a dialog at the first look may be half drawn")
	}
}

// opencode draws what a command's permission is about later than the rest. Until then
// nobody is asked, unless there's nothing more to come.
func TestDialogsThatAreDrawnInParts(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	whole, _ := screenOf(t, "testdata/dialogs/opencode-permission.txt")
	part := screenOfRows(slices.Clone(whole.Rows))
	for i, row := range part.Rows {
		if strings.Contains(row, "┃  $ seq 1 300") {
			part.Rows[i] = "  ┃"
		}
	}
	p, now := set.Get("opencode"), time.Now()
	var a dialogWatch
	a.noteDialog(nil, false, now)
	for i, tt := range []struct {
		screen *sessions.Snapshot
		after  time.Duration
		sure   bool
	}{
		{part, 0, false},
		{part, 900 * time.Millisecond, false},
		{whole, 10 * time.Millisecond, false},
		{whole, shownAfter, true},
		{part, time.Second, false},
		{part, partialAfter, true},
	} {
		d := p.Prompt(tt.screen, nil)
		if d == nil {
			t.Fatalf("look %d: it isn't read", i)
		}
		now = now.Add(tt.after)
		if sure, _ := a.noteDialog(d, false, now); sure != tt.sure {
			t.Errorf("look %d at %q: sure %v", i, d.Body, sure)
		}
	}
}

// Watchers read with the profile of the program that runs, and tell of a dialog with the
// second look.
func TestWatchersReadDialogs(t *testing.T) {
	h := newHost(t)
	p := h.pane(100)
	trust, _ := screenOf(t, "testdata/dialogs/claude-trust.txt")
	trust.PID = p.pid
	h.run(p.pid, 1, h.now)
	look := func(after time.Duration) sessions.Observation {
		h.now = h.now.Add(after)
		return p.see(sessions.Poll{Screen: trust, Dialog: p.o.Dialog(trust.Rows), Now: h.now})
	}
	if s := look(0); s.Prompts || s.Prompt != nil || s.Again.Sub(h.now) > 210*time.Millisecond || s.Again.IsZero() {
		t.Errorf("the first look: %+v", s)
	}
	s := look(210 * time.Millisecond)
	if !s.Prompts || s.Prompt == nil || s.Prompt.Form != "trust" {
		t.Fatalf("the second look: %+v", s)
	}
	d := h.w.Read(p.id, trust, nil)
	if d == nil || d.Print != s.Prompt.Print || d.Form != "trust" {
		t.Fatalf("read %+v", d)
	}
	if step, err := h.w.Next(p.id, d, sessions.Answer{Options: []int{1}}); err != nil || !slices.Equal(step.Keys, []string{"Down"}) || step.Last {
		t.Errorf("%+v, %v", step, err)
	}
	d = h.w.Read("pb_none", trust, nil)
	if d == nil || d.Form != "claude/trust" {
		t.Fatalf("read %+v of a session that isn't known", d)
	}
	if step, err := h.w.Next("pb_none", d, sessions.Answer{Options: []int{0}}); err != nil || !slices.Equal(step.Keys, []string{"Enter"}) || !step.Last {
		t.Errorf("%+v, %v", step, err)
	}
	if s := p.see(sessions.Poll{Last: true, Now: h.now}); !s.Prompts || s.Prompt != nil {
		t.Errorf("the last look: %+v", s)
	}
}
