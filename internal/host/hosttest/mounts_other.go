//go:build !linux

package hosttest

import (
	"errors"
	"syscall"
)

var errNoMounts = errors.New("tests mount disks on Linux only")

// MountMemory returns an error, as all of these do.
func MountMemory(string, string) error { return errNoMounts }

// ForbidWrites returns an error.
func ForbidWrites(string) error { return errNoMounts }

// AllowWrites returns an error.
func AllowWrites(string) error { return errNoMounts }

// Unmount returns an error.
func Unmount(string) error { return errNoMounts }

// Detach returns an error.
func Detach(string) error { return errNoMounts }

// OwnMounts is nil: KeepMounts says that there are none.
func OwnMounts() *syscall.SysProcAttr { return nil }

// KeepMounts returns an error.
func KeepMounts() error { return errNoMounts }
