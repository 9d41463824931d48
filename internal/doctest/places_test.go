package doctest_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/adapters/commands"
	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/cli"
)

var update = flag.Bool("update", false, "write docs/places.md anew")

// task is what can be done, and by what in each place. Where it can't be done, why says so.
type task struct {
	does string
	chat []string // commands of Telegram and Discord without their slash, or "*" and what else does it
	page []string // words of the page's commands, or "*" and what else does it
	line []string // commands of the command line without "panebridge"
	api  []string // calls without /api/v1
	why  why
}

// why says for a place why something can't be done there.
type why map[string]string

// Reasons that several tasks have.
const (
	hasFolder = "who has a shell here has the folder, too"
	ofBrowser = "it's how this browser shows things"
	byHooks   = "programs call it, and people don't"
	onMachine = "it's done on the machine itself"
	inFiles   = "the command reads files, and needs no daemon"
)

// tasks are all that can be done. What the code has and no task TestEachCommandHasItsPlaces finds.
var tasks = []task{
	{"See what all sessions do", []string{"sessions"}, []string{"Inbox", "The next in the inbox", "The one before", "Find a session or a command"}, []string{"status", "sessions list"}, []string{"GET /sessions", "GET /sessions/{id}", "GET /sessions/{id}/state", "GET /events"}, nil},
	{"Note that what's done was looked at", nil, []string{"Note that all that’s done was looked at"}, nil, nil, why{chats: "a chat knows what was read", line: ofBrowser, calls: ofBrowser}},
	{"Read what a session printed", []string{"history"}, []string{"Show its lines", "Newest line"}, []string{"tail"}, []string{"GET /sessions/{id}/output"}, nil},
	{"Go from turn to turn", nil, []string{"Next turn", "Turn before", "All turns…"}, nil, []string{"GET /sessions/{id}/turns"}, why{chats: "the end of a turn leads to its beginning", line: "`tail --json` has the turns"}},
	{"See what a tool was called with and returned", nil, []string{"* a click on its line"}, nil, []string{"GET /sessions/{id}/tools/{n}"}, why{chats: "the lines say it in short", line: "`tail` prints it in short"}},
	{"See what a session has changed in its repository", []string{"diff"}, []string{"What the session has changed…"}, []string{"diff"}, []string{"GET /sessions/{id}/diff"}, nil},
	{"Say how much of the work is shown", []string{"show"}, []string{"How much of the work to see…"}, []string{"* `bind --tools`, `tail --tools`"}, []string{"* `tools` in `POST /sessions/{id}/bindings`"}, nil},
	{"Say how much of long output is shown", []string{"* `/show output`"}, []string{"* in “Mirror the session to a chat…”"}, []string{"* `bind --output`"}, []string{"* `output` in `POST /sessions/{id}/bindings`"}, nil},
	{"Have an agent see what a reply answers", []string{"* `/bind NAME quotes on`"}, []string{"* in “Mirror the session to a chat…”"}, []string{"* `bind --quote-replies`"}, []string{"* `quote_replies` in `POST /sessions/{id}/bindings`"}, nil},
	{"See what agents use, and what's left", []string{"usage"}, []string{"* a line in a session's head"}, []string{"usage"}, []string{"GET /usage"}, nil},
	{"Go on when a limit is over", []string{"continue"}, []string{"Go on when the limit is over, or don’t"}, []string{"continue"}, []string{"POST /sessions/{id}/continuation", "DELETE /sessions/{id}/continuation"}, nil},
	{"See the screen", []string{"screen"}, []string{"Show its screen"}, []string{"screen"}, []string{"GET /sessions/{id}/screen", "GET /sessions/{id}/terminal"}, nil},
	{"Search", []string{"search"}, []string{"Search the lines of all sessions…", "Search the lines of the session…"}, []string{"search"}, []string{"GET /search"}, nil},
	{"Wait for a session", nil, nil, []string{"wait"}, []string{"POST /sessions/{id}/wait"}, why{chats: "ends of turns and questions ring", browser: "ends of turns and questions ring"}},
	{"Write to a session", []string{"* any text"}, []string{"Write to the session"}, []string{"input"}, []string{"POST /sessions/{id}/input", "GET /sessions/{id}/progress", "GET /receipts/{id}"}, nil},
	{"See what waits to be typed, and take it back", []string{"* a reaction and a button"}, []string{"* a line below what was written"}, []string{"receipts", "receipts cancel"}, []string{"GET /sessions/{id}/receipts", "DELETE /receipts/{id}", "POST /sessions/{id}/input/withdraw"}, nil},
	{"Type what's held anyway", []string{"* a button"}, []string{"* a button"}, []string{"* `input --anyway`"}, []string{"POST /receipts/{id}/anyway"}, nil},
	{"Press keys, interrupt", []string{"keys", "stop", "esc"}, []string{"Type straight into the session", "Interrupt the session (Ctrl-C)"}, []string{"keys"}, []string{"POST /sessions/{id}/keys"}, nil},
	{"Answer questions", []string{"* buttons, or a reply"}, []string{"* buttons, or their numbers"}, []string{"prompts", "answer"}, []string{"GET /prompts", "GET /prompts/{id}", "GET /sessions/{id}/prompts", "POST /prompts/{id}/answer"}, nil},
	{"Give a session a file", []string{"* send it there"}, []string{"* drop it there, or the paper clip"}, nil, []string{"POST /sessions/{id}/files"}, why{line: hasFolder}},
	{"Get a file of a session", []string{"send"}, []string{"Get a file from its folder…"}, nil, []string{"GET /sessions/{id}/files"}, why{line: hasFolder}},
	{"Begin a session", []string{"new"}, []string{"New session…"}, []string{"sessions new"}, []string{"POST /sessions", "GET /agents"}, nil},
	{"Go on with an earlier conversation", []string{"resume"}, []string{"* in “New session…”"}, []string{"sessions conversations"}, []string{"GET /agents/{name}/conversations"}, nil},
	{"Mirror a pane that's there", nil, nil, []string{"sessions adopt"}, []string{"* `POST /sessions` with `tmux`"}, why{chats: "its name is one of tmux', on that machine", browser: "its name is one of tmux', on that machine"}},
	{"Start a session's program anew", []string{"restart"}, []string{"Start the session’s program anew…"}, []string{"sessions restart"}, []string{"POST /sessions/{id}/restart"}, nil},
	{"Give a session another name", []string{"rename"}, []string{"Rename the session…"}, []string{"sessions rename"}, []string{"POST /sessions/{id}/name"}, nil},
	{"End a session", []string{"close"}, []string{"Close the session…"}, []string{"sessions close"}, []string{"DELETE /sessions/{id}"}, nil},
	{"Forget a session that has ended", nil, []string{"Remove the session…"}, []string{"sessions forget"}, []string{"* the same"}, why{chats: "its messages stay where they are"}},
	{"Mirror a session to a chat", []string{"bind", "unbind", "view", "reopen"}, []string{"Mirror the session to a chat…"}, []string{"bind", "unbind"}, []string{"POST /sessions/{id}/bindings", "DELETE /bindings/{id}", "GET /adapters"}, nil},
	{"Have peace, or be told", []string{"mute"}, []string{"Mute the session on this device", "Mute the session no longer", "Notifications on this device…"}, nil, []string{"GET /page/push", "POST /page/push", "DELETE /page/push"}, why{line: "it's about a chat or a device"}},
	{"See how limits stand, and why something waits", []string{"status"}, []string{"* the chats of a session's head"}, []string{"qos explain"}, []string{"GET /qos/explain"}, nil},
	{"Ask people something, as a program", nil, nil, []string{"ask"}, []string{"POST /sessions/{id}/inquiries", "GET /sessions/{id}/inquiries/{n}", "DELETE /sessions/{id}/inquiries/{n}"}, why{chats: "people are asked here: a message has buttons", browser: "people are asked here: the question has buttons"}},
	{"Show people a file, as a program", nil, nil, []string{"show"}, []string{"POST /sessions/{id}/exhibits", "GET /sessions/{id}/exhibits/{n}"}, why{chats: "people see it here; `/send` fetches a file", browser: "people see it here"}},
	{"See what a session's programs have shown", []string{"* messages with pictures and files"}, []string{"What the session has shown…"}, nil, []string{"GET /sessions/{id}/exhibits", "GET /sessions/{id}/exhibits/{n}/content"}, why{line: hasFolder}},
	{"Read and write mail", []string{"mail"}, []string{"Mail and fleets…"}, []string{"poll", "ack", "send", "broadcast", "cancel", "ping", "notify", "listen", "subscribe"}, []string{"GET /mail", "POST /mail", "DELETE /mail/{id}", "GET /people/{name}/mailbox", "GET /sessions/{id}/mailbox", "POST /inbox/announce"}, nil},
	{"See and change fleets", []string{"fleet"}, []string{"* in “Mail and fleets…”"}, []string{"members", "fleet list", "fleet new", "fleet add", "fleet remove", "fleet drop"}, []string{"GET /fleets", "POST /fleets"}, nil},
	{"Say who may do what in chats", []string{"access", "pair"}, []string{"Who may do what in chats…"}, []string{"access list", "access grant", "access revoke", "pair"}, []string{"GET /access", "POST /access", "DELETE /access/{person}", "POST /pairings"}, nil},
	{"Say which browsers may use the page", []string{"devices"}, []string{"Devices that use the page…"}, []string{"page list", "page confirm", "page revoke"}, []string{"GET /page", "GET /page/me", "DELETE /page/browsers/{id}", "POST /page/browsers/{id}/confirm"}, nil},
	{"Let a browser in, or all out", nil, nil, []string{"page", "page share", "page rotate"}, []string{"POST /page/addresses", "POST /page/shares", "POST /page/rotate"}, why{chats: onMachine, browser: onMachine}},
	{"See what can be done here", []string{"help"}, []string{"Keys"}, []string{"* `--help`"}, nil, why{calls: "this list"}},
	{"Change how things look", nil, []string{"Larger text", "Smaller text", "Text of the usual size", "Dark", "Light", "Dark or light as the system is", "Back"}, nil, nil, why{chats: "the chat's program does it", line: "the terminal does it", calls: ofBrowser}},
	{"Set up", nil, nil, []string{"init", "init telegram", "init discord", "init page", "hooks install", "hooks remove", "hooks status", "config check", "config schema", "skill"}, nil, why{chats: onMachine, browser: onMachine, calls: inFiles}},
	{"Have the configuration read again", nil, nil, []string{"config reload"}, []string{"POST /config/reload"}, why{chats: "who changed the file is on the machine", browser: "who changed the file is on the machine"}},
	{"Have the machine's service manager run it", nil, nil, []string{"service install", "service uninstall", "service status", "service logs", "service restart"}, nil, why{chats: onMachine, browser: onMachine, calls: onMachine}},
	{"Run it, and see whether it's well", nil, []string{"* a line at the top says what's wrong"}, []string{"run", "doctor", "demo", "version", "redis members", "redis forget"}, []string{"GET /health", "GET /healthz", "GET /readyz", "GET /metrics"}, why{chats: "`/status` has the chat's part"}},
	{"Back up and go back", nil, nil, []string{"backup", "restore"}, nil, why{chats: onMachine, browser: onMachine, calls: inFiles}},
	{"Report a fault", nil, nil, []string{"doctor record"}, []string{"GET /sessions/{id}/recording", "GET /programs"}, why{chats: onMachine, browser: onMachine}},
	{"Hear of what agents do", nil, nil, []string{"hook"}, []string{"POST /hooks", "POST /hooks/decision"}, why{chats: byHooks, browser: byHooks}},
}

// Names of places.
const (
	chats   = "Telegram and Discord"
	browser = "page"
	line    = "command line"
	calls   = "API"
)

// place is one in which things can be done.
type place struct {
	name  string
	of    func(task) []string
	there func(*testing.T) []string // what the code has
}

var places = []place{
	{chats, func(t task) []string { return t.chat }, chatCommands},
	{browser, func(t task) []string { return t.page }, pageCommands},
	{line, func(t task) []string { return t.line }, lineCommands},
	{calls, func(t task) []string { return t.api }, apiCalls},
}

func chatCommands(*testing.T) (all []string) {
	for _, c := range commands.Commands() {
		all = append(all, c.Name)
	}
	return all
}

var pageWords = regexp.MustCompile(`(?m)^ +\{ words: '([^']+)'`)

func pageCommands(t *testing.T) (all []string) {
	t.Helper()
	source, err := os.ReadFile(filepath.Join(root, "adapters/web/static/commands.js"))
	if err != nil {
		t.Fatal(err)
	}
	ofCommands, _, _ := strings.Cut(string(source), "export const otherKeys")
	for _, found := range pageWords.FindAllStringSubmatch(ofCommands, -1) {
		all = append(all, found[1])
	}
	return all
}

func lineCommands(*testing.T) (all []string) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		if _, name, isBelow := strings.Cut(c.CommandPath(), " "); isBelow && !c.Hidden && !cli.IsGroup(c) {
			all = append(all, name)
		}
		for _, below := range c.Commands() {
			walk(below)
		}
	}
	walk(cli.Tree())
	return all
}

func apiCalls(*testing.T) (all []string) {
	for _, c := range api.Calls() {
		all = append(all, c.Method+" "+strings.TrimPrefix(c.Path, "/api/v1"))
	}
	return all
}

// Each command that there is stands in docs/places.md, once; each that stands there is there; and each hole has its reason.
func TestEachCommandHasItsPlaces(t *testing.T) {
	for _, p := range places {
		there, placed := p.there(t), map[string]int{}
		for _, one := range tasks {
			names, reason := p.of(one), one.why[p.name]
			if (len(names) == 0) == (reason == "") {
				t.Errorf("%s, %s: %q, and as a reason why there's none %q", one.does, p.name, names, reason)
			}
			for _, name := range names {
				if !strings.HasPrefix(name, "* ") {
					placed[name]++
				}
			}
		}
		for _, name := range there {
			if placed[name] != 1 {
				t.Errorf("%s: %q stands in %d tasks of places_test.go, and belongs into one", p.name, name, placed[name])
			}
			delete(placed, name)
		}
		for name := range placed {
			t.Errorf("%s: there is no %q", p.name, name)
		}
		if len(there) < 20 {
			t.Errorf("%s: %d were found: does this test still read them?", p.name, len(there))
		}
	}
	want, path := placesPage(), filepath.Join(root, "docs/places.md")
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != want {
		t.Errorf("docs/places.md isn't what the code has (%v): go test -run TestEachCommandHasItsPlaces ./internal/doctest -update", err)
	}
}

// placesPage is docs/places.md.
func placesPage() string {
	var b strings.Builder
	b.WriteString("# What can be done where\n\nMade from the code. Commands of chats are the same on Telegram and Discord; on the page the words are those that `Ctrl+K` finds; ")
	b.WriteString("calls of the API stand below `/api/v1`, but for `/healthz`, `/readyz` and `/metrics`. Where there's nothing, the reason stands in italics.\n\n| |")
	for _, p := range places {
		fmt.Fprintf(&b, " %s |", p.name)
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(places)+1) + "\n")
	for _, one := range tasks {
		fmt.Fprintf(&b, "| %s |", one.does)
		for _, p := range places {
			fmt.Fprintf(&b, " %s |", placeCell(p, one))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// placeCell is what does a task in a place.
func placeCell(p place, of task) string {
	names := slices.Clone(p.of(of))
	if len(names) == 0 {
		return "*" + of.why[p.name] + "*"
	}
	for i, name := range names {
		other, isOther := strings.CutPrefix(name, "* ")
		switch {
		case isOther:
			names[i] = other
		case p.name == chats:
			names[i] = "`/" + name + "`"
		case p.name == line:
			names[i] = "`panebridge " + name + "`"
		case p.name == calls:
			names[i] = "`" + name + "`"
		default:
			names[i] = "“" + name + "”"
		}
	}
	return strings.Join(names, ", ")
}
