package sessions

import (
	"fmt"
	"strings"
)

// WorkTally counts a session's work: calls of tools, thoughts, and what was written to it. Tallies are added up by Add, and
// the zero one is of nothing.
type WorkTally struct {
	did    [workKinds]int // calls, thoughts and prompts, by workKind
	failed int            // calls
}

// workKind is what kind of work something is.
type workKind int

// In the order in which they're said.
const (
	workPrompt workKind = iota
	workThought
	workRead
	workRun
	workEdit
	workSearch
	workFetch
	workAsk
	workHelp
	workOther
	workKinds int = iota
)

// TallyOf counts a line: the first of each block, and of results those of calls that failed.
func TallyOf(l Line) (t WorkTally) {
	switch {
	case !l.Begins:
	case l.Kind == KindUser:
		t.did[workPrompt]++
	case l.Kind == KindThought:
		t.did[workThought]++
	case l.Kind != KindTool:
	case l.Tool == nil:
		t.did[workOther]++
	case l.Tool.Part == ToolQuestion, l.Tool.Part == ToolCall:
		t.did[l.Tool.workKind()]++
	case l.Tool.Failed:
		t.failed++
	}
	return t
}

// Add adds another one.
func (t *WorkTally) Add(o WorkTally) {
	for i, n := range o.did {
		t.did[i] += n
	}
	t.failed += o.failed
}

// toolWords say what kind of work tools do, by parts of their names: the first that fits counts.
var toolWords = []struct { //nolint:gochecknoglobals // a constant table
	kind  workKind
	words []string
}{
	{workOther, []string{"todo", "plan"}}, // what writes those writes no file
	{workRun, []string{"bash", "shell", "exec", "command", "terminal", "stdin", "run"}},
	{workEdit, []string{"edit", "write", "patch", "replace", "create", "notebook"}},
	{workSearch, []string{"grep", "search", "find", "glob"}},
	{workFetch, []string{"web", "fetch", "browse", "http", "url"}},
	{workHelp, []string{"agent", "task", "spawn"}},
	{workRead, []string{"read", "view", "open", "list", "ls"}},
}

// Work names the kind of work that the tool does: "read", "run", "edit", "search", "web", "ask", "agent"; "": another one.
func (t ToolPart) Work() string {
	return map[workKind]string{
		workRead: "read", workRun: "run", workEdit: "edit", workSearch: "search", workFetch: "web", workAsk: "ask", workHelp: "agent",
	}[t.workKind()]
}

func (t ToolPart) workKind() workKind {
	if t.Part == ToolQuestion {
		return workAsk
	}
	return workOf(t.Name)
}

// ownShell is what a command is called that a person has an agent program run in a shell.
const ownShell = "!"

// workOf is what kind of work a tool does.
func workOf(tool string) workKind {
	name := strings.ToLower(tool)
	if name == ownShell {
		return workRun
	}
	for _, t := range toolWords {
		for _, word := range t.words {
			switch {
			case word == "ls":
				if name == word {
					return t.kind
				}
			case word == "run":
				if strings.HasPrefix(name, word) {
					return t.kind
				}
			case strings.Contains(name, word):
				return t.kind
			}
		}
	}
	return workOther
}

// WorkMark begins a line that says how much work there was, as lines about calls of tools do.
const WorkMark = "⚙ "

// String is one line, without its mark: "ran 3 commands, edited 2 files · 1 failed"; "": nothing was done.
func (t WorkTally) String() string {
	var parts []string
	for kind, n := range t.did {
		if n == 0 {
			continue
		}
		one, many := workKind(kind).phrases()
		if n == 1 {
			parts = append(parts, one)
		} else {
			parts = append(parts, fmt.Sprintf(many, n))
		}
	}
	text := strings.Join(parts, ", ")
	if t.failed == 0 {
		return text
	}
	failed := fmt.Sprintf("%d failed", t.failed)
	if text == "" {
		return failed
	}
	return text + " · " + failed
}

// phrases say that something was done once, and many times.
func (k workKind) phrases() (one, many string) {
	switch k {
	case workPrompt:
		return "was asked once", "was asked %d times"
	case workThought:
		return "thought once", "thought %d times"
	case workRead:
		return "read 1 file", "read %d files"
	case workRun:
		return "ran 1 command", "ran %d commands"
	case workEdit:
		return "edited 1 file", "edited %d files"
	case workSearch:
		return "searched once", "searched %d times"
	case workFetch:
		return "fetched 1 page", "fetched %d pages"
	case workAsk:
		return "asked 1 question", "asked %d questions"
	case workHelp:
		return "began 1 helper", "began %d helpers"
	default:
		return "used 1 other tool", "used %d other tools"
	}
}
