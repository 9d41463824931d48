package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"
)

// hasEnded is SZOMB of sys/proc.h.
const hasEnded = 5

// KernelFolders are those that the kernel makes up.
func KernelFolders() []string { return []string{"/dev"} }

// ReadStat reads a process's.
func ReadStat(pid int) (Stat, error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err == nil && int(p.Proc.P_pid) != pid {
		err = fs.ErrNotExist // the kernel's answer is empty
	}
	if err != nil {
		return Stat{}, fmt.Errorf("find process %d: %w", pid, gone(err))
	}
	return statOf(p), nil
}

// gone makes what the kernel says of a process that isn't there an error that os knows.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EIO) { // x/sys gives EIO for an answer of no length
		return fs.ErrNotExist
	}
	return err
}

func statOf(p *unix.KinfoProc) Stat {
	name := make([]byte, 0, len(p.Proc.P_comm))
	for _, c := range p.Proc.P_comm {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	s := Stat{
		PID: int(p.Proc.P_pid), Comm: string(name), State: 'R', PPID: int(p.Eproc.Ppid), PGRP: int(p.Eproc.Pgid), TPGID: int(p.Eproc.Tpgid),
		Flags: uint64(uint32(p.Proc.P_flag)), Start: uint64(p.Proc.P_starttime.Sec*1_000_000 + int64(p.Proc.P_starttime.Usec)),
	}
	if p.Proc.P_stat == hasEnded {
		s.State = 'Z'
	}
	s.Session, _ = unix.Getsid(s.PID) // 0: it isn't known
	return s
}

// ListStats returns the stat of each process that's there, in no order.
func ListStats() ([]Stat, error) {
	procs, err := unix.SysctlKinfoProcSlice("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	all := make([]Stat, len(procs))
	for i := range procs {
		all[i] = statOf(&procs[i])
	}
	return all, nil
}

// readStart returns what a process was started with: the path of its program's file, its arguments,
// and its environment with a zero byte behind each variable.
func readStart(pid int) (program string, args []string, environ []byte, err error) {
	raw, err := unix.SysctlRaw("kern.procargs2", pid)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.EPERM) {
		err = fs.ErrPermission // so it answers for another user's
	}
	if err != nil {
		return "", nil, nil, fmt.Errorf("read what process %d was started with: %w", pid, gone(err))
	}
	return parseStart(raw)
}

// ReadArguments returns a process's arguments, its name first. A process may have written others
// over them.
func ReadArguments(pid int) ([]string, error) {
	_, args, _, err := readStart(pid)
	return args, err
}

// ReadProgram returns the path of the file that a process runs.
func ReadProgram(pid int) (string, error) {
	program, _, _, err := readStart(pid)
	return program, err
}

// ReadEnviron reads the environment that a process was started with, each variable with a zero byte
// behind it; os.ErrPermission: it's another user's, or protected.
func ReadEnviron(pid int) ([]byte, error) {
	_, _, environ, err := readStart(pid)
	return environ, err
}

// ReadUser returns the id of the user with whose rights a process runs.
func ReadUser(pid int) (uid int, err error) {
	p, err := unix.SysctlKinfoProc("kern.proc.pid", pid)
	if err != nil {
		return 0, gone(err)
	}
	return int(p.Eproc.Ucred.Uid), nil
}

// Of sys/proc_info.h.
const (
	callInfo       = 2 // PROC_INFO_CALL_PIDINFO
	callDescriptor = 3 // PROC_INFO_CALL_PIDFDINFO
	flavorList     = 1 // PROC_PIDLISTFDS
	flavorFolders  = 9 // PROC_PIDVNODEPATHINFO
	flavorPath     = 2 // PROC_PIDFDVNODEPATHINFO
	ofFile         = 1 // PROX_FDTYPE_VNODE

	descriptorBytes = 8    // proc_fdinfo: number and type
	vnodeBytes      = 152  // vnode_info
	pathBytes       = 1024 // MAXPATHLEN
	foldersBytes    = 2 * (vnodeBytes + pathBytes)
	fileInfoBytes   = 24 // proc_fileinfo
	pathInfoBytes   = fileInfoBytes + vnodeBytes + pathBytes
)

// askInfo asks the kernel about a process as libproc does, and returns how many bytes it has
// written.
func askInfo(call, pid, flavor, arg int, into []byte) (int, error) {
	n, _, errno := unix.Syscall6(unix.SYS_PROC_INFO, uintptr(call), uintptr(pid), uintptr(flavor), uintptr(arg), uintptr(unsafe.Pointer(&into[0])), uintptr(len(into)))
	if errno != 0 {
		return 0, gone(errno)
	}
	return int(n), nil
}

// cString is the text before the first zero byte.
func cString(b []byte) string {
	if end := bytes.IndexByte(b, 0); end >= 0 {
		b = b[:end]
	}
	return string(b)
}

// ReadFolder returns a process's working folder.
func ReadFolder(pid int) (string, error) {
	var info [foldersBytes]byte
	n, err := askInfo(callInfo, pid, flavorFolders, 0, info[:])
	if err == nil && n < foldersBytes {
		err = errors.New("the kernel's answer has another form")
	}
	if err != nil {
		return "", fmt.Errorf("find the folder of process %d: %w", pid, err)
	}
	return cString(info[vnodeBytes:][:pathBytes]), nil
}

// ListDescriptors returns the paths of the files that a process has open. Sockets aren't named.
func ListDescriptors(pid int) ([]string, error) {
	const most = 1 << 14 // descriptors
	list := make([]byte, most*descriptorBytes)
	n, err := askInfo(callInfo, pid, flavorList, 0, list)
	if err != nil {
		return nil, fmt.Errorf("list the open files of process %d: %w", pid, err)
	}
	var all []string
	for entry := list[:n]; len(entry) >= descriptorBytes; entry = entry[descriptorBytes:] {
		if binary.NativeEndian.Uint32(entry[4:]) != ofFile {
			continue
		}
		var info [pathInfoBytes]byte
		got, err := askInfo(callDescriptor, pid, flavorPath, int(int32(binary.NativeEndian.Uint32(entry))), info[:])
		if path := cString(info[fileInfoBytes+vnodeBytes:]); err == nil && got >= pathInfoBytes && strings.HasPrefix(path, "/") {
			all = append(all, path)
		}
	}
	return all, nil
}

// CountDescriptors returns how many descriptors this process has open, with the one that it takes
// to look. EMFILE and ENFILE say that none is left for that.
func CountDescriptors() (int, error) {
	open, err := os.ReadDir("/dev/fd")
	return len(open), err
}
