package polling_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/polling"
)

// Recordings of real agents are played in a pane of their size. All text that
// stands once in the history that was left at the end comes out once, in order.
func TestRecordings(t *testing.T) {
	dirs, err := filepath.Glob("testdata/recordings/*/*")
	if err != nil || len(dirs) == 0 {
		t.Fatal("no recordings", err)
	}
	if testing.Short() {
		dirs = []string{"testdata/recordings/claude/tools-inline-100x35", "testdata/recordings/codex/basic-inline-120x40"}
	}
	if only := os.Getenv("PANEBRIDGE_RECORDING"); only != "" {
		dirs = []string{"testdata/recordings/" + only}
	}
	var mu sync.Mutex
	table := make([]string, len(dirs))
	slots := make(chan struct{}, 3)
	t.Run("play", func(t *testing.T) {
		for i, dir := range dirs {
			t.Run(strings.TrimPrefix(dir, "testdata/recordings/"), func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				row := playRecording(t, dir)
				mu.Lock()
				table[i] = row
				mu.Unlock()
			})
		}
	})
	t.Log("\n| recording | rows unique | emitted once | decoration left out | lines | words of the answers |\n|---|---|---|---|---|---|\n" + strings.Join(table, "\n"))
}

// playRecording plays one and returns its row of the table.
func playRecording(t *testing.T, dir string) string {
	t.Helper()
	cast, err := filepath.Abs(filepath.Join(dir, "cast.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	size, events, err := readCast(cast)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	played := filepath.Join(t.TempDir(), "played")
	p := newPane(t, fmt.Sprintf("%s='%s' %s='%s' exec '%s'", playVar, cast, playedVar, played, self), size,
		polling.Options{Cadence: 150 * time.Millisecond}, "history-limit=20000")
	p.await("end of the recording", func() bool { _, err := os.Stat(played); return err == nil })
	p.look()
	p.typeLine("")
	p.awaitEnd()
	for _, ev := range p.owner.all() {
		if ev.Live != nil && ev.Live.Alternate && len(ev.Lines) > 0 && ev.Exit == nil {
			t.Errorf("lines %q while on the alternate screen", texts(ev.Lines))
		}
	}
	resized := false
	for _, e := range events {
		resized = resized || e.kind == "r"
	}
	rows := readLines(t, filepath.Join(dir, "final_history.txt"))
	got := p.log.text()
	if out := os.Getenv("PANEBRIDGE_RECORDING_OUT"); out != "" {
		_ = os.WriteFile(out, []byte(strings.Join(got, "\n")), 0o600)
	}
	unique, once, left := compareRows(t, rows, got, resized)
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d %% |", strings.TrimPrefix(dir, "testdata/recordings/"),
		unique, once, left, len(got), answerWords(t, dir, got))
}

// compareRows looks for each row that is unique in rows. Where the width has
// changed, text is compared without white space and line ends, because the same
// text wraps in other places; decoration changes with the width, and is left
// out then.
func compareRows(t *testing.T, rows, got []string, resized bool) (unique, once, left int) {
	t.Helper()
	count := map[string]int{}
	for _, r := range rows {
		count[strings.TrimSpace(r)]++
	}
	want, have := stream(rows, resized), stream(got, resized)
	at := 0
	for _, r := range rows {
		r = strings.TrimSpace(r)
		if r == "" || count[r] > 1 {
			continue
		}
		key := squeeze(r, resized)
		if resized && !hasText(key) {
			left++
			continue
		}
		unique++
		n, expected := strings.Count(have, key), strings.Count(want, key)
		if n != expected {
			t.Errorf("row %q: %d times, want %d", r, n, expected)
			continue
		}
		if expected > 1 { // part of another row too: its place says nothing
			once++
			continue
		}
		where := strings.Index(have, key)
		if where < at {
			t.Errorf("row %q comes out of order", r)
			continue
		}
		at = where
		once++
	}
	return unique, once, left
}

// stream is text as it's compared.
func stream(rows []string, resized bool) string {
	var b strings.Builder
	for _, r := range rows {
		b.WriteString(squeeze(strings.TrimSpace(r), resized))
		if !resized {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// squeeze makes each word "⟨word⟩" and cuts drawn lines, where the width has
// changed.
func squeeze(s string, resized bool) string {
	if !resized {
		return s
	}
	var b strings.Builder
	for w := range strings.FieldsFuncSeq(s, func(r rune) bool { return unicode.IsSpace(r) || r >= 0x2500 && r < 0x25a0 }) {
		b.WriteString("⟨" + w + "⟩")
	}
	return b.String()
}

func hasText(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) })
}

// answerWords is how many of the words that the model really said stand in the
// lines, in order, in percent.
func answerWords(t *testing.T, dir string, got []string) int {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	var truth struct {
		Rules []struct{ Steps []struct{ Text string } }
	}
	if err := json.Unmarshal(b, &truth); err != nil {
		t.Fatal(err)
	}
	have := map[string]int{}
	for _, w := range plainWords(strings.Join(got, "\n")) {
		have[w]++
	}
	total, hit := 0, 0
	for _, r := range truth.Rules {
		for _, s := range r.Steps {
			for _, w := range plainWords(s.Text) {
				total++
				if have[w] > 0 {
					have[w]--
					hit++
				}
			}
		}
	}
	return 100 * hit / max(1, total)
}

func plainWords(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) })
}

func readLines(t *testing.T, path string) []string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimRight(string(b), "\n"), "\n")
}
