package agentlab

import (
	"encoding/json"
	"net/http"
	"strings"
)

// gemini speaks Gemini's generateContent and streamGenerateContent.
func (m *Model) gemini(w http.ResponseWriter, r *http.Request, body obj) {
	var offered []string
	for _, t := range list(body["tools"]) {
		for _, f := range list(t["functionDeclarations"]) {
			offered = append(offered, text(f["name"]))
		}
	}
	p := m.begin(w, r, geminiTexts(body), offered, geminiTitle(body, offered))
	defer p.done()
	if p.step.Error != "" {
		sendJSON(w, http.StatusServiceUnavailable, obj{"error": obj{"code": 503, "message": "mock " + p.step.Error, "status": "UNAVAILABLE"}})
		return
	}
	var calls []any
	for _, c := range m.calls(p.step, offered) {
		calls = append(calls, obj{"functionCall": obj{"name": c.name, "args": c.args}})
	}
	reply := func(parts []any, finish string) obj {
		candidate := obj{"index": 0, "content": obj{"role": "model", "parts": parts}}
		if finish != "" {
			candidate["finishReason"] = finish
		}
		return obj{
			"candidates": []any{candidate}, "modelVersion": "mock", "responseId": "mock",
			"usageMetadata": obj{"promptTokenCount": 1200, "candidatesTokenCount": 200, "totalTokenCount": 1400},
		}
	}
	if !strings.Contains(r.URL.Path, ":stream") {
		parts := calls
		if p.step.Text != "" {
			parts = append([]any{obj{"text": p.step.Text}}, calls...)
		}
		p.whole(reply(parts, "STOP"))
		return
	}
	p.stream()
	if p.step.Think != "" {
		p.event("", reply([]any{obj{"text": p.step.Think, "thought": true}}, ""))
		p.pause(nil, 0.3)
	}
	p.say(p.step.Text, func(c string) { p.event("", reply([]any{obj{"text": c}}, "")) })
	if len(calls) > 0 {
		p.event("", reply(calls, ""))
		p.event("", reply([]any{}, "STOP"))
		return
	}
	p.event("", reply([]any{obj{"text": ""}}, "STOP"))
}

// geminiTitle answers requests that want an object of a schema, or have no
// tools.
func geminiTitle(body obj, offered []string) string {
	config, _ := body["generationConfig"].(obj)
	for _, key := range []string{"responseSchema", "responseJsonSchema"} {
		if schema, ok := config[key].(obj); ok {
			b, _ := json.Marshal(example(schema))
			return string(b)
		}
	}
	if len(offered) == 0 {
		return "Mock session title"
	}
	return ""
}

// example is the smallest value of a JSON schema.
func example(schema obj) any {
	if enum, ok := schema["enum"].([]any); ok && len(enum) > 0 {
		return enum[0]
	}
	switch strings.ToLower(text(schema["type"])) {
	case "object":
		out := obj{}
		properties, _ := schema["properties"].(obj)
		for k, v := range properties {
			if s, ok := v.(obj); ok {
				out[k] = example(s)
			}
		}
		return out
	case "array":
		return []any{}
	case "number", "integer":
		return 1
	case "boolean":
		return false
	}
	return "mock"
}

func geminiTexts(body obj) []turnText {
	var out []turnText
	for _, c := range list(body["contents"]) {
		if c["role"] == "model" {
			out = append(out, turnText{"assistant", ""})
		} else {
			out = append(out, geminiPerson(list(c["parts"]))...)
		}
	}
	return out
}

// geminiPerson are the results of tools and the text in a content that isn't the model's.
func geminiPerson(parts []obj) []turnText {
	var out []turnText
	var texts []string
	for _, p := range parts {
		if r, ok := p["functionResponse"].(obj); ok {
			b, _ := json.Marshal(r["response"])
			out = append(out, turnText{"tool", string(b)})
		} else if t := text(p["text"]); t != "" {
			texts = append(texts, t)
		}
	}
	if len(texts) > 0 || len(out) == 0 {
		out = append(out, turnText{"user", strings.Join(texts, "\n")})
	}
	return out
}
