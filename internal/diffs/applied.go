package diffs

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/panebridge/panebridge/internal/toolview"
	"github.com/panebridge/panebridge/sessions"
)

// Why a file can't be changed as a record says. They're sentences' ends behind "the file …".
var (
	errNotThere = errors.New("doesn’t have what the agent wants to replace")
	errMixed    = errors.New("has lines that end in different ways, and it isn’t known how the agent would leave them")
	errRows     = errors.New("isn’t as the agent’s changes have it")
)

// hasCRLF says how the lines of a text end; mixed: not all in one way.
func hasCRLF(text string) (crlf, mixed bool) {
	ends, long := strings.Count(text, "\n"), strings.Count(text, "\r\n")
	return long > 0 && long == ends, long > 0 && long < ends
}

func toLF(text string) string   { return strings.ReplaceAll(text, "\r\n", "\n") }
func toCRLF(text string) string { return strings.ReplaceAll(toLF(text), "\n", "\r\n") }

// applyEdit is a file's text after an edit that isn't of several files.
func applyEdit(text string, e sessions.FileEdit) (string, error) {
	crlf, mixed := hasCRLF(text)
	if mixed && e.Write == nil {
		return "", errMixed
	}
	if crlf {
		text = toLF(text)
	}
	var err error
	switch {
	case e.Write != nil:
		if text, crlf = *e.Write, crlf && e.KeepsEnds; crlf {
			text = toLF(text)
		}
	case e.Diff != "":
		files := toolview.ParseUnified(e.Diff)
		if len(files) != 1 {
			return "", errRows
		}
		text, err = applyHunks(text, files[0].Hunks, e.EndsLine)
	default:
		for _, s := range e.Swaps {
			if text, err = applySwap(text, s); err != nil {
				break
			}
		}
	}
	if err != nil {
		return "", err
	}
	if crlf {
		text = toCRLF(text)
	}
	return text, nil
}

// applySwap puts a text in place of another.
func applySwap(text string, s sessions.TextSwap) (string, error) {
	old, now := toLF(s.Old), toLF(s.New)
	if old == "" {
		if text != "" {
			return "", errNotThere
		}
		return now, nil
	}
	switch n := strings.Count(text, old); {
	case n == 0:
		return "", errNotThere
	case n > 1 && !s.All:
		return "", fmt.Errorf("has what the agent wants to replace %d times", n)
	}
	if s.TakesLine && now == "" && !strings.HasSuffix(old, "\n") && strings.Contains(text, old+"\n") {
		old += "\n"
	}
	if s.All {
		return strings.ReplaceAll(text, old, now), nil
	}
	return strings.Replace(text, old, now, 1), nil
}

// applyHunks is a text after changes of its lines, each of which has to stand there as the change has it: where its
// number says, or if it has none, or others stand there, at the next place that does. ends says that the last line
// gets an end.
func applyHunks(text string, hunks []toolview.DiffHunk, ends bool) (string, error) {
	var rows, out []string // with their ends
	for row := range strings.Lines(text) {
		rows = append(rows, row)
	}
	at := 0 // rows before it are done
	for _, h := range hunks {
		old, first := before(h)
		if h.Head != "" && first == 0 {
			head := slices.IndexFunc(rows[at:], func(row string) bool { return strings.TrimSpace(row) == strings.TrimSpace(h.Head) })
			if head < 0 {
				return "", errRows
			}
			out = append(out, rows[at:at+head+1]...)
			at += head + 1
		}
		to := placeOf(rows, old, at, first, h.End)
		if to < 0 {
			return "", errRows
		}
		out = append(out, rows[at:to]...)
		at = to
		for _, l := range h.Lines {
			switch {
			case l.Op == "+" && l.NoEnd:
				out = append(out, l.Text)
			case l.Op == "+":
				out = append(out, l.Text+"\n")
			case l.Op == "-":
				at++
			default:
				out = append(out, rows[at])
				at++
			}
		}
	}
	out = append(out, rows[at:]...)
	for i, row := range out {
		if !strings.HasSuffix(row, "\n") && (i < len(out)-1 || ends) {
			out[i] = row + "\n"
		}
	}
	return strings.Join(out, ""), nil
}

// before are the lines of a change before it, and the number of the first, from 1; 0: it isn't known.
func before(h toolview.DiffHunk) (old []string, first int) {
	for _, l := range h.Lines {
		if l.Op == "+" {
			continue
		}
		if first == 0 {
			first = l.Old
		}
		old = append(old, l.Text)
	}
	return old, first
}

// placeOf is the index from which some rows are those of a change, at or behind from; -1: none is. atEnd: it's looked for
// at the end first. What has a number may have moved, but then it has to be clear where to.
func placeOf(rows, old []string, from, first int, atEnd bool) int {
	is := func(at int) bool {
		return at >= from && at+len(old) <= len(rows) && slices.EqualFunc(rows[at:at+len(old)], old, func(row, text string) bool { return strings.TrimSuffix(row, "\n") == text })
	}
	switch {
	case len(old) == 0:
		return len(rows)
	case first > 0 && is(first-1):
		return first - 1
	case atEnd && is(len(rows)-len(old)):
		return len(rows) - len(old)
	}
	found := -1
	for at := from; at+len(old) <= len(rows); at++ {
		switch {
		case !is(at):
		case first == 0:
			return at
		case found >= 0:
			return -1
		default:
			found = at
		}
	}
	return found
}
