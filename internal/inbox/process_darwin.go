package inbox

import "golang.org/x/sys/unix"

// started is when a process was started, in microseconds since 1970; 0: it isn't there.
func started(pid int) int64 {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil || int(p.Proc.P_pid) != pid {
		return 0
	}
	return p.Proc.P_starttime.Sec*1_000_000 + int64(p.Proc.P_starttime.Usec)
}
