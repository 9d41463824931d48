package transcript

import (
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// Format names a way of keeping a transcript: the agent program that writes it.
type Format string

// The formats that can be read.
const (
	Claude   Format = "claude"
	Codex    Format = "codex"
	Gemini   Format = "gemini"
	OpenCode Format = "opencode"
	Qwen     Format = "qwen"
	Pi       Format = "pi"
	Demo     Format = "demo" // panebridge's own demo agent
)

// Ref names one transcript: that of one conversation of an agent program.
type Ref struct {
	Format Format `json:"format"`
	Path   string `json:"path"` // absolute: a file, or opencode's database
	// Session is the agent's own id of the conversation. With opencode it says which
	// rows of the database are meant; elsewhere it may be "".
	Session string `json:"session,omitempty"`
}

// RecordKind is what a record tells.
type RecordKind string

// The kinds of record.
const (
	User       RecordKind = "user"        // what was asked of the agent; Text is all of it
	Answer     RecordKind = "answer"      // a block of the answer; Text is its exact Markdown
	Tool       RecordKind = "tool"        // a tool was called; Text says in short with what
	ToolResult RecordKind = "tool_result" // it returned; Text is the result in short
	Question   RecordKind = "question"    // the agent asks the person; Text is the question with its options
	TurnEnd    RecordKind = "turn_end"    // the answer is complete, or was interrupted
	Failure    RecordKind = "failure"     // the model or the program failed; Text says why
	// Helper is what a sub-agent says that the agent has called: By says who.
	Helper    RecordKind = "helper"
	Compacted RecordKind = "compacted" // the conversation was shortened; Text may be ""
	Thought   RecordKind = "thought"   // what the model thought before it went on, as far as it's told
	// Used is what an answer took, and how things stand behind it, as Usage says; of a sub-agent's, By
	// isn't "".
	Used RecordKind = "used"
)

// Record is one thing that a transcript tells, in the order in which it happened.
type Record struct {
	Kind RecordKind
	ID   string // the agent's own id of what this is a part of; may be ""
	Text string // valid UTF-8, lines end in "\n"
	Tool string // name of the tool, of Tool, ToolResult and Question
	By   string `json:",omitempty"` // who says it, of Helper and Used: "Explore (Find the tests)"
	At   time.Time
	// Args are all that a tool is called with, as JSON; of Tool and Question. Whole is all that it
	// returned, its lines end in "\n"; of ToolResult. Of more than 64 KiB, the middle is left out.
	Args  string `json:",omitempty"`
	Whole string `json:",omitempty"`
	// Diff is what a tool changed in files, as a unified diff, where the program says it, and it's no
	// more than 64 KiB; of ToolResult.
	Diff string `json:",omitempty"`
	// Raw says that what a tool is called with has control characters, but for ends of rows and
	// tabs; of Tool and Question. It's known of Qwen Code's calls alone.
	Raw bool `json:",omitempty"`
	// Failed says that a tool didn't do what it should.
	Failed bool
	// Interrupted says that a person ended the turn; of TurnEnd.
	Interrupted bool
	// Waits says that the failure passes by itself (a rate limit, a retry); of Failure.
	Waits bool
	// Limit says that the account has used all that it may; of Failure. Nil: it doesn't say that.
	Limit *sessions.UsageLimit `json:",omitempty"`
	Usage *AnswerUse           `json:",omitempty"` // of Used
}
