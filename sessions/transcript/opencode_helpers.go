package transcript

import (
	"cmp"
	"context"
	"regexp"
)

// openCodeHelpers finds the sub-agents of a conversation of opencode (seen with 1.18.33),
// which are conversations below it in the same database, with "WHAT (@WHO subagent)" for
// their titles. Those that they call themselves stand below them. Read after it has ended, a
// message of the agent's isn't parted: what a sub-agent said meanwhile comes behind it.
type openCodeHelpers struct {
	ref  Ref
	data database
}

// openCodeHelped are at most so many sub-agents, the newest: each has a connection of its
// own while its conversation changes.
const openCodeHelped = `WITH RECURSIVE below(id) AS (
		SELECT id FROM session WHERE parent_id = ?
		UNION SELECT s.id FROM session s JOIN below b ON s.parent_id = b.id)
	SELECT s.id, s.title FROM session s JOIN below b ON s.id = b.id ORDER BY s.time_created DESC, s.id DESC LIMIT 100`

// find asks the database if it may have changed. One that can't be read is asked again.
func (o *openCodeHelpers) find(ctx context.Context, known func(string) bool, at func(string) readPosition) (out []*helper) {
	if changed, err := o.data.openIfChanged(ctx); err != nil || !changed {
		return nil
	}
	rows, err := o.data.db.QueryContext(ctx, openCodeHelped, o.ref.Session)
	if err != nil {
		o.data.expectChange()
		return nil
	}
	defer rows.Close()
	for rows.Next() {
		var id, title string
		if err := rows.Scan(&id, &title); err != nil {
			break
		}
		if known(id) {
			continue
		}
		src := &openCodeSource{ref: Ref{OpenCode, o.ref.Path, id}, data: database{path: o.ref.Path}, at: at(id)}
		out = append(out, &helper{name: id, by: openCodeHelperBy(title), ahead: ahead{src: &answersAlone{src}}})
	}
	if rows.Err() != nil {
		o.data.expectChange()
	}
	return out
}

func (o *openCodeHelpers) close() error { return o.data.close() }

var openCodeTitle = regexp.MustCompile(`^(.*?) \(@(.+) subagent\)$`)

// openCodeHelperBy says who a sub-agent is, by its conversation's title.
func openCodeHelperBy(title string) string {
	m := openCodeTitle.FindStringSubmatch(short(title, 1))
	if m == nil {
		return cmp.Or(short(title, 1), "sub-agent")
	}
	if m[1] == "" {
		return m[2]
	}
	return m[2] + " (" + m[1] + ")"
}

// answersAlone is what a sub-agent says, and what that took. What it's asked, and what it does, is told by the
// conversation that called it, or is no word of its.
type answersAlone struct{ source }

func (a *answersAlone) read(ctx context.Context, limit int) ([]Record, error) {
	for {
		all, err := a.source.read(ctx, limit)
		if err != nil || len(all) == 0 {
			return nil, err
		}
		var out []Record
		for _, r := range all {
			switch r.Kind {
			case Answer:
				r.Kind = Helper
				out = append(out, r)
			case Used:
				out = append(out, r)
			default:
			}
		}
		if len(out) > 0 {
			return out, nil
		}
	}
}
