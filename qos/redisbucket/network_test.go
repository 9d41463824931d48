package redisbucket_test

import (
	"io"
	"net"
)

// socket joins a client to the other end of a pipe as a socket does: what the server writes
// is kept until it's read. miniredis has its lock while it writes to a subscriber, and one
// that doesn't read just then would hold up all of them, for good where the clock of a bubble
// stands still meanwhile.
func socket(server net.Conn) net.Conn {
	client, end := net.Pipe()
	kept := make(chan []byte, 10_000)
	go func() { // from the server
		defer close(kept)
		for {
			b := make([]byte, 4096)
			n, err := server.Read(b)
			if n > 0 {
				kept <- b[:n]
			}
			if err != nil {
				return
			}
		}
	}()
	go func() {
		defer end.Close()
		for b := range kept {
			if _, err := end.Write(b); err != nil {
				server.Close()
			}
		}
	}()
	go func() { // and to it
		_, _ = io.Copy(server, end)
		server.Close()
	}()
	return client
}
