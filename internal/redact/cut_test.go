package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// Of a secret that somebody has cut off and marked so, no more than a third is shown, where its
// beginning tells its kind. (What's cut should be masked before; hexadecimal digits of another
// number than a kind has aren't known.)
func TestCutSecretsAreMasked(t *testing.T) {
	m := newMasker(t, redact.Options{})
	all := slices.DeleteFunc(redacttest.Kinds(), func(k redacttest.Kind) bool {
		return slices.Contains([]string{"Twilio", "Databricks", "Mailgun"}, k.Name)
	})
	for i := range 8 * len(all) {
		g := redacttest.New(uint64(i) + 4e6)
		p := all[i%len(all)].Make(g)
		begin := strings.Index(p.Text, p.Secret)
		if begin < 0 || strings.Contains(p.Text, "\n") {
			continue
		}
		least := min(len(p.Secret), 20)
		text := p.Text[:begin+g.Between(least, len(p.Secret))] + "…"
		if share, what := leaked(p.Secret, map[string]bool{m.Line(text + g.One("", " · 3 min", " (1 h ago)")): true}); share > 1.0/3 {
			t.Errorf("%d: %s: %q leaks of %q", i, p.Kind, what, text)
		}
	}
}
