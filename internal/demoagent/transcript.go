package demoagent

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// The kinds of a transcript's records, as sessions/transcript reads them.
const (
	kindStart  = "start"
	kindUser   = "user"
	kindAnswer = "answer"
	kindTool   = "tool"
	kindResult = "tool_result"
	kindEnd    = "turn_end"
	kindFailed = "failure"
	kindUsed   = "used"
)

// record is a line of the transcript.
type record struct {
	Kind        string    `json:"kind"`
	Text        string    `json:"text,omitempty"` // exactly, Markdown
	Tool        string    `json:"tool,omitempty"` // its name
	ID          string    `json:"id,omitempty"`
	Args        *callArgs `json:"args,omitempty"`
	At          time.Time `json:"at"`
	Cwd         string    `json:"cwd,omitempty"` // of the first record
	Interrupted bool      `json:"interrupted,omitempty"`
	Used        *used     `json:"used,omitempty"` // of what was used
}

// used is what an answer would have taken of a model: about a token for four letters.
type used struct {
	Input   int `json:"input"`
	Output  int `json:"output"`
	Context int `json:"context"` // all that was said so far
	Window  int `json:"window"`  // what fits
}

// callArgs are what a tool is called with.
type callArgs struct {
	Input string `json:"input"`
}

// transcript is the file in which the conversation is kept, open as long as the agent runs: so it's
// known whose it is. Nil: none is kept.
type transcript struct{ file *os.File }

// newTranscript begins one in a folder; "": none.
func newTranscript(folder string) (*transcript, error) {
	if folder == "" {
		return nil, nil //nolint:nilnil // none is kept
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the transcripts' folder: %w", err)
	}
	now := time.Now()
	name := now.UTC().Format("20060102T150405.000") + "-" + strconv.Itoa(os.Getpid()) + ".jsonl"
	file, err := os.OpenFile(filepath.Join(folder, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return nil, fmt.Errorf("begin a transcript: %w", err)
	}
	t := &transcript{file}
	cwd, _ := os.Getwd()
	return t, t.add(record{Kind: kindStart, Cwd: cwd})
}

func (t *transcript) add(r record) error {
	if t == nil {
		return nil
	}
	r.At = time.Now()
	line, err := json.Marshal(r)
	if err == nil {
		_, err = t.file.Write(append(line, '\n'))
	}
	if err != nil {
		return fmt.Errorf("write the transcript: %w", err)
	}
	return nil
}

func (t *transcript) close() {
	if t != nil {
		_ = t.file.Close() // all of it is written
	}
}
