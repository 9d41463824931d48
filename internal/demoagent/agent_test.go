package demoagent_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/demoagent"
	"github.com/panebridge/panebridge/internal/host"
)

// fast leaves the agent no pauses.
var fast = demoagent.Options{Think: -1, LineEvery: -1, BulkEvery: -1}

// terminal is an agent at a pseudo-terminal, and what it has shown so far.
type terminal struct {
	t      *testing.T
	master *os.File
	tty    *os.File // the agent's side
	ended  chan error
	shown  []byte
	seen   int // how much of shown was waited for
}

func start(ctx context.Context, t *testing.T, opts demoagent.Options) *terminal {
	t.Helper()
	term := open(t)
	term.run(ctx, opts)
	return term
}

// open makes a terminal at which nothing runs yet.
func open(t *testing.T) *terminal {
	t.Helper()
	master, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	if err := pty.Setsize(master, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	return &terminal{t: t, master: master, tty: tty, ended: make(chan error, 1)}
}

// run starts an agent there.
func (term *terminal) run(ctx context.Context, opts demoagent.Options) {
	term.t.Helper()
	ctx, cancel := context.WithCancel(ctx)
	go func() { term.ended <- demoagent.Run(ctx, term.tty, term.tty, opts) }()
	term.t.Cleanup(func() {
		cancel()
		// A terminal whose other side is gone doesn't block writers.
		term.master.Close()
		<-term.ended
		term.tty.Close()
	})
}

func (term *terminal) press(keys string) {
	term.t.Helper()
	if _, err := term.master.WriteString(keys); err != nil {
		term.t.Fatal(err)
	}
}

// waitFor reads until the text has been shown after what was waited for
// before, and returns all that was shown between the two.
func (term *terminal) waitFor(text string) string {
	term.t.Helper()
	chunk := make([]byte, 4096)
	for {
		if i := bytes.Index(term.shown[term.seen:], []byte(text)); i >= 0 {
			between := string(term.shown[term.seen : term.seen+i])
			term.seen += i + len(text)
			return between
		}
		n, err := term.master.Read(chunk)
		term.shown = append(term.shown, chunk[:n]...)
		if err != nil {
			term.t.Fatalf("waiting for %q: %v; shown: %q", text, err, term.shown)
		}
	}
}

// over is shown at the end of a turn: the rule above the row for input.
const over = "─ demo\r"

// turn types a line at the prompt and returns what was left of what was shown up to the end of
// the turn.
func (term *terminal) turn(line string) string {
	term.t.Helper()
	term.waitFor("\n> ")
	term.press(line + "\r")
	term.waitFor("❯ ")
	return settled(term.waitFor(over))
}

// settled is what's left of what was shown: rows that were erased are not.
func settled(shown string) string {
	parts := strings.Split(shown, "\r\x1b[K")
	for i, part := range parts[:len(parts)-1] {
		parts[i] = part[:strings.LastIndexByte(part, '\n')+1]
	}
	return strings.Join(parts, "")
}

// lineMode tells whether the terminal is in its usual mode.
func (term *terminal) lineMode() bool {
	term.t.Helper()
	mode, err := host.ReadTermios(int(term.tty.Fd()))
	if err != nil {
		term.t.Fatal(err)
	}
	return mode.Lflag&unix.ICANON != 0 && mode.Lflag&unix.ECHO != 0
}

func TestAnswersAndPromptsAgain(t *testing.T) {
	term := start(t.Context(), t, fast)
	for _, tt := range []struct {
		input string
		want  []string
	}{
		{"help", []string{"count N", "ask"}},
		{"count 3", []string{"● line 1 of 3\r\n  line 2 of 3\r\n  line 3 of 3\r\n"}},
		{"count nothing", []string{"I count from 1"}},
		{"count 0", []string{"I count from 1"}},
		{"COUNT 1", []string{"line 1 of 1"}},
		{"Grüße, 世界 🎉", []string{"● Count(your text)\r\n  ⎿ 3 words", "● You wrote: Grüße, 世界 🎉", "| words | 3 |", "```go", "日本語"}},
		{"help me", []string{"● You wrote: help me"}},
	} {
		got := term.turn(tt.input)
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%q was answered %q, want %q in it", tt.input, got, want)
			}
		}
	}
}

func TestLongPrintsTwoThousandLines(t *testing.T) {
	term := start(t.Context(), t, fast)
	var got, want []string
	for row := range strings.Lines(term.turn("long")) {
		if i := strings.Index(row, "line "); i >= 0 {
			got = append(got, strings.TrimRight(row[i:], "\r\n"))
		}
	}
	for i := range 2000 {
		want = append(want, fmt.Sprintf("line %d of 2000", i+1))
	}
	if !slices.Equal(got, want) {
		t.Errorf("not 2,000 lines in order, but %d", len(got))
	}
}

func TestStaysOffTheAlternateScreen(t *testing.T) {
	term := start(t.Context(), t, fast)
	term.turn("help")
	term.turn("anything")
	if bytes.Contains(term.shown, []byte("\x1b[?")) {
		t.Errorf("switched a terminal mode: %q", term.shown)
	}
}

func TestSpinnerIsDrawnOnOneRowAndLeavesNothing(t *testing.T) {
	opts := fast
	opts.Think = 1 // one frame
	term := start(t.Context(), t, opts)
	if got := term.turn("count 1"); !strings.HasPrefix(got, "count 1\r\n\r\n● line 1 of 1\r\n\r\n") || strings.Contains(got, "Working") {
		t.Errorf("left was %q", got)
	}
	if !bytes.Contains(term.shown, []byte("Working… (")) {
		t.Errorf("shown: %q", term.shown)
	}
}

func TestEmptyInputStartsNoTurn(t *testing.T) {
	term := start(t.Context(), t, fast)
	term.waitFor("\n> ")
	term.press("\r \r")
	term.waitFor("> ")
	term.turn("count 1")
	if turns := bytes.Count(term.shown, []byte("❯ ")); turns != 1 {
		t.Errorf("%d turns, want 1; shown: %q", turns, term.shown)
	}
}

func TestInputDuringAnAnswerIsShownAndAnsweredAfterIt(t *testing.T) {
	term := open(t)
	term.press("count 1\rcount 2\r")
	term.waitFor("count 1\r\ncount 2\r\n") // the terminal has both, whenever it hands them over
	term.run(t.Context(), fast)
	for _, text := range []string{"❯ count 1\r\n", "line 1 of 1\r\n", "❯ count 2\r\n", "line 2 of 2\r\n"} {
		term.waitFor(text)
	}
}

func TestControlCharactersAreNotGivenBack(t *testing.T) {
	in, out := pipes(t, "a\x1b[2Jb\tc\n")
	if got := run(t, in, out); strings.Contains(got, "\x1b[2J") || !strings.Contains(got, "a[2Jb c") {
		t.Errorf("shown: %q", got)
	}
}

func TestDialog(t *testing.T) {
	const up, down = "\x1b[A", "\x1bOB"
	for name, tt := range map[string]struct {
		keys, want string
	}{
		"Enter takes the marked one":         {"\r", "allowed it with option 1"},
		"a digit acts at once":               {"2", "allowed it with option 2"},
		"the digit that declines":            {"3", "You declined"},
		"Esc":                                {"\x1b", "You canceled"},
		"Ctrl-D":                             {"\x04", "You canceled"},
		"down and Enter":                     {down + "\r", "allowed it with option 2"},
		"not beyond the last":                {down + down + down + down + "\r", "You declined"},
		"not beyond the first":               {up + down + "\r", "allowed it with option 2"},
		"other keys mean nothing":            {"x9 \x1b[1;5C\x1b[15~é1", "allowed it with option 1"},
		"an Enter behind it starts no turn":  {"3\r", "You declined"},
		"Esc and what follows it are two":    {"\x1b\x1b", "You canceled"},
		"a text is keys, to agents too":      {"what is this\r", "allowed it with option 1"},
		"digits that aren't options, then 2": {"0452", "allowed it with option 2"},
	} {
		t.Run(name, func(t *testing.T) {
			term := start(t.Context(), t, fast)
			term.waitFor("\n> ")
			term.press("ask\r")
			dialog := term.waitFor("Esc to cancel")
			for _, want := range []string{"Do you want to proceed?", "❯ 1. Yes\r\n", "  3. No\r\n"} {
				if !strings.Contains(dialog, want) {
					t.Errorf("dialog %q has no %q", dialog, want)
				}
			}
			if term.lineMode() {
				t.Error("the dialog would get whole lines only")
			}
			term.press(tt.keys)
			answer := term.waitFor(over)
			if !strings.Contains(answer, tt.want) {
				t.Errorf("answer %q, want %q in it", answer, tt.want)
			}
			// Ten rows up and all below erased: nothing of it stays.
			if _, left, _ := strings.Cut(answer, "\r\x1b[10A\x1b[J\r\x1b[K●"); strings.Contains(left, "proceed") || left == "" {
				t.Errorf("the dialog wasn't taken away: %q", answer)
			}
			if !term.lineMode() {
				t.Error("the terminal wasn't restored")
			}
			if got := term.turn("count 1"); !strings.Contains(got, "line 1 of 1\r\n") {
				t.Errorf("the next turn: %q", got)
			}
		})
	}
}

func TestTextTypedBeforeADialogDoesNotAnswerIt(t *testing.T) {
	term := start(t.Context(), t, fast)
	term.waitFor("\n> ")
	term.press("ask\rcount 2\r")
	term.waitFor("Esc to cancel")
	term.press("\x1b")
	term.waitFor("You canceled")
	term.waitFor("❯ count 2\r\n")
	term.waitFor("line 2 of 2\r\n")
}

func TestDialogWorksOnAPipeByLines(t *testing.T) {
	in, out := pipes(t, "ask\n3\nask\n\n")
	got := run(t, in, out)
	if !strings.Contains(got, "You declined") || !strings.Contains(got, "allowed it with option 1") {
		t.Errorf("shown: %q", got)
	}
}

func TestEndsWithItsInput(t *testing.T) {
	t.Run("Ctrl-D at the prompt", func(t *testing.T) {
		term := start(t.Context(), t, fast)
		term.waitFor("\n> ")
		term.press("\x04")
		err := <-term.ended
		term.ended <- err // for the clean-up
		if err != nil {
			t.Error(err)
		}
	})
	t.Run("a last line without an end", func(t *testing.T) {
		in, out := pipes(t, "count 1")
		if got := run(t, in, out); !strings.Contains(got, "line 1 of 1\n") {
			t.Errorf("shown: %q", got)
		}
	})
}

func TestEndsWithItsContext(t *testing.T) {
	for name, reach := range map[string]func(*terminal){
		"at the prompt": func(*terminal) {},
		"in a dialog": func(term *terminal) {
			term.press("ask\r")
			term.waitFor("Esc to cancel")
		},
	} {
		t.Run(name, func(t *testing.T) {
			reason := errors.New("the demo is over")
			ctx, cancel := context.WithCancelCause(t.Context())
			term := start(ctx, t, fast)
			term.waitFor("\n> ")
			reach(term)
			cancel(reason)
			err := <-term.ended
			term.ended <- err // for the clean-up
			if !errors.Is(err, reason) {
				t.Errorf("ended with %v, want %v", err, reason)
			}
			if !term.lineMode() {
				t.Error("the terminal wasn't restored")
			}
		})
	}
}

func TestSaysWhenItCannotWrite(t *testing.T) {
	in, out := pipes(t, "help\n")
	out.Close()
	if err := demoagent.Run(t.Context(), in, out, fast); !errors.Is(err, os.ErrClosed) {
		t.Errorf("got %v, want %v", err, os.ErrClosed)
	}
}

// pipes returns an input that holds the text and ends, and a file for output.
func pipes(t *testing.T, input string) (in, out *os.File) {
	t.Helper()
	in, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	if _, err := io.WriteString(w, input); err != nil {
		t.Fatal(err)
	}
	w.Close()
	out, err = os.CreateTemp(t.TempDir(), "out")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { out.Close() })
	return in, out
}

// run returns what an agent has shown when its input has ended.
func run(t *testing.T, in, out *os.File) string {
	t.Helper()
	if err := demoagent.Run(t.Context(), in, out, fast); err != nil {
		t.Fatal(err)
	}
	shown, err := os.ReadFile(out.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(shown)
}

func TestAsksForAChoice(t *testing.T) {
	term := start(t.Context(), t, fast)
	term.waitFor("\n> ")
	term.press("choose\r")
	if dialog := term.waitFor("Esc to cancel"); !strings.Contains(dialog, "Which colour should the release have?") || !strings.Contains(dialog, "❯ 1. Green\r\n") {
		t.Errorf("dialog %q", dialog)
	}
	term.press("2")
	if answer := term.waitFor(over); !strings.Contains(answer, "You chose option 2: Blue.") {
		t.Errorf("answer %q", answer)
	}
}

// Every third text of no meaning here makes it ask: for permission, then for a choice.
func TestAsksNowAndThen(t *testing.T) {
	term := start(t.Context(), t, fast)
	term.waitFor("\n> ")
	for _, want := range []string{"Do you want to proceed?", "Which colour"} {
		for i := range 3 {
			term.press(fmt.Sprintf("text %d\r", i))
			if i == 2 {
				term.waitFor(want)
				term.waitFor("Esc to cancel")
				term.press("1")
			}
			term.waitFor(over)
		}
	}
}
