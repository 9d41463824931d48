package sessions_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

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
