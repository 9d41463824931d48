package agent

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions/transcript"
)

// paramForm says how a dialog draws what a tool is called with: a part of that, unless it's said
// to be drawn whole. So only the agent's record has all of it.
type paramForm struct {
	As    paramsAs `yaml:"as"`
	Whole bool     `yaml:"whole"`
	Most  int      `yaml:"most"` // parameters, the first of them
	Cut   string   `yaml:"cut"`  // the end of what's too long
}

// toolCall is a call of a tool of an MCP server.
type toolCall struct {
	// As Codex draws it: what its dialog says, squeezed, and the parameters.
	asks   string
	params []toolParam
	// As other agents draw it: the tool as hooks call it, and what it's called with, also as JSON
	// in letters.
	tool  string
	named []param
	json  string
}

// toolParam is a parameter, as it's drawn: squeezed.
type toolParam struct {
	name, value string
	long        bool // it may be cut
}

// leastCut is how many characters a value has that's cut: Codex 0.169.0 draws 57 of those
// that have more than 60.
const leastCut = 57

// mostCut is how many bytes of a cut value are compared with what's drawn.
const mostCut = 4 * leastCut

// mcpTools is how the names of tools of MCP servers begin, as hooks call them:
// mcp__SERVER__TOOL.
const mcpTools = "mcp__"

// toolCallOf is what Codex' hook tells of a call of such a tool, nil: it's none; and all that
// it's called with as people read it.
func toolCallOf(h Hook) (c *toolCall, said string) {
	name, ok := strings.CutPrefix(h.Tool, mcpTools)
	var params map[string]json.RawMessage
	if !ok || h.Agent != string(transcript.Codex) || json.Unmarshal(h.Input, &params) != nil {
		return nil, ""
	}
	server, tool, _ := strings.Cut(name, "__")
	names := slices.Sorted(maps.Keys(params))
	c = &toolCall{asks: squeezed(`Allow the ` + server + ` MCP server to run tool "` + tool + `"?`)}
	var named []param
	for _, name := range names {
		c.params = append(c.params, newToolParam(name, params[name]))
		named = append(named, param{name, params[name]})
	}
	return c, calledWith(h.Tool, named)
}

// newToolParam is a parameter as Codex draws it by a name.
func newToolParam(name string, v json.RawMessage) toolParam {
	value := paramText(v)
	return toolParam{squeezed(name), squeezed(value), utf8.RuneCountInString(value) > leastCut}
}

// calledWith is a call as people read it: the tool, and what it's called with.
func calledWith(tool string, params []param) string {
	rows := []string{"tool: " + tool}
	for _, p := range params {
		rows = append(rows, paramRows(p.name, paramText(p.value))...)
	}
	return strings.Join(rows, "\n")
}

// paramText is a value as people read it, and as Codex draws it: a text without quotes.
func paramText(v json.RawMessage) string {
	var text string
	if json.Unmarshal(v, &text) == nil && len(v) > 0 && v[0] == '"' {
		return text
	}
	return string(v)
}

// paramRows are a parameter's rows: those of its value but the first are indented, so that
// none looks like another parameter.
func paramRows(name, text string) []string {
	return strings.Split(quotedName(name)+": "+strings.ReplaceAll(text, "\n", "\n    "), "\n")
}

// quotedName is a name as it is, or quoted where it could be taken for something else.
func quotedName(name string) string {
	if quoted, err := json.Marshal(name); err == nil && (name == "" || printable(name) != name || strings.ContainsAny(name, ":\n")) {
		return string(quoted)
	}
	return name
}

// isDrawn reports whether a dialog that says this is about the call: it says what's asked, and
// then the first parameters, and nothing else.
func (c *toolCall) isDrawn(f *paramForm, said string) bool {
	rest, ok := strings.CutPrefix(said, c.asks)
	return ok && drawsParams(f, rest, c.params, f.Most)
}

// drawsParams reports whether a text is all of so many parameters. One without a name isn't
// drawn, and may count or not. How long it takes is bounded, whatever a server of tools calls
// its parameters.
func drawsParams(f *paramForm, text string, params []toolParam, most int) bool {
	unnamed := 0
	for unnamed < len(params) && params[unnamed].name == "" {
		unnamed++
	}
	for counts := 0; unnamed > 0 && counts <= min(unnamed, most); counts++ {
		if drawsParams(f, text, params[unnamed:], most-counts) {
			return true
		}
	}
	if len(params) == 0 || most == 0 {
		return text == ""
	}
	if unnamed > 0 {
		return false
	}
	p, others := params[0], params[1:]
	text, ok := strings.CutPrefix(text, p.name+":")
	if !ok {
		return false
	}
	if rest, ok := strings.CutPrefix(text, p.value); ok && drawsParams(f, rest, others, most-1) {
		return true
	}
	for n := 0; p.long && n < min(len(text), len(p.value), mostCut) && text[n] == p.value[n]; n++ {
		if rest, ok := strings.CutPrefix(text[n+1:], f.Cut); ok && drawsParams(f, rest, others, most-1) {
			return true
		}
	}
	return false
}

// elicitationRequest reads the question whether a tool of an MCP server may be called. A
// server of those can ask the same of itself: who says yes to that has told it so, and
// nothing else.
func elicitationRequest(params json.RawMessage) (h Hook, answer func(Told) any) {
	var r struct {
		Server  string `json:"serverName"`
		Mode    string `json:"mode"`
		Message string `json:"message"`
		Schema  struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"requestedSchema"`
		Meta struct {
			Kind   string          `json:"codex_approval_kind"`
			Tool   string          `json:"tool_name"`
			Params json.RawMessage `json:"tool_params"`
			Drawn  []struct {
				Name  string          `json:"name"`
				Title string          `json:"display_name"`
				Value json.RawMessage `json:"value"`
			} `json:"tool_params_display"`
		} `json:"_meta"`
	}
	var all map[string]json.RawMessage
	switch {
	case json.Unmarshal(params, &r) != nil, r.Mode != "form", r.Meta.Kind != "mcp_tool_call", r.Server == "", r.Meta.Tool == "", len(r.Schema.Properties) > 0:
		return h, nil
	case json.Unmarshal(r.Meta.Params, &all) != nil, all == nil, len(r.Meta.Drawn) != len(all):
		return h, nil
	}
	of := &toolCall{asks: squeezed(r.Message)}
	had := map[string]bool{}
	for _, p := range r.Meta.Drawn {
		if v, ok := all[p.Name]; !ok || had[p.Name] || string(v) != string(p.Value) { // it draws another call than it makes
			return h, nil
		}
		had[p.Name] = true
		of.params = append(of.params, newToolParam(p.Title, p.Value))
	}
	h = Hook{Tool: mcpTools + r.Server + "__" + r.Meta.Tool, Text: shorten(r.Message), Input: r.Meta.Params, Asks: of}
	return h, func(t Told) any {
		switch t.Decision {
		case Allow:
			return map[string]string{"action": "accept"}
		case Deny: // as the dialog's own "Cancel": the turn goes on
			return map[string]string{"action": "cancel"}
		case AllowAlways:
		}
		return nil
	}
}
