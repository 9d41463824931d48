package app

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/api"
)

// What a machine or a process can run out of, and so much of it is kept for what's begun yet.
const (
	spareTerminals = 8  // panes
	spareFiles     = 64 // descriptors: some clients, and a database's
)

// machinePart says of what the machine, or this process, has little left; nil: of nothing, or
// that can't be read here. What's there for a moment only is looked up at each call.
func machinePart() *api.Part {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	return machineFrom("/proc", int(min(limit.Cur, 1<<30)))
}

// machineFrom is machinePart of what a folder of the kernel's says; most files may be open.
func machineFrom(proc string, mostFiles int) *api.Part {
	var all []string
	if used, most, ok := terminals(proc); ok && used+spareTerminals > most {
		all = append(all, fmt.Sprintf("%d of %d pseudo-terminals are in use, and without one no pane is made: close panes that nobody needs, or have more with sysctl kernel.pty.max", used, most))
	}
	open, err := os.ReadDir(proc + "/self/fd")
	if errors.Is(err, syscall.EMFILE) || errors.Is(err, syscall.ENFILE) {
		all = append(all, fmt.Sprintf("none of %d file descriptors is left, and who asks is answered one at a time: raise the limit (ulimit -n; LimitNOFILE of a systemd unit)", mostFiles))
	}
	if err == nil && len(open)+spareFiles > mostFiles {
		all = append(all, fmt.Sprintf("%d of %d file descriptors are in use, and without one nobody is answered: raise the limit (ulimit -n; LimitNOFILE of a systemd unit)", len(open), mostFiles))
	}
	if len(all) == 0 {
		return nil
	}
	return &api.Part{Name: "machine", State: api.HealthDegraded, Detail: strings.Join(all, "; ")}
}

// terminals is how many pseudo-terminals are in use, and how many there may be.
func terminals(proc string) (used, most int, ok bool) {
	used, ok = numberIn(proc + "/sys/kernel/pty/nr")
	most, limited := numberIn(proc + "/sys/kernel/pty/max")
	return used, most, ok && limited
}

func numberIn(file string) (n int, ok bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSpace(string(text)))
	return n, err == nil
}
