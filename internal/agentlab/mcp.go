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

// serveMCP has one tool, which writes a file in a folder, and says that it does.
func serveMCP(in io.Reader, out io.Writer, dir string) error {
	rows := bufio.NewReader(in)
	for {
		line, err := rows.ReadBytes('\n')
		if err != nil {
			return nil // its client has ended
		}
		var m struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version   string `json:"protocolVersion"`
				Arguments struct {
					Name string `json:"name"`
					Text string `json:"text"`
				} `json:"arguments"`
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
			result = obj{"tools": []any{obj{
				"name": mcpTool, "description": "Puts a text into a file.",
				"inputSchema": obj{"type": "object", "properties": obj{"name": obj{"type": "string"}, "text": obj{"type": "string"}}},
				"annotations": obj{"readOnlyHint": false, "destructiveHint": true},
			}}}
		case "tools/call":
			a := m.Params.Arguments
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(a.Name)), []byte(a.Text), 0o600); err != nil { //nolint:gosec // into a test's folder
				return fmt.Errorf("write a file: %w", err)
			}
			result = obj{"content": []any{obj{"type": "text", "text": "put " + a.Name}}}
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
