package sessions

// Guard says when something may be typed into a pane. The check and the typing
// are one atomic step.
type Guard struct {
	Pane   string         // tmux pane id
	Server ServerIdentity // of that run of the server alone; zero: of any
	// Phrases are regular expressions (POSIX extended, each matching within
	// one row, case ignored) of which none may be on the screen.
	Phrases []string
	// Saw, if set, is the look the decision was made on: cursor, history size
	// and title must still be the same.
	Saw *Snapshot
}

// Outcome is what became of a guarded step.
type Outcome string

// The outcomes. Only Done touched the pane.
const (
	Done  Outcome = "done"
	Held  Outcome = "held"  // one of the phrases is on the screen
	Moved Outcome = "moved" // the screen isn't the one that was seen
	Dead  Outcome = "dead"  // the program has ended
)
