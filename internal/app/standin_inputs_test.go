package app_test

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/standin"
)

// toldOf are what a writer was told about a text in a chat: signs and answers.
func (p *standinPlay) toldOf(in *askedInput) (out []string) {
	switch in.from {
	case "telegram":
		for _, m := range p.rig.telegram.Messages(p.rig.forum) {
			if strconv.Itoa(m.ID) == in.message {
				for _, r := range m.Reactions {
					out = append(out, r.Emoji)
				}
			}
			if strconv.Itoa(m.ReplyTo) == in.message && m.From.IsBot {
				out = append(out, m.Text)
			}
		}
	case "discord":
		for _, m := range p.rig.discord.Messages(p.thread()) {
			if m.ID == in.message {
				for _, r := range m.Reactions {
					out = append(out, r.Emoji)
				}
			}
			if m.ReplyTo == in.message && m.Author.Bot {
				out = append(out, m.Content)
			}
		}
	}
	return out
}

// The signs of how far a text got.
var ends = []string{"👍", "🤔", "👌", "Typed", "Failed", "Not typed", "Nothing was typed", "Answered", "Taken up"}

// chatHasEnd reports whether a text's writer was told how it ended.
func (p *standinPlay) chatHasEnd(in *askedInput) bool {
	return slices.ContainsFunc(p.toldOf(in), func(told string) bool {
		return slices.ContainsFunc(ends, func(end string) bool { return strings.HasPrefix(told, end) })
	})
}

// checkInputs sees to it that each text was submitted once, or that it was said why not.
func (c *standinCheck) checkInputs(p *standinPlay, journal []standin.Entry) {
	ready := time.Now()
	if i := slices.IndexFunc(journal, func(e standin.Entry) bool { return e.Kind == standin.Ready }); i >= 0 {
		ready = journal[i].At
	}
	for _, in := range p.inputs {
		if in.err != nil {
			c.wrong(p, "a text wasn't taken: %q: %v", in.text, in.err)
			continue
		}
		c.counts["inputs by "+in.from]++
		exact, like, early := 0, 0, false
		tag := tagOfInput(in.text)
		for _, e := range journal {
			early = early || e.Kind == standin.Pressed && e.Early && e.Dialog != 0 && strings.Contains(e.Text, tag)
			switch {
			case e.Kind != standin.Submitted && e.Kind != standin.Refused, !strings.Contains(e.Text, tag):
			case strings.TrimSpace(e.Text) == strings.TrimSpace(in.text):
				exact++
			default:
				like++
			}
		}
		submitted, why := in.receipt.Submitted(), in.receipt.Reason
		if in.from != "api" {
			told := p.toldOf(in)
			why = strings.Join(told, " / ")
			submitted = p.chatHasEnd(in) && !strings.Contains(why, "Failed") && !strings.Contains(why, "Not typed") && !strings.Contains(why, "Nothing was typed")
		}
		refused := strings.HasPrefix(in.text, "/") && p.play.Agent == "codex"
		switch {
		case submitted && exact == 1 && like == 0:
			c.counts["inputs submitted"]++
		case refused && !submitted && why != "":
			c.counts["inputs that the program refused, failed"]++
		case refused && like == 0 && (strings.Contains(why, "somebody at the pane may have taken it away") || strings.Contains(why, "🤔")):
			c.counts["inputs that the program refused, unverified"]++ // a person cleared the box while it was waited for
		case exact+like == 1 && strings.Contains(why, "somebody at the pane may have sent it"):
			c.counts["inputs that a person submitted at the keyboard"]++
		case early: // where it came was to be seen by nobody
			c.counts["inputs that met a dialog before it was to be seen"]++
		case in.at.Before(ready) && (like > 0 || submitted):
			// What runs in the pane wasn't known yet. It may take the text over when it
			// begins, and then it stands in its box.
			c.counts["inputs typed before the program was ready, and not submitted as written"]++
			c.Logf("%s: %q came at start-up: %q", p.session.Name, short(in.text), why)
		case like > 0:
			c.wrong(p, "%q was submitted otherwise (%s)", in.text, why)
		case !submitted && exact == 0 && why != "":
			c.counts["inputs failed: "+why]++
		default:
			c.wrong(p, "%q was submitted %d times; its receipt is %s, %q", in.text, exact, in.receipt.State, why)
		}
	}
}

// tagOfInput is what no other text has: the first of its words like it.
func tagOfInput(text string) string {
	for w := range strings.FieldsSeq(text) {
		if rest, ok := strings.CutPrefix(w, "i"); ok && strings.Contains(rest, "q") && rest[0] >= '0' && rest[0] <= '9' {
			return w
		}
	}
	return text
}
