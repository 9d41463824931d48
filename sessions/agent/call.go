package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// call is what an agent's hook told of a call that it asks a person about.
type call struct {
	sum   string // of tool and input
	tool  string
	times int       // how often it was asked about, and hasn't been answered
	told  time.Time // when a hook told of it first; zero: none has said when
	// texts are the strings of the input by their squeezed letters; main is that of the
	// command, "": it's none.
	texts []string
	main  string
	rows  string // of the command, with their blanks: see gapped
	// exact are the same with their blanks, of which several count as one. odd says that there's
	// something in them that programs draw otherwise, each in its own way.
	exact []string
	odd   bool
	// tells are those of texts by which people know it: what it's for, an address, a command.
	tells []string
	// head is what Qwen Code draws above a command, on as many rows: it's squeezed, too.
	head string
	said string // the input as people read it
	// plan says that it's one; marked, that it's drawn without the signs of its Markdown.
	plan   bool
	marked bool
	// requests are the agent's own ids of it, by which it says that one was answered; saves is
	// what it would allow for good; conversation is whose it is, where there are requests.
	requests     []string
	saves        []string
	conversation string
	over         int // how many of times were answered, though the dialog still stands there
	// change is what it's to change of a file; nil: nothing that's known.
	change *fileChange
	edits  []sessions.FileEdit // the same, as it can be made
	folder string              // where a command runs; "": its agent doesn't say
	// mcp is how it's drawn, if it's of a tool of an MCP server; nil: it isn't.
	mcp *toolCall
	// asks says that it's a question, which runs nothing.
	asks bool
	// lists are its questions, of whose options the dialog shows a part at a time; nil: there are none.
	lists []oneQuestion
	// lost says that the input isn't known: it was longer than what a hook tells. It may be
	// any call.
	lost bool
	// served says that the agent's server asks about it, by its one request; hooked, that a
	// hook told of it as well.
	served bool
	hooked bool
	// gone says that its dialog wasn't seen any more, so that it was probably answered: it's none's
	// record, but as it may stand there again, none of another that's drawn alike is taken.
	gone bool
	// stale says that another turn has begun since: see calls.begin.
	stale bool
}

// tellDialog has a dialog say what the call's record says.
func (c *call) tellDialog(d *sessions.Dialog) {
	d.Call, d.Whole, d.Edits, d.Folder = c.sum, c.said, c.edits, c.folder
}

// isSame reports whether two records are of calls that are the same to whoever's asked.
func (c *call) isSame(other *call) bool { return c.tool == other.tool && c.said == other.said }

// runsCommand reports whether it runs a command.
func (c *call) runsCommand() bool { return c.main != "" && !c.plan && c.tool != codexPatch }

// sumOf tells a call from others.
func sumOf(h Hook) string {
	var text bytes.Buffer
	text.WriteString(h.Tool)
	text.WriteByte(0)
	if json.Compact(&text, h.Input) != nil {
		text.Write(h.Input)
	}
	s := sha256.Sum256(text.Bytes())
	return hex.EncodeToString(s[:12])
}

// newCall is what a hook tells of a call.
func newCall(h Hook) call {
	c := call{sum: sumOf(h), tool: h.Tool, times: 1, told: h.At, lost: h.Lost, plan: h.Tool == claudePlan, asks: slices.Contains(questionTools(), h.Tool), saves: h.Saves}
	if h.Request != "" {
		c.requests, c.conversation = []string{h.Request}, h.Conversation
	}
	c.marked = c.plan || h.Agent == string(transcript.Qwen) && (h.Tool == qwenAgent || h.Tool == qwenFetch)
	var fields []said
	if !c.lost {
		fields = inputOf(h)
	}
	c.readFields(slices.DeleteFunc(slices.Clone(fields), func(f said) bool { return f.silent }))
	c.said = saidOf(fields)
	if h.Request != "" && c.main == "" && !c.asks { // a dialog may draw no more than the tool
		c.addDrawn(h.Tool)
		c.sayTool()
	}
	if !c.lost {
		c.readKind(h, fields)
	}
	if c.runsCommand() {
		c.folder = h.Cwd
	}
	return c
}

// inputOf are all values of a call's input.
func inputOf(h Hook) []said {
	dec := json.NewDecoder(bytes.NewReader(h.Input))
	dec.UseNumber()
	return fieldsOf(dec, "", nil, 0)
}

// readFields takes in the values of a call that programs draw.
func (c *call) readFields(fields []said) {
	described := ""
	for _, f := range fields {
		switch runs := f.name == "command" && !c.plan || f.name == "plan" && c.plan; {
		case runs && f.depth > 1: // no tool runs that
			c.odd = true
		case runs && c.main == "":
			c.main, c.rows = c.letters(f.value), c.spacedRows(f.value)
		}
		c.addDrawn(f.value)
		if slices.Contains([]string{"command", "description", "url"}, f.name) && len(c.letters(f.value)) >= leastDrawn/2 {
			c.tells = append(c.tells, c.letters(f.value))
		}
		if f.name == "description" && described == "" {
			described = " (" + f.value + ")"
		}
	}
	if c.tool != qwenShell || c.main == "" || described == "" {
		return
	}
	c.head = c.main + c.letters(described)
	c.texts = append(c.texts, c.head)
	for _, f := range fields {
		if f.name == "command" {
			c.exact = append(c.exact, c.spaced(f.value+described))
		}
	}
}

// readKind takes in what's peculiar to a call that changes a file, lists options, is of an MCP server's
// tool, or is drawn by Qwen Code without the tool's name.
func (c *call) readKind(h Hook, fields []said) {
	if c.tool == geminiQuestion {
		c.lists = listsOf(h.Input)
	}
	other := c.main == "" && !c.asks && !c.plan
	if other {
		c.change = changeOf(h.Input)
	}
	if c.change != nil || c.tool == codexPatch {
		c.edits = editsOf(h)
	}
	if c.tool == codexPatch {
		c.readPatch()
	} else if c.change != nil {
		c.said = c.change.said
	} else if other && h.Agent == string(transcript.Qwen) && c.tool != qwenShell {
		c.fetches(fields)
		c.sayTool()
	}
	if of, said := serverCallOf(h); of != nil {
		c.mcp, c.said, c.main, c.change, c.edits = of, said, "", nil, nil
		c.drawsName()
		if h.Asks != nil {
			c.mcp = h.Asks
		}
	}
}

// sayTool begins what people read with the tool's name.
func (c *call) sayTool() {
	c.said = strings.TrimSuffix("tool: "+printable(c.tool)+"\n"+c.said, "\n")
}

// The tools of Qwen Code of whose calls Markdown is drawn: it begins a sub-agent, and fetches a
// page.
const (
	qwenAgent = "agent"
	qwenFetch = "web_fetch"
)

// fetches adds what the dialog of Qwen Code 0.24.4 draws of fetching a page.
func (c *call) fetches(fields []said) {
	if c.tool != qwenFetch {
		return
	}
	values := map[string]string{}
	for _, f := range fields {
		values[f.name] = f.value
	}
	c.addDrawn("Fetch content from " + values["url"] + " and process with: " + values["prompt"])
	c.addDrawn("- " + values["url"])
}

// drawsName has a call of a tool of an MCP server be drawn as Qwen Code draws that of a sub-agent: by
// the names of server and tool alone.
func (c *call) drawsName() {
	c.texts, c.exact = nil, nil
	server, tool, _ := strings.Cut(strings.TrimPrefix(c.tool, mcpTools), "__")
	c.addDrawn("MCP Server: " + server)
	c.addDrawn("Tool: " + tool)
}

// addDrawn adds a text of which rows may be drawn.
func (c *call) addDrawn(text string) {
	c.texts = append(c.texts, c.letters(text))
	c.exact = append(c.exact, c.spaced(text))
	if strings.ContainsFunc(text, isOdd) || c.marked && (strings.ContainsAny(text, `[]<>&\`) || strings.Contains(text, "://") && c.tool != qwenFetch) {
		c.odd = true
	}
}

// isOdd says that a character may not be drawn, or in a program's own way: tmux 3.3a leaves out those
// that it doesn't know, such as U+0378 and U+1CCFA.
func isOdd(r rune) bool {
	switch {
	case r == '\n' || r == '\t':
		return false
	case unicode.IsControl(r): // it may be drawn as what it does: Qwen Code writes over a row from its beginning at a \r
		return true
	case r > 0xFFFF && !unicode.In(r, unicode.Han) && (r < 0x1F300 || r > 0x1FAFF):
		return true
	}
	return !unicode.IsPrint(r) && !unicode.IsSpace(r) || r == unicode.ReplacementChar
}

// spaced is a text by its letters and where blanks stand between them.
func (c *call) spaced(text string) string {
	if c.marked {
		text = markdownSigns.Replace(text)
	}
	var words []string
	for word := range strings.FieldsSeq(text) {
		if word = squeezed(word); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// gapped is a row with two blanks wherever it has more than one: there a program may begin another
// row for them alone.
func (c *call) gapped(row string) string {
	var parts []string
	for part := range strings.SplitSeq(wideGap.ReplaceAllString(strings.TrimSpace(row), "  "), "  ") {
		if part = c.spaced(part); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "  ")
}

var wideGap = regexp.MustCompile(`\s{2,}|\t`)

// spacedRows is the same with the ends of its rows.
func (c *call) spacedRows(text string) string {
	var rows []string
	for row := range strings.Lines(text) {
		if row = c.gapped(row); row != "" {
			rows = append(rows, row)
		}
	}
	return strings.Join(rows, "\n")
}

// letters are what of a text is compared with what's drawn.
func (c *call) letters(text string) string {
	if c.marked {
		text = markdownSigns.Replace(text)
	}
	return squeezed(text)
}

// markdownSigns takes off the signs that aren't drawn, or otherwise.
var markdownSigns = strings.NewReplacer("*", "", "_", "", "`", "", "#", "", ">", "", "~", "", "|", "", "-", "", "+", "", "•", "", "◦", "", "▪", "") //nolint:gochecknoglobals // a constant table

// said is a value of a call's input, and what it's called.
type said struct {
	name, value string
	depth       int // 1: it's a value of the input itself
	// silent says that programs don't draw it: false, null, and lists without anything.
	silent bool
}

// isCommand reports whether it's what's run, or a plan.
func (f said) isCommand() bool { return f.depth == 1 && (f.name == "command" || f.name == "plan") }

// fieldsOf reads all values of a JSON text, in its order.
func fieldsOf(dec *json.Decoder, name string, out []said, depth int) []said {
	token, err := dec.Token()
	if err != nil {
		return out
	}
	switch t := token.(type) {
	case json.Delim:
		if !dec.More() && depth > 0 {
			out = append(out, said{name: name, value: string([]rune{rune(t), closingBrackets[t]}), depth: depth, silent: true})
		}
		for dec.More() {
			if t == '{' {
				key, err := dec.Token()
				if err != nil {
					return out
				}
				name, _ = key.(string)
			}
			out = fieldsOf(dec, name, out, depth+1)
		}
		_, _ = dec.Token() // its end, or that of the text
	case string:
		out = append(out, said{name: name, value: t, depth: depth})
	case json.Number:
		out = append(out, said{name: name, value: t.String(), depth: depth})
	case bool:
		out = append(out, said{name: name, value: strconv.FormatBool(t), depth: depth, silent: !t})
	case nil:
		out = append(out, said{name: name, value: "null", depth: depth, silent: true})
	}
	return out
}

// closingBrackets are the ends of lists and objects.
var closingBrackets = map[json.Delim]rune{'[': ']', '{': '}'} //nolint:gochecknoglobals // a constant table

// saidOf is a call as people read it: what's run as it is, the rest with its names.
func saidOf(fields []said) string {
	var run, rows []string
	marks := false
	for _, f := range fields {
		if f.isCommand() {
			marks = marks || f.name == "command"
			run = append(run, strings.Split(f.value, "\n")...)
		} else {
			rows = append(rows, paramRows(f.name, f.value)...)
		}
	}
	if marks && slices.ContainsFunc(run, named.MatchString) { // it could be taken for another value
		run = strings.Split("$ "+strings.Join(run, "\n  "), "\n")
	}
	return strings.Join(append(run, rows...), "\n")
}

// named is a row that begins as a value with its name does.
var named = regexp.MustCompile(`^(?:\w+|".*"): `)

// squeezed is a text without what terminals and agents draw otherwise, not at all, or
// around texts of others: blanks, controls, what stands above, below or between
// characters, and what boxes are made of.
func squeezed(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r >= '─' && r <= '▟' || unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Me) {
			return -1
		}
		return r
	}, s)
}
