package voice

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

const (
	pathMark  = "{}"            // stands for the recording's path
	closeWait = 2 * time.Second // for what a program that was killed has left open
	maxReason = 200             // bytes of what a program says that failed
)

// passedOn are the variables that a command gets: none of them has a secret.
var passedOn = []string{"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "LD_LIBRARY_PATH"} //nolint:gochecknoglobals // a constant table

// run has the command transcribe a recording. When it returns, the program and what it began have ended.
func (t *Transcriber) run(ctx context.Context, recording *os.File) (string, error) {
	path := recording.Name()
	if err := checkSame(recording); err != nil {
		return "", err
	}
	args := slices.Clone(t.opt.Command)
	if at := slices.Index(args, pathMark); at >= 0 {
		args[at] = path
	} else {
		args = append(args, path)
	}
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	for _, name := range passedOn {
		if value, ok := os.LookupEnv(name); ok {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	out, complaint := regular.NewBeginning(maxAnswer, nil), regular.NewBeginning(maxAnswer, nil)
	cmd.Stdout, cmd.Stderr = out, complaint
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = closeWait
	err := cmd.Run()
	if cmd.Process != nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) // what it has left behind, if anything
	}
	switch {
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, os.ErrNotExist), errors.Is(err, os.ErrPermission):
		return "", fmt.Errorf("%s can't be run: is it installed?", args[0])
	case err != nil:
		if reason := lastLine(complaint.String()); reason != "" {
			return "", fmt.Errorf("%s failed: %s", args[0], reason)
		}
		return "", fmt.Errorf("%s failed: %w", args[0], err)
	case out.HasMore():
		return "", fmt.Errorf("%s wrote more than %d bytes", args[0], maxAnswer)
	}
	return out.String(), nil
}

// lastLine is the last line of a text that has something, cut.
func lastLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	last := lines[len(lines)-1]
	return oneLine(last[:min(len(last), maxReason)])
}

// checkSame refuses a recording whose name leads to another file by now, or by a link.
func checkSame(recording *os.File) error {
	opened, err := recording.Stat()
	if err != nil {
		return fmt.Errorf("look at the recording: %w", err)
	}
	if there, err := os.Lstat(recording.Name()); err != nil || !os.SameFile(opened, there) {
		return errors.New("the recording isn't there any more")
	}
	return nil
}
