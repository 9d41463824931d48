package agent

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/sessions"
)

// A screen that was made unreadable says the same to the judge, in all recordings, and
// has nothing of what the model said.
func TestPrivateScreensSayTheSame(t *testing.T) {
	set, recordings := loadAll(t)
	for i, r := range recordings {
		if i%drawtest.Times(1, 3, 3) != 0 {
			continue // all of them take half a minute
		}
		parts := partsOf(t, r)
		hidden := *parts
		hidden.frames = private(set.Get(r.Agent), parts.frames)
		if words := secretWords(t, r); len(words) > 0 {
			shown, left := countWords(parts.frames, words), countWords(hidden.frames, words)
			if shown == 0 || left*50 > shown {
				t.Errorf("%s: %d of %d words of the model's can be read", r.Name, left, shown)
			}
		}
		for _, m := range []mode{{name: "screen"}, {name: "all", hooks: true, records: true, talking: true}} {
			was, is := newReplay(t, set, parts, m).run(), newReplay(t, set, &hidden, m).run()
			end := parts.frames[len(parts.frames)-1].At
			total, same := 0, 0
			for at := time.Duration(0); at < end; at += 100 * time.Millisecond {
				total++
				if a, b := stateAt(was, at), stateAt(is, at); a == b {
					same++
				}
			}
			// Screens that differ in nothing but what's hidden are one, so that a look is
			// missing now and then.
			if same*200 < total*199 {
				t.Errorf("%s, %s: %d of %d states are the same", r.Name, m.name, same, total)
			}
			if a, b := ends(was), ends(is); a != b {
				t.Errorf("%s, %s: %d ends, want %d", r.Name, m.name, b, a)
			}
		}
	}
}

// private are frames made unreadable.
func private(p *Profile, frames []recording.Frame) []recording.Frame {
	v := NewPrivacy(p)
	out := make([]recording.Frame, len(frames))
	var last *sessions.Snapshot
	for i, f := range frames {
		if i > 0 && recording.Same(last, &f.Snapshot) {
			out[i] = out[i-1]
			out[i].At = f.At
			continue
		}
		last = &frames[i].Snapshot
		f.Snapshot.Rows, f.Snapshot.Title = v.Rows(&f.Snapshot), v.Title(f.Snapshot.Title)
		out[i] = f
	}
	return out
}

// secretWords are long words that the model wrote.
func secretWords(t *testing.T, r *recording.Recording) []string {
	t.Helper()
	truth, err := r.Truth()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, rule := range truth.Rules {
		for _, step := range rule.Steps {
			for _, w := range strings.FieldsFunc(step.Text, func(c rune) bool { return !isWord(c) }) {
				if len(w) > 6 {
					out = append(out, w)
				}
			}
		}
	}
	return out
}

func countWords(frames []recording.Frame, words []string) (n int) {
	for i := 0; i < len(frames); i += 10 {
		screen := strings.Join(frames[i].Snapshot.Rows, "\n")
		for _, w := range words {
			n += strings.Count(screen, w)
		}
	}
	return n
}

// Columns stay, wide characters and blanks that don't break among them.
func TestPrivateKeepsColumns(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	v := NewPrivacy(set.Get("claude"))
	s := snapshot("Ünïcode, 日本語 and 42\n──────────────\n❯\u00a0secret thing\n──────────────\n  ? for shortcuts")
	got := strings.Join(v.Rows(s), "\n")
	want := "xxxxxxx, ｘｘｘ xxx 00\n──────────────\n❯\u00a0xxxxxx xxxxx\n──────────────\n  ? for shortcuts"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// Whatever stands on a screen, each row keeps its width, and hiding twice hides no more.
func TestPrivateKeepsWidths(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	pieces := rapid.SampledFrom([]string{"a", "Z", "7", " ", "é", "日", "ｘ", "\u00a0", "\u200b", "❯", "─", "👍", "e\u0301", "esc to interrupt", "\u05d0", "Do you want to proceed"})
	drawtest.Check(t, func(t *rapid.T) {
		v := NewPrivacy(set.Get(rapid.SampledFrom(set.Names()).Draw(t, "profile")))
		rows := rapid.SliceOfN(rapid.Map(rapid.SliceOfN(pieces, 0, 12), func(p []string) string { return strings.Join(p, "") }), 1, 6).Draw(t, "rows")
		s := snapshot(strings.Join(rows, "\n"))
		once := v.Rows(s)
		for i, row := range s.Rows {
			if a, b := ansi.StringWidth(row), ansi.StringWidth(once[i]); a != b {
				t.Fatalf("%q has %d columns, %q has %d", row, a, once[i], b)
			}
		}
		s.Rows = once
		if twice := v.Rows(s); !slices.Equal(once, twice) {
			t.Fatalf("%q became %q", once, twice)
		}
	})
}
