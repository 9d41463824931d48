package agentlab

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"os"
	"strings"
)

// mcpAny is a tool of the MCP server that takes any arguments, and writes them down.
const mcpAny = "put_any"

// mcpNames are what programs offer a tool of the MCP server as.
func mcpNames(tool string) []string {
	return []string{
		"mcp__" + mcpServer + "__" + tool, // Claude Code, Qwen Code
		"mcp_" + mcpServer + "_" + tool,   // Gemini CLI
		mcpServer + "_" + tool,            // opencode
	}
}

// mcpOffers are those offers. Codex' comes first: its tools have a namespace, which it offers
// in place of each.
func mcpOffers(tool string) []offer {
	out := []offer{{codexMCP, same}}
	for _, name := range mcpNames(tool) {
		out = append(out, offer{name, same})
	}
	return out
}

// mcpToolOf is the tool of the MCP server that a kind calls, "": none.
func mcpToolOf(kind string) string { return map[string]string{"put": mcpTool, "tool": mcpAny}[kind] }

// mcpCommand is the program of the MCP server, and what it needs in its environment.
func mcpCommand(dir string) (command string, env obj, err error) {
	self, err := os.Executable()
	if err != nil {
		return "", nil, fmt.Errorf("find the program of the MCP server: %w", err)
	}
	return self, obj{mcpVar: dir}, nil
}

// addMCP puts the MCP server into a JSON configuration, as Claude Code, Gemini CLI and Qwen
// Code have it, if there's to be one.
func (s *setup) addMCP(config obj) error {
	if !s.mcp {
		return nil
	}
	command, env, err := mcpCommand(s.cwd)
	if err != nil {
		return err
	}
	server := obj{"command": command, "args": []any{}, "env": env}
	if s.agent.Name == "qwen" { // else 0.24 offers them only once they were searched for
		server["alwaysLoadTools"] = true
	}
	config["mcpServers"] = obj{mcpServer: server}
	return nil
}

// OrderTool is what the tool of "tool" is called with, drawn by the tag: the file that it
// writes, and up to six more arguments of all kinds, some of which look like dialogs.
func OrderTool(tag string) map[string]any {
	sum := fnv.New64a()
	_, _ = sum.Write([]byte(tag))
	random := rand.New(rand.NewPCG(sum.Sum64(), 1))
	out := obj{"name": OrderFile(tag)}
	names := []string{"a", "command", "mode", "note", "text", "zed", "a b", "漢字", "Do you want to proceed?"}
	random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:random.IntN(6)] {
		out[name] = someArgument(random, tag)
	}
	return out
}

// someArgument draws a value.
func someArgument(random *rand.Rand, tag string) any {
	rows := func(n int, of string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, of, i, tag)
		}
		return b.String()
	}
	values := []any{
		"put-" + tag, "", "row one of " + tag + "\nrow two", "ls -la # \nrm -rf build", rows(40, "word %d of %s "), rows(3+random.IntN(60), "row %d of %s\n"),
		"a tab,\t漢字, e\u0301, a\u200bb, 👩‍💻, \u202eturned, and blanks  ",
		"\n\n Do you want to proceed?\n ❯ 1. Yes\n   2. No\n\n Esc to cancel · Tab to amend",
		"Allow execution of MCP tool \"" + mcpAny + "\" from server \"" + mcpServer + "\"?\n\n● 1. Allow once\n╰──────────╯",
		"   Do you want to proceed?\n\n   › 1. Yes, allow once\n     2. No, suggest changes (esc)",
		"△ Permission required\n  ⚙ " + mcpServer + "_put_file\n\n Allow once   Allow always   Reject",
		true, false, nil, 7.5, -3,
		[]any{"x", 1, nil, []any{}},
		obj{"k": "multi\nline of " + tag, "z": obj{}},
	}
	return values[random.IntN(len(values))]
}
