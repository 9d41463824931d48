package polling_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/recording"
	"github.com/panebridge/panebridge/polling"
)

// Recordings of real agents are played in a pane of their size. All text that
// stands once in the history that was left at the end comes out once, in order.
func TestRecordings(t *testing.T) {
	recs, err := recording.All()
	if err != nil || len(recs) == 0 {
		t.Fatal("no recordings", err)
	}
	names := []string{"claude/tools-inline-100x35", "codex/basic-inline-120x40"}
	if !testing.Short() {
		names = nil
		for _, r := range recs {
			// Those with the model's clock repeat the others at other sizes: the narrow ones
			// are enough for a daily run.
			if drawtest.Stressed() || !r.Has("model.jsonl") || r.Height == 24 {
				names = append(names, r.Name)
			}
		}
	}
	if only := os.Getenv("PANEBRIDGE_RECORDING"); only != "" {
		names = []string{only}
	}
	var mu sync.Mutex
	table := make([]string, len(names))
	slots := make(chan struct{}, 3)
	t.Run("play", func(t *testing.T) {
		for i, name := range names {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				slots <- struct{}{}
				defer func() { <-slots }()
				row := playRecording(t, name)
				mu.Lock()
				table[i] = row
				mu.Unlock()
			})
		}
	})
	t.Log("\n| recording | rows unique | emitted once | decoration left out | lines | words of the answers |\n|---|---|---|---|---|---|\n" + strings.Join(table, "\n"))
}

// playRecording plays one and returns its row of the table.
func playRecording(t *testing.T, name string) string {
	t.Helper()
	r, err := recording.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	events, err := r.Events()
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	played := filepath.Join(t.TempDir(), "played")
	command, err := recording.Play{Name: name, Speed: 8, MaxGap: 400 * time.Millisecond, Done: played}.Command(self)
	if err != nil {
		t.Fatal(err)
	}
	p := newPane(t, command, fmt.Sprintf("%dx%d", r.Width, r.Height),
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
		resized = resized || e.Kind == "r"
	}
	history, err := r.File("final_history.txt")
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Split(strings.TrimRight(string(history), "\n"), "\n")
	got := p.log.text()
	if out := os.Getenv("PANEBRIDGE_RECORDING_OUT"); out != "" {
		_ = os.WriteFile(out, []byte(strings.Join(got, "\n")), 0o600)
	}
	unique, once, left := compareRows(t, rows, got, resized)
	return fmt.Sprintf("| %s | %d | %d | %d | %d | %d %% |", name, unique, once, left, len(got), answerWords(t, r, got))
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
func answerWords(t *testing.T, r *recording.Recording, got []string) int {
	t.Helper()
	truth, err := r.Truth()
	if err != nil {
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
