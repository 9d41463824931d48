package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// How often a receipt is asked for: soon at first, because a text is usually
// submitted within a second.
const (
	receiptEveryMin = 50 * time.Millisecond
	receiptEveryMax = 500 * time.Millisecond
)

// inputFlags are the flags of `input`.
type inputFlags struct {
	noSubmit bool
	wait     bool
	timeout  time.Duration
	asJSON   bool
	anyway   string // "": a text is given; justLook, or the screen that was looked at
}

func newInput(p *invocation) *cobra.Command {
	var f inputFlags
	cmd := &cobra.Command{
		Use:   "input SESSION [TEXT]",
		Short: "Type a text into a session and see it submitted",
		Long: `Type a text into a session's pane, press Enter behind it, and print how far it
got until it's submitted. Without TEXT, or with "-", the text is read from
standard input, and one line end at its end is cut. The text stays queued when
this command ends before it's typed.

A text that's held because a dialog's words are on the screen, though no dialog is
recognised there, can be sent all the same: --anyway shows the screen and what waits,
--anyway=SCREEN sends it, if the screen is still that one.

Exit code 1 when the input failed, 4 when it's not done by the time-out.`,
		Example: "  panebridge input demo \"count 20\"\n  panebridge input demo -- \"- a text that begins with a dash\"\n" +
			"  git diff | panebridge input reviewer",
		Args:              takes(1, 2),
		ValidArgsFunction: p.completeSession,
		RunE: func(cmd *cobra.Command, args []string) error {
			if f.anyway == "" && cmd.Flags().Changed("anyway") { // of an unset variable, say
				return usageErrorf("--anyway= names no screen; without \"=\" it shows which")
			}
			if f.anyway != "" && len(args) > 1 {
				return usageErrorf("--anyway sends the text that's held; leave %q out", args[1])
			}
			text, err := "", error(nil)
			if f.anyway == "" {
				text, err = p.inputText(args[1:])
			}
			if err != nil {
				return err
			}
			c, err := p.dial()
			if err != nil {
				return err
			}
			defer c.Close()
			if f.anyway != "" {
				return calling(p.anyway(cmd.Context(), c, args[0], f))
			}
			return calling(p.input(cmd.Context(), c, args[0], text, f))
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&f.noSubmit, "no-submit", false, "don't press Enter behind the text")
	flags.BoolVar(&f.wait, "wait", true, "wait until the text is submitted, or typed with --no-submit")
	flags.DurationVar(&f.timeout, "timeout", 30*time.Second, "how long to wait")
	flags.StringVar(&f.anyway, "anyway", "", "send a held text on the screen, or to the program, that was looked at; without one: show it")
	flags.Lookup("anyway").NoOptDefVal = justLook
	jsonFlag(cmd, &f.asJSON)
	return cmd
}

// inputText returns the text to type: the argument, or all of standard input.
func (p *invocation) inputText(args []string) (string, error) {
	if len(args) > 0 && args[0] != "-" {
		return args[0], nil
	}
	if isTerminal(p.stdio.In) {
		p.notef("Write the text; Ctrl-D on a line of its own ends it.")
	}
	// Two bytes more than may be: the line end that's cut, and one too many.
	text, err := io.ReadAll(io.LimitReader(p.stdio.In, sessions.MaxInputBytes+2))
	if err != nil {
		return "", fmt.Errorf("read the text from standard input: %w", err)
	}
	if len(text) == 0 { // what was to write it failed, say
		return "", usageErrorf("standard input is empty: nothing was typed; give \"\" as the text to press Enter alone")
	}
	if n := len(text); n > 0 && text[n-1] == '\n' {
		text = text[:n-1]
	}
	if len(text) > sessions.MaxInputBytes {
		return "", fmt.Errorf("the text has more than %d bytes: put it into a file and have the session read it", sessions.MaxInputBytes)
	}
	return string(text), nil
}

func (p *invocation) input(ctx context.Context, c *client.Client, session, text string, f inputFlags) error {
	callCtx, cancel := p.callContext(ctx, c, callTimeout)
	defer cancel()
	s, err := findLiving(callCtx, c, session)
	if err != nil {
		return err
	}
	r, err := c.Input(callCtx, string(s.ID), text, !f.noSubmit)
	if err != nil {
		return err
	}
	return p.untilDone(ctx, c, r, f)
}

// untilDone prints how far an input is, and waits until it's done if that's wanted.
func (p *invocation) untilDone(ctx context.Context, c *client.Client, r sessions.Receipt, f inputFlags) error {
	err := p.printReceipt(r, f.asJSON)
	if err != nil {
		return err
	}
	if f.wait {
		if r, err = p.follow(ctx, c, r, f); err != nil {
			return err
		}
	}
	if r.State == sessions.ReceiptFailed || r.State == sessions.ReceiptCancelled {
		return silently(exitFailed) // its line says why
	}
	return nil
}

// follow prints a receipt's changes until it's final. A daemon that's being
// restarted is waited for: the receipt outlives it.
func (p *invocation) follow(ctx context.Context, c *client.Client, r sessions.Receipt, f inputFlags) (sessions.Receipt, error) {
	ctx, cancel := context.WithTimeout(ctx, f.timeout)
	defer cancel()
	var callErr error
	for pause := receiptEveryMin; !r.Final(); pause = min(2*pause, receiptEveryMax) {
		select {
		case <-ctx.Done():
			if ctx.Err() == nil || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
				return r, ctx.Err()
			}
			return r, &exitError{exitTimedOut, stillWaiting(r, f.timeout, callErr)}
		case <-time.After(pause):
		}
		now, err := c.Quiet().Receipt(ctx, r.ID)
		switch {
		case client.Inside(err):
			return r, nil
		case err == nil:
			callErr = nil
		case ctx.Err() != nil:
			continue
		case errors.Is(err, client.ErrNotRunning), errors.Is(err, io.EOF):
			callErr = err
			continue
		default:
			return r, err
		}
		changed := now.State != r.State || now.Reason != r.Reason || now.Quoted != r.Quoted
		if r = now; changed && r.State != sessions.ReceiptTyping { // that state is over in no time
			if err := p.printReceipt(r, f.asJSON); err != nil {
				return r, err
			}
		}
	}
	return r, nil
}

// stillWaiting says what to do about an input that isn't done in time.
func stillWaiting(r sessions.Receipt, after time.Duration, callErr error) error {
	if callErr != nil {
		return fmt.Errorf("the text was %s when the daemon stopped; it's taken up again when it runs (%w)", r.State, callErr)
	}
	if r.Quoted != "" {
		return fmt.Errorf("the text is held after %s: %s. `panebridge input %s --anyway` shows the screen, and how to send it all the same", after, r.Reason, r.Session)
	}
	if r.State == sessions.ReceiptHeld {
		return fmt.Errorf("the text is held after %s: %s; see `panebridge screen %s`", after, r.Reason, r.Session)
	}
	return fmt.Errorf("the text is still %s after %s and stays queued: see `panebridge screen %s`", r.State, after, r.Session)
}

func (p *invocation) printReceipt(r sessions.Receipt, asJSON bool) error {
	switch {
	case asJSON:
		return p.printJSONLine(r)
	case r.Reason == "":
		return p.printf("%s\n", r.State)
	default:
		return p.printf("%s: %s\n", r.State, r.Reason)
	}
}

// isTerminal reports whether a stream is a terminal.
func isTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && isTerminalFile(f)
}

// justLook is the value of --anyway that's given without one.
const justLook = "look"

// anyway shows the screen on which only a dialog's words hold a text, or sends the text
// if the screen is still the one that was looked at.
func (p *invocation) anyway(ctx context.Context, c *client.Client, session string, f inputFlags) error {
	callCtx, cancel := p.callContext(ctx, c, answerTimeout)
	defer cancel()
	s, err := findLiving(callCtx, c, session)
	if err != nil {
		return err
	}
	r, err := heldByWords(callCtx, c, s)
	if err != nil {
		return err
	}
	if f.anyway == justLook {
		return p.showHeld(callCtx, c, s, r)
	}
	if r, err = c.SendAnyway(callCtx, r.ID, f.anyway); err != nil {
		return err
	}
	return p.untilDone(ctx, c, r, f)
}

// heldByWords is the text that only a dialog's words hold: none but the first of those
// that wait can be.
func heldByWords(ctx context.Context, c *client.Client, s api.Session) (sessions.Receipt, error) {
	waiting, err := c.Waiting(ctx, string(s.ID))
	switch {
	case err != nil:
		return sessions.Receipt{}, err
	case len(waiting) == 0:
		return sessions.Receipt{}, fmt.Errorf("no text waits for %s", s.Name)
	case waiting[0].Quoted == "" && waiting[0].Reason != "":
		return sessions.Receipt{}, fmt.Errorf("the text that waits for %s can't be sent anyway now: %s", s.Name, waiting[0].Reason)
	case waiting[0].Quoted == "":
		return sessions.Receipt{}, fmt.Errorf("the text that waits for %s isn't held: it's %s", s.Name, waiting[0].State)
	}
	return waiting[0], nil
}

// showHeld prints the screen, what waits, and how to send it. The screen may be another
// by then: what's sent is bound to the one before it.
func (p *invocation) showHeld(ctx context.Context, c *client.Client, s api.Session, r sessions.Receipt) error {
	screen, err := c.Screen(ctx, string(s.ID), "text")
	if err != nil {
		return err
	}
	for line := range strings.Lines(strings.TrimRight(screen, "\n ") + "\n") {
		if err := p.printf("  | %s\n", strings.TrimRight(line, "\n ")); err != nil {
			return err
		}
	}
	sends := "If no dialog is open there, and nothing half-typed stands there, this sends it:"
	if r.Front != "" {
		sends = "This types it into " + r.Front + " all the same:"
	}
	return p.printf("%s: %s\nby %s: %s\n%s\npanebridge input %s --anyway=%s\n",
		r.State, r.Reason, r.Author, strings.Join(strings.Fields(r.Text), " "), sends, s.ID, r.Quoted)
}

func newKeys(p *invocation) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "keys SESSION KEY…",
		Short: "Press keys in a session's pane",
		Long: `Press keys in a session's pane, at once and whatever is on its screen. Keys have
tmux's names: Enter, Escape, Tab, BTab, BSpace, Space, Up, Down, Left, Right,
Home, End, PageUp, PageDown, F1 to F12, C-c (Ctrl), M-x (Alt), S-Up (Shift), or
are single characters. For text, use "panebridge input".`,
		Example:           "  panebridge keys demo Down Enter\n  panebridge keys demo C-c",
		Args:              takes(2, -1),
		ValidArgsFunction: p.completeSession,
		RunE: p.withDaemon(func(ctx context.Context, c *client.Client, args []string) error {
			s, err := findLiving(ctx, c, args[0])
			if err != nil {
				return err
			}
			if err := c.Keys(ctx, string(s.ID), args[1:]...); err != nil {
				return err
			}
			if asJSON {
				return p.printJSON(map[string]any{"session": s.ID, "keys": args[1:]})
			}
			return nil
		}),
	}
	jsonFlag(cmd, &asJSON)
	return cmd
}
