package app

import (
	"errors"
	"testing"

	"golang.org/x/sys/unix"
)

// A state folder that a daemon has left is free at once, though a child that's just being
// started has its lock's file open until it runs its program.
func TestAFolderThatWasLeftIsFree(t *testing.T) {
	dir := t.TempDir()
	d, err := openStateDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	child, err := unix.Dup(int(d.lock.Fd())) // as fork leaves it
	if err != nil {
		t.Fatal(err)
	}
	if _, err := openStateDir(dir); !errors.Is(err, ErrInUse) {
		t.Fatalf("opened twice: %v", err)
	}
	d.close()
	again, err := openStateDir(dir)
	if err != nil {
		t.Fatalf("behind its end: %v", err)
	}
	again.close()
	if err := unix.Close(child); err != nil {
		t.Fatal(err)
	}
}
