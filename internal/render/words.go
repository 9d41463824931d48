package render

import "strings"

// Words returns what an answer's Markdown says, without its marks, as one line. What was marked as code is part of it;
// a fence without code is "".
func Words(source string) string {
	var w words
	w.blocks(Tree(source))
	return strings.Join(strings.Fields(w.text.String()), " ")
}

// words collects the words of blocks.
type words struct{ text strings.Builder }

func (w *words) blocks(list []TreeBlock) {
	for _, b := range list {
		w.runs(b.Runs)
		w.blocks(b.Blocks)
		w.text.WriteString(" " + b.Code)
		for _, row := range b.Rows {
			for _, cell := range row {
				w.runs(cell.Runs)
			}
		}
	}
}

func (w *words) runs(list []Run) {
	for _, r := range list {
		w.text.WriteString(r.Text)
	}
	w.text.WriteByte(' ')
}
