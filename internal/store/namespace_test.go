package store

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/panebridge/panebridge/internal/host/hosttest"
)

// inMountNamespace runs a test anew where it may mount disks of its own, as root of a user namespace unless it's root
// already, and reports whether this is that run. It skips where the kernel has no such namespaces for this user.
func inMountNamespace(t *testing.T) bool {
	t.Helper()
	const inside = "PANEBRIDGE_TEST_MOUNTS"
	if os.Getenv(inside) != "" {
		if err := hosttest.KeepMounts(); err != nil {
			t.Fatal(err)
		}
		return true
	}
	command := func(arguments ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
		cmd.Env = append(os.Environ(), inside+"=1")
		cmd.SysProcAttr = hosttest.OwnMounts()
		return cmd
	}
	if out, err := command("true").CombinedOutput(); err != nil {
		t.Skipf("the kernel lets nobody but root mount a disk of one's own (user.max_user_namespaces, kernel.unprivileged_userns_clone, AppArmor): %v %s", err, out)
	}
	out, err := command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v").CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}
