//go:build darwin || freebsd

package host

import (
	"fmt"
	"net"

	"golang.org/x/sys/unix"
)

// SocketUser returns the id of the user whose process is at the other end of a Unix socket:
// of who connected, or of who listened when we did.
func SocketUser(c *net.UnixConn) (uid int, err error) {
	err = askSocket(c, func(fd int) error {
		cred, err := unix.GetsockoptXucred(fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
		if err == nil {
			uid = int(cred.Uid)
		}
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("find the other end's user: %w", err)
	}
	return uid, nil
}
