package api

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"sync"

	"github.com/panebridge/panebridge/internal/host"
)

// Bounds of the page's connections.
const (
	// maxConnections is four times what event streams may take. One that says nothing
	// costs some 10 KB, and is closed after ten seconds.
	maxConnections = 1024
	// maxAfar is how many connections one address elsewhere may have, unless it's a trusted
	// proxy's: a browser has six, or one that's HTTP/2.
	maxAfar = 64
	// maxForeign is how many connections of other users are told that they may not.
	maxForeign = 16
)

// whoseConnection says whose the other end of a connection is.
type whoseConnection int

const (
	whoseForeign whoseConnection = iota // it isn't served
	whoseOwn                            // the daemon's own user's, on this machine
	whoseProxy                          // a trusted proxy's that isn't
	whoseAfar                           // another machine's
)

// guard is the page's listener. It asks the kernel once whose each connection of this machine
// is, and closes those that are too many at once: other users, proxies and other machines take no room
// from the daemon's own.
type guard struct {
	net.Listener

	reach   Reach
	user    func(net.Conn) (uid int, err error) // nil: the system doesn't tell
	own     int                                 // the id of the user who is served
	ours    chan struct{}                       // holds a token for each open connection of this user
	others  chan struct{}                       // of proxies and of other machines
	foreign chan struct{}

	mu   sync.Mutex
	afar map[netip.Addr]int // open connections
}

func newGuard(l net.Listener, reach Reach) *guard {
	g := &guard{
		Listener: l, reach: reach, own: os.Geteuid(), ours: make(chan struct{}, maxConnections), others: make(chan struct{}, maxConnections), foreign: make(chan struct{}, maxForeign),
		afar: map[netip.Addr]int{},
	}
	if host.Knows(host.ConnectionUsers) {
		g.user = host.ConnectionUser
	}
	return g
}

// guardedConn is a connection of which it's known whose it is.
type guardedConn struct {
	net.Conn

	whose   whoseConnection
	trusted bool // it comes from where a trusted proxy's do
	uid     int
	err     error // why the user isn't known
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
func (g *guard) admit(c net.Conn) *guardedConn {
	kept := g.judge(c)
	if kept.whose == whoseAfar {
		return g.admitAfar(kept)
	}
	room := map[whoseConnection]chan struct{}{whoseOwn: g.ours, whoseProxy: g.others, whoseForeign: g.foreign}[kept.whose]
	select {
	case room <- struct{}{}:
	default:
		return nil
	}
	kept.release = sync.OnceFunc(func() { <-room })
	return kept
}

// judge finds out whose a connection is.
func (g *guard) judge(c net.Conn) *guardedConn {
	from := addressOf(c)
	kept := &guardedConn{Conn: c, trusted: g.reach.trusts(from)}
	switch {
	case from.IsValid() && !from.IsLoopback():
		if kept.whose = whoseAfar; kept.trusted {
			kept.whose = whoseProxy
		} else if g.reach.BehindProxy {
			kept.whose, kept.err = whoseForeign, fmt.Errorf("%w %s", errUntrusted, from)
		}
		return kept
	case g.user == nil:
		kept.whose = whoseOwn
		return kept
	}
	// root could read everything anyway, and has no reason to come by this way, unless it's a
	// proxy's.
	if kept.uid, kept.err = g.user(c); kept.err == nil && kept.uid == g.own {
		kept.whose = whoseOwn
	} else if kept.trusted {
		kept.whose = whoseProxy
	}
	return kept
}

// errUntrusted says that a connection isn't a trusted proxy's.
var errUntrusted = errors.New("the page is served to its proxy only, and adapters.web.trusted_proxies doesn't have the address")

// admitAfar makes room for a connection from another machine.
func (g *guard) admitAfar(c *guardedConn) *guardedConn {
	from := addressOf(c.Conn)
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.afar[from] >= maxAfar {
		return nil
	}
	select {
	case g.others <- struct{}{}:
	default:
		return nil
	}
	g.afar[from]++
	c.release = sync.OnceFunc(func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.afar[from]--; g.afar[from] == 0 {
			delete(g.afar, from)
		}
		<-g.others
	})
	return c
}

// addressOf is the address of a connection's other end; invalid: it has none.
func addressOf(c net.Conn) netip.Addr {
	at, err := netip.ParseAddrPort(c.RemoteAddr().String())
	if err != nil {
		return netip.Addr{}
	}
	return at.Addr().Unmap().WithZone("")
}

// Close gives its place free.
func (c *guardedConn) Close() error {
	c.release()
	return c.Conn.Close()
}

type guardedKey struct{}
