package agent

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// editsOf are what a call is to change in files, as its record says; nil: nothing, or in no way that's known.
func editsOf(h Hook) []sessions.FileEdit {
	if h.Tool == codexPatch {
		edits := patchEdits(h.Input)
		for i := range edits {
			edits[i].Folder = h.Cwd
		}
		return edits
	}
	var in recordMembers
	if json.Unmarshal(h.Input, &in) != nil {
		return nil
	}
	e := sessions.FileEdit{Path: in.firstText("file_path", "filePath", "filepath"), Folder: h.Cwd}
	args := in.objectOf("args") // opencode's, of a change of which the dialog draws a diff
	switch {
	case strings.HasPrefix(args.textOf("patchText"), patchBegins):
		return []sessions.FileEdit{{Folder: h.Cwd, Patch: args.textOf("patchText")}}
	case e.Path == "":
		return nil
	case in.hasText("newContent"): // Gemini CLI's
		text := in.textOf("newContent")
		e.Write, e.KeepsEnds = &text, true
	case args.hasText("oldString") && args.hasText("newString"):
		e.Swaps = []sessions.TextSwap{{Old: args.textOf("oldString"), New: args.textOf("newString"), All: string(args["replaceAll"]) == "true"}}
	case args.hasText("content"):
		text := args.textOf("content")
		e.Write = &text
	case in.textOf("diff") != "":
		e.Diff = in.textOf("diff")
	case in.hasText("old_string") && in.hasText("new_string"):
		e.Swaps = []sessions.TextSwap{{
			Old: in.textOf("old_string"), New: in.textOf("new_string"), All: string(in["replace_all"]) == "true",
			TakesLine: h.Agent == string(transcript.Claude) || h.Agent == string(transcript.Qwen),
		}}
	case in.hasText("content"):
		text := in.textOf("content")
		e.Write = &text
	default:
		return nil
	}
	return []sessions.FileEdit{e}
}

// hasText reports whether a member is there and a string, which may be empty.
func (r recordMembers) hasText(key string) bool {
	value, ok := r[key]
	return ok && len(value) > 0 && value[0] == '"'
}

const patchBegins = "*** Begin Patch"

// patchEdits are Codex' changes of files: a patch, as a hook tells it, or each file's by itself, as the server does.
func patchEdits(input json.RawMessage) (edits []sessions.FileEdit) {
	var in recordMembers
	if json.Unmarshal(input, &in) == nil {
		if patch := strings.TrimSpace(in.textOf("command")); strings.HasPrefix(patch, patchBegins) {
			return []sessions.FileEdit{{Patch: patch}}
		}
		return nil
	}
	var files []struct {
		Path string `json:"path"`
		Kind struct {
			Type string `json:"type"`
			To   string `json:"move_path"`
		} `json:"kind"`
		Diff string `json:"diff"`
	}
	if json.Unmarshal(input, &files) != nil {
		return nil
	}
	for _, f := range files {
		e := sessions.FileEdit{Path: f.Path}
		switch f.Kind.Type {
		case "add":
			e.Write = &f.Diff
		case "delete":
			e.Delete = true
		case "update":
			e.Diff, e.To, e.EndsLine = f.Diff, f.Kind.To, true
		default:
			return nil
		}
		edits = append(edits, e)
	}
	return edits
}

// readPatch takes in that a call is a patch of Codex': the dialog draws the names of its files alone. Hook and server tell
// it in two ways, of which people read the same.
func (c *call) readPatch() {
	if len(c.edits) == 0 {
		return
	}
	c.texts, c.exact, c.main, c.rows, c.tells = nil, nil, "", "", nil
	var said []string
	for _, f := range patchedFiles(c.edits) {
		c.addDrawn(f.path)
		head := "file: " + printable(f.path)
		if f.does != "" {
			head += " (" + f.does + ")"
		}
		said = append(append(said, head), f.rows...)
	}
	c.said = strings.Join(said, "\n")
}

// patchedFile is what people read of a file's change.
type patchedFile struct {
	path, does string
	rows       []string // with their signs; without those that stay
}

// patchedFiles are the files of Codex' changes, by their paths.
func patchedFiles(edits []sessions.FileEdit) (files []patchedFile) {
	begin := func(folder, path, does string) {
		if path = strings.TrimSpace(path); folder != "" && !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		files = append(files, patchedFile{path: path, does: does})
	}
	moved := func(folder, to string) {
		if folder != "" && !filepath.IsAbs(to) {
			to = filepath.Join(folder, to)
		}
		files[len(files)-1].does = "moved to " + printable(to)
	}
	add := func(row string) {
		if row != "" && (row[0] == '+' || row[0] == '-') {
			files[len(files)-1].rows = append(files[len(files)-1].rows, row)
		}
	}
	for _, e := range edits {
		switch {
		case e.Patch != "":
			for row := range strings.SplitSeq(e.Patch, "\n") {
				order, isOrder := strings.CutPrefix(row, "*** ")
				what, path, _ := strings.Cut(order, ": ")
				switch {
				case !isOrder && len(files) > 0:
					add(row)
				case isOrder && what == "Add File":
					begin(e.Folder, path, "new")
				case isOrder && what == "Update File":
					begin(e.Folder, path, "")
				case isOrder && what == "Delete File":
					begin(e.Folder, path, "deleted")
				case isOrder && what == "Move to" && len(files) > 0:
					moved(e.Folder, strings.TrimSpace(path))
				}
			}
		case e.Write != nil:
			begin(e.Folder, e.Path, "new")
			for row := range strings.Lines(*e.Write) {
				add("+" + strings.TrimSuffix(row, "\n"))
			}
		case e.Delete:
			begin(e.Folder, e.Path, "deleted")
		default:
			begin(e.Folder, e.Path, "")
			if e.To != "" && e.To != e.Path {
				moved(e.Folder, e.To)
			}
			inHunk := false
			for row := range strings.SplitSeq(e.Diff, "\n") {
				if inHunk = inHunk || strings.HasPrefix(row, "@@"); inHunk {
					add(row)
				}
			}
		}
	}
	slices.SortStableFunc(files, func(a, b patchedFile) int { return strings.Compare(a.path, b.path) })
	return files
}
