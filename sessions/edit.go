package sessions

// FileEdit is what a call is to do to a file, as its agent's record says. Of what's to be done one
// is there: Swaps, Write, Patch, Diff or Delete.
type FileEdit struct {
	Path   string // absolute, or from Folder; "": Patch names the files
	Folder string // where the agent works; "": in the session's folder
	Swaps  []TextSwap
	Write  *string // all of the file, as it's to be
	Patch  string  // of any number of files, as Codex writes it: "*** Begin Patch"
	Diff   string  // unified, of this file alone
	Delete bool
	To     string // where the file is moved to; ""
	// KeepsEnds says that the file's lines end as they did, by "\n" or "\r\n", whatever Write has.
	KeepsEnds bool
	// EndsLine says that the file's last line has an end afterwards, whether it had one or not.
	EndsLine bool
}

// TextSwap puts a text in place of another in a file.
type TextSwap struct {
	Old, New string // Old "": of a file that's new or empty, all
	All      bool   // wherever Old stands; else it has to stand there once
	// TakesLine says that the end of the line goes, too, where New is "".
	TakesLine bool
}
