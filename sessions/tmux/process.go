package tmux

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/host"
)

// process is one tmux -C client process. It's never killed: tmux 3.3a crashes,
// and all its sessions with it, when a control client dies before its attach is
// answered (measured; server_client_lost stops a control state that isn't there
// yet). The end of its input ends it in order.
type process struct {
	cmd    *exec.Cmd
	stdin  *os.File
	stdout *os.File
	stderr *bytes.Buffer
	exited chan struct{}
	once   sync.Once
}

// spawn starts a client process.
func spawn(program string, args, environ []string) (*process, error) {
	inR, inW, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	outR, outW, err := os.Pipe()
	if err != nil {
		_ = inR.Close()
		_ = inW.Close()
		return nil, fmt.Errorf("make a pipe: %w", err)
	}
	p := &process{stdin: inW, stdout: outR, stderr: new(bytes.Buffer), exited: make(chan struct{})}
	p.cmd = exec.Command(program, args...) //nolint:noctx // it must not be killed, see process
	p.cmd.Env = environ
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = inR, outW, p.stderr
	err = p.cmd.Start()
	_ = inR.Close()
	_ = outW.Close()
	if err != nil {
		_ = inW.Close()
		_ = outR.Close()
		return nil, fmt.Errorf("start %s: %w", program, err)
	}
	go func() {
		_ = p.cmd.Wait() // stderr is complete after this
		close(p.exited)
	}()
	return p, nil
}

// endProcess ends the process and waits for it, but not for a server that stands
// still: then it ends by itself when the server goes on.
func (p *process) endProcess() (ended bool) {
	p.once.Do(func() {
		_ = p.stdin.Close()
		select {
		case <-p.exited:
		case <-time.After(endTimeout):
		}
		_ = p.stdout.Close()
	})
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

// explainFailure turns a failed start into a sentence.
func (p *process) explainFailure(err error) error {
	p.endProcess()
	if msg := strings.TrimSpace(p.stderr.String()); msg != "" {
		return fmt.Errorf("attach to tmux in control mode: %s", msg)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("attach to tmux in control mode: no answer within %s; the server may be stopped", connectTimeout)
	}
	return fmt.Errorf("attach to tmux in control mode: %w", err)
}

// socketTurn has control clients come and go one at a time, over all processes of the
// machine. tmux before 3.7 crashes when it has to tell a client of something that is
// just introducing itself, and the end of another client, or of its session, is
// something that it tells (3.3a: 4 crashes in 300 tries with one that came while another
// went, none in 1,000 with turns).
//
// It's a lock on the folder of the server's socket, where nothing has to be made for it.
// Who waits too long goes on without it: somebody else may be able to lock that folder.
type socketTurn struct {
	folder string

	mu   sync.Mutex
	file *os.File // nil: it's not ours
}

// How long a turn is waited for. Another's takes some milliseconds, or until
// connectTimeout and endTimeout where the server stands still.
const (
	turnToCome = 10 * time.Second
	turnToGo   = 2 * time.Second
	turnLook   = 2 * time.Millisecond
)

// acquire waits for the turn, unless it's ours already.
func (t *socketTurn) acquire(ctx context.Context, most time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		return
	}
	f, err := os.OpenFile(t.folder, os.O_RDONLY|unix.O_DIRECTORY, 0) // a pipe in its place holds nobody up
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil {
			t.file = f
			return
		}
		if !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) {
			break // there are no locks on it
		}
		select {
		case <-ctx.Done():
		case <-time.After(turnLook):
			continue
		}
		break
	}
	_ = f.Close()
}

// release lets the next one come or go.
func (t *socketTurn) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.file != nil {
		_ = unix.Flock(int(t.file.Fd()), unix.LOCK_UN) // a child that's being started may have it open, too
		_ = t.file.Close()
		t.file = nil
	}
}

// daemonVariable tells a client process's daemon by its process id.
const daemonVariable = "PANEBRIDGE_CLIENT_OF"

// endOrphans ends the client processes of daemons that were killed. The end of its input ends
// a client, but a busy tmux 3.3a keeps some, 1 of 20: what it would tell them is read by
// nobody, and it waits until it is. SIGTERM has a client take leave of its server, which a
// tmux of any version survives once the client is in a session. Where the system doesn't show
// their environment, they stay.
func (l *liveConn) endOrphans(ctx context.Context) {
	reply, err := l.runCommand(ctx, &commandLine{blocks: 1, line: "list-clients -t =" + HiddenSession + " -F '#{client_pid}'"})
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
	raw, err := host.ReadEnviron(pid)
	environ := strings.Split(string(raw), "\x00")
	i := slices.IndexFunc(environ, func(kv string) bool { return strings.HasPrefix(kv, daemonVariable+"=") })
	if err != nil || i < 0 {
		return false
	}
	daemon, err := strconv.Atoi(strings.TrimPrefix(environ[i], daemonVariable+"="))
	switch {
	case err != nil:
		return false
	case daemon == os.Getpid(): // one that was killed may have had the same
		stat, err := host.ReadStat(pid)
		return err == nil && stat.PPID != daemon
	default:
		return !isRunning(daemon)
	}
}

// isRunning reports whether there's a process of that id.
func isRunning(pid int) bool {
	return pid > 0 && !errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}
