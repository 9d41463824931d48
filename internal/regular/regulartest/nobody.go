// Package regulartest runs tests of what may not be opened, which say nothing as root.
package regulartest

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// nobody is a user who has no files of their own.
const nobody = 65534

// RunAsNobody runs a test anew as a user who may not open everything, where this one is root, and fails it
// if that fails. true: it did, and nothing is left to do.
func RunAsNobody(tb testing.TB) bool {
	tb.Helper()
	if os.Geteuid() != 0 {
		return false
	}
	dir, err := os.MkdirTemp("", "nobody") // tb's own folder is closed to others
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = os.RemoveAll(dir) })
	own, program := filepath.Join(dir, "own"), filepath.Join(dir, "program")
	exe, err := os.Executable()
	if err != nil {
		tb.Fatal(err)
	}
	text, err := os.ReadFile(exe)
	if err := errors.Join(err, os.Chmod(dir, 0o755), os.WriteFile(program, text, 0o600), os.Chmod(program, 0o755), os.Mkdir(own, 0o700), os.Chown(own, nobody, nobody)); err != nil {
		tb.Fatal(err)
	}
	parts := strings.Split(tb.Name(), "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	cmd := exec.CommandContext(tb.Context(), program, "-test.run="+strings.Join(parts, "/"), "-test.v")
	cmd.Dir, cmd.Env = own, append(os.Environ(), "TMPDIR="+own, "HOME="+own)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: "+tb.Name()+" ") {
		tb.Errorf("as user %d: %v\n%s", nobody, err, out)
	}
	return true
}
