package agent

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions/transcript"
)

// HookAgents lists the agent programs whose hooks are understood.
func HookAgents() []string { return slices.Sorted(maps.Keys(hookSigns)) }

// hookSigns says what the hooks of each agent program tell: each function sets Signal
// and Text, and Tool where the record has it in another place.
var hookSigns = map[string]func(h *Hook, fields recordMembers){ //nolint:gochecknoglobals // a constant table
	"claude":   claudeSign,
	"codex":    codexSign,
	"gemini":   geminiSign,
	"opencode": openCodeSign,
	"qwen":     qwenSign,
}

// Unhurried reports whether a hook may take a second to tell what it has to: it's one by which
// a person is asked, or the agent doesn't wait for it. opencode's plug-in doesn't, and what it
// tells comes late from a busy machine.
func Unhurried(agent, event string) bool {
	return agent == "opencode" || agent == "gemini" && strings.TrimPrefix(event, "event:") == "BeforeTool" || slices.Contains([]string{"PermissionRequest", "Notification", "permission.asked", "question.asked"}, strings.TrimPrefix(event, "event:"))
}

// claudeSign knows Claude Code's hooks. A permission's dialog is told of at once by
// PermissionRequest; the notification of it comes 6 s later, and only if it's still open.
// No Stop follows a dialog that was denied or an answer that was interrupted.
func claudeSign(h *Hook, fields recordMembers) {
	switch h.Event {
	case "SessionStart":
		h.Signal = SessionStart
	case "UserPromptSubmit":
		h.Signal, h.Text = PromptSent, fields.textOf("prompt")
	case "PreToolUse":
		h.Signal, h.Text = ToolStart, toolText(fields.objectOf("tool_input"))
	case "PermissionRequest":
		h.Signal, h.Text = Asking, toolText(fields.objectOf("tool_input"))
		h.Input, h.Sub = fields["tool_input"], fields.textOf("agent_id") != ""
	case "PostToolUse", "PostToolUseFailure":
		h.Signal = ToolEnd
		if h.Tool == "AskUserQuestion" || h.Tool == "ExitPlanMode" {
			h.Signal = Answered
		} else if h.Event == "PostToolUse" {
			h.Text = toolText(fields.objectOf("tool_input"))
		}
	case "Stop":
		h.Signal, h.Text = TurnDone, fields.textOf("last_assistant_message")
	case "StopFailure":
		h.Signal, h.Text, h.Failed = TurnBroken, fields.firstText("error_details", "error", "last_assistant_message"), true
	case "Notification":
		h.Signal, h.Text = Nudge, fields.textOf("message")
	case "SessionEnd":
		h.Signal, h.Text = SessionEnd, fields.textOf("reason")
	}
}

// codexQuestion is the tool by which Codex asks; it has no PermissionRequest.
const codexQuestion = "request_user_input"

// codexTitle begins the request by which Codex has its own conversation named. Its
// notify program is called for that as for a person's.
const codexTitle = "Generate a concise, single-line task title"

// codexSign knows Codex's hooks, whose records are like Claude Code's, and its notify
// program, which is called with the end of each turn.
func codexSign(h *Hook, fields recordMembers) {
	switch {
	case h.Event == "agent-turn-complete":
		if asked := fields.textsOf("input-messages"); len(asked) > 0 && strings.HasPrefix(asked[0], codexTitle) {
			return
		}
		h.Signal, h.Text = TurnDone, fields.textOf("last-assistant-message")
	case h.Event == "Interrupt":
		h.Signal = TurnBroken
	case h.Event == "PreToolUse" && h.Tool == codexQuestion:
		h.Signal, h.Text = Asking, toolText(fields.objectOf("tool_input"))
		h.Input = fields["tool_input"]
	case h.Event == "PostToolUse" && h.Tool == codexQuestion:
		h.Signal = Answered
	default:
		claudeSign(h, fields)
	}
}

// geminiQuestion is the tool by which Gemini CLI asks.
const geminiQuestion = "ask_user"

// geminiSign knows Gemini CLI's hooks. The answer that AfterAgent gives has its words
// torn apart and begins twice, so it's left to the transcript.
func geminiSign(h *Hook, fields recordMembers) {
	switch h.Event {
	case "SessionStart":
		h.Signal = SessionStart
	case "BeforeAgent":
		h.Signal, h.Text = PromptSent, fields.textOf("prompt")
	case "BeforeTool":
		h.Signal, h.Text = ToolStart, toolText(fields.objectOf("tool_input"))
		if h.Tool == geminiQuestion { // its notification comes without the question
			h.Signal, h.Input = Asking, fields["tool_input"]
		}
		h.geminiTool(fields)
	case "Notification":
		h.Signal, h.Text = Nudge, fields.textOf("message")
		if fields.textOf("notification_type") == "ToolPermission" {
			h.Signal, h.Input = Asking, fields["details"]
			if fields.objectOf("details").textOf("type") == "mcp" { // it doesn't say what the tool is called with
				h.Input = nil
			}
			if text := toolText(fields.objectOf("details")); text != "" {
				h.Text = text
			}
		}
	case "AfterTool":
		h.Signal = ToolEnd
		if h.Tool == geminiQuestion {
			h.Signal = Answered
		}
		h.geminiTool(fields)
	case "AfterAgent":
		h.Signal = TurnDone
	case "SessionEnd":
		h.Signal, h.Text = SessionEnd, fields.textOf("reason")
	}
}

// geminiTool takes in that a tool is one of an MCP server: it's named as other agents' hooks do, with
// what it's called with, as the notification of its dialog comes without that.
func (h *Hook) geminiTool(fields recordMembers) {
	of := fields.objectOf("mcp_context")
	if server, tool := of.textOf("server_name"), of.textOf("tool_name"); server != "" && tool != "" {
		h.Tool, h.Input = bounded(mcpTools+server+"__"+tool, maxHookName), fields["tool_input"]
	}
}

// The tools by which Qwen Code asks a question, and whether its plan is right: their dialogs
// are no permissions. And the one by which it runs commands.
const (
	qwenQuestion = "ask_user_question"
	qwenPlan     = "exit_plan_mode"
	qwenShell    = "run_shell_command"
)

// qwenSteered begins what Qwen Code 0.15.10 calls a prompt, and is told to the model beside
// a tool's result.
const qwenSteered = "[User message received during tool execution]"

// qwenSign knows Qwen Code's hooks, whose records are like Claude Code's. A turn's prompt is
// told again, empty, with each tool's result.
func qwenSign(h *Hook, fields recordMembers) {
	claudeSign(h, fields)
	said := strings.TrimSpace(h.Text)
	switch {
	case h.Signal == PromptSent && (said == "" || strings.HasPrefix(said, qwenSteered)):
		h.Signal, h.Text = "", ""
	case h.Signal == Asking && (h.Tool == qwenQuestion || h.Tool == qwenPlan):
		h.Input = nil
	case h.Signal == ToolEnd && (h.Tool == qwenQuestion || h.Tool == qwenPlan):
		h.Signal = Answered
	}
}

// openCodeQuestion is the tool by which opencode asks.
const openCodeQuestion = "question"

// questionTools are those by which agents ask: their calls run nothing.
func questionTools() []string {
	return []string{claudeQuestion, codexQuestion, geminiQuestion, openCodeQuestion, qwenQuestion}
}

// openCodeInput is what a permission is asked for: a change as a diff, a folder by its
// patterns, all else by what the tool was called with, as its dialog draws it.
func openCodeInput(fields recordMembers) json.RawMessage {
	metadata := fields.objectOf("metadata")
	switch {
	case metadata.textOf("diff") != "":
		change := metadata.onlyMembers("filepath", "diff")
		if args, ok := fields["args"]; ok { // what's drawn is the diff, of which these can't be told
			return slices.Concat(bytes.TrimSuffix(change, []byte("}")), []byte(`,"args":`), args, []byte("}"))
		}
		return change
	case fields.textOf("permission") == "external_directory":
		return fields.onlyMembers("permission", "patterns", "metadata")
	case len(fields.objectOf("args")) > 0:
		return fields["args"]
	case len(metadata) > 0:
		return fields["metadata"]
	case !slices.Contains(openCodeDraws, fields.textOf("permission")): // its name is all that's drawn: without this nobody knows it
		return fields["args"]
	}
	return fields.onlyMembers("permission", "patterns")
}

// openCodeSign knows what the plug-in for opencode hands on: the events of its bus by
// their names, and calls of tools and messages as hooks of plug-ins have them. What a
// sub-agent does (its conversation has a parent) says nothing of the turn, but its
// dialogs are shown all the same.
func openCodeSign(h *Hook, fields recordMembers) {
	input := fields.objectOf("input")
	for _, id := range []string{input.textOf("sessionID"), fields.objectOf("info").textOf("id")} {
		if h.Conversation == "" {
			h.Conversation = bounded(id, maxHookName)
		}
	}
	if h.Cwd == "" {
		h.Cwd = absolutePath(fields.textOf("directory"))
	}
	if tool := input.textOf("tool"); h.Tool == "" {
		h.Tool = bounded(tool, maxHookName)
	}
	child := fields.textOf("parentID") != "" || fields.objectOf("info").textOf("parentID") != ""
	switch h.Event {
	case "question.asked":
		h.Signal, h.Text, h.Sub = Asking, toolText(fields), child
		h.Tool, h.Input, h.Request = openCodeQuestion, fields.onlyMembers("questions"), bounded(fields.textOf("id"), maxHookName)
	case "permission.asked":
		h.Signal, h.Text, h.Sub = Asking, toolText(fields.objectOf("metadata")), child
		h.Tool, h.Input, h.Request = bounded(fields.textOf("permission"), maxHookName), openCodeInput(fields), bounded(fields.textOf("id"), maxHookName)
		h.Saves = fields.textsOf("always")
	case "question.replied", "question.rejected", "permission.replied":
		h.Signal, h.Text, h.Request = Answered, fields.textOf("reply"), bounded(fields.textOf("requestID"), maxHookName)
		h.Own = string(fields["own"]) == "true"
	case "panebridge.replied":
		h.Signal, h.Text, h.Request = Replied, fields.textOf("outcome"), bounded(fields.textOf("requestID"), maxHookName)
	}
	if child || h.Signal != "" {
		return
	}
	switch h.Event {
	case "session.created", "session.resumed":
		h.Signal = SessionStart
	case "chat.message":
		h.Signal, h.Text = PromptSent, fields.textOf("text")
	case "tool.execute.before":
		h.Signal, h.Text = ToolStart, toolText(fields.objectOf("output").objectOf("args"))
	case "tool.execute.after":
		h.Signal = ToolEnd
	case "session.idle":
		h.Signal = TurnDone
	case "session.error":
		failure := fields.objectOf("error")
		h.Signal, h.Text = TurnBroken, failure.objectOf("data").textOf("message")
		if h.Text == "" {
			h.Text = failure.textOf("name")
		}
		h.Failed = !transcript.OpenCodeAborted(failure.textOf("name"))
	case "session.end":
		h.Signal = SessionEnd
	}
}

// toolText returns what a tool was asked to do in short: the question, the command or
// the file.
func toolText(input recordMembers) string {
	for _, question := range input.objectsOf("questions") {
		if text := question.textOf("question"); text != "" {
			return text
		}
	}
	return input.firstText("command", "file_path", "filePath", "filepath", "path", "url", "plan", "description", "prompt", "title")
}
