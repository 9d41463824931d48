package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// noControllingTTY keeps a pane's terminal from becoming ours.
const noControllingTTY = syscall.O_NOCTTY

// cpuTime is the CPU time that the threads of a process have used, in
// nanoseconds (/proc/PID/stat counts in steps of 10 ms).
func cpuTime(pid int) (time.Duration, error) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if len(files) == 0 {
		return 0, fmt.Errorf("read the CPU time of process %d: it's gone, or this isn't Linux", pid)
	}
	var sum time.Duration
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		ns, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("read %s: %w", name, err)
		}
		sum += time.Duration(ns)
	}
	return sum, nil
}

// memory is a process's resident memory in bytes.
func memory(pid int) (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %w", pid, err)
	}
	f := strings.Fields(string(text))
	if len(f) < 2 {
		return 0, fmt.Errorf("read the memory of process %d: %q", pid, text)
	}
	pages, err := strconv.ParseInt(f[1], 10, 64)
	return pages * int64(os.Getpagesize()), err
}

// offspring is what tells whether a process has started others: its children,
// and the page faults of those that have ended. A program that runs makes some
// hundred of those, so two equal values mean that none was started in between.
type offspring struct {
	children string
	faults   string
}

func offspringOf(pid int) offspring {
	var o offspring
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, name := range files {
		text, _ := os.ReadFile(name)
		o.children += string(text)
	}
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	if f := strings.Fields(rest); len(f) > 10 {
		o.faults = f[8] + " " + f[10] // minor and major faults of children that were waited for
	}
	return o
}

// childOf is the only child of a process.
func childOf(pid int) (int, error) {
	f := strings.Fields(offspringOf(pid).children)
	if len(f) != 1 {
		return 0, fmt.Errorf("look for the control client of process %d: it has %d children", pid, len(f))
	}
	return strconv.Atoi(f[0])
}

// forks is how many processes and threads this machine has started.
func forks() float64 {
	text, _ := os.ReadFile("/proc/stat")
	_, rest, _ := strings.Cut(string(text), "\nprocesses ")
	line, _, _ := strings.Cut(rest, "\n")
	n, _ := strconv.ParseFloat(line, 64)
	return n
}

func alive(pid int) bool {
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}
