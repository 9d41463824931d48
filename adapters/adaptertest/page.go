package adaptertest

import (
	"fmt"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Page shows lines of a pane.
func Page(lines ...string) adapters.Page {
	var all []sessions.Line
	for _, text := range lines {
		all = append(all, sessions.Line{Kind: sessions.KindPane, Text: text})
	}
	return pageOf(all)
}

// KindsOfLines shows a line of each kind that there is, and two of a pane: the given one,
// before which at least 2 lines are missing, and an empty one.
func KindsOfLines(pane string) adapters.Page {
	p := pageOf([]sessions.Line{
		{Kind: sessions.KindUser, Text: "fix it"},
		{Kind: sessions.KindPane, Text: pane},
		{Kind: sessions.KindPane},
		{Kind: sessions.KindTool, Text: "Read a.go"},
		{Kind: sessions.KindAnswer, Text: "**Done**, see [docs](https://example.com/)"},
		{Kind: sessions.KindNotice, Text: "session ended"},
	})
	p.Pieces[1].Gap = &sessions.Gap{AtLeast: 2, Reason: "the screen was cleared"}
	return p
}

// pageOf shows lines whole, numbered from 1.
func pageOf(lines []sessions.Line) adapters.Page {
	var p adapters.Page
	for i, l := range lines {
		l.N = int64(i + 1)
		p.Pieces = append(p.Pieces, adapters.Piece{Line: l, To: len(l.Text)})
	}
	return p
}

// Lines are n lines that tell themselves apart, the first of which has the number from.
func Lines(from, n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("line %d of what the agent says as it works", from+i))
	}
	return out
}
