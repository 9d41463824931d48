package recording_test

import (
	"bytes"
	"database/sql"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/internal/recording"
)

func all(t *testing.T) []*recording.Recording {
	t.Helper()
	recs, err := recording.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(recs) < 16 {
		t.Fatalf("%d recordings, want at least 16", len(recs))
	}
	return recs
}

// A frame shows what was captured from the real program at that moment.
func TestFramesShowWhatWasSeen(t *testing.T) {
	hit, total := 0, 0
	for _, r := range all(t) {
		frames, err := r.Frames()
		if err != nil {
			t.Fatal(err)
		}
		shots, err := r.Shots()
		if err != nil {
			t.Fatal(err)
		}
		actions, err := r.Actions()
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range actions {
			want, ok := shots[a.Name]
			if a.Kind != "shot" || !ok {
				continue
			}
			total++
			if shown(frames, a, want) {
				hit++
				continue
			}
			t.Logf("%s: the frames about %s (%v) don't show it", r.Name, a.Name, a.At)
		}
	}
	// A screen that was captured while it was being drawn isn't in any frame.
	if hit*100 < total*93 {
		t.Errorf("%d of %d screens are shown by a frame of their time, want 93 %%", hit, total)
	}
}

// shown says whether a frame within half a second shows a screen.
func shown(frames []recording.Frame, a recording.Action, want string) bool {
	n := int(a.At / recording.FrameStep)
	for i := max(0, n-5); i < min(len(frames), n+6); i++ {
		var b strings.Builder
		for _, row := range frames[i].Snapshot.Rows {
			b.WriteString(strings.TrimRight(row, " ") + "\n")
		}
		if trimRows(b.String()) == trimRows(want) {
			return true
		}
	}
	return false
}

func trimRows(s string) string {
	rows := strings.Split(s, "\n")
	for i := range rows {
		rows[i] = strings.TrimRight(rows[i], " ")
	}
	return strings.TrimRight(strings.Join(rows, "\n"), "\n")
}

// Written step by step, a transcript is in the end what the program left.
func TestWriterWritesAllOfTheTranscript(t *testing.T) {
	for _, r := range all(t) {
		t.Run(r.Name, func(t *testing.T) {
			home, cwd := t.TempDir(), "/somewhere/else"
			w, err := recording.NewWriter(r, home, cwd)
			if err != nil {
				t.Fatal(err)
			}
			times := w.Times()
			if len(times) < 4 || !slices.IsSorted(times) {
				t.Fatalf("times %v", times)
			}
			for _, at := range times {
				if err := w.Advance(at); err != nil {
					t.Fatal(err)
				}
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			for n, tr := range r.Transcripts {
				if tr.Path == "" || !filepath.IsLocal(tr.Path) {
					t.Errorf("transcript at %q", tr.Path)
				}
				got, err := os.ReadFile(w.Path(n))
				if err != nil {
					t.Fatal(err)
				}
				want, err := r.File(tr.File)
				if err != nil {
					t.Fatal(err)
				}
				want = bytes.ReplaceAll(want, []byte(r.Home), []byte(home))
				want = bytes.ReplaceAll(want, []byte(r.Cwd), []byte(cwd))
				if bytes.Count(got, []byte("\n")) != bytes.Count(want, []byte("\n")) || bytes.Contains(got, []byte(r.Home)) {
					t.Errorf("%s differs from the recorded one in more than its folders", tr.Path)
				}
			}
			if r.Agent == "opencode" {
				checkDatabase(t, r, w.Path(0))
			}
		})
	}
}

// checkDatabase compares opencode's database with the last versions of its rows.
func checkDatabase(t *testing.T, r *recording.Recording, path string) {
	t.Helper()
	rows, err := r.Rows()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]map[string]string{"message": {}, "part": {}}
	for _, row := range rows {
		if last := want[row.Table]; last != nil && row.Gone == "" {
			id, _ := row.Values["id"].(string)
			last[id], _ = row.Values["data"].(string)
		} else if last != nil {
			delete(last, row.Gone)
		}
	}
	db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for table, last := range want {
		if len(last) < 4 {
			t.Errorf("%d rows of %s were recorded", len(last), table)
		}
		var n int
		if err := db.QueryRowContext(t.Context(), "select count(*) from "+table).Scan(&n); err != nil {
			t.Fatal(err)
		}
		if n != len(last) {
			t.Errorf("%d rows of %s, want %d", n, table, len(last))
		}
		for id, data := range last {
			var got string
			if err := db.QueryRowContext(t.Context(), "select data from "+table+" where id = ?", id).Scan(&got); err != nil {
				t.Fatal(err)
			}
			if strings.ReplaceAll(got, "/somewhere/else", r.Cwd) != data {
				t.Errorf("%s of %s is %s, want %s", id, table, got, data)
			}
		}
	}
}

// Each part of each recording can be read, and its times lie within it.
func TestPartsAreWithinTheRecording(t *testing.T) {
	for _, r := range all(t) {
		frames, err := r.Frames()
		if err != nil {
			t.Fatal(err)
		}
		end := frames[len(frames)-1].At
		hooks, err := r.Hooks()
		if err != nil {
			t.Fatal(err)
		}
		if withHooks := r.Agent != "pi" && r.Agent != "qwen"; withHooks != (len(hooks) > 0) {
			t.Errorf("%s: %d calls of hooks", r.Name, len(hooks))
		}
		for _, h := range hooks {
			if h.At < 0 || h.Event == "" || h.At > end+time.Minute+10*time.Second {
				t.Errorf("%s: hook %s at %v, and its end is %v", r.Name, h.Event, h.At, end)
			}
		}
		truth, err := r.Truth()
		if err != nil {
			t.Fatal(err)
		}
		if len(truth.Rules) == 0 {
			t.Errorf("%s: no truth", r.Name)
		}
	}
}
