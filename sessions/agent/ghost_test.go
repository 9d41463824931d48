package agent_test

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/agent"
)

// drawnBox is how a program draws its input box: rows as tmux captures them with styles,
// taken from the real programs.
type drawnBox struct {
	agent        string
	above, below []string
	lead, indent string // at the left of the first row of the box, and of the others
	tail         string // behind each row
	own          []string
	width        int
	themes       []boxTheme
}

// boxTheme is how text in the box looks.
type boxTheme struct {
	typed, ghost, cursor string
	colourless           bool
}

func drawnBoxes() []drawnBox {
	rule := strings.Repeat("─", 100)
	claude := "\x1b[38;5;244m" + rule
	qwen := "\x1b[38;2;137;180;250m" + rule
	return []drawnBox{
		{
			agent: "claude", width: 96, lead: "❯\u00a0", indent: "  ",
			above: []string{"\x1b[38;5;231m●\x1b[39m Hello.", "", "\x1b[38;5;246m✻\x1b[39m \x1b[38;5;246mBrewed for 1s · done 9:39 AM", "", claude},
			below: []string{claude, "  \x1b[38;5;246m⏸ manual mode on · ? for shortcuts"},
			own:   []string{`Try "edit <filepath> to…"`, `Try "how do I log an error?"`, "Press up to edit queued messages"},
			themes: []boxTheme{
				{typed: "", ghost: "\x1b[2m", cursor: "\x1b[7m"},
				{typed: "", ghost: "\x1b[2m", cursor: ""},
			},
		},
		{
			agent: "codex", width: 94, lead: "\x1b[1m›\x1b[0m ", indent: "  ",
			above:  []string{"\x1b[2m• \x1b[0mHello.", "", "\x1b[2m  Worked for <1s • 09:40", ""},
			below:  []string{"", "  \x1b[38;2;246;226;183mmock-model default\x1b[39m · \x1b[38;2;171;223;167m/tmp/project"},
			own:    []string{"Ask Codex to do anything"},
			themes: []boxTheme{{typed: "", ghost: "\x1b[2m", cursor: ""}},
		},
		{
			agent: "gemini", width: 90, lead: " \x1b[48;2;95;95;95m\x1b[38;2;215;175;255m> \x1b[0m", indent: "   ",
			above: []string{"\x1b[38;2;135;135;135m" + rule, " \x1b[38;2;175;175;175mShift+Tab to accept edits", "\x1b[38;2;95;95;95m" + strings.Repeat("▄", 100)},
			below: []string{"\x1b[38;2;95;95;95m" + strings.Repeat("▀", 100), " \x1b[38;2;175;175;175mworkspace (/directory)"},
			own:   []string{"  Type your message or @path/to/file"},
			themes: []boxTheme{
				{typed: "\x1b[38;2;255;255;255m", ghost: "\x1b[38;2;175;175;175m", cursor: "\x1b[7m"},
				{typed: "\x1b[38;5;231m", ghost: "\x1b[38;5;248m", cursor: "\x1b[7m"},
			},
		},
		{
			agent: "opencode", width: 90, lead: "  \x1b[38;2;92;156;245m┃\x1b[48;2;30;30;30m  ", indent: "  \x1b[38;2;92;156;245m┃\x1b[48;2;30;30;30m  ", tail: "    ",
			above: []string{"     \x1b[38;2;238;238;238mHello.", "", "     \x1b[38;2;92;156;245m▣ \x1b[38;2;238;238;238mBuild\x1b[38;2;128;128;128m · Mock Model · 1.4s", "", "  \x1b[38;2;92;156;245m┃" + strings.Repeat(" ", 97)},
			below: []string{"  \x1b[38;2;92;156;245m┃" + strings.Repeat(" ", 97), "  \x1b[38;2;92;156;245m┃  Build\x1b[38;2;128;128;128m · Mock Model", "  ╹" + strings.Repeat("▀", 97), "   \x1b[38;2;128;128;128m/tmp/project  1.4K (1%)"},
			own:   []string{`Ask anything... "Fix a TODO in the codebase"`},
			themes: []boxTheme{
				{typed: "\x1b[38;2;238;238;238m", ghost: "\x1b[38;2;128;128;128m", cursor: "\x1b[7m"},
				{typed: "\x1b[38;2;238;238;238m", ghost: "\x1b[38;2;128;128;128m", cursor: ""},
			},
		},
		{
			agent: "qwen", width: 96, lead: "> ", indent: "  ",
			above: []string{"  \x1b[38;2;203;166;247m◆\ufe0e\x1b[39m Hello.", "", qwen},
			below: []string{qwen, "  \x1b[38;2;203;166;247m➜ project · mock-model", "  \x1b[38;2;137;180;250mAuto mode\x1b[38;2;108;112;134m (shift + tab to cycle)"},
			own:   []string{"  Type your message or @path/to/file"},
			themes: []boxTheme{
				{typed: "", ghost: "\x1b[38;2;108;112;134m", cursor: "\x1b[4m"},
				{typed: "", ghost: "\x1b[38;5;103m", cursor: "\x1b[4m"},
				{typed: "\x1b[38;2;92;97;102m", ghost: "\x1b[38;2;166;170;175m", cursor: "\x1b[7m"},
				{typed: "\x1b[38;2;171;178;191m", ghost: "\x1b[38;2;92;99;112m", cursor: "\x1b[4m"},
				{typed: "\x1b[38;2;92;97;102m", ghost: "\x1b[38;2;204;207;211m", cursor: "\x1b[4m"},
				{typed: "\x1b[38;5;102m", ghost: "\x1b[38;5;188m", cursor: "\x1b[4m"},
				{typed: "\x1b[37m", ghost: "\x1b[90m", cursor: "\x1b[4m"},
				{colourless: true, cursor: "\x1b[4m"},
			},
		},
		{
			agent: "pi", width: 98,
			above:  []string{" Hello.", "", "\x1b[38;2;80;80;80m" + rule},
			below:  []string{"\x1b[38;2;80;80;80m" + rule, "\x1b[38;2;102;102;102m/tmp/project", "0.0%/128k (auto)     mock-model"},
			themes: []boxTheme{{cursor: "\x1b[7m"}},
		},
	}
}

// piece is a part of what stands in a box, in one look.
type piece struct {
	text string
	look string
}

// shownBox is a drawn screen.
type shownBox struct {
	rows    []string // styled
	x, y    int      // cursor
	written string   // by a person, "": nothing
	guess   string   // by the program
	sure    bool     // it can be told apart
}

// draw draws a text that's typed, or the program's own, with the cursor before its n-th
// character.
func (d *drawnBox) draw(pieces []piece, n int, theme boxTheme) *shownBox {
	s := &shownBox{rows: append([]string{}, d.above...)}
	row, used, count := d.lead, 0, 0
	lead := len([]rune(unstyled(d.lead)))
	wrap := func() {
		s.rows = append(s.rows, row+"\x1b[0m"+d.tail)
		row, used, lead = d.indent, 0, len([]rune(unstyled(d.indent)))
	}
	for _, p := range pieces {
		for _, c := range p.text {
			w := displaywidth.Rune(c)
			if used+w > d.width {
				wrap()
			}
			look := "\x1b[0m" + p.look
			if count == n {
				s.x, s.y = lead+used, len(s.rows)
				look = "\x1b[0m" + theme.cursor
			}
			row += look + string(c)
			used += w
			if w > 0 {
				count++
			}
		}
	}
	if n < 0 { // it has put its cursor away
		s.x, s.y = 0, 0
	} else if n >= count {
		s.x, s.y = lead+used, len(s.rows)
		row += "\x1b[0m" + theme.cursor + " "
	}
	wrap()
	s.rows = append(s.rows, d.below...)
	if theme.colourless {
		for i, r := range s.rows {
			s.rows[i] = unstyled(r)
		}
	}
	return s
}

// snapshot is what tmux shows of it.
func (s *shownBox) snapshot() *sessions.Snapshot {
	const height = 30
	out := &sessions.Snapshot{Width: 100, Height: height, CursorX: s.x}
	blank := max(0, height-len(s.rows))
	out.CursorY = blank + s.y
	for range blank {
		out.Rows, out.Styled = append(out.Rows, ""), append(out.Styled, "")
	}
	for _, row := range s.rows {
		out.Rows, out.Styled = append(out.Rows, unstyled(row)), append(out.Styled, row)
	}
	out.Wrapped = make([]bool, len(out.Rows))
	return out
}

func unstyled(row string) string {
	for {
		from := strings.Index(row, "\x1b[")
		if from < 0 {
			return row
		}
		row = row[:from] + row[from+strings.IndexByte(row[from:], 'm')+1:]
	}
}

// anyText is what people and programs write: words of all widths, signs of boxes and
// dialogs.
func anyText(rt *rapid.T) string {
	words := rapid.SampledFrom([]string{
		"a", "run", "the tests", "漢字", "テスト", "é", "👋", "ok?", "❯", "› 1. Yes", "> go on", "do you want to proceed", "esc to interrupt",
		"Try \"x", "Type your message", "Ask anything", "[Pasted text #1 +61 lines]", "— this", "a very-long-word-that-may-be-broken-anywhere", "| ┃ │", "12%/34",
	})
	return strings.Join(rapid.SliceOfN(words, 1, 30).Draw(rt, "words"), " ")
}

// anyBox draws a screen with an input box.
func anyBox(rt *rapid.T, d *drawnBox) *shownBox {
	theme := rapid.SampledFrom(d.themes).Draw(rt, "theme")
	kind := rapid.SampledFrom([]string{"own", "guess", "typed", "goes on", "nothing"}).Draw(rt, "kind")
	away := rapid.IntRange(0, 9).Draw(rt, "away") == 0
	at := func(n int) int {
		if away {
			return -1
		}
		return n
	}
	var s *shownBox
	switch {
	case kind == "own" && len(d.own) > 0:
		text := rapid.SampledFrom(d.own).Draw(rt, "own")
		s = d.draw([]piece{{text, theme.ghost}}, at(0), theme)
		s.guess, s.sure = text, true
	case kind == "guess" && len(d.own) > 0:
		text := anyText(rt)
		s = d.draw([]piece{{text, theme.ghost}}, at(0), theme)
		s.guess, s.sure = text, !theme.colourless && (away || len([]rune(text)) > 1)
	case kind == "typed", kind == "goes on" && (len(d.own) == 0 || theme.colourless):
		text := anyText(rt)
		if len(d.own) > 0 && !theme.colourless && rapid.Bool().Draw(rt, "like its own") {
			text = strings.TrimSpace(rapid.SampledFrom(d.own).Draw(rt, "own")) + text
		}
		n := rapid.IntRange(0, len([]rune(text))).Draw(rt, "cursor")
		if theme.colourless && len(d.own) > 0 { // its very own words, with the cursor before them, can't be told from those
			text, n = "x"+text, n+1
		}
		s = d.draw([]piece{{text, theme.typed}}, at(n), theme)
		s.written, s.sure = text, true
	case kind == "goes on":
		text, more := anyText(rt), anyText(rt)
		s = d.draw([]piece{{text, theme.typed}, {more, theme.ghost}}, at(len([]rune(text))), theme)
		s.written, s.guess, s.sure = text, more, away || len([]rune(more)) > 1
	default:
		s = d.draw(nil, at(0), theme)
		s.sure = true
	}
	return s
}

// squashed is a text without blanks: boxes break rows where they like.
func squashed(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u00a0' {
			return -1
		}
		return r
	}, text)
}

// wrong says what's wrong with how a box was read; "": nothing.
func (s *shownBox) wrong(b sessions.InputBox) string {
	switch {
	case !b.Open:
		return "the box wasn't found"
	case s.written == "" && s.sure && b.Text != "":
		return fmt.Sprintf("%q counts as half-typed", b.Text)
	case s.written == "" && b.Text != "" && !b.Unsure:
		return fmt.Sprintf("%q counts as half-typed, and nobody may say that it isn't", b.Text)
	case s.written != "" && s.sure && squashed(b.Text) != squashed(s.written):
		return fmt.Sprintf("read %q", b.Text)
	case s.written != "" && !strings.HasPrefix(squashed(b.Text), squashed(s.written)):
		return fmt.Sprintf("read %q, which isn't what was typed and what the program guesses", b.Text)
	}
	return ""
}

// What a program writes into its own input box is never taken for a text that somebody
// has begun, and such a text always is, whatever it says and wherever the cursor stands.
func TestGhostsAreTold(t *testing.T) {
	set, err := agent.LoadSet()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range drawnBoxes() {
		t.Run(d.agent, func(t *testing.T) {
			profile := set.Get(d.agent)
			drawtest.Check(t, func(rt *rapid.T) {
				s := anyBox(rt, &d)
				snap := s.snapshot()
				if wrong := s.wrong(profile.Box(snap)); wrong != "" {
					rt.Fatalf("typed %q, guessed %q: %s\ncursor %d,%d\n%s", s.written, s.guess, wrong, snap.CursorX, snap.CursorY, strings.Join(snap.Styled, "\n"))
				}
			})
		})
	}
}
