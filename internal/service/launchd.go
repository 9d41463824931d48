package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Launchd installs the service and looks after it, as a user's agent or a daemon of the system. Calls block for as
// long as launchd takes; it doesn't tell when the daemon is ready.
type Launchd struct {
	Call   Caller
	Folder string            // of the property list
	Domain string            // such as gui/501, or system
	Say    func(line string) // is told of each thing that was done
}

// UserJobs is where launchd finds a user's agents, below the home folder.
func UserJobs(home string) string { return filepath.Join(home, "Library", "LaunchAgents") }

// SystemJobs is where root puts daemons.
const SystemJobs = "/Library/LaunchDaemons"

func (l Launchd) file() string   { return filepath.Join(l.Folder, JobLabel+".plist") }
func (l Launchd) target() string { return l.Domain + "/" + JobLabel }

// Files are what an installation writes.
func (l Launchd) Files(s Spec) ([]UnitFile, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	return []UnitFile{{l.file(), NewJob(s).Text()}}, nil
}

// Install writes the property list and has launchd take it up, anew if it has changed. What it did until an error is
// undone. ErrEdited: somebody has edited the list, and replace is false.
func (l Launchd) Install(ctx context.Context, s Spec, replace bool) error {
	files, err := l.Files(s)
	if err != nil {
		return err
	}
	states, err := lookToWrite(files, replace)
	if err != nil {
		return err
	}
	t := &trail{say: l.Say}
	if err := l.install(ctx, t, states); err != nil {
		return errors.Join(fmt.Errorf("install the service: %w", err), t.undo(ctx))
	}
	return nil
}

func (l Launchd) install(ctx context.Context, t *trail, states []fileAt) error {
	loaded := l.isLoaded(ctx)
	if loaded {
		t.done = append(t.done, step{"the job's end", func(ctx context.Context) error {
			if l.isLoaded(ctx) {
				return nil
			}
			return l.launchctl(ctx, "bootstrap", l.Domain, l.file())
		}})
	}
	changed, err := t.writeFiles(states)
	if err != nil {
		return err
	}
	if loaded && !changed {
		t.add("runs, and wasn't touched: "+JobLabel, nil)
		return nil
	}
	if loaded {
		if err := l.launchctl(ctx, "bootout", l.target()); err != nil {
			return err
		}
	}
	if err := l.launchctl(ctx, "bootstrap", l.Domain, l.file()); err != nil {
		return err
	}
	t.say("started " + JobLabel)
	return nil
}

// Uninstall ends the daemon and removes the property list. Agents go on in their tmux servers. ErrNotInstalled: there's none.
func (l Launchd) Uninstall(ctx context.Context) error {
	states, err := lookAt([]UnitFile{{Path: l.file()}})
	if err != nil {
		return err
	}
	if !states[0].there {
		return ErrNotInstalled
	}
	if l.isLoaded(ctx) {
		if err := l.launchctl(ctx, "bootout", l.target()); err != nil {
			return err
		}
		l.Say("stopped " + JobLabel)
	}
	t := &trail{say: l.Say}
	_, err = t.removeFiles(states)
	return err
}

// Restart starts the daemon anew. Agents go on.
func (l Launchd) Restart(ctx context.Context) error {
	if err := l.launchctl(ctx, "kickstart", "-k", l.target()); err != nil {
		return fmt.Errorf("restart the service: %w", err)
	}
	l.Say("started " + JobLabel + " anew")
	return nil
}

// CheckManager returns an error if launchd has no domain for the job, as that of somebody who isn't logged in.
func (l Launchd) CheckManager(ctx context.Context) error {
	if _, err := l.Call(ctx, "launchctl", "print", l.Domain); err != nil {
		return fmt.Errorf("ask launchd: %w", err)
	}
	return nil
}

// Status says how the job is, and whether the daemon runs.
func (l Launchd) Status(ctx context.Context) (lines []string, runs bool, err error) {
	states, err := lookAt([]UnitFile{{Path: l.file()}})
	if err == nil && !states[0].there {
		err = ErrNotInstalled
	}
	if err != nil {
		return nil, false, err
	}
	out, err := l.Call(ctx, "launchctl", "print", l.target())
	if err != nil {
		return []string{JobLabel + ": not loaded"}, false, nil //nolint:nilerr // that's what it says of a job it hasn't got
	}
	for line := range strings.Lines(out) {
		switch key, value, _ := strings.Cut(strings.TrimSpace(line), " = "); key {
		case "state", "pid", "runs", "last exit code":
			lines = append(lines, JobLabel+": "+key+" "+value)
			runs = runs || key == "state" && value == "running"
		}
	}
	return lines, runs, nil
}

// LogCommand is what shows the daemon's log: the last lines, and with follow those that come.
func (l Launchd) LogCommand(s Spec, lines string, follow bool) []string {
	args := []string{"tail", "-n", lines}
	if follow {
		args = append(args, "-F")
	}
	return append(args, NewJob(s).LogFile)
}

func (l Launchd) isLoaded(ctx context.Context) bool {
	_, err := l.Call(ctx, "launchctl", "print", l.target())
	return err == nil
}

func (l Launchd) launchctl(ctx context.Context, args ...string) error {
	_, err := l.Call(ctx, "launchctl", args...)
	return err
}
