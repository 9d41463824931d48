package agent

import (
	"bufio"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// hookRecord is one line of testdata/hooks: what an agent program gave to its hook.
// Texts and lists are cut.
type hookRecord struct {
	Event  string            `json:"event"`
	Record json.RawMessage   `json:"record"`
	Env    map[string]string `json:"env"`
}

func hookRecords(t *testing.T, name string) []hookRecord {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "hooks", name+".jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	var list []hookRecord
	in := bufio.NewScanner(f)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		var r hookRecord
		if err := json.Unmarshal(in.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return list
}

// What real programs gave to their hooks, and what it tells: event, tool, signal, text.
func TestParseHookOfRealPrograms(t *testing.T) {
	want := map[string][]string{
		"claude": {
			"SessionStart||session_start|",
			"UserPromptSubmit||prompt_sent|ask me about the storage",
			"PreToolUse|AskUserQuestion|tool_start|Which storage should the queue use?",
			"PermissionRequest|AskUserQuestion|asking|Which storage should the queue use?",
			"PostToolUse|AskUserQuestion|answered|",
			"Stop||turn_done|Understood, I will go with your choice.",
			"PreToolUse|Bash|tool_start|seq 1 300 | tee numbers.txt",
			"PermissionRequest|Bash|asking|seq 1 300 | tee numbers.txt",
			"SessionEnd||session_end|other",
			"Notification||nudge|Claude needs your permission",
			"PostToolUse|Bash|tool_end|seq 1 300 | tee numbers.txt",
			"Notification||nudge|Claude is waiting for your input",
			"PreToolUse|Write|tool_start|/srv/agents/proj/claude/notes-tools-inline-100x35.md",
			"PermissionRequest|Write|asking|/srv/agents/proj/claude/notes-tools-inline-100x35.md",
			"PostToolUse|Write|tool_end|/srv/agents/proj/claude/notes-tools-inline-100x35.md",
		},
		"codex": {
			"SessionStart||session_start|",
			"UserPromptSubmit||prompt_sent|Please say hello to me",
			"agent-turn-complete|||", // the conversation's title
			"Stop||turn_done|Hello 👋 — this is a short answer.",
			"agent-turn-complete||turn_done|Hello 👋 — this is a short answer.",
			"PreToolUse|request_user_input|asking|Which storage should the queue use?",
			"PostToolUse|request_user_input|answered|",
			"PreToolUse|Bash|tool_start|seq 1 300 | tee numbers.txt",
			"PermissionRequest|Bash|asking|seq 1 300 | tee numbers.txt",
			"PostToolUse|Bash|tool_end|seq 1 300 | tee numbers.txt",
		},
		"gemini": {
			"SessionStart||session_start|",
			"BeforeAgent||prompt_sent|Please say hello to me",
			"AfterAgent||turn_done|",
			"BeforeTool|run_shell_command|tool_start|seq 1 300 | tee numbers.txt",
			"Notification||asking|seq 1 300 | tee numbers.txt",
			"AfterTool|run_shell_command|tool_end|",
			"SessionEnd||session_end|exit",
			"BeforeTool|write_file|tool_start|/srv/agents/proj/gemini/notes-tools-inline-100x35.md",
			"AfterTool|write_file|tool_end|",
		},
		"opencode": {
			"session.created||session_start|",
			"chat.message||prompt_sent|",
			"session.status|||",
			"tool.execute.before|question|tool_start|Which storage should the queue use?",
			"question.asked|question|asking|Which storage should the queue use?",
			"question.replied||answered|",
			"tool.execute.after|question|tool_end|",
			"session.idle||turn_done|",
			"permission.asked|bash|asking|seq 1 300 | tee numbers.txt",
			"permission.replied||answered|reject",
			"session.error||turn_broken|Aborted",
		},
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for name, lines := range want {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, r := range hookRecords(t, name) {
				h, err := ParseHook(name, r.Event, r.Record, func(v string) string { return r.Env[v] }, now)
				if err != nil {
					t.Errorf("%s: %v", r.Event, err)
				}
				line := strings.Join([]string{h.Event, h.Tool, string(h.Signal), h.Text}, "|")
				got = append(got, line)
				if h.Signal == "" {
					continue
				}
				if h.Conversation == "" || !h.At.Equal(now) {
					t.Errorf("%s: conversation %q at %v", line, h.Conversation, h.At)
				}
				if name != "opencode" && (h.Pane == "" || h.TmuxSocket != "/run/tmux-0/agents" || h.TmuxPID == 0 || h.Cwd == "") {
					t.Errorf("%s: where it ran is missing: %+v", line, h)
				}
				if name != "opencode" && h.Event != "agent-turn-complete" && !filepath.IsAbs(h.Transcript) {
					t.Errorf("%s: the transcript is missing", line)
				}
			}
			at := 0
			for _, line := range got {
				if at < len(lines) && line == lines[at] {
					at++
				}
			}
			if at < len(lines) {
				t.Errorf("%q is missing or misplaced in\n%s", lines[at], strings.Join(got, "\n"))
			}
		})
	}
}

func TestParseHookReadsWhatCanBeRead(t *testing.T) {
	now := time.Now()
	env := map[string]string{"TMUX": "/tmp/a,b/default,123,4", "TMUX_PANE": "%5", "PANEBRIDGE_SESSION": "pb_1"}
	here := Hook{TmuxSocket: "/tmp/a,b/default", TmuxPID: 123, Pane: "%5", Session: "pb_1", At: now, Agent: "claude", Event: "Stop", Signal: TurnDone}
	with := func(change func(*Hook)) Hook {
		h := here
		change(&h)
		return h
	}
	long := strings.Repeat("ä", MaxHookText)
	for name, tt := range map[string]struct {
		event, record string
		want          Hook
		fails         bool
	}{
		"all":              {"Stop", `{"session_id":"1","cwd":"/c","transcript_path":"/t","last_assistant_message":"yes"}`, with(func(h *Hook) { h.Conversation, h.Cwd, h.Transcript, h.Text = "1", "/c", "/t", "yes" }), false},
		"the event inside": {"", `{"hook_event_name":"Stop"}`, here, false},
		"nothing":          {"Stop", "", here, true},
		"no JSON":          {"Stop", "\x00\xff", here, true},
		"a list":           {"Stop", "[1]", here, true},
		"cut off":          {"Stop", `{"session_id":"1","last_assistant_message":"ye`, with(func(h *Hook) { h.Conversation = "1" }), true},
		"cut off between":  {"Stop", `{"session_id":"1",`, with(func(h *Hook) { h.Conversation = "1" }), true},
		"other types":      {"Stop", `{"session_id":1,"cwd":["/c"],"transcript_path":{},"last_assistant_message":null}`, here, false},
		"not a path":       {"Stop", `{"cwd":"c","transcript_path":"../t"}`, here, false},
		"a long text":      {"Stop", `{"last_assistant_message":"x` + long + `"}`, with(func(h *Hook) { h.Text = "x" + long[:MaxHookText-2] }), false},
		"a new event":      {"Teleport", `{"session_id":"1"}`, with(func(h *Hook) { h.Event, h.Signal, h.Conversation = "Teleport", "", "1" }), false},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseHook("claude", tt.event, []byte(tt.record), func(v string) string { return env[v] }, now)
			if (err != nil) != tt.fails {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
	late := func(name string) string {
		return map[string]string{"CLAUDE_CODE_SESSION_ID": "s", "CLAUDE_PROJECT_DIR": "/p"}[name]
	}
	if h, err := ParseHook("claude", "Stop", nil, late, now); err == nil || h.Conversation != "s" || h.Cwd != "/p" || h.Signal != TurnDone {
		t.Errorf("without a record: %+v %v", h, err)
	}
	if h, err := ParseHook("vim", "Quit", []byte("{}"), noEnv, now); err == nil || h.Agent != "vim" || h.Signal != "" {
		t.Errorf("an unknown agent: %+v %v", h, err)
	}
}

// A sub-agent's end isn't the turn's, but its dialogs are.
func TestParseHookOfSubAgents(t *testing.T) {
	for event, want := range map[string]Signal{
		"session.idle": "", "chat.message": "", "session.error": "", "tool.execute.before": "",
		"permission.asked": Asking, "question.replied": Answered,
	} {
		h, err := ParseHook("opencode", event, []byte(`{"sessionID":"ses_2","parentID":"ses_1"}`), noEnv, time.Now())
		if err != nil || h.Signal != want {
			t.Errorf("%s: %q, want %q (%v)", event, h.Signal, want, err)
		}
	}
}

// Records as they might come from another release, or damaged: each yields a hook whose
// parts are within their bounds.
func TestParseHookOfMutatedRecords(t *testing.T) {
	count := 1000
	if drawtest.Stressed() {
		count = 10_000
	}
	for _, name := range HookAgents() {
		records := hookRecords(t, name)
		r := drawtest.Rand(t, 1)
		read := 0
		for range count {
			chosen := records[r.IntN(len(records))]
			text := mutate(r, chosen.Record)
			h, err := ParseHook(name, chosen.Event, text, noEnv, time.Now())
			if err == nil && h.Conversation != "" {
				read++
			}
			for part, s := range map[string]string{"text": h.Text, "tool": h.Tool, "conversation": h.Conversation, "transcript": h.Transcript, "cwd": h.Cwd} {
				limit := maxHookPath
				if !utf8.ValidString(s) || len(s) > limit {
					t.Fatalf("%s: %s is %q from\n%s", name, part, s, text)
				}
			}
			if _, err := json.Marshal(h); err != nil {
				t.Fatal(err)
			}
		}
		if read < count/20 {
			t.Errorf("%s: only %d of %d were read: the mutations leave nothing to read", name, read, count)
		}
	}
}

// mutate changes a few bytes, or exchanges, doubles, cuts out or nests a part.
func mutate(r *rand.Rand, record []byte) []byte {
	text := append([]byte(nil), record...)
	for range 1 + r.IntN(3) {
		if len(text) < 4 {
			return text
		}
		a := r.IntN(len(text))
		b := a + r.IntN(min(len(text)-a, 200))
		switch r.IntN(8) {
		case 0:
			text[a] = byte(r.IntN(256))
		case 1:
			text = text[:a]
		case 2:
			text = append(text[:a:a], text[b:]...)
		case 3:
			text = append(text[:b:b], text[a:]...)
		case 4:
			text = []byte(strings.Replace(string(text), `"session`, `"Session`, 1))
		case 5:
			values := []string{`null`, `-1e999`, `[]`, `{"a":{}}`, `"\ud800"`, strings.Repeat("[", 20_000), `"` + strings.Repeat("x", 10_000) + `"`}
			if colon := strings.IndexByte(string(text[a:]), ':'); colon >= 0 {
				colon += a + 1
				text = []byte(string(text[:colon]) + values[r.IntN(len(values))] + "," + string(text[colon:]))
			}
		case 6:
			text = []byte(`{"extra":` + string(text) + `,` + strings.TrimPrefix(string(text), "{"))
		default:
			text = append(text, text...)
		}
	}
	return text
}
