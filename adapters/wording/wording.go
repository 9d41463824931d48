// Package wording says how people are told things: Markdown that shows a text as it is, and how
// long, when, and where in few letters. It knows nothing of sessions or chats.
package wording

import (
	"fmt"
	"os"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Plain makes Markdown that shows a text as it is, on one line.
func Plain(text string) string {
	var b strings.Builder
	for _, r := range OneLine(text) {
		if strings.ContainsRune("\\`*_{}[]()<>#+-.!|~&", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}

// Bold is Markdown for the name of something.
func Bold(text string) string { return "**" + Plain(text) + "**" }

// Code is Markdown that shows lines as they are.
func Code(text string) string { return codeIn("", text) }

// Diff is Markdown that shows a diff, in colours where there are any.
func Diff(text string) string { return codeIn("diff", text) }

func codeIn(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + text + "\n" + fence
}

// OneLine makes one line of a text.
func OneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// CutEnd drops the end of a text that has more than so many runes.
func CutEnd(text string, runes int) string {
	r := []rune(text)
	if len(r) <= runes {
		return text
	}
	return string(r[:runes-1]) + "…"
}

// CutBegin drops the beginning of a text that has more than so many runes: the end of a path says more.
func CutBegin(text string, runes int) string {
	r := []rune(text)
	if len(r) <= runes {
		return text
	}
	return "…" + string(r[len(r)-runes+1:])
}

// IsPrintable reports whether each letter of a name can be seen.
func IsPrintable(name string) bool {
	return utf8.ValidString(name) && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// Age is a time span as people say it.
func Age(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h", int(d.Hours()))
	default:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	}
}

// ShortAge is a time span in few letters: "60 s", "1.5 s".
func ShortAge(d time.Duration) string {
	if d < 2*time.Minute {
		return fmt.Sprintf("%g s", float64(d.Round(100*time.Millisecond))/float64(time.Second))
	}
	return Age(d)
}

// Clock is a time of day as people here read it.
func Clock(t time.Time) string { return t.Local().Format("15:04:05") }

// FullStop ends a text like a sentence.
func FullStop(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!") {
		return text
	}
	return text + "."
}

// Sentence makes a sentence of a text, an error's say: it begins with a capital and ends with one stop.
func Sentence(text string) string {
	r, n := utf8.DecodeRuneInString(text)
	if n == 0 {
		return text
	}
	return FullStop(strings.ToUpper(string(r)) + strings.TrimRight(text[n:], "."))
}

// HomePath is a path as people write it.
func HomePath(path string) string {
	home, err := os.UserHomeDir()
	if err != nil || home == "/" {
		return path
	}
	if rest, ok := strings.CutPrefix(path, home); ok && (rest == "" || rest[0] == '/') {
		return "~" + rest
	}
	return path
}
