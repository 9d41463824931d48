package sessions_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/sessions"
	"github.com/panebridge/panebridge/sessions/sessionstest"
)

// quoting is a pane with a program of which nothing is known: what's typed stands behind
// its prompt, on the row below what was printed. A dialog may open anywhere on the
// screen; then Enter, or a text, answers it.
type quoting struct {
	*pane
	printed   []string
	over      []string // all of the screen is a program's; nil: it isn't
	below     []string // drawn below the prompt, the cursor stays
	alternate bool
	dialog    bool  // one is open, whatever can be seen of it
	activity  int64 // second of the last output
	approved  []string
	before    func() // is done once, between a look and what's typed
	known     bool   // the dialog can be read
	clock     bool   // something is drawn all the time
	inputs    int    // that were written
}

const quotedPhrase = "do you want to proceed"

func (p *quoting) options(o *options) {
	o.Hands.Phrases, o.Hands.Dialogs = []string{quotedPhrase, "press enter to continue"}, readsIf{p}
	o.Hands.Dialog = func(rows []string) string {
		for _, phrase := range o.Hands.Phrases {
			if strings.Contains(strings.ToLower(strings.Join(rows, "\n")), phrase) {
				return phrase
			}
		}
		return ""
	}
}

// readsIf reads a dialog that can be.
type readsIf struct{ p *quoting }

func (r readsIf) Read(sessions.ID, *sessions.Snapshot, *sessions.Screen) *sessions.Dialog {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if r.p.known && r.p.dialog {
		return &sessions.Dialog{Print: "d"}
	}
	return nil
}

func (r readsIf) Next(sessions.ID, *sessions.Dialog, sessions.Answer) (sessions.DialogStep, error) {
	return sessions.DialogStep{}, sessions.ErrInvalid
}

const quotingHeight = 12

// snapshot is the screen; p.mu is held.
func (p *quoting) snapshot() sessions.Snapshot {
	s := sessions.Snapshot{Server: run, Pane: "%1", Width: 80, Height: quotingHeight, Alternate: p.alternate, Activity: p.activity, PID: 1}
	if p.clock {
		s.Activity = time.Now().Unix()
	}
	rows := append(slices.Clone(p.printed), "$ "+p.box)
	s.CursorX = 2 + len(p.box)
	if p.over != nil {
		rows, s.CursorX = slices.Clone(p.over), 0
	}
	s.CursorY = len(rows) - 1
	rows = append(rows, p.below...)
	if n := len(rows) - quotingHeight; n > 0 {
		rows = rows[n:]
		s.HistorySize, s.CursorY = n, s.CursorY-n
	}
	s.Rows = append(rows, make([]string, quotingHeight-len(rows))...)
	return s
}

func (p *quoting) Snapshot(context.Context, string, sessions.RowWindow) (sessions.Snapshot, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.snapshot(), nil
}

// draw changes the screen, as a program does.
func (p *quoting) draw(change func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change()
	p.activity = time.Now().Unix()
}

// keeps does as tmux does with a guard; p.mu is held.
func (p *quoting) keeps(g sessions.PaneGuard) sessions.GuardOutcome {
	if f := p.before; f != nil && g.Saw != nil {
		p.before = nil
		f()
		p.activity = time.Now().Unix()
	}
	s := p.snapshot()
	return sessionstest.Check(g, &s)
}

func (p *quoting) Paste(_ context.Context, g sessions.PaneGuard, text string) (sessions.GuardOutcome, error) {
	return p.typed(g, "text "+text, func() { p.box += text })
}

func (p *quoting) Press(_ context.Context, g sessions.PaneGuard, keys ...string) (sessions.GuardOutcome, error) {
	return p.typed(g, "key "+keys[0], func() {
		p.sent = append(p.sent, p.box)
		p.printed, p.box = append(p.printed, "$ "+p.box), ""
	})
}

func (p *quoting) typed(g sessions.PaneGuard, what string, do func()) (sessions.GuardOutcome, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if out := p.keeps(g); out != sessions.Done {
		return out, nil
	}
	if p.dialog {
		p.approved = append(p.approved, what)
		return sessions.Done, nil
	}
	do()
	p.activity = time.Now().Unix()
	return sessions.Done, nil
}

// withQuoted has a text held by a phrase that somebody printed, until it can be sent
// anyway.
func withQuoted(t *testing.T, text string, test func(b *bed, p *quoting, r sessions.Receipt)) {
	t.Helper()
	p := &quoting{pane: &pane{}, printed: []string{"$ cat notes", "it said: Do you want to proceed?"}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		b.pass(10 * time.Second)
		r, err := b.input(text, "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(5 * time.Second)
		if r = b.receipt(r.ID); r.State != sessions.ReceiptHeld || r.Quoted == "" || !strings.Contains(r.Reason, quotedPhrase) {
			b.Fatalf("%+v; want it held, and that it can be sent anyway", r)
		}
		b.wantSent()
		test(b, p, r)
		p.mu.Lock()
		defer p.mu.Unlock()
		if len(p.approved) > 0 {
			b.Errorf("a dialog took %q", p.approved)
		}
	})
}

func (b *bed) receipt(id string) sessions.Receipt {
	b.Helper()
	r, err := b.manager.Receipt(b.Context(), id)
	if err != nil {
		b.Fatal(err)
	}
	return r
}

func (b *bed) anyway(r sessions.Receipt) error {
	_, err := b.manager.SendAnyway(b.Context(), r.ID, r.Quoted, "ann")
	return err
}

// A text that a quoted phrase holds is sent when somebody says so, also one that has the
// phrase itself, and on a screen that scrolls.
func TestSentAnyway(t *testing.T) {
	for _, text := range []string{"ls", "echo do you want to proceed", "one\ntwo", ""} {
		withQuoted(t, text, func(b *bed, p *quoting, r sessions.Receipt) {
			if err := b.anyway(r); err != nil {
				b.Fatal(err)
			}
			b.pass(10 * time.Second)
			b.wantSent(text)
			r = b.receipt(r.ID)
			if r.State != sessions.ReceiptSubmitted || r.Anyway != "ann" || r.Quoted != "" {
				b.Errorf("%+v", r)
			}
			if kept, err := b.store.Receipt(b.Context(), r.ID); err != nil || kept.Anyway != "ann" {
				b.Errorf("kept is %+v, %v", kept, err)
			}
			if err := b.anyway(sessions.Receipt{ID: r.ID, Quoted: "0123456789abcdef"}); !errors.Is(err, sessions.ErrConflict) {
				b.Errorf("sent again: %v", err)
			}
			b.wantSent(text)
		})
	}
}

// A go-ahead is for the screen that was looked at, and for one text.
func TestSentAnywayOnAnotherScreen(t *testing.T) {
	withQuoted(t, "ls", func(b *bed, p *quoting, r sessions.Receipt) {
		p.draw(func() { p.printed = append(p.printed, "1. Yes") })
		if err := b.anyway(r); !errors.Is(err, sessions.ErrConflict) || !strings.Contains(err.Error(), "screen") {
			b.Errorf("on a screen that has changed: %v", err)
		}
		b.pass(5 * time.Second)
		b.wantSent()
		now := b.receipt(r.ID)
		if now.Quoted == "" || now.Quoted == r.Quoted {
			b.Errorf("%+v, want another screen than %s", now, r.Quoted)
		}
		if err := b.anyway(r); !errors.Is(err, sessions.ErrConflict) {
			b.Errorf("by the screen before: %v", err)
		}
		if err := b.anyway(sessions.Receipt{ID: r.ID}); !errors.Is(err, sessions.ErrInvalid) {
			b.Errorf("without a screen: %v", err)
		}
		second, err := b.input("behind it", "")
		if err != nil {
			b.Fatal(err)
		}
		if err := b.anyway(sessions.Receipt{ID: second.ID, Quoted: now.Quoted}); !errors.Is(err, sessions.ErrConflict) {
			b.Errorf("one that waits behind it: %v", err)
		}
		var all sync.WaitGroup
		var mu sync.Mutex
		counted := 0
		for range 10 {
			all.Go(func() {
				if err := b.anyway(now); err == nil {
					mu.Lock()
					defer mu.Unlock()
					counted++
				} else if !errors.Is(err, sessions.ErrConflict) {
					b.Error(err)
				}
			})
		}
		all.Wait()
		if counted != 1 {
			b.Errorf("%d of ten at a time counted, want one", counted)
		}
		b.pass(5 * time.Second)
		b.wantSent("ls") // the second waits: the words are still there
	})
}

// It isn't offered where a dialog is recognised, where the screen doesn't stand still, or
// where the program's box is known.
func TestNotToBeSentAnyway(t *testing.T) {
	for name, begin := range map[string]func(p *quoting, o *options){
		"a dialog": func(p *quoting, _ *options) { p.known, p.dialog = true, true },
		"restless": func(p *quoting, _ *options) { p.clock = true },
		"a box that's away": func(_ *quoting, o *options) {
			o.Hands.Box = func(sessions.ID, *sessions.Snapshot) sessions.InputBox { return sessions.InputBox{Known: true} }
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := &quoting{pane: &pane{}, printed: []string{"Do you want to proceed?"}}
			withPane(t, p.pane, p, func(o *options) { p.options(o); begin(p, o) }, func(b *bed) {
				r, err := b.input("ls", "")
				if err != nil {
					b.Fatal(err)
				}
				b.pass(time.Minute)
				if r = b.receipt(r.ID); r.State != sessions.ReceiptHeld || r.Quoted != "" {
					b.Errorf("%+v", r)
				}
				r.Quoted = "0123456789abcdef"
				if err := b.anyway(r); !errors.Is(err, sessions.ErrConflict) {
					b.Errorf("sent anyway: %v", err)
				}
				b.wantSent()
			})
		})
	}
}

// A dialog that opens after the look is answered by nothing, wherever it's drawn: also
// with the same words, where nothing stood, and with the cursor where it was.
func TestADialogThatOpensAfterTheLook(t *testing.T) {
	same := []string{"Do you want to proceed?", "  1. Yes"}
	for name, open := range map[string]func(p *quoting){
		"below, the cursor stays": func(p *quoting) { p.dialog, p.below = true, same },
		"over all of it":          func(p *quoting) { p.dialog, p.over = true, append(make([]string, 1), same...) },
		"in the quote's place": func(p *quoting) {
			p.dialog, p.alternate, p.over = true, true, []string{"$ cat notes", "it said: Do you want to proceed?", "$ "}
		},
		"other words": func(p *quoting) { p.dialog, p.below = true, []string{"Press Enter to continue"} },
	} {
		t.Run("before the text: "+name, func(t *testing.T) {
			withQuoted(t, "ls", func(b *bed, p *quoting, r sessions.Receipt) {
				p.mu.Lock()
				p.before = func() { open(p) }
				p.mu.Unlock()
				if err := b.anyway(r); !errors.Is(err, sessions.ErrConflict) {
					b.Errorf("sent anyway: %v", err)
				}
				b.pass(time.Minute)
				b.wantSent()
			})
		})
		t.Run("before Enter: "+name, func(t *testing.T) {
			withQuoted(t, "ls", func(b *bed, p *quoting, r sessions.Receipt) {
				if err := b.anyway(r); err != nil {
					b.Error(err)
				}
				b.pass(100 * time.Millisecond)
				p.draw(func() { open(p) })
				b.pass(time.Minute)
				b.wantSent()
				if now := b.receipt(r.ID); now.State != sessions.ReceiptTyped || now.Reason == "" {
					b.Errorf("%+v, want it to wait for Enter", now)
				}
				p.draw(func() { p.dialog, p.alternate, p.over, p.below = false, false, nil, nil })
				b.pass(10 * time.Second)
				b.wantSent("ls")
			})
		})
		t.Run("at Enter: "+name, func(t *testing.T) {
			withQuoted(t, "ls", func(b *bed, p *quoting, r sessions.Receipt) {
				if err := b.anyway(r); err != nil {
					b.Error(err)
				}
				p.mu.Lock()
				p.before = func() { open(p) }
				p.mu.Unlock()
				b.pass(time.Minute)
				b.wantSent()
			})
		})
	}
}

// An Enter that words hold which came behind the text is pressed when somebody says so.
func TestEnterAnyway(t *testing.T) {
	p := &quoting{pane: &pane{}}
	withPane(t, p.pane, p, p.options, func(b *bed) {
		r, err := b.input("ls", "")
		if err != nil {
			b.Fatal(err)
		}
		b.pass(200 * time.Millisecond)
		p.draw(func() { p.printed = []string{"some job says: press Enter to continue"} })
		b.pass(10 * time.Second)
		if r = b.receipt(r.ID); r.State != sessions.ReceiptTyped || r.Quoted == "" || r.Anyway != "" {
			b.Fatalf("%+v", r)
		}
		if err := b.anyway(r); err != nil {
			b.Fatal(err)
		}
		b.pass(5 * time.Second)
		b.wantSent("ls")
		if r = b.receipt(r.ID); r.State != sessions.ReceiptSubmitted || r.Anyway != "ann" {
			b.Errorf("%+v", r)
		}
	})
}

// What can't be stored isn't done, and the input can be taken back, or the session end,
// while somebody says so.
func TestSentAnywayAndOtherwise(t *testing.T) {
	withQuoted(t, "ls", func(b *bed, p *quoting, r sessions.Receipt) {
		b.store.set(func(r sessions.Receipt) bool { return r.State == sessions.ReceiptTyping })
		if err := b.anyway(r); !errors.Is(err, sessions.ErrUnavailable) {
			b.Errorf("on a full disk: %v", err)
		}
		b.store.set(nil)
		b.pass(5 * time.Second)
		b.wantSent()
		if r = b.receipt(r.ID); r.Quoted == "" || r.Anyway != "" {
			b.Fatalf("%+v", r)
		}
		if _, err := b.manager.Cancel(b.Context(), r.ID); err != nil {
			b.Fatal(err)
		}
		if now := b.receipt(r.ID); now.Quoted != "" {
			b.Errorf("%+v", now)
		}
		if err := b.anyway(r); !errors.Is(err, sessions.ErrConflict) {
			b.Errorf("of one that was taken back: %v", err)
		}
		b.pass(time.Minute)
		b.wantSent()
	})
}

// happening is one thing that happens at a quoting pane, and how long it takes until the
// next does.
type happening struct {
	what  int
	rows  []string
	after time.Duration
}

func happenings() *rapid.Generator[happening] {
	rows := []string{"output", "Do you want to proceed?", "it said: Do you want to proceed?", "  1. Yes", "press Enter to continue", ""}
	return rapid.Custom(func(t *rapid.T) happening {
		return happening{
			what:  rapid.SampledFrom([]int{0, 2, 3, 4, 5, 5, 6, 7, 7, 7}).Draw(t, "what"),
			rows:  rapid.SliceOfN(rapid.SampledFrom(rows), 1, 3).Draw(t, "rows"),
			after: time.Duration(rapid.SampledFrom([]int{10, 200, 700, 4000, 4000}).Draw(t, "ms")) * time.Millisecond,
		}
	})
}

// write has another text written.
func (p *quoting) write(b *bed) {
	p.inputs++
	if _, err := b.input(fmt.Sprint("text ", p.inputs), ""); err != nil {
		b.Error(err)
	}
}

// do has it happen.
func (h happening) do(b *bed, p *quoting) {
	switch h.what {
	case 0:
		p.write(b)
	case 2:
		p.draw(func() { p.printed = append(p.printed, h.rows...) })
	case 3:
		p.draw(func() { p.dialog, p.below = true, append(h.rows, "Do you want to proceed?") })
	case 4:
		p.mu.Lock()
		p.before = func() { p.dialog, p.below = true, append(h.rows, "Do you want to proceed?") }
		p.mu.Unlock()
	case 6:
		p.draw(func() { p.dialog, p.over = true, append(h.rows, "Do you want to proceed?") })
	case 5:
		p.draw(func() { p.dialog, p.over, p.below = false, nil, nil })
	default:
		for _, r := range b.manager.Waiting(b.id) {
			p.mu.Lock()
			open := p.dialog // then it's what the person wants
			p.mu.Unlock()
			if r.Quoted != "" && !open {
				_ = b.anyway(r)
			}
		}
	}
	b.pass(h.after)
}

// Whatever is printed, and whenever dialogs open and close: none is answered by a text
// that somebody sends anyway, and each text is submitted once at most.
func TestSentAnywayAtRandom(t *testing.T) {
	length := 25
	if drawtest.Stressed() {
		length = 300
	}
	sent, anyway := 0, 0
	drawtest.Check(t, func(rt *rapid.T) {
		all := rapid.SliceOfN(happenings(), length/2, length).Draw(rt, "happenings")
		p := &quoting{pane: &pane{}, printed: []string{"Do you want to proceed?"}}
		withPane(t, p.pane, p, p.options, func(b *bed) {
			for _, h := range all {
				if len(b.manager.Waiting(b.id)) == 0 {
					p.write(b)
				}
				h.do(b, p)
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			for _, told := range b.told {
				if strings.HasSuffix(told, " anyway") {
					anyway++
				}
			}
		})
		seen := map[string]bool{}
		for _, text := range p.sent {
			if seen[text] {
				rt.Fatalf("%q was submitted twice", text)
			}
			seen[text] = true
		}
		if sent += len(p.sent); len(p.approved) > 0 {
			rt.Fatalf("a dialog took %q", p.approved)
		}
	})
	t.Logf("%d texts were submitted, and %d times one was sent anyway", sent, anyway)
	if anyway == 0 {
		t.Error("none was sent anyway")
	}
}
