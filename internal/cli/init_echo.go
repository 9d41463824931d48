package cli

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
)

// hideEcho has a terminal not show what's typed, but for the end of a line, until
// show is called. What was typed or pasted behind the line that was read is dropped then: it was meant for no
// question that hasn't been asked. False: it shows it all the same, or it's no terminal.
func hideEcho(stream any) (show func(), hidden bool) {
	f, ok := stream.(*os.File)
	if !ok {
		return func() {}, false
	}
	fd := int(f.Fd())
	before, err := host.ReadTermios(fd)
	if err != nil {
		return func() {}, false
	}
	quiet := *before
	quiet.Lflag &^= unix.ECHO
	quiet.Lflag |= unix.ICANON | unix.ISIG | unix.ECHONL
	if err := host.SetTermios(fd, &quiet); err != nil {
		return func() {}, false
	}
	return func() { _ = host.SetTermiosDropping(fd, before) }, true
}
