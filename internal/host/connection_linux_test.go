package host

import (
	"bytes"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// connect returns both ends of a connection.
func connect(t *testing.T, address string) (server, client net.Conn) {
	t.Helper()
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var d net.Dialer
	if client, err = d.DialContext(t.Context(), "tcp", l.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server, client
}

// Both ways of asking say the same, over IPv4, IPv6, and IPv4 on a socket of both.
func TestOwnConnectionsAreOurs(t *testing.T) {
	for _, address := range []string{"127.0.0.1:0", "127.9.8.7:0", "[::1]:0", ":0"} {
		t.Run(address, func(t *testing.T) {
			server, client := connect(t, address)
			near, far, err := ends(server)
			if err != nil {
				t.Fatal(err)
			}
			for name, ask := range map[string]func(_, _ netip.AddrPort) (socket, error){"diag": diag, "table": inTable} {
				if own, err := ask(near, far); own.uid != os.Geteuid() || own.inode == 0 || err != nil {
					t.Errorf("%s: %+v, %v", name, own, err)
				}
			}
			if uid, err := ConnectionUser(server); uid != os.Geteuid() || err != nil {
				t.Errorf("user %d, %v", uid, err)
			}
			inode, err := ConnectionSocket(server)
			if link := linkOf(t, client); err != nil || link != fmt.Sprintf("socket:[%d]", inode) {
				t.Errorf("socket %d, %v; it's %s", inode, err, link)
			}
			// An end without an owner would be root's, if one believed the table.
			_ = client.Close()
			for name, ask := range map[string]func(_, _ netip.AddrPort) (socket, error){"diag": diag, "table": inTable} {
				if own, err := ask(near, far); !errors.Is(err, errNone) {
					t.Errorf("%s, closed: %+v, %v", name, own, err)
				}
			}
		})
	}
}

// linkOf is what /proc says of a connection of ours.
func linkOf(t *testing.T, c net.Conn) (link string) {
	t.Helper()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err == nil {
		err = raw.Control(func(fd uintptr) { link, _ = os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd)) })
	}
	if err != nil {
		t.Fatal(err)
	}
	return link
}

// The process that has connected to a Unix socket is named, and the user at each end.
func TestProcessOfAUnixSocketIsKnown(t *testing.T) {
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "unix", t.TempDir()+"/s")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var d net.Dialer
	client, err := d.DialContext(t.Context(), "unix", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	server, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Close() }()
	if pid, err := SocketProcess(server.(*net.UnixConn)); pid != os.Getpid() || err != nil {
		t.Errorf("process %d, %v", pid, err)
	}
	for _, end := range []net.Conn{client, server} {
		if uid, err := SocketUser(end.(*net.UnixConn)); uid != os.Getuid() || err != nil {
			t.Errorf("user %d, %v", uid, err)
		}
	}
}

const dialsTo = "PANEBRIDGE_PEER_DIALS"

// TestMain plays the program of another user.
func TestMain(m *testing.M) {
	if address := os.Getenv(dialsTo); address != "" {
		c, err := net.Dial("tcp", address)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		_, _ = c.Read(make([]byte, 1)) // until the test has seen it
		return
	}
	os.Exit(m.Run())
}

// A program of another user is told from ours. Where the test isn't root's, a user
// namespace gives it none but its own, so the table says it instead.
func TestAnotherUsersConnectionIsTheirs(t *testing.T) {
	const other = 65_533
	if os.Geteuid() != 0 {
		foreign := strings.Replace(table, " 1000 ", fmt.Sprintf(" %d ", other), 1)
		if own, err := readTable(strings.NewReader(foreign), addr("127.0.0.1:7333"), addr("127.0.0.1:43210")); own.uid != other || err != nil {
			t.Errorf("%+v, %v", own, err)
		}
		return
	}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	cmd := exec.CommandContext(t.Context(), "/proc/self/exe")
	cmd.Env = []string{dialsTo + "=" + l.Addr().String()}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: other, Gid: other}}
	var said bytes.Buffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v: %s", err, said.String())
		}
	}()
	c, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	near, far, err := ends(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, ask := range map[string]func(_, _ netip.AddrPort) (socket, error){"diag": diag, "table": inTable} {
		if own, err := ask(near, far); own.uid != other || err != nil {
			t.Errorf("%s: %+v, %v", name, own, err)
		}
	}
}

const table = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1CA5 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 27437 1 000000004629f8db 100 0 0 10 0
   1: 0100007F:1CA5 0100007F:A8CA 01 00000000:00000000 00:00000000 00000000     0        0 27438 1 000000004629f8db 100 0 0 10 0
   2: 0100007F:A8CA 0100007F:1CA5 01 00000000:00000000 00:00000000 00000000  1000        0 27439 1 000000004629f8db 100 0 0 10 0
   3: 0100007F:A8CB 0100007F:1CA5 04 00000000:00000000 00:00000000 00000000     0        0 0 1 000000004629f8db 100 0 0 10 0
   4: 0100007F:A8CC 0100007F:1CA5 01 00000000:00000000 00:00000000 00000000     0        0 0 1 000000004629f8db 100 0 0 10 0
`

func addr(s string) netip.AddrPort { return netip.MustParseAddrPort(s) }

func TestTableIsRead(t *testing.T) {
	for far, want := range map[string]int{"127.0.0.1:43210": 1000, "127.0.0.1:43211": -1, "127.0.0.1:43212": -1, "127.0.0.2:43210": -1} {
		own, err := readTable(strings.NewReader(table), addr("127.0.0.1:7333"), addr(far))
		if want < 0 && !errors.Is(err, errNone) || want >= 0 && (own != socket{want, 27439} || err != nil) {
			t.Errorf("%s: %+v, %v", far, own, err)
		}
	}
}
