package sessions

// ToolPartKind is which part of a tool's use a block of lines tells.
type ToolPartKind string

// The parts of a tool's use.
const (
	ToolCall     ToolPartKind = "call"
	ToolQuestion ToolPartKind = "question" // a call that asks the person
	ToolReturned ToolPartKind = "result"
)

// ToolPart is a part of a tool's use: its call or its result.
type ToolPart struct {
	Part ToolPartKind `json:"part"`
	// Call is the same in a call and its result, and of no other use nearby; "": the agent doesn't say.
	Call   string `json:"call,omitempty"`
	Name   string `json:"name,omitempty"`   // of the tool, as the agent calls it, at most 100 characters
	Failed bool   `json:"failed,omitempty"` // of a result: the tool didn't do what it should
	// Detail says that the log has had the whole of it beside the lines. The oldest are dropped.
	Detail bool `json:"detail,omitempty"`
	// Does is Work, for who gets the line from the API; the log doesn't keep it.
	Does string `json:"does,omitempty"`
	// Whole is that, on its way into the log; nil in lines that are read from there.
	Whole *ToolDetail `json:"-"`
}

// ToolDetail is all of a tool's call or result, as its agent writes it: some 64 KiB of each text at
// most, and of longer ones the beginning and the end.
type ToolDetail struct {
	Args   string // what the tool was called with, as JSON; of a call
	Output string // what it returned, any characters; of a result
	Diff   string // what it changed in files, as a unified diff, if its agent says so; of a result
}

// ToolUse is a tool's call with its result, as far as the log has them.
type ToolUse struct {
	Call, Result ToolRecord // N is 0 where there's none
}

// ToolRecord is a part of a tool's use in the log.
type ToolRecord struct {
	N int64 // number of its first line
	ToolPart
	ToolDetail
}
