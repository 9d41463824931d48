package agentlab

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// codexAgents is what Codex offers its tools for sub-agents as.
const codexAgents = "multi_agent_v1"

// codexMCP is what Codex offers the tools of the MCP server as.
const codexMCP = "mcp__" + mcpServer

// call is a tool call as a program's own tool takes it.
type call struct {
	name string
	args obj
	tool string // of the MCP server, where the name is that of all of its tools
}

// maker makes the arguments of a program's tool from those of the scenario.
type maker func(m *Model, a obj) obj

// offer is a program's own tool, and how its arguments are made.
type offer struct {
	name string
	make maker
}

// offers are the tools that can do what a scenario asks for; the first that a
// program offers is called.
var offers = map[string][]offer{ //nolint:gochecknoglobals // a constant table
	"shell": {
		{"Bash", described},
		{"exec_command", func(_ *Model, a obj) obj { return escalated(a, obj{"cmd": a["command"]}) }},
		{"run_shell_command", func(m *Model, a obj) obj {
			out := described(m, a)
			out["is_background"] = false
			return out
		}},
		{"bash", described},
	},
	"write": {
		{"Write", func(m *Model, a obj) obj { return obj{"file_path": m.absolute(a), "content": a["content"]} }},
		{"write_file", func(m *Model, a obj) obj { return obj{"file_path": m.absolute(a), "content": a["content"]} }},
		{"exec_command", func(_ *Model, a obj) obj { return obj{"cmd": patch(a)} }},
		{"write", func(m *Model, a obj) obj {
			return obj{"filePath": m.absolute(a), "path": m.absolute(a), "content": a["content"]}
		}},
	},
	"read": {
		{"Read", func(m *Model, a obj) obj { return obj{"file_path": m.absolute(a)} }},
		{"read_file", func(m *Model, a obj) obj { return obj{"file_path": m.absolute(a)} }},
		{"exec_command", func(_ *Model, a obj) obj { return obj{"cmd": "cat " + text(a["path"])} }},
		{"read", func(m *Model, a obj) obj { return obj{"filePath": m.absolute(a)} }},
	},
	"edit": {
		{"Edit", func(m *Model, a obj) obj {
			return obj{"file_path": m.absolute(a), "old_string": a["old"], "new_string": a["new"]}
		}},
		{"replace", func(m *Model, a obj) obj {
			return obj{"file_path": m.absolute(a), "old_string": a["old"], "new_string": a["new"], "instruction": "Change it"}
		}},
		{"edit", func(m *Model, a obj) obj {
			return obj{ // opencode's, and Qwen Code's
				"filePath": m.absolute(a), "oldString": a["old"], "newString": a["new"],
				"file_path": m.absolute(a), "old_string": a["old"], "new_string": a["new"],
			}
		}},
		{"exec_command", func(_ *Model, a obj) obj { return obj{"cmd": patchOf(a)} }},
	},
	"fetch": {
		{"WebFetch", func(_ *Model, a obj) obj { return obj{"url": a["url"], "prompt": a["prompt"]} }},
		{"webfetch", func(_ *Model, a obj) obj { return obj{"url": a["url"], "format": "text"} }},
		{"web_fetch", func(_ *Model, a obj) obj { // Qwen Code has both apart, Gemini CLI doesn't
			return obj{"url": a["url"], "prompt": text(a["prompt"]) + " at " + text(a["url"])}
		}},
	},
	"task": {
		{"task", same},
		{"agent", generalPurpose},
	},
	"put":  mcpOffers(mcpTool),
	"tool": mcpOffers(mcpAny),
	"plan": {
		{"ExitPlanMode", same},
		{"exit_plan_mode", same},
	},
	"agent": {
		{"Agent", same},
		{"Task", same},
		{"task", general},
		{"agent", same},
		{codexAgents, func(_ *Model, a obj) obj { return obj{"message": a["prompt"]} }},
		{"invoke_agent", func(_ *Model, a obj) obj { return obj{"agent_name": "generalist", "prompt": a["prompt"]} }},
	},
	"ask": {
		{"AskUserQuestion", same},
		{"question", multiple},
		{"ask_user", typed},
		{"ask_user_question", same},
		{"request_user_input", named},
	},
}

// call finds the tool for what a scenario asks for.
func (m *Model) call(t Tool, offered []string) call {
	var a obj
	_ = json.Unmarshal(t.Args, &a)
	table := offers[t.Kind]
	for _, o := range table {
		if slices.Contains(offered, o.name) {
			return call{name: o.name, args: o.make(m, a), tool: mcpToolOf(t.Kind)}
		}
	}
	if t.Kind == "ask" && slices.Contains(offered, "run_shell_command") { // Qwen Code has it without offering it
		return call{name: "ask_user_question", args: a}
	}
	if t.Kind == "fetch" && slices.Contains(offered, "tool_search") { // the same
		return call{name: "web_fetch", args: a}
	}
	if tool := mcpToolOf(t.Kind); tool != "" && slices.Contains(offered, "tool_search") { // the same
		return call{name: mcpNames(tool)[0], args: a}
	}
	return call{name: table[0].name, args: table[0].make(m, a)}
}

func (m *Model) calls(s Step, offered []string) []call {
	var out []call
	for _, t := range s.Tools {
		out = append(out, m.call(t, offered))
	}
	return out
}

func (c call) json() string {
	b, _ := json.Marshal(c.args)
	return string(b)
}

func same(_ *Model, a obj) obj { return a }

// general asks for the sub-agent that opencode has for everything.
func general(_ *Model, a obj) obj {
	out := maps.Clone(a)
	out["subagent_type"] = "general"
	delete(out, "run_in_background")
	return out
}

// generalPurpose asks for the one that Qwen Code has for everything.
func generalPurpose(_ *Model, a obj) obj {
	out := maps.Clone(a)
	out["subagent_type"] = "general-purpose"
	out["run_in_background"] = false
	return out
}

func described(_ *Model, a obj) obj {
	out := obj{"command": a["command"], "description": "Run a command"}
	if d, ok := a["description"]; ok {
		out["description"] = d
	}
	return out
}

// escalated adds what makes Codex ask.
func escalated(a, out obj) obj {
	if a["escalate"] == true {
		out["sandbox_permissions"], out["justification"] = "require_escalated", a["description"]
	}
	return out
}

func (m *Model) absolute(a obj) string {
	path, _ := a["path"].(string)
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(m.cwd, path)
}

// patch writes a file the way Codex does.
func patch(a obj) string {
	content, _ := a["content"].(string)
	path, _ := a["path"].(string)
	lines := strings.Split(strings.TrimRight(content, "\n"), "\n")
	return "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + filepath.Base(path) + "\n+" + strings.Join(lines, "\n+") + "\n*** End Patch\nEOF"
}

// patchOf changes a file the way Codex does.
func patchOf(a obj) string {
	lead := func(sign, rows string) string { return sign + strings.ReplaceAll(rows, "\n", "\n"+sign) }
	return "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: " + text(a["path"]) + "\n@@\n" + lead("-", text(a["old"])) + "\n" + lead("+", text(a["new"])) + "\n*** End Patch\nEOF"
}

// questions are those of an "ask" tool, changed one by one.
func questions(a obj, change func(q obj) obj) obj {
	list, _ := a["questions"].([]any)
	var out []any
	for _, q := range list {
		if q, ok := q.(obj); ok {
			out = append(out, change(q))
		}
	}
	return obj{"questions": out}
}

func multiple(_ *Model, a obj) obj {
	return questions(a, func(q obj) obj {
		out := obj{"multiple": q["multiSelect"]}
		maps.Copy(out, q)
		return out
	})
}

func typed(_ *Model, a obj) obj {
	return questions(a, func(q obj) obj {
		out := obj{"type": "choice"}
		maps.Copy(out, q)
		return out
	})
}

var notWord = regexp.MustCompile(`\W+`)

func named(_ *Model, a obj) obj {
	return questions(a, func(q obj) obj {
		header, _ := q["header"].(string)
		return obj{
			"id": notWord.ReplaceAllString(strings.ToLower(header), "_"), "header": header,
			"question": q["question"], "options": q["options"],
		}
	})
}

// flat is the text of a message's content: a string, or parts of which some are
// text.
func flat(content any) string {
	switch c := content.(type) {
	case string:
		return c
	case []any:
		var parts []string
		for _, p := range c {
			parts = append(parts, flat(p))
		}
		return strings.Join(parts, "\n")
	case obj:
		switch c["type"] {
		case "text", "input_text", "output_text", nil:
			s, _ := c["text"].(string)
			return s
		}
	}
	return ""
}

// list are the objects of a list.
func list(v any) []obj {
	items, _ := v.([]any)
	var out []obj
	for _, i := range items {
		if o, ok := i.(obj); ok {
			out = append(out, o)
		}
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}
