package redact_test

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/panebridge/panebridge/internal/drawtest"
	"github.com/panebridge/panebridge/internal/redact"
	"github.com/panebridge/panebridge/internal/redact/redacttest"
)

func newMasker(tb testing.TB, opt redact.Options) *redact.Masker {
	tb.Helper()
	m, err := redact.New(opt)
	if err != nil {
		tb.Fatal(err)
	}
	return m
}

// Secrets of all kinds in the output of agents, wrapped at the width of a terminal or
// split over two updates: of none does more than a third leave.
func TestStreams(t *testing.T) {
	n := drawtest.Times(1000, 150, 80)
	m := newMasker(t, redact.Options{})
	all := redacttest.Kinds()
	t.Logf("%d kinds", len(all))
	leaks := 0
	for i := range n {
		g := garden{redacttest.New(uint64(i))}
		p := all[i%len(all)].Make(g.Garden)
		log := g.stream(p)
		v := &viewer{m: m, Garden: g.Garden}
		v.follow(log)
		if share, what := leaked(p.Secret, v.seen); share > 1.0/3 {
			leaks++
			t.Errorf("%d: %s: %.0f %% of %q leak, such as %q", i, p.Kind, 100*share, p.Text, what)
		}
	}
	t.Logf("%d secrets, %d leaks", n, leaks)
}

// arrival is a line of a log and when it came.
type arrival struct {
	text string
	at   time.Duration
}

// garden plants secrets in streams.
type garden struct{ redacttest.Garden }

// stream is the log of a session that shows a secret: its lines as they were wrapped
// and as updates brought them.
func (g garden) stream(p redacttest.Planted) []arrival {
	var lines []string
	for range g.Between(0, 60) {
		lines = append(lines, g.Noise())
	}
	width, indent, frame := 0, "", false
	switch g.IntN(4) {
	case 0: // whole
	case 1: // by the terminal
		width = g.Between(20, 120)
	case 2: // by a program
		width, indent = g.Between(30, 120), strings.Repeat(" ", g.Between(1, 6))
	case 3:
		width, frame = g.Between(30, 120), true
	}
	split := g.IntN(2) == 0
	for _, l := range append(strings.Split(p.Text, "\n"), g.Noise(), g.Noise()) {
		if split && len(l) > 3 { // over two updates
			at := runeBefore(l, g.Between(1, len(l)-1))
			lines = append(lines, wrap(l[:at], width, indent, frame)...)
			l = l[at:]
			if len(strings.Split(p.Text, "\n")) > 1 {
				split = g.IntN(8) == 0
			}
		}
		lines = append(lines, wrap(l, width, indent, frame)...)
	}
	for range g.Between(0, 20) {
		lines = append(lines, g.Noise())
	}
	var out []arrival
	at := time.Duration(0)
	for _, l := range lines {
		if g.IntN(3) == 0 {
			at += time.Duration(g.IntN(3000)) * time.Millisecond
		}
		out = append(out, arrival{l, at})
	}
	return out
}

func runeBefore(s string, at int) int {
	for at > 0 && !utf8.RuneStart(s[at]) {
		at--
	}
	return at
}

func wrap(l string, width int, indent string, frame bool) []string {
	if width == 0 {
		return []string{l}
	}
	var out []string
	r := []rune(l)
	room := width
	if frame {
		room -= 4
	}
	for first := true; first || len(r) > 0; first = false {
		n := room
		begin := ""
		if !first {
			begin = indent
			n -= len(indent)
		}
		n = min(n, len(r))
		row := begin + string(r[:n])
		r = r[n:]
		if frame {
			row = "│ " + row + strings.Repeat(" ", room-len([]rune(row))) + " │"
		}
		out = append(out, row)
	}
	return out
}

// viewer shows a log as a chat does, and remembers all it has shown.
type viewer struct {
	redacttest.Garden
	m    *redact.Masker
	seen map[string]bool
}

func (v *viewer) follow(log []arrival) {
	v.seen = map[string]bool{}
	text := make([]string, len(log))
	for i, a := range log {
		text[i] = a.text
	}
	for known := 1; known <= len(log); known++ {
		if known < len(log) && log[known].at == log[known-1].at {
			continue // the same update
		}
		// At once, and when the next one comes or 2 s are over.
		v.render(text[:known], false)
		if known < len(log) && log[known].at-log[known-1].at >= 2*time.Second {
			v.render(text[:known], true)
		}
	}
	v.render(text, true)
}

// render shows a range of the lines, a screen, and all of them as a file. patient says
// that lines have waited for long enough.
func (v *viewer) render(lines []string, patient bool) {
	from := v.IntN(len(lines))
	if v.IntN(2) == 0 {
		from = max(0, len(lines)-5)
	}
	end := v.Between(from+1, len(lines))
	got := v.m.Lines(redact.LineWindow{Before: lines[max(0, from-redact.Before):from], Lines: lines[from:end], After: lines[end:min(len(lines), end+redact.After)], Open: true})
	show := got.Lines
	if !patient {
		show = show[:got.Wait]
	}
	v.show(show)
	top := max(0, len(lines)-24)
	rows := make([]string, 0, 24)
	for _, l := range lines[top:] {
		if n := len(l); n > 8 {
			at := runeBefore(l, v.IntN(n))
			l = l[:at] + "\x1b[1;31m" + l[at:] + "\x1b[0m"
		}
		rows = append(rows, l)
	}
	rows = v.m.Rows(lines[max(0, top-redact.Before):top], rows)
	for i, r := range rows {
		rows[i] = strings.NewReplacer("\x1b[1;31m", "", "\x1b[0m", "").Replace(r)
	}
	v.show(rows)
	v.show(strings.Split(v.m.Line(strings.Join(lines, "\n")), "\n"))
}

func (v *viewer) show(lines []string) {
	for _, l := range lines {
		v.seen[l] = true
	}
}

// gram is how many characters in a row of a secret are a part of it that leaks.
const gram = 5

// leaked returns which share of a secret stands in texts, and some of that.
func leaked(secret string, texts map[string]bool) (float64, string) {
	at := map[string][]int{}
	for i := range len(secret) - gram + 1 {
		at[secret[i:i+gram]] = append(at[secret[i:i+gram]], i)
	}
	seen := make([]bool, len(secret))
	what := ""
	for l := range texts {
		for i := 0; i+gram <= len(l); i++ {
			for _, p := range at[l[i:i+gram]] {
				what = l
				for k := range gram {
					seen[p+k] = true
				}
			}
		}
	}
	n := 0
	for _, s := range seen {
		if s {
			n++
		}
	}
	return float64(n) / float64(len(secret)), fmt.Sprint(what)
}
