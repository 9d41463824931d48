package demoagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode"
)

// turnMarker ends each answer: the daemon's default for polling.turn_marker.
const turnMarker = "[Output Complete]"

const (
	prompt = "> "

	// How it speaks. Agents redraw their spinners about ten times a second and
	// print an answer line by line.
	spinnerEvery = 100 * time.Millisecond
	eraseLine    = "\r\x1b[K"
)

var spinnerFrames = []string{"·", "✢", "✳", "✶", "✻", "✽"}

// Options sets the agent's pace. The zero value is a pace that's pleasant to
// watch; a negative duration is none at all.
type Options struct {
	Think     time.Duration // the spinner before each answer; 1.5 s
	LineEvery time.Duration // between two lines of an answer; 40 ms
	BulkEvery time.Duration // between two lines of `count` and `long`; 2 ms

	// Interrupt tells of each Ctrl-C: one interrupts the answer, as agents have it,
	// and a second one within Again ends the agent. Nil: nothing does.
	Interrupt <-chan os.Signal
	Again     time.Duration // 2 s
}

func (o Options) withDefaults() Options {
	set := func(d *time.Duration, def time.Duration) {
		if *d == 0 {
			*d = def
		}
	}
	set(&o.Think, 1500*time.Millisecond)
	set(&o.LineEvery, 40*time.Millisecond)
	set(&o.BulkEvery, 2*time.Millisecond)
	set(&o.Again, 2*time.Second)
	return o
}

// Run reads lines from in and writes answers to out until the input ends or it's
// interrupted twice, and then returns nil, or until ctx is done, and then returns its cause. Between
// inputs it sleeps. in is a terminal in its usual (line by line) mode or a
// pipe; a terminal is switched to single keys while a dialog is open, and back
// before Run returns.
func Run(ctx context.Context, in *os.File, out io.Writer, opts Options) error {
	kb, err := newKeyboard(ctx, in, opts.Interrupt)
	if err != nil {
		return err
	}
	defer kb.close()

	a := &agent{kb: kb, out: out, opts: opts.withDefaults()}
	err = a.converse(ctx)
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// agent is the state of one conversation; Run's goroutine owns it.
type agent struct {
	kb          *keyboard
	out         io.Writer
	opts        Options
	interrupted time.Time // when it was last; zero: never
	texts       int       // without a meaning here, so far
}

// converse returns io.EOF at the end of the input, and when it's interrupted twice.
func (a *agent) converse(ctx context.Context) error {
	if err := a.print(banner); err != nil {
		return err
	}
	for {
		text, err := a.ask(ctx)
		if errors.Is(err, errInterrupted) {
			text, err = "", a.interrupt("")
		}
		if err != nil {
			return err
		}
		if text == "" {
			continue // an Enter too many starts no turn
		}
		err = a.think(ctx)
		if err == nil {
			err = a.answer(ctx, text)
		}
		if errors.Is(err, errInterrupted) {
			err = a.interrupt("● Interrupted. ")
		}
		if err != nil {
			return err
		}
		if err := a.print("\n" + turnMarker + "\n\n"); err != nil {
			return err
		}
	}
}

// interrupt says what another Ctrl-C would do, or returns io.EOF if this is the
// second one.
func (a *agent) interrupt(what string) error {
	if !a.interrupted.IsZero() && time.Since(a.interrupted) <= a.opts.Again {
		return errors.Join(a.print("\n"), io.EOF)
	}
	a.interrupted = time.Now()
	return a.print("\n" + what + "Ctrl-C once more ends the demo agent.\n")
}

// ask shows the prompt and returns the next input, free of white space around
// it and of control characters, which must not reach the terminal again.
func (a *agent) ask(ctx context.Context) (string, error) {
	// What was typed during the answer was echoed into it: the prompt shows it
	// where it belongs.
	waiting, err := a.kb.hasLine(ctx)
	if err != nil {
		return "", err
	}
	if err := a.print(prompt); err != nil {
		return "", err
	}
	line, err := a.kb.readLine(ctx)
	if err != nil {
		return "", err
	}
	text := strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, line))
	if waiting || !a.kb.tty {
		err = a.print(text + "\n")
	}
	return text, err
}

// think shows a spinner on one row, which it leaves empty.
func (a *agent) think(ctx context.Context) error {
	for shown, frame := time.Duration(0), 0; shown < a.opts.Think; frame++ {
		text := fmt.Sprintf("%s%s Thinking… (%.1fs)", eraseLine, spinnerFrames[frame%len(spinnerFrames)], shown.Seconds())
		if err := a.print(text); err != nil {
			return err
		}
		step := min(spinnerEvery, a.opts.Think-shown)
		if err := a.kb.pause(ctx, step); err != nil {
			return err
		}
		shown += step
	}
	return a.print(eraseLine)
}

// say prints the lines of text one by one.
func (a *agent) say(ctx context.Context, text string) error {
	for line := range strings.Lines(text) {
		if err := a.print(line); err != nil {
			return err
		}
		if err := a.kb.pause(ctx, a.opts.LineEvery); err != nil {
			return err
		}
	}
	return nil
}

func (a *agent) print(text string) error {
	if _, err := io.WriteString(a.out, text); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}
