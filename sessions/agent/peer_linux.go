package agent

import (
	"net"

	"golang.org/x/sys/unix"
)

// peerUID is the user whose process is at the other end of a Unix socket; -1: the kernel
// doesn't say.
func peerUID(conn net.Conn) (uid int, known bool) {
	u, ok := conn.(*net.UnixConn)
	if !ok {
		return -1, true
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return -1, true
	}
	var peer *unix.Ucred
	var failed error
	if err := raw.Control(func(fd uintptr) { peer, failed = unix.GetsockoptUcred(int(fd), unix.SOL_SOCKET, unix.SO_PEERCRED) }); err != nil || failed != nil {
		return -1, true
	}
	return int(peer.Uid), true
}
