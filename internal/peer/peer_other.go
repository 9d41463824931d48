//go:build !linux

package peer

import (
	"errors"
	"net"
)

// Known says that connections have no users here: of the other systems' kernels none
// tells without the right to look into every process.
const Known = false

// User returns an error: nobody knows.
func User(net.Conn) (uid int, err error) { return 0, errors.New("this system doesn't tell") }

// Socket returns an error, as User does.
func Socket(net.Conn) (inode uint64, err error) { return 0, errors.New("this system doesn't tell") }

// Process returns an error, as User does.
func Process(*net.UnixConn) (pid int, err error) { return 0, errors.New("this system doesn't tell") }

// UnixUser returns an error, as User does.
func UnixUser(*net.UnixConn) (uid int, err error) { return 0, errors.New("this system doesn't tell") }
