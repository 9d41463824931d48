package recording

import (
	"bytes"
	"encoding/json"
	"fmt"
	"time"
)

// Event is what happened on the recorded terminal.
type Event struct {
	At   time.Duration
	Kind string // "o": the program wrote Data; "r": the terminal got the size Data, "WxH"
	Data string
}

// UnmarshalJSON reads an event of asciicast v2: [time, kind, data].
func (e *Event) UnmarshalJSON(b []byte) error {
	var at float64
	if err := json.Unmarshal(b, &[]any{&at, &e.Kind, &e.Data}); err != nil {
		return fmt.Errorf("read event: %w", err)
	}
	e.At = since(at)
	return nil
}

// Events are what the program wrote to its terminal.
func (r *Recording) Events() ([]Event, error) { return readLines[Event](r, "cast.jsonl") }

// Action is what was done from outside, or seen.
type Action struct {
	At time.Duration
	// Kind is "submit" (text was pasted and submitted), "type", "paste", "keys",
	// "resize", "seen" (Pattern was on the screen), "shot" (see Shots), or another
	// that says nothing here.
	Kind    string
	Text    string
	Keys    []string
	Note    string // "approve", "deny", "interrupt" or nothing, of "keys"
	Pattern string
	Name    string
}

// UnmarshalJSON reads an action as it was recorded.
func (a *Action) UnmarshalJSON(b []byte) error {
	var raw struct {
		T                     float64
		Event, Text, Note, Rx string
		Name                  string
		Keys                  []string
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("read action: %w", err)
	}
	*a = Action{since(raw.T), raw.Event, raw.Text, raw.Keys, raw.Note, raw.Rx, raw.Name}
	return nil
}

// Actions are what was done and seen, in order.
func (r *Recording) Actions() ([]Action, error) {
	b, err := r.File("actions.json")
	if err != nil {
		return nil, err
	}
	var out []Action
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("read actions.json of recording %s: %w", r.Name, err)
	}
	return out, nil
}

// Hook is one call of a hook.
type Hook struct {
	At    time.Duration
	Event string          // as the program calls it
	Stdin json.RawMessage // what it gave on standard input; null: nothing
	Env   map[string]string
	// Heard is the hook as the daemon heard it, an agent.Hook, in recordings that were
	// made through it: these have no Stdin.
	Heard json.RawMessage
}

// UnmarshalJSON reads a call as it was recorded.
func (h *Hook) UnmarshalJSON(b []byte) error {
	var raw struct {
		T     float64
		Event string
		Stdin json.RawMessage
		Env   map[string]string
		Heard json.RawMessage
	}
	if err := json.Unmarshal(b, &raw); err != nil {
		return fmt.Errorf("read hook: %w", err)
	}
	*h = Hook{since(raw.T), raw.Event, raw.Stdin, raw.Env, raw.Heard}
	return nil
}

// Hooks are the calls of the program's hooks, in order; none for programs
// without.
func (r *Recording) Hooks() ([]Hook, error) { return readLines[Hook](r, "hooks.jsonl") }

// Line is one line of a transcript.
type Line struct {
	At   time.Duration // when it was in the file
	Path string        // relative to the program's home
	Text []byte        // with its line end
}

// Lines are the lines of all transcripts of the recording, in the order in which
// they were written. opencode has none: see Rows.
func (r *Recording) Lines() ([]Line, error) {
	var out []Line
	for _, t := range r.Transcripts {
		b, err := r.File(t.File)
		if err != nil {
			return nil, err
		}
		i := 0
		for line := range bytes.Lines(b) {
			if i >= len(t.At) {
				return nil, fmt.Errorf("read %s of recording %s: it has more than its %d lines", t.File, r.Name, len(t.At))
			}
			out = append(out, Line{since(t.At[i]), t.Path, line})
			i++
		}
	}
	sortByTime(out, func(l Line) time.Duration { return l.At })
	return out, nil
}

// Row is one version of a row of opencode's database.
type Row struct {
	At    time.Duration // when it was in the database
	Table string
	// Values are the columns; strings, numbers (json.Number) and nil. Without any the
	// row Gone was deleted.
	Values map[string]any
	Gone   string
}

// UnmarshalJSON reads a row as it was recorded.
func (r *Row) UnmarshalJSON(b []byte) error {
	var raw struct {
		T     float64
		Table string
		Row   map[string]any
		Gone  string
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&raw); err != nil {
		return fmt.Errorf("read row: %w", err)
	}
	*r = Row{since(raw.T), raw.Table, raw.Row, raw.Gone}
	return nil
}

// Rows are the versions of opencode's rows, in the order in which they were
// written. Recordings without rows of their own times (the older ones) have two
// versions of each: as it was made, and as it was at the end.
func (r *Recording) Rows() ([]Row, error) { return readLines[Row](r, "rows.jsonl") }

// Shots are the screens at named moments, as tmux showed them then.
func (r *Recording) Shots() (map[string]string, error) {
	b, err := r.File("shots.json")
	if err != nil {
		return nil, err
	}
	var out map[string]string
	if err := json.Unmarshal(b, &out); err != nil {
		return nil, fmt.Errorf("read shots.json of recording %s: %w", r.Name, err)
	}
	return out, nil
}
