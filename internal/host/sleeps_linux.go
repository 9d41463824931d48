package host

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readCalls are the numbers of read(2): on amd64, on arm64, riscv64 and loong64, and on 386
// and arm.
var readCalls = []string{"0", "63", "3"} //nolint:gochecknoglobals // a constant table

// ReadsTerminal reports whether a process waits for something to be typed at a terminal:
// the kernel says what it sleeps in, and which file its call is about. Where it may not be
// asked the second (Yama), the process must have the terminal as its input.
func ReadsTerminal(pid int, tty string) (bool, error) {
	sleeps, err := os.ReadFile(file(pid, "wchan")) // connections' reads are of the same name
	if err != nil || string(sleeps) != "wait_woken" && !strings.HasPrefix(string(sleeps), "n_tty_read") {
		return false, err
	}
	fd := "0"
	if call, err := os.ReadFile(file(pid, "syscall")); err == nil { // "0 0x0 0x7f…": its number, and what it's given
		words := strings.Fields(string(call))
		if len(words) < 3 || !slices.Contains(readCalls, words[0]) {
			return false, nil
		}
		n, err := strconv.ParseUint(strings.TrimPrefix(words[1], "0x"), 16, 31)
		if err != nil {
			return false, err
		}
		fd = strconv.FormatUint(n, 10)
	}
	open, err := os.Readlink(file(pid, "fd/"+fd))
	return err == nil && (open == tty || open == "/dev/tty"), err
}

// restsIn are the kernel's functions that a thread sleeps in for a time, or until a child
// ends.
var restsIn = []string{"hrtimer_nanosleep", "do_nanosleep", "common_nsleep", "do_wait", "kernel_wait4", "sigsuspend"} //nolint:gochecknoglobals // a constant table

// Rests reports whether all threads of a process sleep for a time, or until a child ends: none
// of it waits for input.
func Rests(pid int) (bool, error) {
	tasks, err := filepath.Glob(file(pid, "task/*/wchan"))
	if err != nil || len(tasks) == 0 {
		return false, err
	}
	for _, task := range tasks {
		sleeps, err := os.ReadFile(task)
		if err != nil || !slices.Contains(restsIn, string(sleeps)) {
			return false, err
		}
	}
	return true, nil
}

// CountWaits returns how often a process has begun to wait for something: a process for which that's
// the same hasn't run meanwhile.
func CountWaits(pid int) (uint64, error) {
	words, err := readStatus(pid, "voluntary_ctxt_switches")
	if err != nil || len(words) == 0 {
		return 0, err
	}
	return strconv.ParseUint(words[0], 10, 64)
}
