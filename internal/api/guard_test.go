package api

import (
	"context"
	"errors"
	"net"
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
