package api

import "golang.org/x/sys/unix"

// openPair opens a pair of descriptors that children don't inherit.
func openPair() (pair [2]int, err error) {
	err = unix.Pipe2(pair[:], unix.O_CLOEXEC)
	return pair, err
}
