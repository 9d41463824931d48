package app_test

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/agentlab"
	"github.com/panebridge/panebridge/internal/render"
	"github.com/panebridge/panebridge/internal/render/rendertest"
	"github.com/panebridge/panebridge/sessions"
)

// logged are all lines of the session's log.
func (k *liveRig) logged() []sessions.Line {
	k.Helper()
	var out []sessions.Line
	for from := int64(0); ; {
		page, err := k.api.Output(k.ctx(), string(k.id), from, 5000)
		if err != nil {
			k.Fatal(err)
		}
		out = append(out, page.Lines...)
		if page.Next == from || len(page.Lines) == 0 {
			return out
		}
		from = page.Next
	}
}

// blocksOf are the texts of a kind.
func blocksOf(lines []sessions.Line, kind sessions.LineKind) []string {
	var out []string
	for _, l := range lines {
		switch {
		case l.Kind != kind:
		case l.Begins || len(out) == 0:
			out = append(out, l.Text)
		default:
			out[len(out)-1] += "\n" + l.Text
		}
	}
	return out
}

// checkAnswers wants the answers in the log to be what the model has said, and nothing of
// the pane beside them. Of an answer that was interrupted any beginning may be there.
func (k *liveRig) checkAnswers(lines []sessions.Line) {
	k.Helper()
	lines = withoutCutOff(lines)
	got := blocksOf(lines, sessions.KindAnswer)
	requests := k.run.Model.Requests()
	for _, q := range requests {
		if q.Text == "" {
			continue
		}
		want := k.asWritten(q.Text)
		switch {
		case q.HungUp:
			if len(got) > 0 && strings.HasPrefix(k.asWritten(k.whole(requests, q)), got[0]) {
				k.Logf("of the interrupted answer %d of %d bytes are in the log", len(got[0]), len(want))
				got = got[1:]
			}
		case len(got) == 0:
			k.Errorf("an answer is missing in the log: %q", brief(want))
		case got[0] != want:
			k.Errorf("an answer is in the log as %q\nand was %q", brief(got[0]), brief(want))
			if i := slices.Index(got, want); i > 0 {
				got = got[i+1:]
			} else if !slices.ContainsFunc(requests, func(q agentlab.Request) bool { return k.asWritten(q.Text) == got[0] }) {
				got = got[1:]
			}
		default:
			got = got[1:]
		}
	}
	for _, more := range got {
		k.Errorf("the log has an answer that the model never gave, or gave once: %q", brief(more))
	}
	if pane := blocksOf(lines, sessions.KindPane); len(pane) > 0 {
		k.Errorf("the log has lines of the pane: %q", pane)
	}
	if asked := blocksOf(lines, sessions.KindUser); !slices.Equal(asked, k.asked) {
		k.Errorf("the log has that a person asked %q\nand it was %q", asked, k.asked)
	}
}

// withoutCutOff are the lines without what the screen showed of an answer that was
// interrupted: TestLiveStoppedAnswers looks at that.
func withoutCutOff(lines []sessions.Line) []sessions.Line {
	var out []sessions.Line
	for _, l := range lines {
		if l.Kind == sessions.KindNotice && strings.HasPrefix(l.Text, "interrupted") {
			for len(out) > 0 && out[len(out)-1].Kind == sessions.KindPane {
				out = out[:len(out)-1]
			}
			continue
		}
		out = append(out, l)
	}
	return out
}

// whole is all of an answer that was interrupted: it was given before.
func (k *liveRig) whole(requests []agentlab.Request, cut agentlab.Request) string {
	for _, q := range requests {
		if q.Rule == cut.Rule && q.Step == cut.Step && !q.HungUp {
			return q.Text
		}
	}
	return cut.Text
}

// asWritten is an answer as the agent's transcript has it: Gemini CLI drops zero-width
// joiners, and it and Qwen Code the last line end.
func (k *liveRig) asWritten(text string) string {
	switch k.mode.agent {
	case "gemini":
		return strings.TrimSuffix(strings.ReplaceAll(text, "\u200d", ""), "\n")
	case "qwen":
		return strings.TrimSuffix(text, "\n")
	default:
		return text
	}
}

// brief keeps a report readable.
func brief(s string) string {
	if len(s) > 300 {
		return s[:200] + " … " + s[len(s)-80:]
	}
	return s
}

// chatMessage is what a person sees of a message.
type chatMessage struct {
	text string
	file []byte // nil: none is attached
}

// checkChat wants a chat to show the log as it's rendered, all of it once, in order, and
// nothing else. A message that's marked may be there twice.
func (k *liveRig) checkChat(where string, lines []sessions.Line, seen []chatMessage) {
	k.Helper()
	want, at, loose := compact(rendered(lines)), 0, false // loose: signs may follow that a file's letters end before
	for _, m := range seen {
		if prompt.MatchString(m.text) {
			continue
		}
		text, marked := bare(m.text)
		if m.file != nil { // what stands beside it is in it
			end, ok := lettersAt(want, at, compact(string(m.file)))
			if !ok {
				k.Errorf("%s: a file isn't what the log has next, %q: %q", where, brief(want[end:]), brief(string(m.file)))
			}
			at, loose = end, true
			continue
		}
		begin := at
		for loose && !strings.HasPrefix(want[begin:], text) && begin < len(want) && isSign(want[begin:]) {
			_, n := utf8.DecodeRuneInString(want[begin:])
			begin += n
		}
		for marked && begin > 0 && !strings.HasPrefix(want[begin:], text) {
			begin--
		}
		if !strings.HasPrefix(want[begin:], text) {
			k.Errorf("%s: a message isn't what the log has next, %q:\n%s", where, brief(want[at:]), m.text)
			if i := strings.Index(want[at:], text); i >= 0 {
				at += i + len(text)
			}
			continue
		}
		at, loose = max(at, begin+len(text)), loose && text == ""
	}
	for loose && at < len(want) && isSign(want[at:]) {
		_, n := utf8.DecodeRuneInString(want[at:])
		at += n
	}
	if at < len(want) {
		k.Errorf("%s: nothing is shown from %q on", where, brief(want[at:]))
	}
}

// rendered is what chats show of lines, block by block.
func rendered(lines []sessions.Line) string {
	var b strings.Builder
	var page render.Page
	for i, l := range lines {
		one := render.Whole(render.KindOf(l.Kind), l.Text)
		if one.Begins = l.Begins; l.Kind == sessions.KindUser {
			one.Author = "you"
		}
		page.Lines = append(page.Lines, one)
		if i+1 == len(lines) || lines[i+1].Begins || lines[i+1].Kind != l.Kind {
			b.WriteString(page.Text().String() + "\n")
			page = render.Page{}
		}
	}
	return b.String()
}

var (
	// fence is that of a block of code, which isn't shown.
	fence = regexp.MustCompile("(?m)^ *```\\w*$")
	// box is a task's, which is shown as a sign.
	box = regexp.MustCompile(`(?m)^ *- \[[ x]\]`)
	// address is where a link leads: some readers show it.
	address = regexp.MustCompile(`\(?https?://\S+`)
	// asking are the messages with which panebridge says that a dialog is open.
	asking = regexp.MustCompile(`^\S+ needs you: a question is on its screen\.$`)
	// prompt is how a question's messages begin: none of it is in the log.
	prompt = regexp.MustCompile(`^(?:\S+ asks? |\S+ (?:still waits for an answer|needs you)|All of what it’s about|What of it is on the screen|What’s on the screen, and )`)
)

// compact is a text without blanks, since messages break anywhere, and without what
// isn't shown everywhere.
func compact(s string) string {
	s = address.ReplaceAllString(box.ReplaceAllString(fence.ReplaceAllString(s, ""), ""), "")
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || r == '\u200b' {
			return -1
		}
		return r
	}, s)
}

// bare is what a message has of the session, without blanks, and whether it's marked.
func bare(text string) (of string, marked bool) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		switch line = strings.TrimSpace(address.ReplaceAllString(line, "")); {
		case line == "[sent once more: this may be here already]":
			marked = true
		case endings.MatchString(line), beginnings.MatchString(line), asking.MatchString(line), strings.HasSuffix(line, " in the attached file]"), strings.HasPrefix(line, "[what was being written here "):
		default:
			b.WriteString(line + "\n")
		}
	}
	return compact(b.String()), marked
}

// isSign says whether a text begins with neither letter nor digit.
func isSign(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return !unicode.IsLetter(r) && !unicode.IsDigit(r)
}

// lettersAt says whether a text's letters and digits stand at a place in another, and
// where they end there. A file has the log's lines as they are, with their markup.
func lettersAt(in string, at int, text string) (end int, ok bool) {
	for _, r := range text {
		if isSign(string(r)) {
			continue
		}
		for i, there := range in[at:] {
			if !isSign(string(there)) {
				if there != r {
					return at, false
				}
				at += i + len(string(there))
				break
			}
		}
	}
	return at, true
}

// topic are the bot's messages in the session's topic, of which there must be one.
func (k *liveRig) topic() []chatMessage {
	k.Helper()
	var out []chatMessage
	for _, t := range k.telegram.Topics(k.forum) {
		for _, m := range k.telegram.See(t.Place) {
			if !m.From.IsBot || m.Service != "" || isCard(m.Text) {
				continue
			}
			one := chatMessage{text: m.Text}
			if m.File != nil {
				one.file = m.File.Content
			}
			out = append(out, one)
		}
	}
	return out
}

// thread are the bot's messages in the session's thread.
func (k *liveRig) thread() []chatMessage {
	k.Helper()
	var out []chatMessage
	for _, t := range k.discord.Threads(k.channel) {
		for _, m := range k.discord.Messages(t.ID) {
			if m.Kind != 0 || isCard(m.Content) || m.ID == t.ID || m.Author.ID != k.discord.Bot().ID {
				continue
			}
			text, wrong := rendertest.ReadDiscord(m.Content)
			for _, what := range wrong {
				k.Errorf("in %q: %s", m.Content, what)
			}
			one := chatMessage{text: text}
			for _, f := range m.Files {
				one.file = f.Content
			}
			out = append(out, one)
		}
	}
	return out
}
