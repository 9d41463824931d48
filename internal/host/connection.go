package host

import "syscall"

// askSocket has a question asked of a connection's descriptor, which stays open meanwhile.
func askSocket(c syscall.Conn, ask func(fd int) error) error {
	raw, err := c.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := raw.Control(func(fd uintptr) { failed = ask(int(fd)) }); err != nil {
		return err
	}
	return failed
}
