package sessions

import "strings"

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
	// Rows, if set, are rows of the screen (from 0) that must be as Saw has them, to the
	// letter and in the same place. Saw then is a look at all of the screen. None of them
	// may be blank, or be like one above it: tmux searches from the top.
	Rows []int
	// Front, if set, must be the name of the program in the pane's foreground, as
	// Snapshot.Front has it.
	Front string
	// Still says that nothing may have come out of the pane since Saw, which was asked for
	// when the second of Saw.Activity was over.
	Still bool
	// Lines says that a shell has the foreground, Front, and its terminal collects lines. What's
	// pasted there isn't bracketed, though a program that was killed has left that switched on:
	// such a shell doesn't know brackets.
	Lines bool
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

// TellingRows are the rows from first to last, at most so many, by which a part of a
// screen is known again: those that have text, and the same doesn't stand above them,
// where tmux's search would find it first. See Guard.Rows.
func TellingRows(rows []string, first, last, most int) []int {
	var out []int
	above := map[string]bool{"": true}
	for i, row := range rows {
		row = strings.TrimRight(row, " \t")
		if i >= first && i <= last && !above[row] && len(out) < most {
			out = append(out, i)
		}
		above[row] = true
	}
	return out
}

// Box is a program's input box as it stands on the screen. The zero value: nothing is
// known of the program's box.
type Box struct {
	Known bool // the program's kind of box is known
	Open  bool // it's on the screen
	// Torn says that tmux has broken its frame: the pane has got narrower, and the program
	// hasn't drawn it anew. It isn't Open then.
	Torn bool
	// Shell says that it's the line of a shell, behind its prompt. One that isn't Open
	// has a prompt that nobody knows, or is at work.
	Shell bool
	// Text is what stands in it, with its rows joined by "\n" and without blanks around
	// them; "": nothing. A program may show something else in place of a long text:
	// "[Pasted text #1 +61 lines]".
	Text string
	// Unsure says that Text may be the program's own, who writes there what could be asked:
	// a person may see that.
	Unsure bool
	// Unfinished is what of a command stands above the line, which goes on with it; "": none.
	Unfinished string
	// Rows are visible rows of it or below it, from 0, that are like none above them: as
	// long as they stand there, the box does.
	Rows []int
	// Queued says that the program keeps something that was submitted until it has time.
	Queued bool
}

// Missing reports whether a program that's known to draw such a box doesn't show it: its screen may be
// half drawn.
func (b Box) Missing() bool { return b.Known && !b.Shell && !b.Open && !b.Torn }
