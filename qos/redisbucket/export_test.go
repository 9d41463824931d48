package redisbucket

import (
	"net"
	"time"
)

// BeatEvery has a budget say less often that it's there, so that hours of virtual
// time take seconds. It's called before Run.
func (b *Budget) BeatEvery(d time.Duration) { b.every = d }

// Bounded is a connection whose answers are bounded.
func Bounded(conn net.Conn) net.Conn { return &boundedConn{Conn: conn} }
