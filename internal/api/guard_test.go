package api

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
)

// played is a listener whose connections are pipes.
type played struct{ net.Listener }

// A connection is served only if the kernel says that it's the daemon's own user's; root's
// aren't, unless the daemon is. Where no kernel tells, all are.
func TestGuardServesItsOwnUser(t *testing.T) {
	for name, tc := range map[string]struct {
		own, uid int
		err      error
		silent   bool // the system doesn't tell
		want     string
	}{
		"own":                   {own: 1000, uid: 1000},
		"another":               {own: 1000, uid: 1001, want: "user with the id 1001"},
		"root":                  {own: 1000, uid: 0, want: "user with the id 0"},
		"a user before root":    {own: 0, uid: 1000, want: "user with the id 1000"},
		"unknown":               {own: 1000, err: errors.New("it isn't open any more"), want: "doesn't say whose"},
		"unknown, as if root's": {own: 0, err: errors.New("no answer"), want: "doesn't say whose"},
		"a system without":      {own: 1000, uid: 0, silent: true},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGuard(played{}, Reach{})
			g.own = tc.own
			if g.user = func(net.Conn) (int, error) { return tc.uid, tc.err }; tc.silent {
				g.user = nil
			}
			c, _ := net.Pipe()
			why := foreignUser(withConnection(context.Background(), g.admit(c)))
			if (why == "") != (tc.want == "") || !strings.Contains(why, tc.want) {
				t.Errorf("refused because %q, want %q", why, tc.want)
			}
		})
	}
}

// Other users' connections take no room from the daemon's own.
func TestGuardKeepsRoomForItsOwnUser(t *testing.T) {
	g := newGuard(played{}, Reach{})
	uid := g.own + 1
	g.user = func(net.Conn) (int, error) { return uid, nil }
	var kept []*guardedConn
	for range 100 {
		c, _ := net.Pipe()
		if one := g.admit(c); one != nil {
			kept = append(kept, one)
		}
	}
	if len(kept) != maxForeign {
		t.Errorf("%d connections of others are kept, want %d", len(kept), maxForeign)
	}
	uid = g.own
	for range maxConnections {
		c, _ := net.Pipe()
		one := g.admit(c)
		if one == nil {
			t.Fatal("there's no room for its own user")
		}
		kept = append(kept, one)
	}
	c, _ := net.Pipe()
	if g.admit(c) != nil {
		t.Error("there's room for too many")
	}
	for range 2 { // a connection may be closed twice
		_ = kept[maxForeign].Close()
	}
	if g.admit(c) == nil {
		t.Error("a closed connection gives no room free")
	}
	if d, _ := net.Pipe(); g.admit(d) != nil {
		t.Error("a connection that was closed twice gives room free twice")
	}
}

// fromConn is a connection from an address.
type fromConn struct {
	net.Conn
	from string
}

func (c fromConn) RemoteAddr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.MustParseAddrPort(c.from))
}

func connFrom(address string) net.Conn {
	c, _ := net.Pipe()
	return fromConn{c, address}
}

// Whose a connection is hangs on its address, the user at its other end, and which proxies are trusted.
func TestGuardTellsProxiesAndOtherMachines(t *testing.T) {
	tls, anyLocal := Reach{}, Reach{BehindProxy: true}
	some := Reach{BehindProxy: true, TrustedProxies: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24"), netip.MustParsePrefix("fd00::/8")}}
	for name, tc := range map[string]struct {
		reach   Reach
		from    string
		foreign bool // another user is at the other end, if it's this machine's
		want    whoseConnection
		trusted bool
	}{
		"own":                               {tls, "127.0.0.1:1", false, whoseOwn, false},
		"another user":                      {tls, "127.0.0.1:1", true, whoseForeign, false},
		"another machine":                   {tls, "192.0.2.1:1", false, whoseAfar, false},
		"another machine, as IPv6":          {tls, "[::ffff:192.0.2.1]:1", false, whoseAfar, false},
		"own beside a local proxy":          {anyLocal, "[::1]:1", false, whoseOwn, true},
		"another user's local proxy":        {anyLocal, "127.0.0.1:1", true, whoseProxy, true},
		"another machine beside a proxy":    {anyLocal, "192.0.2.1:1", false, whoseForeign, false},
		"a proxy elsewhere":                 {some, "10.0.0.9:1", false, whoseProxy, true},
		"a proxy elsewhere, as IPv6":        {some, "[::ffff:10.0.0.9]:1", false, whoseProxy, true},
		"a proxy elsewhere, by IPv6":        {some, "[fd00::9]:1", false, whoseProxy, true},
		"beside the proxy's range":          {some, "10.0.1.9:1", false, whoseForeign, false},
		"another user beside a proxy there": {some, "127.0.0.1:1", true, whoseForeign, false},
		"own beside a proxy there":          {some, "127.0.0.1:1", false, whoseOwn, false},
	} {
		g := newGuard(played{}, tc.reach)
		g.user = func(net.Conn) (int, error) {
			if tc.foreign {
				return g.own + 1, nil
			}
			return g.own, nil
		}
		if got := g.judge(connFrom(tc.from)); got.whose != tc.want || got.trusted != tc.trusted {
			t.Errorf("%s: %d, trusted %t; want %d, %t", name, got.whose, got.trusted, tc.want, tc.trusted)
		}
	}
}

// However many connections come from elsewhere, this user's have room; one address takes not all of the others'.
func TestConnectionsFromElsewhereTakeNoRoomOfTheOwners(t *testing.T) {
	g := newGuard(played{}, Reach{})
	g.user = func(net.Conn) (int, error) { return g.own, nil }
	var one []*guardedConn
	for range 2 * maxAfar {
		if c := g.admit(connFrom("192.0.2.1:1")); c != nil {
			one = append(one, c)
		}
	}
	if len(one) != maxAfar {
		t.Errorf("one address has %d connections, want %d", len(one), maxAfar)
	}
	for i := range maxConnections {
		g.admit(connFrom(fmt.Sprintf("192.0.%d.%d:1", 3+i/200, i%200)))
	}
	if g.admit(connFrom("198.51.100.1:1")) != nil {
		t.Error("there's room for too many")
	}
	if g.admit(connFrom("127.0.0.1:1")) == nil {
		t.Error("the owner has no room")
	}
	_ = one[0].Close()
	_ = one[0].Close()
	if g.admit(connFrom("192.0.2.1:1")) == nil || g.admit(connFrom("192.0.2.1:1")) != nil {
		t.Error("a closed connection doesn't give its place free, once")
	}
}
