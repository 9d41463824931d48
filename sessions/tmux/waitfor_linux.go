package tmux

import "syscall"

// endsWithUs has the kernel end a process when this one is killed.
func endsWithUs() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
