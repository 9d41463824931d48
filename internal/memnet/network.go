package memnet

import (
	"context"
	"net"
	"net/http"
	"sync"
)

// Network joins clients and servers of one process by pipes instead of sockets,
// so that a test in a synctest bubble waits on nothing from outside it. Make it
// inside the bubble. It's a net.Listener, and dials itself whatever the address.
type Network struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

// New returns a network that nobody listens on yet.
func New() *Network {
	closed := make(chan struct{})
	return &Network{conns: make(chan net.Conn), closed: closed, close: sync.OnceFunc(func() { close(closed) })}
}

// Accept waits for the next connection.
func (n *Network) Accept() (net.Conn, error) {
	select {
	case conn := <-n.conns:
		return conn, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and refuses connections from then on.
func (n *Network) Close() error {
	n.close()
	return nil
}

// Addr returns an address that says nothing.
func (n *Network) Addr() net.Addr { return pipeAddr{} }

type pipeAddr struct{}

func (pipeAddr) Network() string { return "pipe" }
func (pipeAddr) String() string  { return "pipe" }

// Dial makes a connection to whoever accepts.
func (n *Network) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case n.conns <- server:
		return client, nil
	case <-n.closed:
		return nil, &net.OpError{Op: "dial", Net: "pipe", Err: net.ErrClosed}
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Transport returns a transport whose connections go over the network. Its user
// closes its idle connections before the bubble ends.
func (n *Network) Transport() *http.Transport {
	return &http.Transport{DialContext: n.Dial}
}
