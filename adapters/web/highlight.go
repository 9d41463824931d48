package web

import (
	"strings"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/lexers"
)

// codeToken is a stretch of code of one kind.
type codeToken struct {
	Text string `json:"text"`
	// As is the kind: "keyword", "string", "comment", "number", "name", "type", "added",
	// "removed", or "" for all else.
	As string `json:"as,omitempty"`
}

// What bounds the work for one block of code. Ordinary code of that size takes some 10 ms. A
// lexer's expressions can be made to take the square of the length, so it's given up when its
// time is over.
const (
	maxHighlighted = 16 << 10 // bytes
	highlightTime  = 50 * time.Millisecond
)

// highlighted are the languages whose lexers are used: those that agents write most, tried with
// code that's made to be slow. The library has 280 more, of which some panic.
var highlighted = map[string]bool{ //nolint:gochecknoglobals // a constant table
	"Bash": true, "Bash Session": true, "C": true, "C#": true, "C++": true, "CSS": true, "Diff": true, "Docker": true, "Elixir": true, "Go": true,
	"Haskell": true, "HTML": true, "INI": true, "Java": true, "JavaScript": true, "JSON": true, "Kotlin": true, "Lua": true, "Makefile": true,
	"PHP": true, "Python": true, "Ruby": true, "Rust": true, "Scala": true, "SQL": true, "Swift": true, "TOML": true, "TypeScript": true,
	"XML": true, "YAML": true, "Zig": true,
}

// highlight returns code in tokens that make up all of it. Code of a language that isn't known,
// what's too long, what takes too long and what a lexer panics about is one token.
func highlight(language, code string) (tokens []codeToken) {
	whole := []codeToken{{Text: code}}
	if language == "" || len(code) > maxHighlighted {
		return whole
	}
	lexer := lexers.Get(language)
	if lexer == nil || !highlighted[lexer.Config().Name] {
		return whole
	}
	defer func() {
		if recover() != nil {
			tokens = whole
		}
	}()
	next, err := lexer.Tokenise(&chroma.TokeniseOptions{State: "root"}, code)
	if err != nil {
		return whole
	}
	end := time.Now().Add(highlightTime)
	var out []codeToken
	var all strings.Builder
	for t := next(); t != chroma.EOF; t = next() {
		if time.Now().After(end) {
			return whole
		}
		all.WriteString(t.Value)
		as := tokenKind(t.Type)
		if n := len(out); n > 0 && out[n-1].As == as {
			out[n-1].Text += t.Value
			continue
		}
		out = append(out, codeToken{t.Value, as})
	}
	if all.String() != code { // a lexer may take it for something else: what's shown is what's there
		return whole
	}
	return out
}

// tokenKind is what a kind of token looks like.
func tokenKind(t chroma.TokenType) string {
	switch {
	case t == chroma.GenericInserted:
		return "added"
	case t == chroma.GenericDeleted:
		return "removed"
	case t == chroma.KeywordType, t == chroma.NameClass, t == chroma.NameBuiltin:
		return "type"
	case t.InCategory(chroma.Keyword):
		return "keyword"
	case t.InSubCategory(chroma.LiteralString):
		return "string"
	case t.InSubCategory(chroma.LiteralNumber):
		return "number"
	case t.InCategory(chroma.Comment):
		return "comment"
	case t == chroma.NameFunction, t == chroma.NameTag, t == chroma.NameAttribute, t == chroma.NameDecorator:
		return "name"
	default:
		return ""
	}
}
