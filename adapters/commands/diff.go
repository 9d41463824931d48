package commands

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// RepositoryChanges is what a session has changed in its repository, without secrets.
type RepositoryChanges struct {
	Root, Commit string
	Files        int
	Diff         string   // unified; "": nothing
	Notes        []string // sentences about what isn't shown
}

const shortCommit = 10 // digits of a commit that are shown

// showDiff shows what a session has changed in its repository since it began, or behind the word "since" and a commit
// since that: in all files, or in one.
func showDiff(a *Invocation) error {
	if a.runner.Diff == nil {
		return errors.New("there are no diffs here")
	}
	since, file := "", a.args
	if rest, ok := strings.CutPrefix(file+" ", "since "); ok {
		since, file, _ = strings.Cut(strings.TrimSpace(rest), " ")
		file = strings.TrimSpace(file)
		if since == "" {
			return errors.New("write /diff since and a commit")
		}
		if !a.Roles.Has(access.Operator) {
			return errors.New("to name a commit takes the role operator: it may show what the session hasn't changed")
		}
	}
	c, err := a.runner.Diff(a.Ctx, a.Session, since, file)
	if err != nil {
		return err
	}
	var head []string
	at := "before its first commit"
	if c.Commit != "" {
		at = c.Commit[:min(len(c.Commit), shortCommit)]
	}
	what := "has changed nothing in"
	switch {
	case c.Diff == "":
	case c.Files == 1:
		what = "has changed a file in"
	default:
		what = fmt.Sprintf("has changed %d files in", c.Files)
	}
	head = append(head, fmt.Sprintf("%s %s %s since %s", wording.Bold(a.Session.Name), what, wording.Plain(c.Root), at))
	for _, note := range c.Notes {
		head = append(head, wording.Plain(wording.OneLine(note)))
	}
	seen := sessions.Legible(c.Diff)
	if plain := strings.ReplaceAll(c.Diff, "\r\n", "\n"); sessions.Legible(plain) != plain {
		c.Diff = seen // in a file, too: platforms show the beginning of one
		head = append(head, "It has characters that aren’t seen where they stand: they’re written as their numbers, so git can’t apply it\\.")
	}
	text := strings.Join(head, "\n\n")
	shape := a.runner.Hub.Shape(a.Event.Place)
	if c.Diff == "" {
		return a.replyText(text)
	}
	if whole := text + "\n\n" + wording.Diff(strings.TrimSuffix(seen, "\n")); shape.Len(whole) <= shape.MaxLen {
		return a.replyText(whole)
	}
	if len(c.Diff) > shape.MaxFile {
		return fmt.Errorf("it's %d kB, more than a file may have here: name a file or a folder", len(c.Diff)/1000)
	}
	return a.post(adapters.Post{Text: text, File: &adapters.File{Name: a.Session.Name + ".diff", Data: []byte(c.Diff)}})
}

// DiffOf returns what a session has changed in its repository: since it began, or since a commit; in a file, or in all. It
// runs git, for some seconds. The error is told to people.
type DiffOf func(ctx context.Context, s sessions.Session, since, file string) (RepositoryChanges, error)
