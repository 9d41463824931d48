package host

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"

	"github.com/shirou/gopsutil/v4/process"
	"golang.org/x/sys/unix"
)

// hasEnded is SZOMB of sys/proc.h.
const hasEnded = 5

// KernelFolders are those that the kernel makes up, where they're mounted.
func KernelFolders() []string { return []string{"/proc", "/dev"} }

// gone makes what the kernel says of a process that isn't there an error that os knows.
func gone(err error) error {
	if errors.Is(err, unix.ESRCH) {
		return fs.ErrNotExist
	}
	return err
}

// readKinfo reads the kernel's record of a process.
func readKinfo(pid int) (k process.KinfoProc, err error) {
	raw, err := unix.SysctlRaw("kern.proc.pid", pid)
	if err == nil && len(raw) == 0 {
		err = fs.ErrNotExist
	}
	if err == nil {
		err = binary.Read(bytes.NewReader(raw), binary.NativeEndian, &k)
	}
	if err == nil && int(k.Structsize) != len(raw) {
		err = errors.New("the kernel's answer has another form")
	}
	if err != nil {
		return k, fmt.Errorf("find process %d: %w", pid, gone(err))
	}
	return k, nil
}

// ReadStat reads a process's.
func ReadStat(pid int) (Stat, error) {
	k, err := readKinfo(pid)
	if err != nil {
		return Stat{}, err
	}
	return statOf(&k), nil
}

func statOf(k *process.KinfoProc) Stat {
	name := make([]byte, 0, len(k.Comm))
	for _, c := range k.Comm {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	s := Stat{
		PID: int(k.Pid), Comm: string(name), State: 'R', PPID: int(k.Ppid), PGRP: int(k.Pgid), Session: int(k.Sid), TPGID: int(k.Tpgid),
		Flags: uint64(k.Flag), Start: uint64(int64(k.Start.Sec)*1_000_000 + int64(k.Start.Usec)),
	}
	if k.Stat == hasEnded {
		s.State = 'Z'
	}
	return s
}

// ListStats returns the stat of each process that's there, in no order.
func ListStats() ([]Stat, error) {
	raw, err := unix.SysctlRaw("kern.proc.proc")
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var all []Stat
	for len(raw) >= 4 {
		size := int(binary.NativeEndian.Uint32(raw))
		var k process.KinfoProc
		if size <= 0 || size > len(raw) || binary.Read(bytes.NewReader(raw[:size]), binary.NativeEndian, &k) != nil {
			return nil, errors.New("list the processes: the kernel's answer has another form")
		}
		all, raw = append(all, statOf(&k)), raw[size:]
	}
	return all, nil
}

// readTexts reads what the kernel tells of a process in texts, each with a zero byte behind it.
func readTexts(what string, pid int) ([]byte, error) {
	raw, err := unix.SysctlRaw("kern.proc."+what, pid)
	if errors.Is(err, unix.EPERM) || errors.Is(err, unix.EACCES) {
		err = fs.ErrPermission
	}
	if err != nil {
		return nil, fmt.Errorf("read the %s of process %d: %w", what, pid, gone(err))
	}
	return raw, nil
}

// ReadArguments returns a process's arguments, its name first. A process may have set others.
func ReadArguments(pid int) ([]string, error) {
	raw, err := readTexts("args", pid)
	return splitZero(raw), err
}

// ReadProgram returns the path of the file that a process runs.
func ReadProgram(pid int) (string, error) {
	raw, err := readTexts("pathname", pid)
	return string(bytes.TrimRight(raw, "\x00")), err
}

// ReadEnviron reads the environment of a process, each variable with a zero byte behind it;
// os.ErrPermission: it's another user's.
func ReadEnviron(pid int) ([]byte, error) { return readTexts("env", pid) }

// ReadUser returns the id of the user with whose rights a process runs.
func ReadUser(pid int) (uid int, err error) {
	k, err := readKinfo(pid)
	return int(k.Uid), err
}

// ReadFolder returns a process's working folder.
func ReadFolder(pid int) (string, error) {
	raw, err := readTexts("cwd", pid)
	if err != nil {
		return "", err
	}
	if files := parseKinfoFiles(raw); len(files) > 0 && files[0].path != "" {
		return files[0].path, nil
	}
	return "", fmt.Errorf("find the folder of process %d: the kernel has no path for it", pid)
}

// ListDescriptors returns the paths of the files that a process has open. Sockets aren't named.
func ListDescriptors(pid int) ([]string, error) {
	raw, err := readTexts("filedesc", pid)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, f := range parseKinfoFiles(raw) {
		if f.descriptor >= 0 && f.path != "" { // others are its folder, its root and its program
			all = append(all, f.path)
		}
	}
	return all, nil
}

// CountDescriptors returns how many descriptors this process has open.
func CountDescriptors() (int, error) {
	n, err := unix.SysctlUint32("kern.proc.nfds")
	return int(n), err
}

// splitZero returns the texts that have a zero byte behind them each.
func splitZero(raw []byte) []string {
	var all []string
	for len(raw) > 0 {
		one, more, _ := bytes.Cut(raw, []byte{0})
		all, raw = append(all, string(one)), more
	}
	return all
}
