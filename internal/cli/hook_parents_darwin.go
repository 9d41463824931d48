package cli

import "golang.org/x/sys/unix"

// parentOf returns the process above, 0 if it isn't known.
func parentOf(pid int) int {
	info, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0
	}
	return int(info.Eproc.Ppid)
}
