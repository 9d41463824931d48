package agentlab

import (
	"encoding/json"
	"maps"
	"net/http"
	"strings"
	"time"
)

// responses speaks OpenAI Responses.
func (m *Model) responses(w http.ResponseWriter, r *http.Request, body obj) {
	var offered []string
	for _, t := range list(body["tools"]) {
		name := text(t["name"])
		if name == "" {
			name = text(t["type"])
		}
		offered = append(offered, name)
	}
	p := m.begin(w, r, responsesTexts(body), offered, responsesTitle(body, offered))
	defer p.done()
	if p.step.Error != "" {
		sendJSON(w, http.StatusInternalServerError, obj{"error": obj{"type": "server_error", "message": "mock " + p.step.Error}})
		return
	}
	p.stream()
	s := &responseStream{reply: p, items: []any{}}
	base := obj{
		"id": m.id("resp_"), "object": "response", "created_at": time.Now().Unix(), "status": "in_progress",
		"model": body["model"], "output": []any{},
	}
	s.send("response.created", obj{"response": base})
	s.think()
	s.text()
	for _, c := range m.calls(p.step, offered) {
		item := obj{"type": "function_call", "id": m.id("fc_"), "arguments": c.json(), "call_id": m.id("call_"), "name": c.name}
		if c.name == codexAgents {
			item["name"], item["namespace"] = "spawn_agent", codexAgents
		}
		if c.name == codexMCP {
			item["name"], item["namespace"] = c.tool, codexMCP
		}
		s.send("response.output_item.added", obj{"output_index": len(s.items), "item": with(item, obj{"status": "in_progress"})})
		s.done(with(item, obj{"status": "completed"}))
	}
	usage := obj{
		"input_tokens": 1200, "input_tokens_details": obj{"cached_tokens": 0}, "output_tokens": 200,
		"output_tokens_details": obj{"reasoning_tokens": 0}, "total_tokens": 1400,
	}
	s.send("response.completed", obj{"response": with(base, obj{"status": "completed", "output": s.items, "usage": usage})})
}

// responsesTitle answers requests without tools, some of which want an object.
func responsesTitle(body obj, offered []string) string {
	if len(offered) > 0 {
		return ""
	}
	form, _ := body["text"].(obj)
	format, _ := form["format"].(obj)
	schema, _ := format["schema"].(obj)
	properties, _ := schema["properties"].(obj)
	if len(properties) == 0 {
		return "Mock session title"
	}
	out := obj{}
	for k := range properties {
		out[k] = "Mock session title"
	}
	b, _ := json.Marshal(out)
	return string(b)
}

// responseStream is one answer in the making.
type responseStream struct {
	*reply

	sequence int
	items    []any
}

func (s *responseStream) send(kind string, fields obj) {
	fields["type"], fields["sequence_number"] = kind, s.sequence
	s.sequence++
	s.event(kind, fields)
}

func (s *responseStream) done(item obj) {
	s.send("response.output_item.done", obj{"output_index": len(s.items), "item": item})
	s.items = append(s.items, item)
}

func (s *responseStream) think() {
	if s.step.Think == "" {
		return
	}
	item := obj{"type": "reasoning", "id": s.model.id("rs_"), "summary": []any{}}
	where := obj{"item_id": item["id"], "output_index": 0, "summary_index": 0}
	s.send("response.output_item.added", obj{"output_index": 0, "item": item})
	s.send("response.reasoning_summary_part.added", with(where, obj{"part": obj{"type": "summary_text", "text": ""}}))
	s.pieces(s.step.Think, func(c string) { s.send("response.reasoning_summary_text.delta", with(where, obj{"delta": c})) })
	s.done(with(item, obj{"summary": []any{obj{"type": "summary_text", "text": s.step.Think}}}))
}

func (s *responseStream) text() {
	if s.step.Text == "" {
		return
	}
	id := s.model.id("msg_")
	where := obj{"item_id": id, "output_index": len(s.items), "content_index": 0}
	message := obj{"type": "message", "id": id, "role": "assistant"}
	s.send("response.output_item.added", obj{
		"output_index": len(s.items), "item": with(message, obj{"status": "in_progress", "content": []any{}}),
	})
	s.send("response.content_part.added", with(where, obj{"part": obj{"type": "output_text", "text": ""}}))
	s.say(s.step.Text, func(c string) { s.send("response.output_text.delta", with(where, obj{"delta": c})) })
	s.send("response.output_text.done", with(where, obj{"text": s.step.Text}))
	s.done(with(message, obj{
		"status":  "completed",
		"content": []any{obj{"type": "output_text", "text": s.step.Text, "annotations": []any{}}},
	}))
}

// with is a copy of an object with more fields.
func with(o, more obj) obj {
	out := obj{}
	maps.Copy(out, o)
	maps.Copy(out, more)
	return out
}

func responsesTexts(body obj) []turnText {
	if s, ok := body["input"].(string); ok {
		return []turnText{{"user", s}}
	}
	var out []turnText
	for _, item := range list(body["input"]) {
		kind := text(item["type"])
		if kind == "" {
			kind = "message"
		}
		switch {
		case kind == "message" && item["role"] == "user":
			out = append(out, turnText{"user", flat(item["content"])})
		case strings.HasSuffix(kind, "_output"):
			out = append(out, turnText{"tool", flat(item["output"])})
		case kind == "reasoning", kind == "function_call", kind == "custom_tool_call", kind == "message" && item["role"] == "assistant":
			if len(out) == 0 || out[len(out)-1].role != "assistant" {
				out = append(out, turnText{"assistant", ""})
			}
		}
	}
	return out
}

// chat speaks OpenAI Chat Completions.
func (m *Model) chat(w http.ResponseWriter, r *http.Request, body obj) {
	var offered []string
	for _, t := range list(body["tools"]) {
		if f, ok := t["function"].(obj); ok {
			offered = append(offered, text(f["name"]))
		}
	}
	auxiliary := ""
	if len(offered) == 0 {
		auxiliary = "Mock session title"
	}
	p := m.begin(w, r, chatTexts(body), offered, auxiliary)
	defer p.done()
	if p.step.Error != "" {
		sendJSON(w, 529, obj{"error": obj{"type": "server_error", "message": "mock " + p.step.Error}})
		return
	}
	var calls []any
	for i, c := range m.calls(p.step, offered) {
		calls = append(calls, obj{
			"index": i, "id": m.id("call_"), "type": "function", "function": obj{"name": c.name, "arguments": c.json()},
		})
	}
	finish := "stop"
	if len(calls) > 0 {
		finish = "tool_calls"
	}
	usage := obj{"prompt_tokens": 1200, "completion_tokens": 200, "total_tokens": 1400}
	base := obj{"id": m.id("chatcmpl-"), "created": time.Now().Unix(), "model": body["model"]}
	if body["stream"] != true {
		message := obj{"role": "assistant", "content": p.step.Text}
		if len(calls) > 0 {
			message["tool_calls"] = calls
		}
		p.whole(with(base, obj{
			"object": "chat.completion", "usage": usage,
			"choices": []any{obj{"index": 0, "finish_reason": finish, "message": message}},
		}))
		return
	}
	p.stream()
	base["object"] = "chat.completion.chunk"
	delta := func(d obj, reason any) {
		p.event("", with(base, obj{"choices": []any{obj{"index": 0, "delta": d, "finish_reason": reason}}}))
	}
	delta(obj{"role": "assistant", "content": ""}, nil)
	p.pieces(p.step.Think, func(c string) { delta(obj{"reasoning_content": c}, nil) })
	p.say(p.step.Text, func(c string) { delta(obj{"content": c}, nil) })
	for _, c := range calls {
		delta(obj{"tool_calls": []any{c}}, nil)
	}
	delta(obj{}, finish)
	p.event("", with(base, obj{"choices": []any{}, "usage": usage}))
	p.event("", "[DONE]")
}

func chatTexts(body obj) []turnText {
	var out []turnText
	for _, msg := range list(body["messages"]) {
		switch role := text(msg["role"]); role {
		case "system", "developer":
		case "assistant":
			out = append(out, turnText{role, ""})
		case "tool":
			out = append(out, turnText{role, flat(msg["content"])})
		default:
			out = append(out, turnText{"user", flat(msg["content"])})
		}
	}
	return out
}
