package adapters

import (
	"strings"
	"testing"

	"github.com/panebridge/panebridge/sessions"
)

func TestFirstWords(t *testing.T) {
	long := strings.Repeat("word ", 40)
	for text, want := range map[string]string{
		"":                     "",
		"Both tests pass now.": "Both tests pass now.",
		"Both tests pass now. The cause was a race.": "Both tests pass now.",
		"Done. Both tests pass now. And more.":       "Done. Both tests pass now.",
		"Is that all right? I'd go on then.":         "Is that all right? I'd go on then.",
		"See config.yaml, line 3.1 and all below it": "See config.yaml, line 3.1 and all below it",
		"one\n\n  two\tthree":                        "one two three",
		"See https://example.com/x":                  "See example.com/x",
		long:                                         strings.Repeat("word ", 16) + "…",
		strings.Repeat("字", 200):                     strings.Repeat("字", 80) + " …",
		"测试现在都通过了，原因是一个竞争条件，已经修好了。还有更多。":                          "测试现在都通过了，原因是一个竞争条件，已经修好了。",
		strings.Repeat("👩‍👩‍👧", 90):                               strings.Repeat("👩‍👩‍👧", 55) + " …",
		"safe\u202egnp.exe\u2066 and\u200b so\u00ad on\u001b[31m": "safegnp.exe and so on[31m",
		"e" + strings.Repeat("\u0301", 5000):                      "",
	} {
		if got := firstWords(text); want == "" && len(got) > maxWordsBytes+8 || want != "" && got != want {
			t.Errorf("of %q: %q, want %q", text, got, want)
		}
	}
}

// What an ending says of a turn, by the lines that the turn has.
func TestWordsOfATurn(t *testing.T) {
	line := func(kind sessions.LineKind, begins bool, text string) sessions.Line {
		return sessions.Line{Kind: kind, Begins: begins, Text: text}
	}
	answer, more := func(s string) sessions.Line { return line(sessions.KindAnswer, true, s) }, func(s string) sessions.Line { return line(sessions.KindAnswer, false, s) }
	tool, user := func(s string) sessions.Line { return line(sessions.KindTool, true, s) }, func(s string) sessions.Line { return line(sessions.KindUser, true, s) }
	pane := func(s string) sessions.Line { return line(sessions.KindPane, false, s) }
	for name, c := range map[string]struct {
		turn []sessions.Line
		want string
		line int64
	}{
		"nothing":                {},
		"the last answer":        {[]sessions.Line{user("fix it"), answer("I look first."), tool("go test"), answer("**Both** `tests` pass [now](https://example.com/)."), more("More.")}, "Both tests pass now.", 4},
		"below an empty line":    {[]sessions.Line{answer(""), more("## Done"), more(""), more("All of it is there.")}, "Done All of it is there.", 2},
		"no tool's output":       {[]sessions.Line{answer("It runs now, look at it."), tool("exit status 0")}, "It runs now, look at it.", 1},
		"of an answer, no end":   {[]sessions.Line{more("the end of a long answer")}, "", 0},
		"tools alone":            {[]sessions.Line{user("fix it"), tool("go test")}, "", 0},
		"a shell":                {[]sessions.Line{pane("$ make"), pane("cc -o x x.c"), pane("make: done"), pane(" "), pane("└───┘")}, "make: done", 3},
		"a shell's echo":         {[]sessions.Line{user("make"), pane("ada@host:~$ make ")}, "", 0},
		"a pane and an answer":   {[]sessions.Line{answer("It runs now, look at it."), pane("$ ")}, "It runs now, look at it.", 1},
		"code":                   {[]sessions.Line{answer("```go"), more("fmt.Println()"), more("```")}, "fmt.Println()", 1},
		"an answer of no words":  {[]sessions.Line{answer("one"), answer("")}, "", 0},
		"what a person answered": {[]sessions.Line{answer("It runs now, look at it."), user("thanks")}, "It runs now, look at it.", 1},
	} {
		for i := range c.turn {
			c.turn[i].N = int64(i + 1)
		}
		if got, at := answerWords(c.turn); got != c.want || at != c.line {
			t.Errorf("%s: %q of line %d, want %q of %d", name, got, at, c.want, c.line)
		}
	}
}
