package adapters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
	"github.com/panebridge/panebridge/qos"
)

// Escapes in a text of ours hide no secret from the masker, wherever they stand, and are
// there still where nothing is masked.
func TestEscapesHideNothing(t *testing.T) {
	inBubble(t, func(t *testing.T, r *rig) {
		t.Helper()
		r.masker = newMasker(t)
		r.rules = []adapters.MirrorRule{rule(t, "*", "a:-1")}
		r.start()
		all := slices.Concat(redacttest.Ordinary(), redacttest.Kinds(), redacttest.Literals())
		for i, k := range all {
			g := redacttest.New(uint64(i) + 5e6)
			one := k.Make(g)
			if strings.Contains(one.Text, "\n") {
				continue
			}
			text := "\\*kept\\_\\_\n" + escaped(g, one.Text)
			r.must(r.hub.Post(adapters.Post{To: r.rules[0].To, Key: fmt.Sprint(i), Class: qos.Interactive, Text: text}))
			r.pass(time.Minute)
			got := ""
			for _, m := range r.platforms["a"].Seen("-1", "") {
				got = m.Text
			}
			if !strings.HasPrefix(got, "\\*kept\\_\\_\n") || !strings.Contains(got, "[masked") || strings.Contains(strings.ReplaceAll(got, "\\", ""), one.Secret) {
				t.Errorf("%s: %q is shown of %q", k.Name, got, text)
			}
		}
	})
}

// escaped puts a backslash before some of the characters that may have one.
func escaped(r interface{ IntN(n int) int }, text string) string {
	var b strings.Builder
	for _, c := range text {
		if strings.ContainsRune("`*_{}[]()<>#+-.!|~&", c) && r.IntN(3) > 0 {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return b.String()
}
