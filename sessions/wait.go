package sessions

import (
	"fmt"
	"time"
)

// WaitRequest says what a wait for a session's output waits for. Only output after the
// call counts: never text that stood on the screen already.
type WaitRequest struct {
	Patterns  []string      // any of them ends the wait; none: any output does
	Stops     []string      // any of them ends it, too, and wins over a pattern found at the same look
	Regex     bool          // they're regular expressions (RE2); else literal texts
	MatchCase bool          // else upper and lower case are the same
	Timeout   time.Duration // 0: DefaultWaitTimeout; more than the configuration allows is cut
	Interval  time.Duration // between two looks; 0: DefaultWaitInterval
}

// The defaults of a wait, and the least pause between two looks: a look costs tmux about
// 0.1 ms.
const (
	DefaultWaitTimeout  = 8 * time.Second
	DefaultWaitInterval = 50 * time.Millisecond
	MinWaitInterval     = 10 * time.Millisecond
)

// CheckInterval refuses a pause between two looks that's shorter than MinWaitInterval:
// ErrInvalid.
func (r WaitRequest) CheckInterval() error {
	if r.Interval != 0 && r.Interval < MinWaitInterval {
		return fmt.Errorf("%w interval %s: it's at least %s", ErrInvalid, r.Interval, MinWaitInterval)
	}
	return nil
}

// WaitOutcome is how a wait ended.
type WaitOutcome string

// The outcomes.
const (
	WaitMatched     WaitOutcome = "matched"          // a pattern was found
	WaitStopped     WaitOutcome = "stopped"          // a stop was
	WaitAnyOutput   WaitOutcome = "any_output"       // there was output, and no pattern was asked for
	WaitTimeout     WaitOutcome = "timeout"          // nothing of it by the time-out
	WaitAlternate   WaitOutcome = "alternate_screen" // nothing of it by the time-out, and then the alternate screen was shown, which isn't searched
	WaitDied        WaitOutcome = "died"             // the program or its pane has ended
	WaitRespawned   WaitOutcome = "respawned"        // another program was started in the pane
	WaitHistoryLost WaitOutcome = "history_lost"     // tmux dropped lines that could have matched, or its history was cleared
)

// The kinds of a match.
const (
	MatchPattern = "pattern"
	MatchStop    = "stop"
)

// WaitMatch is what was found.
type WaitMatch struct {
	Kind    string `json:"kind"`    // MatchPattern or MatchStop
	Index   int    `json:"index"`   // which of that kind, from 0
	Pattern string `json:"pattern"` // as it was asked for
	Text    string `json:"text"`    // what it found
	Line    string `json:"line"`    // the output of the line in which it stands
}

// WaitResult is how a wait ended and what came meanwhile.
type WaitResult struct {
	Outcome    WaitOutcome `json:"outcome"`
	Reason     string      `json:"reason,omitempty"` // a sentence, where the outcome doesn't say all
	Match      *WaitMatch  `json:"match,omitempty"`
	Lines      []string    `json:"lines"`       // output since the call, oldest first: the newest MaxWaitLines
	LinesTotal int         `json:"lines_total"` // how many there were
	// LinesMissed: some lines may not have been seen, because tmux dropped them between
	// two looks or the screen was cleared.
	LinesMissed bool     `json:"lines_missed"`
	Alternate   bool     `json:"alternate_screen"` // it's shown now
	Source      string   `json:"source"`           // where the text is from: "pane" or "transcript"
	ElapsedMS   int64    `json:"elapsed_ms"`
	TimeoutMS   int64    `json:"effective_timeout_ms"`
	Exit        *Exit    `json:"exit,omitempty"` // of WaitDied, if it's known
	Tail        []string `json:"tail"`           // the end of what's on the screen now, at most MaxWaitTail rows
}

// Bounds of a WaitResult.
const (
	MaxWaitLines     = 200
	MaxWaitLineBytes = 4096 // a longer line is cut in the result, not in the search
	MaxWaitTail      = 20
)

// WaitNote tells what a wait is doing.
type WaitNote struct {
	Event     string `json:"event"` // one of those below
	TimeoutMS int64  `json:"effective_timeout_ms,omitempty"`
}

// What a wait tells while it lasts.
const (
	WaitBegun     = "waiting"   // what's printed from now on counts
	WaitSuspended = "suspended" // the alternate screen is shown, which isn't searched
	WaitResumed   = "resumed"   // it's gone
)
