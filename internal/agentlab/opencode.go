package agentlab

import (
	"fmt"
	"os"
	"path/filepath"
)

// plugin hands those of opencode's events that tell of turns and dialogs on to the hook
// command, one after the other: with all of them, it would be seconds late.
const plugin = `import { spawn } from "child_process"
const command = process.env.AGENTLAB_HOOK
let last = Promise.resolve()
const call = (event, data) => { last = last.then(() => new Promise((done) => {
  const p = spawn("/bin/sh", ["-c", command + ' "$1"', "sh", event], { stdio: ["pipe", "ignore", "ignore"] })
  p.on("error", done); p.on("exit", done); p.stdin.on("error", () => {})
  p.stdin.end(JSON.stringify(data ?? null))
})) }
const wanted = /^(session\.(created|idle|error)|question\.|permission\.)/
export const Hooks = async ({ directory }) => { call("plugin.init", { directory }); return {
  event: async ({ event }) => { if (wanted.test(event.type)) call(event.type, event.properties) },
  "tool.execute.before": async (input, output) => call("tool.execute.before", { input, output }),
  "tool.execute.after": async (input) => call("tool.execute.after", { input }),
  "chat.message": async (input) => call("chat.message", { input }),
}}
`

func setupOpenCode(s *setup) error {
	config := s.home + "/.config/opencode"
	settings := obj{
		"$schema": "https://opencode.ai/config.json", "autoupdate": false, "share": "disabled",
		"model": "mock/mock-model", "small_model": "mock/mock-model",
		"provider": obj{"mock": obj{
			"npm": "@ai-sdk/openai-compatible", "name": "Mock",
			"options": obj{"baseURL": s.url + "/v1", "apiKey": "sk-test"},
			"models":  obj{"mock-model": obj{"name": "Mock Model", "limit": obj{"context": 128000, "output": 8000}}},
		}},
		"permission": obj{"bash": "ask", "edit": "ask", "webfetch": "ask"},
	}
	if s.mcp {
		command, env, err := mcpCommand(s.cwd)
		if err != nil {
			return err
		}
		settings["permission"].(obj)[mcpServer+"_*"] = "ask" //nolint:forcetypeassert // made above
		settings["mcp"] = obj{mcpServer: obj{"type": "local", "command": []any{command}, "environment": env, "enabled": true}}
	}
	if err := writeJSON(config+"/opencode.json", settings); err != nil {
		return err
	}
	if s.hook != "" {
		if err := writeFile(config+"/plugin/agentlab.js", plugin); err != nil {
			return err
		}
	}
	// At its first start it installs @opencode-ai/plugin here and shows a blank screen
	// until that's done, for ever without a network. So the installed package is put
	// there.
	pkg, version := split(s.agent.Extra[0])
	if err := writeJSON(config+"/package.json", obj{"dependencies": obj{pkg: version}}); err != nil {
		return err
	}
	from := place(s.packages, s.agent.Extra[0])
	if err := os.CopyFS(config+"/node_modules", os.DirFS(filepath.Join(from, "node_modules"))); err != nil {
		return fmt.Errorf("set up opencode: %w", err)
	}
	lock, err := os.ReadFile(filepath.Join(from, "package-lock.json"))
	if err != nil {
		return fmt.Errorf("set up opencode: %w", err)
	}
	if err := writeFile(config+"/package-lock.json", string(lock)); err != nil {
		return err
	}
	s.argv = []string{"opencode"}
	s.set(
		"AGENTLAB_HOOK="+s.hook, "npm_config_fetch_retries=0", "npm_config_offline=true", "OPENCODE_DISABLE_AUTOUPDATE=1",
		"OPENCODE_DISABLE_MODELS_FETCH=1", "OPENCODE_DISABLE_LSP_DOWNLOAD=1", "OPENCODE_DISABLE_SHARE=1",
	)
	return nil
}
