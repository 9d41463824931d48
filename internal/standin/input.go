package standin

import (
	"strings"
	"time"
	"unicode/utf8"
)

// input is a program's input box.
type input struct {
	text    string
	at      time.Time // when it was last added to
	taken   bool      // the completion was
	swallow bool      // the next Enter does nothing
	offered bool      // a completion was
	stood   time.Time // since when nothing was done to it
	left    bool      // that's long ago, and in the journal
}

// long texts are shown by their size.
const (
	longLines = 8
	longText  = 800
)

// rows are the box's, as it shows them.
func (in *input) rows(l look, width int) []string {
	switch {
	case in.text == "":
		return nil
	case strings.Count(in.text, "\n") >= longLines, len(in.text) >= longText:
		return []string{l.pasted(in.text)}
	}
	return folded(in.text, width-10)
}

// popup is the completion that's offered: of the last word, if it begins with "@".
func (in *input) popup(agent string) string {
	words := strings.Fields(in.text)
	if agent == "claude" || in.taken || len(words) == 0 || strings.HasSuffix(in.text, " ") {
		return ""
	}
	if last := words[len(words)-1]; strings.HasPrefix(last, "@") && len(last) > 1 {
		return "+ " + last[1:]
	}
	return ""
}

// tooSoon is a key that's read before the box is there.
func (g *program) tooSoon(k key) {
	if k.shown {
		return
	}
	text := k.pasted
	if utf8.RuneCountInString(k.name) == 1 {
		text = k.name
	}
	g.journal.put(Entry{Kind: Pressed, Key: k.name, Text: k.pasted, Person: k.person})
	if text == "" {
		return
	}
	if g.play.Agent == "codex" || g.play.Agent == "gemini" || g.play.Agent == "qwen" {
		g.input.text += text
		return
	}
	g.journal.put(Entry{Kind: Lost, Text: text})
}

// How soon after a text an Enter isn't one.
const (
	codexBreak    = 120 * time.Millisecond
	geminiSwallow = 300 * time.Millisecond
)

// typed works a key into the input box.
func (g *program) typed(k key) {
	now := time.Now()
	in := &g.input
	in.stood, in.left = now, false
	switch {
	case k.name == "":
		if in.text == "" {
			in.swallow = g.rand.IntN(25) == 0
		}
		in.text += k.pasted
		in.at, in.taken = now, false
	case k.name == "Enter":
		in.offered = in.offered || in.popup(g.play.Agent) != ""
		g.enter(now)
	case k.name == "C-u":
		*in = input{}
	case k.name == "C-j":
		in.text += "\n"
	case k.name == "Space":
		in.text += " "
		in.at = now
	case k.name == "BSpace" && in.text != "":
		_, n := utf8.DecodeLastRuneInString(in.text)
		in.text = in.text[:len(in.text)-n]
	case utf8.RuneCountInString(k.name) == 1:
		in.text += k.name
		in.at, in.taken = now, false
	}
	g.draw(false)
}

// enter is Enter in the input box.
func (g *program) enter(now time.Time) {
	in := &g.input
	agent := g.play.Agent
	since := now.Sub(in.at)
	switch {
	case in.text == "":
		return
	case agent == "codex" && since < codexBreak:
		in.text += "\n"
		return
	case (agent == "gemini" || agent == "qwen") && since < geminiSwallow:
		return
	case in.swallow && !in.offered:
		in.swallow = false
		return
	case in.popup(agent) != "":
		in.text += " "
		in.taken = true
		return
	case strings.HasPrefix(in.text, "/") && agent == "codex":
		g.journal.put(Entry{Kind: Refused, Text: in.text})
		g.said = append(g.said, "", "■ Unrecognized command")
		return // it stays there
	case strings.HasPrefix(in.text, "/") && agent == "claude":
		g.journal.put(Entry{Kind: Refused, Text: in.text})
		g.said = append(g.said, "", "● Unknown command")
		in.text = ""
		return
	}
	text := strings.TrimSpace(in.text)
	*in = input{}
	g.journal.put(Entry{Kind: Submitted, Text: text})
	if !g.busy.IsZero() {
		g.face.queued = append(g.face.queued, text)
		return
	}
	g.said = append(g.said, g.look.said(text, g.width)...)
	g.turn(now)
}
