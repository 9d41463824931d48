package transcript

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"
)

// openCodeSource reads one conversation of opencode's database (seen with 1.18.33):
// ~/.local/share/opencode/opencode.db, tables message and part, whose data is JSON.
//
// Messages come in the order of their creation; parts of a message in that of their
// ids. The model's are changed until they're complete: a text is, when it has an
// end; a tool's call can be told when its state isn't pending, its result when it
// is completed or error. A message is complete when it has a time of completion, or
// when another one of the model has come after it; then it's never read again. Its
// finish says whether the turn is over, its error whether it was interrupted.
// Sub-agents are conversations of their own, with a parent. An error that was
// overcome by trying again leaves no trace.
type openCodeSource struct {
	ref  Ref
	data database
	at   readPosition
}

func openDatabase(ref Ref, at readPosition) (source, error) {
	if ref.Session == "" {
		return nil, fmt.Errorf("open transcript %s: opencode keeps all conversations in one database, so the session must be told", ref.Path)
	}
	main := &openCodeSource{ref: ref, data: database{path: ref.Path}, at: at}
	main.at.Helpers = nil
	return newFamily(main, &openCodeHelpers{ref: ref, data: database{path: ref.Path}}, at), nil
}

// Rows after the last message that was given whole. Both use an index.
const (
	openCodeMessages = `SELECT id, time_created, CASE WHEN octet_length(data) <= ? THEN data ELSE '' END FROM message
		WHERE session_id = ? AND (time_created, id) > (?, ?) ORDER BY time_created, id LIMIT ?`
	openCodeParts = `SELECT id, CASE WHEN octet_length(data) <= ? THEN data ELSE '' END FROM part
		WHERE message_id = ? ORDER BY id`
)

// openCodeParting is within which time the parts of a person's message are written;
// 0.1 s was seen.
const openCodeParting = 2 * time.Second

// How many messages are read at a time, and where one is asked for.
const (
	openCodeBatch = 50
	openCodeFew   = 8
)

type openCodeMessage struct {
	id      string
	created int64
	data    gjson.Result
	ok      bool // data is JSON
}

func (m *openCodeMessage) model() bool { return m.data.Get("role").Str == "assistant" }

func (m *openCodeMessage) done() bool { return m.data.Get("time.completed").Type == gjson.Number }

func (s *openCodeSource) read(ctx context.Context, limit int) ([]Record, error) {
	changed, err := s.data.openIfChanged(ctx)
	if err != nil || !changed {
		return nil, err
	}
	var out []Record
	for len(out) < limit {
		var more bool
		out, more, err = s.batch(ctx, limit, out)
		if err != nil {
			s.data.expectChange()
			if len(out) > 0 {
				return out, nil // the error comes again
			}
			return nil, errors.Join(err, s.data.close())
		}
		if !more {
			return out, nil
		}
	}
	s.data.expectChange()
	return out, nil
}

// batch reads some messages on; more says that there are others.
func (s *openCodeSource) batch(ctx context.Context, limit int, out []Record) (records []Record, more bool, err error) {
	if limit == 1 {
		return s.batchOf(ctx, openCodeFew, limit, out)
	}
	return s.batchOf(ctx, openCodeBatch, limit, out)
}

// batchOf is batch for so many messages.
func (s *openCodeSource) batchOf(ctx context.Context, most, limit int, out []Record) (records []Record, more bool, err error) {
	messages, err := s.messages(ctx, most)
	if err != nil {
		return out, false, err
	}
	for i := range messages {
		m := &messages[i]
		over := s.noteOver(m, messages[i+1:])
		if !over && len(messages) == openCodeFew && most == openCodeFew { // one of those behind may tell
			return s.batchOf(ctx, openCodeBatch, limit, out)
		}
		before := len(out)
		if out, err = s.message(ctx, m, over, out); err != nil {
			return out, false, err
		}
		bare := m.ok && !m.model() && len(out) == before && i+1 == len(messages) // its parts come yet
		if !over || bare {
			return out, false, nil // what comes after is told when it's over
		}
		if !m.ok {
			s.at.Skipped++
		}
		s.at.Created, s.at.Message, s.at.Given = m.created, m.id, nil
		if len(out) >= limit {
			return out, true, nil
		}
	}
	return out, len(messages) == most, nil
}

// noteOver says that a message is complete. A person's is written before its parts are,
// so it counts as complete some time later, or when another message has come.
func (s *openCodeSource) noteOver(m *openCodeMessage, later []openCodeMessage) bool {
	if !m.ok {
		return true
	}
	if m.model() {
		return m.done() || slices.ContainsFunc(later, func(l openCodeMessage) bool { return l.model() })
	}
	if len(later) > 0 || time.Since(time.UnixMilli(m.created)) > openCodeParting {
		return true
	}
	s.data.expectChange()
	return false
}

func (s *openCodeSource) messages(ctx context.Context, most int) ([]openCodeMessage, error) {
	rows, err := s.data.db.QueryContext(ctx, openCodeMessages, maxLine, s.ref.Session, s.at.Created, s.at.Message, most)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var messages []openCodeMessage
	for rows.Next() {
		var m openCodeMessage
		var data sql.RawBytes
		if err := rows.Scan(&m.id, &m.created, &data); err != nil {
			return nil, err
		}
		if m.ok = valid(data); m.ok {
			m.data = gjson.ParseBytes(data)
		}
		messages = append(messages, m)
	}
	return messages, rows.Err()
}

// message gives what's new of a message; all of it if it's over.
func (s *openCodeSource) message(ctx context.Context, m *openCodeMessage, over bool, out []Record) ([]Record, error) {
	if !m.ok || !m.model() && (!over || m.data.Get("role").Str != "user") {
		return out, nil
	}
	rows, err := s.data.db.QueryContext(ctx, openCodeParts, maxLine, m.id)
	if err != nil {
		return out, err
	}
	defer rows.Close()
	first, waiting := len(out), false
	var said []string
	for rows.Next() {
		var id string
		var data sql.RawBytes
		if err := rows.Scan(&id, &data); err != nil {
			return out[:first], err
		}
		if !valid(data) {
			if s.giveOnce(id) {
				s.at.Skipped++
			}
			continue
		}
		p := gjson.ParseBytes(data)
		if !m.model() {
			out, said = s.asked(m, p, said, out)
			continue
		}
		if !waiting {
			out, waiting = s.part(m, id, p, over, out)
		}
	}
	if err := rows.Err(); err != nil {
		return out, err
	}
	if text := joined(said); strings.TrimSpace(text) != "" {
		out = append(out, Record{Kind: User, ID: m.id, Text: text, At: millis(m.data.Get("time.created"))})
	}
	if over && m.model() {
		out = openCodeEnd(m, openCodeUsed(m, out))
	}
	return out, nil
}

// giveOnce says whether something of the present message wasn't given before, and
// remembers that it is now.
func (s *openCodeSource) giveOnce(what string) bool {
	if slices.Contains(s.at.Given, what) {
		return false
	}
	s.at.Given = append(s.at.Given, what)
	return true
}

// asked collects what a person's message says.
func (s *openCodeSource) asked(m *openCodeMessage, p gjson.Result, said []string, out []Record) ([]Record, []string) {
	switch p.Get("type").Str {
	case "text":
		if !p.Get("synthetic").Bool() && !p.Get("ignored").Bool() {
			said = append(said, textOf(p.Get("text")))
		}
	case "file":
		if !p.Get("source.text").Exists() { // else the text names it
			said = append(said, "["+oneLine(p.Get("filename").String())+"]")
		}
	case "compaction":
		out = append(out, Record{Kind: Compacted, ID: m.id, At: millis(m.data.Get("time.created"))})
	case "subtask", "agent":
	default:
		s.at.Skipped++
	}
	return out, said
}

func joined(said []string) string { return cleanText(strings.Join(said, "\n")) }

// openCodeSilent are types of the model's parts that tell nothing here.
var openCodeSilent = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"step-start": true, "step-finish": true, "snapshot": true, "patch": true, "file": true,
	"agent": true, "subtask": true, "compaction": true,
}

// part gives what's new of a part of the model's message; waiting says that the
// parts after it must wait for it.
func (s *openCodeSource) part(m *openCodeMessage, id string, p gjson.Result, over bool, out []Record) (records []Record, waiting bool) {
	switch kind := p.Get("type").Str; kind {
	case "text":
		end := p.Get("time.end")
		if !over && end.Type != gjson.Number {
			return out, true
		}
		answer := textOf(p.Get("text"))
		if m.data.Get("summary").Bool() || p.Get("synthetic").Bool() || strings.TrimSpace(answer) == "" {
			break // of a compaction
		}
		if s.giveOnce(id) {
			out = append(out, Record{Kind: Answer, ID: m.id, Text: answer, At: millis(end)})
		}
	case "reasoning":
		end := p.Get("time.end")
		if !over && end.Type != gjson.Number {
			return out, true
		}
		if thought := textOf(p.Get("text")); strings.TrimSpace(thought) != "" && s.giveOnce(id) {
			out = think(out, m.id, thought)
			out[len(out)-1].At = millis(end)
		}
	case "tool":
		return s.tool(id, p, over, out)
	case "retry":
		if s.giveOnce(id) {
			failure := openCodeFailure(p.Get("error"))
			failure.ID, failure.Waits, failure.At = m.id, true, millis(p.Get("time.created"))
			out = append(out, failure)
		}
	default:
		if !openCodeSilent[kind] && s.giveOnce(id) {
			s.at.Skipped++
		}
	}
	return out, false
}

func (s *openCodeSource) tool(id string, p gjson.Result, over bool, out []Record) (records []Record, waiting bool) {
	state := p.Get("state")
	status := state.Get("status").Str
	if status == "pending" && !over {
		return out, true
	}
	called := Record{Kind: Tool, ID: textOf(p.Get("callID")), Tool: textOf(p.Get("tool")), At: millis(state.Get("time.start"))}
	if s.giveOnce(id) {
		r := called
		if r.Tool == "question" {
			r.Kind, r.Text = Question, questions(state.Get("input"))
		}
		if r.Text == "" {
			r.Kind, r.Text = Tool, callInShort(r.Tool, state.Get("input"))
		}
		r.Args = wholeArgs(state.Get("input"))
		out = append(out, r)
	}
	if (status == "completed" || status == "error") && s.giveOnce(id+" done") {
		r := called
		r.Kind, r.At = ToolResult, millis(state.Get("time.end"))
		said := state.Get("output").Str
		if status == "error" {
			said, r.Failed = state.Get("error").String(), true
		}
		if r.setResult(said, int(state.Get("metadata.exit").Int())); !r.Failed {
			r.Diff = wholeDiff(state.Get("metadata.diff"))
		}
		out = append(out, r)
	}
	return out, false
}

// openCodeEnd gives what the end of a message of the model means.
func openCodeEnd(m *openCodeMessage, out []Record) []Record {
	end := Record{Kind: TurnEnd, ID: m.id, At: millis(m.data.Get("time.completed"))}
	if failure := m.data.Get("error"); failure.IsObject() {
		if OpenCodeAborted(failure.Get("name").Str) {
			end.Interrupted = true
			return append(out, end)
		}
		r := openCodeFailure(failure)
		r.ID, r.At = m.id, end.At
		return append(out, r, end)
	}
	switch m.data.Get("finish").Str {
	case "", "tool-calls", "unknown": // goes on in the next message, or was cut off
		return out
	}
	if m.data.Get("summary").Bool() {
		return out // of a compaction, which may be within a turn
	}
	return append(out, end)
}

// OpenCodeAborted reports whether opencode's error of that name means that a person ended the
// turn.
func OpenCodeAborted(name string) bool {
	return name == "MessageAbortedError" || name == "AbortedError"
}

func openCodeFailure(e gjson.Result) Record {
	said := e.Get("data.message").Str
	if said == "" {
		said = e.Get("name").Str
	}
	return Record{Kind: Failure, Text: short(said, 10), Waits: e.Get("data.isRetryable").Bool() || passes(said+" "+e.Get("data.statusCode").String())}
}

func (s *openCodeSource) position() readPosition {
	at := s.at
	at.Given = slices.Clone(at.Given)
	return at
}

func (s *openCodeSource) skipped() int64 { return s.at.Skipped }

func (s *openCodeSource) close() error { return s.data.close() }
