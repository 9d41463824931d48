package render_test

import (
	"testing"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/sessions"
)

func TestEachKindOfLineHasItsOwn(t *testing.T) {
	seen := map[render.PartKind]bool{}
	for _, k := range []sessions.LineKind{sessions.KindPane, sessions.KindAnswer, sessions.KindUser, sessions.KindTool, sessions.KindNotice, "other"} {
		if got := render.KindOf(k); seen[got] {
			t.Errorf("%s is shown like another kind", k)
		} else {
			seen[got] = true
		}
	}
}
