package tmux

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// folderVariable tells startScript the folder. tmux itself isn't told: its -c is a format,
// whose escapes differ between versions, and without a word it starts a program elsewhere
// if it can't enter the folder. tmux keeps a pane's command and not its environment, so
// that a program that's started anew can be given another folder.
const folderVariable = "PANEBRIDGE_FOLDER"

// startScript runs its arguments as a program, in the folder that it's told or not at all,
// and ends with that program's status, but not before tmux has read all its output. The
// program gets neither the script's variables nor the shell's own commands in its stead.
//
// tmux 3.3a drops what it hasn't read when a pane's program ends: `seq 1 1000` lost its end
// in one of six runs, and even three lines were lost in one of thirty. So the terminal is
// asked for its status (DSR), which tmux answers in order, behind all that was printed;
// after two seconds without an answer the script ends all the same.
//
// tmux 3.3a also loses the exit status, in one of four runs, when it sees the
// terminal closed before it hears of the program's end. Therefore a sleep keeps
// the terminal open for a moment longer.
//
// The traps keep the shell alive when the program is interrupted from the
// keyboard; traps with a command are reset in the program, so it gets the
// signals as ever.
const startScript = `trap : INT QUIT TSTP
if [ -z "$` + folderVariable + `" ] || cd -P -- "$` + folderVariable + `" 2>/dev/null; then
PWD=${` + folderVariable + `:-$PWD}; unset ` + folderVariable + ` OLDPWD
(exec "$@"); s=$?
else echo "` + notEntered + `"; s=125; fi
trap '' INT QUIT TSTP
stty -echo -icanon min 0 time 20 2>/dev/null && printf '\033[5n' && head -c 4 >/dev/null
trap '' HUP; sleep 0.5 & exit $s`

// What a pane shows whose folder can't be entered, and how it ends.
const (
	notEntered       = "panebridge can't enter the session's folder"
	notEnteredStatus = 125
)

// scripted wraps a program's arguments in startScript.
func scripted(command []string) []string {
	return append([]string{"sh", "-c", startScript, "sh"}, command...)
}

// checkStart refuses what a program can't be started with as it is.
func checkStart(req sessions.PaneRequest) error {
	var errs []error
	if req.Cwd != "" && !filepath.IsAbs(req.Cwd) {
		errs = append(errs, fmt.Errorf("%w folder %q: give an absolute path", sessions.ErrInvalid, req.Cwd))
	}
	errs = append(errs, checkText("folder", req.Cwd))
	for i, arg := range req.Command {
		errs = append(errs, checkText("argument "+strconv.Itoa(i), arg))
	}
	if len(req.Command) > 0 && (req.Command[0] == "" || req.Command[0][0] == '-') { // bash's exec would take it for an option
		errs = append(errs, fmt.Errorf("%w program %.60q: give its name or path, which doesn't begin with -", sessions.ErrInvalid, req.Command[0]))
	}
	for _, kv := range req.Env {
		errs = append(errs, checkVariable(kv))
	}
	return errors.Join(errs...)
}

// takenNames are variables that tmux, or a shell that begins, sets itself whatever it's
// given: measured with dash and with bash as sh, which takes all of BASH_… as well.
var takenNames = []string{ //nolint:gochecknoglobals // a constant table
	"PWD", "SHELL", "TMUX_PANE", "OLDPWD", folderVariable,
	"IFS", "OPTIND", "PPID", // and these are both shells'
	"BASH", "BASHOPTS", "BASHPID", "COMP_WORDBREAKS", "EPOCHREALTIME", "EPOCHSECONDS", "HISTCMD", "LINENO", "OPTERR",
	"PS1", "PS2", "PS4", "RANDOM", "SHELLOPTS", "SHLVL", "SRANDOM", "_",
}

func taken(name string) bool {
	return slices.Contains(takenNames, name) || strings.HasPrefix(name, "BASH_") && name != "BASH_ENV"
}

func checkVariable(kv string) error {
	name, value, ok := strings.Cut(kv, "=")
	switch {
	case !ok || !envNames.MatchString(name):
		return fmt.Errorf("%w environment variable %.60q: write NAME=value, with letters, digits and _ in the name, which doesn't begin with a digit", sessions.ErrInvalid, name)
	case taken(name):
		return fmt.Errorf("%w environment variable %s: tmux and the shell set it themselves; begin the command with `env %s=…` instead", sessions.ErrInvalid, name, name)
	}
	return checkText("environment variable "+name, value)
}

// startOptions are those of new-window and respawn-pane. A pane that's made begins in /,
// which there is, and goes from there to its folder.
func startOptions(req sessions.PaneRequest) string {
	var b strings.Builder
	if len(req.Command) > 0 {
		b.WriteString(" -c /")
	}
	for _, kv := range req.Env {
		b.WriteString(" -e " + quote(kv))
	}
	if req.Cwd != "" {
		b.WriteString(" -e " + quote(folderVariable+"="+req.Cwd))
	}
	if len(req.Command) > 0 {
		b.WriteString(" --" + quoteAll(scripted(req.Command)))
	}
	return b.String()
}

// How often it's looked whether a pane is in its folder. A shell takes about 2 ms to go there.
const (
	enteredFirst = time.Millisecond
	enteredMost  = 20 * time.Millisecond
)

// awaitEntered waits until a pane that has just been started is in its folder, and fails
// if it can't enter it. Where processes can't be looked at it doesn't wait: such a pane
// shows notEntered and ends.
func (l *live) awaitEntered(ctx context.Context, pane string, pid int, folder string) error {
	if folder == "" || !canLook(l.identity.PID) {
		return nil
	}
	for pause := enteredFirst; ; pause = min(2*pause, enteredMost) {
		if isIn(pid, folder) {
			return nil
		}
		s, err := l.snapshot(ctx, pane, sessions.Window{Start: -1}) // the last row scrolls when the pane is dead
		switch {
		case err != nil:
			return fmt.Errorf("look whether it's in its folder: %w", err)
		case refused(s):
			return notEnteredError(folder)
		case s.Dead && (s.DeadStatus >= 0 || s.DeadSignal != ""): // and so it was in its folder
			return nil
		}
		if !rest(ctx, pause) {
			return fmt.Errorf("wait until it's in its folder: %w: %w", sessions.ErrUnavailable, ctx.Err())
		}
	}
}

// refused reports whether startScript hasn't entered the folder. What's above the screen
// may be an earlier program's, until this one has ended.
func refused(s sessions.Snapshot) bool {
	rows := s.Rows
	if !s.Dead {
		rows = rows[max(0, len(rows)-s.Height):]
	} else if s.DeadStatus != notEnteredStatus {
		return false
	}
	return strings.Contains(strings.Join(rows, ""), notEntered)
}

// notEnteredError says that a folder can't be entered, and why if it's seen from here too.
func notEnteredError(folder string) error {
	err := sessions.CheckFolder(folder)
	if err == nil {
		err = fmt.Errorf("%w folder %q: the tmux server's user can't enter it", sessions.ErrInvalid, folder)
	}
	return err
}

// canLook reports whether this process sees those of the tmux server.
func canLook(server int) bool {
	name, err := os.ReadFile(proc(server, "comm"))
	return err == nil && strings.HasPrefix(string(name), "tmux")
}

// isIn reports whether a process is in a folder.
func isIn(pid int, folder string) bool {
	is, err := os.Stat(proc(pid, "cwd"))
	if err != nil {
		return false
	}
	if want, err := os.Stat(folder); err == nil {
		return os.SameFile(is, want)
	}
	path, err := os.Readlink(proc(pid, "cwd"))
	return err == nil && path == filepath.Clean(folder)
}

func proc(pid int, file string) string { return filepath.Join("/proc", strconv.Itoa(pid), file) }
