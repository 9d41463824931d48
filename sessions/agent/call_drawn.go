package agent

import (
	"slices"
	"strings"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

// likeness is what a dialog draws of a call.
type likeness int

const (
	drawsOther likeness = iota // something that the call doesn't say
	drawsSome                  // too little to tell
	drawsIt
)

// judgeDrawn says what a dialog draws of the call: nothing but what it says, and where the
// dialog is drawn whole, all of a command and that once.
func (c *call) judgeDrawn(d *sessions.Dialog) likeness {
	switch {
	case c.asks:
		return drawsOther
	case c.lost:
		return drawsIt
	case (d.Command || c.plan) && c.main == "", c.plan != (d.Kind == sessions.PromptPlan):
		return drawsOther
	}
	if c.joinsRows(d) {
		return drawsOther
	}
	var all strings.Builder
	for _, row := range d.Drawn {
		part, ok := c.cutPart(row)
		if !ok {
			return drawsOther
		}
		all.WriteString(part)
	}
	rest := all.String()
	switch {
	case d.Unseen && len(rest) < leastDrawn:
		return drawsSome
	case d.Unseen:
		return drawsIt
	case c.main == "" && (d.All && rest == strings.Join(c.texts, "") || !d.All && madeOf(rest, c.texts)):
		return drawsIt
	case c.main == "":
		return drawsOther
	case !strings.Contains(rest, c.main):
		return drawsOther
	}
	if above, ok := strings.CutSuffix(rest, c.main); ok && above != "" && strings.HasSuffix(c.head, above) {
		return drawsIt
	}
	others := slices.Clone(c.texts)
	others = slices.Delete(others, slices.Index(others, c.main), slices.Index(others, c.main)+1)
	if d.Apart {
		others = nil
	}
	for _, text := range append([]string{c.main}, others...) {
		rest = strings.Replace(rest, text, "", 1)
	}
	if rest != "" {
		return drawsOther
	}
	return drawsIt
}

// joinsRows reports whether the command goes on in a row where a dialog draws two of which the first had
// room for more: what's a comment's in the one runs in the other.
func (c *call) joinsRows(d *sessions.Dialog) bool {
	if c.rows == "" || c.marked {
		return false
	}
	above, wide := "", 0
	for _, row := range d.Drawn {
		row = strings.TrimSpace(row)
		text := c.gapped(row)
		if text == "" {
			continue
		}
		first, _, _ := strings.Cut(text, " ")
		if above != "" && wide+1+displaywidth.String(first) <= d.Wide/2 && strings.Contains(c.rows, above+" "+text) && !strings.Contains(c.rows, above+"\n"+text) {
			return true
		}
		above, wide = text, displaywidth.String(row)
	}
	return false
}

// madeOf reports whether a text is whole ones of others, one after the other.
func madeOf(text string, of []string) bool {
	ends := make([]bool, len(text)+1) // where one ends up to which it is
	ends[0] = true
	for at := range text {
		if !ends[at] {
			continue
		}
		for _, one := range of {
			if one != "" && strings.HasPrefix(text[at:], one) {
				ends[at+len(one)] = true
			}
		}
	}
	return ends[len(text)]
}

// mayBe reports whether all that a dialog surely draws occurs in the call.
func (c *call) mayBe(d *sessions.Dialog) bool {
	return !slices.ContainsFunc(d.Surely, func(row string) bool {
		_, ok := c.cutPart(row)
		return !ok
	})
}

// isWithin reports whether all of the command is drawn, whatever else is: Qwen Code draws rows of its
// own in Auto Mode.
func (c *call) isWithin(d *sessions.Dialog) bool {
	return strings.Contains(c.letters(strings.Join(d.Drawn, "")), c.main)
}

// hasSome reports whether a row that's drawn is the call's.
func (c *call) hasSome(d *sessions.Dialog) bool {
	return slices.ContainsFunc(d.Drawn, func(row string) bool {
		text, ok := c.cutPart(row)
		return ok && len(text) >= leastDrawn
	})
}

// tellsOf reports whether a dialog draws a text by which the call is known, whatever else it draws.
func (c *call) tellsOf(d *sessions.Dialog) bool {
	all := c.letters(strings.Join(d.Above, "") + strings.Join(d.Drawn, ""))
	return slices.ContainsFunc(c.tells, func(text string) bool { return strings.Contains(all, text) })
}

// cutPart is what a row draws of a call; false: it draws something else.
func (c *call) cutPart(row string) (string, bool) {
	for _, bare := range bareRow(row, c.main == "") {
		text, spaced := c.letters(bare), c.spaced(bare)
		if text == "" || slices.ContainsFunc(c.texts, func(said string) bool { return strings.Contains(said, text) }) &&
			slices.ContainsFunc(c.exact, func(said string) bool { return strings.Contains(said, spaced) }) {
			return text, true
		}
	}
	return "", false
}

// bareRow is a row as it is, and without what programs put after it, that it's longer, or
// before those of files: a number of a line and a sign.
func bareRow(row string, file bool) []string {
	row = strings.TrimSpace(row)
	out := []string{row}
	if bare, ok := strings.CutSuffix(row, "…"); ok {
		out = append(out, bare)
	}
	if bare := strings.TrimLeft(row, "0123456789"); file && bare != row {
		bare = strings.TrimLeft(bare, " ")
		out = append(out, bare, strings.TrimLeft(bare, "+-"))
	}
	return out
}

// qwenNames are what Qwen Code calls tools in its dialogs, where that's another name.
var qwenNames = map[string]string{qwenShell: "Shell"} //nolint:gochecknoglobals // a constant table

// isOf reports whether it may be a call of a tool by the name that's drawn of that; "": of any.
func (c *call) isOf(tool string) bool {
	return tool == "" || c.lost || plainName(c.tool) == plainName(tool) || qwenNames[c.tool] == tool
}
