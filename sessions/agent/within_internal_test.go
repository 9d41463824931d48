package agent

import (
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
)

// On a busy machine a process is long at beginning another program, and meanwhile nobody can
// tell where it was begun. That matters for who has a socket only if it's that process.
func TestWhoHasASocketIsKnownBesideProcessesThatBegin(t *testing.T) {
	if !NewProcesses().ok {
		t.Skip("the system doesn't show processes")
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	f, err := listener.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	link, err := os.Readlink("/proc/self/fd/" + strconv.Itoa(int(f.Fd())))
	if err != nil {
		t.Fatal(err)
	}
	inode, err := strconv.ParseUint(strings.Trim(link, "socket:[]"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	for _, has := range []bool{false, true} {
		cmd := exec.Command("sleep", "1000")
		if has {
			cmd.ExtraFiles = []*os.File{f}
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		o := NewProcesses().Origins(nil, t.TempDir())
		o.environOf = func(pid int) (map[string]string, bool, error) {
			if pid == cmd.Process.Pid {
				return nil, false, nil
			}
			return wholeEnviron(pid)
		}
		id, err := o.Holding(inode, os.Geteuid())
		if id != "" || (err != nil) != has {
			t.Errorf("a process that begins has the socket: %t; it's held by %q (%v)", has, id, err)
		}
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}
}
