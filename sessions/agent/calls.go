package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/transcript"
)

// call is what an agent's hook told of a call that it asks a person about.
type call struct {
	sum   string // of tool and input
	tool  string
	times int // how often it was asked about, and hasn't been answered
	// texts are the strings of the input by their squeezed letters; main is that of the
	// command, "": it's none.
	texts []string
	main  string
	// exact are the same with their blanks, of which several count as one. odd says that there's
	// something in them that programs draw otherwise, each in its own way.
	exact []string
	odd   bool
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
	change *change
	// mcp is how it's drawn, if it's of a tool of an MCP server; nil: it isn't.
	mcp *toolCall
	// asks says that it's a question, which runs nothing.
	asks bool
	// lists are its questions, of whose options the dialog shows a part at a time; nil: there are none.
	lists []oneQuestion
	// lost says that the input isn't known: it was longer than what a hook tells. It may be
	// any call.
	lost bool
	// before says that it was asked about before anything was heard of: its record didn't come.
	before bool
	// served says that the agent's server asks about it, by its one request; hooked, that a
	// hook told of it as well.
	served bool
	hooked bool
}

// Bounds of the calls that an agent asks about at once.
const (
	maxCalls      = 32
	maxCallsBytes = 4 << 20
	// leastDrawn is how many letters of a call must be drawn so that it's known by them,
	// where not all of it is.
	leastDrawn = 8
)

// calls are those that wait for an answer, the oldest first.
type calls []call

// heard takes in a hook.
func (c *calls) heard(h Hook) {
	switch {
	case h.Signal == PromptSent || h.Signal == SessionStart || h.Signal == SessionEnd:
		// What an agent asks by a request stands until that's answered, whatever another of its
		// conversations does.
		*c = slices.DeleteFunc(*c, func(one call) bool {
			return !one.served && (len(one.requests) == 0 && one.over == 0 || h.Signal == SessionEnd || one.conversation == h.Conversation)
		})
		return
	case h.Request != "" && (h.Signal == Answered || h.Signal == Replied && (h.Text == replyGiven || h.Text == replyLate)):
		c.replied(h.Request)
		return
	case h.Signal == Answered && h.Request == "" && h.Tool == geminiQuestion:
		c.forgetList()
		return
	case h.tellsTool() && h.Signal == ToolEnd:
		sum := sumOf(h)
		c.less(func(one *call) bool { return one.sum == sum })
		return
	case h.tellsTool() && (len(h.Input) > 0 || h.Lost):
	case h.Signal != Asking || len(h.Input) == 0 && !h.Lost:
		return
	}
	one := newCall(h)
	if i := slices.IndexFunc(*c, func(was call) bool { return was.served && !was.hooked && was.same(&one) }); i >= 0 {
		(*c)[i].hooked = true
		return
	}
	if i := slices.IndexFunc(*c, func(was call) bool { return was.sum == one.sum && !was.served }); i >= 0 {
		was := &(*c)[i]
		if h.Request != "" && slices.Contains(was.requests, h.Request) { // it's told again
			return
		}
		was.times++
		was.requests = append(was.requests, one.requests...)
		return
	}
	c.add(one)
}

// add keeps one more, within their bounds.
func (c *calls) add(one call) {
	*c = append(*c, one)
	for size := c.bytes(); len(*c) > maxCalls || size > maxCallsBytes; size = c.bytes() {
		first := (*c)[0]
		(*c)[0] = call{sum: first.sum, lost: true, times: 1, requests: first.requests, conversation: first.conversation, served: first.served}
		*c = append((*c)[1:], (*c)[0])
		if len(*c) > maxCalls {
			c.forgetOldest()
		}
	}
}

// forgetOldest makes one of all that aren't known any more: what it was about may be asked still.
func (c *calls) forgetOldest() {
	last := len(*c) - 1
	if i := slices.IndexFunc((*c)[:last], func(one call) bool { return one.lost && one.sum == "" }); i >= 0 {
		(*c)[i].times += (*c)[last].times
		*c = (*c)[:last]
		return
	}
	(*c)[last] = call{lost: true, times: (*c)[last].times}
}

func (c calls) bytes() (n int) {
	for _, one := range c {
		n += len(one.said)
	}
	return n
}

// answered takes one away whose dialog has gone, unless its agent says by itself when it
// was answered.
func (c *calls) answered(sum string) {
	c.less(func(one *call) bool {
		return one.sum == sum && len(one.requests) == 0 && one.over == 0 && one.lists == nil
	})
}

// forgetList takes away the call of a list that was answered, if it's clear which that is.
func (c *calls) forgetList() {
	n := 0
	for _, one := range *c {
		if one.lists != nil {
			n++
		}
	}
	if n == 1 {
		*c = slices.DeleteFunc(*c, func(one call) bool { return one.lists != nil })
	}
}

// replied notes that one was answered, as its agent says. It's taken away when its dialog
// isn't shown: see shows.
func (c *calls) replied(request string) {
	for i := range *c {
		one := &(*c)[i]
		if n := slices.Index(one.requests, request); n >= 0 && !one.served {
			one.requests = slices.Delete(one.requests, n, n+1)
			one.over++
		}
	}
}

// shows takes those away that were answered, but for the one whose dialog still stands there.
func (c *calls) shows(sum string) {
	*c = slices.DeleteFunc(*c, func(one call) bool { return one.sum != sum && one.over >= one.times })
	for i := range *c {
		if one := &(*c)[i]; one.sum != sum {
			one.times, one.over = one.times-one.over, 0
		}
	}
}

// over reports whether a call was answered, as often as it was asked about.
func (c calls) over(sum string) bool {
	return slices.ContainsFunc(c, func(one call) bool { return one.sum == sum && one.over >= one.times })
}

// less takes those away that were asked about for the last time.
func (c *calls) less(is func(one *call) bool) {
	kept := (*c)[:0]
	for _, one := range *c {
		if is(&one) {
			one.times--
		}
		if one.times > 0 {
			kept = append(kept, one)
		}
	}
	clear((*c)[len(kept):])
	*c = kept
}

// serve takes in a call about which the agent's server asks, by its id, and returns its sum;
// "": it isn't known what it's about. One that a hook has told of is the same.
func (c *calls) serve(h Hook, id string) (sum string) {
	if len(h.Input) == 0 {
		return ""
	}
	one := newCall(h)
	if i := slices.IndexFunc(*c, func(was call) bool { return len(was.requests) == 0 && !was.lost && was.same(&one) }); i >= 0 {
		(*c)[i].requests, (*c)[i].served, (*c)[i].hooked, (*c)[i].mcp = []string{id}, true, true, one.mcp
		return (*c)[i].sum
	}
	one.requests, one.served = []string{id}, true
	c.add(one)
	return one.sum
}

// unserve takes in that the server asks about a call no longer: answered, or it can't be
// heard any more.
func (c *calls) unserve(id string, answered bool) {
	i := slices.IndexFunc(*c, func(one call) bool { return one.served && slices.Contains(one.requests, id) })
	if i < 0 {
		return
	}
	one := &(*c)[i]
	one.requests, one.served, one.hooked = nil, false, false
	if answered {
		if one.times--; one.times <= 0 {
			*c = slices.Delete(*c, i, i+1)
		}
	}
}

// same reports whether two records are of calls that are the same to whoever's asked.
func (c *call) same(other *call) bool { return c.tool == other.tool && c.said == other.said }

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

func newCall(h Hook) call {
	c := call{sum: sumOf(h), tool: h.Tool, times: 1, lost: h.Lost, plan: h.Tool == claudePlan, asks: slices.Contains(questionTools(), h.Tool), saves: h.Saves}
	if h.Request != "" {
		c.requests, c.conversation = []string{h.Request}, h.Conversation
	}
	qwen := h.Agent == string(transcript.Qwen)
	c.marked = c.plan || qwen && (h.Tool == qwenAgent || h.Tool == qwenFetch)
	var fields []said
	if !c.lost {
		dec := json.NewDecoder(bytes.NewReader(h.Input))
		dec.UseNumber()
		fields = fieldsOf(dec, "", nil)
	}
	for _, f := range fields {
		if (f.name == "command" && !c.plan || f.name == "plan" && c.plan) && c.main == "" {
			c.main = c.letters(f.value)
		}
		c.draws(f.value)
	}
	if i := slices.IndexFunc(fields, func(f said) bool { return f.name == "description" }); i >= 0 && c.tool == qwenShell && c.main != "" {
		c.head = c.main + "(" + c.letters(fields[i].value) + ")"
		c.texts = append(c.texts, c.head)
		for _, f := range fields {
			if f.name == "command" {
				c.exact = append(c.exact, c.spaced(f.value+" ("+fields[i].value+")"))
			}
		}
	}
	c.said = saidOf(fields)
	if h.Request != "" && c.main == "" && !c.asks { // a dialog may draw no more than the tool
		c.draws(h.Tool)
		c.said = strings.TrimSuffix("tool: "+printable(h.Tool)+"\n"+c.said, "\n")
	}
	if c.tool == geminiQuestion && !c.lost {
		c.lists = listsOf(h.Input)
	}
	if !c.lost && c.main == "" && !c.asks && !c.plan {
		c.change = changeOf(h.Input)
	}
	if c.change != nil {
		c.said = c.change.said
	} else if qwen && c.main == "" && !c.asks && !c.plan && !c.lost { // its dialog may name no tool
		c.fetches(fields)
		c.said = strings.TrimSuffix("tool: "+printable(h.Tool)+"\n"+c.said, "\n")
	}
	if of, said := serverCallOf(h); of != nil && !c.lost {
		c.mcp, c.said, c.main, c.change = of, said, "", nil
		c.drawsName()
		if h.Asks != nil {
			c.mcp = h.Asks
		}
	}
	return c
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
	c.draws("Fetch content from " + values["url"] + " and process with: " + values["prompt"])
	c.draws("- " + values["url"])
}

// drawsName has a call of a tool of an MCP server be drawn as Qwen Code draws that of a sub-agent: by
// the names of server and tool alone.
func (c *call) drawsName() {
	c.texts, c.exact = nil, nil
	server, tool, _ := strings.Cut(strings.TrimPrefix(c.tool, mcpTools), "__")
	c.draws("MCP Server: " + server)
	c.draws("Tool: " + tool)
}

// draws adds a text of which rows may be drawn.
func (c *call) draws(text string) {
	c.texts = append(c.texts, c.letters(text))
	c.exact = append(c.exact, c.spaced(text))
	odd := func(r rune) bool {
		return r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co) || r == unicode.ReplacementChar)
	}
	if strings.ContainsFunc(text, odd) || c.marked && (strings.ContainsAny(text, `[]<>&\`) || strings.Contains(text, "://") && c.tool != qwenFetch) {
		c.odd = true
	}
}

// spaced is a text by its letters and where blanks stand between them.
func (c *call) spaced(text string) string {
	if c.marked {
		text = markdown.Replace(text)
	}
	var words []string
	for word := range strings.FieldsSeq(text) {
		if word = squeezed(word); word != "" {
			words = append(words, word)
		}
	}
	return strings.Join(words, " ")
}

// letters are what of a text is compared with what's drawn.
func (c *call) letters(text string) string {
	if c.marked {
		text = markdown.Replace(text)
	}
	return squeezed(text)
}

// markdown takes off the signs that aren't drawn, or otherwise.
var markdown = strings.NewReplacer("*", "", "_", "", "`", "", "#", "", ">", "", "~", "", "|", "", "-", "", "+", "", "•", "", "◦", "", "▪", "") //nolint:gochecknoglobals // a constant table

// said is a value of a call's input, and what it's called.
type said struct{ name, value string }

// fieldsOf reads all values of a JSON text, in its order.
func fieldsOf(dec *json.Decoder, name string, out []said) []said {
	token, err := dec.Token()
	if err != nil {
		return out
	}
	switch t := token.(type) {
	case json.Delim:
		for dec.More() {
			if t == '{' {
				key, err := dec.Token()
				if err != nil {
					return out
				}
				name, _ = key.(string)
			}
			out = fieldsOf(dec, name, out)
		}
		_, _ = dec.Token() // its end, or that of the text
	case string:
		out = append(out, said{name, t})
	case json.Number:
		out = append(out, said{name, t.String()})
	case bool:
		if t {
			out = append(out, said{name, "true"})
		}
	}
	return out
}

// saidOf is a call as people read it: what's run as it is, the rest with its names.
func saidOf(fields []said) string {
	var b strings.Builder
	add := func(f said, name bool) {
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		if name {
			b.WriteString(f.name)
			b.WriteString(": ")
		}
		b.WriteString(f.value)
	}
	for _, f := range fields {
		if f.name == "command" || f.name == "plan" {
			add(f, false)
		}
	}
	for _, f := range fields {
		if f.name != "command" && f.name != "plan" {
			add(f, true)
		}
	}
	var rows []string
	for row := range strings.SplitSeq(b.String(), "\n") {
		rows = append(rows, printable(row))
	}
	return strings.Join(rows, "\n")
}

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

// likeness is what a dialog draws of a call.
type likeness int

const (
	drawsOther likeness = iota // something that the call doesn't say
	drawsSome                  // too little to tell
	drawsIt
)

// drawn says what a dialog draws of the call: nothing but what it says, and where the
// dialog is drawn whole, all of a command and that once.
func (c *call) drawn(d *sessions.Dialog) likeness {
	switch {
	case c.asks:
		return drawsOther
	case c.lost:
		return drawsIt
	case (d.Command || c.plan) && c.main == "", c.plan != (d.Kind == sessions.PromptPlan):
		return drawsOther
	}
	var all strings.Builder
	for _, row := range d.Drawn {
		part, ok := c.part(row)
		if !ok {
			return drawsOther
		}
		all.WriteString(part)
	}
	rest := all.String()
	switch {
	case d.Unseen && len(rest) < leastDrawn:
		return drawsSome
	case d.Unseen:
		return drawsIt
	case c.main == "" && (d.All && rest == strings.Join(c.texts, "") || !d.All && madeOf(rest, c.texts)):
		return drawsIt
	case c.main == "":
		return drawsOther
	case !strings.Contains(rest, c.main):
		return drawsOther
	}
	if above, ok := strings.CutSuffix(rest, c.main); ok && above != "" && strings.HasSuffix(c.head, above) {
		return drawsIt
	}
	others := slices.Clone(c.texts)
	others = slices.Delete(others, slices.Index(others, c.main), slices.Index(others, c.main)+1)
	if d.Apart {
		others = nil
	}
	for _, text := range append([]string{c.main}, others...) {
		rest = strings.Replace(rest, text, "", 1)
	}
	if rest != "" {
		return drawsOther
	}
	return drawsIt
}

// madeOf reports whether a text is whole ones of others, one after the other.
func madeOf(text string, of []string) bool {
	ends := make([]bool, len(text)+1) // where one ends up to which it is
	ends[0] = true
	for at := range text {
		if !ends[at] {
			continue
		}
		for _, one := range of {
			if one != "" && strings.HasPrefix(text[at:], one) {
				ends[at+len(one)] = true
			}
		}
	}
	return ends[len(text)]
}

// mayBe reports whether all that a dialog surely draws occurs in the call.
func (c *call) mayBe(d *sessions.Dialog) bool {
	return !slices.ContainsFunc(d.Surely, func(row string) bool {
		_, ok := c.part(row)
		return !ok
	})
}

// part is what a row draws of a call; false: it draws something else.
func (c *call) part(row string) (string, bool) {
	for _, bare := range bareRow(row, c.main == "") {
		text, spaced := c.letters(bare), c.spaced(bare)
		if text == "" || slices.ContainsFunc(c.texts, func(said string) bool { return strings.Contains(said, text) }) &&
			slices.ContainsFunc(c.exact, func(said string) bool { return strings.Contains(said, spaced) }) {
			return text, true
		}
	}
	return "", false
}

// bareRow is a row as it is, and without what programs put after it, that it's longer, or
// before those of files: a number of a line and a sign.
func bareRow(row string, file bool) []string {
	row = strings.TrimSpace(row)
	out := []string{row}
	if bare, ok := strings.CutSuffix(row, "…"); ok {
		out = append(out, bare)
	}
	if bare := strings.TrimLeft(row, "0123456789"); file && bare != row {
		bare = strings.TrimLeft(bare, " ")
		out = append(out, bare, strings.TrimLeft(bare, "+-"))
	}
	return out
}

// record adds to a dialog what the agent's own record of its call says. The record only
// adds: what's drawn must all occur in it. Otherwise both are shown, and nothing that
// allows can be chosen. Where several calls that differ may be it, none is.
//
// Where tool isn't "", only calls of that tool may be it.
func (c calls) record(d *sessions.Dialog, f *form, tool string) {
	if len(d.Drawn) == 0 && !d.Command {
		return
	}
	tools := f != nil && f.Tools
	var is []call
	var newest call
	rival := false // one that may be what's drawn, though it isn't drawn so
	disputed := (d.Command || tool != "" && f.Unseen) && slices.ContainsFunc(c, func(one call) bool { return !one.asks && !one.plan && one.mcp == nil && one.isOf(tool) })
	for _, one := range c {
		if one.mcp != nil && !tools || !one.isOf(tool) || one.before && !d.Unseen {
			continue
		}
		newest = one
		like := one.drawn(d)
		disputed = disputed && like == drawsOther
		rival = rival || like == drawsOther && !one.asks && (one.odd || d.Unseen && (one.mayBe(d) || one.change != nil))
		if like == drawsIt && !slices.ContainsFunc(is, func(other call) bool { return other.sum == one.sum }) {
			is = append(is, one)
		}
	}
	switch {
	case len(is) == 1 && !is[0].lost && !rival:
		d.Call, d.Whole, d.Unseen = is[0].sum, is[0].said, false
	case disputed:
		d.Call, d.Whole, d.Disputed, d.Unseen = newest.sum, newest.said, true, true
	}
}

// qwenNames are what Qwen Code calls tools in its dialogs, where that's another name.
var qwenNames = map[string]string{qwenShell: "Shell"} //nolint:gochecknoglobals // a constant table

// isOf reports whether it may be a call of a tool by the name that's drawn of that; "": of any.
func (c *call) isOf(tool string) bool {
	return tool == "" || c.lost || plainName(c.tool) == plainName(tool) || qwenNames[c.tool] == tool
}

// recorded is a dialog of the session with what its call's record says; nil: without one it
// isn't known.
func (o *Observer) recorded(d *sessions.Dialog) *sessions.Dialog {
	if d == nil || d.Kind == sessions.PromptUnread || d.Kind == sessions.PromptSetup {
		return d
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	var f *form
	if o.known.dialogs != nil {
		f = o.known.dialogs.formOf(d)
	}
	if d.Window != nil {
		if whole := o.known.calls.list(f, d, o.known.askedCall); whole != nil {
			return whole
		} else if inMidList(d) {
			return nil
		}
	}
	if !allows(d.Kind) || d.Tabs != "" {
		return o.asksOf(f, d)
	}
	if f != nil && f.Saves != nil {
		o.known.calls.bindSaving(f, d)
		return d
	}
	if f != nil && f.Params != nil {
		o.known.calls.recordTool(f, d)
	} else if drawn := f.changed(d.Above); drawn != nil {
		o.known.calls.recordChange(d, drawn)
	} else if tool, ok := f.toolOf(d); ok {
		o.known.calls.record(d, f, tool)
	}
	if f != nil && f.Recorded && d.Call == "" {
		return nil
	}
	if f != nil && f.Corrects != "" && d.Text == "" && (o.known.waitsFor(d) || d.Call != "" && o.known.calls.over(d.Call)) {
		d.Text = f.Corrects
	}
	return d
}

// toolOf is what the tool is called that the dialog asks about; "": its form doesn't say, or it isn't
// on the screen. It's false where a record is to be of that tool and it isn't there.
func (f *form) toolOf(d *sessions.Dialog) (tool string, ok bool) {
	if f == nil || f.Tool == nil {
		return "", true
	}
	for _, row := range d.Above {
		if row == "" {
			continue
		}
		if m := f.Tool.row.FindStringSubmatch(row); m != nil {
			return m[1], m[1] != ""
		}
		break
	}
	return "", !f.Unseen
}

// waitsFor reports whether one hook waits for a dialog which the agent answers by its
// request. k.mu is held.
func (k *known) waitsFor(d *sessions.Dialog) bool {
	n := 0
	for _, waits := range k.deciders {
		if waits.request != "" && waits.decides(d) {
			n++
		}
	}
	return n == 1
}

// bindSaving binds a dialog that asks whether a call is to be allowed for good to the one
// call that would save just what it draws.
func (c calls) bindSaving(f *form, d *sessions.Dialog) {
	if d.Unseen || len(d.Drawn) == 0 {
		return
	}
	drawn := squeezed(strings.Join(d.Drawn, ""))
	of := -1
	for i, one := range c {
		rows := ""
		if m := f.Saves.whole.FindStringSubmatch(strings.TrimSpace(strings.Join(d.Drawn, " "))); m != nil && m[1] == one.tool && slices.Equal(one.saves, []string{"*"}) {
			rows = drawn
		} else {
			for _, pattern := range one.saves {
				rows += squeezed("-" + pattern)
			}
		}
		if rows != drawn {
			continue
		}
		if of >= 0 {
			return
		}
		of = i
	}
	if of >= 0 && c[of].times == 1 {
		d.Call = c[of].sum
	}
}

// begunWith takes in that a dialog stood there as the session was looked at first: what a hook told of
// its call came before, and what comes now is about another.
func (o *Observer) begunWith(d *sessions.Dialog) {
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	if o.begun == "" && d != nil && d.Call == "" {
		o.known.calls.add(call{sum: d.Print, lost: true, before: true, times: 1})
	}
	if o.begun = noDialog; d != nil {
		o.begun = d.Print
	}
}

// begunGone takes in that that dialog has gone.
func (o *Observer) begunGone() {
	o.begun = noDialog
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	o.known.calls = slices.DeleteFunc(o.known.calls, func(one call) bool { return one.before })
}

// noDialog is Observer.begun where that was none, or has gone.
const noDialog = "-"

// gone takes in which dialog is surely on the screen, nil: none is. The call of another has
// been answered.
func (o *Observer) gone(now *sessions.Dialog) {
	call := ""
	if now != nil && !now.Disputed {
		call = now.Call
	}
	if o.begun == "" {
		o.begunWith(now)
	} else if o.begun != noDialog && (now == nil || now.Print != o.begun) {
		o.begunGone()
	}
	if o.call != "" && o.call != call {
		o.known.mu.Lock()
		o.known.calls.answered(o.call)
		o.known.mu.Unlock()
	}
	o.call = call
}
