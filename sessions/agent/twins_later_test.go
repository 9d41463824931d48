package agent

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// laterTwin is a dialog, the call that it's about, and others that say what it draws.
type laterTwin struct {
	agent string
	own   Hook
	twins []Hook
	rows  []string
	// alone says that a twin isn't shown either where the call's own record doesn't come.
	alone bool
	// raw says that the screen was written over: nothing but its own record may allow it.
	raw bool
}

// callHook is what a hook tells of a call that's asked about.
func callHook(rt *rapid.T, agent, tool string, input map[string]any) Hook {
	text, err := json.Marshal(input)
	if err != nil {
		rt.Fatal(err)
	}
	h := Hook{Agent: agent, Signal: Asking, Tool: tool, Input: text}
	h.bindInput(nil)
	return h
}

// shellTools are what agents call the tool that runs a command.
var shellTools = map[string]string{"claude": "Bash", "codex": "Bash", "gemini": "", "qwen": qwenShell}

// commandDialog draws the question whether a command may run.
func commandDialog(agent string, command ...string) (rows []string) {
	rule := strings.Repeat("─", 100)
	switch agent {
	case "claude":
		rows = []string{"> do it", "", rule, " Bash command", ""}
		for _, row := range command {
			rows = append(rows, "   "+row)
		}
		return append(rows, "   Tidy", "", " This command requires approval", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don’t ask again for: touch", "   3. No", "", " Esc to cancel · Tab to amend")
	case "codex":
		rows = []string{"› do it", "", "", "  Would you like to run the following command?", "", "  Reason: Tidy", "", "  $ " + command[0]}
		for _, row := range command[1:] {
			rows = append(rows, "  "+row)
		}
		return append(rows, "", "› 1. Yes, proceed (y)", "  2. No, and tell Codex what to do differently (esc)", "", "  Press enter to confirm or esc to cancel")
	case "gemini":
		rows = append([]string{"? Shell  " + strings.Join(command, " ")}, command...)
		return append([]string{" ◇ x", ""}, framed(append(rows, "Allow execution of [Shell]?", "", "● 1. Allow once", "  2. Allow for this session", "  3. No, suggest changes (esc)"), "", 98)...)
	}
	body := []string{}
	for _, row := range command {
		body = append(body, "     "+row)
	}
	return qwenDialog("Shell "+strings.Join(command, " ")+" (Tidy)", "Allow execution of: 'touch'?", body...)
}

func qwenDialog(head, ask string, body ...string) []string {
	rows := append([]string{"  > do it", "", "  ◆ I do.", "", "  ? " + head + " ←", ""}, body...)
	return append(rows, "", "   "+ask, "", "   › 1. Yes, allow once", "     2. Yes, allow always", "     3. No, suggest changes (esc)", "", "", "  ⠏ Waiting for user confirmation...", "")
}

// subDialog draws what a sub-agent of Qwen Code asks.
func subDialog(body ...string) []string {
	rows := append([]string{"  > do it", "", "  ⊷ Agent Tidy   6s", "     Approval requested by general-purpose:"}, body...)
	return append(rows, "     Do you want to proceed?", "     › 1. Yes, allow once", "       2. Allow always", "       3. No", "", "  ⠏ Waiting for user confirmation...", "")
}

// idleScreen draws an empty input box.
func idleScreen(agent string) []string {
	rule := strings.Repeat("─", 100)
	switch agent {
	case "claude":
		return []string{"● Done.", "", rule, "❯ ", rule, "  ? for shortcuts"}
	case "codex":
		return []string{"• Done.", "", "", "› Ask Codex to do anything", "", "  gpt-5 · 100% context left"}
	case "gemini":
		return []string{"✦ Done.", "", rule, strings.Repeat("▄", 100), " >   Type your message or @path/to/file", strings.Repeat("▀", 100), " ~/x"}
	}
	return []string{"  ◆ Done.", "", rule, ">   Type your message or @path/to/file", rule, "  ? for shortcuts"}
}

func someLaterTwin(rt *rapid.T) (c laterTwin) {
	c.agent = rapid.SampledFrom([]string{"claude", "codex", "gemini", "qwen"}).Draw(rt, "agent")
	word := rapid.SampledFrom([]string{"tidy", "build it", "see (all)"}).Draw(rt, "word")
	command := func(text string) map[string]any { return map[string]any{"command": text, "description": "Tidy"} }
	hook := func(input map[string]any) Hook { return callHook(rt, c.agent, shellTools[c.agent], input) }
	switch rapid.IntRange(0, 9).Draw(rt, "kind") {
	case 8, 9: // what stands behind a character is written over what stands before it
		c.agent, c.alone, c.raw = "qwen", true, true
		raw := rapid.SampledFrom([]string{"\r", "\r\t", "\b\b\b", "\v", "\u0085"}).Draw(rt, "raw")
		c.own = hook(command("perl -e 'qx(touch /tmp/evil)' #" + raw + "l " + word + " --all #"))
		c.twins = []Hook{hook(command("perl " + word + " --all")), hook(command("perl " + word + " --all #"))}
		switch drawn := "     perl " + word + " --all"; rapid.IntRange(0, 2).Draw(rt, "drawn") {
		case 0: // the row above it, too
			c.rows = slices.Delete(qwenDialog("Shell perl", "Allow execution of: 'perl'?", drawn), 4, 5)
		case 1:
			c.rows = framed([]string{"?  Shell perl " + word + " --all ←", "", drawn[5:], "", "Allow execution of: 'perl'?", "", "› 1. Yes, allow once", "  2. No, suggest changes (esc)"}, "", 98)
		default:
			c.rows = qwenDialog("Shell perl "+word+" --all #", "Allow execution of: 'perl'?", drawn)
		}
	case 0: // a row that runs, or is a comment's
		c.alone = true
		c.own, c.twins = hook(command(": "+word+" #\ntouch /tmp/evil")), []Hook{hook(command(": " + word + " # touch /tmp/evil"))}
		c.rows = commandDialog(c.agent, ": "+word+" #", "touch /tmp/evil")
	case 1: // a value of the same name within another
		input := command(": " + word + " #\ntouch /tmp/evil")
		input["a"] = map[string]any{"command": "zzz"}
		c.own, c.twins = hook(input), []Hook{hook(command(": " + word + " # touch /tmp/evil"))}
		c.rows = commandDialog(c.agent, ": "+word+" #", "touch /tmp/evil")
	case 2: // rows that aren't drawn
		long := func(row string) map[string]any {
			return command("echo begin " + word + " now\n" + row + "\necho 2\necho 3\necho the end of the " + word)
		}
		c.own, c.twins = hook(long("touch /tmp/evil")), []Hook{hook(long("make")), hook(long("make all"))}
		switch c.agent {
		case "codex":
			c.rows = commandDialog(c.agent, "echo begin "+word+" now", "[… 3 lines] ctrl+a view all", "echo the end of the "+word)
		case "qwen":
			c.rows = qwenDialog("Shell echo begin "+word+" now", "Allow execution of: 'echo'?", "     echo begin "+word+" now", "     ... last 4 lines hidden ...")
			if rapid.Bool().Draw(rt, "sub") {
				c.rows = subDialog("       echo begin " + word + " now")
			}
		case "gemini":
			c.rows = commandDialog(c.agent, "echo begin "+word+" now", "... first 4 lines hidden (Ctrl+O to show) ...", "echo the end of the "+word)
		default: // its beginning stands above the screen
			c.rows = commandDialog(c.agent, "echo begin "+word+" now", "touch /tmp/evil", "echo 2", "echo 3", "echo the end of the "+word)[8:]
		}
	case 3: // a change, drawn with rows of its file
		c.agent = "qwen"
		c.own = callHook(rt, "qwen", "edit", map[string]any{"file_path": "/home/me/.bashrc", "old_string": "HISTSIZE=1", "new_string": "HISTSIZE=1\nevil " + word})
		c.twins = []Hook{callHook(rt, "qwen", "edit", map[string]any{"file_path": "/srv/notes.txt", "old_string": "shopt -s histappend\nHISTSIZE=1", "new_string": "evil " + word + "\nalias ll='ls -l'"})}
		c.rows = qwenDialog("Edit ~/.bashrc: HISTSIZE=1 => HISTSIZE=1 evil "+word, "Apply this change?", "   12    shopt -s histappend", "   13    HISTSIZE=1", "   14 +  evil "+word, "   15    alias ll='ls -l'")
	case 4: // a part of a row, in another file
		c.agent = "claude"
		change := func(file, from, to string) Hook {
			return callHook(rt, "claude", "Edit", map[string]any{"file_path": file, "old_string": from, "new_string": to})
		}
		if c.own = change("/srv/project/Makefile", "rm -f x", "rm -rf build /"); rapid.Bool().Draw(rt, "written anew") {
			c.own = callHook(rt, "claude", "Write", map[string]any{"file_path": "/srv/project/Makefile", "content": "clean:\n\trm -rf build / # " + word + "\n"})
		}
		c.twins = []Hook{change("/srv/project/Makefile", "\trm -f x # "+word, "\trm -rf build/ # "+word), change("/tmp/other/Makefile", "\trm -f x # "+word, "\trm -rf build/ # "+word)}
		c.rows = []string{"> do it", "", strings.Repeat("─", 100), " Edit file", " Makefile", strings.Repeat("╌", 100), " 1  clean:", " 2 -    rm -f x # " + word, " 2 +    rm -rf build / # " + word, strings.Repeat("╌", 100), " Do you want to make this edit to Makefile?", " ❯ 1. Yes", "   2. Yes, and switch to accept edits", "   3. No", "", " Esc to cancel · Tab to amend"}
	case 5: // a command in the words of what runs none
		c.agent, c.alone = "claude", true
		c.own = callHook(rt, "claude", "Skill", map[string]any{"skill": word, "args": "x"})
		c.twins = []Hook{callHook(rt, "claude", "Bash", command("Use it: "+word+" x"))}
		c.rows = []string{"> do it", "", strings.Repeat("─", 100), " Use skill", "", "   Use it: " + word + " x", "   Tidy", "", " Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don’t ask again for it", "   3. No", "", " Esc to cancel · Tab to amend"}
	case 6: // what's drawn of it stops at a character
		c.agent = "qwen"
		c.own = hook(command("touch /tmp/safe && echo " + word + "\necho hi" + strings.Repeat("\x01", 30) + "; touch /tmp/evil\necho b"))
		c.twins = []Hook{hook(command("touch /tmp/safe && echo " + word + "\necho hi\necho b"))}
		c.rows = qwenDialog("Shell touch /tmp/safe && echo…", "Allow execution of: 'touch, echo'?", "     touch /tmp/safe && echo "+word, "     echo hi", "     echo b")
	default: // a character that isn't drawn
		odd := rapid.SampledFrom([]string{"\u0378", "\ufffe", "\U000105c0"}).Draw(rt, "odd")
		c.own, c.twins = hook(command(": "+word+" #"+odd+"\ntouch /tmp/evil")), []Hook{hook(command(": " + word + " # touch /tmp/evil"))}
		c.rows = commandDialog(c.agent, ": "+word+" #", "touch /tmp/evil")
	}
	return c
}

// forgedLaterTwins has an agent ask about a call, and tell of others that say what its dialog draws,
// before and after the dialog is looked at, with turns that begin in between: none is shown in its
// place.
func forgedLaterTwins(t *testing.T, runs int) {
	t.Helper()
	told := map[string]int{}
	defer func() { t.Log("with later twins:", told) }()
	readers, programs := map[string]*Observer{}, map[string]*Profile{}
	for _, agent := range []string{"claude", "codex", "gemini", "qwen"} {
		readers[agent], programs[agent] = newReader(t, agent)
		readers[agent].known.heard = &HookSeen{Agent: agent}
	}
	for range runs {
		drawtest.Check(t, func(rt *rapid.T) {
			c := someLaterTwin(rt)
			o := readers[c.agent]
			now, steps := time.Now(), []string{}
			begin := func() {
				o.known.calls, o.known.standing, o.known.read, o.asking, o.call, o.drawn = nil, standing{}, "", dialogWatch{}, "", ""
			}
			begin()
			look := func(rows []string) (d *sessions.Dialog) {
				for range 3 {
					now = now.Add(2 * time.Second)
					screen := &sessions.Snapshot{Width: 100, Height: len(rows), Rows: rows}
					obs := sessions.Observation{Known: true}
					o.addDialog(&obs, sessions.Poll{Now: now, Screen: screen, Dialog: o.profile().Dialog(visibleRows(screen))})
					d = obs.Prompt
				}
				return d
			}
			check := func(d *sessions.Dialog) {
				if d == nil {
					rt.Fatalf("it isn't read:\n%s", strings.Join(c.rows, "\n"))
				}
				allows := false
				for i, option := range d.Options {
					allows = allows || d.Offers(i) && !option.Refuses
				}
				told[fmt.Sprintf("recorded %v, allowed %v", d.Call != "" && !d.Disputed, allows)]++
				if (d.Call != "" || c.raw) && allows && d.Call != newCall(c.own).sum {
					rt.Fatalf("%s asks about %s\nand after %v this is shown:\n%s\non the screen\n%s", c.agent, c.own.Input, steps, d.Whole, strings.Join(c.rows, "\n"))
				}
			}
			hear := func(what string, h Hook) {
				steps = append(steps, what)
				h.At = now
				o.known.calls.noteHook(h)
			}
			unseen := false // it wasn't, for a moment
			between := func() {
				for range rapid.IntRange(0, 3).Draw(rt, "told") {
					switch n := rapid.IntRange(0, 3).Draw(rt, "what"); {
					case n == 0 && unseen: // that would say that it was answered
					case n == 0:
						hear("a turn", Hook{Agent: c.agent, Signal: PromptSent})
					case n == 1:
						hear("another's end", Hook{Agent: c.agent, Signal: ToolEnd, Tool: "Other", Input: json.RawMessage(`{"a":"b"}`)})
					default:
						hear("a twin", rapid.SampledFrom(c.twins).Draw(rt, "twin"))
					}
				}
			}
			if o.known.dialogs = o.profile(); rapid.IntRange(0, 9).Draw(rt, "known meanwhile") == 0 {
				o.known.dialogs = programs[c.agent] // its screen is read as any program's still
			}
			if o.known.raw = (rawCalls{}); c.raw {
				o.known.raw = rawCalls{known: true, Open: []string{"its own"}}
			}
			own, late := true, rapid.IntRange(0, 2).Draw(rt, "its own isn't told, or was before a restart") == 0
			if late || c.alone {
				own = rapid.Bool().Draw(rt, "its own is told")
			}
			if own && rapid.Bool().Draw(rt, "no transcript is known") {
				o.known.raw = rawCalls{}
			}
			look(idleScreen(c.agent))
			if o.known.standing != (standing{open: true}) {
				rt.Fatalf("%s's box isn't seen: %+v", c.agent, o.known.standing)
			}
			if !late {
				between()
			}
			if own {
				hear("its own", c.own)
			}
			switch {
			case !late:
				between()
			case rapid.Bool().Draw(rt, "restart"): // the dialog stands, and isn't read at first
				steps = append(steps, "a restart")
				begin()
				look(rapid.SampledFrom([][]string{{"a", "b", "c", "d", "e"}, c.rows[:3], narrow(c.rows)}).Draw(rt, "first look"))
			default:
				look(c.rows)
				now = now.Add(lateAfter)
				steps = append(steps, "a while")
			}
			if late {
				between()
			}
			for range rapid.IntRange(1, 3).Draw(rt, "looks") {
				check(look(c.rows))
				between()
				if own && !c.alone && !late && rapid.IntRange(0, 2).Draw(rt, "it's not seen for a moment") == 0 {
					unseen = true
					steps = append(steps, "nothing is seen")
					look(rapid.SampledFrom([][]string{{"a", "b", "c", "d", "e"}, c.rows[:3], commandDialog(c.agent, "git status")}).Draw(rt, "screen"))
				}
			}
			check(look(c.rows))
		})
	}
}

// narrow has rows be drawn in a pane that's too narrow to read them.
func narrow(rows []string) (out []string) {
	for _, row := range rows {
		for r := []rune(row); len(r) > 0; r = r[min(len(r), 12):] {
			out = append(out, string(r[:min(len(r), 12)]))
		}
	}
	return out
}
