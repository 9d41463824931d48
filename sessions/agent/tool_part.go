package agent

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// partOf are the parts of a tool's use that records tell.
var partOf = map[transcript.RecordKind]sessions.ToolPartKind{ //nolint:gochecknoglobals // a constant table
	transcript.Tool:       sessions.ToolCall,
	transcript.Question:   sessions.ToolQuestion,
	transcript.ToolResult: sessions.ToolReturned,
}

// toolPart is what a record tells of a tool's use.
func toolPart(r transcript.Record) *sessions.ToolPart {
	return &sessions.ToolPart{
		Part: partOf[r.Kind], Call: callKey(r.ID), Name: printable(firstRunes(r.Tool, maxToolName)), Failed: r.Failed, Detail: true,
		Whole: &sessions.ToolDetail{Args: r.Args, Output: r.Whole, Diff: r.Diff},
	}
}

// maxToolName is how many characters of a tool's name are told.
const maxToolName = 100

// callKey stands for an agent's own id of a call, which can be of any length and have any text.
func callKey(id string) string {
	if id == "" {
		return ""
	}
	h := sha256.Sum256([]byte(id))
	return hex.EncodeToString(h[:6])
}

// firstRunes are at most so many characters of a text's beginning.
func firstRunes(s string, most int) string {
	for i := range s {
		if most == 0 {
			return s[:i]
		}
		most--
	}
	return s
}
