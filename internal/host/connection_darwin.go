package host

import (
	"fmt"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// SocketProcess returns the process that has connected to a Unix socket of ours. It may have
// ended since.
func SocketProcess(c *net.UnixConn) (pid int, err error) {
	err = askSocket(c, func(fd int) (err error) {
		pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find the other end's process: %w", err)
	}
	return pid, nil
}

// EndWithParent is nil: this system can't have a process end when another is killed.
func EndWithParent() *syscall.SysProcAttr { return nil }
