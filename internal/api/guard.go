package api

import (
	"net"
	"os"
	"sync"

	"github.com/panebridge/panebridge/internal/peer"
)

// Bounds of the page's connections.
const (
	// maxConnections is four times what event streams may take. One that says nothing
	// costs some 10 KB, and is closed after ten seconds.
	maxConnections = 1024
	// maxForeign is how many connections of other users are told that they may not.
	maxForeign = 16
)

// guard is the page's listener. It asks the kernel once whose each connection is, and
// closes those that are too many at once: other users take no room from the daemon's own.
type guard struct {
	net.Listener

	user    func(net.Conn) (uid int, err error) // nil: the system doesn't tell
	own     int                                 // the id of the user who is served
	ours    chan struct{}                       // holds a token for each open connection
	foreign chan struct{}
}

func newGuard(l net.Listener) *guard {
	g := &guard{Listener: l, own: os.Geteuid(), ours: make(chan struct{}, maxConnections), foreign: make(chan struct{}, maxForeign)}
	if peer.Known {
		g.user = peer.User
	}
	return g
}

// guarded is a connection of which it's known whose it is.
type guarded struct {
	net.Conn

	ours    bool
	uid     int
	err     error // why it isn't known
	release func()
}

// Accept returns the next connection that's served, or told that it isn't.
func (g *guard) Accept() (net.Conn, error) {
	for {
		c, err := g.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if kept := g.admit(c); kept != nil {
			return kept, nil
		}
		_ = c.Close()
	}
}

// admit returns nil for a connection for which there's no room.
func (g *guard) admit(c net.Conn) *guarded {
	kept, room := &guarded{Conn: c, ours: true}, g.ours
	if g.user != nil {
		kept.uid, kept.err = g.user(c)
		// A later step may let a proxy's user in here; root could read everything anyway,
		// and has no reason to come by this way.
		kept.ours = kept.err == nil && kept.uid == g.own
	}
	if !kept.ours {
		room = g.foreign
	}
	select {
	case room <- struct{}{}:
	default:
		return nil
	}
	kept.release = sync.OnceFunc(func() { <-room })
	return kept
}

// Close gives its place free.
func (c *guarded) Close() error {
	c.release()
	return c.Conn.Close()
}

type guardedKey struct{}
