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
	Text     string `json:"text"`
	Bold     bool   `json:"bold,omitempty"`
	Italic   bool   `json:"italic,omitempty"`
	Strike   bool   `json:"strike,omitempty"`
	Code     bool   `json:"code,omitempty"`
	Pre      bool   `json:"pre,omitempty"` // it's part of a block of code
	Language string `json:"language,omitempty"`
	Quote    bool   `json:"quote,omitempty"`
	URL      string `json:"url,omitempty"` // http or https
}

// markdown answers what blocks of answers look like, as in chats: of {"blocks": [text]}
// a list of runs each.
func markdown(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Blocks []string `json:"blocks"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxMarkdownBytes)).Decode(&asked)
	if err != nil || len(asked.Blocks) > maxBlocks {
		http.Error(w, `send {"blocks": [text]}, at most 200 of them and 4 MiB`, http.StatusBadRequest)
		return
	}
	out := make([][]styledRun, len(asked.Blocks))
	for i, text := range asked.Blocks {
		out[i] = runsOf(text)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(out) // the page asks again if it's gone
}

func runsOf(text string) []styledRun {
	parts := []render.Part{{Kind: render.Answer, Source: text}}
	out := []styledRun{}
	for _, r := range render.Render(parts, render.TextPosition{}, render.End(parts)).Runs() {
		s := r.Style
		out = append(out, styledRun{
			Text: r.Text, Bold: s.Bold, Italic: s.Italic, Strike: s.Strike, Code: s.Code, Pre: s.Pre, Language: s.Language,
			Quote: s.Quote != render.NotQuoted, URL: s.URL,
		})
	}
	return out
}
