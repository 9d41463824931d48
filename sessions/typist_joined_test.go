package sessions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
)

// What somebody at the pane types beside a text isn't submitted with it: Enter waits until
// that's gone, or with it the text.
func TestSomebodyTypesBesideAText(t *testing.T) {
	for _, c := range []struct {
		name   string
		beside string // in the box, "" nothing
		last   string // then
		want   string
		sent   []string
		enters int
	}{
		{"taken away again", "look at README no", "look at README", "submitted", []string{"look at README"}, 2},
		{"before it", "no look at README", "look at README", "submitted", []string{"look at README"}, 2},
		{"sent by them", "look at README no", "", "failed: it was typed, but is no longer in the session's input box", nil, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &boxed{pane: &pane{}, deaf: true}
			withPane(t, p.pane, p, p.options, func(b *bed) {
				r, err := b.input("look at README", "")
				if err != nil {
					b.Fatal(err)
				}
				b.pass(2 * time.Second)
				if p.enters != 1 {
					b.Fatalf("%d Enters, want one, which does nothing", p.enters)
				}
				p.do(func() { p.box, p.deaf = c.beside, false })
				b.pass(time.Minute)
				b.wantReceipt(r.ID, string(sessions.ReceiptTyped)+": somebody at the pane")
				if len(p.sent) > 0 || p.enters != 1 {
					b.Errorf("%d Enters, submitted %q", p.enters, p.sent)
				}
				p.do(func() { p.box = c.last })
				b.pass(5 * time.Second)
				b.wantReceipt(r.ID, c.want)
				b.wantSent(c.sent...)
				if p.enters != c.enters {
					b.Errorf("%d Enters, want %d", p.enters, c.enters)
				}
			})
		})
	}
}

// The same for a key that somebody pressed in a dialog which has just gone.
func TestAKeyThatIsTooLateForADialog(t *testing.T) {
	p := &boxed{pane: &pane{}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		r, err := b.input("look at README", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(300 * time.Millisecond) // it stands there, and Enter is yet to come
		p.do(func() { p.sent, p.hidden = []string{"do you want to proceed"}, true })
		b.pass(10 * time.Second)
		p.do(func() { p.sent, p.box = nil, p.box+"2" })
		b.pass(halfDrawn)
		p.do(func() { p.hidden = false })
		b.pass(time.Minute)
		got, err := b.manager.Receipt(b.Context(), r.ID)
		if err != nil || got.State != sessions.ReceiptTyped || !strings.HasPrefix(got.Reason, "somebody at the pane") || p.enters > 0 {
			b.Errorf("%d Enters, %+v, %v", p.enters, got, err)
		}
		p.do(func() { p.box = "look at README" })
		b.pass(5 * time.Second)
		b.wantSent("look at README")
	})
}

// A question that opens as a text is typed takes the beginning of it as keys: the rest isn't
// submitted, and doesn't stay in the box.
func TestAQuestionTakesTheBeginningOfAText(t *testing.T) {
	words := rapid.SliceOfN(rapid.SampledFrom([]string{"look", "at", "README", "2", "now", "/srv/project/main.go", "a-very-long-word-of-many-letters", "…", "yes", "!"}), 2, 12)
	drawtest.Check(t, func(rt *rapid.T) {
		text := strings.Join(words.Draw(rt, "words"), " ")
		eats := rapid.IntRange(1, len(text)-1).Filter(func(n int) bool { return utf8.RuneStart(text[n]) }).Draw(rt, "bytes that it takes")
		head, rest := text[:eats], strings.TrimSpace(text[eats:])
		if rest == "" || !strings.ContainsFunc(head, func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }) || !strings.ContainsFunc(text[eats:], unicode.IsLetter) {
			rt.Skip("nothing that a person would see is left, or a sign is gone")
		}
		p, wrong := &boxed{pane: &pane{}, eats: eats}, ""
		withPane(t, p.pane, p, p.options, func(b *bed) {
			r, err := b.input(text, "")
			if err != nil {
				b.Fatal(err)
			}
			b.pass(30 * time.Second)
			got, err := b.manager.Receipt(b.Context(), r.ID)
			if err != nil || got.State != sessions.ReceiptFailed || !strings.Contains(got.Reason, "went to something that opened") || len(p.sent) > 0 || p.box != "" {
				wrong = fmt.Sprintf("of %q the box got %q: %+v, %v; submitted %q, left %q", text, text[eats:], got, err, p.sent, p.box)
			}
		})
		if wrong != "" {
			rt.Fatal(wrong)
		}
	})
}

// Where the text was taken away behind a dialog there's nothing left to submit.
func TestATextThatIsTakenAwayBehindADialog(t *testing.T) {
	p := &boxed{pane: &pane{}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		r, err := b.input("look at README", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(300 * time.Millisecond)
		p.do(func() { p.sent, p.hidden = []string{"do you want to proceed"}, true })
		b.pass(10 * time.Second)
		p.do(func() { p.sent, p.box = nil, "" })
		b.pass(halfDrawn)
		p.do(func() { p.hidden = false })
		b.pass(10 * time.Second)
		got, err := b.manager.Receipt(b.Context(), r.ID)
		if err != nil || got.State != sessions.ReceiptFailed || !strings.Contains(got.Reason, "no longer in the session's input box") || p.enters > 0 {
			b.Errorf("%d Enters, %+v, %v", p.enters, got, err)
		}
	})
}
