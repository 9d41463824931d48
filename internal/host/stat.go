package host

import "fmt"

// Stat is what the kernel says of a process at one moment.
type Stat struct {
	PID     int
	Comm    string // its name: at most 15 bytes on Linux and macOS, 19 on FreeBSD; any
	State   byte   // 'Z' or 'X': it has ended. Others differ between systems
	PPID    int
	PGRP    int
	Session int
	TPGID   int    // the group that has the foreground of its terminal; 0 or less: it has none
	Flags   uint64 // as the system has them
	// Start is when it was started: clock ticks since the machine's start on Linux, elsewhere
	// microseconds since 1970. With the PID it names a process for good.
	Start uint64
}

// HasEnded reports whether the process has ended, and only its parent hasn't heard yet.
func (s Stat) HasEnded() bool { return s.State == 'Z' || s.State == 'X' }

// NameSocket is what ListDescriptors calls a socket.
func NameSocket(inode uint64) string { return fmt.Sprintf("socket:[%d]", inode) }
