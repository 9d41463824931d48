package rendertest

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
)

// ReadDiscord reads Discord's Markdown as Discord does, as far as its rules are known
// (support.discord.com/hc/articles/210298617): it returns the text that a person sees,
// and what's wrong with the markup.
func ReadDiscord(s string) (seen string, wrong []string) {
	r := &discordReader{}
	r.read(s)
	return strings.TrimSuffix(r.text.String(), "\n"), r.bad
}

type discordReader struct {
	text strings.Builder // what's seen
	open []string        // signs that aren't closed
	bad  []string
}

func (r *discordReader) read(s string) {
	lines := strings.Split(s, "\n")
	fence := false
	quoted := false
	for _, l := range lines {
		q := strings.HasPrefix(l, "> ") || l == ">"
		body := l
		if q && (!fence || quoted) {
			body = strings.TrimPrefix(strings.TrimPrefix(l, "> "), ">")
		}
		switch {
		case fence && quoted && !q:
			r.fault("a quote ends within code")
		case fence && body == "```":
			fence = false
			continue
		case fence:
			if strings.Contains(body, "```") {
				r.fault("code ends within %q", body)
			}
			r.text.WriteString(body)
		case strings.HasPrefix(body, "```") && !strings.Contains(body[3:], "`"):
			fence, quoted = true, q
			continue
		default:
			r.line(body)
		}
		r.text.WriteByte('\n')
	}
	if fence {
		r.fault("code isn't ended")
	}
}

func (r *discordReader) fault(format string, a ...any) {
	r.bad = append(r.bad, fmt.Sprintf(format, a...))
}

// line reads a line outside of code blocks.
func (r *discordReader) line(s string) {
	if rest := strings.TrimLeft(s, " \u200b"); rest != "" {
		digits := strings.TrimLeft(rest, "0123456789")
		if strings.HasPrefix(rest, "# ") || strings.HasPrefix(rest, "- ") || strings.HasPrefix(rest, "-# ") || len(digits) < len(rest) && strings.HasPrefix(digits, ". ") {
			r.fault("%q begins like a heading or an item", s)
		}
	}
	for s != "" {
		s = r.next(s)
	}
	if len(r.open) > 0 {
		r.fault("%q aren't closed", r.open)
		r.open = nil
	}
}

// next reads what a text begins with, and returns the rest.
func (r *discordReader) next(s string) string {
	switch {
	case s[0] == '\\' && len(s) > 1 && s[1] < 0x80 && unicode.In(rune(s[1]), unicode.Punct, unicode.Symbol):
		r.text.WriteByte(s[1])
		return s[2:]
	case s[0] == '`':
		return r.code(s)
	case s[0] == '<':
		end := strings.IndexByte(s, '>')
		if !strings.HasPrefix(s, "<http") || end < 0 || strings.ContainsAny(s[:end], " \\") {
			r.fault("%q is read as markup", s)
			return s[1:]
		}
		r.url(s[1:end])
		return s[end+1:]
	case strings.HasPrefix(s, "**"), strings.HasPrefix(s, "~~"), strings.HasPrefix(s, "__"):
		return r.sign(s[:2], s[2:])
	case s[0] == '*':
		return r.sign("*", s[1:])
	case s[0] == '[':
		return r.sign("[", s[1:])
	case strings.HasPrefix(s, "](<"):
		end := strings.Index(s, ">)")
		if end < 0 || len(r.open) == 0 || r.open[len(r.open)-1] != "[" {
			r.fault("%q isn't the end of a link", s)
			return s[1:]
		}
		r.open = r.open[:len(r.open)-1]
		r.url(s[3:end])
		return s[end+2:]
	case strings.ContainsRune("_~|>]", rune(s[0])):
		r.fault("%q has a sign that isn't escaped", s)
	case s[0] == '@' && (strings.HasPrefix(s, "@everyone") || strings.HasPrefix(s, "@here")):
		r.fault("%q calls everyone", s)
	}
	r.text.WriteByte(s[0])
	return s[1:]
}

// url reads a target, as a browser shows it.
func (r *discordReader) url(s string) {
	if u, err := url.PathUnescape(s); err == nil {
		s = u
	}
	r.text.WriteString(s)
}

// sign opens or closes.
func (r *discordReader) sign(sign, rest string) string {
	if n := len(r.open); n > 0 && r.open[n-1] == sign {
		r.open = r.open[:n-1]
		return rest
	}
	for _, o := range r.open {
		if o == sign {
			r.fault("%q closes out of order before %q", sign, rest)
		}
	}
	r.open = append(r.open, sign)
	if rest == "" || rest[0] == ' ' && sign != "[" { // a link's text may begin with one
		r.fault("%q opens before a blank", sign)
	}
	return rest
}

func (r *discordReader) code(s string) string {
	n := len(s) - len(strings.TrimLeft(s, "`"))
	fence := s[:n]
	for at := n; at < len(s); {
		i := strings.Index(s[at:], fence)
		if i < 0 {
			break
		}
		end := at + i
		run := len(s[end:]) - len(strings.TrimLeft(s[end:], "`"))
		if run == n {
			r.text.WriteString(s[n:end])
			return s[end+n:]
		}
		at = end + run
	}
	r.fault("%q has code that isn't ended", s)
	return ""
}
