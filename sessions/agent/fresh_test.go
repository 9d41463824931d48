package agent

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/panebridge/panebridge/internal/recording"
)

// notText is what must never be taken for the text of an answer: spinners, tips, status
// lines, input boxes, dialogs and their frames, as they were seen on the screens. No
// answer of the recordings has any of it.
var notText = regexp.MustCompile(strings.Join([]string{
	`esc (to|again|interrupt)`, `\? for shortcuts`, `^\s*─{20,}\s*$`, `^\s*[▄▀╌]{20,}\s*$`, `Tip: `, `Tips: `,
	`Type your message`, `Ask Codex to`, `Ask anything`, `ctrl\+p commands`, `manual mode on`, `/effort`,
	`Do you want to`, `Would you like to`, `Allow once`, `Allow execution`, `Apply this change`, `Permission required`, `Press enter to confirm`,
	`1\. Yes`, `Enter to select`, `enter to submit`, `esc dismiss`, `Type something`, `make auto mode`,
	`^\s*[⠁-⣿] `, `↓ \d+ tokens`, `\d%/\d+k`, `Working\.\.\.`, `^  Worked for \d`, `^✻ \S+ for \d`, `▣ `, `workspace \(/directory\)`,
	` █$`, `Press up to edit`, `Press ↑ to edit`, `Queued`, `focus-events`, `warnings · f2`, `Executing Hook`, `Claude Code v\d`, `OpenAI Codex`, `Gemini CLI v`,
}, "|"))

// plain leaves the letters and digits of a text: what all programs draw as it was said.
func plain(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, text)
}

// minPlain is how many letters a row must have to be told from others.
const minPlain = 12

// Over all frames of all recordings: what's furniture isn't text, and the rows of an
// answer below what was asked are.
func TestFreshKeepsTheAnswerApart(t *testing.T) {
	set, recordings := loadAll(t)
	for _, r := range recordings {
		c := freshCount{t: t, name: r.Name, p: set.Get(r.Agent)}
		c.said, c.asked = saidAndAsked(t, r)
		frames, err := r.Frames()
		if err != nil {
			t.Fatal(err)
		}
		for i := range frames {
			if i > 0 && recording.Same(&frames[i-1].Snapshot, &frames[i].Snapshot) {
				continue
			}
			c.frame(&frames[i])
		}
		t.Logf("%-28s %5d screens, %6d rows of answers, %3d of them missing; %3d rows of furniture in the text", r.Name, c.screens, c.rows, c.missing, c.wrong)
		if c.missing*500 > c.rows {
			t.Errorf("%s: %d of %d rows of answers are missing in the text", r.Name, c.missing, c.rows)
		}
		if c.wrong > 0 {
			t.Errorf("%s: %d rows of the text are none", r.Name, c.wrong)
		}
	}
}

// saidAndAsked are what the model said in a recording and what the person asked, as plain.
func saidAndAsked(t *testing.T, r *recording.Recording) (said string, asked []string) {
	t.Helper()
	truth, err := r.Truth()
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range truth.Rules {
		for _, step := range rule.Steps {
			said += plain(step.Text) + "\n"
		}
	}
	actions, err := r.Actions()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range actions {
		if len(plain(a.Text)) > 5 {
			asked = append(asked, plain(a.Text))
		}
	}
	// Typed with the key in one write, which isn't noted as text.
	return said, append(asked, plain("Please say hello in one burst"), plain("unbracketed two"))
}

type freshCount struct {
	t                             *testing.T
	name                          string
	p                             *Profile
	said                          string
	asked                         []string
	screens, rows, missing, wrong int
}

func (c *freshCount) frame(f *recording.Frame) {
	c.screens++
	text, _ := c.p.Fresh(&f.Snapshot)
	for _, row := range text {
		if notText.MatchString(row) {
			if c.wrong++; c.wrong <= 5 {
				c.t.Logf("%s at %.1f s: no text: %q", c.name, f.At.Seconds(), row)
			}
		}
	}
	rows := visibleRows(&f.Snapshot)
	c.p.cutScrollbar(rows, 0)
	for _, row := range rows[c.lastAsked(rows):] {
		words := plain(row)
		if len(words) < minPlain || !strings.Contains(c.said, words) {
			continue
		}
		c.rows++
		if !slices.Contains(text, row) {
			if c.missing++; c.missing <= 5 {
				c.t.Logf("%s at %.1f s: missing: %q", c.name, f.At.Seconds(), row)
			}
		}
	}
}

// lastAsked is the row behind what the person wrote last.
func (c *freshCount) lastAsked(rows []string) int {
	for i, row := range slices.Backward(rows) {
		words := plain(row)
		if len(words) > 5 && slices.ContainsFunc(c.asked, func(a string) bool { return strings.HasPrefix(a, words) || strings.HasPrefix(words, a) }) {
			return i + 1
		}
	}
	return 0
}
