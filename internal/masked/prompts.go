package masked

import (
	"context"
	"slices"

	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// Prompt is a question as chats see it: it has no secrets, and nothing that's drawn
// elsewhere than it stands. Each text is masked as it's shown, which is as Manager.masked judged it.
func Prompt(m *redact.Masker, p sessions.Prompt) sessions.Prompt {
	d := p.Dialog
	line := func(text string) string { return m.Line(sessions.Legible(text)) }
	text := func(text string) string { return string(m.Text([]byte(d.Legible(text)))) }
	d.Title, d.Text = line(d.Title), line(d.Text)
	d.Body, d.Whole = text(d.Body), text(d.Whole)
	d.Diff, d.Note, d.Folder = toolview.MaskDiff(m, d.Legible(d.Diff)), line(d.Note), line(d.Folder)
	d.Edits = nil
	d.Unseen = d.Unseen || d.Masked
	d.Options = slices.Clone(d.Options)
	for i, o := range d.Options {
		d.Options[i].Label, d.Options[i].Detail = line(o.Label), line(o.Detail)
	}
	p.Dialog = d
	if p.Answer != nil {
		a := *p.Answer
		a.Text = m.Line(a.Text)
		p.Answer = &a
	}
	return p
}

// Prompts are those that are open.
func (m Sessions) Prompts() []sessions.Prompt {
	all := m.Questions.Prompts()
	for i, p := range all {
		all[i] = Prompt(m.Masker, p)
	}
	return all
}

// Prompt returns a question by its id; see sessions.Manager.Prompt.
func (m Sessions) Prompt(ctx context.Context, id string) (sessions.Prompt, error) {
	p, err := m.Questions.Prompt(ctx, id)
	return Prompt(m.Masker, p), err
}

// Answer answers a question; see sessions.Manager.Answer.
func (m Sessions) Answer(ctx context.Context, id string, a sessions.Answer) (sessions.Prompt, error) {
	p, err := m.Questions.Answer(ctx, id, a)
	return Prompt(m.Masker, p), err
}
