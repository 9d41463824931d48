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
	// head is what Qwen Code draws above a command, on as many rows: it's squeezed, too.
	head string
	said string // the input as people read it
	// plan says that it's one, which is drawn without the signs of its Markdown.
	plan bool
	// lost says that the input isn't known: it was longer than what a hook tells. It may be
	// any call.
	lost bool
	// served is by what id the agent's server asks about it, "": it doesn't; hooked says that
	// a hook told of it as well.
	served string
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
		*c = slices.DeleteFunc(*c, func(one call) bool { return one.served == "" })
		return
	case h.Signal != Asking || len(h.Input) == 0 && !h.Lost:
		return
	}
	one := newCall(h)
	if i := slices.IndexFunc(*c, func(was call) bool { return was.served != "" && !was.hooked && was.same(&one) }); i >= 0 {
		(*c)[i].hooked = true
		return
	}
	if i := slices.IndexFunc(*c, func(was call) bool { return was.sum == one.sum && was.served == "" }); i >= 0 {
		(*c)[i].times++
		return
	}
	c.add(one)
}

// add keeps one more, within their bounds.
func (c *calls) add(one call) {
	*c = append(*c, one)
	for size := c.bytes(); len(*c) > maxCalls || size > maxCallsBytes; size = c.bytes() {
		(*c)[0] = call{sum: (*c)[0].sum, lost: true, times: 1, served: (*c)[0].served}
		if len(*c) > maxCalls {
			*c = slices.Delete(*c, 0, 1)
		} else {
			*c = append((*c)[1:], (*c)[0])
		}
	}
}

func (c calls) bytes() (n int) {
	for _, one := range c {
		n += len(one.said)
	}
	return n
}

// answered takes one away whose dialog has gone.
func (c *calls) answered(sum string) {
	*c = slices.DeleteFunc(*c, func(one call) bool { return one.sum == sum && one.times <= 1 && one.served == "" })
	for i := range *c {
		if (*c)[i].sum == sum && (*c)[i].times > 1 {
			(*c)[i].times--
		}
	}
}

// serve takes in a call about which the agent's server asks, by its id, and returns its sum;
// "": it isn't known what it's about. One that a hook has told of is the same.
func (c *calls) serve(h Hook, id string) (sum string) {
	if len(h.Input) == 0 {
		return ""
	}
	one := newCall(h)
	if i := slices.IndexFunc(*c, func(was call) bool { return was.served == "" && !was.lost && was.same(&one) }); i >= 0 {
		(*c)[i].served, (*c)[i].hooked = id, true
		return (*c)[i].sum
	}
	one.served = id
	c.add(one)
	return one.sum
}

// unserve takes in that the server asks about a call no longer: answered, or it can't be
// heard any more.
func (c *calls) unserve(id string, answered bool) {
	i := slices.IndexFunc(*c, func(one call) bool { return one.served == id })
	if i < 0 {
		return
	}
	(*c)[i].served, (*c)[i].hooked = "", false
	if answered {
		if (*c)[i].times--; (*c)[i].times <= 0 {
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
	c := call{sum: sumOf(h), tool: h.Tool, times: 1, lost: h.Lost, plan: h.Tool == claudePlan}
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
		c.texts = append(c.texts, c.letters(f.value))
	}
	if i := slices.IndexFunc(fields, func(f said) bool { return f.name == "description" }); i >= 0 && c.tool == qwenShell && c.main != "" {
		c.head = c.main + "(" + c.letters(fields[i].value) + ")"
		c.texts = append(c.texts, c.head)
	}
	c.said = saidOf(fields)
	return c
}

// letters are what of a text is compared with what's drawn.
func (c *call) letters(text string) string {
	if c.plan {
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
	case c.main == "":
		return drawsIt
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

// mayBe reports whether all that a dialog surely draws occurs in the call.
func (c *call) mayBe(d *sessions.Dialog) bool {
	return !slices.ContainsFunc(d.Surely, func(row string) bool {
		_, ok := c.part(row)
		return !ok
	})
}

// part is what a row draws of a call; false: it draws something else.
func (c *call) part(row string) (string, bool) {
	for _, text := range bareRow(row, c.main == "") {
		text = c.letters(text)
		if text == "" || slices.ContainsFunc(c.texts, func(said string) bool { return strings.Contains(said, text) }) {
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
func (c calls) record(d *sessions.Dialog) {
	if len(d.Drawn) == 0 && !d.Command {
		return
	}
	var is []call
	rival := false // one that's drawn as well, if the dialog begins farther down
	disputed := d.Command && slices.ContainsFunc(c, func(one call) bool { return one.tool != claudeQuestion && !one.plan })
	for _, one := range c {
		like := one.drawn(d)
		disputed = disputed && like == drawsOther
		rival = rival || d.Unseen && like == drawsOther && one.mayBe(d)
		if like == drawsIt && !slices.ContainsFunc(is, func(other call) bool { return other.sum == one.sum }) {
			is = append(is, one)
		}
	}
	switch {
	case len(is) == 1 && !is[0].lost && !rival:
		d.Call, d.Whole, d.Unseen = is[0].sum, is[0].said, false
	case disputed:
		newest := c[len(c)-1]
		d.Call, d.Whole, d.Disputed, d.Unseen = newest.sum, newest.said, true, true
	}
}

// recorded is a dialog of the session with what its call's record says; nil: without one it
// isn't known.
func (o *Observer) recorded(d *sessions.Dialog) *sessions.Dialog {
	if d == nil || d.Kind != sessions.PromptPermission && d.Kind != sessions.PromptPlan && d.Tabs == "" {
		return d
	}
	o.known.mu.Lock()
	defer o.known.mu.Unlock()
	var f *form
	if o.known.dialogs != nil {
		f = o.known.dialogs.formOf(d)
	}
	if d.Tabs != "" {
		return o.asksSeveral(f, d)
	}
	o.known.calls.record(d)
	if f != nil && f.Recorded && d.Call == "" {
		return nil
	}
	return d
}

// gone takes in which dialog is surely on the screen, nil: none is. The call of another has
// been answered.
func (o *Observer) gone(now *sessions.Dialog) {
	call := ""
	if now != nil && !now.Disputed {
		call = now.Call
	}
	if o.call != "" && o.call != call {
		o.known.mu.Lock()
		o.known.calls.answered(o.call)
		o.known.mu.Unlock()
	}
	o.call = call
}
