package search

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// maskedWorld masks a word of its lines, if it's told to.
type maskedWorld struct {
	*world
	masks bool
}

func (w *maskedWorld) Read(ctx context.Context, id sessions.ID, from int64, limit int) (sessions.Output, error) {
	out, err := w.world.Read(ctx, id, from, limit)
	if w.masks {
		lines := append([]sessions.Line(nil), out.Lines...)
		for i := range lines {
			lines[i].Text = strings.ReplaceAll(lines[i].Text, "hunter", "••••")
		}
		out.Lines = lines
	}
	return out, err
}

// What's masked by new rules stands in no file of the index two seconds later, also if the daemon wasn't there when they
// were changed; by the same rules an index is kept.
func TestOtherMasksMakeTheIndexAnew(t *testing.T) {
	for _, isRunning := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			w := &maskedWorld{world: &world{log: memLog{}, ends: map[sessions.ID]int64{}}}
			path := filepath.Join(t.TempDir(), File)
			x := w.indexOf(t, w, path, "old")
			w.write("pb_1", []string{"hunter of old", "another"})
			time.Sleep(2 * time.Second)
			checkIndexed(t, x, path, "hunter", true)
			for _, isAnew := range []bool{false, true} {
				w.masks = isAnew
				masks := map[bool]string{false: "old", true: "new"}[isAnew]
				if isRunning {
					if err := x.indexer.SetMasks(t.Context(), masks); err != nil {
						t.Fatal(err)
					}
				} else {
					x.stop()
					x = w.indexOf(t, w, path, masks)
				}
				if last, _ := x.Last("pb_1"); !isAnew && last != 2 {
					t.Errorf("the index was made anew by the same rules: its newest line is %d", last)
				}
				time.Sleep(2 * time.Second)
				checkIndexed(t, x, path, "hunter", !isAnew)
			}
			x.stop()
		})
	}
}

// checkIndexed checks whether a word of line 1 is in a file of the index, and that both lines are indexed.
func checkIndexed(t *testing.T, x indexing, path, word string, want bool) {
	t.Helper()
	has := false
	for _, name := range FileNames(path) {
		text, err := os.ReadFile(name)
		if err != nil && !os.IsNotExist(err) {
			t.Error(err)
		}
		has = has || bytes.Contains(text, []byte(word))
	}
	if last, _ := x.Last("pb_1"); has != want || last != 2 {
		t.Errorf("a file has %s: %v, want %v; the newest line is %d", word, has, want, last)
	}
}
