package render

import "strings"

// builder makes runs of one part after the other. What stands between texts (line
// breaks, indentation, markers of lists) is owed, and paid when a text comes that
// is shown: so nothing stands at the edges of a message that begins or ends in the
// middle of a document.
type builder struct {
	runs []Run

	// The part at work.
	index    int
	base     int    // bytes before source; places count from there
	source   string // as far as it's known
	from, to int    // what's shown of it, in bytes of source, as all below
	last     int    // where the text ends that was emitted last

	style  Style
	levels []*level
	breaks int   // line breaks owed
	owed   Style // their style
	fresh  bool  // nothing of the line has been emitted: its prefix is owed
	begun  bool  // something of the part has been emitted
	parted bool  // the line breaks owed are those between two blocks
}

// level is a container whose lines begin with something.
type level struct {
	marker string // of its first line: "• "
	at     int    // where the marker comes from
	indent string // of the others
	done   bool   // the marker has been emitted
}

// begin begins a part. The places from and to count from its start, as base does.
func (b *builder) begin(index int, source string, base, from, to int) {
	b.index, b.base, b.source, b.from, b.to = index, base, source, from-base, to-base
	b.last, b.style, b.levels, b.fresh, b.begun, b.parted = -1, Style{}, nil, true, false, false
}

func (b *builder) place(at int) TextPosition { return TextPosition{b.index, b.base + at} }

// gap owes n line breaks, instead of those owed before; at the start of a part at
// least those owed before it.
func (b *builder) gap(n int, style Style) {
	if b.breaks > 0 {
		style = style.meet(b.owed)
	}
	if !b.begun {
		n = max(n, b.breaks)
	}
	b.breaks, b.owed, b.fresh = n, style, true
}

// newline owes one line break more.
func (b *builder) newline() { b.gap(b.breaks+1, b.style) }

// text emits s, which is the source from byte at on.
func (b *builder) text(s string, at int) {
	for {
		i := strings.IndexByte(s, '\n')
		if i < 0 {
			b.line(s, at)
			return
		}
		b.line(s[:i], at)
		b.newline()
		s, at = s[i+1:], at+i+1
	}
}

// tab is what a tab becomes: Telegram makes it one space, which takes the shape
// from code.
const tab = "    "

// line emits a part of a line.
func (b *builder) line(s string, at int) {
	for {
		i := strings.IndexByte(s, '\t')
		if i < 0 {
			b.exact(s, at)
			return
		}
		b.exact(s[:i], at)
		b.atom(tab, at+i)
		s, at = s[i+1:], at+i+1
	}
}

func (b *builder) exact(s string, at int) {
	if skip := min(b.from-at, len(s)); skip > 0 {
		s, at = s[skip:], at+skip
	}
	if over := at + len(s) - b.to; over > 0 {
		s = s[:max(0, len(s)-over)]
	}
	if s == "" {
		return
	}
	b.pay(at)
	b.add(Run{Text: s, Style: b.style, at: b.place(at), exact: true})
	b.last = at + len(s)
}

// atom emits text that stems from the source at byte at, and isn't the same as
// there. It's never divided, so it must be short.
func (b *builder) atom(s string, at int) {
	if at < b.from || at >= b.to || s == "" {
		return
	}
	b.pay(at)
	b.add(Run{Text: s, Style: b.style, at: b.place(at)})
	b.last = at
}

// pay emits what's owed before a text that comes from byte at.
func (b *builder) pay(at int) {
	b.begun, b.parted = true, false
	if !b.fresh {
		return
	}
	style := b.owed
	if b.breaks > 0 && len(b.runs) > 0 {
		b.add(Run{Text: strings.Repeat("\n", b.breaks), Style: style, at: b.breakPlace(at), glue: true})
	} else {
		style = Style{Quote: b.style.Quote}
	}
	b.breaks, b.owed, b.fresh = 0, Style{}, false
	if b.style.Pre {
		// Code stands in lines of its own, where nothing is put before it.
		if b.marker(at, Style{Quote: b.style.Quote}) {
			b.add(Run{Text: "\n", Style: Style{Quote: b.style.Quote}, at: b.place(at), glue: true})
		}
		return
	}
	b.prefix(at, style)
}

// breakPlace is where a message ends that ends before the line that's about to begin
// with text from byte at: at the start of the line in the source, so that none of its
// markup is taken for the message's text.
func (b *builder) breakPlace(at int) TextPosition {
	if start := strings.LastIndexByte(b.source[:at], '\n') + 1; start > b.last {
		return b.place(start)
	}
	for _, l := range b.levels {
		if b.marked(l) {
			return b.place(l.at) // the outermost comes first
		}
	}
	return b.place(at)
}

// marked says whether a level's marker belongs into the line that begins.
func (b *builder) marked(l *level) bool { return !l.done && l.at >= b.from }

// prefix emits what the line begins with.
func (b *builder) prefix(at int, style Style) {
	indent := ""
	for _, l := range b.levels {
		if !b.marked(l) {
			indent += l.indent
			continue
		}
		b.add(Run{Text: indent, Style: style, at: b.place(l.at), glue: true})
		b.add(Run{Text: l.marker, Style: Style{Quote: style.Quote}, at: b.place(l.at)})
		l.done, indent = true, ""
	}
	b.add(Run{Text: indent, Style: style, at: b.place(at), glue: true})
}

// marker emits the line's prefix if it has a marker that wasn't shown.
func (b *builder) marker(at int, style Style) bool {
	for _, l := range b.levels {
		if b.marked(l) && l.marker != l.indent {
			b.prefix(at, style)
			return true
		}
	}
	return false
}

// push enters a container.
func (b *builder) push(l level) *level {
	b.levels = append(b.levels, &l)
	return &l
}

// pop leaves a container. A marker without anything behind it is shown too.
func (b *builder) pop() {
	n := len(b.levels) - 1
	if l := b.levels[n]; b.marked(l) && l.at < b.to {
		b.pay(l.at)
	}
	b.levels = b.levels[:n]
}

func (b *builder) add(r Run) {
	if r.Text == "" {
		return
	}
	b.runs = append(b.runs, r)
}
