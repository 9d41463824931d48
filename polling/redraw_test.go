package polling_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/panebridge/panebridge/polling"
)

// stepper is a pane whose shell runs one step of a script for each line typed:
// the test waits for what became of a step before it asks for the next.
type stepper struct {
	*pane
	n int
}

// newStepper starts a pane with functions of a shell: step N is run by sN. The
// shell neither echoes nor prompts.
func newStepper(t *testing.T, size, functions string, tmuxOpts ...string) *stepper {
	t.Helper()
	return newStepperWith(t, size, functions, polling.Options{Cadence: 100 * time.Millisecond}, tmuxOpts...)
}

func newStepperWith(t *testing.T, size, functions string, opt polling.Options, tmuxOpts ...string) *stepper {
	t.Helper()
	p := newPane(t, "stty -echo; exec sh -c '"+strings.ReplaceAll(functions, "'", `'\''`)+
		"\necho ready; while read x; do $x; done'", size, opt, tmuxOpts...)
	p.awaitLine("ready")
	return &stepper{pane: p}
}

// step runs the next step.
func (s *stepper) step() {
	s.Helper()
	s.n++
	s.typeLine("s" + strconv.Itoa(s.n))
}

// run runs the next step and waits for a line.
func (s *stepper) run(line string) {
	s.Helper()
	s.step()
	s.awaitLine(line)
}

// runLive runs the next step and waits until the screen has a text.
func (s *stepper) runLive(text string) {
	s.Helper()
	s.step()
	s.awaitLive(text)
	s.look()
}

// awaitLive waits until the live region has a text.
func (p *pane) awaitLive(text string) {
	p.Helper()
	p.await("live "+text, func() bool {
		p.owner.mu.Lock()
		defer p.owner.mu.Unlock()
		return strings.Contains(strings.Join(p.owner.live.Rows, "\n"), text)
	})
}

// end ends the shell and waits for the poller.
func (s *stepper) end() []string {
	s.Helper()
	s.look()
	s.tmux("send-keys", "-t", s.id, "C-d")
	s.awaitEnd()
	return s.log.text()
}

// wantLines wants exactly these lines, apart from blank ones.
func wantLines(t *testing.T, got []string, want ...string) {
	t.Helper()
	got = slices.DeleteFunc(slices.Clone(got), func(l string) bool { return strings.TrimSpace(l) == "" })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lines (- wanted, + got):\n%s", diff)
	}
}

// wantOnce wants each of these once, in order, whatever else there is.
func wantOnce(t *testing.T, got []string, want ...string) {
	t.Helper()
	at := -1
	for _, w := range want {
		n := 0
		for i, l := range got {
			if strings.TrimSpace(l) != w {
				continue
			}
			if n++; i < at {
				t.Errorf("%q is out of order", w)
			}
			at = i
		}
		if n != 1 {
			t.Errorf("%q: %d times", w, n)
		}
	}
	if t.Failed() {
		t.Logf("lines:\n%s", strings.Join(got, "\n"))
	}
}

func wantNoGaps(t *testing.T, p *pane) {
	t.Helper()
	if len(p.log.gaps) > 0 {
		t.Errorf("gaps: %v", p.log.gaps)
	}
}

func series(from, to int) []string {
	var out []string
	for i := from; i <= to; i++ {
		out = append(out, "line "+strconv.Itoa(i))
	}
	return out
}

// Of a progress bar only the final state becomes a line.
func TestProgressBar(t *testing.T) {
	s := newStepper(t, "80x24", `
s1() { echo before; printf "10%%"; }
s2() { printf "\r45%%"; }
s3() { printf "\r90%%"; }
s4() { printf "\r100%%\n"; echo after; }`)
	s.run("before")
	s.awaitLive("10%")
	s.look()
	s.runLive("45%")
	s.runLive("90%")
	s.run("after")
	wantLines(t, s.end(), "ready", "before", "100%", "after")
	wantNoGaps(t, s.pane)
}

// A spinner that is erased leaves nothing.
func TestSpinner(t *testing.T) {
	s := newStepper(t, "80x24", `
s1() { printf "\033[?25l| working 1"; }
s2() { printf "\r/ working 2"; }
s3() { printf "\r- working 3"; }
s4() { printf "\r\033[K\033[?25hdone\n"; }`)
	s.runLive("working 1")
	s.runLive("working 2")
	s.runLive("working 3")
	s.run("done")
	wantLines(t, s.end(), "ready", "done")
	wantNoGaps(t, s.pane)
}

// Lines between calls of clear: none is lost, none comes twice; that the screen
// was cleared leaves a gap that claims nothing.
func TestClear(t *testing.T) {
	t.Parallel()
	slow(t)
	for name, sequence := range map[string]string{
		"xterm": `\033[H\033[2J\033[3J`, "screen only": `\033[H\033[2J`, "to the end": `\033[H\033[J`, "history only": `\033[3J`,
	} {
		t.Run(name, func(t *testing.T) {
			script, want := "", []string{"ready"}
			n := 0
			for round := 1; round <= 6; round++ {
				script += fmt.Sprintf("s%d() { printf '%s'; ", round, sequence)
				for range 5 * round {
					n++
					script += fmt.Sprintf("echo line %d; ", n)
					want = append(want, "line "+strconv.Itoa(n))
				}
				script += "}\n"
			}
			s := newStepper(t, "80x12", script)
			n = 0
			for round := 1; round <= 6; round++ {
				n += 5 * round
				s.run("line " + strconv.Itoa(n))
				s.look()
			}
			wantLines(t, s.end(), want...)
			for _, g := range s.log.gaps {
				if g.AtLeast > 0 {
					t.Errorf("gap %v", g)
				}
			}
		})
	}
}

// The same output after a clear is printed anew. (In the very same rows it
// couldn't be told from nothing having happened.)
func TestClearAndTheSameAgain(t *testing.T) {
	t.Parallel()
	slow(t)
	s := newStepper(t, "80x12", `
s1() { printf "\033[H\033[2J\033[3J"; echo intro; echo alpha; echo beta; echo end 1; }
s2() { printf "\033[H\033[2J\033[3J"; echo alpha; echo beta; echo end 2; }`)
	s.run("end 1")
	s.look()
	s.run("end 2")
	wantLines(t, s.end(), "ready", "intro", "alpha", "beta", "end 1", "alpha", "beta", "end 2")
}

// A dashboard that rewrites its rows in place: no state but the last becomes
// lines, and no line comes twice.
func TestDashboard(t *testing.T) {
	t.Parallel()
	slow(t)
	script := "frame() { tput cup 0 0; for i in 1 2 3 4 5; do printf 'cpu %s: %s load\\033[K\\n' $i $1$i; done; tput cup 8 0; }\n" +
		"s1() { clear; tput civis; frame 1; }\n"
	for i := 2; i <= 6; i++ {
		script += fmt.Sprintf("s%d() { frame %d; }\n", i, i)
	}
	script += "s7() { tput cnorm; echo finished; }\n"
	s := newStepper(t, "80x24", script)
	for i := 1; i <= 6; i++ {
		s.runLive(fmt.Sprintf("cpu 5: %d5 load", i))
	}
	s.run("finished")
	got := s.end()
	wantOnce(t, got, "cpu 1: 61 load", "cpu 2: 62 load", "cpu 3: 63 load", "cpu 4: 64 load", "cpu 5: 65 load", "finished")
	for _, l := range got {
		if strings.HasPrefix(l, "cpu") && !strings.Contains(l, ": 6") {
			t.Errorf("junk: %q", l)
		}
	}
}

// Resizing: lines that are longer than the pane is wide come once, whole,
// whatever the width.
func TestResizePrinter(t *testing.T) {
	script := "many() { for i in $(seq $1 $2); do echo line $i $(seq -s - 1 40) end $i; done; }\n" +
		"s1() { many 1 30; }\ns2() { many 31 60; }\ns3() { many 61 90; }\ns4() { many 91 93; }\n"
	s := newStepper(t, "120x24", script)
	long := func(i int) string {
		var n []string
		for j := 1; j <= 40; j++ {
			n = append(n, strconv.Itoa(j))
		}
		return fmt.Sprintf("line %d %s end %d", i, strings.Join(n, "-"), i)
	}
	want := []string{"ready"}
	for i := 1; i <= 93; i++ {
		want = append(want, long(i))
	}
	s.run(long(30))
	s.resize(80, 24)
	s.run(long(60))
	s.resize(120, 30)
	s.run(long(90))
	s.resize(100, 12)
	s.resize(100, 24)
	s.run(long(93))
	wantLines(t, s.end(), want...)
	wantNoGaps(t, s.pane)
}

// resize changes the pane's size and waits until the poller has seen that.
func (p *pane) resize(w, h int) {
	p.Helper()
	p.tmux("resize-window", "-t", p.id, "-x", strconv.Itoa(w), "-y", strconv.Itoa(h))
	p.look()
}

// The alternate screen gives no lines; those around it come once. A resize in
// between changes nothing about that.
func TestAlternateScreen(t *testing.T) {
	for _, resize := range []bool{false, true} {
		t.Run(fmt.Sprint("resize=", resize), func(t *testing.T) {
			script := "lines() { for i in $(seq $1 $2); do echo line $i; done; }\n" +
				`s1() { lines 1 40; printf "unfinished"; }
s2() { tput smcup; clear; for i in $(seq 30); do echo alternate $i; done; }
s3() { tput cup 3 0; echo alternate changed; }
s4() { tput rmcup; echo " and finished"; lines 41 80; }`
			s := newStepper(t, "80x12", script)
			s.run("line 40")
			s.awaitLive("unfinished")
			s.look()
			s.runLive("alternate 30")
			if resize {
				s.resize(60, 12)
			}
			s.runLive("alternate changed")
			s.run("line 80")
			want := append(append([]string{"ready"}, series(1, 40)...), "unfinished and finished")
			wantLines(t, s.end(), append(want, series(41, 80)...)...)
			for _, g := range s.log.gaps {
				if g.AtLeast > 0 {
					t.Errorf("gap %v", g)
				}
			}
		})
	}
}

// respawn-pane -k: what was printed before is kept, once, the row that wasn't
// finished too, and the new program's lines come once.
func TestRespawn(t *testing.T) {
	script := "lines() { for i in $(seq $1 $2); do echo line $i; done; }\n" + `s1() { lines 1 30; printf "half a line"; }`
	s := newStepper(t, "80x12", script)
	s.run("line 30")
	s.awaitLive("half a line")
	s.look()
	s.tmux("respawn-pane", "-k", "-t", s.id, `stty -echo; for i in $(seq 31 60); do echo line $i; done; read x; for i in $(seq 61 70); do echo line $i; done; read x`)
	s.awaitLine("line 60")
	s.typeLine("")
	s.awaitLine("line 70")
	want := append(append([]string{"ready"}, series(1, 30)...), "half a line")
	wantLines(t, s.end(), append(want, series(31, 70)...)...)
	for _, g := range s.log.gaps {
		if g.AtLeast > 0 {
			t.Errorf("gap %v", g)
		}
	}
}

// transcript is what a drawing program of the tests prints: paragraphs, which it
// wraps itself, with a row below that shows that it draws.
func transcript(from, to, width int) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		row := ""
		for w := range strings.FieldsSeq(paragraph(i)) {
			if len(row)+1+len(w) > width-2 {
				b.WriteString(row + "\n")
				row = " "
			}
			row += " " + w
		}
		b.WriteString(row + "\n\n")
	}
	return b.String()
}

func paragraph(i int) string {
	words := make([]string, 0, 30)
	for j := range 25 {
		words = append(words, fmt.Sprintf("w%dx%d", i, (j*j+i*7)%97))
	}
	return fmt.Sprintf("paragraph-%d ", i) + strings.Join(words, " ")
}

// wantParagraphs wants the words of each paragraph once, in order.
func wantParagraphs(t *testing.T, got []string, from, to int) {
	t.Helper()
	all := strings.Join(strings.Fields(strings.Join(got, " ")), " ")
	at := 0
	for i := from; i <= to; i++ {
		p := paragraph(i)
		if n := strings.Count(all, p); n != 1 {
			t.Errorf("paragraph %d: %d times whole, %d times begun", i, n, strings.Count(all, fmt.Sprintf("paragraph-%d ", i)))
		}
		if where := strings.Index(all, p); where < at && where >= 0 {
			t.Errorf("paragraph %d is out of order", i)
		} else {
			at = where
		}
	}
	if t.Failed() {
		t.Logf("lines:\n%s", strings.Join(got, "\n"))
	}
}

// file writes a text that a step prints with cat.
func file(t *testing.T, text string) string {
	t.Helper()
	return writeFile(t, strings.ReplaceAll(text, "\n", "\r\n"))
}

// A program with a hidden cursor that, after a resize, prints all again in the
// new width: with or without clearing. Each text comes once.
func TestReprintAfterResize(t *testing.T) {
	for name, clear := range map[string]string{"cleared": "\x1b[2J\x1b[3J\x1b[H", "not cleared": ""} {
		t.Run(name, func(t *testing.T) {
			const hide = "\x1b[?25l"
			box := "\n--------\n> input"
			f1 := file(t, hide+transcript(1, 12, 100)+box)
			f2 := file(t, clear+transcript(1, 12, 70)+box)
			f3 := file(t, "\x1b[2K\x1b[A\x1b[2K\x1b[A\x1b[2K\r"+transcript(13, 20, 70)+box)
			f4 := file(t, clear+transcript(1, 20, 110)+box)
			s := newStepper(t, "100x20", fmt.Sprintf("s1() { cat %s; }\ns2() { cat %s; }\ns3() { cat %s; }\ns4() { cat %s; }\ns5() { printf '\\033[?25h\\n'; echo the end; }", f1, f2, f3, f4))
			s.runLive("> input")
			s.resize(70, 20)
			s.step()
			s.look()
			s.runLive("paragraph-20")
			s.resize(110, 20)
			s.step()
			s.look()
			s.run("the end")
			wantParagraphs(t, s.end(), 1, 20)
		})
	}
}

// A tall dialog pushes text into history; when it closes, the text is painted
// again. It comes once.
func TestDialogOverText(t *testing.T) {
	t.Parallel()
	slow(t)
	rows := func(from, to int) string {
		var b strings.Builder
		for i := from; i <= to; i++ {
			fmt.Fprintf(&b, "text row number %d of it\n", i)
		}
		return b.String()
	}
	dialog := strings.Repeat("| dialog row |\n", 9) + "| Do you want? |"
	f1 := file(t, "\x1b[?25l"+rows(1, 30)+"> input")
	// The screen has 20 rows: 12 … 30 and the input. The dialog pushes ten out.
	f2 := file(t, "\r\x1b[K"+dialog)
	// It closes: what it pushed out is painted again, from the top row, without scrolling.
	var repaint strings.Builder
	repaint.WriteString("\x1b[H")
	for i := 12; i <= 30; i++ {
		fmt.Fprintf(&repaint, "\x1b[2Ktext row number %d of it\n", i)
	}
	repaint.WriteString("\x1b[2K> input")
	f3 := file(t, repaint.String())
	f4 := file(t, "\r\x1b[K"+rows(31, 60)+"> input")
	s := newStepper(t, "80x20", fmt.Sprintf("s1() { cat %s; }\ns2() { cat %s; }\ns3() { cat %s; }\ns4() { cat %s; }\ns5() { printf '\\033[?25h\\n'; echo the end; }", f1, f2, f3, f4))
	s.runLive("> input")
	s.runLive("Do you want?")
	s.step()
	s.await("dialog closed", func() bool {
		s.owner.mu.Lock()
		defer s.owner.mu.Unlock()
		return !strings.Contains(strings.Join(s.owner.live.Rows, "\n"), "Do you want?")
	})
	s.look()
	s.runLive("number 60")
	s.run("the end")
	var want []string
	for i := 1; i <= 60; i++ {
		want = append(want, fmt.Sprintf("text row number %d of it", i))
	}
	wantOnce(t, s.end(), want...)
}

// While a person reads in copy mode, output goes on: nothing is lost.
func TestCopyMode(t *testing.T) {
	s := newStepper(t, "80x12", "lines() { for i in $(seq $1 $2); do echo line $i; done; }\ns1() { lines 1 40; }\ns2() { lines 41 90; }\ns3() { lines 91 99; }")
	s.run("line 40")
	s.tmux("copy-mode", "-t", s.id)
	s.tmux("send-keys", "-t", s.id, "-X", "page-up")
	s.tmux("set-buffer", "-b", "go", "s2\r")
	s.tmux("paste-buffer", "-d", "-b", "go", "-t", s.id) // keys don't reach the program now
	s.n++
	s.awaitLine("line 90")
	s.tmux("send-keys", "-t", s.id, "-X", "cancel")
	s.run("line 99")
	wantLines(t, s.end(), append([]string{"ready"}, series(1, 99)...)...)
	wantNoGaps(t, s.pane)
}

// A program that ends: its last output is there, and its exit status.
func TestDeadPane(t *testing.T) {
	t.Parallel()
	p := newPane(t, "printf 'first\\nlast without a line end'"+drain+"; exit 7", "80x24", polling.Options{Cadence: 100 * time.Millisecond})
	p.awaitEnd()
	wantLines(t, p.log.text(), "first", "last without a line end")
	evs := p.owner.all()
	// tmux 3.3a sometimes misses the end of a child until the next one ends.
	if last := evs[len(evs)-1]; last.Exit == nil || last.Exit.Status != 7 && last.Exit.Status != -1 {
		t.Errorf("exit %+v", last.Exit)
	}
}

// A pane that vanishes: what was seen last is kept, and a gap says that there
// may have been more.
func TestVanishedPane(t *testing.T) {
	s := newStepper(t, "80x12", `s1() { echo one; printf "two, not finished"; }`)
	s.run("one")
	s.awaitLive("two, not finished")
	s.look()
	s.tmux("kill-pane", "-t", s.id)
	s.awaitEnd()
	wantLines(t, s.log.text(), "ready", "one", "two, not finished")
	if g := s.log.gaps; len(g) != 1 || g[0].AtLeast != 0 || g[0].After != int64(len(s.log.text())) {
		t.Errorf("gaps %v", g)
	}
}

// clear-history and changes of height lose nothing and double nothing.
func TestClearHistoryAndHeights(t *testing.T) {
	s := newStepper(t, "80x12", "lines() { for i in $(seq $1 $2); do echo line $i; done; }\ns1() { lines 1 40; }\ns2() { lines 41 60; }\ns3() { lines 61 90; }\ns4() { lines 91 120; }\ns5() { lines 121 125; }")
	s.run("line 40")
	s.look()
	s.tmux("clear-history", "-t", s.id)
	s.look()
	s.run("line 60")
	s.resize(80, 30)
	s.run("line 90")
	s.resize(80, 5)
	s.run("line 120")
	s.resize(80, 24)
	s.run("line 125")
	wantLines(t, s.end(), append([]string{"ready"}, series(1, 125)...)...)
	for _, g := range s.log.gaps {
		if g.AtLeast > 0 {
			t.Errorf("gap %v", g)
		}
	}
}

// A line that is longer than history comes in pieces, complete.
func TestLineLongerThanHistory(t *testing.T) {
	s := newStepper(t, "80x12", "piece() { for i in $(seq $1 $2); do printf \"%05d \" $i; done; }\ns1() { piece 1 2000; }\ns2() { piece 2001 4000; }\ns3() { piece 4001 6000; }\ns4() { echo; echo the end; }", "history-limit=200")
	for _, last := range []string{"02000", "04000", "06000"} {
		s.runLive(last)
	}
	s.run("the end")
	got := strings.Fields(strings.Join(s.end(), ""))
	var want []string
	for i := 1; i <= 6000; i++ {
		want = append(want, fmt.Sprintf("%05d", i))
	}
	want[0], want[len(want)-1] = "ready"+want[0], want[len(want)-1]+"the" // words of different lines
	want = append(want, "end")
	if !slices.Equal(got, want) {
		t.Errorf("%d words, want %d; gaps %v", len(got), len(want), s.log.gaps)
	}
}

// Wide characters wrap, and the line is whole.
func TestWideCharacters(t *testing.T) {
	line := strings.Repeat("日本語のテキスト、中文字符、한국어 ", 8) + "naïve 🚀 ✅ end"
	f := writeFile(t, line+"\n"+line+" 2\n")
	s := newStepper(t, "41x12", "s1() { cat "+f+"; echo the end; }")
	s.run("the end")
	wantLines(t, s.end(), "ready", line, line+" 2", "the end")
}

// What has no line end stays live.
func TestUnfinishedLineStaysLive(t *testing.T) {
	s := newStepper(t, "80x12", `s1() { printf "name? "; }`)
	s.runLive("name?")
	s.look()
	wantLines(t, s.log.text(), "ready")
}

// Blank and repeated lines are printed as often as they are.
func TestBlankAndRepeatedLines(t *testing.T) {
	s := newStepper(t, "80x12", `s1() { for i in 1 2 3 4 5 6 7 8 9 10; do echo; echo same; echo same; echo; done; echo half; }
s2() { for i in 1 2 3 4 5 6 7 8 9 10; do echo; echo same; echo same; echo; done; echo end; }`)
	s.run("half")
	s.look()
	s.run("end")
	want := []string{"ready"}
	for _, last := range []string{"half", "end"} {
		for range 10 {
			want = append(want, "", "same", "same", "")
		}
		want = append(want, last)
	}
	if got := s.end(); !slices.Equal(got, want) {
		t.Errorf("lines %q", got)
	}
	wantNoGaps(t, s.pane)
}
