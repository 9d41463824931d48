package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

// Prompt reads the dialog on a screen; nil: none is open, or none that's of a form of
// the profile. styled is the same screen with its colours, without which Marked may be
// -1. A profile with the dialogs of all others has their forms, too.
func (p *Profile) Prompt(screen *sessions.Snapshot, styled *sessions.Screen) *sessions.Dialog {
	if d := p.promptOrPart(screen, styled); !inMidList(d) {
		return d
	}
	return nil
}

// inMidList reports whether a dialog shows a list from its middle on: without a record of
// its call that isn't enough to go by.
func inMidList(d *sessions.Dialog) bool { return d != nil && d.Window != nil && d.Window.First > 1 }

// promptOrPart is Prompt, and reads also a dialog that shows a list from its middle on.
func (p *Profile) promptOrPart(screen *sessions.Snapshot, styled *sessions.Screen) *sessions.Dialog {
	if len(p.others) > 0 && p.Dialog(visibleRows(screen)) == "" { // it has the phrases of all of them
		return nil
	}
	if d := p.readDialog(screen, styled); d != nil {
		return d
	}
	for _, other := range p.others {
		if d := other.readDialog(screen, styled); d != nil {
			d.Form = other.name + "/" + d.Form
			return d
		}
	}
	return nil
}

func (p *Profile) readDialog(screen *sessions.Snapshot, styled *sessions.Screen) *sessions.Dialog {
	if len(p.spec.Prompts) == 0 || p.phrases.findPhrase(visibleRows(screen)) == "" {
		return nil
	}
	l := p.layout(screen, true)
	if l.dialog < 0 {
		return nil
	}
	for i := range p.spec.Prompts {
		f := &p.spec.Prompts[i]
		// What a program asks about itself comes before there's any conversation above it.
		cut := l.begins == beginsUnsure || l.begins == beginsOnTop && f.Kind != sessions.PromptSetup
		r := dialogReading{form: f, layout: l, cut: cut}
		if d := r.readDialog(); d != nil {
			d.Wide = screen.Width
			if f.Styled && styled != nil {
				d.Marked = markedByColour(f, d, styled)
			}
			return d
		}
	}
	return nil
}

// formOf returns the form of a dialog that was read with this profile; nil: it's of
// another configuration.
func (p *Profile) formOf(d *sessions.Dialog) *dialogForm {
	own := strings.TrimPrefix(d.Form, p.name+"/") // it was read before the program was known
	for i := range p.spec.Prompts {
		if p.spec.Prompts[i].Form == own {
			return &p.spec.Prompts[i]
		}
	}
	for _, other := range p.others {
		if name, ok := strings.CutPrefix(d.Form, other.name+"/"); ok {
			return other.formOf(&sessions.Dialog{Form: name})
		}
	}
	return nil
}

// dialogReading is a dialog that's being read.
type dialogReading struct {
	form   *dialogForm
	layout *layout
	cut    bool

	rows    []dialogRow
	options []option
	submit  int          // the row of what submits; -1: none is visible
	window  bool         // only some of the options are visible
	above   int          // rows[:above] are above the options
	below   int          // rows[below:] are below the title
	end     int          // rows[end:] are below the dialog
	surely  []string     // see sessions.Dialog
	marks   int          // how many rows are marked
	own     map[int]bool // of form.Own: which were there
}

// dialogRow is a row of the dialog.
type dialogRow struct {
	n    int    // its number on the screen
	text string // its content
	edge bool   // it's drawn around the content
}

// option is one that was found.
type option struct {
	sessions.DialogOption
	more   string // "↓", "↑": others are hidden behind, before it
	row    int    // index in rows
	next   int    // index of the first row that isn't its own
	col    int    // where its label begins
	number int    // 0: none
	marked bool
}

func (r *dialogReading) readDialog() *sessions.Dialog {
	r.takeOffFrame()
	if !r.form.Match.MatchString(r.textOfRows(0, len(r.rows))) || !r.findOptions() || !r.findEnd() {
		return nil
	}
	d := &sessions.Dialog{Kind: r.form.Kind, Form: r.form.Form, Styled: r.form.Styled, Cut: r.cut, Marked: -1}
	if !r.readTitle(d) {
		return nil
	}
	r.findMarked(d)
	for _, o := range r.options {
		o.Refuses = r.form.refuses(o.Label)
		d.Options = append(d.Options, o.DialogOption)
	}
	d.Tabs, d.Listed = r.tabsRow(), d.Options
	d.Unseen = r.cut || r.hidesPart(d)
	d.Cut = d.Unseen || r.window
	d.Partial = r.form.Partial != nil && r.form.Partial.whole.MatchString(d.Body)
	d.First, d.Last = r.layout.dialog, r.rows[r.end-1].n
	if r.form.Kind == sessions.PromptMulti {
		if r.window { // not all of what's checked can be seen: see calls.list
			d.Kind, d.Options, d.Marked = sessions.PromptChoice, nil, -1
		}
		d.Text = "" // nowhere was it tried how a text goes with other options
	}
	d.Print, d.Loose = printOf(d), looseOf(d)
	return d
}

// hidesPart reports whether a part of what it's about isn't shown, or may not be.
func (r *dialogReading) hidesPart(d *sessions.Dialog) bool {
	if r.form.Unseen || r.form.Params != nil && !r.form.Params.Whole {
		return true
	}
	if full := r.form.Full; full > 0 && (r.above-r.below >= full || r.layout.narrow) {
		return true
	}
	if filled := r.form.Filled; filled > 0 && strings.Count(d.Body, "\n")+1 >= filled {
		return true
	}
	return r.form.Hidden != nil && r.form.Hidden.MatchString(r.textOfRows(0, r.above))
}

// takeOffFrame takes off the frame.
func (r *dialogReading) takeOffFrame() {
	inner := 0 // runes of the frame in the frame; 0: none is open
	for n := r.layout.dialog; n < r.layout.behind; n++ {
		text, edge := r.layout.rows[n], false
		if f := r.form.Frame; f != nil {
			m := f.row.FindStringSubmatch(text)
			if edge = m == nil; !edge {
				text = strings.TrimRight(m[1], " ")
				wide := utf8.RuneCountInString(text)
				switch m := f.row.FindStringSubmatch(text); {
				case inner == 0 && frameTop.MatchString(text) && wide > r.frameWide()-frameMargin:
					inner, edge = wide, true
				case inner == wide && frameEnd.MatchString(text):
					inner, edge = 0, true
				case inner > 0 && m != nil:
					text = m[1]
				}
			}
		}
		r.rows = append(r.rows, dialogRow{n, strings.TrimRight(text, " "), edge})
	}
}

// What a frame in the frame begins and ends with: it's as wide as there's room.
var (
	frameTop = regexp.MustCompile(`^╭─+╮$`)
	frameEnd = regexp.MustCompile(`^╰─+╯$`)
)

// frameMargin is how many cells narrower than its frame a frame in it is at most.
const frameMargin = 8

// frameWide is how wide the dialog's own frame is.
func (r *dialogReading) frameWide() int {
	return utf8.RuneCountInString(strings.TrimSpace(r.layout.rows[r.layout.dialog]))
}

// textOfRows is the content of some rows.
func (r *dialogReading) textOfRows(from, to int) string {
	var b strings.Builder
	for _, w := range r.rows[from:to] {
		if !w.edge {
			b.WriteString(w.text)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// findEnd finds where the dialog ends. Text below it says that it's quoted.
func (r *dialogReading) findEnd() bool {
	from := r.above
	if n := len(r.options); n > 0 {
		from = max(from, r.options[n-1].next)
	}
	r.end = from
	if foot := r.form.Foot; foot != nil {
		for r.end < len(r.rows) && !foot.row.MatchString(r.wholeRow(r.end)) {
			r.end++
		}
		if r.end == len(r.rows) {
			return false
		}
		r.end++
	}
	last := r.end
	for i := r.end; i < len(r.rows); i++ {
		text := r.wholeRow(i)
		if text == "" {
			continue
		}
		switch {
		case r.form.Frame != nil && !r.rows[i].edge || r.edgeOnly(text):
			last = i + 1
		case !matchesRow(r.form.Under, text):
			return false
		}
	}
	r.end = last
	return true
}

// wholeRow is a row with its frame.
func (r *dialogReading) wholeRow(i int) string { return r.layout.rows[r.rows[i].n] }

// edgeOnly reports whether a row has only what boxes are drawn with.
func (r *dialogReading) edgeOnly(text string) bool {
	return r.form.Frame != nil && strings.Trim(text, " ╭╮╰╯┌┐└┘─│┃╹▀▄█") == ""
}

// readTitle takes apart what's above the options.
func (r *dialogReading) readTitle(d *sessions.Dialog) bool {
	from, to := -1, -1
	if t := r.form.Title; t != nil {
		for i := range r.above {
			m := t.row.FindStringSubmatch(r.rows[i].text)
			if m == nil || r.rows[i].edge || r.form.Headed && from >= 0 {
				continue
			}
			from, to, d.Title = i, i+1, strings.TrimSpace(m[1])
		}
		r.below = to
	} else {
		from, to = r.paragraph()
		var parts []string
		for i := max(from, 0); i < to; i++ {
			parts = append(parts, strings.TrimSpace(strings.TrimPrefix(r.rows[i].text, "│ ")))
		}
		d.Title = strings.Join(parts, " ")
	}
	if from < 0 || d.Title == "" {
		return false
	}
	var body []string
	for i := range r.above {
		if w := r.rows[i]; !w.edge && (i < from || i >= to) && !matchesRow(r.form.Skip, w.text) {
			body = append(body, r.rawText(i))
		}
	}
	d.Body = tidy(body)
	d.Drawn, d.Apart = r.drawnRows(from, to)
	d.Apart, d.All = d.Apart || r.form.Alone, r.form.All
	d.Surely = r.surely
	if d.Headless = r.cut; !r.cut || r.form.Params != nil {
		d.Above = strings.Split(r.textOfRows(0, r.above), "\n")
		for i := from; i < to && !r.form.Headed; i++ {
			d.Above[i] = ""
		}
	}
	d.Command = !r.cut && r.form.Command != nil && r.form.Command.MatchString(r.textOfRows(0, r.above))
	return true
}

// rawText is the text of a row with the blanks that it has: one that doesn't break is none to a shell.
func (r *dialogReading) rawText(i int) string {
	text, row := r.rows[i].text, r.layout.raw[r.layout.dialog+i]
	plain := plainBlanks.Replace(row)
	at := strings.Index(plain, text)
	if len(plain) == len(row) || at < 0 {
		return text
	}
	var b strings.Builder
	for _, c := range row {
		one := plainBlanks.Replace(string(c))
		if at > 0 {
			at -= len(one)
			continue
		}
		if text == "" {
			break
		}
		text = text[min(len(one), len(text)):]
		b.WriteRune(c)
	}
	return b.String()
}

// tabsRow is the row that names the questions which are asked at once; "": there isn't just one.
func (r *dialogReading) tabsRow() (found string) {
	if r.form.Tabs == nil {
		return ""
	}
	for _, w := range r.rows[:r.above] {
		if !r.form.Tabs.row.MatchString(w.text) {
			continue
		}
		if found != "" {
			return ""
		}
		found = w.text
	}
	return found
}

// drawnRows are the rows above the options that are what the call says; apart: what runs stands
// apart from the rest of it, which isn't among them. The question is in from:to.
func (r *dialogReading) drawnRows(from, to int) (out []string, apart bool) {
	var between []int
	for i := range r.above {
		if b := r.form.Between; b != nil && b.row.MatchString(r.wholeRow(i)) {
			between = append(between, i)
		}
	}
	if len(between) == 1 && r.cut {
		between = append([]int{-1}, between...)
	}
	apart = len(between) > 1
	if len(r.form.Own) == 0 {
		return nil, false // it isn't known what of it is the call's
	}
	for i := r.headEnd(); i < r.above; i++ {
		w := r.rows[i]
		if w.n > r.layout.lowest && !w.edge {
			r.surely = append(r.surely, r.form.callsOf(w.text))
		}
		switch {
		case w.edge, w.text == "", i >= from && i < to, matchesRow(r.form.Skip, w.text), r.form.Hidden != nil && r.form.Hidden.row.MatchString(w.text):
		case apart && i > between[0] && i < between[len(between)-1]:
			out = append(out, w.text)
		case apart:
		default:
			if text := r.saidInRow(w.text); text != "" {
				out = append(out, text)
			}
		}
	}
	return out, apart
}

// headEnd is where what the tool's own row says ends: at a blank row.
func (r *dialogReading) headEnd() int {
	if r.form.Tool == nil || !r.form.Unseen {
		return 0
	}
	for i := range r.above {
		if w := r.rows[i]; !w.edge && w.text == "" {
			return i
		}
	}
	return 0
}

// callsOf is what of a row is the call's in any case.
func (f *dialogForm) callsOf(row string) string {
	for _, own := range f.Own {
		if m := own.row.FindStringSubmatch(row); m != nil {
			return strings.Join(m[1:], "")
		}
	}
	if matchesRow(f.Skip, row) || f.Hidden != nil && f.Hidden.row.MatchString(row) || f.Title != nil && f.Title.row.MatchString(row) {
		return ""
	}
	return row
}

// saidInRow is what a row says that isn't the program's own. The program writes each of its own
// once: another that looks like it is the call's.
func (r *dialogReading) saidInRow(row string) string {
	for i, own := range r.form.Own {
		if m := own.row.FindStringSubmatch(row); m != nil && !r.own[i] {
			if r.own == nil {
				r.own = map[int]bool{}
			}
			r.own[i] = true
			return strings.Join(m[1:], "")
		}
	}
	return row
}

// paragraph are the last rows above the options that aren't blank.
func (r *dialogReading) paragraph() (from, to int) {
	none := func(i int) bool {
		return r.rows[i].edge || r.rows[i].text == "" || matchesRow(r.form.Skip, r.rows[i].text)
	}
	to = r.above
	for to > 0 && none(to-1) {
		to--
	}
	from = to
	for from > 0 && !none(from-1) {
		from--
	}
	if from == to {
		return -1, -1
	}
	return from, to
}

// tidy takes off the blank rows around some and the blanks that all of them begin with.
func tidy(rows []string) string {
	for len(rows) > 0 && rows[0] == "" {
		rows = rows[1:]
	}
	for len(rows) > 0 && rows[len(rows)-1] == "" {
		rows = rows[:len(rows)-1]
	}
	indent := -1
	for _, row := range rows {
		if n := len(row) - len(strings.TrimLeft(row, " ")); row != "" && (indent < 0 || n < indent) {
			indent = n
		}
	}
	out := make([]string, len(rows))
	for i, row := range rows {
		out[i] = printable(row[min(max(indent, 0), len(row)):])
	}
	return strings.Join(out, "\n")
}

// printOf is the fingerprint of a dialog: of its texts with their rows and blanks, which can make
// another command of the same letters.
func printOf(d *sessions.Dialog) string {
	h := sha256.New()
	tell(d, func(s string) {
		h.Write([]byte(s))
		h.Write([]byte{0})
	})
	return hex.EncodeToString(h.Sum(nil)[:12])
}

// looseOf is what it says with single blanks, and an end of a row where one stands.
func looseOf(d *sessions.Dialog) string {
	var b strings.Builder
	tell(d, func(s string) {
		for i, row := range strings.Split(s, "\n") {
			if i > 0 {
				b.WriteByte('\n')
			}
			b.WriteString(strings.Join(strings.Fields(row), " "))
		}
		b.WriteByte(0)
	})
	return b.String()
}

// tell has each part of what a dialog says be added.
func tell(d *sessions.Dialog, add func(string)) {
	add(d.Form)
	add(d.Title)
	add(d.Body)
	for _, o := range d.Options {
		add(o.Label + o.Detail)
	}
	add(strconv.FormatBool(d.Text != "")) // a text that's typed there takes its label's place
}
