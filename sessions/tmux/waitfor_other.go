//go:build !linux

package tmux

import "syscall"

// endsWithUs would have the kernel end a process when this one is killed: only Linux can.
func endsWithUs() *syscall.SysProcAttr { return nil }
