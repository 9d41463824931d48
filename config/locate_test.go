package config_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/config"
)

func TestLocateSaysWhereValuesStand(t *testing.T) {
	file := filepath.Join(t.TempDir(), "c.yaml")
	text := `
mirrors:
  - {session: a, to: "telegram:1"}
  - session: b
    to: "telegram:2"
adapters: {telegram: {qos: {group_mpm: 7}}}
`
	for _, tt := range []struct {
		text string
		want []config.Problem
	}{
		{text, []config.Problem{
			{Line: 4, Column: 5, Path: "mirrors[1]", Message: "as a whole"},
			{Line: 5, Column: 9, Path: "mirrors[1].to", Message: "a value"},
			{Line: 6, Column: 28, Path: "adapters.telegram.qos.reserve_mpm", Message: "one that isn't given"},
		}},
		{"", []config.Problem{{Line: 1, Column: 1, Path: "mirrors[0].to", Message: "an empty file"}}},
	} {
		if err := os.WriteFile(file, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		var found []config.Problem
		for i, p := range tt.want {
			found = append(found, config.Problem{Path: p.Path, Message: p.Message})
			tt.want[i].File = file
		}
		if diff := cmp.Diff((&config.Errors{Problems: tt.want}).Error(), form().Locate(file, env(nil), found).Error()); diff != "" {
			t.Error(diff)
		}
	}
}
