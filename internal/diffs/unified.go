package diffs

import (
	"fmt"
	"io/fs"
	"strings"

	"github.com/aymanbagabas/go-udiff"
)

// version is a file as it is or as it's to be.
type version struct {
	path  string // from the root
	there bool
	text  string
	mode  fs.FileMode
}

const noFile = "/dev/null"

// writeUnified writes what makes a file another, in git's form; nothing, if that's nothing.
func writeUnified(b *strings.Builder, was, is version) {
	if was == is || !was.there && !is.there {
		return
	}
	from, to := was.path, is.path
	if !was.there {
		from = to
	}
	if !is.there {
		to = from
	}
	fmt.Fprintf(b, "diff --git %s %s\n", quotedPath("a/"+from), quotedPath("b/"+to))
	oldName, newName := nameRow("a/"+from), nameRow("b/"+to)
	switch {
	case !was.there:
		fmt.Fprintf(b, "new file mode %s\n", gitMode(is.mode))
		oldName = noFile
	case !is.there:
		fmt.Fprintf(b, "deleted file mode %s\n", gitMode(was.mode))
		newName = noFile
	case from != to:
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", quotedPath(from), quotedPath(to))
	}
	// An error says that the changes aren't of this text, and they were made of it.
	text, _ := udiff.ToUnified(oldName, newName, was.text, udiff.Lines(was.text, is.text), udiff.DefaultContextLines)
	b.WriteString(text)
}

// gitMode is a file's mode as git has it.
func gitMode(mode fs.FileMode) string {
	if mode&0o100 != 0 {
		return "100755"
	}
	return "100644"
}

// nameRow is a path behind "---" or "+++": a tab ends one that has blanks.
func nameRow(path string) string {
	if quoted := quotedPath(path); quoted != path {
		return quoted
	}
	if strings.Contains(path, " ") {
		return path + "\t"
	}
	return path
}

// quotedPath is a path as git writes it: between quotation marks if it has these, or what's no character of a
// row.
func quotedPath(path string) string {
	odd := func(c byte) bool { return c < ' ' || c == 0x7f || c == '"' || c == '\\' }
	var b strings.Builder
	quoted := false
	for i := range len(path) {
		c := path[i]
		if !odd(c) {
			b.WriteByte(c)
			continue
		}
		quoted = true
		switch c {
		case '"', '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case '\t':
			b.WriteString(`\t`)
		case '\n':
			b.WriteString(`\n`)
		default:
			fmt.Fprintf(&b, `\%03o`, c)
		}
	}
	if !quoted {
		return path
	}
	return `"` + b.String() + `"`
}
