package render_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/rendertest"
)

// targets are where the links in a tree's tables lead.
func targets(blocks []render.TreeBlock) string {
	var b strings.Builder
	for _, block := range blocks {
		for _, row := range block.Rows {
			for _, cell := range row {
				for _, r := range cell.Runs {
					written, _ := url.PathUnescape(r.Style.URL)
					b.WriteString(written)
				}
			}
		}
		b.WriteString(targets(block.Blocks))
	}
	return b.String()
}

// bareText is a text without blanks and without what's drawn differently in a chat: the dashes of
// a rule, and the sign behind a list's number.
func bareText(s string) string {
	return strings.NewReplacer("—", "", ".", "", ")", "").Replace(rendertest.Bare(s))
}

// A tree shows what a chat does, in its order, and nothing else. Of links in tables a chat shows
// the targets, too.
func TestATreeHasWhatChatsShow(t *testing.T) {
	check := func(t interface {
		Helper()
		Errorf(format string, args ...any)
	}, source string,
	) {
		t.Helper()
		parts := []render.Part{{Kind: render.Answer, Source: source}}
		chat := render.Render(parts, render.TextPosition{}, render.End(parts)).String()
		tree := render.Tree(source)
		got, want := bareText(rendertest.TreeText(tree, true)), bareText(chat)
		if linked := targets(tree); linked != "" {
			shown := rendertest.Marks(got)
			got = string(shown)
			want = string(slices.DeleteFunc(rendertest.Marks(want), func(r rune) bool {
				return strings.ContainsRune(linked, r) && !slices.Contains(shown, r)
			}))
		}
		if got != want {
			t.Errorf("%q\nthe tree has %q\na chat shows  %q", source, got, want)
		}
	}
	for name, source := range rendertest.Answers(t) {
		t.Run(name, func(t *testing.T) { check(t, source) })
	}
	for _, source := range []string{"", "\n", "- \n-", "1. \n2) x", "| a |\n|---|", "a\n===", "```a b\nx\n```", "[a]: /x", "<b>\nx", "\x01\xff", strings.Repeat("[", 5000)} {
		check(t, source)
	}
	rendertest.Documents(t, 0.3, func(t *rapid.T, seeds []uint64) {
		check(t, rendertest.WellFormed(seeds).Source)
		check(t, rendertest.Garbage(seeds))
		check(t, rendertest.Links(seeds))
	})
}

// Lists, tables, code and links are such.
func TestATreeKeepsWhatItsBlocksAre(t *testing.T) {
	blocks := render.Tree("# T\n\n3. a\n4. - [x] b\n\n> q\n\n| l | r |\n|:--|--:|\n| 1 | [x](https://example.com/) |\n\n```go rest\nf()\n```\n\n---\nhttps://example.com/a\n")
	var kinds []string
	for _, b := range blocks {
		kinds = append(kinds, string(b.Kind))
	}
	if got := strings.Join(kinds, " "); got != "heading list quote table plain code rule paragraph" {
		t.Fatalf("the blocks are %s", got)
	}
	list, table, code, link := blocks[1], blocks[3], blocks[5], blocks[7]
	if inner := list.Blocks[1].Blocks[0]; !list.Ordered || list.Start != 3 || inner.Kind != render.TreeList || !inner.Blocks[0].Task || !inner.Blocks[0].Done {
		t.Errorf("the list is %+v", list)
	}
	if strings.Join(table.Align, " ") != "left right" || len(table.Rows) != 2 || table.Rows[1][1].Runs[0].Style.URL != "https://example.com/" {
		t.Errorf("the table is %+v", table)
	}
	if code.Language != "go" || code.Code != "f()\n" || link.Runs[0].Style.URL != "https://example.com/a" {
		t.Errorf("the code is %+v, the link %+v", code, link)
	}
}
