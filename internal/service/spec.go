package service

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Spec is what a service is made of.
type Spec struct {
	Program  string // this program, as an absolute path that stays
	Config   string // the configuration file; "": where the daemon looks by itself
	StateDir string // the state folder
	Path     string // PATH of the daemon, and so of the tmux servers that it has started
	TmuxDir  string // TMUX_TMPDIR, below which tmux has its sockets; "": tmux' own
	User     string // as whom a service of the system runs; "": the service is its user's own
	Home     string // that user's home
	// Credentials are handed to the daemon by systemd, which reads them as root. Services of the system only.
	Credentials []Credential
}

// Credential is a file with a secret, by the key of the configuration that names it.
type Credential struct{ Key, File string }

// check refuses what can't be written into a unit so that the service manager reads the same.
func (s Spec) check() error {
	var errs []error
	absolute := func(what, path string, needed bool) {
		if path == "" && !needed {
			return
		}
		if !filepath.IsAbs(path) {
			errs = append(errs, fmt.Errorf("the path of %s, %q, isn't absolute", what, path))
		}
		errs = append(errs, checkLine(what, path))
	}
	absolute("this program", s.Program, true)
	absolute("the configuration", s.Config, false)
	absolute("the state folder", s.StateDir, true)
	absolute("TMUX_TMPDIR", s.TmuxDir, false)
	absolute("the home folder", s.Home, true)
	errs = append(errs, checkLine("PATH", s.Path), checkLine("the user", s.User))
	for _, c := range s.Credentials {
		absolute(c.Key, c.File, true)
	}
	return errors.Join(errs...)
}

// checkLine refuses what a line of a unit can't have.
func checkLine(what, text string) error {
	switch {
	case !utf8.ValidString(text):
		return fmt.Errorf("%s, %q, isn't UTF-8, which a service's file is", what, text)
	case strings.ContainsFunc(text, unicode.IsControl):
		return fmt.Errorf("%s, %q, has a control character, which a service's file can't have", what, text)
	case text != strings.TrimSpace(text):
		return fmt.Errorf("%s, %q, begins or ends with a space, which a service's file can't have", what, text)
	}
	return nil
}

// arguments are the daemon's command line behind the program.
func (s Spec) arguments(more ...string) []string {
	args := []string{"run", "--state-dir", s.StateDir}
	if s.Config != "" {
		args = append(args, "--config", s.Config)
	}
	return append(args, more...)
}
