//go:build !linux

package host

import (
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// ReadControlGroup returns a NotKnownError: only Linux has control groups.
func ReadControlGroup(int) (string, error) { return "", notKnown(ProcessGroups) }

// ReadsTerminal returns a NotKnownError.
func ReadsTerminal(int, string) (bool, error) { return false, notKnown(ProcessSleeps) }

// Rests returns a NotKnownError.
func Rests(int) (bool, error) { return false, notKnown(ProcessSleeps) }

// CountWaits returns a NotKnownError.
func CountWaits(int) (uint64, error) { return 0, notKnown(ProcessWaits) }

// ReadStartTick returns a NotKnownError: other systems count no ticks.
func ReadStartTick(int) (string, error) { return "", notKnown(ProcessTicks) }

// ConnectionUser returns a NotKnownError: of the other systems' kernels none tells without the
// right to look into every process.
func ConnectionUser(net.Conn) (uid int, err error) { return 0, notKnown(ConnectionUsers) }

// ConnectionSocket returns a NotKnownError.
func ConnectionSocket(net.Conn) (inode uint64, err error) { return 0, notKnown(ProcessSockets) }

// CountTerminals returns a NotKnownError.
func CountTerminals() (used, most int, err error) { return 0, 0, notKnown(TerminalCount) }

// CloseMemory returns a NotKnownError: other systems than Linux have no switch for it.
func CloseMemory() error { return notKnown(ClosedMemory) }

// OpenPair opens a pair of descriptors that children don't inherit, the end that's read first.
func OpenPair() (pair [2]int, err error) {
	syscall.ForkLock.RLock() // no child begins between the calls
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(pair[:]); err != nil {
		return pair, err
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	return pair, nil
}
