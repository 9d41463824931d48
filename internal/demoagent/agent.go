package demoagent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"
	"unicode"
)

const (
	prompt = "> "

	// The spinner is the last row while it works. Agents redraw theirs about ten times a second
	// and print an answer line by line.
	spinnerEvery = 100 * time.Millisecond
	eraseLine    = "\r\x1b[K"

	// The row for input stands below a rule that ends in the agent's name.
	ruleEnd = " demo"
	maxRule = 60
)

var spinnerFrames = []string{"·", "✢", "✳", "✶", "✻", "✽"} //nolint:gochecknoglobals // a constant table

// Options sets the agent's pace. The zero value is a pace that's pleasant to
// watch; a negative duration is none at all.
type Options struct {
	Think     time.Duration // the spinner before each answer; 1.5 s
	LineEvery time.Duration // between two lines of an answer; 120 ms
	BulkEvery time.Duration // between two lines of `count` and `long`; 2 ms

	// Transcripts is the folder in which it keeps a transcript; "": it keeps none.
	Transcripts string

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
	set(&o.LineEvery, 120*time.Millisecond)
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

	log, err := newTranscript(opts.Transcripts)
	if err != nil {
		return err
	}
	defer log.close()

	a := &agent{kb: kb, out: out, opts: opts.withDefaults(), log: log}
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
	log         *transcript
	began       time.Time // when the turn did
	frame       int       // of the spinner
	interrupted time.Time // when it was last; zero: never
	texts       int       // without a meaning here, so far
	calls       int       // of tools, so far
	letters     int       // that were said so far, by both
	said        int       // of those, by the agent in this turn
}

// converse returns io.EOF at the end of the input, and when it's interrupted twice.
func (a *agent) converse(ctx context.Context) error {
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
		if err := a.turn(ctx, text); err != nil {
			return err
		}
	}
}

// turn answers a text, and tells the transcript of its end.
func (a *agent) turn(ctx context.Context, text string) error {
	a.began, a.said = time.Now(), 0
	a.letters += len(text)
	err := errors.Join(a.log.add(record{Kind: kindUser, Text: text}), a.print("❯ "+text+"\n\n"))
	if err != nil {
		return err
	}
	err = a.think(ctx)
	if err == nil {
		err = a.answer(ctx, text)
	}
	end := record{Kind: kindEnd, Interrupted: errors.Is(err, errInterrupted)}
	if end.Interrupted {
		err = a.interrupt("● Interrupted. ")
	}
	if err != nil {
		return err
	}
	if !end.Interrupted {
		err = a.log.add(a.usedRecord())
	}
	return errors.Join(a.print(eraseLine), err, a.log.add(end))
}

// contextWindow is how many tokens fit into a conversation with the demo agent, as it says.
const contextWindow = 32_000

// usedRecord says what the turn would have taken of a model.
func (a *agent) usedRecord() record {
	asked := a.letters - a.said
	return record{Kind: kindUsed, ID: strconv.FormatInt(a.began.UnixNano(), 36), Used: &used{asked/4 + 1, a.said / 4, min(a.letters/4+1, contextWindow), contextWindow}}
}

// interrupt says what another Ctrl-C would do, or returns io.EOF if this is the
// second one.
func (a *agent) interrupt(what string) error {
	if !a.interrupted.IsZero() && time.Since(a.interrupted) <= a.opts.Again {
		return errors.Join(a.print("\n"), io.EOF)
	}
	a.interrupted = time.Now()
	return a.print(eraseLine + "\n" + what + "Ctrl-C once more ends the demo agent.\n\n")
}

// ask shows the row for input and returns the next input, free of white space around
// it and of control characters, which must not reach the terminal again. The row is
// taken away when there's something.
func (a *agent) ask(ctx context.Context) (string, error) {
	// What was typed during the answer was echoed into it.
	waiting, err := a.kb.hasLine(ctx)
	if err != nil {
		return "", err
	}
	rule := strings.Repeat("─", max(10, min(maxRule, a.kb.columns()-len(ruleEnd)-1))) + ruleEnd
	if err := a.print(rule + "\n" + prompt); err != nil {
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
	drawn := rule + "\n" + prompt + line + "\n"
	switch {
	case !a.kb.tty:
		return text, a.print("\n")
	case waiting:
		drawn = rule + "\n"
	}
	return text, a.print(fmt.Sprintf("\r\x1b[%dA\x1b[J", rowsOf(drawn, a.kb.columns())))
}

// think shows the spinner for a while.
func (a *agent) think(ctx context.Context) error {
	if a.opts.Think <= 0 {
		return nil
	}
	return a.pause(ctx, a.opts.Think)
}

// pause waits with the spinner as the last row.
func (a *agent) pause(ctx context.Context, d time.Duration) error {
	for shown := time.Duration(0); ; {
		if err := a.spin(); err != nil {
			return err
		}
		step := max(0, min(spinnerEvery, d-shown))
		if err := a.kb.pause(ctx, step); err != nil || shown+step >= d {
			return err
		}
		shown += step
	}
}

func (a *agent) spin() error {
	a.frame++
	return a.print(fmt.Sprintf("%s%s Working… (%.1fs · Ctrl-C interrupts)", eraseLine, spinnerFrames[a.frame%len(spinnerFrames)], time.Since(a.began).Seconds()))
}

// say streams a block of an answer, one line after the other, and keeps it when it's complete; of
// one that's interrupted, what was said of it.
func (a *agent) say(ctx context.Context, text string) error {
	return a.sayAt(ctx, text, a.opts.LineEvery)
}

func (a *agent) sayAt(ctx context.Context, text string, every time.Duration) error {
	mark, said := "● ", ""
	var stopped error
	for line := range strings.Lines(strings.TrimSuffix(text, "\n")) {
		shown := mark + strings.TrimSuffix(line, "\n")
		if err := a.print(eraseLine + coloured(shown) + "\n"); err != nil {
			return err
		}
		mark, said = "  ", said+line
		if stopped = a.pause(ctx, every); stopped != nil {
			break
		}
	}
	if stopped != nil && !errors.Is(stopped, errInterrupted) {
		return stopped
	}
	a.letters, a.said = a.letters+len(said), a.said+len(said)
	return errors.Join(a.print(eraseLine+"\n"), a.log.add(record{Kind: kindAnswer, Text: strings.TrimSuffix(said, "\n")}), stopped)
}

// coloured is a line of Markdown as it's shown: added and removed lines and code have a colour.
func coloured(line string) string {
	text := strings.TrimPrefix(strings.TrimPrefix(line, "● "), "  ")
	colour := ""
	switch {
	case strings.HasPrefix(text, "+"):
		colour = "32"
	case strings.HasPrefix(text, "-") && !strings.HasPrefix(text, "- "):
		colour = "31"
	case strings.HasPrefix(text, "```"), strings.HasPrefix(text, "fmt."):
		colour = "36"
	default:
		return line
	}
	return line[:len(line)-len(text)] + "\x1b[" + colour + "m" + text + "\x1b[0m"
}

// call calls a tool that does nothing: it's shown with its result.
func (a *agent) call(ctx context.Context, tool, with, result string) error {
	a.calls++
	id := strconv.Itoa(a.calls)
	text := tool + "(" + with + ")"
	err := errors.Join(a.print(eraseLine+"● "+text+"\n"), a.log.add(record{Kind: kindTool, ID: id, Tool: tool, Text: text, Args: &callArgs{with}}))
	if err != nil {
		return err
	}
	if err := a.pause(ctx, 4*a.opts.LineEvery); err != nil {
		return err
	}
	return errors.Join(a.print(eraseLine+"  ⎿ "+result+"\n\n"), a.log.add(record{Kind: kindResult, ID: id, Tool: tool, Text: result}))
}

func (a *agent) print(text string) error {
	if _, err := io.WriteString(a.out, text); err != nil {
		return fmt.Errorf("write to the terminal: %w", err)
	}
	return nil
}
