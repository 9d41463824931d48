package cli

import (
	"os"

	"golang.org/x/sys/unix"
)

// hideEcho has a terminal not show what's typed, but for the end of a line, until
// show is called. False: it shows it all the same, or it's no terminal.
func hideEcho(stream any) (show func(), hidden bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return func() {}, false
	}
	fd := int(f.Fd())
	before, err := unix.IoctlGetTermios(fd, getTermios)
	if err != nil {
		return func() {}, false
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO
	quiet.Lflag |= unix.ICANON | unix.ISIG | unix.ECHONL
	if err := unix.IoctlSetTermios(fd, setTermios, &quiet); err != nil {
		return func() {}, false
	}
	return func() { _ = unix.IoctlSetTermios(fd, setTermios, before) }, true
}
