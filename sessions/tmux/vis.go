package tmux

import (
	"slices"
	"strings"
)

// encoding is how this tmux server shows a buffer to a control client. It
// differs between versions (3.3a escapes like vis(3) and appends an empty
// line), so it's learned at each connect by showing a buffer of known content.
type encoding struct {
	vis   bool // backslashes doubled, tabs and control characters escaped, "$NAME" as "\$NAME"
	extra int  // lines behind the content
}

// probeText is set as a buffer to learn the encoding from.
const probeText = "a\\b\t$HOME\nend\n"

// learnEncoding finds out the encoding from what show-buffer printed of
// probeText; ok is false where it's none of the known ones.
func learnEncoding(lines []string) (enc encoding, ok bool) {
	content := strings.Split(strings.TrimSuffix(probeText, "\n"), "\n")
	if len(lines) < len(content) {
		return enc, false
	}
	enc.extra = len(lines) - len(content)
	body := lines[:len(content)]
	if slices.Equal(body, content) {
		return enc, true
	}
	for i := range body {
		if unvis(body[i]) != content[i] {
			return enc, false
		}
	}
	enc.vis = true
	return enc, true
}

// decode turns shown lines back into the buffer's.
func (e encoding) decode(lines []string) []string {
	lines = lines[:max(0, len(lines)-e.extra)]
	if !e.vis {
		return lines
	}
	for i, l := range lines {
		lines[i] = unvis(l)
	}
	return lines
}

// unvis undoes vis(3) in the style VIS_OCTAL|VIS_CSTYLE|VIS_TAB as tmux uses
// it. What isn't an escape stays as it is.
func unvis(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	b.Grow(len(s))
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		if v, ok := octal(s[i+1:]); ok {
			b.WriteByte(v)
			i += 3
			continue
		}
		i++
		if j := strings.IndexByte(`\$"tnrbavfs0`, s[i]); j >= 0 {
			b.WriteByte("\\$\"\t\n\r\b\a\v\f \x00"[j])
			continue
		}
		b.WriteByte('\\')
		b.WriteByte(s[i])
	}
	return b.String()
}

// octal reads three octal digits.
func octal(s string) (byte, bool) {
	if len(s) < 3 || s[0] > '3' {
		return 0, false
	}
	var v byte
	for i := range 3 {
		if s[i] < '0' || s[i] > '7' {
			return 0, false
		}
		v = v<<3 | (s[i] - '0')
	}
	return v, true
}
