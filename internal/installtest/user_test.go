package installtest_test

import (
	"os/exec"
	"syscall"
)

// asUser has a command run as another user, unless that's 0.
func asUser(cmd *exec.Cmd, uid uint32) {
	if uid != 0 {
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uid, Gid: uid}}
	}
}
