//go:build !linux

package api

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// openPair opens a pair of descriptors that children don't inherit.
func openPair() (pair [2]int, err error) {
	syscall.ForkLock.RLock() // no child begins between the calls
	defer syscall.ForkLock.RUnlock()
	if err := unix.Pipe(pair[:]); err != nil {
		return pair, err
	}
	unix.CloseOnExec(pair[0])
	unix.CloseOnExec(pair[1])
	return pair, nil
}
