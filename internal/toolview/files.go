package toolview

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// The names that agents give to arguments of their tools for files.
var (
	pathNames  = []string{"file_path", "filePath", "absolute_path", "notebook_path", "path", "filename"}                               //nolint:gochecknoglobals // a constant table
	textPairs  = [][2]string{{"old_string", "new_string"}, {"oldString", "newString"}, {"oldText", "newText"}, {"old_str", "new_str"}} //nolint:gochecknoglobals // a constant table
	wholeNames = []string{"content", "contents", "file_text", "new_source"}                                                            //nolint:gochecknoglobals // a constant table
	writers    = []string{"write", "create", "notebookedit"}                                                                           //nolint:gochecknoglobals // parts of tools' names
)

// path is the file that a call is about; "": none, or several.
func (a arguments) path() string {
	path, _ := a.text(pathNames...)
	return path
}

// files are the changes that a call asks for, and which of its arguments say them.
func (a arguments) files(tool string) (files []FileDiff, shown map[string]bool) {
	if files, shown := a.patches(); len(files) > 0 {
		return files, shown
	}
	path, pathName := a.text(pathNames...)
	if path == "" {
		return nil, nil
	}
	shown = map[string]bool{pathName: true}
	var hunks []DiffHunk
	for _, one := range append([]arguments{a}, a.edits()...) {
		for _, names := range textPairs {
			if old, next, ok := one.pair(names); ok {
				hunks = append(hunks, diffOf(old, next)...)
				shown[names[0]], shown[names[1]] = true, true
			}
		}
	}
	if len(hunks) > 0 {
		shown["edits"] = true
		return []FileDiff{{Path: path, Does: FileEdited, Hunks: hunks}}, shown
	}
	if text, name := a.text(wholeNames...); text != "" && isWriter(tool) {
		shown[name] = true
		return []FileDiff{{Path: path, Does: FileWritten, Hunks: []DiffHunk{{Lines: added(text)}}}}, shown
	}
	return nil, nil
}

// isWriter reports whether a tool of that name writes whole files.
func isWriter(tool string) bool {
	tool = strings.ToLower(strings.ReplaceAll(tool, "_", ""))
	return slices.ContainsFunc(writers, func(part string) bool { return strings.Contains(tool, part) })
}

// pair are an old and a new text, if there are both, and they aren't the same.
func (a arguments) pair(names [2]string) (old, next string, ok bool) {
	var got [2]string
	for i, name := range names {
		at := slices.IndexFunc(a, func(one argument) bool { return one.name == name })
		if at < 0 || json.Unmarshal(a[at].value, &got[i]) != nil {
			return "", "", false
		}
		got[i] = plain(got[i])
	}
	return got[0], got[1], got[0] != got[1]
}

// edits are the arguments of several edits of one file, a list or a list as a text.
func (a arguments) edits() (all []arguments) {
	at := slices.IndexFunc(a, func(one argument) bool { return one.name == "edits" })
	if at < 0 {
		return nil
	}
	value := a[at].value
	var text string
	if json.Unmarshal(value, &text) == nil {
		value = json.RawMessage(text)
	}
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		return nil
	}
	for _, one := range list {
		all = append(all, parseArgs(string(one), &hider{}))
	}
	return all
}

// patches are the changes of a patch among the arguments, and that it's shown so, unless a command has it.
func (a arguments) patches() (files []FileDiff, shown map[string]bool) {
	for _, one := range a {
		text := strings.TrimSpace(plain(readable(one.value)))
		if files := ParsePatch(text); len(files) > 0 {
			return files, map[string]bool{one.name: strings.HasPrefix(text, patchBegins)}
		}
		if strings.HasPrefix(text, "--- ") || strings.HasPrefix(text, "diff --git ") {
			if files := ParseUnified(text); len(files) > 0 {
				return files, map[string]bool{one.name: true}
			}
		}
	}
	return nil, nil
}

// linesOf are the lines of a text, whose last may have an end.
func linesOf(text string) []string { return strings.Split(strings.TrimSuffix(text, "\n"), "\n") }

// added are all lines of a file that's written.
func added(text string) (all []DiffLine) {
	for i, line := range linesOf(text) {
		all = append(all, DiffLine{Op: "+", New: i + 1, Text: line})
	}
	return all
}

// diffOf are the hunks that make a text another. Where in the file it stands isn't known.
func diffOf(old, next string) (hunks []DiffHunk) {
	end := func(text string) string { // both end alike: that a line has no end isn't shown
		if text != "" && !strings.HasSuffix(text, "\n") {
			text += "\n"
		}
		return text
	}
	if end(old) == end(next) {
		return nil
	}
	old, next = end(old), end(next)
	diff, err := udiff.ToUnifiedDiff("", "", old, udiff.Lines(old, next), udiff.DefaultContextLines)
	if err != nil {
		return nil
	}
	for _, h := range diff.Hunks {
		var hunk DiffHunk
		for _, l := range h.Lines {
			line := DiffLine{Op: " ", Text: strings.TrimSuffix(l.Content, "\n")}
			switch l.Kind {
			case udiff.Delete:
				line.Op = "-"
			case udiff.Insert:
				line.Op = "+"
			case udiff.Equal:
			}
			hunk.Lines = append(hunk.Lines, line)
		}
		hunks = append(hunks, hunk)
	}
	return hunks
}
