package agent

import (
	"slices"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/sessions"
)

// findOptions finds the options of a dialog, and where they begin; false: they aren't
// there, or not from the first on.
func (r *dialogReading) findOptions() bool {
	r.submit = -1
	switch {
	case r.form.Row != nil:
		return r.sideBySide()
	case len(r.form.Fixed) > 0:
		r.above = len(r.rows)
		if f := r.form.Foot; f != nil {
			for i := range r.rows {
				if f.row.MatchString(r.wholeRow(i)) {
					r.above = i
				}
			}
		}
		for _, o := range r.form.Fixed {
			r.options = append(r.options, option{DialogOption: sessions.DialogOption{Label: o.Label, Key: o.Key}, row: r.above, next: r.above})
		}
		return true
	}
	found := r.matches()
	if r.form.Option.SubexpIndex("number") >= 0 {
		if r.options = lastRun(found); r.options == nil && r.form.Window != nil && r.form.Answer == byDigit {
			r.options = r.behindWindow(lastPart(found))
		}
	} else {
		r.options = r.lastBlock(found)
	}
	if len(r.options) == 0 {
		return false
	}
	r.above = r.options[0].row
	r.belows()
	return true
}

// sideBySide finds options that stand in one row.
func (r *dialogReading) sideBySide() bool {
	for i, w := range slices.Backward(r.rows) {
		m := r.form.Row.row.FindStringSubmatch(w.text)
		if m == nil || w.edge {
			continue
		}
		for label := range strings.SplitSeq(m[r.form.Row.SubexpIndex("labels")], "  ") {
			if label = strings.TrimSpace(label); label != "" {
				r.options = append(r.options, option{DialogOption: sessions.DialogOption{Label: label}, row: i, next: i + 1})
			}
		}
		r.above = i
		return len(r.options) > 0
	}
	return false
}

// matches are all rows that look like an option.
func (r *dialogReading) matches() []option {
	re := r.form.Option
	group := func(w string, at []int, name string) string {
		n := re.SubexpIndex(name)
		if n < 0 || at[2*n] < 0 {
			return ""
		}
		return strings.TrimSpace(w[at[2*n]:at[2*n+1]])
	}
	var out []option
	for i, w := range r.rows {
		at := re.row.FindStringSubmatchIndex(w.text)
		if w.edge || at == nil {
			continue
		}
		o := option{row: i, next: i + 1, col: len(w.text) - len(strings.TrimLeft(w.text, " "))}
		o.Label, o.Detail = printable(group(w.text, at, "label")), printable(group(w.text, at, "detail"))
		if n := re.SubexpIndex("number"); n >= 0 && at[2*n] >= 0 {
			o.col = len([]rune(w.text[:at[2*n]]))
		} else if re.SubexpIndex("mark") >= 0 {
			o.col = len([]rune(w.text[:at[2*re.SubexpIndex("label")]]))
		}
		o.more = group(w.text, at, "more")
		check := group(w.text, at, "check")
		o.Checked, o.marked = check != "", group(w.text, at, "mark") != ""
		if n, err := strconv.Atoi(group(w.text, at, "number")); err == nil {
			if o.number = n; r.form.Answer == byDigit && n <= 9 {
				o.Key = strconv.Itoa(n)
			}
		}
		out = append(out, o)
	}
	return out
}

// lastRun are the lowest options whose numbers count from 1. Numbers are left out only
// where a list says that it goes on below; of one that says that it begins above there's
// none.
func lastRun(found []option) []option {
	for i, o := range slices.Backward(found) {
		if i+1 < len(found) {
			next := found[i+1].number
			if o.number != next-1 && (o.more != "↓" || o.number >= next) {
				return nil
			}
		}
		if o.more == "↑" {
			return nil
		}
		if o.number == 1 {
			return found[i:]
		}
	}
	return nil
}

// lastPart are the lowest options whose numbers count on, from wherever.
func lastPart(found []option) []option {
	for i := len(found) - 1; i > 0; i-- {
		if found[i].number != found[i-1].number+1 {
			return found[i:]
		}
	}
	return found
}

// behindWindow returns options if a row above them says that the list shows only some: where none
// does, the screen begins within the dialog.
func (r *dialogReading) behindWindow(part []option) []option {
	if len(part) == 0 {
		return nil
	}
	for _, w := range r.rows[:part[0].row] {
		if !w.edge && r.form.Window.row.MatchString(w.text) {
			return part
		}
	}
	return nil
}

// lastBlock are the lowest options that stand one below the other, one of them marked, or
// what submits them is.
func (r *dialogReading) lastBlock(found []option) []option {
	submits := r.submits()
	if r.form.Apart {
		found = slices.DeleteFunc(found, func(o option) bool { return !r.isBlank(o.row - 1) })
	}
	for i := len(found) - 1; i >= 0; i-- {
		from := i
		for from > 0 && found[from-1].col == found[from].col && r.adjoins(found[from-1], found[from]) {
			from--
		}
		for _, o := range found[from : i+1] {
			if (o.marked || submits) && (i > from || !r.form.Apart) {
				return found[from : i+1]
			}
		}
		i = from
	}
	return nil
}

// adjoins reports whether an option stands directly below another: with nothing between
// them, or, where they stand apart, with that one's rows and a blank one.
func (r *dialogReading) adjoins(above, below option) bool {
	if !r.form.Apart {
		return above.row == below.row-1
	}
	for i := above.row + 1; i < below.row-1; i++ {
		if r.isBlank(i) {
			return false
		}
	}
	return true
}

func (r *dialogReading) isBlank(i int) bool { return i >= 0 && !r.rows[i].edge && r.rows[i].text == "" }

// submits reports whether what submits is marked.
func (r *dialogReading) submits() bool {
	s := r.form.Submit
	if s == nil || s.Row == nil {
		return false
	}
	return slices.ContainsFunc(r.rows, func(w dialogRow) bool {
		m := s.Row.row.FindStringSubmatch(w.text)
		return !w.edge && m != nil && m[s.Row.SubexpIndex("mark")] != ""
	})
}

// belows gives options what stands below their first rows.
func (r *dialogReading) belows() {
	for n := range r.options {
		o := &r.options[n]
		to := len(r.rows)
		if n+1 < len(r.options) {
			to = r.options[n+1].row
		}
		for ; o.next < to; o.next++ {
			w := r.rows[o.next]
			text := strings.TrimLeft(w.text, " ")
			// Between options some programs don't indent.
			own := n+1 < len(r.options) || r.form.Apart || len(w.text)-len(text) > o.col
			if w.edge || text == "" || !own || r.isSpecial(o.next) {
				break
			}
			if r.form.Below == belowDetail {
				o.Detail = strings.TrimSpace(o.Detail + " " + printable(text))
			} else {
				o.Label = strings.TrimSpace(o.Label + " " + printable(text))
			}
		}
		if s := r.form.Strip; s != nil {
			o.Label = s.ReplaceAllString(o.Label, "")
		}
	}
}

// isSpecial reports whether a row below an option isn't its own.
func (r *dialogReading) isSpecial(i int) bool {
	f, text := r.form, r.rows[i].text
	return f.Submit != nil && f.Submit.Row != nil && f.Submit.Row.row.MatchString(text) ||
		f.Text != nil && (f.Text.Above != nil && f.Text.Above.row.MatchString(text) || f.Text.Field != nil && f.Text.Field.row.MatchString(text)) ||
		f.Window != nil && f.Window.row.MatchString(text) ||
		f.Foot != nil && f.Foot.row.MatchString(r.wholeRow(i))
}

// findMarked finds what's marked, takes the entry for text out of the options, and finds
// what submits.
func (r *dialogReading) findMarked(d *sessions.Dialog) {
	r.findList()
	list := r.options
	text, entry := r.findEntry(d)
	if entry >= 0 && r.form.Text.Field == nil {
		o := r.options[entry]
		d.TextKey = o.Key
		r.options = append(r.options[:entry:entry], r.options[entry+1:]...)
		if o.marked && !r.form.Text.Detail {
			r.marks, d.Marked = r.marks+1, len(r.options)
		}
	}
	for i, o := range r.options {
		if o.marked {
			r.marks, d.Marked = r.marks+1, i
		}
	}
	if s := r.form.Submit; s != nil && s.Row != nil && r.submit >= 0 {
		m := s.Row.row.FindStringSubmatch(r.rows[r.submit].text)
		if m[s.Row.SubexpIndex("mark")] != "" {
			r.marks, d.Marked = r.marks+1, len(r.options)+1
		}
	}
	if r.marks > 1 {
		d.Marked = -1
	}
	if text != nil {
		d.Marked, d.Typed = len(r.options), *text
	}
	if r.window && list[0].number > 0 {
		d.Window = r.windowOf(d, list)
	}
}

// windowOf says which part of a list is on the screen; the entry for text is in it.
func (r *dialogReading) windowOf(d *sessions.Dialog, list []option) *sessions.ListWindow {
	w := &sessions.ListWindow{First: list[0].number}
	if r.marks > 1 {
		return w
	}
	for i, o := range list {
		if o.marked {
			w.Marked = w.First + i
		}
	}
	if d.Marked == len(r.options)+1 {
		w.Marked, w.Submit = w.First+len(list), true
	}
	return w
}

// findList finds the rows around a list.
func (r *dialogReading) findList() {
	r.window = slices.ContainsFunc(r.options, func(o option) bool { return o.more != "" })
	for i, w := range r.rows {
		if s := r.form.Submit; s != nil && s.Row != nil && !w.edge && i >= r.above && s.Row.row.MatchString(w.text) {
			r.submit = i
		}
		if f := r.form.Window; f != nil && !w.edge && f.row.MatchString(w.text) {
			r.window = true
		}
	}
}

// findEntry finds the entry for text among the options, -1: there's none. text is what
// stands in its field, nil: that isn't open.
func (r *dialogReading) findEntry(d *sessions.Dialog) (text *string, at int) {
	t := r.form.Text
	if t == nil {
		return nil, -1
	}
	at = -1
	for i, o := range r.options {
		below := ""
		if o.next < len(r.rows) {
			below = r.rows[o.next].text
		}
		switch {
		case t.Label.whole.MatchString(o.Label), t.Above != nil && o.more == "" && t.Above.row.MatchString(below),
			t.Hint != nil && o.marked && t.Hint.MatchString(r.textOfRows(o.next, len(r.rows))):
			at = i
		}
	}
	if at < 0 {
		return nil, -1
	}
	o := r.options[at]
	d.Text = r.entryLabel(o)
	field, open := strings.TrimPrefix(o.Label, "> "), o.marked
	switch {
	case t.Field != nil:
		open = false
		for _, w := range r.rows[o.next:] {
			if m := t.Field.row.FindStringSubmatch(w.text); m != nil && !w.edge {
				field, open = strings.TrimSpace(m[1]), true
			}
		}
	case t.Detail:
		field, open = o.Detail, o.Detail != ""
	}
	if !open {
		return nil, at
	}
	if t.Empty != nil && t.Empty.whole.MatchString(field) || t.Empty == nil && t.Label.whole.MatchString(field) {
		field = ""
	}
	return &field, at
}

// entryLabel is the label of the entry, whatever stands in it.
func (r *dialogReading) entryLabel(o option) string {
	if r.form.Text.Label.whole.MatchString(o.Label) {
		return strings.TrimPrefix(o.Label, "> ")
	}
	return "…"
}
