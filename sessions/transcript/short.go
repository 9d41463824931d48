package transcript

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"
)

// What's kept of a tool's call and result.
const (
	shortLines = 3
	shortRunes = 200 // of a line
)

// cut shortens one line.
func cut(line string) string {
	line = strings.Map(func(r rune) rune {
		if r == '\t' {
			return ' '
		}
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, strings.TrimRightFunc(line, unicode.IsSpace))
	if len(line) <= shortRunes || utf8.RuneCountInString(line) <= shortRunes {
		return line
	}
	n := 0
	for i := range line {
		if n == shortRunes {
			return line[:i] + "…"
		}
		n++
	}
	return line
}

// short returns the first lines of a text, and how many more there are.
func short(text string, lines int) string {
	text = strings.Trim(text, "\r\n")
	var b strings.Builder
	for i := 0; ; i++ {
		line, rest, more := strings.Cut(text, "\n")
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(cut(line))
		if !more {
			break
		}
		if i+1 == lines {
			fmt.Fprintf(&b, "\n… +%s", plural(strings.Count(rest, "\n")+1, "line"))
			break
		}
		text = rest
	}
	return b.String()
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// shortOrNone is a tool's result in short.
func shortOrNone(text string) string {
	if strings.TrimSpace(text) == "" {
		return "(no output)"
	}
	return short(text, shortLines)
}

// telling are the arguments that say most about a call, the best first.
var telling = []string{ //nolint:gochecknoglobals // a constant table
	"command", "cmd", "file_path", "filePath", "absolute_path", "notebook_path", "path", "pattern", "query",
	"url", "description", "prompt", "message", "objective", "skill", "name", "input",
}

// callInShort says in short what a tool was called with: "Bash: seq 1 300".
func callInShort(name string, args gjson.Result) string {
	arg := ""
	for _, key := range telling {
		v := args.Get(key)
		if v.IsArray() { // a command as its words
			words := make([]string, 0, 8)
			for _, w := range v.Array() {
				words = append(words, w.String())
			}
			if len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") { // bash -lc …
				words = words[2:]
			}
			arg = strings.Join(words, " ")
		} else if v.Type == gjson.String {
			arg = v.Str
		}
		if strings.TrimSpace(arg) != "" {
			break
		}
	}
	switch {
	case arg == "" && args.Type == gjson.String:
		arg = args.Str
	case arg == "" && args.IsObject() && args.Raw != "{}":
		arg = args.Raw
	}
	if files := patched(arg); files != "" {
		arg = "apply_patch: " + files
	}
	arg = oneLine(arg)
	if arg == "" {
		return cut(name)
	}
	return cut(name) + ": " + arg
}

// oneLine is the first line of a text, with how many more there are.
func oneLine(text string) string {
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line = cut(line)
	if rest = strings.TrimSpace(rest); rest != "" {
		line += fmt.Sprintf(" … (+%s)", plural(strings.Count(rest, "\n")+1, "line"))
	}
	return line
}

// patched names the files of a patch as Codex writes it, "" if text isn't one.
func patched(text string) string {
	if !strings.Contains(text, "*** Begin Patch") {
		return ""
	}
	var files []string
	for line := range strings.SplitSeq(text, "\n") {
		for _, does := range []string{"Add", "Update", "Delete"} {
			if file, ok := strings.CutPrefix(line, "*** "+does+" File: "); ok {
				files = append(files, strings.ToLower(does)+" "+file)
			}
		}
	}
	return strings.Join(files, ", ")
}

// questions are the questions of a call, with their options numbered:
// {"questions":[{"question":…,"options":[{"label":…,"description":…}]}]}.
func questions(args gjson.Result) string {
	var b strings.Builder
	for _, q := range args.Get("questions").Array() {
		if b.Len() > 0 {
			b.WriteString("\n\n")
		}
		b.WriteString(short(q.Get("question").String(), 10))
		for i, o := range q.Get("options").Array() {
			label, about := o.Get("label").String(), o.Get("description").String()
			if o.Type == gjson.String {
				label = o.Str
			}
			fmt.Fprintf(&b, "\n%d. %s", i+1, oneLine(label))
			if about != "" {
				b.WriteString(": " + oneLine(about))
			}
		}
	}
	return strings.ToValidUTF8(b.String(), string(utf8.RuneError))
}

// callNames are the ids and names of the last calls, oldest first, for formats whose
// results don't name their tool.
type callNames [][2]string

// rememberedCalls is more than run at the same time.
const rememberedCalls = 16

func (c *callNames) remember(id, name string) {
	if len(*c) == rememberedCalls {
		*c = slices.Delete(*c, 0, 1)
	}
	*c = append(*c, [2]string{id, name})
}

func (c callNames) name(id string) string {
	for _, call := range c {
		if call[0] == id {
			return call[1]
		}
	}
	return ""
}
