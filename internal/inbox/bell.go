package inbox

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

// Bells wake listeners: each has a Unix datagram socket in a folder, and who stores a
// notice sends a byte to those of the listeners that the database names. It needs no
// daemon, wakes nobody else, and is the same on every system (a watch on a file isn't).
// A bell that nobody hears any more is no error: listeners look now and then anyway.
type Bells struct{ Folder string }

// BellFolder is the name of the folder in the state folder. It's short, for the path of a
// socket is; with a bell's name it's no longer than that of the daemon's socket.
const BellFolder = "bells"

// Bell is the one of a listener.
type Bell struct {
	conn *net.UnixConn
	path string
}

// Hang makes a bell. Close it.
func (b Bells) Hang() (*Bell, error) {
	if err := os.MkdirAll(b.Folder, 0o700); err != nil {
		return nil, fmt.Errorf("make the folder of bells: %w", err)
	}
	var raw [4]byte
	_, _ = rand.Read(raw[:]) // documented never to fail
	path := filepath.Join(b.Folder, hex.EncodeToString(raw[:]))
	conn, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return nil, fmt.Errorf("hang up a bell: %w", err)
	}
	return &Bell{conn, path}, nil
}

// Name is how the bell is called in its folder.
func (b *Bell) Name() string { return filepath.Base(b.path) }

// Wait waits until the bell is rung (true), for so long, or until the context ends.
func (b *Bell) Wait(ctx context.Context, most time.Duration) (rung bool, err error) {
	if err := b.conn.SetReadDeadline(time.Now().Add(most)); err != nil {
		return false, fmt.Errorf("wait for the bell: %w", err)
	}
	stop := context.AfterFunc(ctx, func() { _ = b.conn.SetReadDeadline(time.Unix(1, 0)) }) // fails only if it's closed
	defer stop()
	var one [1]byte
	_, err = b.conn.Read(one[:])
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("wait for the bell: %w", err)
	}
	return true, nil
}

// Close takes the bell down.
func (b *Bell) Close() {
	_ = b.conn.Close()
	_ = os.Remove(b.path)
}

// ringTime bounds how long somebody waits at a bell whose listener stands still. One that
// was rung often enough needs no more.
const ringTime = time.Millisecond

// Ring wakes listeners by the names of their bells. What isn't this user's own socket isn't rung.
func (b Bells) Ring(names []string) {
	for _, name := range names {
		if info, err := os.Lstat(b.path(name)); err != nil || info.Mode()&fs.ModeSocket == 0 || regular.CheckOwn(b.path(name), info) != nil {
			continue
		}
		conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: b.path(name), Net: "unixgram"})
		if err != nil {
			continue // its listener has died
		}
		_ = conn.SetWriteDeadline(time.Now().Add(ringTime))
		_, _ = conn.Write([]byte{1})
		_ = conn.Close()
	}
}

// Remove removes the bell of a listener that has died.
func (b Bells) Remove(name string) { _ = os.Remove(b.path(name)) }

func (b Bells) path(name string) string { return filepath.Join(b.Folder, filepath.Base(name)) }
