package tmux

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// HiddenSession is the name of the client's own tmux session.
const HiddenSession = "_panebridge"

// MinVersion is the oldest tmux that has all that's needed (new-session -f,
// -N, per-client flags).
const MinVersion = "3.2"

const (
	connectTimeout = 5 * time.Second
	endTimeout     = 2 * time.Second
	retryMin       = 250 * time.Millisecond
	retryMax       = 5 * time.Second
	retryAbsent    = time.Second
)

// Options configure a Client.
type Options struct {
	SocketName string // tmux -L; "default" for tmux's own default
	SocketPath string // tmux -S; instead of SocketName
	Program    string // "" for "tmux" from PATH
	ConfigFile string // -f, for a server that this client starts; "" for tmux's own default
	Logger     *slog.Logger

	// Environment (NAME=value) is that of a server that this client starts. Nil: what of
	// this process's own a login has.
	Environment []string
	// Starter is the socket of a Starter that starts the server. "": this process does.
	Starter string
	// Secret reports whether a value has a secret in it, which no server, pane or client
	// that's started here may have. Any goroutine may call it. Nil: none has.
	Secret func(value string) bool

	// OnUp is called when a connection stands; OnDown when it has ended, and
	// again when the server is found to be gone. OnPanes is called when sessions
	// or windows came, went or were renamed. All run on the client's
	// goroutines and must not block.
	OnUp    func(sessions.ServerIdentity)
	OnDown  func(error)
	OnPanes func()
}

// Client is the one connection to one tmux server. Its methods may be called
// from any goroutine; they fail at once while there's no connection.
type Client struct {
	opt Options
	log *slog.Logger

	// making is held by those that make a session, and alone by who gives the server up.
	making       sync.RWMutex
	wanted       chan struct{} // there's a server to connect to now; capacity 1
	leaving      atomic.Bool   // the hidden session is to go with the connection
	panesChanged atomic.Bool   // since the last look at all panes; see Glances

	mu     sync.Mutex
	live   *liveConn // nil: no connection
	status ConnStatus
	tall   map[string]int // how often panes were made taller, and as they were; see Grow
}

// ConnStatus is how a client stands with its server.
type ConnStatus struct {
	Connected bool
	Absent    bool  // no server is running on the socket, which is no fault
	Err       error // why there's no connection
	Version   string
	Identity  sessions.ServerIdentity
	LastOK    time.Time     // last reply
	Silent    time.Duration // how long the oldest request has been waiting
}

// New returns a client; Run connects it.
func New(opt Options) *Client {
	if opt.Program == "" {
		opt.Program = "tmux"
	}
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Client{opt: opt, log: opt.Logger, status: ConnStatus{Err: errConnecting}, wanted: make(chan struct{}, 1)}
}

// Name is what the configuration calls this server.
func (c *Client) Name() string {
	if c.opt.SocketPath != "" {
		return c.opt.SocketPath
	}
	return c.opt.SocketName
}

// SocketPath is where the server's socket is, as tmux works it out.
func (c *Client) SocketPath() string {
	if c.opt.SocketPath != "" {
		return c.opt.SocketPath
	}
	dir := os.Getenv("TMUX_TMPDIR")
	if dir == "" {
		dir = "/tmp"
	}
	return filepath.Join(dir, "tmux-"+strconv.Itoa(os.Getuid()), c.opt.SocketName)
}

// Run keeps a connection up until ctx ends. A server that isn't running is
// looked for without starting a process.
func (c *Client) Run(ctx context.Context) error {
	delay := retryMin
	for ctx.Err() == nil {
		wasUp, err := c.connectOnce(ctx)
		if ctx.Err() != nil {
			break
		}
		if wasUp && !errors.Is(err, errLeft) {
			delay = retryMin
		}
		c.setDown(err)
		select {
		case <-ctx.Done():
		case <-time.After(delay):
		case <-c.wanted:
			delay = retryMin
		}
		if delay = min(2*delay, retryMax); errors.Is(err, errAbsent) && !errors.Is(err, errLeft) {
			delay = min(delay, retryAbsent) // a look at a socket costs nothing
		}
	}
	return nil //nolint:nilerr // it was told to end
}

// errConnecting: the client hasn't been able to connect yet.
var errConnecting = errors.New("not connected yet; try again in a moment")

// errAbsent: nobody listens on the socket.
var errAbsent = errors.New("no tmux server is running")

// errLeft: we've left, because the server had nothing but our hidden session. It's still
// there if the client of a daemon that was killed is stuck in it (tmux 3.3a).
var errLeft = fmt.Errorf("%w with sessions in it", errAbsent)

// connectOnce connects, serves until the connection ends, and says what ended it.
func (c *Client) connectOnce(ctx context.Context) (wasUp bool, err error) {
	if err := c.probeSocket(ctx); err != nil {
		return false, err
	}
	if err := c.checkProgram(ctx); err != nil {
		return false, err
	}
	if err := c.awaitQuiet(ctx); err != nil {
		return false, err
	}
	t := &socketTurn{folder: filepath.Dir(c.SocketPath())}
	t.acquire(ctx, turnToCome)
	defer t.release()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	// -N: never start a server; -E: leave the environment of sessions alone;
	// no-output: panes are never throttled by us.
	p, err := spawn(c.opt.Program, c.tmuxArgs("-N", "-C",
		"new-session", "-A", "-E", "-s", HiddenSession, "-x", "80", "-y", "24",
		"-f", "no-output,ignore-size", "cat", "-"), append(c.clientEnv(), daemonVariable+"="+strconv.Itoa(os.Getpid()))) // two words: no shell, which may be one that lets nobody in
	if err != nil {
		return false, err
	}
	wasUp, err = c.serveConn(ctx, p, t)
	t.acquire(context.WithoutCancel(ctx), turnToGo)
	if !p.endProcess() {
		select {
		case <-p.exited: // one client at a time, also where the server stands still
		case <-ctx.Done():
			return wasUp, err
		}
	}
	left := c.leaving.Swap(false)
	if left || ctx.Err() != nil {
		c.removeHidden()
	}
	if left {
		err = errLeft
	}
	return wasUp, err
}

// removeHidden removes the hidden session when no client is in it any more.
// tmux 3.3a can crash when a control client's session is destroyed, also by
// destroy-unattached, so a plain client does it afterwards.
func (c *Client) removeHidden() {
	cmd := exec.Command(c.opt.Program, c.tmuxArgs("-N", "if-shell", "-F", "-t", "="+HiddenSession+":", //nolint:noctx // ended by tmux
		"#{==:#{session_attached},0}", "kill-session -t ="+HiddenSession)...)
	cmd.Env = c.clientEnv()
	if err := cmd.Start(); err != nil {
		return // it stays, and the next client takes it over
	}
	done := make(chan struct{})
	go func() { defer close(done); _ = cmd.Wait() }()
	select {
	case <-done:
	case <-time.After(endTimeout):
	}
}

// probeSocket looks whether a server listens, without starting a process.
func (c *Client) probeSocket(ctx context.Context) error {
	d := net.Dialer{Timeout: time.Second}
	path := c.SocketPath()
	conn, err := d.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		return conn.Close()
	case errors.Is(err, os.ErrNotExist), errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w on %s", errAbsent, path)
	case errors.Is(err, os.ErrPermission):
		return fmt.Errorf("no permission on the tmux socket %s: run panebridge as the user who owns it", path)
	}
	return fmt.Errorf("reach the tmux server: %w", err)
}

// AwaitAnswer asks the server for nothing and waits for its answer, or until the context ends. What asks is a
// plain client, which may be killed beside a server that's stopped: tmux 3.3a has gone on after all of 120. A control client would have to be left there, see process.
func (c *Client) AwaitAnswer(ctx context.Context) error {
	text, err := c.plainClient(ctx, "display-message", "-p", "").CombinedOutput()
	switch said := strings.TrimSpace(string(text)); {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && said != "":
		return fmt.Errorf("ask the tmux server: %s", said)
	case err != nil:
		return fmt.Errorf("ask the tmux server: %w", err)
	}
	return nil
}

// plainClient is a client that runs a command of the server, if there's one, and ends.
func (c *Client) plainClient(ctx context.Context, command ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.opt.Program, c.tmuxArgs(append([]string{"-N"}, command...)...)...)
	cmd.Env, cmd.WaitDelay = c.clientEnv(), time.Second // a stopped server was given its output, and keeps that open
	return cmd
}

// checkProgram refuses a missing or too old tmux.
func (c *Client) checkProgram(ctx context.Context) error {
	_, err := ProgramVersion(ctx, c.opt.Program)
	return err
}

// tmuxArgs are the options every tmux call starts with.
func (c *Client) tmuxArgs(rest ...string) []string {
	a := []string{"-u"} // UTF-8 replies, whatever the daemon's locale
	if c.opt.ConfigFile != "" {
		a = append(a, "-f", c.opt.ConfigFile)
	}
	if c.opt.SocketPath != "" {
		a = append(a, "-S", c.opt.SocketPath)
	} else {
		a = append(a, "-L", c.opt.SocketName)
	}
	return append(a, rest...)
}

// serveConn runs the connection until it ends or ctx does. The turn is given back while it
// stands.
func (c *Client) serveConn(ctx context.Context, p *process, t *socketTurn) (wasUp bool, err error) {
	conn := newConn(p.stdin, p.stdout, c.handleNotification)
	// The attach's own reply comes first; tmux before 3.4 loses commands that
	// are sent before it.
	_ = p.stdout.SetReadDeadline(time.Now().Add(connectTimeout))
	first, _, err := conn.parser.nextBlock(func() int { return -1 })
	if err == nil && first != nil && first.failed {
		err = errors.New(strings.Join(first.lines, " "))
	}
	if err != nil {
		return false, p.explainFailure(err)
	}
	_ = p.stdout.SetReadDeadline(time.Time{})
	ended := make(chan error, 1)
	go func() { ended <- conn.run() }()
	if err := c.greetServer(ctx, conn); err != nil {
		conn.failAll(err)
		p.endProcess()
		<-ended
		return false, err
	}
	t.release()
	stop := context.AfterFunc(ctx, func() {
		conn.failAll(ctx.Err())
		t.acquire(context.WithoutCancel(ctx), turnToGo)
		p.endProcess()
	})
	defer stop()
	err = <-ended
	return true, err
}

// greetServer learns who the server is and how it shows buffers.
func (c *Client) greetServer(ctx context.Context, conn *serverConn) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	reply, err := conn.runCommand(ctx, &commandLine{blocks: 3, line: "set-option -t =" + HiddenSession + ": destroy-unattached off ; " +
		"display-message -p '#{pid} #{start_time} #{version}' ; list-commands -F '#{command_list_usage}' capture-pane"})
	if err != nil {
		return fmt.Errorf("greet tmux: %w", err)
	}
	l := &liveConn{serverConn: conn}
	f := strings.Fields(strings.Join(reply[1].lines, " "))
	if len(f) < 2 {
		return fmt.Errorf("greet tmux: %w: %q", errProtocol, reply[1].lines)
	}
	l.identity.PID, _ = strconv.Atoi(f[0])
	l.identity.Start, _ = strconv.ParseInt(f[1], 10, 64)
	l.version = ParseVersion(strings.Join(f[2:], " "))
	l.leakFree = l.version.AtLeast(3, 6)
	l.exact = exactFlags(strings.Join(reply[2].lines, " "))
	if err := l.probeEncoding(ctx); err != nil {
		return err
	}
	l.buffers.Store(firstBuffer())
	l.dropOldBuffers(ctx)
	l.endOrphans(ctx)
	l.shrinkAllPanes(ctx)
	c.setUp(l)
	return nil
}

func (c *Client) setUp(l *liveConn) {
	c.panesChanged.Store(true)
	c.mu.Lock()
	c.live = l
	c.status = ConnStatus{Connected: true, Version: l.version.String(), Identity: l.identity, LastOK: time.Now()}
	c.mu.Unlock()
	c.log.Info("tmux connected", "server", c.Name(), "version", l.version.String(), "pid", l.identity.PID)
	if c.opt.OnUp != nil {
		c.opt.OnUp(l.identity)
	}
}

func (c *Client) setDown(err error) {
	c.mu.Lock()
	was := c.status
	c.live = nil
	c.status = ConnStatus{Absent: errors.Is(err, errAbsent), Err: err, LastOK: was.LastOK}
	c.mu.Unlock()
	if was.Connected || was.Err.Error() != err.Error() {
		c.log.Info("tmux not connected", "server", c.Name(), "reason", err)
	}
	if (was.Connected || errors.Is(err, errAbsent) != was.Absent) && c.opt.OnDown != nil {
		c.opt.OnDown(err)
	}
}

// handleNotification handles a notification.
func (c *Client) handleNotification(line string) {
	name, _, _ := strings.Cut(line, " ")
	switch name {
	case "%sessions-changed", "%session-renamed", "%unlinked-window-add", "%unlinked-window-close", "%window-add", "%window-close":
		c.panesChanged.Store(true)
		if c.opt.OnPanes != nil {
			c.opt.OnPanes()
		}
	}
}

// Status tells how the connection stands now.
func (c *Client) Status() ConnStatus {
	c.mu.Lock()
	s, l := c.status, c.live
	c.mu.Unlock()
	if l == nil {
		return s
	}
	if since, ok := l.waitingSince(); ok {
		s.Silent = time.Since(since)
	}
	l.mu.Lock()
	if !l.lastOK.IsZero() {
		s.LastOK = l.lastOK
	}
	l.mu.Unlock()
	return s
}

// Gone reports whether no server is running on the socket.
func (c *Client) Gone() bool { return c.Status().Absent }

// Identity returns which run of the server the client is connected to.
func (c *Client) Identity() (sessions.ServerIdentity, bool) {
	s := c.Status()
	return s.Identity, s.Connected
}

// Version is a tmux version: "3.3a", "next-3.7", "3.6".
type Version struct {
	Major, Minor int
	raw          string
}

// ParseVersion reads what tmux -V prints behind "tmux ". What can't be read
// (a build from a development tree without a number) counts as new.
func ParseVersion(s string) Version {
	v := Version{raw: s}
	digits := strings.TrimLeft(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_ ")
	if strings.HasPrefix(s, "openbsd-") || digits == "" {
		v.Major, v.Minor = 99, 0 // OpenBSD's base tmux has the system's number and follows the newest
		return v
	}
	major, rest, _ := strings.Cut(digits, ".")
	v.Major, _ = strconv.Atoi(major)
	end := strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	if end < 0 {
		end = len(rest)
	}
	v.Minor, _ = strconv.Atoi(rest[:end])
	return v
}

// AtLeast reports whether v is major.minor or newer.
func (v Version) AtLeast(major, minor int) bool {
	return v.Major > major || v.Major == major && v.Minor >= minor
}

func (v Version) String() string { return v.raw }

// versionWithin is how long a tmux program may take to say its version. It takes some milliseconds; a machine that's
// short of memory takes seconds.
const versionWithin = 10 * time.Second

// maxVersion is how many bytes it may say at most.
const maxVersion = 4096

// ProgramVersion asks a tmux program for its version and refuses one older
// than MinVersion. It blocks for versionWithin at most.
func ProgramVersion(ctx context.Context, program string) (Version, error) {
	within, cancel := context.WithTimeout(ctx, versionWithin)
	defer cancel()
	cmd := exec.CommandContext(within, program, "-V")
	said := regular.NewBeginning(maxVersion, cancel)
	cmd.Env, cmd.WaitDelay, cmd.Stdout = clientEnv(os.Environ()), time.Second, said
	err := cmd.Run()
	switch {
	case errors.Is(err, exec.ErrNotFound):
		return Version{}, fmt.Errorf("%s isn't installed: install it (apt-get install tmux, brew install tmux)", program)
	case said.HasMore():
		return Version{}, fmt.Errorf("%s -V writes more than a version: is it tmux?", program)
	case ctx.Err() == nil && within.Err() != nil:
		return Version{}, fmt.Errorf("%s -V gave no answer within %v: does it answer in a shell?", program, versionWithin)
	case err != nil:
		return Version{}, fmt.Errorf("ask %s for its version: %w", program, err)
	}
	v := ParseVersion(strings.TrimPrefix(strings.TrimSpace(said.String()), "tmux "))
	if !v.AtLeast(3, 2) {
		return v, fmt.Errorf("%s is version %s: panebridge needs %s or newer", program, v, MinVersion)
	}
	return v, nil
}

// firstBuffer is the number before the first of a new connection.
func firstBuffer() uint64 {
	return uint64(os.Getpid())<<bufferPIDShift | uint64(rand.Uint32N(1<<(bufferPIDShift-bufferConnShift)))<<bufferConnShift
}

// isInUse reports whether a buffer belongs to another process that lives.
func isInUse(name string) bool {
	n, err := strconv.ParseUint(strings.TrimPrefix(name, bufferPrefix), 10, 64)
	pid := int(n >> bufferPIDShift)
	return err == nil && pid != os.Getpid() && isRunning(pid)
}

// probeEncoding sets the probe buffer and looks how it's shown.
func (l *liveConn) probeEncoding(ctx context.Context) error {
	reply, err := l.runCommand(ctx, &commandLine{blocks: 3, line: "set-buffer -b " + bufferPrefix + "probe " + quote(probeText) +
		" ; show-buffer -b " + bufferPrefix + "probe ; delete-buffer -b " + bufferPrefix + "probe"})
	if err != nil {
		return fmt.Errorf("learn how tmux shows buffers: %w", err)
	}
	enc, ok := learnEncoding(reply[1].lines)
	if !ok {
		return fmt.Errorf("learn how tmux %s shows buffers: got %q for %q", l.version, reply[1].lines, probeText)
	}
	l.enc = enc
	return nil
}

// dropOldBuffers deletes what an earlier client left when it was killed.
func (l *liveConn) dropOldBuffers(ctx context.Context) {
	reply, err := l.runCommand(ctx, &commandLine{blocks: 1, line: "list-buffers -F '#{buffer_name}'"})
	if err != nil {
		return
	}
	for _, name := range reply[0].lines {
		if strings.HasPrefix(name, bufferPrefix) && !isInUse(name) {
			_, _ = l.runCommand(ctx, &commandLine{blocks: 1, line: "delete-buffer -b " + quote(name)})
		}
	}
}
