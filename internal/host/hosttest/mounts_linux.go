package hosttest

import (
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// MountMemory mounts a disk in memory on a folder. options are those of tmpfs, as "size=6m".
func MountMemory(folder, options string) error {
	return unix.Mount("panebridge-test", folder, "tmpfs", 0, options)
}

// ForbidWrites lets a mounted disk only be read.
func ForbidWrites(folder string) error {
	return unix.Mount("", folder, "", unix.MS_REMOUNT|unix.MS_RDONLY, "")
}

// AllowWrites lets a mounted disk be written to again.
func AllowWrites(folder string) error { return unix.Mount("", folder, "", unix.MS_REMOUNT, "") }

// Unmount takes a disk away, which is refused while a file on it is open.
func Unmount(folder string) error { return unix.Unmount(folder, 0) }

// Detach takes a disk away as soon as nobody has a file on it open.
func Detach(folder string) error { return unix.Unmount(folder, unix.MNT_DETACH) }

// OwnMounts begins a process with mounts of its own, as root of a user namespace unless this one is
// root already.
func OwnMounts() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}
	}
	return attr
}

// KeepMounts keeps mounts that this process makes to itself.
func KeepMounts() error { return unix.Mount("none", "/", "", unix.MS_REC|unix.MS_PRIVATE, "") }
