package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"github.com/spf13/cobra"
	"pgregory.net/rapid"
)

// isWhole reports whether a line fits, or is one that can't be broken.
func isWhole(line string, width int) bool {
	return displaywidth.String(line) <= width || strings.HasPrefix(line, " ") && !column.MatchString(line) || len(strings.Fields(line)) == 1
}

// Whatever a text and a terminal are, no word is lost, broken or moved, and what fits stays as it was.
func TestFillKeepsWords(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zé日]{1,14}[.,:]?`)
		line := rapid.Custom(func(t *rapid.T) string {
			text := strings.Join(rapid.SliceOfN(word, 0, 20).Draw(t, "words"), " ")
			return rapid.SampledFrom([]string{"", "", "", "  ", "  --flag  "}).Draw(t, "beginning") + text
		})
		text := strings.Join(rapid.SliceOfN(line, 1, 8).Draw(t, "lines"), "\n")
		width := rapid.IntRange(0, 100).Draw(t, "width")
		got := fill(text, width)
		if want := strings.Fields(text); !slices.Equal(strings.Fields(got), want) {
			t.Fatalf("the words are %q, want %q", strings.Fields(got), want)
		}
		if width == 0 && got != text {
			t.Fatalf("without a width it's %q", got)
		}
		for line := range strings.SplitSeq(got, "\n") {
			if width > 0 && !isWhole(line, width) {
				t.Fatalf("%q is wider than %d", line, width)
			}
		}
	})
}

// The help of each command fits terminals of 40 and of 80 columns.
func TestHelpFitsTerminals(t *testing.T) {
	t.Parallel()
	var look func(cmd *cobra.Command)
	look = func(cmd *cobra.Command) {
		for _, width := range []int{40, 80} {
			for line := range strings.SplitSeq(fill(cmd.Long+"\n\n"+cmd.UsageString(), width), "\n") {
				if !isWhole(line, width) {
					t.Errorf("%s, %d columns: %q", cmd.CommandPath(), width, line)
				}
			}
		}
		for _, below := range cmd.Commands() {
			look(below)
		}
	}
	look(Tree())
}

// A table that's wider than the terminal keeps all that's in it.
func TestTablesFitTerminals(t *testing.T) {
	t.Parallel()
	rows := [][]string{{"PART", "STATE", "LAST SUCCESS", "DETAIL"}, {"tmux:default", "degraded", "2 minutes ago", "the connection to the server has ended, and is made anew"}, {"page", "ok", "-", ""}}
	if got := fitTable(rows[:1], 20); len(got) == 0 {
		t.Error("of a table without rows there's nothing")
	}
	table := []string{
		"PART          STATE     LAST SUCCESS   DETAIL",
		"tmux:default  degraded  2 minutes ago  the connection to the server has ended, and is made anew",
		"page          ok        -",
	}
	for width, want := range map[int]string{
		0:   strings.Join(table, "\n"),
		200: strings.Join(table, "\n"),
		70: `PART          STATE     LAST SUCCESS   DETAIL
tmux:default  degraded  2 minutes ago  the connection to the server
                                       has ended, and is made anew
page          ok        -`,
		50: `PART          STATE     LAST SUCCESS
tmux:default  degraded  2 minutes ago
  DETAIL  the connection to the server has ended,
          and is made anew
page          ok        -`,
		36: `tmux:default
  STATE         degraded
  LAST SUCCESS  2 minutes ago
  DETAIL        the connection to
                the server has
                ended, and is made
                anew
page
  STATE         ok`,
	} {
		if got := strings.Join(fitTable(rows, width), "\n"); got != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, got, want)
		}
	}
}
