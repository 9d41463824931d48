package redistest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// ErrMissing says that there's no redis-server on this machine.
var ErrMissing = errors.New("redis-server isn't installed; run scripts/install.sh test")

// Server is one redis-server. It keeps its data in an append-only file, synced with
// every command, unless Args says otherwise.
type Server struct {
	Addr string // host:port, or the path of its Unix socket
	Dir  string
	Args []string
	// Clock, if it's set, is the clock it goes by.
	Clock *Clock
	// Certificates, if they're set, have it speak TLS alone on its port.
	Certificates *Certificates
	// Username and Password are what Client logs in with.
	Username, Password string

	port int
	cmd  *exec.Cmd
	done chan struct{}
}

// New returns a server that isn't started. With tcp it listens on a loopback port,
// which Sentinel and Cluster need, else on a socket in dir.
func New(ctx context.Context, dir string, tcp bool, args ...string) (*Server, error) {
	s := &Server{Dir: dir, Args: args, Addr: filepath.Join(dir, "redis.sock")}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if tcp {
		var err error
		if s.port, err = freePort(ctx); err != nil {
			return nil, err
		}
		s.Addr = net.JoinHostPort("127.0.0.1", strconv.Itoa(s.port))
	}
	return s, nil
}

// freePort is a port that's free, as is the one 10000 above, which a Cluster needs.
func freePort(ctx context.Context) (int, error) {
	var lc net.ListenConfig
	for range 100 {
		l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return 0, err
		}
		port := l.Addr().(*net.TCPAddr).Port
		bus, err := lc.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port+10000)))
		_ = l.Close()
		if err == nil {
			_ = bus.Close()
			return port, nil
		}
	}
	return 0, errors.New("no free port with another 10000 above")
}

// Start starts it and waits until it answers.
func (s *Server) Start(ctx context.Context) error {
	path, err := exec.LookPath("redis-server")
	if err != nil {
		return ErrMissing
	}
	args := []string{
		"--dir", s.Dir, "--save", "", "--appendonly", "yes", "--appendfsync", "always", "--logfile", filepath.Join(s.Dir, "log"),
	}
	switch {
	case s.port > 0 && s.Certificates != nil:
		c := s.Certificates
		args = append(args, "--port", "0", "--tls-port", strconv.Itoa(s.port), "--bind", "127.0.0.1",
			"--tls-ca-cert-file", c.CA, "--tls-cert-file", c.Server.Cert, "--tls-key-file", c.Server.Key)
	case s.port > 0:
		args = append(args, "--port", strconv.Itoa(s.port), "--bind", "127.0.0.1")
	default:
		args = append(args, "--port", "0", "--unixsocket", s.Addr)
	}
	return s.run(ctx, path, append(args, s.Args...))
}

func (s *Server) run(ctx context.Context, path string, args []string) error {
	s.cmd = exec.CommandContext(context.WithoutCancel(ctx), path, args...) // Kill ends it
	s.cmd.Env = os.Environ()
	if s.Clock != nil {
		env, err := s.Clock.env(ctx)
		if err != nil {
			return err
		}
		s.cmd.Env = append(s.cmd.Env, env...)
	}
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := s.cmd.Start(); err != nil {
		return fmt.Errorf("start redis-server: %w", err)
	}
	cmd, done := s.cmd, make(chan struct{})
	s.done = done
	go func() {
		_ = cmd.Wait()
		close(done)
	}()
	return s.await(ctx)
}

func (s *Server) await(ctx context.Context) error {
	c := s.Client()
	defer func() { _ = c.Close() }()
	var err error
	for range 500 {
		if err = s.reachable(ctx); err == nil {
			if err = c.Ping(ctx).Err(); err == nil {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.done:
			text, _ := os.ReadFile(filepath.Join(s.Dir, "log"))
			return fmt.Errorf("redis-server has ended: %s", text)
		case <-time.After(20 * time.Millisecond):
		}
	}
	return fmt.Errorf("wait for redis-server: %w", err)
}

// reachable says why there's no connection to be had.
func (s *Server) reachable(ctx context.Context) error {
	network := "unix"
	if s.port > 0 {
		network = "tcp"
	}
	var d net.Dialer
	c, err := d.DialContext(ctx, network, s.Addr)
	if err != nil {
		return err
	}
	return c.Close()
}

// Client returns an ordinary client of this one server.
func (s *Server) Client() *redis.Client {
	network := "unix"
	if s.port > 0 {
		network = "tcp"
	}
	var secure *tls.Config
	if s.Certificates != nil {
		secure = s.Certificates.client()
	}
	return redis.NewClient(&redis.Options{
		Network: network, Addr: s.Addr, TLSConfig: secure, Username: s.Username, Password: s.Password, DialerRetries: 1, ContextTimeoutEnabled: true, MaxRetries: -1, DisableIdentity: true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// Pause stops it with SIGSTOP: connections stay, and nothing answers.
func (s *Server) Pause() error { return s.cmd.Process.Signal(syscall.SIGSTOP) }

// Resume lets a paused server go on.
func (s *Server) Resume() error { return s.cmd.Process.Signal(syscall.SIGCONT) }

// Kill ends it with SIGKILL.
func (s *Server) Kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill()
	<-s.done
}

// Empty deletes its data. It must not be running.
func (s *Server) Empty() error {
	for _, name := range []string{"appendonlydir", "dump.rdb"} {
		if err := os.RemoveAll(filepath.Join(s.Dir, name)); err != nil {
			return err
		}
	}
	return nil
}

// Clock is a clock for servers that can be moved.
type Clock struct{ path string }

// ErrNoFaketime says that there's no faketime on this machine.
var ErrNoFaketime = errors.New("faketime isn't installed; run scripts/install.sh test")

// NewClock returns a clock that keeps its time in a file in dir.
func NewClock(dir string) (*Clock, error) {
	c := &Clock{path: filepath.Join(dir, "clock")}
	return c, c.Move(0)
}

// Move has the clock differ from the machine's by d.
func (c *Clock) Move(d time.Duration) error {
	return c.write(fmt.Sprintf("%+f", d.Seconds()))
}

// Set has the clock stand at a time.
func (c *Clock) Set(at time.Time) error {
	return c.write(at.Local().Format("2006-01-02 15:04:05.000000"))
}

func (c *Clock) write(text string) error {
	if err := os.WriteFile(c.path+".new", []byte(text+"\n"), 0o600); err != nil {
		return err
	}
	return os.Rename(c.path+".new", c.path)
}

// env is what has a process go by the clock.
func (c *Clock) env(ctx context.Context) ([]string, error) {
	out, err := exec.CommandContext(ctx, "faketime", "-f", "+0", "env").Output()
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNoFaketime, err)
	}
	for line := range strings.Lines(string(out)) {
		if lib, ok := strings.CutPrefix(strings.TrimSpace(line), "LD_PRELOAD="); ok {
			// Debian's redis-server allocates by jemalloc, which asks for the time while
			// faketime asks for memory: libc's allocator goes before it.
			return []string{
				"LD_PRELOAD=" + lib + " libc.so.6", "FAKETIME_TIMESTAMP_FILE=" + c.path, "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1",
			}, nil
		}
	}
	return nil, fmt.Errorf("%w: it names no library", ErrNoFaketime)
}
