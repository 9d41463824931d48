package service

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// Systemd installs the service and looks after it, for a user's own manager or the system's. Calls block for as
// long as systemd takes.
type Systemd struct {
	Call   Caller
	Folder string            // of the unit files
	System bool              // root's manager, not the user's own
	User   string            // whose the service is
	Say    func(line string) // is told of each thing that was done
}

// UserUnits is where a user's own manager finds units, below the user's configuration folder.
func UserUnits(configHome string) string { return filepath.Join(configHome, "systemd", "user") }

// SystemUnits is where root puts units.
const SystemUnits = "/etc/systemd/system"

// Files are what an installation writes.
func (d Systemd) Files(s Spec) ([]UnitFile, error) {
	if err := s.check(); err != nil {
		return nil, err
	}
	var out []UnitFile
	for _, u := range Units(s) {
		out = append(out, UnitFile{filepath.Join(d.Folder, u.Name), u.Text()})
	}
	return out, nil
}

// Install writes the units, has them started with the machine or the user's login, and starts the daemon, or starts it
// anew if its unit has changed. It returns when the daemon is ready. What it did until an error is undone.
// ErrEdited: somebody has edited a unit, and replace is false.
func (d Systemd) Install(ctx context.Context, s Spec, replace bool) error {
	files, err := d.Files(s)
	if err != nil {
		return err
	}
	states, err := lookToWrite(files, replace)
	if err != nil {
		return err
	}
	if err := d.CheckManager(ctx); err != nil {
		return err
	}
	t := &trail{say: d.Say}
	if err := d.install(ctx, t, states); err != nil {
		log := d.lastWords(ctx)
		return errors.Join(fmt.Errorf("install the service: %w%s", err, log), t.undo(ctx))
	}
	return nil
}

func (d Systemd) install(ctx context.Context, t *trail, states []fileAt) error {
	// Whatever of the steps below is undone, the manager has to read the units as they're then.
	reload := func(ctx context.Context) error { return d.systemctl(ctx, "daemon-reload") }
	running := d.isActive(ctx, DaemonUnit)
	if running {
		t.done = append(t.done, step{"the daemon's restart", func(ctx context.Context) error {
			return d.systemctl(ctx, "restart", TmuxUnit, DaemonUnit)
		}})
	}
	t.done = append(t.done, step{"have systemd read its units", reload})
	changed, err := t.writeFiles(states)
	if err != nil {
		return err
	}
	if changed {
		if err := reload(ctx); err != nil {
			return err
		}
	} else if running {
		t.done = t.done[1:] // nothing that runs was touched
	}
	d.linger(ctx, t)
	for _, unit := range []string{TmuxUnit, DaemonUnit} {
		if d.isEnabled(ctx, unit) {
			continue
		}
		if err := d.systemctl(ctx, "enable", unit); err != nil {
			return err
		}
		t.add("enabled "+unit+": it's started "+d.startsWith(), func(ctx context.Context) error { return d.systemctl(ctx, "disable", unit) })
	}
	if running && !changed {
		t.add("runs, and wasn't touched: "+DaemonUnit, nil)
		return nil
	}
	// One that had failed too often may be started again.
	_ = d.systemctl(ctx, "reset-failed", TmuxUnit, DaemonUnit) // fails for units that aren't known yet
	if !running {
		t.done = append(t.done, step{"started " + DaemonUnit, func(ctx context.Context) error {
			return d.systemctl(ctx, "stop", DaemonUnit, TmuxUnit)
		}})
	}
	if err := d.systemctl(ctx, "restart", TmuxUnit, DaemonUnit); err != nil {
		return err
	}
	t.say("started " + DaemonUnit + ", and it's ready")
	return nil
}

func (d Systemd) startsWith() string {
	if d.System {
		return "with the machine"
	}
	return "with the user's manager"
}

// CheckManager says why there's no systemd to talk to.
func (d Systemd) CheckManager(ctx context.Context) error {
	_, err := d.Call(ctx, "systemctl", d.args("show", "--property=Version")...)
	if err == nil {
		return nil
	}
	if d.System {
		return fmt.Errorf("reach systemd: %w", err)
	}
	return fmt.Errorf("reach your systemd, which a login begins (not sudo or su; `machinectl shell %s@` is one): %w", d.User, err)
}

// linger has the user's manager run from the machine's start, and not end with the last login. It says why if it can't.
func (d Systemd) linger(ctx context.Context, t *trail) {
	if d.System {
		return
	}
	out, err := d.Call(ctx, "loginctl", "show-user", d.User, "--property=Linger", "--value")
	if err == nil && strings.TrimSpace(out) == "yes" {
		t.add("lingering is on: agents go on when you log out", nil)
		return
	}
	if _, err := d.Call(ctx, "loginctl", "enable-linger", d.User); err != nil {
		t.say(fmt.Sprintf("lingering is off, so the daemon and all agents end when you log out: as root, run `loginctl enable-linger %s` (%v)", d.User, err))
		return
	}
	t.add("switched lingering on: the daemon starts with the machine, and agents go on when you log out", func(ctx context.Context) error {
		_, err := d.Call(ctx, "loginctl", "disable-linger", d.User)
		return err
	})
}

// Uninstall stops the daemon and removes the units. Agents go on in their tmux servers. ErrNotInstalled: there are no units.
func (d Systemd) Uninstall(ctx context.Context) error {
	states, err := lookAt([]UnitFile{{Path: filepath.Join(d.Folder, DaemonUnit)}, {Path: filepath.Join(d.Folder, TmuxUnit)}})
	if err != nil {
		return err
	}
	if !states[0].there && !states[1].there {
		return ErrNotInstalled
	}
	if err := d.CheckManager(ctx); err != nil {
		return err
	}
	for _, unit := range []string{DaemonUnit, TmuxUnit} {
		_ = d.systemctl(ctx, "disable", unit) // one whose file is gone isn't
		if !d.isActive(ctx, unit) {
			continue
		}
		if err := d.systemctl(ctx, "stop", unit); err != nil {
			return err
		}
		d.Say("stopped " + unit)
	}
	t := &trail{say: d.Say}
	if _, err := t.removeFiles(states); err != nil {
		return err
	}
	if err := d.systemctl(ctx, "daemon-reload"); err != nil {
		return err
	}
	_ = d.systemctl(ctx, "reset-failed", DaemonUnit, TmuxUnit) // fails for units that haven't failed
	if !d.System {
		d.Say("lingering stays as it is, as agents may run: `loginctl disable-linger " + d.User + "` switches it off")
	}
	return nil
}

// Restart starts both units anew and returns when the daemon is ready. Agents go on.
func (d Systemd) Restart(ctx context.Context) error {
	if err := d.checkInstalled(); err != nil {
		return err
	}
	_ = d.systemctl(ctx, "reset-failed", TmuxUnit, DaemonUnit) // one that had failed too often may be started again
	if err := d.systemctl(ctx, "restart", TmuxUnit, DaemonUnit); err != nil {
		return fmt.Errorf("restart the service: %w%s", err, d.lastWords(ctx))
	}
	d.Say("started " + DaemonUnit + " anew, and it's ready")
	return nil
}

func (d Systemd) checkInstalled() error {
	states, err := lookAt([]UnitFile{{Path: filepath.Join(d.Folder, DaemonUnit)}})
	if err == nil && !states[0].there {
		err = ErrNotInstalled
	}
	return err
}

// Status says how the units are, a line each, and whether the daemon runs.
func (d Systemd) Status(ctx context.Context) (lines []string, runs bool, err error) {
	if err := d.checkInstalled(); err != nil {
		return nil, false, err
	}
	for _, unit := range []string{DaemonUnit, TmuxUnit} {
		out, err := d.Call(ctx, "systemctl", d.args("show", unit, "--property=ActiveState,SubState,MainPID,NRestarts,Result,UnitFileState,NeedDaemonReload")...)
		if err != nil {
			return nil, false, fmt.Errorf("ask systemd: %w", err)
		}
		has := map[string]string{}
		for line := range strings.Lines(out) {
			key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
			has[key] = value
		}
		line := fmt.Sprintf("%s: %s (%s), process %s, %s, started anew %s times", unit, has["ActiveState"], has["SubState"], has["MainPID"], has["UnitFileState"], has["NRestarts"])
		if has["Result"] != "success" {
			line += ", ended last by: " + has["Result"]
		}
		if has["NeedDaemonReload"] == "yes" {
			line += ", its file has changed since: systemctl daemon-reload"
		}
		lines = append(lines, line)
		if unit == DaemonUnit {
			runs = has["ActiveState"] == "active" || has["ActiveState"] == "reloading"
		}
	}
	return lines, runs, nil
}

// LogCommand is what shows the units' log: the last lines, and with follow those that come.
func (d Systemd) LogCommand(lines string, follow bool) []string {
	args := []string{"journalctl"}
	if !d.System {
		args = append(args, "--user")
	}
	args = append(args, "--no-pager", "--lines="+lines, "--unit="+DaemonUnit, "--unit="+TmuxUnit)
	if follow {
		args = append(args, "--follow")
	}
	return args
}

// lastWords are the last lines of the log, for an error.
func (d Systemd) lastWords(ctx context.Context) string {
	args := d.LogCommand("5", false)
	out, err := d.Call(context.WithoutCancel(ctx), args[0], append(args[1:], "--output=cat")...)
	if out = strings.TrimSpace(out); err != nil || out == "" {
		return ""
	}
	return "\nthe last lines of its log:\n" + out
}

func (d Systemd) isActive(ctx context.Context, unit string) bool {
	_, err := d.Call(ctx, "systemctl", d.args("is-active", "--quiet", unit)...)
	return err == nil
}

func (d Systemd) isEnabled(ctx context.Context, unit string) bool {
	_, err := d.Call(ctx, "systemctl", d.args("is-enabled", "--quiet", unit)...)
	return err == nil
}

func (d Systemd) systemctl(ctx context.Context, args ...string) error {
	_, err := d.Call(ctx, "systemctl", d.args(args...)...)
	return err
}

func (d Systemd) args(args ...string) []string {
	if d.System {
		return args
	}
	return append([]string{"--user"}, args...)
}
