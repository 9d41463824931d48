package agent

import (
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// pi's dialogs stand where its input box does. They're never taken for a box with a text in
// it, wherever its screen is cut, and no text in the box for one of them, as long as it
// doesn't end as they do.
func TestAMenuIsNoInputBox(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	p := set.Get("pi")
	var files []string
	for _, folder := range []string{"menus", "dialogs"} {
		found, err := filepath.Glob("testdata/" + folder + "/pi-*.txt")
		if err != nil || len(found) < 2 {
			t.Fatalf("%d screens of %s, %v", len(found), folder, err)
		}
		files = append(files, found...)
	}
	pieces := []string{"a text", "", "- a point", "/model", "Model Name: x", "", "→ more"}
	for _, file := range files {
		snap, _ := screenOf(t, file)
		for from := 0; snap.Rows[from] == "" || !strings.HasPrefix(snap.Rows[from], "───"); from++ {
			if b := p.Box(&sessions.Snapshot{Width: 100, Height: len(snap.Rows) - from, Rows: snap.Rows[from:]}); b.Open {
				t.Fatalf("%s from %d: %+v", file, from, b)
			}
		}
		if p.Unread(snap, false) == nil {
			t.Errorf("%s isn't noticed", file)
		}
		pieces = append(pieces, strings.Split(strings.TrimRight(strings.Join(snap.Rows, "\n"), "\n"), "\n")...)
	}
	line := strings.Repeat("─", 100)
	drawtest.Check(t, func(rt *rapid.T) {
		typed := rapid.SliceOfN(rapid.SampledFrom(pieces), 0, 20).Draw(rt, "typed")
		typed = append(typed, rapid.SampledFrom([]string{"a text", "→ Yes", "   No", "> quoted", "  Model Name: Mock", "  (1/2)", " Allow it?", "Done."}).Draw(rt, "last"))
		for i, row := range typed {
			if strings.HasPrefix(row, "───") { // its own box is drawn with it
				typed[i] = "-"
			}
		}
		rows := append([]string{" said", "", line}, typed...)
		rows = append(rows, line, "/srv/lab/project", "0.0%/128k (auto)      mock-model")
		if b := p.Box(screenOfRows(rows)); !b.Open || letters(b.Text) != letters(strings.Join(typed, "")) {
			rt.Fatalf("%+v of\n%s", b, strings.Join(rows, "\n"))
		}
	})
}
