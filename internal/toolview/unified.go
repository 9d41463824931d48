package toolview

import (
	"regexp"
	"strconv"
	"strings"
)

// hunkHead begins a hunk of a unified diff: "@@ -7,2 +7,3 @@ func main() {".
var hunkHead = regexp.MustCompile(`^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@ ?(.*)$`)

// ParseUnified reads a unified diff; one without the names of its files is of one whose path is "".
// Lines of a hunk are counted, since a line that goes may look like the name of a file.
func ParseUnified(text string) (files []FileDiff) {
	old := ""
	atOld, atNew, olds, news := 0, 0, 0, 0 // numbers of the next lines, and how many of the hunk are left
	for line := range strings.SplitSeq(text, "\n") {
		if olds > 0 || news > 0 {
			l := DiffLine{Op: " "}
			if line != "" {
				l.Op, l.Text = line[:1], line[1:]
			}
			if l.Op == " " || l.Op == "-" {
				l.Old, atOld, olds = atOld, atOld+1, olds-1
			}
			if l.Op == " " || l.Op == "+" {
				l.New, atNew, news = atNew, atNew+1, news-1
			}
			if strings.Trim(l.Op, " +-") == "" {
				h := &files[len(files)-1].Hunks
				last := &(*h)[len(*h)-1]
				last.Lines = append(last.Lines, l)
				continue
			}
			if l.Op == `\` { // "\ No newline at end of file"
				markNoEnd(files)
				continue
			}
			olds, news = 0, 0
		}
		if strings.HasPrefix(line, `\ `) {
			markNoEnd(files)
			continue
		}
		if path, ok := strings.CutPrefix(line, "--- "); ok {
			old = pathIn(path)
			continue
		}
		if path, ok := strings.CutPrefix(line, "+++ "); ok {
			files = append(files, fileFrom(old, pathIn(path)))
			continue
		}
		m := hunkHead.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if len(files) == 0 {
			files = append(files, FileDiff{Does: FileEdited})
		}
		atOld, olds = number(m[1], 0), number(m[2], 1)
		atNew, news = number(m[3], 0), number(m[4], 1)
		f := &files[len(files)-1]
		f.Hunks = append(f.Hunks, DiffHunk{Head: strings.TrimSpace(m[5])})
		if olds == 0 && atOld == 0 && f.Does == FileEdited && len(f.Hunks) == 1 {
			f.Does = FileAdded
		}
	}
	return withHunks(files)
}

// markNoEnd takes in that the last line so far has no end.
func markNoEnd(files []FileDiff) {
	if len(files) == 0 {
		return
	}
	hunks := files[len(files)-1].Hunks
	if len(hunks) == 0 {
		return
	}
	if lines := hunks[len(hunks)-1].Lines; len(lines) > 0 {
		lines[len(lines)-1].NoEnd = true
	}
}

// withHunks are those files of which some lines are known.
func withHunks(files []FileDiff) (some []FileDiff) {
	for _, f := range files {
		if len(f.Hunks) > 0 {
			some = append(some, f)
		}
	}
	return some
}

// fileFrom is a file by its two names.
func fileFrom(old, next string) FileDiff {
	const none = "/dev/null"
	if strings.HasPrefix(old, "a/") || strings.HasPrefix(next, "b/") { // git's
		old, next = strings.TrimPrefix(old, "a/"), strings.TrimPrefix(next, "b/")
	}
	f := FileDiff{Path: next, Does: FileEdited}
	switch {
	case next == none:
		f.Path, f.Does = old, FileDeleted
	case old == none:
		f.Does = FileAdded
	case old != next && old != "":
		f.From = old
	}
	return f
}

// pathIn is the path in a diff's head, without a time or a word that stands behind it.
func pathIn(text string) string {
	path, _, _ := strings.Cut(text, "\t")
	return strings.TrimSpace(path)
}

func number(text string, missing int) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		return missing
	}
	return n
}
