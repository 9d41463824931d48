package agent

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

//go:embed shell
var snippets embed.FS

// shellFiles are the snippets, and what they're called in a folder of theirs.
var shellFiles = map[string]string{ //nolint:gochecknoglobals // a constant table
	"shell/bash.sh":   "bash.sh",
	"shell/zsh.zsh":   filepath.Join("zsh", ".zshenv"), // zsh reads it by this name
	"shell/fish.fish": "fish.fish",
}

// ShellIntegration has shells mark in their prompts where a command's output begins
// and ends (sessions.Mark). The user's own files are read all the same.
type ShellIntegration struct{ folder string }

// NewShellIntegration writes the snippets into a folder, if they aren't there already. The folder above
// it must exist. Shells run what's there: nothing may be a link, or be written by others.
func NewShellIntegration(folder string) (_ *ShellIntegration, err error) {
	above, err := regular.OpenBase(filepath.Dir(folder))
	if err != nil {
		return nil, fmt.Errorf("write the shell integration: %w", err)
	}
	defer func() { err = errors.Join(err, above.Close()) }()
	for from, to := range shellFiles {
		text, err := snippets.ReadFile(from)
		if err != nil {
			return nil, fmt.Errorf("read the shell integration in the binary: %w", err)
		}
		if err := writeSnippet(above, filepath.Join(filepath.Base(folder), to), text); err != nil {
			return nil, fmt.Errorf("write the shell integration: %w", err)
		}
	}
	return &ShellIntegration{folder}, nil
}

// writeSnippet writes a file at a path below a folder.
func writeSnippet(below *os.Root, path string, text []byte) error {
	if folder, rest, deeper := strings.Cut(path, string(filepath.Separator)); deeper {
		next, err := regular.MakeOwnFolder(below, folder)
		if err != nil {
			return err
		}
		return errors.Join(writeSnippet(next, rest, text), next.Close())
	}
	switch info, err := below.Lstat(path); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return err
	case !info.Mode().IsRegular() && info.Mode()&fs.ModeSymlink == 0:
		return fmt.Errorf("%s: %w: remove it", filepath.Join(below.Name(), path), regular.ErrIrregular)
	default:
		if err := regular.CheckOwn(filepath.Join(below.Name(), path), info); err != nil {
			return err
		}
		if was, err := below.ReadFile(path); err != nil || bytes.Equal(was, text) {
			return err
		}
	}
	tmp := path + ".new" // a shell that starts now reads all of one or of the other
	if err := below.Remove(tmp); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := below.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return below.Rename(tmp, path)
}

// Integrate returns the command and the additional environment (NAME=value) by which
// a shell is started with the integration. Other commands, and shells with arguments,
// stay as they are. getenv is of the environment in which it will run.
func (s *ShellIntegration) Integrate(command []string, getenv func(string) (string, bool)) (_, env []string) {
	if len(command) != 1 {
		return command, nil
	}
	switch filepath.Base(command[0]) {
	case "bash":
		return append(slices.Clone(command), "--rcfile", filepath.Join(s.folder, "bash.sh")), nil
	case "zsh":
		env = []string{"ZDOTDIR=" + filepath.Join(s.folder, "zsh")}
		if was, ok := getenv("ZDOTDIR"); ok {
			env = append(env, "PANEBRIDGE_ZDOTDIR="+was)
		}
		return command, env
	case "fish":
		path := strings.ReplaceAll(strings.ReplaceAll(filepath.Join(s.folder, "fish.fish"), `\`, `\\`), `'`, `\'`)
		return append(slices.Clone(command), "--init-command", "source '"+path+"'"), nil
	}
	return command, nil
}

const (
	// quietPrompt is how long a pane has to be quiet whose shell has nothing in its
	// foreground: a prompt that takes longer is rare.
	quietPrompt = 2 * time.Second
	// quietUnknown is the same where processes can't be looked at. A command that says
	// nothing for so long counts as done.
	quietUnknown = 10 * time.Second
)

var shellNames = []string{"bash", "zsh", "fish", "sh", "dash", "ksh", "ash", "mksh", "tcsh", "nu"} //nolint:gochecknoglobals // a constant table

// quietOfShell is how long nothing may change in a plain shell's pane until its turn is over;
// 0: another program has its foreground, or the shell tells by itself.
func (o *Observer) quietOfShell(l sessions.Poll) time.Duration {
	if l.Screen == nil || l.Screen.Alternate || len(l.Screen.Marks) > 0 {
		return 0
	}
	return o.frontOf(l).quiet
}

// programOfShell is the name of the program to which a plain shell has left all of its screen; "":
// it has left it to none, or that isn't known.
func (o *Observer) programOfShell(l sessions.Poll) string {
	if l.Screen == nil || !l.Screen.Alternate {
		return ""
	}
	return o.frontOf(l).name
}

// front is what was found out about a pane's foreground.
type front struct {
	asked time.Time
	quiet time.Duration
	name  string // of a program that isn't the pane's own; "": that one has it
}

// frontOf looks at a pane's foreground, unless it did right before. A program that has
// just taken the screen was hardly known then.
func (o *Observer) frontOf(l sessions.Poll) front {
	if l.Now.Sub(o.front.asked) >= recogniseEvery || l.Screen.Alternate && o.front.name == "" {
		found := o.w.opt.Processes.Foreground(l.Screen.PID, false)
		o.front = front{asked: l.Now, quiet: o.quietFor(found)}
		if len(found) > 0 && found[0].PID != l.Screen.PID {
			o.front.name = found[0].Name
		}
	}
	return o.front
}

func (o *Observer) quietFor(found []Process) time.Duration {
	if len(found) == 0 {
		if _, can := o.w.opt.Processes.Get(os.Getpid()); can || o.given != nil && !o.given.Shell() {
			return 0
		}
		return quietUnknown
	}
	args := found[0].Args
	if len(args) == 0 || !slices.Contains(shellNames, baseName(args[0])) || slices.ContainsFunc(args[1:], runsScript) {
		return 0
	}
	return quietPrompt
}

// runsScript reports whether an argument of a shell names what it runs.
func runsScript(arg string) bool { return arg == "-c" || !strings.HasPrefix(arg, "-") }
