package commands

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/adapters/intake"
)

// interruptPause is how long it takes from one key of an interruption to the next: opencode
// 1.18.33 takes a second Escape right behind the first as one.
const interruptPause = 400 * time.Millisecond

// interruptProgram presses the keys that end what the session's program is doing. Shells, and
// programs of which nothing is known, take C-c.
func (a *Ask) interruptProgram() ([]string, error) {
	keys := []string{"C-c"}
	if a.runner.Interrupt != nil {
		if known := a.runner.Interrupt(a.Session); len(known) > 0 {
			keys = known
		}
	}
	for i, key := range keys {
		if i > 0 {
			select {
			case <-a.Ctx.Done():
				return keys, context.Cause(a.Ctx)
			case <-time.After(interruptPause):
			}
		}
		if err := a.pressKeys([]string{key}); err != nil {
			return keys, err
		}
	}
	return keys, nil
}

// stopCommand interrupts what a session is doing.
func stopCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "stop", Help: "Interrupt what the session is doing"},
		role:        access.Operator,
		session:     true,
		run: func(a *Ask) error {
			if err := a.nothingElse(); err != nil {
				return err
			}
			keys, err := a.interruptProgram()
			if err != nil {
				return err
			}
			return a.sayPressed(keys)
		},
	}
}

// escCommand presses Escape.
func escCommand() command {
	return command{
		CommandInfo: intake.CommandInfo{Name: "esc", Help: "Press Escape"},
		role:        access.Operator,
		session:     true,
		run: func(a *Ask) error {
			if err := a.nothingElse(); err != nil {
				return err
			}
			return a.pressAndSay([]string{"Escape"})
		},
	}
}
