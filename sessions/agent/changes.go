package agent

import (
	"encoding/json"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/clipperhouse/displaywidth"

	"github.com/panebridge/panebridge/sessions"
)

// fileChange is what a call is to change of a file, as its record says: rows by their squeezed
// letters, without blank ones.
type fileChange struct {
	path string
	rows []drawnLine // all that's to be drawn
	// texts says that the record has the text that's to be replaced, old, and what's put there,
	// now: rows that both have may be drawn as the file's, and what's around them isn't known.
	texts    bool
	old, now []string
	// open says that a row may be drawn as new or as replaced which has no letter of the two texts: one of
	// them begins or ends with a blank row, or is blank, and the other isn't.
	open bool
	// count is how many rows a file has that's new; 0: it isn't, or may not be.
	count int
	said  string // as people read it
}

// changeOf reads a call's input; nil: it isn't one that changes a file in a way that's known.
func changeOf(input json.RawMessage) *fileChange {
	var in recordMembers
	if json.Unmarshal(input, &in) != nil {
		return nil
	}
	c := &fileChange{path: in.firstText("file_path", "filePath", "filepath")}
	_, old := in["old_string"]
	_, now := in["new_string"]
	_, content := in["content"]
	switch diff := in.firstText("diff", "fileDiff"); {
	case c.path == "", diff != "" && (old || now || content): // a tool that takes these leaves a diff be
		return nil
	case diff != "":
		c.ofDiff(diff)
	case old && now:
		c.texts = true
		was, is := rowsOf(in.textOf("old_string")), rowsOf(in.textOf("new_string"))
		c.old, c.now = squeezedRows(was), squeezedRows(is)
		c.open = hasOpenEnds(in.textOf("old_string"), in.textOf("new_string"))
		where := ""
		if string(in["replace_all"]) == "true" {
			where = " (everywhere)"
		}
		c.tellChange(where, slices.Concat(signed("-", was), signed("+", is)))
	case in.textOf("content") != "":
		rows := rowsOf(in.textOf("content"))
		c.count = len(rows)
		for _, text := range squeezedRows(rows) {
			c.rows = append(c.rows, drawnLine{'+', text})
		}
		c.tellChange("", rows)
	default:
		return nil
	}
	return c
}

// hasOpenEnds reports whether one of two texts is blank, or begins or ends with a blank row, and the other isn't so.
func hasOpenEnds(old, now string) bool {
	ends := func(text string) (first, last, all bool) {
		rows := strings.Split(strings.ReplaceAll(text, "\r\n", "\n"), "\n")
		return squeezed(rows[0]) == "", squeezed(rows[len(rows)-1]) == "", squeezed(text) == ""
	}
	oldFirst, oldLast, oldAll := ends(old)
	nowFirst, nowLast, nowAll := ends(now)
	return oldAll || nowAll || oldFirst != nowFirst || oldLast != nowLast
}

// diffHead are the rows above what a diff changes.
var diffHead = regexp.MustCompile(`^(?:Index: .*|=+|--- .*|\+\+\+ .*|diff .*|\\ No newline at end of file)$`)

// ofDiff takes in a diff.
func (c *fileChange) ofDiff(diff string) {
	var rows []string
	hunk := false
	for _, row := range rowsOf(diff) {
		hunk = hunk || strings.HasPrefix(row, "@@")
		if !hunk && diffHead.MatchString(row) || strings.HasPrefix(row, `\ No newline`) {
			continue
		}
		rows = append(rows, row)
		if row == "" || strings.HasPrefix(row, "@@") {
			continue
		}
		line := drawnLine{' ', squeezed(row)}
		if row[0] == '+' || row[0] == '-' {
			line = drawnLine{row[0], squeezed(row[1:])}
		}
		if line.text != "" {
			c.rows = append(c.rows, line)
		}
	}
	c.tellChange("", rows)
}

// tellChange is the change as people read it.
func (c *fileChange) tellChange(where string, rows []string) {
	c.said = strings.Join(append([]string{"file: " + strings.ReplaceAll(c.path, "\n", "\n    ") + where}, rows...), "\n")
}

func rowsOf(text string) []string {
	return strings.Split(strings.TrimSuffix(strings.ReplaceAll(text, "\r\n", "\n"), "\n"), "\n")
}

func signed(sign string, rows []string) (out []string) {
	for _, row := range rows {
		out = append(out, sign+row)
	}
	return out
}

func squeezedRows(rows []string) (out []string) {
	for _, row := range rows {
		if text := squeezed(row); text != "" {
			out = append(out, text)
		}
	}
	return out
}

// changeForm says how a dialog draws a change: Head is found in what's above the options,
// and has a group named path. Signed rows have a sign behind their number; without, all of
// them are new. Either: they have none in a file that's new alone. Asks is the question about a
// file that's new, with the same group: it names the file where only the end of it is drawn.
// Crops is how many cells the program leaves out at most at the end of a row that's full.
type changeForm struct {
	Head   pattern `yaml:"head"`
	Signed bool    `yaml:"signed"`
	Either bool    `yaml:"either"`
	Asks   pattern `yaml:"asks"`
	Crops  int     `yaml:"crops"`
}

// drawnChange is a change as a dialog draws it.
type drawnChange struct {
	path  string
	lines []drawnLine
	// beside says that old and new rows stand side by side, as opencode has them where there's
	// room: those aren't told apart.
	beside bool
	// end says that it's the end of a file that's new, whose last row has the number last.
	end  bool
	last int
	// signed is the same with a sign behind each number; nil: it has them, or surely none.
	signed *drawnChange
	crops  int  // changeForm.Crops
	full   int  // cells that a row has at least of which the end may be left out
	vague  bool // too little is drawn of a row of which something is left out
}

// cropMargin is how many cells a row of a dialog may be narrower than the screen, and still be full.
const cropMargin = 16

type drawnLine struct {
	sign byte   // '+', '-' or ' '
	text string // of a drawn one: with cropMark where something may be left out
}

// cropMark isn't a letter. It's taken out of what's drawn first.
const cropMark = '\uFFFF'

// A row of a change: its number ends where those of all the others do, which tells it from the
// rest of a longer one above it.
var (
	numberedRow = regexp.MustCompile(`^( *\d+)(?: (.*))?$`)
	besideRow   = regexp.MustCompile(`\S {2,}\d+ [ +-](?: |$)`)
)

// readChange reads the change that a dialog draws; nil: it draws none of its form's.
func (f *dialogForm) readChange(of *sessions.Dialog) *drawnChange {
	if f == nil {
		return nil
	}
	text := strings.Join(of.Above, "\n")
	for _, cf := range f.Changes {
		m := cf.Head.FindStringSubmatchIndex(text)
		if m == nil {
			continue
		}
		n := 2 * cf.Head.SubexpIndex("path")
		d := &drawnChange{path: strings.TrimSpace(text[m[n]:m[n+1]]), crops: cf.Crops, full: of.Wide - cropMargin}
		below := strings.Split(text[m[1]:], "\n")[1:]
		if cf.Either {
			signed := *d
			d.signed = &signed
			d.signed.readRows(below, true)
		}
		d.readRows(below, cf.Signed)
		return d
	}
	return nil
}

// readEnd reads the end of a new file from a dialog whose beginning isn't on the screen; nil: it draws none.
func (f *dialogForm) readEnd(d *sessions.Dialog) *drawnChange {
	if f == nil || !d.Headless || !d.Unseen || d.Disputed {
		return nil
	}
	for _, cf := range f.Changes {
		if cf.Asks.Regexp == nil {
			continue
		}
		if m := cf.Asks.whole.FindStringSubmatch(d.Title); m != nil {
			end := &drawnChange{path: m[cf.Asks.SubexpIndex("path")], end: true}
			rows := strings.Split(d.Body, "\n")
			first := max(0, slices.IndexFunc(rows, numberedRow.MatchString))
			end.readRows(rows[first:], cf.Signed)
			if text := squeezed(strings.Join(rows[:first], "")); text != "" { // of a row that begins above the screen
				end.lines = slices.Insert(end.lines, 0, drawnLine{'+', text})
			}
			return end
		}
	}
	return nil
}

func (d *drawnChange) readRows(rows []string, hasSigns bool) {
	const most = 12 // cells of a number
	ends := -1      // the column where numbers end
	for _, row := range rows {
		row = strings.ReplaceAll(row, string(cropMark), "")
		drawn := row
		d.beside = d.beside || hasSigns && besideRow.MatchString(row) || ends > most
		m := numberedRow.FindStringSubmatch(row)
		switch {
		case m != nil && (ends < 0 || len(m[1]) == ends):
			ends = len(m[1])
			d.last, _ = strconv.Atoi(strings.TrimSpace(m[1]))
			line := drawnLine{'+', m[2]}
			if hasSigns {
				line.sign = ' '
				if m[2] != "" && (m[2][0] == '+' || m[2][0] == '-') {
					line.sign, line.text = m[2][0], m[2][1:]
				}
			}
			d.lines = append(d.lines, line)
		case ends >= 0 && strings.Trim(row, " .…⋮") != "":
			last := &d.lines[len(d.lines)-1]
			if at := ends + 1; hasSigns && len(row) > at && row[at] == last.sign && strings.TrimLeft(row[:at], " ") == "" {
				row = row[at+1:] // Claude Code has the sign in each row of a longer one
			}
			last.text += row
		default:
			continue
		}
		if d.crops > 0 && displaywidth.String(drawn) >= d.full {
			d.lines[len(d.lines)-1].text += string(cropMark)
		}
	}
	kept := d.lines[:0]
	for _, line := range d.lines {
		if line.text = squeezed(line.text); line.text != "" {
			kept = append(kept, line)
		}
	}
	d.lines = kept
}

// completedBy is the change with the letters that the program left out at the ends of rows, as far as a record has rows
// that they may be.
func (d *drawnChange) completedBy(c *fileChange) *drawnChange {
	if d == nil || d.crops == 0 {
		return d
	}
	rows := map[byte][]string{'+': c.now, '-': c.old, ' ': c.now}
	for _, line := range c.rows {
		rows[line.sign] = append(rows[line.sign], line.text)
	}
	out := *d
	out.lines, out.signed = nil, d.signed.completedBy(c)
	for _, line := range d.lines {
		parts := strings.Split(line.text, string(cropMark))
		n := -1
		if len(parts) > 1 {
			n = slices.IndexFunc(rows[line.sign], func(row string) bool { return isCropOf(row, parts, d.crops) })
		}
		if line.text = strings.Join(parts, ""); n >= 0 && line.text != rows[line.sign][n] {
			line.text = rows[line.sign][n]
			out.vague = out.vague || slices.ContainsFunc(parts[:len(parts)-1], func(part string) bool { return len(part) < leastDrawn })
		}
		if line.text != "" {
			out.lines = append(out.lines, line)
		}
	}
	return &out
}

// isCropOf reports whether a row is these parts, with at most so many letters between each and the next.
func isCropOf(row string, parts []string, crops int) bool {
	if !strings.HasPrefix(row, parts[0]) { // nearly all that's asked about
		return false
	}
	ends := map[int]bool{0: true} // where in row the parts so far may end
	for i, part := range parts {
		next := map[int]bool{}
		for at := range ends {
			for left := 0; left == 0 || i > 0 && left <= crops && at < len(row); left++ {
				if left > 0 {
					_, size := utf8.DecodeRuneInString(row[at:])
					at += size
				}
				if strings.HasPrefix(row[at:], part) {
					next[at+len(part)] = true
				}
			}
		}
		ends = next
	}
	return ends[len(row)]
}

// judgeChange says what a dialog draws of a change: only what the record says, in its order, and where
// it's drawn whole, all of that.
func (d *drawnChange) judgeChange(c *fileChange, whole bool) likeness {
	switch {
	case d.signed != nil && d.signed.judgeChange(c, whole) == drawsIt:
		return drawsIt
	case !samePath(c.path, d.path):
		return drawsOther
	case d.vague:
		return drawsSome
	case d.end && d.isEnd(c):
		return drawsIt
	case d.end:
		return drawsOther
	case whole && c.texts && d.replaces(c.old, c.now):
		return drawsIt
	case whole && !c.texts && slices.Equal(d.lines, c.rows):
		return drawsIt
	case whole, c.texts:
		return drawsOther
	}
	letters := 0
	for _, line := range d.lines {
		letters += len(line.text)
	}
	if letters < leastDrawn {
		return drawsSome
	}
	for at := range len(c.rows) - len(d.lines) + 1 {
		if d.isPart(c.rows[at:]) {
			return drawsIt
		}
	}
	return drawsOther
}

// isPart reports whether rows begin with those that are drawn, of which the first may begin
// and the last end elsewhere.
func (d *drawnChange) isPart(rows []drawnLine) bool {
	for i, line := range d.lines {
		is := rows[i].text == line.text
		switch i {
		case len(d.lines) - 1:
			is = is || strings.HasPrefix(rows[i].text, line.text) || i == 0 && strings.Contains(rows[i].text, line.text)
		case 0:
			is = is || strings.HasSuffix(rows[i].text, line.text)
		}
		if !is || rows[i].sign != line.sign {
			return false
		}
	}
	return true
}

// isEnd reports whether it's the end of the file that a change makes, of which the row that's drawn
// first may begin above the screen.
func (d *drawnChange) isEnd(c *fileChange) bool {
	letters, from := 0, len(c.rows)-len(d.lines)
	if from < 0 || c.count != d.last {
		return false
	}
	for i, line := range d.lines {
		letters += len(line.text)
		if is := c.rows[from+i]; is != line && (i > 0 || len(d.lines) == 1 || is.sign != line.sign || !strings.HasSuffix(is.text, line.text)) {
			return false
		}
	}
	return letters >= leastDrawn
}

// replaces reports whether a text is drawn to be put in place of another: the rows with each
// sign, and the same rows of the file between and beside them, are the one and the other.
func (d *drawnChange) replaces(old, now []string) bool {
	after := d.findTexts('+', now)
	return slices.ContainsFunc(d.findTexts('-', old), func(shared []int) bool {
		return slices.ContainsFunc(after, func(other []int) bool { return slices.Equal(shared, other) })
	})
}

// findTexts finds where the rows with a sign, and rows of the file between and beside them, are a
// text, one after the other, and none besides has that sign: for each such place it returns
// which rows of the file are in it.
func (d *drawnChange) findTexts(sign byte, text []string) (out [][]int) {
	var side []int // of the file before the change, or after it: indexes of d.lines
	first, last := -1, -1
	for i, line := range d.lines {
		if line.sign != ' ' && line.sign != sign {
			continue
		}
		if line.sign == sign {
			if last = len(side); first < 0 {
				first = last
			}
		}
		side = append(side, i)
	}
	for at := range len(side) - len(text) + 1 {
		if first >= 0 && (at > first || at+len(text) <= last) {
			continue
		}
		if !slices.EqualFunc(side[at:at+len(text)], text, func(i int, row string) bool { return d.lines[i].text == row }) {
			continue
		}
		files := []int{}
		for _, i := range side[at : at+len(text)] {
			if d.lines[i].sign == ' ' {
				files = append(files, i)
			}
		}
		out = append(out, files)
	}
	return out
}

// contradicts reports whether a dialog surely draws something that the record doesn't say: a
// new row that isn't in it. A path may be drawn in parts.
func (d *drawnChange) contradicts(c *fileChange) bool {
	var made strings.Builder
	made.WriteString(strings.Join(c.now, ""))
	for _, line := range c.rows {
		if line.sign == '+' {
			made.WriteString(line.text)
		}
	}
	if d.signed != nil && !d.signed.contradicts(c) {
		return false
	}
	all := made.String()
	return slices.ContainsFunc(d.lines, func(line drawnLine) bool {
		return line.sign == '+' && !strings.Contains(all, line.text)
	})
}

// excludes reports whether a dialog surely isn't about a change: it draws a new or a replaced row that has nothing of it.
// Of a text that's part of a row more is drawn than the record says, but always the text as well. What's replaced is
// known where the record has the text that is.
func (d *drawnChange) excludes(c *fileChange) bool {
	if c.open || d.signed != nil && !d.signed.excludes(c) {
		return false
	}
	has := map[byte][]string{'+': c.now, '-': c.old}
	for _, line := range c.rows {
		has[line.sign] = append(has[line.sign], line.text)
	}
	return slices.ContainsFunc(d.lines, func(line drawnLine) bool {
		return (line.sign == '+' || line.sign == '-' && c.texts) && !slices.ContainsFunc(has[line.sign], func(row string) bool {
			return strings.Contains(line.text, row) || strings.Contains(row, line.text)
		})
	})
}

// samePath reports whether a path may be drawn in this way: whole, or from the project's
// folder or the user's on.
func samePath(whole, drawn string) bool {
	whole, drawn = path.Clean(squeezed(whole)), squeezed(drawn)
	for {
		rest, ok := strings.CutPrefix(drawn, "../")
		if !ok {
			break
		}
		drawn = rest
	}
	drawn = strings.TrimPrefix(strings.TrimPrefix(drawn, "~/"), "./")
	return drawn != "" && (whole == drawn || strings.HasSuffix(whole, "/"+drawn))
}

// recordChange adds to a dialog about a change of a file what the record of its call says.
// Where calls that change files wait, and the dialog draws something that none of them says,
// both are shown.
func (c calls) recordChange(d *sessions.Dialog, drawn *drawnChange) {
	if drawn.beside {
		return
	}
	var is []call
	disputed, lost := (*call)(nil), false
	changes := 0
	for i, one := range c {
		drawn := drawn
		if one.change != nil {
			drawn = drawn.completedBy(one.change)
		}
		if one.change != nil && (!one.gone || samePath(one.change.path, drawn.path) && (one.odd || !drawn.excludes(one.change))) {
			changes++
		}
		switch {
		case one.gone:
		case one.lost:
			lost = true
		case one.change == nil:
		case drawn.judgeChange(one.change, !d.Unseen) == drawsIt:
			is = append(is, one)
		case drawn.contradicts(one.change) && !one.odd:
			disputed = &c[i]
		default:
			lost = true
		}
	}
	switch {
	case len(is) == 1 && changes > 1: // of part of a row more is drawn than it says, so another may be drawn as it is
	case len(is) == 1 && !lost:
		is[0].tellDialog(d)
		d.Unseen = false
	case len(is) == 0 && disputed != nil && !lost:
		d.Call, d.Whole, d.Disputed, d.Unseen = disputed.sum, disputed.said, true, true
	}
}

// recordEnd adds to a dialog of which the end of a new file is drawn what its call's record says, while
// a hook waits that can allow that very call: no key is pressed for what isn't seen whole. It's false where
// that isn't so.
func (c calls) recordEnd(d *sessions.Dialog, f *dialogForm, waits []*decider) bool {
	drawn := f.readEnd(d)
	if drawn == nil || f.Allow == nil {
		return false
	}
	of := *d
	c.recordChange(&of, drawn)
	if of.Unseen || !slices.ContainsFunc(waits, func(w *decider) bool { return w.decides(&of) }) {
		return false
	}
	i := slices.IndexFunc(of.Options, func(o sessions.DialogOption) bool { return f.Allow.whole.MatchString(o.Label) })
	if i < 0 {
		return false
	}
	of.Only = of.Options[i].Label
	*d = of
	return true
}
