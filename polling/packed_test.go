package polling

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

func TestPackedHashesComeBack(t *testing.T) {
	type packed struct {
		Run  hashRun
		Rows rowHashes
	}
	drawtest.Check(t, func(t *rapid.T) {
		want := packed{
			Run:  rapid.SliceOfN(rapid.Uint64(), 0, 40).Draw(t, "run"),
			Rows: rapid.MapOfN(rapid.Int64(), rapid.Uint64(), 0, 40).Draw(t, "rows"),
		}
		blob, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got packed
		if err := json.Unmarshal(blob, &got); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
	})
}

func TestPackedHashesCutShortAreRefused(t *testing.T) {
	for _, text := range []string{"AAA", "AgAA", "*"} {
		if err := new(hashRun).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("run %q: no error", text)
		}
		if err := new(rowHashes).UnmarshalText([]byte(text)); err == nil {
			t.Errorf("rows %q: no error", text)
		}
	}
}
