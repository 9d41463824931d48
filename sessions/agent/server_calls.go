package agent

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// paramsAs is how what a tool of an MCP server is called with is drawn.
type paramsAs string

const (
	asRows   paramsAs = ""       // each on a row, so many of them and cut: Codex
	asBlocks paramsAs = "blocks" // all of them, long ones as blocks behind bars: Claude Code
	asJSON   paramsAs = "json"   // as JSON behind the tool's name, which may be cut: Gemini CLI, Qwen Code
	asName   paramsAs = "name"   // not at all: opencode
)

func (f *paramForm) check() string {
	switch {
	case !slices.Contains([]paramsAs{asRows, asBlocks, asJSON, asName}, f.As):
		return "params: as must be blocks, json, name or left out, not " + strconv.Quote(string(f.As))
	case f.As == asRows && (f.Most < 1 || f.Cut == ""):
		return "params needs most, above 0, and cut"
	case f.Whole && f.As != asBlocks && f.As != asJSON:
		return "params: whole goes with as: blocks and as: json"
	case f.Cut != "" && f.Whole:
		return "params: cut doesn't go with whole"
	}
	return ""
}

// What blocks are set apart by in what's compared: no text has these once it's squeezed.
const (
	blockBegins = "\x02"
	blockEnds   = "\x03"
)

// param is what a tool is called with by one name.
type param struct {
	name  string
	value json.RawMessage
}

// paramsOf are the parameters in the order in which the agent tells and draws them; false: it
// isn't an object.
func paramsOf(input json.RawMessage) (out []param, ok bool) {
	dec := json.NewDecoder(bytes.NewReader(input))
	if start, err := dec.Token(); err != nil || start != json.Delim('{') {
		return nil, false
	}
	for dec.More() {
		var p param
		key, err := dec.Token()
		if err != nil || dec.Decode(&p.value) != nil {
			return nil, false
		}
		p.name, _ = key.(string)
		out = append(out, p)
	}
	_, err := dec.Token()
	return out, err == nil
}

// openCodeDraws are the permissions for which opencode 1.18.33 has drawings of their own. Of all
// others it draws the name.
var openCodeDraws = []string{ //nolint:gochecknoglobals // a constant table
	"bash", "doom_loop", "edit", "external_directory", "glob", "grep", "list", "read", "task", "webfetch", "websearch",
}

// tellsTool reports whether a hook tells of a call of a tool of an MCP server, and nothing else:
// Gemini CLI's before each of them, whether anybody is asked about it or not.
func (h *Hook) tellsTool() bool {
	return h.Agent == string(transcript.Gemini) && (h.Signal == ToolStart || h.Signal == ToolEnd) && strings.HasPrefix(h.Tool, mcpTools)
}

// serverCallOf is what a hook tells of a call of a tool of an MCP server, nil: it's none; and all
// that it's called with as people read it. Where an agent draws such a call in no other way than
// that of any tool that it doesn't know, it may be one of those.
func serverCallOf(h Hook) (c *toolCall, said string) {
	switch {
	case h.Agent == string(transcript.Codex):
		return toolCallOf(h)
	case h.Agent == string(transcript.OpenCode):
		if h.Request == "" || slices.Contains(append(questionTools(), openCodeDraws...), h.Tool) {
			return nil, ""
		}
	case !strings.HasPrefix(h.Tool, mcpTools):
		return nil, ""
	}
	params, ok := paramsOf(h.Input)
	if !ok {
		return nil, ""
	}
	var text bytes.Buffer
	_ = json.Compact(&text, h.Input) // it was read before
	return &toolCall{tool: h.Tool, named: params, json: drawnLetters(text.String())}, calledWith(h.Tool, params)
}

// drawnLetters are what of a text is compared with what's drawn: in place of what can't be drawn
// some programs draw a sign of their own.
func drawnLetters(text string) string {
	return strings.ReplaceAll(squeezed(text), string(unicode.ReplacementChar), "")
}

// plainName is a name of which only letters and digits count: what's drawn of it has blanks, dashes
// and capitals of the program's.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, name)
}

// toolDrawing is what a dialog draws of a call of a tool.
type toolDrawing struct {
	form   *paramForm
	name   string // the tool, as it's drawn; "": it isn't on the screen
	params string // what it's called with, as letters
	known  bool   // these could be told from what the program draws around them
	part   bool   // its beginning isn't on the screen: it's the end of it
	cut    bool   // it's the beginning, and the dialog says that it goes on
	rows   string // all, as Codex' is compared
}

// judgeCall says what the dialog draws of the call.
func (d *toolDrawing) judgeCall(c *toolCall) likeness {
	if d.form.As == asRows {
		if c.tool == "" && !d.part && c.isDrawn(d.form, d.rows) {
			return drawsIt
		}
		return drawsOther
	}
	is := false
	switch name := strings.TrimPrefix(c.tool, mcpTools); d.form.As {
	case asRows:
	case asBlocks:
		is = c.drawsBlocks(d.params, d.part)
		if is && plainName(d.name) != plainName(name) {
			return drawsSome // its server may have called it otherwise
		}
	case asJSON:
		is = plainName(d.name) == plainName(name) &&
			(c.json == d.params || d.part && strings.HasSuffix(c.json, d.params) || d.cut && strings.HasPrefix(c.json, d.params))
	case asName:
		is = c.tool == d.name
	}
	switch {
	case !is:
		return drawsOther
	case d.part && len(d.params) < leastDrawn:
		return drawsSome
	}
	return drawsIt
}

// drawsBlocks reports whether a text is all that Claude Code 2.1.332 draws of what the tool is called
// with, or the end of that: a row for what's short, and a block for what's long or has rows.
func (c *toolCall) drawsBlocks(text string, part bool) bool {
	for _, p := range slices.Backward(c.named) {
		want := drawnLetters(bareKey(p.name)) + ":"
		var value string
		isText := p.value[0] == '"' && json.Unmarshal(p.value, &value) == nil
		switch block := strings.HasSuffix(text, blockEnds); {
		case isText && block:
			want += blockBegins + drawnLetters(value) + blockEnds
		case isText:
			want += `"` + drawnLetters(strings.NewReplacer(`"`, `\"`, `\`, `\\`).Replace(value)) + `"`
		case block:
			want += blockBegins + drawnLetters(bareJSON(p.value)) + blockEnds
		default:
			want += drawnLetters(bareJSON(p.value))
		}
		rest, ok := strings.CutSuffix(text, want)
		if !ok {
			return part && strings.HasSuffix(want, text)
		}
		text = rest
	}
	return text == ""
}

// bareName is a name that's drawn without quotes.
var bareName = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// bareKey is a name as it's drawn.
func bareKey(name string) string {
	if bareName.MatchString(name) {
		return name
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(name) // of a string it can't fail
	return b.String()
}

// jsonText is a text in JSON, and the colon behind a name.
var jsonText = regexp.MustCompile(`"((?:[^"\\]|\\.)*)"(\s*:)?`)

// bareJSON is a value with names as they're drawn.
func bareJSON(value json.RawMessage) string {
	return jsonText.ReplaceAllStringFunc(string(value), func(text string) string {
		if m := jsonText.FindStringSubmatch(text); m[2] != "" && bareName.MatchString(m[1]) {
			return m[1] + ":"
		}
		return text
	})
}

// What programs draw around what a tool is called with.
var (
	toolRule   = regexp.MustCompile(`^╌{10,}$`)
	toolBar    = regexp.MustCompile(`^   │ ?(.*)$`)
	toolHead   = regexp.MustCompile(`^Tooluse(.+)Tool:\(MCP\)$`)
	toolAbout  = regexp.MustCompile(`^ About the (.+) Tool:$`)
	toolServer = regexp.MustCompile(`^ *MCP Server: (.+)$`)
	toolName   = regexp.MustCompile(`^ *Tool: (.+)$`)
)

// toolDrawn reads what a dialog draws of a call of a tool.
func (f *dialogForm) toolDrawn(d *sessions.Dialog) *toolDrawing {
	out := &toolDrawing{form: f.Params, part: d.Headless}
	var rows []string
	begun := false // what the program writes on top is its own; farther down it's the call's
	for _, row := range d.Above {
		if begun || !matchesRow(f.Skip, row) {
			rows = append(rows, row)
		}
		begun = begun || strings.TrimSpace(row) != ""
	}
	switch f.Params.As {
	case asRows:
		out.rows, out.known = squeezed(strings.Join(rows, "")), true
	case asBlocks:
		out.readBlocks(rows)
	case asJSON:
		out.readJSON(rows, d.Title)
	case asName:
		for _, row := range rows {
			if m := toolName.FindStringSubmatch(row); m != nil {
				out.name = m[1]
			}
		}
		out.known = !out.part && squeezed(strings.Join(rows, "")) == squeezed("△ Permission required ⚙ Call tool "+out.name+" Tool: "+out.name)
	}
	return out
}

// readBlocks reads Claude Code's drawing.
func (d *toolDrawing) readBlocks(rows []string) {
	var rules []int
	about := len(rows)
	for i, row := range rows {
		if toolRule.MatchString(row) {
			rules, about = append(rules, i), len(rows)
		} else if m := toolAbout.FindStringSubmatch(row); m != nil && about == len(rows) {
			d.name, about = m[1], i
		}
	}
	from, to := about, about // of what it's called with: nothing
	switch n := len(rules); {
	case n > 1:
		from, to = rules[0], rules[n-1]
	case n == 1 && d.part:
		from, to = -1, rules[0]
	}
	d.known = d.part && to < about && about < len(rows)
	if m := toolHead.FindStringSubmatch(squeezed(strings.Join(rows[:max(from, 0)], ""))); m != nil && !d.part {
		d.name, d.known = m[1], true
	}
	var b strings.Builder
	block := false
	for i := from + 1; i < to; i++ {
		row := rows[i]
		if m := toolBar.FindStringSubmatch(row); m != nil {
			if !block && (b.Len() > 0 || !d.part) {
				b.WriteString(blockBegins)
			}
			block, row = true, m[1]
		} else if block {
			b.WriteString(blockEnds)
			block = false
		}
		b.WriteString(drawnLetters(row))
	}
	if block {
		b.WriteString(blockEnds)
	}
	d.params = b.String()
}

// readJSON reads the drawing of Gemini CLI and Qwen Code.
func (d *toolDrawing) readJSON(rows []string, title string) {
	at := -1
	for i, row := range rows {
		if toolServer.MatchString(row) {
			at = i
		}
	}
	if at < 0 || at+1 == len(rows) {
		return
	}
	tool := toolName.FindStringSubmatch(rows[at+1])
	if tool == nil {
		return
	}
	server := toolServer.FindStringSubmatch(rows[at])[1]
	if !strings.HasPrefix(`Allow execution of MCP tool "`+tool[1]+`" from server "`+server+`"?`, title) {
		return
	}
	d.name = server + tool[1]
	var head strings.Builder
	for i, row := range rows[:at] {
		if row = strings.TrimSpace(row); i == 0 || head.Len() == 0 {
			row = strings.TrimSuffix(row, "←") // the one that's asked about
		}
		head.WriteString(drawnLetters(row))
	}
	d.params = head.String()
	if d.part {
		d.known = true
		return
	}
	rest := strings.TrimPrefix(d.params, "?")
	rest, d.known = strings.CutPrefix(rest, drawnLetters(tool[1]+"("+server+"MCP Server)"))
	d.params = rest
	if cut := d.form.Cut; cut != "" && d.known {
		d.params, d.cut = strings.CutSuffix(rest, cut)
	}
}

// recordTool adds to a dialog about a tool what the record of its call says, as record does
// of other dialogs: if it's the only call of which all that's drawn is drawn.
func (c calls) recordTool(f *dialogForm, d *sessions.Dialog) {
	if len(d.Above) == 0 {
		return
	}
	drawn := f.toolDrawn(d)
	var is []call
	var other *call
	unsure := false
	for i := range c {
		one := &c[i]
		if one.mcp == nil && !one.lost {
			continue
		}
		like := drawsIt // one that isn't known may be any
		if !one.lost {
			like = drawn.judgeCall(one.mcp)
		}
		switch {
		case one.gone:
			unsure = unsure || like != drawsOther || one.odd
		case like == drawsSome, like == drawsOther && one.odd:
			unsure = true
		case like == drawsOther:
			other = one
		case !slices.ContainsFunc(is, func(was call) bool { return was.sum == one.sum }):
			is = append(is, *one)
		}
	}
	switch {
	case len(is) == 1 && !is[0].lost && !unsure:
		d.Call, d.Whole, d.Unseen = is[0].sum, is[0].said, false
	case len(is) == 0 && other != nil && !unsure && !drawn.part && drawn.known:
		d.Call, d.Whole, d.Disputed, d.Unseen = other.sum, other.said, true, true
	}
}
