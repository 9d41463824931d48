package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"testing"
)

// A comment that names what isn't there sends its reader searching: of words that are written
// like identifiers, each is one, or stands in a text of the program.
func TestCommentsNameWhatIsThere(t *testing.T) {
	set, files := parseAll(t)
	var all []*ast.File
	for _, file := range files {
		all = append(all, file)
	}
	for _, wrong := range checkComments(set, all) {
		t.Error(wrong)
	}
}

// elsewhere are words written like identifiers that are names of other things.
var elsewhere = []string{
	"CommonMark", "DeepSeek", "GitHub", "InstruktAI", "JavaScript", "MySQL", "NousResearch", "OpenBSD", "OpenID", "OpenSSH", "OpenType", "PostgreSQL",
	"TeleClaude", "TelegramBots", "WebCrypto", "pyTelegramBotAPI", // products, projects and standards
	"DelimiterProcessor", "GoStringer", "HttpClient", "LogValuer", "ParagraphTransformer", "TextMarshaler", // interfaces and options of libraries
	"CounterClockwiseContourIntegral", "SubjectPublicKeyInfo", "TimeoutStartSec", "botTOKEN", "generateContent", "pageToken", "setTyping", // of Unicode, X.509, systemd and others' APIs
}

// camel is a word with a capital in its middle, as only identifiers have them.
var camel = regexp.MustCompile(`\b(?:[a-z]+|[A-Z][a-z]+)[A-Z][A-Za-z]+\b`)

// checkComments says which words of comments are written like identifiers, and are none.
func checkComments(set *token.FileSet, files []*ast.File) (wrong []string) {
	known := map[string]bool{}
	for _, word := range elsewhere {
		known[word] = true
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.Ident:
				known[n.Name] = true
			case *ast.BasicLit:
				for _, word := range camel.FindAllString(n.Value, -1) {
					known[word] = true
				}
			}
			return true
		})
	}
	for _, file := range files {
		for _, group := range file.Comments {
			for _, word := range camel.FindAllString(group.Text(), -1) {
				if !known[word] {
					wrong = append(wrong, fmt.Sprintf("%s: a comment names %s, which isn't there", set.Position(group.Pos()), word))
				}
			}
		}
	}
	slices.Sort(wrong)
	return slices.Compact(wrong)
}

func TestCheckCommentsNamesWhatIsntThere(t *testing.T) {
	const text = "package p\n\n// readLine is like writeLine of GitHub, and no lineFeed.\nfunc readLine() string { return \"a lineFeed\" }\n"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "p.go", text, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := checkComments(set, []*ast.File{file}), []string{"p.go:3:1: a comment names writeLine, which isn't there"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
