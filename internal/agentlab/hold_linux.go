package agentlab

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// holdVar makes a test binary the holder of a network namespace; its value is
// the port to listen on.
const holdVar = "PANEBRIDGE_AGENTLAB_HOLD"

// Port is where the model listens in a run's network namespace. Each run has its
// own, so that it can be the same for all.
const port = 18080

// Main is called first thing by the TestMain of a package that runs agents: a
// process that was started to hold a network namespace, or to be an MCP server, does that,
// and ends.
func Main() {
	if dir := os.Getenv(mcpVar); dir != "" {
		if err := serveMCP(os.Stdin, os.Stdout, dir); err != nil {
			fmt.Fprintln(os.Stderr, "agentlab:", err)
			os.Exit(1) //nolint:revive // it isn't a test's process
		}
		os.Exit(0) //nolint:revive // it isn't a test's process
	}
	text := os.Getenv(holdVar)
	if text == "" {
		return
	}
	if err := hold(text); err != nil {
		fmt.Fprintln(os.Stderr, "agentlab:", err)
		os.Exit(1) //nolint:revive // it isn't a test's process
	}
	os.Exit(0) //nolint:revive // it isn't a test's process
}

// hold brings up the loopback interface of this process's namespace, hands a
// listener on it to the other side of descriptor 3, and stays until standard
// input ends.
func hold(text string) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	lo, err := unix.NewIfreq("lo")
	if err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	lo.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo); err != nil {
		return fmt.Errorf("bring up loopback: %w", err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+text) //nolint:noctx // in a namespace of its own
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	tcp, ok := l.(*net.TCPListener)
	if !ok {
		return errors.New("listen: not a TCP listener")
	}
	file, err := tcp.File()
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	if err := unix.Sendmsg(3, []byte{0}, unix.UnixRights(int(file.Fd())), nil, 0); err != nil {
		return fmt.Errorf("hand over the listener: %w", err)
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	return nil
}

// namespace is a network namespace with nothing but a loopback interface.
type namespace struct {
	pid      int    // of its holder
	inode    uint64 // its number
	listener net.Listener
	stdin    io.Closer // closing it ends the holder
	cmd      *exec.Cmd
}

// enter is the command line before one that runs in the namespace.
func (n *namespace) enter() []string {
	out := []string{"nsenter", "--target", strconv.Itoa(n.pid)}
	if os.Geteuid() != 0 {
		out = append(out, "--user", "--preserve-credentials")
	}
	return append(out, "--net", "--")
}

// newNamespace starts a holder: this same program, whose TestMain calls Main. It
// stays until close, also when ctx has ended.
func newNamespace(ctx context.Context) (*namespace, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	ours, theirs := os.NewFile(uintptr(pair[0]), "ours"), os.NewFile(uintptr(pair[1]), "theirs")
	defer ours.Close()
	args := []string{"--net", self}
	if os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "unshare", args...)
	cmd.Env = append(os.Environ(), holdVar+"="+strconv.Itoa(port))
	cmd.ExtraFiles = []*os.File{theirs}
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	_ = theirs.Close()
	if err != nil {
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	n := &namespace{pid: cmd.Process.Pid, stdin: stdin, cmd: cmd}
	if n.listener, err = receive(ours); err != nil {
		n.close()
		return nil, fmt.Errorf("make a network namespace (is that allowed here?): %w", err)
	}
	var own, other unix.Stat_t
	if err := unix.Stat("/proc/self/ns/net", &own); err != nil {
		n.close()
		return nil, fmt.Errorf("make a network namespace: %w", err)
	}
	if err := unix.Stat(fmt.Sprintf("/proc/%d/ns/net", n.pid), &other); err != nil || own.Ino == other.Ino {
		n.close()
		return nil, errors.Join(errors.New("make a network namespace: there's none; no agent is started"), err)
	}
	n.inode = other.Ino
	return n, nil
}

// receive takes the listener that a holder hands over.
func receive(conn *os.File) (net.Listener, error) {
	rights := make([]byte, unix.CmsgSpace(4))
	_, oob, _, _, err := unix.Recvmsg(int(conn.Fd()), make([]byte, 1), rights, unix.MSG_CMSG_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("receive a listener: %w", err)
	}
	msgs, err := unix.ParseSocketControlMessage(rights[:oob])
	if err != nil || len(msgs) != 1 {
		return nil, errors.Join(errors.New("receive a listener: its holder ended"), err)
	}
	fds, err := unix.ParseUnixRights(&msgs[0])
	if err != nil {
		return nil, fmt.Errorf("receive a listener: %w", err)
	}
	file := os.NewFile(uintptr(fds[0]), "listener")
	defer file.Close()
	l, err := net.FileListener(file)
	if err != nil {
		return nil, fmt.Errorf("receive a listener: %w", err)
	}
	return l, nil
}

// processes are those in the namespace, but for its holder: the agent and
// whatever it has started.
func (n *namespace) processes() []int {
	dirs, _ := os.ReadDir("/proc")
	var out []int
	for _, d := range dirs {
		pid, err := strconv.Atoi(d.Name())
		if err != nil || pid == n.pid {
			continue
		}
		var st unix.Stat_t
		if unix.Stat("/proc/"+d.Name()+"/ns/net", &st) == nil && st.Ino == n.inode {
			out = append(out, pid)
		}
	}
	return out
}

// endAll ends all processes in the namespace and says which are left.
func (n *namespace) endAll() []int {
	late, end := time.Now().Add(4*time.Second), time.Now().Add(8*time.Second)
	asked := map[int]bool{}
	for {
		pids := n.processes()
		if len(pids) == 0 || time.Now().After(end) {
			return pids
		}
		for _, pid := range pids {
			switch {
			case time.Now().After(late):
				_ = syscall.Kill(pid, syscall.SIGKILL)
			case !asked[pid]:
				asked[pid] = true
				_ = syscall.Kill(pid, syscall.SIGTERM)
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// close ends the holder.
func (n *namespace) close() {
	if n.listener != nil {
		_ = n.listener.Close()
	}
	_ = n.stdin.Close()
	_ = n.cmd.Wait()
}
