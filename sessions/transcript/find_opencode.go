package transcript

import (
	"context"
	"path/filepath"
	"time"

	"github.com/tidwall/gjson"
)

// OpenCodeDatabase is where opencode keeps its conversations, by its user's home
// folder and its environment: the Path of their Refs. Hooks tell the session only.
func OpenCodeDatabase(home string, env map[string]string) string {
	if dir := env["XDG_DATA_HOME"]; filepath.IsAbs(dir) {
		return filepath.Join(dir, "opencode", "opencode.db")
	}
	return filepath.Join(home, ".local", "share", "opencode", "opencode.db")
}

// findOpenCode looks in the database for conversations of the folder. No process
// says which one it has.
func findOpenCode(ctx context.Context, w *Where) (found []Candidate, err error) {
	d := database{path: OpenCodeDatabase(w.Home, w.Env)}
	there, err := d.openIfChanged(ctx)
	if err != nil || !there {
		return nil, err
	}
	defer func() {
		if closed := d.close(); err == nil {
			err = closed
		}
	}()
	since := int64(0)
	if !w.Started.IsZero() {
		since = w.Started.Add(-slack).UnixMilli()
	}
	if found, err = d.conversations(ctx, w, since); err != nil {
		return nil, err
	}
	for i := range found {
		if found[i].LastUser, err = d.lastAsked(ctx, found[i].Ref.Session); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func (d *database) conversations(ctx context.Context, w *Where, since int64) ([]Candidate, error) {
	rows, err := d.db.QueryContext(ctx, `SELECT id, directory, time_created, time_updated FROM session
		WHERE parent_id IS NULL AND time_updated >= ? ORDER BY time_updated DESC LIMIT ?`, since, maxListed)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var found []Candidate
	for rows.Next() && len(found) < maxFound {
		var id, cwd string
		var created, updated int64
		if err := rows.Scan(&id, &cwd, &created, &updated); err != nil {
			return nil, err
		}
		if w.isHere(cwd) {
			found = append(found, Candidate{
				Ref: Ref{Format: OpenCode, Path: d.path, Session: id}, Cwd: cwd,
				Started: time.UnixMilli(created).UTC(), Changed: time.UnixMilli(updated).UTC(),
			})
		}
	}
	return found, rows.Err()
}

// lastAsked returns the text of the last message of a person in a conversation.
func (d *database) lastAsked(ctx context.Context, session string) (string, error) {
	rows, err := d.db.QueryContext(ctx, `SELECT id, CASE WHEN octet_length(data) <= ? THEN data ELSE '' END FROM part
		WHERE message_id = (SELECT id FROM message WHERE session_id = ? AND json_valid(data)
			AND json_extract(data, '$.role') = 'user' ORDER BY time_created DESC, id DESC LIMIT 1) ORDER BY id`, headLen, session)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	s := openCodeSource{}
	var said []string
	for rows.Next() {
		var id, data string
		if err := rows.Scan(&id, &data); err != nil {
			return "", err
		}
		if valid([]byte(data)) {
			_, said = s.asked(&openCodeMessage{}, gjson.Parse(data), said, nil)
		}
	}
	return joined(said), rows.Err()
}
