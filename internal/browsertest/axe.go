package browsertest

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/chromedp/chromedp"
)

// axe is axe-core, which looks for what keeps people from using a page: see VENDORED.md.
//
//go:embed testdata/axe.min.js
var axe string

// violation is a rule of axe-core's that a page breaks.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// Barriers lists what axe-core finds on the page as it is, with all its rules, but in what a selector finds.
func (b *Browser) Barriers(but string) []string {
	b.Helper()
	if !Eval[bool](b, `typeof axe === 'object'`) {
		Eval[bool](b, axe+";\ntrue")
	}
	Eval[bool](b, fmt.Sprintf(`(window.axeFound = null, axe.run({ exclude: [[%q]] }, { resultTypes: ['violations'] }).then(
		({ violations }) => { axeFound = violations; }, (error) => { axeFound = [{ id: 'axe', help: String(error), nodes: [] }]; }), true)`, but))
	for end := time.Now().Add(onePatience); !Eval[bool](b, `axeFound !== null`); b.Do(chromedp.Sleep(20 * time.Millisecond)) {
		if time.Now().After(end) {
			b.Fatalf("axe-core isn't done after %v", onePatience)
		}
	}
	var found []string
	for _, v := range Eval[[]violation](b, `axeFound.map(({ id, help, nodes }) => ({ id, help, nodes: nodes.map(({ html, failureSummary }) => ({ html, failureSummary })) }))`) {
		var text strings.Builder
		text.WriteString(v.ID + ": " + v.Help)
		for _, n := range v.Nodes {
			fmt.Fprintf(&text, "\n\t%.200s\n\t\t%s", n.HTML, strings.ReplaceAll(n.Summary, "\n", "\n\t\t"))
		}
		found = append(found, text.String())
	}
	return found
}
