package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// What panebridge answers to a hook of opencode stands behind the result of a tool: that of the
// same conversation, once, and nothing where it says nothing, fails or is too slow.
func TestOpenCodeIsReminded(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("there's no node to run the plug-in with")
	}
	dir := t.TempDir()
	program := filepath.Join(dir, "panebridge")
	write := func(path, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	// Behind its first arguments it's given the event.
	write(program, `#!/bin/sh
read -r record
case "$3 $record" in
session.created*) text="listen" ;;
*tool.execute.after*one*) text="remind" ;;
*tool.execute.after*broken*) echo "{" ; exit 1 ;;
*tool.execute.after*slow*) echo $$ >"${0%/*}/slow"; exec sleep 600 ;;
*) exit 0 ;;
esac
echo "{\"hookSpecificOutput\":{\"hookEventName\":\"$3\",\"additionalContext\":\"$text\"}}"
`, 0o700)
	text, _, err := pluginFile{Install{Agent: "opencode", Program: program}}.install(nil)
	if err != nil {
		t.Fatal(err)
	}
	write(filepath.Join(dir, "plugin.mjs"), string(text), 0o600)
	patient := strings.NewReplacer("const patience = 1000", "const patience = 60000", "const hearing = 200", "const hearing = 60000").Replace(string(text))
	write(filepath.Join(dir, "patient.mjs"), patient, 0o600)
	write(filepath.Join(dir, "main.mjs"), `import { Panebridge } from "./plugin.mjs"
import { Panebridge as Patient } from "./patient.mjs" // however slow this machine is
let hooks = await Patient({ directory: "/", client: {} })
const tool = async (sessionID, result) => {
  const output = { output: result }
  await hooks["tool.execute.after"]({ tool: "bash", sessionID, callID: "c" }, output)
  console.log(JSON.stringify(output.output ?? null))
}
await hooks.event({ event: { type: "session.created", properties: { info: { id: "one" } } } })
await tool("one", "result")
await tool("two", "result")
await tool("broken", "result")
await tool("one", undefined)
await tool("one", "result")
hooks = await Panebridge({ directory: "/", client: {} })
await tool("slow", "result")
process.exit(0)
`, 0o600)
	defer func() {
		if text, err := os.ReadFile(filepath.Join(dir, "slow")); err == nil {
			pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
			if process, err := os.FindProcess(pid); err == nil && pid > 0 {
				_ = process.Kill()
			}
		}
	}()
	cmd := exec.CommandContext(t.Context(), node, "main.mjs")
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{`"result\n\nlisten\n\nremind"`, `"result"`, `"result"`, `null`, `"result\n\nremind\n\nremind"`, `"result"`}
	if got := strings.Split(strings.TrimSpace(string(out)), "\n"); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwanted\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}
