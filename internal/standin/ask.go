package standin

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
)

// asker makes dialogs of one program: what they're about is random, and each has a tag
// of its own.
type asker struct {
	rand *rand.Rand
	seed uint64
	n    int
}

func (a *asker) tag() string {
	a.n++
	return fmt.Sprintf("t%xq%dz", a.seed%1000000, a.n)
}

func (a *asker) one(list ...string) string { return list[a.rand.IntN(len(list))] }

// command is one that an agent would like to run.
func (a *asker) command(tag string) string {
	return a.one("make ", "go test ./", "rm -r build/", "seq 1 300 | tee ", "git push origin ") + tag
}

// choices are some options of a question.
func (a *asker) choices() []option {
	names := []string{"SQLite", "Postgres", "Plain files", "Redis", "A queue in memory"}
	a.rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out []option
	for _, n := range names[:2+a.rand.IntN(2)] {
		out = append(out, option{label: n, detail: a.one("One file", "A server, for several machines", "Simplest, no query language")})
	}
	return out
}

func (a *asker) question(tag string) string {
	return fmt.Sprintf("%s the %s use?", a.one("Which storage should", "What should", "Which of these may"), a.one("queue", "cache", "log")+" "+tag)
}

// first is a dialog that a program shows before its input box; nil: none.
func (a *asker) first(agent string) *dialog {
	if a.rand.IntN(2) == 0 {
		return nil
	}
	tag := a.tag()
	switch agent {
	case "claude":
		if a.rand.IntN(2) == 0 {
			return &dialog{
				form: "mode", tag: tag, title: "Make auto mode your default permission mode?", wraps: true, aside: true, body: []string{"Auto mode lets Claude handle permission prompts of " + tag + " automatically."},
				options: []option{{label: "Yes, set auto mode as my default permission mode"}, {label: "No, keep manual mode"}},
			}
		}
		return &dialog{
			form: "trust", tag: tag, title: "Accessing workspace:", wraps: true, body: []string{"/srv/" + tag},
			options: []option{{label: "No, exit"}, {label: "Yes, I trust this folder"}},
		}
	case "codex":
		return &dialog{
			form: "hooks", tag: tag, title: "Hooks need review", digits: takes, body: []string{"6 hooks of " + tag + " are new or changed."},
			options: []option{{label: "Review hooks"}, {label: "Trust all and continue"}, {label: "Continue without trusting (hooks won't run)"}},
		}
	case "gemini":
		return &dialog{
			form: "trust", tag: tag, title: "Do you trust the files in this folder?", digits: takes, wraps: true, body: []string{"Trusting " + tag + " allows Gemini CLI to load its local configurations"},
			options: []option{{label: "Trust folder (" + tag + ")"}, {label: "Trust parent folder (proj)"}, {label: "Don't trust"}},
		}
	}
	return nil
}

// next is a dialog that a program shows in its work.
func (a *asker) next(agent string) *dialog {
	tag := a.tag()
	kind := a.rand.IntN(10)
	switch {
	case kind < 5:
		return a.permission(agent, tag)
	case kind < 8 || agent == "codex" || agent == "gemini":
		return a.choice(agent, tag)
	case agent == "claude" && kind == 9:
		return &dialog{
			form: "plan", tag: tag, title: "Exit plan mode?", digits: takes, wraps: true, body: []string{"Claude wants to exit plan mode", "and build " + tag},
			options: []option{{label: "Yes, and switch to default (ask each time) for this session"}, {label: "No"}},
		}
	}
	return a.several(agent, tag)
}

func (a *asker) permission(agent, tag string) *dialog {
	cmd := a.command(tag)
	d := &dialog{form: "permission", tag: tag, digits: takes, wraps: true, body: []string{cmd}}
	switch agent {
	case "claude":
		d.title = "Do you want to proceed?"
		d.options = []option{{label: "Yes"}, {label: "Yes, and always allow access to /srv/" + tag + " from this project"}, {label: "No"}}
		if a.rand.IntN(2) == 0 {
			d.options = []option{d.options[0], {label: "Yes, and switch to auto mode · auto mode handles these prompts for you"}, d.options[2]}
		}
	case "codex":
		d.title, d.wraps, d.letters = "Would you like to run the following command?", false, "yp"
		d.options = []option{
			{label: "Yes, proceed", drawn: "Yes, proceed (y)"},
			{label: "Yes, and don't ask again for commands that start with `" + cmd + "`", drawn: "Yes, and don't ask again for commands that start with `" + cmd + "` (p)"},
			{label: "No, and tell Codex what to do differently", drawn: "No, and tell Codex what to do differently (esc)"},
		}
	case "gemini":
		d.title = "Allow execution of [Shell]?"
		d.options = []option{{label: "Allow once"}, {label: "Allow for this session"}, {label: "No, suggest changes", drawn: "No, suggest changes (esc)"}}
	case "qwen":
		name, _, _ := strings.Cut(cmd, " ")
		d.title = "Allow execution of: '" + name + "'?"
		d.options = []option{{label: "Yes, allow once"}, {label: "Always allow run '" + name + " *' commands in this project"}, {label: "Always allow run '" + name + " *' commands for this user"}, {label: "No, suggest changes", drawn: "No, suggest changes (esc)"}}
	case "opencode":
		d.title, d.digits, d.sideways = "Permission required", noDigits, true
		d.options = []option{{label: "Allow once"}, {label: "Allow always"}, {label: "Reject"}}
		d.then = map[int]func() *dialog{1: func() *dialog {
			return &dialog{
				form: "always", tag: tag, title: "Always allow", wraps: true, sideways: true, body: []string{"- " + cmd + " *"},
				options: []option{{label: "Confirm"}, {label: "Cancel"}},
			}
		}}
	}
	return d
}

// choice is a question with a few answers, or a text.
func (a *asker) choice(agent, tag string) *dialog {
	d := &dialog{form: "question", tag: tag, title: a.question(tag), digits: takes, wraps: true, options: a.choices()}
	switch agent {
	case "claude":
		d.entry, d.after = "Type something.", 1
		d.options = append(d.options, option{label: "Chat about this"})
	case "codex":
		d.notes, d.wraps = true, false
		d.options = append(d.options, option{label: "None of the above", detail: "Optionally, add details in notes (tab)"})
	case "gemini":
		d.entry = "Enter a custom value"
	case "qwen":
		d.entry = "Type something..."
	case "opencode":
		d.entry = "Type your own answer"
	}
	return d
}

// several is a question with any number of answers.
func (a *asker) several(agent, tag string) *dialog {
	d := a.choice(agent, tag)
	d.form, d.multi = "multi", true
	for i := range d.options {
		d.options[i].checked = agent == "claude" && a.rand.IntN(4) == 0
	}
	switch agent {
	case "claude":
		d.options = d.options[:len(d.options)-1] // "Chat about this" stands below what submits
		d.entry, d.after, d.digits, d.submits = "Type something", 0, toggles, true
	case "qwen":
		d.digits, d.space, d.enter = goes, true, true
		return d
	case "opencode":
		d.title += " (select all that apply)"
		d.digits, d.tab = toggles, true
	}
	d.review = func(d *dialog) *dialog {
		r := &dialog{form: "review", tag: tag, digits: takes, body: []string{d.title, strings.Join(append([]string{"→"}, d.labels(d.checked())...), " ")}}
		r.title, r.options = "Review your answers", []option{{label: "Submit answers"}, {label: "Cancel"}}
		if agent == "opencode" {
			r.title, r.options, r.deaf = "Review", []option{{label: "Submit"}, {label: "Dismiss"}}, true
		}
		return r
	}
	return d
}

var tags = regexp.MustCompile(`t[0-9a-f]+q\d+z`)

// Tag is the tag of the dialog that a text is about; "": it's about none.
func Tag(text string) string { return tags.FindString(text) }
