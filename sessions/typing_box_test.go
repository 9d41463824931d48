package sessions_test

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
)

// boxed is a pane whose program has an input box that can be read.
type boxed struct {
	*pane
	hidden   bool   // the box isn't on the screen
	complete bool   // the first Enter takes a completion
	deaf     bool   // Enter does nothing
	lost     bool   // what's pasted is read, and goes nowhere
	eats     int    // bytes of the next paste go to a dialog that opens just then
	lines    bool   // it's a shell, whose terminal makes lines
	queue    bool   // what's submitted waits
	guess    string // what the program itself writes into its empty box
	cursor   int    // where it stands; 0: behind what's in the box
	enters   int
}

func (p *boxed) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	rows := slices.Clone(p.sent)
	if !p.hidden {
		rows = append(rows, "> "+cmp.Or(p.box, p.guess))
	}
	snap := sessions.Snapshot{Server: run, Pane: "%1", Rows: rows, CursorX: cmp.Or(p.cursor, len(p.box))}
	if p.lines {
		snap.CursorX, snap.CursorY, snap.Front = len("> ")+len(p.box), len(rows)-1, "dash"
	}
	return snap, nil
}

// keeps does as tmux does with a guard.
func (p *boxed) keeps(ctx context.Context, g sessions.PaneGuard) sessions.GuardOutcome {
	s, _ := p.Snapshot(ctx, "", sessions.RowWindow{})
	return sessionstest.Check(g, &s)
}

func (p *boxed) Paste(ctx context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	if out := p.keeps(ctx, g); out != sessions.Done {
		return out, nil
	}
	if p.lost {
		return sessions.Done, nil
	}
	text, p.eats = text[min(p.eats, len(text)):], 0
	return p.pane.Paste(ctx, g, text)
}

func (p *boxed) Press(ctx context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	if out := p.keeps(ctx, g); out != sessions.Done {
		return out, nil
	}
	p.mu.Lock()
	if slices.Contains(keys, "C-u") {
		p.box = ""
		p.mu.Unlock()
		return sessions.Done, nil
	}
	p.enters++
	done := p.deaf
	if p.complete && !done {
		p.box, p.complete, done = p.box+"ME.md", false, true
	}
	p.mu.Unlock()
	if done {
		return sessions.Done, nil
	}
	return p.pane.Press(ctx, g, keys...)
}

func (p *boxed) do(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
}

func (p *boxed) options(o *options) {
	const phrase = "do you want to proceed"
	o.Hands.Box, o.Hands.Phrases = readBox(&p.queue), []string{phrase}
	o.Hands.Dialog = func(rows []string) string {
		if strings.Contains(strings.Join(rows, "\n"), phrase) {
			return phrase
		}
		return ""
	}
}

func readBox(queued *bool) func(sessions.ID, *sessions.Snapshot) sessions.InputBox {
	return func(_ sessions.ID, s *sessions.Snapshot) sessions.InputBox {
		b := sessions.InputBox{Known: true, Queued: *queued}
		if n := len(s.Rows); n > 0 {
			b.Text, b.Open = strings.CutPrefix(s.Rows[n-1], "> ")
			b.Rows, b.Unsure = []int{n - 1}, s.CursorX == 0
			if !b.Open {
				b.Text = ""
			}
		}
		return b
	}
}

// What becomes of a text where the program's input box can be read.
func TestTextsGoThroughTheInputBox(t *testing.T) {
	for _, c := range []struct {
		name   string
		text   string // "": "look at README"
		begin  func(p *boxed)
		after  time.Duration // then:
		change func(p *boxed)
		within time.Duration // of the change, or the beginning
		before string        // the receipt before the change
		want   string        // and at the end
		sent   []string
		enters int
	}{
		{
			name: "ready", begin: func(*boxed) {}, within: 3 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "not ready yet", begin: func(p *boxed) { p.hidden = true }, after: 15 * time.Second,
			before: "stored: the program isn't ready", change: func(p *boxed) { p.hidden = false }, within: 4 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "its box can't be recognised", begin: func(p *boxed) { p.sent, p.hidden = []string{"Welcome"}, true }, within: time.Minute,
			want: "submitted", sent: []string{"Welcome", "look at README"}, enters: 1,
		},
		{
			name: "it draws nothing for long", begin: func(p *boxed) { p.hidden = true }, after: time.Hour,
			before: "held: the program isn't ready", change: func(p *boxed) { p.hidden = false }, within: 4 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "half-typed", begin: func(p *boxed) { p.box = "someone's" }, after: time.Minute,
			before: "held: something half-typed", change: func(p *boxed) { p.box = "" }, within: 4 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "completion", text: "look at @READ", begin: func(p *boxed) { p.complete = true }, within: 10 * time.Second,
			want: "submitted", sent: []string{"look at @README.md"}, enters: 2,
		},
		{
			name: "refused", begin: func(p *boxed) { p.deaf = true }, within: time.Minute,
			want: "failed: the text is in the session's input box, but two Enters", enters: 2,
		},
		{
			name: "lost", begin: func(p *boxed) { p.lost = true }, within: time.Minute,
			want: "failed: the program has read the text, but it doesn't stand in its input box", enters: 0,
		},
		{
			name: "a dialog's phrase is quoted", begin: func(p *boxed) { p.sent = []string{"it said: do you want to proceed"} }, within: 5 * time.Second,
			want: "submitted", sent: []string{"it said: do you want to proceed", "look at README"}, enters: 1,
		},
		{
			name: "a dialog is open", begin: func(p *boxed) { p.sent, p.hidden = []string{"do you want to proceed"}, true }, after: time.Hour,
			before: "held: a dialog is open", change: func(p *boxed) { p.sent, p.hidden = nil, false }, within: 5 * time.Second,
			want: "submitted", sent: []string{"look at README"}, enters: 1,
		},
		{
			name: "queued", begin: func(p *boxed) { p.queue = true }, within: 4 * time.Second,
			want: "submitted: queued", sent: []string{"look at README"}, enters: 1,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &boxed{pane: &pane{}}
			c.begin(p)
			withPane(t, p.pane, p, p.options, func(b *bed) {
				r, err := b.input(cmp.Or(c.text, "look at README"), "")
				if err != nil {
					b.Fatal(err)
				}
				if c.change != nil {
					b.pass(c.after)
					b.wantReceipt(r.ID, c.before)
					p.do(func() { c.change(p) })
				}
				b.pass(c.within)
				b.wantReceipt(r.ID, c.want)
				b.wantSent(c.sent...)
				if p.enters != c.enters {
					b.Errorf("%d Enters, want %d", p.enters, c.enters)
				}
			})
		})
	}
}

// A box that was seen and is away is waited for: something else has the keyboard.
func TestABoxThatIsAwayIsWaitedFor(t *testing.T) {
	p := &boxed{pane: &pane{}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		if _, err := b.input("first", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		p.do(func() { p.hidden = true })
		if _, err := b.input("second", ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Minute)
		b.wantSent("first")
		p.do(func() { p.hidden = false })
		b.pass(5 * time.Second)
		b.wantSent("first", "second")
	})
}

// What may be the program's own, in a look that isn't known, holds a text until somebody
// has looked at the screen.
func TestWhatMayBeTheProgramsOwn(t *testing.T) {
	p := &boxed{pane: &pane{}, guess: "run the tests"}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		r, err := b.input("look at README", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Minute)
		b.wantReceipt(r.ID, "held: something half-typed")
		if r = b.receipt(r.ID); r.Quoted == "" {
			b.Fatalf("%+v; want that it can be sent anyway", r)
		}
		if err := b.anyway(r); err != nil {
			b.Fatal(err)
		}
		p.do(func() { p.guess = "" })
		b.pass(10 * time.Second)
		b.wantSent("look at README")
	})
}

// In a program whose box isn't known, a dialog's phrase in the text itself doesn't keep
// its Enter back; one that comes from elsewhere does.
func TestAPhraseOfTheTextItself(t *testing.T) {
	p := &boxed{pane: &pane{}}
	withPane(t, p.pane, p, func(o *options) { p.options(o); o.Hands.Box = nil }, func(b *bed) {
		const text = "echo do you want to proceed"
		if _, err := b.input(text, ""); err != nil {
			b.Fatal(err)
		}
		b.pass(10 * time.Second)
		b.wantSent(text)
		p.do(func() { p.sent = nil })
		if _, err := b.input("echo 2; "+text, ""); err != nil {
			b.Fatal(err)
		}
		b.pass(200 * time.Millisecond) // it's pasted, and Enter isn't pressed yet
		p.do(func() { p.sent = []string{"do you want to proceed"} })
		b.pass(time.Minute)
		b.wantSent("do you want to proceed")
	})
}

// A program without an input box that shows the text, but nothing of its Enter.
func TestEntersThatChangeNothing(t *testing.T) {
	p := &boxed{pane: &pane{}, deaf: true}
	withPane(t, p.pane, p, nil, func(b *bed) {
		r, err := b.input("hello", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(time.Minute)
		if r, err = b.manager.Receipt(b.Context(), r.ID); err != nil || r.State != sessions.ReceiptFailed || strings.Contains(r.Reason, "input box") || !strings.Contains(r.Reason, "two Enters") || p.enters != 2 {
			b.Errorf("%+v, %v, with %d Enters", r, err, p.enters)
		}
	})
}

// halfDrawn is how long a screen shows neither a dialog nor the box, and then both in part.
const halfDrawn = 200 * time.Millisecond

// covered is a pane whose program asks something with the first Enter.
type covered struct {
	*boxed
	takes bool // the Enter submits the text, too
	old   bool // what stood in the box is still there, though the box isn't
}

func (p *covered) Snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error) {
	s, err := p.boxed.Snapshot(ctx, pane, w)
	p.do(func() {
		if p.old {
			s.Rows = append(s.Rows, "| look at README")
		}
	})
	return s, err
}

func (p *covered) Press(ctx context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	first := p.enters == 0
	if first {
		p.do(func() { p.deaf = !p.takes })
	}
	out, err := p.boxed.Press(ctx, g, keys...)
	if first {
		p.do(func() { p.hidden, p.deaf = true, false })
		time.AfterFunc(halfDrawn, func() {
			p.do(func() { p.sent, p.old = append(p.sent, "do you want to proceed"), true })
		})
		time.AfterFunc(2*halfDrawn, func() { p.do(func() { p.old = false }) })
	}
	return out, err
}

// A dialog that comes with an Enter hides whether the text was submitted: that shows when
// the dialog has closed, or where the text stands among what was said.
func TestADialogHidesWhatBecameOfAText(t *testing.T) {
	for _, takes := range []bool{false, true} {
		t.Run("submitted at once "+strconv.FormatBool(takes), func(t *testing.T) {
			p := &covered{boxed: &boxed{pane: &pane{}}, takes: takes}
			withPane(t, p.pane, p, p.options, func(b *bed) {
				r, err := b.input("look at README", "")
				if err != nil {
					b.Fatal(err)
				}
				b.pass(time.Minute)
				if takes {
					b.wantReceipt(r.ID, "submitted")
				} else {
					b.wantReceipt(r.ID, "typed: a dialog has opened")
				}
				p.do(func() {
					for i, row := range p.sent {
						if row == "do you want to proceed" {
							p.sent = append(p.sent[:i:i], p.sent[i+1:]...)
							break
						}
					}
				})
				b.pass(halfDrawn)
				p.do(func() { p.hidden = false })
				b.pass(10 * time.Second)
				b.wantReceipt(r.ID, "submitted")
				b.wantSent("look at README")
				if want := map[bool]int{false: 2, true: 1}[takes]; p.enters != want {
					b.Errorf("%d Enters, want %d", p.enters, want)
				}
			})
		})
	}
}

// A text that a program refuses stands in its box until somebody takes it away. If that's
// done while it's still waited for Enter's effect, nobody knows that it was submitted.
func TestATextThatIsTakenAwayIsNotCalledSubmitted(t *testing.T) {
	for range 20 {
		withDeaf(t, func(b *bed, tell func(sessions.Asked)) {
			taken, _ := b.input("this is the first", "")
			b.pass(3 * time.Second)
			tell(sessions.Asked{Text: "this is the first", At: time.Now()})
			b.pass(time.Minute)
			b.wantReceipt(taken.ID, "submitted")
			b.pane.clear()
			b.pass(10 * time.Minute)
			r, _ := b.input("list the files of this folder", "")
			b.pass(7*time.Second + time.Duration(rand.Int64N(int64(22*time.Second))))
			b.pane.clear()
			b.pass(time.Minute)
			b.wantReceipt(r.ID, "submitted: unverified: the text has left the input box, but long after")
		})
	}
}

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

// Nor is what stands in its place, if it's a part of it: a letter that somebody begins to write with, say.
func TestAPartInThePlaceOfATextIsNotSubmitted(t *testing.T) {
	const text = "look at README"
	drawtest.Check(t, func(rt *rapid.T) {
		from := rapid.IntRange(0, len(text)-1).Draw(rt, "from")
		part := strings.TrimSpace(text[from:rapid.IntRange(from+1, min(len(text), from+len(text)-1)).Draw(rt, "to")])
		entered := rapid.Bool().Draw(rt, "behind an Enter that did nothing")
		wait := time.Duration(rapid.IntRange(60, 400).Draw(rt, "milliseconds")) * time.Millisecond
		if entered {
			wait += time.Second
		}
		if part == "" {
			return
		}
		p := &boxed{pane: &pane{}, deaf: entered}
		withPane(t, p.pane, p, p.options, func(b *bed) {
			r, err := b.input(text, "")
			if err != nil {
				b.Fatal(err)
			}
			b.pass(wait)
			enters := p.enters
			p.do(func() { p.box, p.deaf = part, false })
			b.pass(time.Minute)
			b.wantReceipt(r.ID, "failed: it was typed, but is no longer in the session's input box")
			if b.wantSent(); p.enters != enters {
				rt.Errorf("%q was submitted in the place of the text", part)
			}
		})
	})
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

// insistent is a pane whose program asks something time after time once a text stands in its box, each time until
// it was looked at often enough. As the last question goes, the text has gone with it.
type insistent struct {
	*boxed

	times  int  // questions that are to come
	apart  int  // looks between them
	stays  int  // looks at each
	quoted bool // its words stay on the screen
	looks  int  // at what's there now
	empty  bool // Enter was pressed on the empty box
}

const asks = "do you want to proceed"

func (p *insistent) Snapshot(ctx context.Context, pane string, w sessions.RowWindow) (sessions.Snapshot, error) {
	p.do(func() {
		if p.looks++; p.times > 0 && p.box != "" && !p.hidden && p.looks > p.apart {
			p.sent, p.hidden, p.looks = []string{asks}, true, 1
		}
	})
	s, err := p.boxed.Snapshot(ctx, pane, w)
	p.do(func() {
		if !p.hidden || p.looks < p.stays {
			return
		}
		p.hidden, p.looks = false, 0
		if !p.quoted {
			p.sent = nil
		}
		if p.times--; p.times == 0 {
			p.box = ""
		}
	})
	return s, err
}

func (p *insistent) Press(ctx context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	var empty bool
	p.do(func() { empty = p.box == "" })
	out, err := p.boxed.Press(ctx, g, keys...)
	if out == sessions.Done && slices.Contains(keys, "Enter") {
		p.do(func() { p.empty = p.empty || empty })
	}
	return out, err
}

// Nor is there whenever the dialog goes: between a look and the Enter, too, on a screen that never stands still.
func TestADialogGoesBetweenALookAndEnter(t *testing.T) {
	drawtest.Check(t, func(rt *rapid.T) {
		p := &insistent{
			boxed:  &boxed{pane: &pane{}},
			times:  rapid.IntRange(1, 80).Draw(rt, "questions"),
			apart:  rapid.IntRange(0, 3).Draw(rt, "looks between them"),
			stays:  rapid.SampledFrom([]int{1, 1, 2, 30}).Draw(rt, "looks at each"),
			quoted: rapid.Bool().Draw(rt, "its words stay"),
		}
		if rapid.Bool().Draw(rt, "the cursor stands still") {
			p.cursor = 5
		}
		withPane(t, p.pane, p, p.options, func(b *bed) {
			r, err := b.input("look at README", "")
			if err != nil {
				b.Fatal(err)
			}
			b.pass(30 * time.Minute)
			got, err := b.manager.Receipt(b.Context(), r.ID)
			switch {
			case err != nil:
				rt.Error(err)
			case p.empty:
				rt.Errorf("Enter was pressed on an empty box; %+v", got)
			case p.times == 0 && (got.State == sessions.ReceiptSubmitted) != (p.enters > 0):
				rt.Errorf("after %d Enters: %+v", p.enters, got)
			}
		})
	})
}
