package sessions

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
