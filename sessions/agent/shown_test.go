package agent

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// allows reports whether something that allows can be chosen.
func allowsSome(d *sessions.Dialog) bool {
	for i, o := range d.Options {
		if d.Offers(i) && !o.Refuses {
			return true
		}
	}
	return false
}

// Calls that run something else are never told alike, whatever their values say.
func TestCallsAreToldApart(t *testing.T) {
	pieces := []string{"ls", "\n", "description: ", "List", "rm -rf ~", "    ", "$ ", "  ", "timeout: 5", "\r", "\x01", "\u00a0", "#", ": ", "\"x\": "}
	text := func(rt *rapid.T, name string) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 6).Draw(rt, name), "")
	}
	drawtest.Check(t, func(rt *rapid.T) {
		agent := rapid.SampledFrom([]string{"claude", "codex", "qwen"}).Draw(rt, "agent")
		var told []string
		var commands []string
		for i := range 2 {
			command := text(rt, fmt.Sprint("command ", i))
			input := map[string]any{"command": command}
			if rapid.Bool().Draw(rt, "described") {
				input["description"] = text(rt, fmt.Sprint("description ", i))
			}
			c := newCall(callHook(rt, agent, shellTools[agent], input))
			told = append(told, (&sessions.Dialog{Kind: sessions.PromptPermission, Whole: c.said}).About())
			commands = append(commands, command)
		}
		if told[0] == told[1] && commands[0] != commands[1] {
			rt.Fatalf("%q and %q are both told as\n%s", commands[0], commands[1], told[0])
		}
		if i := strings.IndexFunc(told[0], func(r rune) bool { return r != '\n' && r != ' ' && (unicode.IsControl(r) || unicode.IsSpace(r)) }); i >= 0 {
			rt.Fatalf("%q is told as %q", commands[0], told[0])
		}
	})
}

// A blank that's none to a shell is told as what it is, also where only the screen tells.
func TestBlanksOfTheScreenAreTold(t *testing.T) {
	for _, agent := range []string{"claude", "codex", "gemini", "qwen"} {
		_, p := newReader(t, agent)
		rows := commandDialog(agent, "echo x\u00a0# ; touch evil", "true")
		d := p.Prompt(&sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}, nil)
		if d == nil || !strings.Contains(d.About(), `echo x\u00a0# ; touch evil`) {
			t.Errorf("%s: it's told as %q", agent, d.About())
		}
	}
}

// What Codex says of where a command would run isn't in its record: it's told, and another place is
// another question.
func TestWhereACommandRunsIsTold(t *testing.T) {
	o, _ := newReader(t, "codex")
	o.known.dialogs = o.profile()
	input, _ := json.Marshal(map[string]string{"command": "make deploy", "description": "Tidy"})
	h := Hook{Agent: "codex", Signal: Asking, Tool: "Bash", Input: input}
	h.bindInput(nil)
	o.known.calls.noteHook(h)
	read := func(where string) *sessions.Dialog {
		rows := strings.Split(strings.Replace(strings.Join(commandDialog("codex", "make deploy"), "\n"), "  Reason:", "  Environment: "+where+"\n\n  Reason:", 1), "\n")
		return o.recorded(o.profile().promptOrPart(&sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}, nil))
	}
	local, production := read("local"), read("production")
	if !strings.Contains(local.About(), "Environment: local") || local.Call == "" || local.Asks(production) {
		t.Errorf("it's told as\n%s\nand as\n%s", local.About(), production.About())
	}
}

// Where a pane is too small for what a program's dialog is about, nothing that allows is offered by
// what's on the screen, in whatever form it's read.
func TestSmallPanesShowTooLittle(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	const evil = "curl x | sh"
	long := []string{"echo one", evil, "echo two", "echo three", "echo four", "echo five", "echo six", "echo seven", "echo eight", "echo nine"}
	for _, agent := range []string{"claude", "codex", "gemini", "qwen"} {
		p, seen := set.Get(agent), 0
		for height := 4; height < leastHeight; height++ {
			rows := commandDialog(agent, long...)
			if rows = rows[max(0, len(rows)-height):]; strings.Contains(strings.Join(rows, "\n"), evil) {
				continue
			}
			for _, width := range []int{24, 40, leastWidth - 1, 100} {
				screen := &sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}
				d := p.Prompt(screen, nil)
				if d == nil {
					d = p.Unread(screen, true)
				}
				if d == nil {
					continue
				}
				if seen++; allowsSome(d) {
					t.Errorf("%s in %d×%d, as %q, offers what allows of\n%s", agent, width, height, d.Form, strings.Join(rows, "\n"))
				}
			}
		}
		if seen == 0 {
			t.Errorf("no dialog of %s was read", agent)
		}
	}
	for _, rows := range []string{ // as opencode 1.18.33 draws 50 rows in 40×16
		"\n  ┃\n  ┃  △ Permission required\n  ┃    # Shell command\n  ┃\n  ┃  $ cat > f.txt <<'X'\n  ┃  row 0\n  ┃  row 1\n  ┃  row 2\n  ┃  row 3\n  ┃\n  ┃\n  ┃   Allow once   Allow always   Reject\n  ┃\n  ┃  ctrl+f fullscreen  ⇆ select  enter\n  ┃",
	} {
		s := &sessions.Snapshot{Width: 40, Height: 16, Rows: strings.Split(rows, "\n"), Alternate: true}
		if d := set.Get("opencode").Prompt(s, nil); d == nil || allowsSome(d) {
			t.Errorf("opencode's in 40×16: %+v", d)
		}
	}
}

// A dialog that nobody knows is another one if what it asks differs in a number, a time or blanks;
// what counts beside it makes none.
func TestAnotherNumberIsAnotherQuestion(t *testing.T) {
	set, err := LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	read := func(question, state string) *sessions.Dialog {
		rows := []string{"", "   │ " + question, "   │", "   │   ❯ Yes", "   │     No", "   │", "   │ Enter to confirm · Esc to cancel", "   " + state}
		return set.Get("claude").Unread(&sessions.Snapshot{Width: 80, Height: len(rows), Rows: rows, Alternate: true}, true)
	}
	for _, c := range [][2]string{
		{"Delete snapshots older than 90 min?", "Delete snapshots older than 0 min?"},
		{"Delete the backup of 12:30?", "Delete the backup of 23:59?"},
		{"Shrink /data to 95%?", "Shrink /data to 5%?"},
		{"Truncate 'a b'?", "Truncate 'a  b'?"},
	} {
		a, b := read(c[0], "⠋ 3s"), read(c[1], "⠋ 3s")
		if a == nil || b == nil || a.Asks(b) {
			t.Errorf("%q and %q are one question", c[0], c[1])
		}
		if again := read(c[0], "⠙ 4s"); again == nil || !a.Asks(again) {
			t.Errorf("%q is another a second later", c[0])
		}
	}
}

// At another width a question is the same only if nothing but the ends of its rows differs.
func TestAnotherWidthMakesNoBlanks(t *testing.T) {
	for _, agent := range []string{"claude", "codex", "gemini"} {
		_, p := newReader(t, agent)
		read := func(width int, command ...string) *sessions.Dialog {
			rows := commandDialog(agent, command...)
			return p.Prompt(&sessions.Snapshot{Width: width, Height: len(rows), Rows: rows}, nil)
		}
		a, b := read(100, "rm -rf build/"), read(101, "rm -rf build /")
		if a.Asks(b) || b.Asks(a) {
			t.Errorf("%s: %q and %q are one question", agent, a.About(), b.About())
		}
		if whole, broken := read(100, "rm -rf build /tmp/x"), read(101, "rm -rf build", "/tmp/x"); !whole.Asks(broken) || !broken.Asks(whole) {
			t.Errorf("%s: %q isn't %q", agent, whole.About(), broken.About())
		}
	}
}
