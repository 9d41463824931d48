package standin

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// redrawEvery is how often a program at work draws its signs anew.
const redrawEvery = 140 * time.Millisecond

// leftAfter is longer than panebridge ever waits between a text and its Enter.
const leftAfter = 8 * time.Second

// program is the one that's played. One goroutine owns it: run.
type program struct {
	play    Play
	rand    *rand.Rand
	asker   *asker
	look    look
	journal *journal
	decoder decoder

	width, height int
	ready         bool
	said          []string // the conversation
	face          face
	input         input

	idle    time.Time   // when it next begins a turn by itself
	busy    time.Time   // until when the turn lasts; zero: none does
	due     []time.Time // when dialogs come
	asked   int         // dialogs that the program began
	numbers int         // all dialogs
	dialog  *dialog     // that's open
	after   *dialog     // comes next, at once
	waiting []mark      // what the terminal is yet to show
	spun    time.Time
}

// mark is what the terminal is asked to have shown.
type mark struct {
	kind   Kind
	dialog int
}

// Act plays on the terminal that is this process's standard input and output.
func (p Play) Act() error {
	j, err := openJournal(p.Journal)
	if err != nil {
		return err
	}
	r := rand.New(rand.NewPCG(p.Seed, 1))
	g := &program{play: p, rand: r, asker: &asker{rand: r, seed: p.Seed}, look: looks(p.Agent), journal: j, width: 100, height: 35}
	keys := make(chan []byte, 64)
	g.pause(100, 400) // as yet the terminal reads lines, and shows them
	if err := g.takeTerminal(); err != nil {
		return err
	}
	go func() {
		defer close(keys)
		for {
			b := make([]byte, 4096)
			n, err := os.Stdin.Read(b)
			if err != nil {
				return
			}
			keys <- b[:n]
		}
	}()
	g.start(keys)
	for {
		select {
		case b, ok := <-keys:
			if !ok {
				return nil
			}
			g.read(b)
		case <-time.After(20 * time.Millisecond):
			for _, k := range g.decoder.late() {
				g.take(k)
			}
		}
		g.tick(time.Now())
	}
}

func (g *program) takeTerminal() error {
	size := exec.Command("stty", "size") //nolint:noctx // ends at once
	size.Stdin = os.Stdin
	if out, err := size.Output(); err == nil {
		_, _ = fmt.Sscan(string(out), &g.height, &g.width)
	}
	raw := exec.Command("stty", "raw", "-echo") //nolint:noctx // ends at once
	raw.Stdin = os.Stdin
	if err := raw.Run(); err != nil {
		return fmt.Errorf("set the terminal to raw: %w", err)
	}
	return nil
}

// pause rests for some milliseconds.
func (g *program) pause(from, to int) { time.Sleep(g.between(from, to)) }

func (g *program) between(from, to int) time.Duration {
	return time.Duration(from+g.rand.IntN(to-from)) * time.Millisecond
}

// start is what a program does before its box is there: it reads what's typed, and shows
// it later, or never.
func (g *program) start(keys <-chan []byte) {
	g.face.fresh = true
	if g.look.alternate {
		write("\x1b[?1049h")
	}
	write("\x1b[2J\x1b[H")
	if g.look.hidden {
		write("\x1b[?25l")
	}
	end := time.After(g.between(300, 2500))
	for waits := true; waits; {
		select {
		case b := <-keys:
			for _, k := range g.decoder.take(b) {
				g.tooSoon(k)
			}
		case <-end:
			waits = false
		}
	}
	write("\x1b[?2004h")
	g.said = []string{"", "  " + g.play.Agent + ", a stand-in", ""}
	if d := g.asker.first(g.play.Agent); d != nil {
		g.open(d)
		return
	}
	g.begin()
}

// begin shows the input box for the first time.
func (g *program) begin() {
	g.ready = true
	g.draw(false)
	g.journal.put(Entry{Kind: Ready})
	g.idle = time.Now().Add(g.between(100, 2500))
}

// read works in what came from the terminal.
func (g *program) read(b []byte) {
	for _, k := range g.decoder.take(b) {
		g.take(k)
	}
}

// take works in one key.
func (g *program) take(k key) {
	if k.shown {
		if len(g.waiting) > 0 {
			m := g.waiting[0]
			g.waiting = g.waiting[1:]
			g.journal.put(Entry{Kind: m.kind, Dialog: m.dialog})
		}
		return
	}
	e := Entry{Kind: Pressed, Key: k.name, Person: k.person, Early: len(g.waiting) > 0, Box: g.input.text}
	if k.name == "" {
		e.Key, e.Text = "paste", k.pasted
	}
	if g.dialog != nil {
		e.Dialog = g.dialog.n
	}
	g.journal.put(e)
	switch {
	case g.dialog == nil && g.ready:
		g.typed(k)
	case g.dialog != nil:
		g.answered(k)
	}
}

// tick does what's due.
func (g *program) tick(now time.Time) {
	d := g.dialog
	switch {
	case d != nil && !d.until.IsZero() && now.After(d.until),
		d != nil && d.touchy > 0 && !d.touched.IsZero() && now.After(d.touched.Add(d.touchy)):
		g.goes()
	case d == nil && g.after != nil:
		next := g.after
		g.after = nil
		g.open(next)
	case d == nil && g.ready && len(g.due) > 0 && now.After(g.due[0]):
		g.due = g.due[1:]
		g.open(g.asker.next(g.play.Agent))
	case d == nil && g.ready:
		g.work(now)
	}
	if in := &g.input; g.ready && d == nil && in.text != "" && !in.left && now.Sub(in.stood) > leftAfter {
		in.left = true
		g.journal.put(Entry{Kind: Left, Text: in.text})
	}
	if (!g.busy.IsZero() || g.dialog != nil) && now.Sub(g.spun) > redrawEvery {
		g.face.spin++
		g.spun = now
		g.draw(false)
	}
}

// work begins and ends turns.
func (g *program) work(now time.Time) {
	switch {
	case !g.busy.IsZero() && now.After(g.busy) && len(g.due) == 0:
		g.busy = time.Time{}
		g.say("The work is done.")
		if all := guesses(g.play.Agent); len(all) > 0 {
			g.face.guess = all[g.rand.IntN(len(all))]
		}
		if g.rand.IntN(8) == 0 {
			g.say(`It says "Do you want to proceed?", and then "Enter to select".`) // which is only quoted
		}
		g.idle = now.Add(g.between(200, 2500))
		if waits := g.face.queued; len(waits) > 0 {
			g.face.queued = nil
			for _, text := range waits {
				g.said = append(g.said, g.look.said(text, g.width)...)
			}
			g.turn(now)
		}
		g.draw(false)
	case g.busy.IsZero() && now.After(g.idle) && g.asked < g.play.Dialogs && len(g.input.text) == 0 && g.rand.IntN(4) > 0:
		if g.rand.IntN(4) == 0 { // out of the blue
			g.asked++
			g.idle = now.Add(g.between(200, 2500))
			g.open(g.asker.next(g.play.Agent))
			return
		}
		g.say("I go on by myself.")
		g.turn(now)
	case g.busy.IsZero() && now.After(g.idle) && g.asked < g.play.Dialogs:
		g.idle = now.Add(g.between(200, 1000))
	case g.asked >= g.play.Dialogs && g.busy.IsZero() && len(g.due) == 0 && g.asked < 1<<30:
		g.asked = 1 << 30
		g.journal.put(Entry{Kind: Done})
	}
}

// turn begins a turn, in which dialogs come.
func (g *program) turn(now time.Time) {
	g.face.fresh, g.face.guess = false, ""
	length := g.between(400, 2500)
	g.busy = now.Add(length)
	for range []int{0, 1, 1, 2}[g.rand.IntN(4)] {
		if g.asked < g.play.Dialogs {
			g.asked++
			g.due = append(g.due, now.Add(time.Duration(g.rand.Int64N(int64(length)))))
		}
	}
	slices.SortFunc(g.due, time.Time.Compare)
	g.face.spin, g.spun = 0, now
}

func (g *program) say(text string) {
	g.said = append(g.said, "", g.look.answer+text)
	if len(g.said) > 200 {
		g.said = slices.Clone(g.said[len(g.said)-100:])
	}
}

// draw draws the screen. halves: in two writes, some milliseconds apart.
func (g *program) draw(halves bool) {
	g.face.width, g.face.busy = g.width, !g.busy.IsZero()
	var lower []string
	switch {
	case g.dialog != nil:
		lower = g.look.dialog(g.dialog, g.width)
	case g.ready:
		g.face.box = g.input.rows(g.look, g.width)
		g.face.popup = g.input.popup(g.play.Agent)
		lower = g.look.foot(&g.face)
	}
	above := g.height - len(lower)
	said := g.said
	if len(said) > above {
		said = said[len(said)-max(0, above):]
	}
	rows := slices.Clone(said)
	for len(rows) < above && g.look.alternate {
		rows = append(rows, "")
	}
	rows = append(rows, lower...)
	if len(rows) > g.height {
		rows = rows[len(rows)-g.height:]
	}
	var b strings.Builder
	b.WriteString("\x1b]2;" + g.look.title(&g.face, g.dialog != nil) + "\a\x1b[H")
	for i, row := range rows {
		if i > 0 {
			b.WriteString("\r\n")
		}
		b.WriteString("\x1b[K" + row + "\x1b[m")
		if halves && i == len(rows)-len(lower)/2 {
			write(b.String())
			b.Reset()
			g.pause(1, 12)
		}
	}
	b.WriteString("\x1b[J")
	if g.dialog == nil && strings.Contains(strings.Join(lower, ""), cursorHere) {
		b.WriteString(cursorBack)
	}
	write(b.String())
}

func write(text string) {
	if _, err := os.Stdout.WriteString(text); err != nil {
		os.Exit(0) //nolint:revive // the pane is gone
	}
}
