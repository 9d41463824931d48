package rendertest

import (
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/internal/render"
)

// TreeText is what a tree shows; with numbers also those of its lists, as chats have them.
func TreeText(blocks []render.TreeBlock, numbers bool) string {
	var b strings.Builder
	runs := func(runs []render.Run) {
		for _, r := range runs {
			b.WriteString(r.Text)
		}
	}
	var walk func([]render.TreeBlock)
	walk = func(blocks []render.TreeBlock) {
		for _, block := range blocks {
			runs(block.Runs)
			b.WriteString(block.Code)
			for _, row := range block.Rows {
				for _, cell := range row {
					runs(cell.Runs)
				}
			}
			for i, item := range block.Blocks {
				if numbers && block.Kind == render.TreeList && block.Ordered {
					b.WriteString(strconv.Itoa(block.Start + i))
				}
				walk([]render.TreeBlock{item})
			}
		}
	}
	walk(blocks)
	return b.String()
}
