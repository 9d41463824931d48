package redact

import (
	"bytes"
	"unicode/utf8"
)

// Tables whose columns have names: of Markdown, psql, mysql and CSV, and of SQL's INSERT. What's masked
// in a row depends on the rows above it, in which the names stand.

// mostRows is how many rows below its name a column is followed. It's less than After.
const mostRows = 64

// columns finds the values below a name of a column.
func (a *assigner) columns(s *scan, k keyword, from, end int) {
	at := end
	if c := s.buf[at]; c == '"' || c == '\'' || c == '`' {
		at++
	}
	after := s.buf[s.column(at)]
	if bytes.IndexByte([]byte("\n,;|)\xe2\t"), after) < 0 && s.buf[at] != '\t' {
		return
	}
	first := a.inRowFrom(s, from)
	before := s.buf[max(0, first-1)]
	if first == s.start(s.rowOf(from)) {
		before = '\n'
	}
	if bytes.IndexByte([]byte("\n,; |\t\"`*(\x82"), before) < 0 {
		return
	}
	row := s.rowOf(from)
	text := s.buf[s.start(row):min(s.end(row), s.start(row)+maxHead)]
	bars := bytes.IndexByte(text, '|') >= 0 || bytes.Contains(text, []byte("│"))
	list := bytes.IndexByte(text, '(') >= 0 && isInsert(s.head(first))
	if !list && (bars && (row+1 >= s.len() || !s.isRule(row+1)) || !bars && (bytes.IndexByte([]byte(" *`("), before) >= 0 || !bytes.ContainsAny(text, ",;\t"))) {
		return
	}
	if !a.endsName(s, k, from, end) || a.strength(s, k, from, end, operand{at: end}) < 2 {
		return
	}
	switch {
	case list:
		s.inserted(k, s.head(first), first, at)
	case bars:
		s.belowBars(k, row, first, s.bars(row))
	default:
		s.belowCommas(k, row, first)
	}
}

// bars are where in buf the bars stand that part the cells of a row.
func (s *scan) bars(row int) (at []int) {
	text := s.buf[s.start(row):min(s.end(row), s.start(row)+maxHead)]
	for i := range text {
		if text[i] == '|' || text[i] == 0xE2 && bytes.HasPrefix(text[i:], []byte("│")) {
			at = append(at, s.start(row)+i)
		}
	}
	return at
}

// inColumn is the column of the screen in which a place of a row stands, as far as characters are one wide.
func (s *scan) inColumn(row, at int) int {
	return s.rows[row].indent + utf8.RuneCount(s.buf[s.start(row):at])
}

// isRule says whether a row is a line of a table: |---|---|, or one of frames, which are left out.
func (s *scan) isRule(row int) bool {
	text := s.buf[s.start(row):s.end(row)]
	return len(bytes.Trim(text, "-+|:= ")) == 0 && (len(text) == 0 || bytes.Contains(text, []byte("--")))
}

// belowBars finds the values in a column of a table with bars between its cells. The row below the
// names must be a line.
func (s *scan) belowBars(k keyword, row, first int, names []int) {
	if line := s.buf[s.start(row+1):s.end(row+1)]; !bytes.ContainsAny(line, "|+") && (len(line) > 0 || s.buf[names[0]] == '|' || s.rows[row+1].indent == 0) {
		return
	}
	ruled := !bytes.HasPrefix(bytes.TrimLeft(s.buf[s.start(row+1):s.end(row+1)], ":- "), []byte("|")) // Markdown has bars in its lines
	nth := 0
	for nth < len(names) && names[nth] < first {
		nth++
	}
	for below := row + 2; below < min(s.len(), row+mostRows); below++ {
		if s.isRule(below) {
			if s.start(below) == s.end(below) && s.isRule(below-1) && s.start(below-1) == s.end(below-1) {
				return
			}
			continue
		}
		bars, cell := s.bars(below), nth
		if len(bars) < len(names) { // the first cells are empty, and left out
			for _, bar := range names {
				if s.inColumn(row, bar) < s.rows[below].indent {
					cell--
				}
			}
		}
		if len(bars) == 0 && cell == nth {
			return
		}
		if cell < 0 || cell > len(bars) {
			continue
		}
		from, end := s.start(below), s.end(below)
		if cell > 0 {
			_, width := utf8.DecodeRune(s.buf[bars[cell-1]:])
			from = bars[cell-1] + width
		}
		if cell < len(bars) {
			end = bars[cell]
		}
		s.cellFound(k, from, end, ruled)
	}
}

// cellFound adds what stands in a cell, if it can be a secret. words says that a word alone can.
func (s *scan) cellFound(k keyword, from, end int, words bool) {
	text := s.buf[from:end]
	from += len(text) - len(bytes.TrimLeft(text, " \t"))
	text = bytes.Trim(text, " \t")
	for _, quote := range []string{"`", `"`, "'"} {
		if len(text) > 2 && text[0] == quote[0] && text[len(text)-1] == quote[0] {
			text, from = text[1:len(text)-1], from+1
		}
	}
	end = from + len(text)
	if len(text) < 4 || len(text) > maxLiteral || hasMask(text) || s.isHead(end) || !isCellValue(text, k, words) {
		return
	}
	s.found(match{from: from, secret: from, end: end, label: k.label, rank: rankGuess})
}

// isCellValue says that a text in a cell is a secret: no state, type, count or placeholder.
func isCellValue(v []byte, k keyword, words bool) bool {
	if isNothing(v) || isState(v) || isPlaceholder(v) || isWordForSecret(v) || isExpression(v) || isUUID(v) || isVersion(v) || isVariable(v) || namesSecret(v) || isDate(v) {
		return false
	}
	m := measureOf(v)
	switch {
	case m.distinct < 4:
		return false
	case k.takesPhrases():
		return isOrdinary(v) || words && bytes.IndexByte(v, '(') < 0 || m.digits == len(v)
	}
	return secretLike(v, 10) && m.digits > 0 && !bytes.ContainsAny(v, "`*")
}

// belowCommas finds the values in a column of CSV, or of what tabs or semicolons part.
func (s *scan) belowCommas(k keyword, row, first int) {
	text := s.buf[s.start(row):min(s.end(row), s.start(row)+maxHead)]
	sign := byte(',')
	for _, c := range []byte("\t;") {
		if bytes.IndexByte(text, ',') < 0 && bytes.IndexByte(text, c) >= 0 {
			sign = c
		}
	}
	names := s.cells(row, sign)
	if len(names) < 2 {
		return
	}
	nth := -1
	for i, cell := range names {
		name := bytes.Trim(s.buf[cell.from:cell.end], `"`)
		if len(name) == 0 || !isReference(bytes.ReplaceAll(name, []byte("-"), nil)) {
			return
		}
		if cell.from <= first && first < cell.end {
			nth = i
		}
	}
	for below := row + 1; below < min(s.len(), row+mostRows); below++ {
		values := s.cells(below, sign)
		if len(values) != len(names) || nth < 0 {
			return
		}
		s.cellFound(k, values[nth].from, values[nth].end, false)
	}
}

// cells are the cells of a row that a sign parts, which can stand in quotes.
func (s *scan) cells(row int, sign byte) (out []interval) {
	from, quoted := s.start(row), false
	for at := from; at <= s.end(row) && at-s.start(row) < 2*maxHead; at++ {
		switch c := s.buf[at]; {
		case at == s.end(row) || c == sign && !quoted:
			out = append(out, interval{from, at})
			from = at + 1
		case c == '"':
			quoted = !quoted
		}
	}
	return out
}

// isInsert says that what stands before a name begins a list of columns, as in INSERT INTO t (name, password).
func isInsert(head []byte) bool {
	open := bytes.LastIndexByte(head, '(')
	if open < 0 {
		return false
	}
	before := bytes.ToLower(head[:open])
	return bytes.Contains(before, []byte("insert ")) || bytes.Contains(before, []byte("replace into "))
}

// inserted finds the values of a column of SQL: INSERT INTO t (name, password) VALUES ('bob', 'x').
func (s *scan) inserted(k keyword, head []byte, first, at int) {
	open := bytes.LastIndexByte(head, '(')
	nth := bytes.Count(s.buf[first-(len(head)-open):first], []byte(","))
	list := s.buf[at:min(s.end(s.rowOf(at)), at+maxHead)]
	closed := bytes.IndexByte(list, ')')
	if closed < 0 {
		return
	}
	at = s.skip(at+closed+1, maxBlanks)
	at, ok := s.either(at, "VALUES", "values", "Values")
	if !ok {
		return
	}
	stop := min(len(s.buf)-1, at+4*maxHead)
	for at = s.skip(at, maxBlanks); at < stop && s.buf[at] == '('; {
		cell := 0
		for at++; at < stop && s.buf[at] != ')' && s.buf[at] != '\n'; {
			switch c := s.buf[at]; c {
			case '\'', '"':
				end := s.quoted(at+1, c, false).ends[0]
				if cell == nth && end < len(s.buf)-1 && s.buf[end] == c && s.rowOf(end) == s.rowOf(at) {
					s.cellFound(k, at+1, end, true)
				}
				at = end + 1
			case ',':
				cell++
				at++
			default:
				at++
			}
		}
		if at >= stop || s.buf[at] != ')' {
			return
		}
		if at = s.skip(at+1, maxBlanks); s.buf[at] == ',' {
			at = s.skip(at+1, maxBlanks)
		}
	}
}

// beside is the value that stands behind a name in a column of its own, in a table that has a line of
// dashes above; in Windows' registry the type stands between.
func (s *scan) beside(first, at int) (o operand, ok bool) {
	value, row := s.column(at), s.rowOf(first)
	if value-at < 2 && s.buf[at] != '\t' || s.buf[value] == '\n' || len(beforeName(s.head(first))) > 0 {
		return o, false
	}
	if next, ok := s.either(value, "REG_SZ ", "REG_EXPAND_SZ "); ok {
		return operand{at: s.column(next), by: '|', until: '\n'}, true
	}
	column := s.inColumn(row, value)
	for above := row - 1; above >= max(0, row-mostRows); above-- {
		text := s.buf[s.start(above):s.end(above)]
		i := bytes.LastIndex(text, []byte("  "))
		if i < 0 || s.inColumn(above, s.start(above)+i+2) != column {
			return o, false
		}
		if len(bytes.Trim(text, "- ")) == 0 {
			return operand{at: value, by: '|', until: '\n'}, true
		}
	}
	return o, false
}
