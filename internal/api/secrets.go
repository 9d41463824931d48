package api

import (
	"context"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/sessions"
)

// Secret says where a secret stands in a line, so that a page can hide it until
// somebody asks to see it.
type Secret struct {
	Line int64  `json:"n"`
	From int    `json:"from"` // in UTF-16 units of the line's text, as JavaScript counts
	To   int    `json:"to"`
	Name string `json:"name"` // of its kind
}

// secrets finds secrets in consecutive lines of a session's log. The lines around them
// decide too; if those can't be read, it's found what can be without.
func (a *api) secrets(ctx context.Context, id sessions.ID, lines []sessions.Line) []Secret {
	if a.opts.Masker == nil || len(lines) == 0 {
		return nil
	}
	w, _ := adapters.WindowOf(ctx, a.opts.Output, id, lines) // what can be read of it
	var found []Secret
	for _, m := range a.opts.Masker.Lines(w).Masks {
		l := lines[m.Line]
		found = append(found, Secret{Line: l.N, From: adapters.UTF16Len(l.Text[:m.From]), To: adapters.UTF16Len(l.Text[:m.To]), Name: m.Name})
	}
	return found
}

// Receipt is a receipt as the page gets it: it hides the secrets of its text, as those of the log.
// To anybody else it's a sessions.Receipt.
type Receipt struct {
	sessions.Receipt

	Secrets []Secret `json:"secrets,omitempty"` // in units of the whole text; Line is 0
}

// receiptFor is what a caller gets of a receipt: the command line shows all, as tmux would.
func (a *api) receiptFor(r sessions.Receipt) any {
	if a.author == authorCLI || a.opts.Masker == nil {
		return r
	}
	out := Receipt{Receipt: r}
	out.Reason = a.shownText(r.Reason)
	lines := strings.SplitAfter(r.Text, "\n")
	begins, next := 0, 0 // of the line that's next, in units of the text
	for _, m := range a.opts.Masker.Find([]byte(r.Text)) {
		for ; next < m.Line; next++ {
			begins += adapters.UTF16Len(lines[next])
		}
		l := lines[m.Line]
		out.Secrets = append(out.Secrets, Secret{From: begins + adapters.UTF16Len(l[:m.From]), To: begins + adapters.UTF16Len(l[:m.To]), Name: m.Name})
	}
	return out
}

// shownText is a line as a caller gets it: the command line shows all, as tmux would, and others get no secrets.
func (a *api) shownText(line string) string {
	if a.author == authorCLI || a.opts.Masker == nil {
		return line
	}
	return a.opts.Masker.Line(line)
}

// shownTurn is a turn as a caller gets it.
func (a *api) shownTurn(t sessions.Turn) sessions.Turn {
	t.Failed = a.shownText(t.Failed)
	return t
}

// hiddenText is a text without secrets.
func (a *api) hiddenText(text string) string {
	if a.opts.Masker == nil {
		return text
	}
	return string(a.opts.Masker.Text([]byte(text)))
}

// hidden are rows of a screen without secrets.
func (a *api) hidden(rows []string) []string {
	if a.opts.Masker == nil {
		return rows
	}
	return a.opts.Masker.Rows(nil, rows)
}
