package agentlab

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Screen says how a program draws.
type Screen string

// The ways to draw.
const (
	Default Screen = ""       // as the program does by itself
	Inline  Screen = "inline" // on the normal screen, so that tmux keeps a history
	Alt     Screen = "alt"    // on the alternate screen
)

// Agent is how a program is installed, set up, started and recognised.
type Agent struct {
	Name    string
	Package string   // npm package with its version
	Extra   []string // more packages that must be installed beside it
	// Inline and Alt say in which ways it can draw.
	Inline, Alt bool
	Hooks       bool // the lab can have its hooks call a command
	// Ready is on the screen when it takes input, when nothing has changed for Settle.
	Ready   *regexp.Regexp
	Settle  time.Duration
	Timeout time.Duration
	// Permission is on the screen while a permission dialog is open; nil: it asks for
	// none.
	Permission               *regexp.Regexp
	Approve, Deny, Interrupt []string // keys of tmux
	// Transcript is a pattern of filepath.Glob below the home folder.
	Transcript string

	setup func(*setup) error
}

// setup is what an agent's configuration is made of.
type setup struct {
	home, cwd, url string
	hook           string // shell command to which the event's name is appended; "" none
	screen         Screen
	daemon, mcp    bool
	fresh          bool // it hasn't been told yet whether to trust its folder and key
	agent          *Agent
	packages       string // where packages are installed

	argv []string
	env  []string // KEY=value
}

func (s *setup) set(env ...string) { s.env = append(s.env, env...) }

// hooks are hooks of a JSON configuration, as Claude Code, Codex and Gemini CLI
// have them.
func (s *setup) hooks(events []string, matcher bool) obj {
	out := obj{}
	for _, e := range events {
		entry := obj{"hooks": []any{obj{"type": "command", "name": e, "command": s.hook + " " + e, "timeout": 120}}}
		if matcher {
			entry["matcher"] = "*"
			entry["hooks"] = []any{obj{"type": "command", "name": e, "command": s.hook + " " + e}}
		}
		out[e] = []any{entry}
	}
	return out
}

func writeJSON(path string, v any) error {
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return writeFile(path, string(b)+"\n")
}

func writeFile(path, text string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil { //nolint:gosec // into folders of our own
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// Agents are all agents by name: in the versions that are pinned here, or, where
// PANEBRIDGE_AGENTS is "latest", in those that InstallLatest has found.
func Agents() map[string]*Agent {
	out := pinned()
	if os.Getenv("PANEBRIDGE_AGENTS") == "latest" {
		useFound(out)
	}
	return out
}

// pinned are all agents. What's in here was found by running these versions.
func pinned() map[string]*Agent {
	escape := []string{"Escape"}
	out := map[string]*Agent{}
	for _, a := range []*Agent{
		{
			Name: "claude", Package: "@anthropic-ai/claude-code@2.1.329", Inline: true, Alt: true, Hooks: true,
			Ready: regexp.MustCompile(`for shortcuts|manual mode on`), Settle: 1500 * time.Millisecond,
			Permission: regexp.MustCompile(`Do you want`), Approve: []string{"Enter"},
			Transcript: ".claude/projects/*/*.jsonl", setup: setupClaude,
		},
		{
			Name: "codex", Package: "@openai/codex@0.169.0", Inline: true, Alt: true, Hooks: true,
			Ready: regexp.MustCompile(`Ask Codex|(?m)^› `), Settle: 2500 * time.Millisecond,
			Permission: regexp.MustCompile(`Would you like`), Approve: []string{"y"},
			Transcript: ".codex/sessions/*/*/*/rollout-*.jsonl", setup: setupCodex,
		},
		{
			Name: "gemini", Package: "@google/gemini-cli@0.61.0", Inline: true, Alt: true, Hooks: true,
			Ready: regexp.MustCompile(`Type your message`), Settle: 2500 * time.Millisecond,
			Permission: regexp.MustCompile(`Allow execution|Apply this change|Allow once`), Approve: []string{"Enter"},
			Transcript: ".gemini/tmp/*/chats/*.jsonl", setup: setupGemini,
		},
		{
			Name: "opencode", Package: "opencode-ai@1.18.33", Extra: []string{"@opencode-ai/plugin@1.18.33"}, Alt: true, Hooks: true,
			Ready: regexp.MustCompile(`Ask anything`), Settle: 2500 * time.Millisecond, Timeout: 3 * time.Minute,
			Permission: regexp.MustCompile(`Permission required`), Approve: []string{"Enter"}, Interrupt: []string{"Escape", "Escape"},
			Transcript: ".local/share/opencode/opencode.db", setup: setupOpenCode,
		},
		{
			Name: "qwen", Package: "@qwen-code/qwen-code@0.15.10", Inline: true, Hooks: true,
			Ready: regexp.MustCompile(`Type your message`), Settle: 3 * time.Second,
			Permission: regexp.MustCompile(`Allow execution|Apply this change`), Approve: []string{"Enter"},
			Transcript: ".qwen/projects/*/chats/*.jsonl", setup: setupQwen,
		},
		{
			Name: "pi", Package: "@mariozechner/pi-coding-agent@0.73.1", Inline: true,
			Ready: regexp.MustCompile(`(?m)mock-model\s*$`), Settle: 3 * time.Second,
			Transcript: ".pi/agent/sessions/*/*.jsonl", setup: setupPi,
		},
	} {
		a.Deny = escape
		if a.Interrupt == nil {
			a.Interrupt = escape
		}
		if a.Timeout == 0 {
			a.Timeout = 2 * time.Minute
		}
		out[a.Name] = a
	}
	return out
}

func setupClaude(s *setup) error {
	key := "sk-ant-test-" + strings.Repeat("0", 36)
	config := obj{
		// Without hasCompletedOnboarding it tries to reach its vendor, and ends.
		"hasCompletedOnboarding": true, "lastOnboardingVersion": "99.0.0", "theme": "dark", "numStartups": 5,
		"autoUpdates": false, "hasSeenAutoDefaultNudge": true,
		"customApiKeyResponses": obj{"approved": []string{key[len(key)-20:]}, "rejected": []string{}},
		"projects": obj{s.cwd: obj{
			"hasTrustDialogAccepted": true, "hasCompletedProjectOnboarding": true,
			"projectOnboardingSeenCount": 5, "allowedTools": []string{},
		}},
	}
	if s.fresh {
		delete(config, "projects")
		delete(config, "customApiKeyResponses")
	}
	if err := s.addMCP(config); err != nil {
		return err
	}
	if err := writeJSON(s.home+"/.claude.json", config); err != nil {
		return err
	}
	// Without defaultMode it starts in "auto mode", whose check is made by the
	// vendor's server.
	settings := obj{"permissions": obj{"defaultMode": "default"}}
	if s.hook != "" {
		settings["hooks"] = s.hooks([]string{
			"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PermissionRequest",
			"Notification", "Stop", "SubagentStop", "PreCompact",
		}, false)
	}
	s.argv = []string{"claude"}
	s.set(
		"ANTHROPIC_API_KEY="+key, "ANTHROPIC_BASE_URL="+s.url, "DISABLE_AUTOUPDATER=1", "DISABLE_TELEMETRY=1",
		"DISABLE_ERROR_REPORTING=1", "DISABLE_COST_WARNINGS=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "IS_SANDBOX=1",
	)
	if s.screen == Inline {
		s.set("CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN=1")
	}
	if s.mcp { // else its tools are offered only once they were searched for
		s.set("ENABLE_TOOL_SEARCH=false")
	}
	return writeJSON(s.home+"/.claude/settings.json", settings)
}

func setupCodex(s *setup) error {
	home := s.home + "/.codex"
	config := fmt.Sprintf(`model = "mock-model"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[model_providers.mock]
name = "mock"
base_url = "%s/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"

[analytics]
enabled = false

[features]
default_mode_request_user_input = true

[projects.%s]
trust_level = "trusted"
`, s.url, strconv.Quote(s.cwd))
	if s.hook != "" {
		err := writeJSON(home+"/hooks.json", obj{"hooks": s.hooks([]string{
			"SessionStart", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "Stop",
		}, false)})
		if err != nil {
			return err
		}
		// notify gives its JSON as the last argument; the command gets it on standard
		// input like all others.
		notify, err := json.Marshal([]string{"/bin/sh", "-c", `printf %s "$1" | ` + s.hook + " notify", "sh"})
		if err != nil {
			return fmt.Errorf("set up codex: %w", err)
		}
		config = "notify = " + string(notify) + "\n" + config
	}
	if s.mcp {
		self, _, err := mcpCommand(s.cwd)
		if err != nil {
			return err
		}
		config += fmt.Sprintf("\n[mcp_servers.%s]\ncommand = %q\nenv = { %s = %q }\n", mcpServer, self, mcpVar, s.cwd)
	}
	// --no-daemon: else two background processes and 400 MB stay behind, and notify
	// runs in their environment.
	s.argv = []string{"codex", "--no-daemon", "--dangerously-bypass-hook-trust"}
	if s.daemon {
		s.argv = []string{"codex"}
	}
	if s.screen == Inline {
		s.argv = append(s.argv, "--no-alt-screen")
	}
	s.set("CODEX_HOME="+home, "MOCK_API_KEY=sk-test")
	return writeFile(home+"/config.toml", config)
}

func setupGemini(s *setup) error {
	settings := obj{
		"security": obj{"auth": obj{"selectedType": "gemini-api-key"}, "folderTrust": obj{"enabled": s.fresh}},
		"general": obj{
			"disableAutoUpdate": true, "enableAutoUpdate": false, "disableUpdateNag": true,
			"previewFeatures": false, "checkpointing": obj{"enabled": false},
		},
		"privacy": obj{"usageStatisticsEnabled": false}, "telemetry": obj{"enabled": false},
		"ui":    obj{"hideTips": true, "useAlternateBuffer": s.screen == Alt},
		"model": obj{"name": "gemini-2.5-pro"}, "experimental": obj{"useModelRouter": false},
		"tools": obj{"enableHooks": true}, "hooksConfig": obj{"enabled": true},
	}
	if s.hook != "" {
		settings["hooks"] = s.hooks([]string{
			"SessionStart", "SessionEnd", "BeforeAgent", "AfterAgent", "BeforeTool", "AfterTool", "Notification",
		}, true)
	}
	if err := s.addMCP(settings); err != nil {
		return err
	}
	if !s.fresh {
		if err := writeJSON(s.home+"/.gemini/trustedFolders.json", obj{s.cwd: "TRUST_FOLDER"}); err != nil {
			return err
		}
	}
	s.argv = []string{"gemini"}
	s.set("GEMINI_API_KEY=test-key", "GOOGLE_GEMINI_BASE_URL="+s.url, "GEMINI_TELEMETRY_ENABLED=false")
	// Without NO_RELAUNCH a second node process stays behind; but when it's told to trust a folder, it
	// ends to be begun again by that.
	if !s.fresh {
		s.set("GEMINI_CLI_NO_RELAUNCH=true")
	}
	return writeJSON(s.home+"/.gemini/settings.json", settings)
}

func setupQwen(s *setup) error {
	s.argv = []string{"qwen"}
	s.set("OPENAI_API_KEY=sk-test", "OPENAI_BASE_URL="+s.url+"/v1", "OPENAI_MODEL=mock-model", "QWEN_TELEMETRY_ENABLED=false")
	settings := obj{
		"security": obj{"auth": obj{"selectedType": "openai"}, "folderTrust": obj{"enabled": s.fresh}},
		"general":  obj{"enableAutoUpdate": false, "disableAutoUpdate": true},
		"privacy":  obj{"usageStatisticsEnabled": false}, "telemetry": obj{"enabled": false},
		"model": obj{"name": "mock-model"}, "$version": 3,
		"tools": obj{"approvalMode": "default"}, // 0.24 has a model decide, by itself
	}
	if s.hook != "" {
		settings["hooks"] = s.hooks([]string{
			"SessionStart", "SessionEnd", "UserPromptSubmit", "PreToolUse", "PermissionRequest", "PostToolUse", "PostToolUseFailure", "Notification", "Stop", "StopFailure",
		}, true)
	}
	if err := s.addMCP(settings); err != nil {
		return err
	}
	return writeJSON(s.home+"/.qwen/settings.json", settings)
}

func setupPi(s *setup) error {
	s.argv = []string{"pi"}
	s.set("PI_OFFLINE=1", "PI_SKIP_VERSION_CHECK=1", "PI_TELEMETRY=0")
	err := writeJSON(s.home+"/.pi/agent/models.json", obj{"providers": obj{"mock": obj{
		"baseUrl": s.url + "/v1", "api": "openai-completions", "apiKey": "sk-test",
		"models": []any{obj{
			"id": "mock-model", "name": "Mock", "reasoning": false, "input": []string{"text"},
			"cost":          obj{"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0},
			"contextWindow": 128000, "maxTokens": 8000,
		}},
	}}})
	if err != nil {
		return err
	}
	return writeJSON(s.home+"/.pi/agent/settings.json", obj{"defaultProvider": "mock", "defaultModel": "mock-model"})
}
