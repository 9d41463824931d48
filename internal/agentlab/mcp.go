package agentlab

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// mcpVar makes a test binary an MCP server on its standard input and output; its value is
// the folder in which it writes.
const mcpVar = "PANEBRIDGE_AGENTLAB_MCP"

// The MCP server of runs, and its tool.
const (
	mcpServer = "lab"
	mcpTool   = "put_file"
)

// serveMCP has two tools, which write a file in a folder, and say that they do.
func serveMCP(in io.Reader, out io.Writer, dir string) error {
	rows := bufio.NewReader(in)
	for {
		line, err := rows.ReadBytes('\n')
		if err != nil {
			return nil //nolint:nilerr // its client has ended
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string          `json:"protocolVersion"`
				Name      string          `json:"name"`
				Arguments json.RawMessage `json:"arguments"`
			} `json:"params"`
		}
		if json.Unmarshal(line, &m) != nil || len(m.ID) == 0 {
			continue
		}
		result := obj{}
		switch m.Method {
		case "initialize":
			result = obj{"protocolVersion": m.Params.Version, "capabilities": obj{"tools": obj{}}, "serverInfo": obj{"name": mcpServer, "version": "1"}}
		case "tools/list":
			hints := obj{"readOnlyHint": false, "destructiveHint": true}
			result = obj{"tools": []any{
				obj{
					"name": mcpTool, "description": "Puts a text into a file.", "annotations": hints,
					"inputSchema": obj{"type": "object", "properties": obj{"name": obj{"type": "string"}, "text": obj{"type": "string"}}},
				},
				obj{
					"name": mcpAny, "description": "Puts all that it's given into a file.", "annotations": hints,
					"inputSchema": obj{"type": "object", "properties": obj{"name": obj{"type": "string"}}, "additionalProperties": true},
				},
			}}
		case "tools/call":
			name, err := putFile(dir, m.Params.Name, m.Params.Arguments)
			if err != nil {
				return err
			}
			result = obj{"content": []any{obj{"type": "text", "text": "put " + name}}}
		}
		answer, err := json.Marshal(obj{"jsonrpc": "2.0", "id": m.ID, "result": result})
		if err != nil {
			return fmt.Errorf("answer a call: %w", err)
		}
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return fmt.Errorf("answer a call: %w", err)
		}
	}
}

// putFile is a call of a tool: it writes the text that it was given, or all of it.
func putFile(dir, tool string, args json.RawMessage) (name string, err error) {
	var a struct {
		Name string `json:"name"`
		Text string `json:"text"`
	}
	text := []byte(args)
	if err := json.Unmarshal(args, &a); err != nil && tool != mcpAny {
		return "", fmt.Errorf("read a call: %w", err)
	}
	if tool != mcpAny {
		text = []byte(a.Text)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.Base(a.Name)), text, 0o600); err != nil { //nolint:gosec // into a test's folder
		return "", fmt.Errorf("write a file: %w", err)
	}
	return a.Name, nil
}
