package agent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Bounds of a hook's fields, in bytes. A name or path that's longer is no name or
// path of ours to follow, and is left out.
const (
	maxHookName = 256
	maxHookPath = 4096
	// MaxHookText is what's kept of a prompt, question or answer. It's shown in short
	// and compared by its beginning; the exact words are in the transcript.
	MaxHookText = 2000
	// MaxHookInput is how long the input of a call may be: what agents record of one that a
	// person is asked about was 140 KB at most where it was tried.
	MaxHookInput = 1 << 20
)

// ParseHook makes a Hook of one call: event is what the hook was installed with (""
// if the record says it), record the JSON it was given, env its environment. An agent's
// records change with its releases, so what's unknown, misshapen or cut off is left
// out; the Hook can be used also with an error, which says what couldn't be read.
// PIDs is left to the caller.
func ParseHook(agentName, event string, record []byte, env func(string) string, now time.Time) (Hook, error) {
	fields, err := hookFields(record)
	event = strings.TrimPrefix(event, "event:")
	if event == "" || event == "notify" {
		for _, key := range []string{"hook_event_name", "type"} {
			if name := fields.textOf(key); name != "" {
				event = name
				break
			}
		}
	}
	h := Hook{
		Agent: bounded(agentName, maxHookName), Event: bounded(event, maxHookName), At: now,
		Conversation: bounded(fields.firstText("session_id", "sessionID", "thread-id"), maxHookName),
		Transcript:   absolutePath(fields.textOf("transcript_path")),
		Cwd:          absolutePath(fields.textOf("cwd")),
		Tool:         bounded(fields.textOf("tool_name"), maxHookName),
	}
	h.whereFrom(env)
	h.fallBack(env)
	if sign, ok := hookSigns[h.Agent]; ok {
		sign(&h, fields)
	} else if err == nil {
		err = fmt.Errorf("read the hook: there's no agent %q with hooks: it's one of %s", agentName, strings.Join(HookAgents(), ", "))
	}
	h.Text = shorten(h.Text)
	h.bindInput(err)
	return h, err
}

// bindInput keeps the input of a call that a person is asked about. cut is why not all of
// the record could be read.
func (h *Hook) bindInput(cut error) {
	switch {
	case h.Signal != Asking && !h.tellsTool():
		h.Input = nil
	case len(h.Input) > MaxHookInput || len(h.Input) == 0 && cut != nil:
		h.Input, h.Lost = nil, true
	}
}

// whereFrom reads from the environment in which pane the hook ran.
func (h *Hook) whereFrom(env func(string) string) {
	// TMUX is socket,pid,session number; the socket's path may have commas.
	if rest, _, ok := cutLast(env("TMUX"), ","); ok {
		if socket, pid, ok := cutLast(rest, ","); ok {
			h.TmuxSocket = absolutePath(socket)
			h.TmuxPID, _ = strconv.Atoi(pid) // 0 is none
		}
	}
	if pane := env("TMUX_PANE"); strings.HasPrefix(pane, "%") {
		h.Pane = bounded(pane, maxHookName)
	}
	if session := env("PANEBRIDGE_SESSION"); strings.HasPrefix(session, "pb_") {
		h.Session = bounded(session, maxHookName)
	}
}

// fallBack takes from the environment what a record doesn't say that was cut off or
// came too late.
func (h *Hook) fallBack(env func(string) string) {
	names, ok := map[string][2]string{
		"claude": {"CLAUDE_CODE_SESSION_ID", "CLAUDE_PROJECT_DIR"},
		"gemini": {"GEMINI_SESSION_ID", "GEMINI_CWD"},
	}[h.Agent]
	if !ok {
		return
	}
	if h.Conversation == "" {
		h.Conversation = bounded(env(names[0]), maxHookName)
	}
	if h.Cwd == "" {
		h.Cwd = absolutePath(env(names[1]))
	}
}

// recordMembers is an object of a hook's record, by key.
type recordMembers map[string]json.RawMessage

// hookFields reads as many members of a JSON object as there are; with an error it's
// those that stand before it.
func hookFields(text []byte) (recordMembers, error) {
	fields := recordMembers{}
	if len(bytes.TrimSpace(text)) == 0 {
		return fields, errors.New("read the hook's record: it's empty")
	}
	dec := json.NewDecoder(bytes.NewReader(text))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return fields, fmt.Errorf("read the hook's record: it isn't a JSON object (%w)", orUnexpected(err))
	}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return fields, fmt.Errorf("read the hook's record: %w", err)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return fields, fmt.Errorf("read %v of the hook's record: %w", key, orUnexpected(err))
		}
		if name, ok := key.(string); ok {
			fields[name] = value
		}
	}
	if _, err := dec.Token(); err != nil {
		return fields, fmt.Errorf("read the hook's record: %w", orUnexpected(err))
	}
	return fields, nil
}

func orUnexpected(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// textOf returns a member that's a string, else "".
func (r recordMembers) textOf(key string) string {
	var s string
	if raw, ok := r[key]; !ok || json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// onlyMembers returns an object with those of these members that there are; nil: there's none.
func (r recordMembers) onlyMembers(keys ...string) json.RawMessage {
	some := recordMembers{}
	for _, key := range keys {
		if value, ok := r[key]; ok {
			some[key] = value
		}
	}
	out, err := json.Marshal(some)
	if err != nil || len(some) == 0 {
		return nil
	}
	return out
}

// firstText returns the first of these members that's a string and not empty.
func (r recordMembers) firstText(keys ...string) string {
	for _, key := range keys {
		if s := r.textOf(key); s != "" {
			return s
		}
	}
	return ""
}

// objectOf returns a member that's an object, else one without members.
func (r recordMembers) objectOf(key string) recordMembers {
	var o recordMembers
	if raw, ok := r[key]; !ok || json.Unmarshal(raw, &o) != nil {
		return recordMembers{}
	}
	return o
}

// objectsOf returns the objects of a member that's an array of nothing else.
func (r recordMembers) objectsOf(key string) []recordMembers {
	var list []recordMembers
	if raw, ok := r[key]; !ok || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

// textsOf returns the strings of a member that's an array of nothing else.
func (r recordMembers) textsOf(key string) []string {
	var list []string
	if raw, ok := r[key]; !ok || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	return list
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// bounded returns s if it has at most limit bytes and no line end or NUL, else "".
func bounded(s string, limit int) string {
	if len(s) > limit || strings.ContainsAny(s, "\x00\n\r") {
		return ""
	}
	return strings.ToValidUTF8(s, "")
}

func absolutePath(path string) string {
	if !filepath.IsAbs(path) {
		return ""
	}
	return bounded(path, maxHookPath)
}

// shorten cuts a text to MaxHookText bytes, between characters.
func shorten(text string) string {
	text = strings.ToValidUTF8(text, "\uFFFD")
	if len(text) <= MaxHookText {
		return text
	}
	cut := MaxHookText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut]
}
