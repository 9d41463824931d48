//go:build !linux

package agent

import "net"

// peerUID is the user whose process is at the other end of a Unix socket: that isn't asked
// here, and the socket's owner is all that's known.
func peerUID(net.Conn) (uid int, known bool) { return 0, false }
