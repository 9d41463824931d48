package agent

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent/dialogtest"
)

// formless are the profiles as if the programs drew all their dialogs otherwise than those
// that were looked at: without phrases and forms.
func formless(t *testing.T) *Set {
	t.Helper()
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	specs := map[string]spec{}
	for name, p := range set.profiles {
		sp := p.spec
		sp.Dialogs, sp.Prompts, sp.Screen.Dialog = nil, nil, nil
		specs[name] = sp
	}
	return newSet(specs)
}

// Dialogs of the real programs are noticed by those who know nothing of how they look.
func TestUnreadDialogsAreNoticed(t *testing.T) {
	set := formless(t)
	files, err := filepath.Glob("testdata/dialogs/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d screens, %v", len(files), err)
	}
	var missed []string
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		agent, _, _ := strings.Cut(name, "-")
		snap, _ := screenOf(t, file)
		if set.Get(agent).Unread(snap, false) == nil {
			t.Errorf("%s isn't noticed", name)
		}
		if set.Generic().Unread(snap, false) == nil {
			missed = append(missed, name)
		}
	}
	if 30*len(missed) > len(files) {
		t.Errorf("without knowing the program %d of %d aren't noticed: %v", len(missed), len(files), missed)
	}
}

// What programs that nobody knows ask is noticed, whatever they have printed before, and keys
// are offered but where a key or a code is asked for. When it's gone, nothing is.
func TestUnknownDialogsAreNoticed(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	random := drawtest.Rand(t, 0)
	printed := strings.Split(screenText(t, "testdata/printed.txt"), "\n")
	times := 2000
	if drawtest.Stressed() {
		times = 100000
	}
	for range times {
		u := dialogtest.DrawUnknown(random)
		from := random.IntN(len(printed))
		above := printed[from:min(len(printed), from+random.IntN(20))]
		screen := func(rows []string, field bool) *sessions.Snapshot {
			s := &sessions.Snapshot{Width: 120, Height: 60, CursorVisible: field, CursorY: len(rows) - 1}
			s.CursorX = utf8.RuneCountInString(rows[len(rows)-1])
			s.Rows = append(slices.Clone(rows), make([]string, 60-len(rows))...)
			return s
		}
		rows := append(append([]string{"begun"}, above...), u.Rows...)
		d := set.Generic().Unread(screen(rows, u.Field), false)
		switch {
		case d == nil:
			t.Fatalf("it isn't noticed:\n%s", strings.Join(rows, "\n"))
		case (len(d.Options) == 0) != u.Secret:
			t.Fatalf("keys %v of\n%s", d.Options, strings.Join(rows, "\n"))
		}
		if d := set.Generic().Unread(screen(append([]string{"begun"}, above...), false), false); d != nil {
			t.Fatalf("nothing is asked, but it's noticed:\n%s", strings.Join(above, "\n"))
		}
	}
}

// What stands further above has been answered, or was a text: behind it a program waits for
// a command, or has printed other rows.
func TestWhatStandsAboveIsNotAsked(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	random := drawtest.Rand(t, 0)
	for range 2000 {
		u := dialogtest.DrawUnknown(random)
		rows := append([]string{"begun"}, u.Rows...)
		if random.IntN(2) == 0 {
			prompt := []string{"sqlite> ", "sqlite> .quit", "   ...> b text)", ">>> ", ">>> x", "... ", "(gdb) ", "In [3]: x", "mysql> ", "MariaDB [(none)]> select", "irb> 1"}[random.IntN(11)]
			rows = append(rows, "thank you", prompt)
		} else {
			for n := range 10 + random.IntN(20) {
				rows = append(rows, fmt.Sprintf("compiled module %d of the tool in /srv/tool", n))
			}
		}
		s := &sessions.Snapshot{Width: 120, Height: 80, CursorVisible: true, CursorY: len(rows) - 1, CursorX: utf8.RuneCountInString(rows[len(rows)-1])}
		s.Rows = append(slices.Clone(rows), make([]string, max(0, 80-len(rows)))...)
		if d := set.Generic().Unread(s, false); d != nil {
			t.Fatalf("it's over, but it's noticed:\n%s", strings.Join(rows, "\n"))
		}
	}
}

func screenText(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimRight(string(text), "\n")
}

// No screen of a recording on which no dialog is drawn looks like one for long.
func TestNothingIsTakenForAnUnreadDialog(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	all, err := recording.All()
	if err != nil {
		t.Fatal(err)
	}
	var looked time.Duration
	for i, r := range all {
		if i%drawtest.Times(1, 3, 3) != 0 {
			continue // all of them take a minute
		}
		parts := partsOf(t, r)
		looked += parts.frames[len(parts.frames)-1].At
		for _, p := range []*Profile{set.Get(r.Agent), set.Generic()} {
			last, since := "", time.Duration(0)
			for i := range parts.frames {
				f := &parts.frames[i]
				now := ""
				if p.Prompt(&f.Snapshot, nil) == nil {
					if d := p.Unread(&f.Snapshot, false); d != nil {
						now = d.Print
					}
				}
				if last != "" && f.At-since >= unreadAfter {
					t.Errorf("%s with %s: rings at %v:\n%s", r.Name, p.Name(), since, strings.Join(parts.frames[i-1].Snapshot.Rows, "\n"))
					since = f.At
				}
				if now != last {
					last, since = now, f.At
				}
			}
		}
	}
	t.Logf("%v of recordings", looked)
}

// Where a program that has an input box shows its cursor in a dialog, it takes text there: no
// key is offered that would be typed.
func TestNoKeyIsTypedIntoAField(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	nothing := formless(t)
	files, err := filepath.Glob("testdata/dialogs/*.txt")
	if err != nil || len(files) < 30 {
		t.Fatalf("%d screens, %v", len(files), err)
	}
	typed := func(o sessions.DialogOption) bool { return o.Key == "Space" || len(o.Key) == 1 }
	fields, random := 0, drawtest.Rand(t, 0)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".txt")
		agent, _, _ := strings.Cut(name, "-")
		if agent == "demo" { // its cursor is there all the time
			continue
		}
		for _, of := range []*Set{set, nothing} {
			snap, _ := screenOf(t, file)
			before := of.Get(agent).Unread(snap, true)
			snap.CursorVisible, snap.CursorX, snap.CursorY = true, random.IntN(snap.Width), random.IntN(snap.Height)
			d := of.Get(agent).Unread(snap, true)
			if before == nil || d == nil || len(before.Options) == 0 || len(d.Options) == 0 { // or it asks for a key or a code
				continue
			}
			fields++
			if !slices.ContainsFunc(before.Options, typed) || slices.ContainsFunc(d.Options, typed) || !slices.ContainsFunc(d.Options, func(o sessions.DialogOption) bool { return o.Key == "Escape" }) {
				t.Errorf("%s: keys %+v, where it takes text %+v", name, before.Options, d.Options)
			}
		}
	}
	if fields < 30 {
		t.Errorf("%d were looked at", fields)
	}
}
