package agentlab_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/panebridge/panebridge/internal/agentlab"
)

// obj is a JSON object.
type obj = map[string]any

// dialect is one of the four ways in which programs speak with a model.
type dialect struct {
	name, path string
	ask        func(user string, tools ...string) obj // a first request
	// again is the next request, after a tool's result.
	again func(first obj) obj
	text  func(event obj) string // what of the answer an event holds
	call  string                 // name of the shell tool
}

func dialects() []dialect {
	return []dialect{
		{
			name: "anthropic", path: "/v1/messages", call: "Bash",
			ask: func(user string, tools ...string) obj {
				return obj{"stream": true, "messages": []any{obj{"role": "user", "content": user}}, "tools": named("name", tools)}
			},
			again: func(first obj) obj {
				msgs, _ := first["messages"].([]any)
				first["messages"] = append(msgs, obj{"role": "assistant", "content": "x"},
					obj{"role": "user", "content": []any{obj{"type": "tool_result", "content": "ok"}}})
				return first
			},
			text: func(e obj) string { return at(e, "delta", "text") },
		},
		{
			name: "responses", path: "/v1/responses", call: "exec_command",
			ask: func(user string, tools ...string) obj {
				return obj{"input": []any{obj{"role": "user", "content": []any{obj{"type": "input_text", "text": user}}}}, "tools": named("name", tools)}
			},
			again: func(first obj) obj {
				items, _ := first["input"].([]any)
				first["input"] = append(items, obj{"type": "function_call"}, obj{"type": "function_call_output"})
				return first
			},
			text: func(e obj) string {
				if e["type"] != "response.output_text.delta" {
					return ""
				}
				return at(e, "delta")
			},
		},
		{
			name: "chat", path: "/v1/chat/completions", call: "bash",
			ask: func(user string, tools ...string) obj {
				var list []any
				for _, t := range tools {
					list = append(list, obj{"function": obj{"name": t}})
				}
				return obj{"stream": true, "messages": []any{obj{"role": "system", "content": "say hello"}, obj{"role": "user", "content": user}}, "tools": list}
			},
			again: func(first obj) obj {
				msgs, _ := first["messages"].([]any)
				first["messages"] = append(msgs, obj{"role": "assistant"}, obj{"role": "tool", "content": "ok"})
				return first
			},
			text: func(e obj) string { return at(e, "choices", "delta", "content") },
		},
		{
			name: "gemini", path: "/v1beta/models/gemini-2.5-pro:streamGenerateContent", call: "run_shell_command",
			ask: func(user string, tools ...string) obj {
				return obj{
					"contents": []any{obj{"role": "user", "parts": []any{obj{"text": user}}}},
					"tools":    []any{obj{"functionDeclarations": named("name", tools)}},
				}
			},
			again: func(first obj) obj {
				c, _ := first["contents"].([]any)
				first["contents"] = append(c, obj{"role": "model"}, obj{"role": "user", "parts": []any{obj{"functionResponse": obj{}}}})
				return first
			},
			text: func(e obj) string { return at(e, "candidates", "content", "parts", "text") },
		},
	}
}

func named(key string, names []string) []any {
	var out []any
	for _, n := range names {
		out = append(out, obj{key: n})
	}
	return out
}

// at is a text in a tree, the first of each list; "" if there's none.
func at(v any, path ...string) string {
	for _, key := range path {
		if list, ok := v.([]any); ok {
			if len(list) == 0 {
				return ""
			}
			v = list[0]
		}
		o, ok := v.(obj)
		if !ok {
			return ""
		}
		v = o[key]
	}
	s, _ := v.(string)
	return s
}

// post asks the model and gives the body as it was streamed.
func post(t *testing.T, m *agentlab.Model, d dialect, body obj) string {
	t.Helper()
	b, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	m.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, d.path, bytes.NewReader(b)))
	out, err := io.ReadAll(w.Result().Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// said is the text of a streamed answer.
func said(t *testing.T, d dialect, stream string) string {
	t.Helper()
	var b strings.Builder
	lines := bufio.NewScanner(strings.NewReader(stream))
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		if !ok || data == "[DONE]" {
			continue
		}
		var e obj
		if err := json.Unmarshal([]byte(data), &e); err != nil {
			t.Fatalf("event %s: %v", data, err)
		}
		b.WriteString(d.text(e))
	}
	return b.String()
}

func newModel(t *testing.T) *agentlab.Model {
	t.Helper()
	s, err := agentlab.LoadScenario("default")
	if err != nil {
		t.Fatal(err)
	}
	return agentlab.NewModel(s, "/srv/project")
}

// In each dialect the model says exactly the script's text, calls the program's
// own tool, and goes on after its result.
func TestModelSpeaksAllDialects(t *testing.T) {
	long, err := os.ReadFile("testdata/scenarios/long.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dialects() {
		t.Run(d.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newModel(t)
				got := said(t, d, post(t, m, d, d.ask("Survey the retry queue", d.call)))
				if !strings.HasSuffix(got, string(long)) {
					t.Errorf("said %q, want long.md", got)
				}
				first := d.ask("count to 300", d.call)
				stream := post(t, m, d, first)
				if !strings.Contains(stream, d.call) || !strings.Contains(strings.ReplaceAll(stream, `\`, ""), "seq") {
					t.Errorf("no call of %s in %s", d.call, stream)
				}
				if got := said(t, d, post(t, m, d, d.again(first))); !strings.HasPrefix(got, "Done.") {
					t.Errorf("after the tool it said %q", got)
				}
				post(t, m, d, d.ask("a title please")) // no tools: not part of the conversation
				r := m.Requests()
				if len(r) != 3 || r[1].Step != 0 || r[2].Step != 1 || len(r[1].Called) != 1 || r[1].Called[0] != "shell" {
					t.Fatalf("requests %+v", r)
				}
				if r[0].Text != string(long) || r[0].First.Sub(r[0].Begin) != 1500*time.Millisecond || !r[0].End.After(r[0].First) || r[0].HungUp {
					t.Errorf("first request %+v", r[0])
				}
			})
		})
	}
}

// A program that hangs up is noticed at once, and what it got is known.
func TestModelNotesAHangUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, d := newModel(t), dialects()[0]
		b, err := json.Marshal(d.ask("survey the retry queue", d.call))
		if err != nil {
			t.Fatal(err)
		}
		ctx, hangUp := context.WithTimeout(t.Context(), 3*time.Second)
		defer hangUp()
		begin := time.Now()
		m.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, d.path, bytes.NewReader(b)))
		r := m.Requests()[0]
		if !r.HungUp || r.End.Sub(begin) != 3*time.Second || !strings.HasPrefix(r.Text, "# Survey") || strings.Contains(r.Text, "END") {
			t.Errorf("request %+v", r)
		}
	})
}

// An error passes after as many requests as the script says.
func TestModelFailsAsOftenAsItShould(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, d := newModel(t), dialects()[2]
		for range 3 {
			post(t, m, d, d.ask("test the error", d.call))
		}
		r := m.Requests()
		if len(r) != 3 || !r[0].Failed || !r[1].Failed || r[2].Failed || r[2].Text != "Recovered after the error." {
			t.Errorf("requests %+v", r)
		}
	})
}

// Two thousand lines are two thousand lines.
func TestScenarioWithManyLines(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, d := newModel(t), dialects()[3]
		got := said(t, d, post(t, m, d, d.ask("print two thousand lines", d.call)))
		if strings.Count(got, "\nLINE-") != 2000 || !strings.Contains(got, "\nLINE-0042 of 2000: ") || !strings.HasSuffix(got, "FAST-STREAM-END") {
			t.Errorf("said %d bytes, ending in %q", len(got), got[max(0, len(got)-100):])
		}
	})
}
