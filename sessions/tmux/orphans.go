package tmux

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/prometheus/procfs"
)

// daemonVariable tells a client process's daemon by its process id.
const daemonVariable = "PANEBRIDGE_CLIENT_OF"

// endOrphans ends the client processes of daemons that were killed. The end of its input ends
// a client, but a busy tmux 3.3a keeps some, 1 of 20: what it would tell them is read by
// nobody, and it waits until it is. SIGTERM has a client take leave of its server, which a
// tmux of any version survives once the client is in a session. Where there's no /proc, they
// stay.
func (l *live) endOrphans(ctx context.Context) {
	reply, err := l.do(ctx, &request{blocks: 1, line: "list-clients -t =" + HiddenSession + " -F '#{client_pid}'"})
	if err != nil {
		return
	}
	for _, line := range reply[0].lines {
		if pid, err := strconv.Atoi(line); err == nil && isOrphan(pid) {
			_ = syscall.Kill(pid, syscall.SIGTERM)
		}
	}
}

// isOrphan reports whether a process is a client of a daemon that's gone.
func isOrphan(pid int) bool {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return false
	}
	environ, err := p.Environ()
	i := slices.IndexFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, daemonVariable+"=") })
	if err != nil || i < 0 {
		return false
	}
	daemon, err := strconv.Atoi(strings.TrimPrefix(environ[i], daemonVariable+"="))
	switch {
	case err != nil:
		return false
	case daemon == os.Getpid(): // one that was killed may have had the same
		stat, err := p.Stat()
		return err == nil && stat.PPID != daemon
	default:
		return !runs(daemon)
	}
}

// runs reports whether there's a process of that id.
func runs(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
