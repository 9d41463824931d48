package inbox

import (
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// A bell that's a link to another socket, or another user's, isn't rung; one's own is.
func TestBellsOfOthersArentRung(t *testing.T) {
	dir, err := os.MkdirTemp("", "pb") // short, for the path of a socket is
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	bells := Bells{filepath.Join(dir, BellFolder)}
	bell, err := bells.Hang()
	if err != nil {
		t.Fatal(err)
	}
	defer bell.Close()
	others, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: filepath.Join(dir, "others"), Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer others.Close()
	names := []string{"link", bell.Name()}
	if err := os.Symlink(filepath.Join(dir, "others"), filepath.Join(bells.Folder, "link")); err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() == 0 { // only root can give files away
		theirs, err := bells.Hang()
		if err != nil {
			t.Fatal(err)
		}
		defer theirs.Close()
		if err := os.Chown(theirs.path, 1234, -1); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if rung, err := theirs.Wait(t.Context(), time.Millisecond); rung || err != nil {
				t.Errorf("another user's: %t, %v", rung, err)
			}
		}()
		names = append(names, theirs.Name())
	}
	bells.Ring(names)
	if rung, err := bell.Wait(t.Context(), time.Minute); !rung || err != nil {
		t.Errorf("one's own: %t, %v", rung, err)
	}
	_ = others.SetReadDeadline(time.Now().Add(time.Millisecond))
	if n, err := others.Read(make([]byte, 1)); n > 0 {
		t.Errorf("what a link leads to was rung: %v", err)
	}
}
