package redact

import (
	"bytes"
	"slices"
	"unicode"
)

// The forms that HTML, XML, Markdown and JSON have for a name and its value.

// mostTags is how many bytes of tags can stand between a name and its value.
const mostTags = 200

// marked is the value of a name that stands in a cell or tag of its own, as the type of a field, or in
// a tag with attributes. first is where the name begins in its row, at what stands behind it.
func (s *scan) marked(first, at int, closed bool) (o operand, ok bool) {
	before := s.buf[max(0, first-1)]
	switch {
	case !closed && before == '>' && (s.buf[at] == '<' || s.buf[at] == ':' && s.buf[at+1] == '<'): // <td>Password</td><td>x</td>
		return s.behindTags(at)
	case !closed && s.buf[at] == '&' && s.joined(first, "&lt;"): // &lt;password&gt;x&lt;/password&gt;
		if next, ok := s.either(at, "&gt;"); ok {
			stop := s.before(next, '&').ends[0]
			return operand{at: next, by: 'v', until: '&'}, stop > next && isOrdinary(s.buf[next:stop])
		}
	case closed && (before == '"' || before == '\'') && s.joined(first-1, "type="): // <input type="password" value="x">
		return s.ofField(first)
	case !closed && s.buf[at] == ' ' && (before == '<' || before == ':' && s.isTag(first)): // <wsse:Password Type="x">y</wsse:Password>
		tag := s.buf[at:min(s.end(s.rowOf(at)), at+mostTags)]
		if i := bytes.IndexByte(tag, '>'); i > 0 && tag[i-1] != '/' && tag[i-1] != '=' && bytes.IndexByte(tag[:i], '<') < 0 {
			return s.untilTag(at + i + 1)
		}
	case !closed && s.buf[at] == '>' && (before == '<' || before == ':' && s.isTag(first)): // <Password><Value>x</Value></Password>
		if next, ok := s.either(at+1, "<Value>", "<value>", "<string>"); ok || before == ':' {
			return s.untilTag(max(next, at+1))
		}
	}
	return o, false
}

// isTag says whether a name is that of a tag of a name space, as in <wsse:Password>.
func (s *scan) isTag(first int) bool {
	head := bytes.TrimRightFunc(s.head(first-1), func(r rune) bool { return r < 0x80 && isAlnum(byte(r)) })
	return len(head) > 0 && head[len(head)-1] == '<'
}

// behindTags is the text behind some tags, in this row or the next.
func (s *scan) behindTags(at int) (o operand, ok bool) {
	for begin := at; at-begin < mostTags && at < len(s.buf)-1; {
		switch c := s.buf[at]; {
		case c == '<':
			tag := s.buf[at:min(s.end(s.rowOf(at)), at+mostTags)]
			i := bytes.IndexByte(tag, '>')
			if i < 0 || bytes.HasPrefix(tag, []byte("<a ")) {
				return o, false
			}
			at += i + 1
		case c == ' ' || c == ':' || c == '\n' && at > begin && s.rowOf(at) == s.rowOf(begin):
			at++
		default:
			return s.untilTag(at)
		}
	}
	return o, false
}

// untilTag is the text from a place on until a tag, if it's no word or phrase of a page.
func (s *scan) untilTag(at int) (o operand, ok bool) {
	stop := s.before(at, '<').ends[0]
	return operand{at: at, by: 'v', until: '<'}, stop > at && isOrdinary(s.buf[at:stop]) && s.buf[at] != '&' && s.buf[stop-1] != ':'
}

// ofField is the value of a field of HTML that's of the type that stands at a place.
func (s *scan) ofField(first int) (o operand, ok bool) {
	head := s.head(first)
	open := bytes.LastIndexByte(head, '<')
	if open < 0 {
		return o, false
	}
	begin := first - (len(head) - open)
	tag := s.buf[begin:min(s.end(s.rowOf(first)), first+mostTags)]
	if i := bytes.IndexByte(tag[first-begin:], '>'); i >= 0 {
		tag = tag[:first-begin+i]
	}
	for _, name := range []string{` value="`, " value='"} {
		if i := bytes.Index(tag, []byte(name)); i >= 0 {
			return s.inQuotes(begin+i+len(name)-1, 'v', "")
		}
	}
	return o, false
}

// withoutStars goes over the stars that Markdown has behind what's bold.
func (s *scan) withoutStars(at int) int {
	for s.buf[at] == '*' {
		at++
	}
	return at
}

// entities are how markup writes quotes.
var entities = []string{"&quot;", "&#34;", "&#39;", "&apos;"} //nolint:gochecknoglobals // a constant table

// inEntities is a text between two of them, as in password=&quot;x&quot;.
func (s *scan) inEntities(at int) (o operand, ok bool) {
	next, ok := s.either(at, entities...)
	if !ok || s.rowOf(next) != s.rowOf(at) {
		return o, false
	}
	o = operand{at: next, by: 'v', until: '&'}
	stop := s.before(next, '&').ends[0]
	_, ok = s.either(stop, entities...)
	return o, ok && stop > next
}

// valueFirst finds the value that stands before its name: {"value": "x", "name": "TOKEN"}.
func (a *assigner) valueFirst(s *scan, k keyword, from, end int) {
	if s.buf[end] != '"' {
		return
	}
	first := a.inRowFrom(s, from)
	if first == 0 || s.buf[first-1] != '"' {
		return
	}
	head := bytes.TrimRight(s.head(first), `" `)
	if !endsInWord(head, `"name`, `"key`) || !a.endsName(s, k, from, end) || a.strength(s, k, from, end, operand{at: end}) < 2 {
		return
	}
	head = head[:bytes.LastIndexByte(head[:bytes.LastIndexByte(head, '"')], '"')]
	value, ok := bytes.CutSuffix(bytes.TrimRight(head, " ,"), []byte(`"`))
	if !ok || len(value)+1 == len(head) {
		return
	}
	open := bytes.LastIndexByte(value, '"')
	if open < 0 || !endsInWord(bytes.TrimRight(value[:open], " "), `"value`) {
		return
	}
	begin := s.start(s.rowOf(first)) + open + 1
	if over := first - s.start(s.rowOf(first)) - maxHead; over > 0 {
		begin += over
	}
	s.cellFound(k, begin, begin+len(value)-open-1, true)
}

// ofPrograms are words that programs have before names.
var ofPrograms = []string{ //nolint:gochecknoglobals // a constant table
	"let", "var", "const", "public", "private", "protected", "readonly", "static", "final", "val", "case", "default", "async", "declare", "export", "type", "in", "out", "mut", "pub", "override", "param", "return", "readOnly",
	"the", "a", "an", "if", "is", "or", "and", "not", "for", "no", "of", "to",
}

// isLabel says whether a name and its value are what a row of prose, a list or a comment has at its
// end, behind few words: • Temporary password: x. The value is no word alone.
func (l *literal) isLabel(head []byte) bool {
	if l.by != ':' && l.by != '=' || !isOrdinary(l.v) || isVersion(l.v) || isVariable(l.v) || l.s.rowOf(l.at) != l.s.rowOf(l.from) {
		return false
	}
	if m := measureOf(l.v); bytes.IndexByte(l.v, '*') >= 0 || !l.k.takesPhrases() && (len(l.v) < 8 || m.digits < 2 && !bytes.ContainsAny(l.v, "!#%^+=?~@$")) { // a grammar, a name with a number
		return false
	}
	after := l.s.column(l.end)
	if c := l.s.buf[after]; c != '\n' && c != '*' && (c != '(' || after == l.end) {
		return false
	}
	begin := bytes.TrimLeftFunc(beforeName(head), func(r rune) bool {
		return r == '*' || r == '#' || r == '/' || r == ';' || r == ' ' || r == '>' || r > 0x80 && !unicode.IsLetter(r)
	})
	words := bytes.Fields(begin)
	if len(words) > 4 || l.by == '=' && len(words) > 0 {
		return false
	}
	for _, w := range words {
		w = bytes.TrimSuffix(w, []byte("'s"))
		if slices.Contains(ofPrograms, string(w)) || bytes.ContainsAny(w, "()[]{}<>=\"'`;,$&|\\") || bytes.HasPrefix(w, []byte("@")) {
			return false
		}
	}
	return true
}
