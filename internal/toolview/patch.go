package toolview

import "strings"

const patchBegins = "*** Begin Patch"

// ParsePatch reads a patch as Codex and opencode write it, wherever it begins in a text:
//
//	*** Begin Patch
//	*** Update File: a.go
//	*** Move to: b.go
//	@@ func main() {
//	 stays
//	-goes
//	+comes
//	*** Add File: c.go
//	+all of it
//	*** Delete File: d.go
//	*** End Patch
//
// It's none if nothing of a file is in it.
func ParsePatch(text string) (files []FileDiff) {
	_, text, ok := strings.Cut(text, patchBegins+"\n")
	if !ok {
		return nil
	}
	var f *FileDiff
	begin := func(path string, does FileChange) {
		files = append(files, FileDiff{Path: strings.TrimSpace(path), Does: does, Hunks: []DiffHunk{}})
		f = &files[len(files)-1]
	}
	for line := range strings.SplitSeq(text, "\n") {
		if order, ok := strings.CutPrefix(line, "*** "); ok {
			what, path, _ := strings.Cut(order, ": ")
			switch {
			case what == "Add File":
				begin(path, FileAdded)
			case what == "Update File":
				begin(path, FileEdited)
			case what == "Delete File":
				begin(path, FileDeleted)
			case what == "Move to" && f != nil:
				f.From, f.Path = f.Path, strings.TrimSpace(path)
			case strings.HasPrefix(order, "End of File") && f != nil && len(f.Hunks) > 0:
				f.Hunks[len(f.Hunks)-1].End = true
			case strings.HasPrefix(order, "End Patch"):
				return files
			}
			continue
		}
		if f == nil {
			continue
		}
		if head, ok := strings.CutPrefix(line, "@@"); ok {
			f.Hunks = append(f.Hunks, DiffHunk{Head: strings.TrimSpace(head)})
			continue
		}
		f.addLine(line)
	}
	return files
}

// addLine adds a line of a patch with its sign; one that's empty stays.
func (f *FileDiff) addLine(line string) {
	if line == "" {
		line = " "
	}
	l := DiffLine{Op: line[:1], Text: line[1:]}
	if strings.Trim(l.Op, " +-") != "" {
		return
	}
	if len(f.Hunks) == 0 {
		f.Hunks = append(f.Hunks, DiffHunk{})
	}
	h := &f.Hunks[len(f.Hunks)-1]
	if f.Does == FileAdded {
		l.New = len(h.Lines) + 1
	}
	h.Lines = append(h.Lines, l)
}
