package tmux

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
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

// end ends the process and waits for it, but not for a server that stands
// still: then it ends by itself when the server goes on.
func (p *process) end() (ended bool) {
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

// explain turns a failed start into a sentence.
func (p *process) explain(err error) error {
	p.end()
	if msg := strings.TrimSpace(p.stderr.String()); msg != "" {
		return fmt.Errorf("attach to tmux in control mode: %s", msg)
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("attach to tmux in control mode: no answer within %s; the server may be stopped", connectTimeout)
	}
	return fmt.Errorf("attach to tmux in control mode: %w", err)
}
