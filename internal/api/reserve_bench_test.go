package api

import (
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"testing"
)

// BenchmarkAccept measures a connection over a socket, from its dial until the other side has read a
// byte and closed: without the reserve, and with.
func BenchmarkAccept(b *testing.B) {
	for _, with := range []bool{false, true} {
		name := "bare"
		if with {
			name = "reserve"
		}
		b.Run(name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "s")
			l, err := net.Listen("unix", path)
			if err != nil {
				b.Fatal(err)
			}
			defer l.Close()
			over := l
			if with {
				r := newReserve(slog.New(slog.DiscardHandler))
				defer r.close()
				over = r.over(l, l)
			}
			go func() {
				for {
					c, err := over.Accept()
					if err != nil {
						return
					}
					_, _ = c.Write([]byte{1})
					_ = c.Close()
				}
			}()
			for b.Loop() {
				c, err := net.Dial("unix", path)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadAll(c); err != nil {
					b.Fatal(err)
				}
				_ = c.Close()
			}
		})
	}
}
