package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/panebridge/panebridge/internal/api"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/sessions"
)

// justLook is the value of --anyway that's given without one.
const justLook = "look"

// anyway shows the screen on which only a dialog's words hold a text, or sends the text
// if the screen is still the one that was looked at.
func (p *program) anyway(ctx context.Context, c *client.Client, session string, f inputFlags) error {
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
func (p *program) showHeld(ctx context.Context, c *client.Client, s api.Session, r sessions.Receipt) error {
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
