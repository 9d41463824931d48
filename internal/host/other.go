//go:build !linux && !darwin && !freebsd

package host

import (
	"net"
	"syscall"
	"time"
)

// KernelFolders are those that the kernel makes up.
func KernelFolders() []string { return []string{"/proc", "/sys", "/dev"} }

// IsKernelThread reports false.
func (Stat) IsKernelThread() bool { return false }

// ReadStat returns a NotKnownError, as all of these do.
func ReadStat(int) (Stat, error) { return Stat{}, notKnown(ProcessStates) }

// ListStats returns a NotKnownError.
func ListStats() ([]Stat, error) { return nil, notKnown(ProcessStates) }

// ListChildren returns a NotKnownError.
func ListChildren(int) ([]int, error) { return nil, notKnown(ProcessStates) }

// ReadName returns a NotKnownError.
func ReadName(int) (string, error) { return "", notKnown(ProcessStates) }

// ReadArguments returns a NotKnownError.
func ReadArguments(int) ([]string, error) { return nil, notKnown(ProcessArguments) }

// ReadProgram returns a NotKnownError.
func ReadProgram(int) (string, error) { return "", notKnown(ProcessPrograms) }

// ReadEnviron returns a NotKnownError.
func ReadEnviron(int) ([]byte, error) { return nil, notKnown(ProcessEnvirons) }

// ReadWholeEnviron returns a NotKnownError.
func ReadWholeEnviron(int) (raw []byte, whole bool, err error) {
	return nil, false, notKnown(ProcessEnvirons)
}

// ReadUser returns a NotKnownError.
func ReadUser(int) (uid int, err error) { return 0, notKnown(ProcessUsers) }

// ReadFolder returns a NotKnownError.
func ReadFolder(int) (string, error) { return "", notKnown(ProcessFolders) }

// IsIn reports false: nobody knows.
func IsIn(int, string) bool { return false }

// ListDescriptors returns a NotKnownError.
func ListDescriptors(int) ([]string, error) { return nil, notKnown(ProcessDescriptors) }

// CountDescriptors returns a NotKnownError.
func CountDescriptors() (int, error) { return 0, notKnown(OwnDescriptors) }

// SocketProcess returns a NotKnownError.
func SocketProcess(*net.UnixConn) (pid int, err error) { return 0, notKnown(SocketPeers) }

// SocketUser returns a NotKnownError.
func SocketUser(*net.UnixConn) (uid int, err error) { return 0, notKnown(SocketUsers) }

// EndWithParent is nil: this system can't have a process end when another is killed.
func EndWithParent() *syscall.SysProcAttr { return nil }

// Clock tells times of processes.
type Clock struct{}

// ReadClock returns a NotKnownError.
func ReadClock() (Clock, error) { return Clock{}, notKnown(ProcessStates) }

// Started is never known.
func (Clock) Started(Stat) time.Time { return time.Time{} }

// Age is never known.
func (Clock) Age(Stat) time.Duration { return 0 }
