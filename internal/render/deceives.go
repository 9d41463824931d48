package render

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// deceives reports whether a link's text has an address other than its target: then people are
// shown both.
func deceives(n ast.Node, src []byte, target string) bool {
	said := strings.TrimSpace(strings.Map(func(r rune) rune {
		if !visible(r) && r != ' ' {
			return -1
		}
		return r
	}, label(n, src)))
	to, err := url.Parse(target)
	if err != nil {
		return false
	}
	for word := range strings.FieldsSeq(said) {
		if is := addressIn(strings.Trim(word, "<>()[]\"'“”,;!")); is != nil && !leadsTo(is, to) {
			return true
		}
	}
	return false
}

// leadsTo reports whether an address is the target, or the beginning of it.
func leadsTo(said, to *url.URL) bool {
	return to.User.String() == said.User.String() && host(said) == host(to) &&
		strings.HasPrefix(strings.TrimSuffix(to.EscapedPath(), "/")+"/", strings.TrimRight(said.EscapedPath(), "/.…")) &&
		(said.RawQuery == "" || strings.HasPrefix(to.RawQuery, strings.TrimRight(said.RawQuery, ".…")))
}

// host is where an address leads, however it's written.
func host(u *url.URL) string {
	return strings.TrimPrefix(strings.TrimSuffix(strings.ToLower(u.Hostname()), "."), "www.") + ":" + u.Port()
}

var (
	schemed = regexp.MustCompile(`(?i)^[a-z][a-z0-9+.-]*://`)
	hosted  = regexp.MustCompile(`(?i)^(?:www\.\S+|(?:[\pL\pN_-]+\.)+(\pL{2,}|xn--[a-z0-9-]+)(?::\d+)?(?:[/?#]\S*)?)$`)
)

// addressIn is the address that a word is; nil: it's none. Names of files and of what's in programs
// have dots as well: without a scheme only what ends like most addresses is one.
func addressIn(word string) *url.URL {
	if !schemed.MatchString(word) {
		m := hosted.FindStringSubmatch(word)
		if m == nil || m[1] != "" && !ends[strings.ToLower(m[1])] {
			return nil
		}
		word = "https://" + word
	}
	u, err := url.Parse(word)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	return u
}

// ends are top-level domains by which people take a word for an address.
var ends = func() map[string]bool { //nolint:gochecknoglobals // a constant table
	out := map[string]bool{}
	for end := range strings.FieldsSeq("com org net edu gov io dev ai app co cloud info biz xyz online site shop store page tech de at ch eu fr nl be it es pt pl cz se dk fi uk ie us ca au nz jp cn kr br mx ru ua tr il za") {
		out[end] = true
	}
	return out
}()

// meant is a text as it's meant: without escapes, with the characters that are written by
// their names or numbers.
func meant(n *ast.Text, src []byte) []byte {
	text := n.Segment.Value(src)
	if n.IsRaw() {
		return text
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(text)))
}

// label is the text of a link as it's written, without its markup.
func label(n ast.Node, src []byte) string {
	var b strings.Builder
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		switch c := c.(type) {
		case *ast.Text:
			if b.Write(meant(c, src)); c.SoftLineBreak() || c.HardLineBreak() {
				b.WriteByte(' ')
			}
		case *ast.String:
			b.Write(c.Value)
		case *ast.AutoLink:
			b.Write(c.Label(src))
		default:
			b.WriteString(label(c, src))
		}
	}
	return b.String()
}
