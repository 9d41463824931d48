package agentlab

import (
	"net/http"
	"slices"
)

// anthropic speaks Anthropic Messages.
func (m *Model) anthropic(w http.ResponseWriter, r *http.Request, body obj) {
	var offered []string
	for _, t := range list(body["tools"]) {
		offered = append(offered, text(t["name"]))
	}
	auxiliary := ""
	if len(offered) == 0 {
		auxiliary = `{"isNewTopic": true, "title": "Mock session title"}`
	}
	p := m.begin(w, r, anthropicTexts(body), offered, auxiliary)
	defer p.done()
	if p.step.Error != "" {
		w.Header().Set("X-Should-Retry", "true")
		sendJSON(w, 529, obj{"type": "error", "error": obj{"type": "overloaded_error", "message": "mock " + p.step.Error}})
		return
	}
	calls := m.calls(p.step, offered)
	stop := "end_turn"
	if len(calls) > 0 {
		stop = "tool_use"
	}
	message := obj{
		"id": m.id("msg_"), "type": "message", "role": "assistant", "model": body["model"], "content": []any{},
		"stop_reason": nil, "stop_sequence": nil,
		"usage": obj{"input_tokens": 1200, "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0, "output_tokens": 1},
	}
	if body["stream"] != true {
		content := []any{}
		if p.step.Text != "" {
			content = append(content, obj{"type": "text", "text": p.step.Text})
		}
		for _, c := range calls {
			content = append(content, obj{"type": "tool_use", "id": m.id("toolu_"), "name": c.name, "input": c.args})
		}
		message["content"], message["stop_reason"] = content, stop
		p.whole(message)
		return
	}
	p.stream()
	p.event("message_start", obj{"type": "message_start", "message": message})
	p.anthropicBlocks(body, calls)
	p.event("message_delta", obj{
		"type": "message_delta", "delta": obj{"stop_reason": stop, "stop_sequence": nil},
		"usage": obj{"output_tokens": len(p.step.Text)/4 + 20},
	})
	p.event("message_stop", obj{"type": "message_stop"})
}

// anthropicBlocks sends thinking, text and tool calls.
func (p *reply) anthropicBlocks(body obj, calls []call) {
	index := 0
	block := func(start obj, fill func(delta func(obj))) {
		p.event("content_block_start", obj{"type": "content_block_start", "index": index, "content_block": start})
		fill(func(d obj) {
			p.event("content_block_delta", obj{"type": "content_block_delta", "index": index, "delta": d})
		})
		p.event("content_block_stop", obj{"type": "content_block_stop", "index": index})
		index++
	}
	thinking, _ := body["thinking"].(obj)
	if p.step.Think != "" && slices.Contains([]string{"enabled", "adaptive"}, text(thinking["type"])) {
		block(obj{"type": "thinking", "thinking": "", "signature": ""}, func(delta func(obj)) {
			p.pieces(p.step.Think, func(c string) { delta(obj{"type": "thinking_delta", "thinking": c}) })
			delta(obj{"type": "signature_delta", "signature": "bW9jaw=="})
		})
	}
	if p.step.Text != "" {
		block(obj{"type": "text", "text": ""}, func(delta func(obj)) {
			p.say(p.step.Text, func(c string) { delta(obj{"type": "text_delta", "text": c}) })
		})
	}
	for _, c := range calls {
		block(obj{"type": "tool_use", "id": p.model.id("toolu_"), "name": c.name, "input": obj{}}, func(delta func(obj)) {
			for piece := range slices.Chunk([]rune(c.json()), 20) {
				delta(obj{"type": "input_json_delta", "partial_json": string(piece)})
				p.pause(nil, 0.02)
			}
		})
	}
}

func anthropicTexts(body obj) []turnText {
	var out []turnText
	for _, msg := range list(body["messages"]) {
		if msg["role"] == "assistant" {
			out = append(out, turnText{"assistant", ""})
			continue
		}
		for _, c := range list(msg["content"]) {
			if c["type"] == "tool_result" {
				out = append(out, turnText{"tool", flat(c["content"])})
			}
		}
		if t := flat(msg["content"]); t != "" {
			out = append(out, turnText{"user", t})
		}
	}
	return out
}
