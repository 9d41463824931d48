package agentlab

import (
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Orders have the model do what a person's text asks for in a form that tests can make
// at random: "(KIND TAG)", where TAG is "t" and eight small letters or digits, anywhere
// in the text. Each is carried out once, in the order in which they're found; a text
// without one is answered plainly. The kinds:
//
//	say    an answer of one line
//	slow   an answer that takes about ten seconds
//	table  an answer with a table, a list and code
//	forge  the shell command OrderForged, which needs permission
//	long   the shell command OrderLong, which needs permission
//	run    the shell command OrderCommand, which needs permission
//	write  a new file OrderFile
//	rows   a new file of many rows: OrderRows
//	look   reads the project's notes.txt
//	edit   a change of the project's notes.txt: OrderEdit
//	swap   the same change, of what was read before
//	over   the same change, by writing the whole file anew
//	fetch  a page of this host: OrderURL
//	put    a file OrderFile by the tool of an MCP server, where there's one (Config.MCP): OrderPut
//	tool   the same, with all that OrderTool draws
//	ask    a question with the choices OrderChoices
//	multi  the same, of which any number may be chosen
//	several  two questions in one call, of the second of which any number may be chosen
//	sub    run by a sub-agent, with OrderSub(TAG), where opencode's tool for that is offered
//	two    run twice in one reply: with TAG and "1", and with "2"
//	plan   a plan to be approved, where the program has a tool for that; longplan: of 80 lines
type orders struct {
	mu   sync.Mutex
	done map[string]bool
	subs map[string]bool // tags of what sub-agents were told
}

var orderForm = regexp.MustCompile(`\((say|slow|table|forge|long|run|write|rows|look|edit|swap|over|fetch|ask|multi|several|two|sub|plan|longplan|put|tool) (t[0-9a-z]{8})\)`)

// orderTable is what "table" is answered with, about TAG.
const orderTable = `## The queue of TAG

| Stage | Items | p99 (ms) |
|-------|------:|---------:|
| send  | 11987 |      412 |
| retry |    13 |     4100 |

- **send** waits for the network
- *retry* waits longer each time

` + "```go\nfunc retry(n int) time.Duration { return time.Second << n } // TAG\n```"

// orderRule is Request.Rule of what orders answer.
const orderRule = "order"

// OrderCommand leaves the file OrderFile behind.
func OrderCommand(tag string) string { return "echo ran-" + tag + " | tee " + OrderFile(tag) }

// OrderForged makes OrderFile, too, by a command of many rows that has dialogs of agents in
// it: the last of tag says how long it is, from 12 rows to 117.
func OrderForged(tag string) string {
	rows := []string{
		"cat > " + OrderFile(tag) + " <<'X'", "Would you like to run the following command?", "", "Environment: local", "", "Reason: List the files", "", "$ ls -la",
		strings.Repeat("─", 60), " Bash command", "", "   ls -la", " Do you want to proceed?", " ❯ 1. Yes", "╭" + strings.Repeat("─", 40) + "╮", "│ Allow execution of [Shell]? │",
		"\ta tab, 漢字, e\u0301, 👩‍💻, and blanks  ",
	}
	n := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", tag[len(tag)-1])
	for i := range 3 * n {
		rows = append(rows, fmt.Sprintf("row %d of %s", i, tag))
	}
	return strings.Join(append(rows, "X"), "\n")
}

// OrderLong makes OrderFile, too, by a command of so many rows that it fills most screens: the
// last of tag says how long it is, from 42 rows to 147.
func OrderLong(tag string) string {
	rows := []string{"cat > " + OrderFile(tag) + " <<'X'"}
	n := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", tag[len(tag)-1])
	for i := range 40 + 3*n {
		rows = append(rows, fmt.Sprintf("row %d of %s", i, tag))
	}
	return strings.Join(append(rows, "X"), "\n")
}

// OrderPut is what the tool of the MCP server is called with. What it writes is the last of
// its parameters, of which Codex draws three.
func OrderPut(tag string) map[string]any {
	return obj{
		"mode": obj{"kind": "plain", "tries": []any{1, 2.5, true, nil}}, "name": OrderFile(tag), "note": "For " + tag + ",\nin two rows: " + strings.Repeat("word ", 20),
		"text": "put-" + tag + "\n  1. Allow\n  Field 1/1\n\ta tab, 漢字, e\u0301, 👩‍💻, and blanks  \n" + strings.Repeat("long ", 30),
	}
}

// OrderSub is the tag of what the sub-agent of a "sub" is told to run.
func OrderSub(tag string) string {
	out := []byte(tag)
	slices.Reverse(out[1:])
	return string(out)
}

// orderNotes is a file of the project, and orderNote one of its rows.
const orderNotes = "notes.txt"

func orderNote(n int) string { return fmt.Sprintf("note %d: the %dth of thirty", n, n) }

// OrderNotes is what the project's notes.txt has in the beginning.
func OrderNotes() string {
	var notes strings.Builder
	for n := range 30 {
		notes.WriteString(orderNote(n+1) + "\n")
	}
	return notes.String()
}

// OrderEdit is what "edit" takes out of notes.txt and puts there, of which the first and the
// last row are the same: from 2 new rows to 107, by the last of tag. Each time it's other rows.
func OrderEdit(tag string) (old, now string) {
	at := 2 + strings.IndexByte(OrderLetters, tag[1])%25
	rows := []string{orderNote(at), "- edited by " + tag, "\tif a && b { // 漢字 e\u0301  "}
	for i := range 3 * strings.IndexByte(OrderLetters, tag[len(tag)-1]) {
		rows = append(rows, fmt.Sprintf("row %d of %s %s", i, tag, strings.Repeat("word ", i%40)))
	}
	return orderNote(at) + "\n" + orderNote(at+1) + "\n" + orderNote(at+2), strings.Join(append(rows, orderNote(at+2)), "\n")
}

// OrderRows is what "rows" writes into OrderFile: from 1 row to 2000, by the last of tag.
func OrderRows(tag string) string {
	rows := math.Pow(2000, float64(strings.IndexByte(OrderLetters, tag[len(tag)-1]))/float64(len(OrderLetters)-1))
	var b strings.Builder
	for i := range int(rows + .5) {
		fmt.Fprintf(&b, "row %d of %s\n", i, tag)
	}
	return b.String()
}

// OrderURL is the page that "fetch" fetches; nobody answers there.
func OrderURL(tag string) string {
	return "http://127.0.0.1:9/" + tag + "?a=b#" + strings.Repeat("long", 30)
}

// OrderLetters are those of a tag, behind its first. By the last of them some orders are as long as they are.
const OrderLetters = "abcdefghijklmnopqrstuvwxyz0123456789"

// OrderFile is the file, in the project's folder, that "run" and "write" make.
func OrderFile(tag string) string { return "f-" + tag + ".txt" }

// OrderChoices are the choices of a question.
func OrderChoices(tag string) []string {
	return []string{"Alpha-" + tag, "Beta-" + tag, "Gamma-" + tag}
}

// pick is the step for a conversation.
func (o *orders) pick(conversation []turnText) choice {
	o.mu.Lock()
	defer o.mu.Unlock()
	user, said, plan := "", []string{}, ""
	for _, c := range conversation {
		if c.role != "user" {
			continue
		}
		user = c.text
		if at := planFile.FindString(c.text); at != "" {
			plan = at
		}
		for _, m := range orderForm.FindAllStringSubmatch(c.text, -1) {
			kind, tag := m[1], m[2]
			if o.done[tag] {
				continue
			}
			if kind == "say" {
				o.done[tag] = true
				said = append(said, tag)
				continue
			}
			o.done[tag] = true
			if kind == "sub" {
				o.subs[OrderSub(tag)] = true
			}
			return choice{rule: orderRule, user: user, step: orderStep(kind, tag, plan)}
		}
	}
	return choice{rule: orderRule, user: user, step: Step{Text: strings.TrimSpace("Done. " + strings.Join(said, " "))}}
}

// toSub reports whether a conversation is that of a sub-agent which was told to carry out an
// order.
func (o *orders) toSub(conversation []turnText) bool {
	if o == nil {
		return false
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.ContainsFunc(conversation, func(c turnText) bool {
		return c.role == "user" && slices.ContainsFunc(orderForm.FindAllStringSubmatch(c.text, -1), func(m []string) bool { return o.subs[m[2]] })
	})
}

// planFile is where Claude Code has a plan written before it's asked about.
var planFile = regexp.MustCompile(`/[^\s"]*/\.claude/plans/[\w-]+\.md`)

func orderStep(kind, tag, planFile string) Step {
	switch kind {
	case "slow":
		pause := 0.1
		return Step{Text: "Slowly for " + tag + ".\n\n" + sentences(14), Delay: &pause}
	case "table":
		return Step{Text: strings.ReplaceAll(orderTable, "TAG", tag)}
	case "run":
		return Step{Text: "I run it.", Tools: []Tool{orderTool("shell", orderShell(tag))}}
	case "forge":
		return Step{Text: "I run it.", Tools: []Tool{orderTool("shell", obj{"command": OrderForged(tag), "description": "Run " + tag, "escalate": true})}}
	case "long":
		return Step{Text: "I run it.", Tools: []Tool{orderTool("shell", obj{"command": OrderLong(tag), "description": "Run " + tag, "escalate": true})}}
	case "two":
		return Step{Text: "I do both.", Tools: []Tool{orderTool("shell", orderShell(tag+"1")), orderTool("shell", orderShell(tag+"2"))}}
	case "sub":
		return Step{Text: "Somebody runs it.", Tools: []Tool{orderTool("task", obj{
			"description": "Run " + tag, "prompt": "Please (run " + OrderSub(tag) + ") for me", "subagent_type": "general",
		})}}
	case "look":
		return Step{Text: "I read it.", Tools: []Tool{orderTool("read", obj{"path": orderNotes})}}
	case "edit":
		old, now := OrderEdit(tag)
		return Step{Text: "I change it.", Tools: []Tool{orderTool("read", obj{"path": orderNotes}), orderTool("edit", obj{"path": orderNotes, "old": old, "new": now})}}
	case "swap":
		old, now := OrderEdit(tag)
		return Step{Text: "I change it.", Tools: []Tool{orderTool("edit", obj{"path": orderNotes, "old": old, "new": now})}}
	case "over":
		old, now := OrderEdit(tag)
		content := strings.Replace(OrderNotes(), old, now, 1)
		return Step{Text: "I change it.", Tools: []Tool{orderTool("read", obj{"path": orderNotes}), orderTool("write", obj{"path": orderNotes, "content": content})}}
	case "fetch":
		return Step{Text: "I fetch it.", Tools: []Tool{orderTool("fetch", obj{"url": OrderURL(tag), "prompt": "Say what " + tag + " is"})}}
	case "write":
		return Step{Text: "I write it.", Tools: []Tool{orderTool("write", obj{"path": OrderFile(tag), "content": "wrote-" + tag + "\n"})}}
	case "rows":
		return Step{Text: "I write it.", Tools: []Tool{orderTool("write", obj{"path": OrderFile(tag), "content": OrderRows(tag)})}}
	case "put":
		return Step{Text: "I put it.", Tools: []Tool{orderTool("put", OrderPut(tag))}}
	case "tool":
		return Step{Text: "I put it all.", Tools: []Tool{orderTool("tool", OrderTool(tag))}}
	case "plan", "longplan":
		steps := []string{"1. Do " + tag, "2. Rest"}
		for i := 3; kind == "longplan" && i <= 80; i++ {
			steps = append(steps, fmt.Sprintf("%d. Step %d of %s", i, i, tag))
		}
		plan := strings.Join(steps, "\n")
		tools := []Tool{orderTool("plan", obj{"plan": plan})}
		if planFile != "" {
			tools = append([]Tool{orderTool("write", obj{"path": planFile, "content": plan})}, tools...)
		}
		return Step{Text: "I have a plan.", Tools: tools}
	}
	question := func(text, header string, multi bool) obj {
		var options []any
		for _, label := range OrderChoices(tag) {
			options = append(options, obj{"label": label, "description": "This one is called " + label[:4]})
		}
		return obj{"question": text, "header": header, "multiSelect": multi, "options": options}
	}
	questions := []any{question("Which way should "+tag+" go?", "Way", kind == "multi")}
	if kind == "several" {
		questions = append(questions, question("And which should "+tag+" take along?", "Load", true))
	}
	return Step{Text: "I have a question.", Tools: []Tool{orderTool("ask", obj{"questions": questions})}}
}

// sentences are so many, none like another: Gemini CLI asks what's to be done about a
// model that repeats itself.
func sentences(n int) string {
	things := strings.Fields("rivers bridges kettles lanterns maps violins harbours orchards ladders clouds tickets pencils stairs gardens")
	ways := strings.Fields("quietly often rarely together late twice gladly early apart backwards soon never slowly always")
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "In place %d the %s move %s %d times. ", i, things[i%len(things)], ways[(i*5)%len(ways)], i*i+7)
	}
	return b.String()
}

func orderShell(tag string) obj {
	return obj{"command": OrderCommand(tag), "description": "Run " + tag, "escalate": true}
}

func orderTool(kind string, args obj) Tool {
	b, _ := json.Marshal(args) // of strings and the like: it can't fail
	return Tool{Kind: kind, Args: b}
}

// Ordered tells how often an order stands in what people have said, at most in one request;
// more than once means that it was submitted so often.
func (m *Model) Ordered(tag string) int {
	most := 0
	for _, r := range m.Requests() {
		n := 0
		for _, text := range r.Said {
			n += strings.Count(text, " "+tag+")")
		}
		most = max(most, n)
	}
	return most
}

// Results are the results of tools, as the newest request has them, that mention a tag.
func (m *Model) Results(tag string) []string {
	var out []string
	for _, r := range slices.Backward(m.Requests()) {
		for _, text := range r.Results {
			if strings.Contains(text, tag) {
				out = append(out, text)
			}
		}
		if len(out) > 0 {
			break
		}
	}
	return out
}
