package cli

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"unicode"

	"github.com/creack/pty"
	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// hostileText draws texts with what terminals take for commands, or draw elsewhere than it stands.
func hostileText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := []string{"yes", " ", "\x1b[2J", "\x1b]0;x\x07", "\x1b]52;c;eA==\x07", "\u009b2J", "\r", "\b", "\x7f", "\u202e", "\u2066", "é", "漢", "👍", "\n", "\x00"}
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 1, 8).Draw(t, "parts"), "")
	})
}

// Whatever somebody answers, and whatever they call themselves: a script gets the answer as it was written; a terminal gets
// nothing that it obeys.
func TestAnAnswerCommandsNoTerminal(t *testing.T) {
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Skip("there are no terminals here:", err)
	}
	defer terminal.Close()
	defer tty.Close()
	obeyed := func(r rune) bool {
		return unicode.IsControl(r) && r != '\n' && r != '\t' && r != '\r' || unicode.Is(unicode.Bidi_Control, r)
	}
	drawtest.Check(t, func(rt *rapid.T) {
		answer, name := hostileText().Draw(rt, "answer"), hostileText().Draw(rt, "name")
		var out, notes bytes.Buffer
		p := &invocation{stdio: Stdio{In: strings.NewReader(""), Out: &out, Err: &notes}}
		q := api.Inquiry{Outcome: sessions.InquiryAnswered, Answer: answer}
		if err := p.printInquiry(q, false); err != nil || out.String() != answer+"\n" {
			rt.Errorf("a script gets %q, %v", out.String(), err)
		}
		_ = p.printInquiry(api.Inquiry{Outcome: sessions.InquiryRefused, Reason: name + " chose to give no answer"}, false)
		if strings.ContainsFunc(notes.String(), obeyed) {
			rt.Errorf("a note has %q", notes.String())
		}
		p.stdio.Out = tty
		said := make(chan string)
		go func() {
			var all []byte
			for one := make([]byte, 1); !bytes.HasSuffix(all, []byte("\x04")); {
				if _, err := io.ReadFull(terminal, one); err != nil {
					break
				}
				all = append(all, one...)
			}
			said <- strings.TrimSuffix(string(all), "\x04")
		}()
		err := p.printInquiry(q, false)
		if _, writeErr := tty.WriteString("\x04"); err != nil || writeErr != nil {
			rt.Fatal(err, writeErr)
		}
		if got := <-said; strings.ContainsFunc(got, obeyed) || strings.Contains(strings.ReplaceAll(got, "\r\n", "\n"), "\r") {
			rt.Errorf("a terminal gets %q", got)
		}
	})
}
