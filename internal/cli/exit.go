package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/api/client"
	"github.com/panebridge/panebridge/internal/statedir"
)

// Exit codes.
const (
	exitDone       = 0
	exitFailed     = 1
	exitUsage      = 2 // wrong usage or configuration
	exitNotRunning = 3 // the daemon isn't running, and is needed
	exitTimedOut   = 4
)

// exitError is an error with an exit code of its own.
type exitError struct {
	code int
	err  error // nil: all has been said
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// usageErrorf is for what the person who typed the command can correct.
func usageErrorf(format string, args ...any) error {
	return &exitError{exitUsage, fmt.Errorf(format, args...)}
}

// silently ends with an exit code when a command has printed what's wrong.
func silently(code int) error { return &exitError{code: code} }

// finish prints an error and returns the exit code.
func (p *program) finish(err error) int {
	if err == nil {
		return exitDone
	}
	if e, ok := errors.AsType[*exitError](err); ok {
		if e.err != nil {
			p.printError(e.err)
		}
		return e.code
	}
	if errors.Is(err, client.ErrNotRunning) {
		dir, _ := p.stateDir() // it was found before
		p.notef("panebridge: the daemon isn't running, as nobody listens on %s: start it with `%s`", statedir.SocketPath(dir), p.starter(dir))
		return exitNotRunning
	}
	p.printError(err)
	if _, wrong := errors.AsType[*config.Errors](err); wrong {
		return exitUsage
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return exitTimedOut
	}
	return exitFailed
}

// printError prints a sentence; problems of a configuration are one a line, as
// editors and people read them.
func (p *program) printError(err error) {
	if problems, ok := errors.AsType[*config.Errors](err); ok {
		p.notef("%s", problems)
		return
	}
	switch {
	case errors.Is(err, fs.ErrPermission) && errors.Is(err, errCalling):
		p.notef("panebridge: no permission on the daemon's socket: run this as the user who runs the daemon (%v)", err)
	case errors.Is(err, context.DeadlineExceeded) && errors.Is(err, errCalling):
		p.notef("panebridge: the daemon took too long to answer: `panebridge doctor` says what is wrong with it (%v)", err)
	default:
		p.notef("panebridge: %v", err)
	}
}
