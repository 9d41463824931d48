package adapters

import (
	"bytes"
	"strings"

	"github.com/panebridge/panebridge/internal/redact"
)

// maskedMarkdown is a Markdown text without secrets, also those in which characters are
// escaped: "ghp\_x7Kq…" is shown without its backslash.
func maskedMarkdown(m *redact.Masker, text string) string {
	if bare, at := unescaped(text); len(bare) < len(text) {
		var out strings.Builder
		from, line, start := 0, 0, 0
		for _, k := range m.Find(bare) {
			for ; line < k.Line; line++ {
				start += bytes.IndexByte(bare[start:], '\n') + 1
			}
			out.WriteString(text[from:at[start+k.From]] + k.Text())
			from = at[start+k.To]
		}
		text = out.String() + text[from:]
	}
	return m.Line(text)
}

// unescaped is a text without the backslashes that escape its characters, and where each of
// its bytes, and its end, stand in the text.
func unescaped(text string) (bare []byte, at []int) {
	for i := 0; i < len(text); i++ {
		at = append(at, i)
		if text[i] == '\\' && i+1 < len(text) && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", text[i+1]) >= 0 {
			i++
		}
		bare = append(bare, text[i])
	}
	return bare, append(at, len(text))
}
