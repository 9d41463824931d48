package web

import (
	"encoding/json"
	"net/http"

	"github.com/panebridge/panebridge/internal/render"
)

const (
	maxMarkdownBytes = 4 << 20 // of a request: more than the page has in its window
	maxBlocks        = 200
)

// styledRun is a stretch of text of one look. The page makes nodes of it; nothing is HTML.
type styledRun struct {
	Text   string `json:"text"`
	Bold   bool   `json:"bold,omitempty"`
	Italic bool   `json:"italic,omitempty"`
	Strike bool   `json:"strike,omitempty"`
	Code   bool   `json:"code,omitempty"`
	URL    string `json:"url,omitempty"` // http or https
}

// treeNode is a block of an answer: render.TreeBlock as the page reads it.
type treeNode struct {
	Kind     render.TreeKind `json:"kind"`
	Runs     []styledRun     `json:"runs,omitempty"`
	Blocks   []treeNode      `json:"blocks,omitempty"`
	Level    int             `json:"level,omitempty"`
	Ordered  bool            `json:"ordered,omitempty"`
	Start    int             `json:"start,omitempty"`
	Task     bool            `json:"task,omitempty"`
	Done     bool            `json:"done,omitempty"`
	Language string          `json:"language,omitempty"`
	Code     []codeToken     `json:"code,omitempty"`
	Rows     [][][]styledRun `json:"rows,omitempty"`
	Align    []string        `json:"align,omitempty"`
}

// markdown answers what blocks of answers look like: of {"blocks": [text]} a list of nodes
// each.
func markdown(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Blocks []string `json:"blocks"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMarkdownBytes)).Decode(&asked)
	if err != nil || len(asked.Blocks) > maxBlocks {
		http.Error(w, `send {"blocks": [text]}, at most 200 of them and 4 MiB`, http.StatusBadRequest)
		return
	}
	out := make([][]treeNode, len(asked.Blocks))
	for i, text := range asked.Blocks {
		out[i] = newNodes(render.Tree(text))
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the page asks again if it's gone
}

func newNodes(blocks []render.TreeBlock) []treeNode {
	out := make([]treeNode, 0, len(blocks))
	for _, b := range blocks {
		n := treeNode{
			Kind: b.Kind, Runs: newRuns(b.Runs), Blocks: newNodes(b.Blocks), Level: b.Level, Ordered: b.Ordered, Start: b.Start,
			Task: b.Task, Done: b.Done, Language: b.Language, Align: b.Align,
		}
		if b.Kind == render.TreeCode {
			n.Code = highlight(b.Language, b.Code)
		}
		for _, row := range b.Rows {
			cells := make([][]styledRun, 0, len(row))
			for _, c := range row {
				cells = append(cells, newRuns(c.Runs))
			}
			n.Rows = append(n.Rows, cells)
		}
		out = append(out, n)
	}
	return out
}

func newRuns(runs []render.Run) []styledRun {
	out := make([]styledRun, 0, len(runs))
	for _, r := range runs {
		s := r.Style
		out = append(out, styledRun{Text: r.Text, Bold: s.Bold, Italic: s.Italic, Strike: s.Strike, Code: s.Code, URL: s.URL})
	}
	return out
}
