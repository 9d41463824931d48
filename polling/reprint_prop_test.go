package polling

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// redrawer is a program that draws paragraphs, which it wraps itself, with a box
// for input below them. The poller looks at it at chosen moments only.
type redrawer struct {
	t     *terminal
	f     follower
	texts []string // the paragraphs printed so far
	out   string   // what the program has written and the terminal hasn't worked in
}

func newRedrawer(width, height int) *redrawer {
	r := &redrawer{t: newTerminal(width, height, 10_000)}
	r.f = follower{engine: NewEngine(PlainProfile{}, nil, true), maxRows: 5000, depth: minDepth, now: time.Unix(1_000_000, 0)}
	r.print("\x1b[?25l")
	return r
}

// look is a poll some time after the last one.
func (r *redrawer) look(later time.Duration) {
	r.f.now = r.f.now.Add(later)
	r.f.poll(r.t, func() {})
}

// rest lets an hour go by, in which nothing is printed: the poller looks only as
// long as the engine wants it to.
func (r *redrawer) rest() {
	r.look(time.Second)
	for range 30 {
		if !r.f.again {
			break
		}
		r.look(time.Second)
	}
	r.f.now = r.f.now.Add(time.Hour)
}

// print writes all at once.
func (r *redrawer) print(out string) {
	r.out += out
	r.work(len(r.out))
}

// work lets the terminal work n bytes in.
func (r *redrawer) work(n int) { r.out = r.t.put(r.out, n) }

// paragraphs are the texts from number from on, wrapped by the program, and the
// box.
func (r *redrawer) paragraphs(from int) string {
	var b strings.Builder
	for _, text := range r.texts[from:] {
		row := ""
		for w := range strings.FieldsSeq(text) {
			if row != "" && len(row)+1+len(w) > r.t.width-2 {
				b.WriteString(row + "\n")
				row = " "
			}
			row += " " + w
		}
		b.WriteString(row + "\n\n")
	}
	return b.String() + "\n" + strings.Repeat("=", r.t.width) + "\n> input"
}

// eraseBox makes room for more where the box is.
const eraseBox = "\x1b[2K\x1b[A\x1b[2K\x1b[A\x1b[2K\r"

// add prints more paragraphs.
func (r *redrawer) add(texts ...string) {
	erase := eraseBox
	if len(r.texts) == 0 {
		erase = ""
	}
	r.texts = append(r.texts, texts...)
	r.out += erase + r.paragraphs(len(r.texts)-len(texts))
}

// ways are what programs do to print everything again.
var ways = map[string]string{
	"cleared":        "\x1b[2J\x1b[3J\x1b[H",
	"screen cleared": "\x1b[2J\x1b[H",
	"box erased":     eraseBox,
	"nothing erased": "",
}

// again prints everything again.
func (r *redrawer) again(way string) { r.out += ways[way] + r.paragraphs(0) }

// end ends the program and returns what's wrong with the words that came.
func (r *redrawer) end() string {
	r.print("\x1b[?25h\n")
	r.t.dead = true
	r.look(time.Second)
	var got, want []string
	for _, l := range r.f.lines {
		got = append(got, wordsOf(l)...)
	}
	got = slices.DeleteFunc(got, func(w string) bool { return w == "input" })
	for _, text := range r.texts {
		want = append(want, wordsOf(text)...)
	}
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("%q comes where %q should, behind %q", got[i], want[i], got[max(0, i-5):i])
		}
	}
	if len(got) != len(want) {
		return fmt.Sprintf("%d words, want %d", len(got), len(want))
	}
	for _, g := range r.f.gaps {
		if g.AtLeast > 0 {
			return fmt.Sprintf("gap %v", g)
		}
	}
	return ""
}

// text is a paragraph of n words that stands nowhere else.
func text(i, n int) string {
	words := []string{fmt.Sprint("paragraph-", i)}
	for j := 1; j < n; j++ {
		words = append(words, fmt.Sprintf("w%dx%d", i, (j*j+i*7)%97))
	}
	return strings.Join(words, " ")
}

func series(n, words int) (texts []string) {
	for i := range n {
		texts = append(texts, text(i, words))
	}
	return texts
}

// A program prints everything again after a change of width. Whenever the
// poller looks, between, amid or behind it, each word comes once.
func TestLooksAroundAReprint(t *testing.T) {
	const moments = 5 // before the resize, behind it, and in the reprint
	for way := range ways {
		for looks := range 1 << moments {
			t.Run(fmt.Sprintf("%s/%0*b", way, moments, looks), func(t *testing.T) {
				r := newRedrawer(100, 20)
				moment := 0
				look := func() {
					if looks>>moment&1 == 1 {
						r.look(100 * time.Millisecond)
					}
					moment++
				}
				r.add(series(6, 26)...)
				r.print("")
				r.look(time.Second) // or nothing was ever seen of it
				r.add(series(12, 26)[6:]...)
				r.print("")
				look()
				r.t.resize(70, 20)
				look()
				r.again(way)
				n := len(r.out)
				r.work(n / 3)
				look()
				r.work(n / 3)
				look()
				r.print("")
				look()
				if bad := r.end(); bad != "" {
					t.Errorf("%s\n%s", bad, strings.Join(r.f.lines, "\n"))
				}
			})
		}
	}
}

// A pane that gets higher takes rows back from history, and the program draws
// over them instead: what's new there comes.
func TestNewTextOverReturnedRows(t *testing.T) {
	r := newRedrawer(40, 6)
	r.add(text(0, 60))
	r.print("")
	r.look(time.Second)
	r.t.resize(40, 18)
	r.look(time.Second)
	r.add(text(1, 12))
	r.out = ways["cleared"] + r.paragraphs(1)
	r.print("")
	r.look(time.Second)
	r.end()
	if got := strings.Join(wordsOf(strings.Join(r.f.lines, " ")), " "); strings.Count(got, text(1, 12)) != 1 {
		t.Errorf("%q isn't there once in\n%s", text(1, 12), strings.Join(r.f.lines, "\n"))
	}
}

// Text that's printed again in a higher pane, and once more when that's as low as before, comes
// once: the copy of a moment doesn't stand for the first one.
func TestAReprintThatIsGoneAgain(t *testing.T) {
	for first := range ways {
		for second := range ways {
			for height := 7; height < 14; height++ {
				r := newRedrawer(76, 6)
				r.add(text(0, 12))
				r.print("")
				r.look(time.Second)
				r.t.resize(76, height)
				r.again(first)
				r.print("")
				r.rest()
				r.add(text(1, 4))
				r.print("")
				r.look(time.Second)
				r.t.resize(76, 6)
				r.again(second)
				r.print("")
				r.rest()
				if bad := r.end(); bad != "" {
					t.Errorf("%q, %d rows, %q: %s\n%s", first, height, second, bad, strings.Join(r.f.lines, "\n"))
				}
			}
		}
	}
}

// Random texts, sizes, ways of printing again and moments to look. Each word
// comes once, in order. Paragraphs have four words or more, the first has twelve:
// fewer can't be recognised.
func TestReprintsAreRecognised(t *testing.T) {
	rounds := 1 // of rapid's checks
	if drawtest.Stressed() {
		rounds = 10
	}
	for range rounds {
		drawtest.Check(t, randomReprints)
	}
}

func randomReprints(t *rapid.T) {
	draw := func(what string, from, to int) int { return rapid.IntRange(from, to).Draw(t, what) }
	r := newRedrawer(draw("width", 40, 120), draw("height", 6, 40))
	work := func() {
		for range draw("looks", 0, 4) {
			r.work(draw("bytes", 0, len(r.out)))
			r.look(time.Duration(draw("ms", 10, 300)) * time.Millisecond)
		}
		r.print("")
	}
	resize := func() {
		width, height := r.t.width, r.t.height
		for width == r.t.width && height == r.t.height {
			height = draw("new height", 6, 40)
			if draw("change width", 0, 5) > 0 {
				width = draw("new width", 40, 120)
			}
		}
		r.t.resize(width, height)
	}
	add := func() {
		var texts []string
		for range draw("paragraphs", 1, 20) {
			i, least := len(r.texts)+len(texts), gram
			if i == 0 {
				least = backGram
			}
			texts = append(texts, text(i, draw("words", least, 60)))
		}
		r.add(texts...)
		work()
	}
	add()
	for range draw("resizes", 1, 4) {
		r.look(time.Second)
		resize()
		if draw("look", 0, 1) > 0 {
			r.look(100 * time.Millisecond)
		}
		r.again(rapid.SampledFrom(slices.Sorted(maps.Keys(ways))).Draw(t, "way"))
		work()
		if draw("rest", 0, 1) > 0 {
			r.rest()
		}
		if draw("more", 0, 1) > 0 {
			add()
		}
	}
	if bad := r.end(); bad != "" {
		t.Fatalf("%s\n%s", bad, strings.Join(r.f.lines, "\n"))
	}
}
