package redact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

// What's masked in a line depends on the lines around it alone, not on which range of
// the log was asked for: a message that's rendered again shows the same.
func TestRangesAgree(t *testing.T) {
	m := newMasker(t, redact.Options{})
	drawtest.Check(t, func(t *rapid.T) {
		g := garden{redacttest.New(rapid.Uint64().Draw(t, "seed"))}
		var log []string
		for range g.Between(1, 12) {
			for _, a := range g.stream(redacttest.Kinds()[g.IntN(len(redacttest.Kinds()))].Make(g.Garden)) {
				log = append(log, a.text)
			}
		}
		whole := m.Lines(redact.LineWindow{Lines: log})
		from := g.IntN(len(log))
		end := g.Between(from+1, len(log))
		before, after := g.Between(redact.Before, 2*redact.Before), g.Between(redact.After, 2*redact.After)
		part := m.Lines(redact.LineWindow{
			Before: log[max(0, from-before):from],
			Lines:  log[from:end],
			After:  log[end:min(len(log), end+after)],
		})
		if diff := cmp.Diff(whole.Lines[from:end], part.Lines); diff != "" {
			t.Fatalf("lines %d to %d of %d: %s", from, end, len(log), diff)
		}
	})
}

func TestWait(t *testing.T) {
	m := newMasker(t, redact.Options{})
	m.Add("the bot's token", "ownownown-7")
	for _, test := range []struct {
		name  string
		lines []string
		wait  int
		shown []string // if nothing more comes
	}{
		{"nothing", []string{"done", ""}, 2, []string{"done", ""}},
		{"a prefix", []string{"ok", "key ghp_"}, 2, []string{"ok", "key ghp_"}},
		{"a beginning", []string{"ok", "key sk-ant-api03-AbC"}, 1, []string{"ok", "key sk-ant-api03-…[masked: Anthropic key]"}},
		{"over two rows", []string{"key sk-ant-ap", "i03-AbC"}, 0, []string{"key sk-ant-…[masked: Anthropic key]", "i03-…[masked: Anthropic key]"}},
		{"an assignment", []string{"API_TOKEN=Zx8kQ9"}, 0, []string{"API_TOKEN=…[masked: token]"}},
		{"a word", []string{"token: reads"}, 0, []string{"token: reads"}},
		{"enough", []string{"ghp_Zx8kQ9vB2mN7aaQ1Lw0c"}, 1, []string{"ghp_…[masked: GitHub token]"}},
		{"a password", []string{"psql postgres://app:Zx8kQ9v"}, 0, []string{"psql postgres://app:…[masked: password]"}},
		{"a port", []string{"see http://localhost:8080"}, 1, []string{"see http://localhost:8080"}},
		{"one of the daemon", []string{"it's ownow"}, 0, []string{"it's …[masked: the bot's token]"}},
		{"a block", []string{"-----BEGIN PRIVATE KEY-----"}, 1, []string{"-----BEGIN PRIVATE KEY-----"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := m.Lines(redact.LineWindow{Lines: test.lines, Open: true})
			if got.Wait != test.wait || !slices.Equal(got.Lines, test.shown) {
				t.Errorf("wait %d, %q; want %d, %q", got.Wait, got.Lines, test.wait, test.shown)
			}
			if got := m.Lines(redact.LineWindow{Lines: test.lines, After: []string{"", ""}, Open: true}); got.Wait != len(test.lines) {
				t.Errorf("waits at %d when the next lines are there", got.Wait)
			}
		})
	}
}

// A secret that began before the range is masked in it, and one that ends behind it.
func TestContext(t *testing.T) {
	m := newMasker(t, redact.Options{})
	got := m.Lines(redact.LineWindow{
		Before: []string{"export KEY=ghp_Zx8kQ9vB2mN7"},
		Lines:  []string{"aaQ1Lw0cJr5TyHgVbNmKlPoI", "and sk-proj-Zx"},
		After:  []string{"8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI"},
	})
	want := redact.Masked{
		Lines: []string{"…[masked]", "and sk-proj-…[masked: OpenAI key]"},
		Masks: []redact.Mask{
			{Line: 0, From: 0, To: 24, Name: "GitHub token", Rest: true},
			{Line: 1, From: 12, To: 14, Name: "OpenAI key"},
		},
		Wait: 2,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRows(t *testing.T) {
	m := newMasker(t, redact.Options{})
	got := m.Rows([]string{"KEY=ghp_Zx8kQ9vB2m"}, []string{
		"\x1b[1mN7aaQ1Lw0cJr5TyHgVbN\x1b[31mmKlPoI\x1b[0m and",
		"│ \x1b[32msk-ant-api03-\x1b[1mZx8kQ9vB2mN7aaQ1Lw0c\x1b[0m │",
		"│ 2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI8 │",
		"",
		"\x1b]8;;https://x.org/?key=ghp_Zx8kQ9vB2mN7aaQ1Lw0cJr5TyHgVbNmKlPoI\x1b\\link\x1b]8;;\x1b\\",
	})
	want := []string{
		"\x1b[1m…[masked]•••••••••••\x1b[31m••••••\x1b[0m and",
		"│ \x1b[32msk-ant-api03-\x1b[1m…[masked]•••••••••••\x1b[0m │",
		"│ …[masked]•••••••••••••••••••• │",
		"",
		"link",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for _, r := range m.Rows(nil, []string{"token=" + strings.Repeat("Zx8k", 2) + "Q9vB2m", "\x1b[", "\x1b", "\x1b]0;title"}) {
		if strings.Contains(r, "Q9vB") || strings.Contains(r, "title") {
			t.Errorf("%q", r)
		}
	}
}
