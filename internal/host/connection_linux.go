package host

import (
	"bufio"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// established is TCP_ESTABLISHED. In other states a socket may have lost its owner, and
// the kernel then calls it root's.
const established = 1

// errNone says that the kernel doesn't know such a connection.
var errNone = errors.New("it isn't open any more")

// ConnectionUser returns the id of the user whose process is at the other end of a TCP connection
// that stays on this machine. Call it when the connection was accepted: it fails when the
// other end is closed. It asks the kernel about this one connection (sock_diag(7)), or,
// where that isn't allowed, reads the table of all.
func ConnectionUser(c net.Conn) (uid int, err error) {
	near, far, err := ends(c)
	if err != nil {
		return 0, fmt.Errorf("find the other end's user: %w", err)
	}
	own, err := socketAt(near, far)
	if err != nil {
		return 0, fmt.Errorf("find the user of %s: %w", far, err)
	}
	return own.uid, nil
}

// ConnectionSocket returns the inode of the socket at the other end of a TCP connection that stays
// on this machine: ListDescriptors names it for each process that has it. It fails when the
// other end is closed.
func ConnectionSocket(c net.Conn) (inode uint64, err error) {
	near, far, err := ends(c)
	if err != nil {
		return 0, fmt.Errorf("find the other end's socket: %w", err)
	}
	own, err := socketAt(near, far)
	if err != nil {
		return 0, fmt.Errorf("find the socket of %s: %w", far, err)
	}
	return own.inode, nil
}

// SocketProcess returns the process that has connected to a Unix socket of ours; 0: it's none
// that can be seen from here, as one outside of a container. It may have ended since.
func SocketProcess(c *net.UnixConn) (pid int, err error) {
	cred, err := credentials(c)
	if err != nil {
		return 0, fmt.Errorf("find the other end's process: %w", err)
	}
	return int(cred.Pid), nil
}

// SocketUser returns the id of the user whose process is at the other end of a Unix socket:
// of who connected, or of who listened when we did.
func SocketUser(c *net.UnixConn) (uid int, err error) {
	cred, err := credentials(c)
	if err != nil {
		return 0, fmt.Errorf("find the other end's user: %w", err)
	}
	return int(cred.Uid), nil
}

// credentials are what the kernel has kept of the other end of a Unix socket.
func credentials(c *net.UnixConn) (cred *unix.Ucred, err error) {
	err = askSocket(c, func(fd int) (err error) {
		cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
		return err
	})
	return cred, err
}

// socket is one end of a connection.
type socket struct {
	uid   int
	inode uint64
}

func socketAt(near, far netip.AddrPort) (socket, error) {
	own, err := diag(near, far)
	if err != nil && !errors.Is(err, errNone) {
		return inTable(near, far)
	}
	return own, err
}

func ends(c net.Conn) (near, far netip.AddrPort, err error) {
	here, ok1 := c.LocalAddr().(*net.TCPAddr)
	there, ok2 := c.RemoteAddr().(*net.TCPAddr)
	if !ok1 || !ok2 {
		return near, far, errors.New("it isn't a TCP connection")
	}
	return plain(here.AddrPort()), plain(there.AddrPort()), nil
}

func plain(a netip.AddrPort) netip.AddrPort {
	return netip.AddrPortFrom(a.Addr().Unmap().WithZone(""), a.Port())
}

// Of <linux/inet_diag.h> and <linux/sock_diag.h>.
const (
	sockDiagByFamily = 20
	headerBytes      = 16 // of a netlink message
	requestBytes     = headerBytes + 56
	answerBytes      = headerBytes + 72
	stateAt          = headerBytes + 1  // idiag_state
	uidAt            = headerBytes + 64 // idiag_uid
	inodeAt          = headerBytes + 68 // idiag_inode
)

// diag asks the kernel about the socket whose own end is far.
func diag(near, far netip.AddrPort) (socket, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return socket{}, err
	}
	defer func() { _ = unix.Close(fd) }()
	_ = unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 1}) // it answers at once
	if err := unix.Sendto(fd, diagRequest(near, far), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
		return socket{}, err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return socket{}, err
	}
	return readAnswer(answer[:n])
}

func diagRequest(near, far netip.AddrPort) []byte {
	family := byte(unix.AF_INET)
	if far.Addr().Is6() {
		family = unix.AF_INET6
	}
	b := make([]byte, 0, requestBytes)
	b = binary.NativeEndian.AppendUint32(b, requestBytes)
	b = binary.NativeEndian.AppendUint16(b, sockDiagByFamily)
	b = binary.NativeEndian.AppendUint16(b, unix.NLM_F_REQUEST)
	b = append(b, make([]byte, 8)...) // sequence and port: there's one question
	b = append(b, family, unix.IPPROTO_TCP, 0, 0)
	b = binary.NativeEndian.AppendUint32(b, 1<<established)
	b = binary.BigEndian.AppendUint16(b, far.Port())
	b = binary.BigEndian.AppendUint16(b, near.Port())
	b = append(b, padded(far.Addr())...)
	b = append(b, padded(near.Addr())...)
	b = append(b, make([]byte, 4)...)                        // any interface
	return append(b, 255, 255, 255, 255, 255, 255, 255, 255) // INET_DIAG_NOCOOKIE
}

func padded(a netip.Addr) []byte {
	out := make([]byte, 16)
	copy(out, a.AsSlice())
	return out
}

func readAnswer(b []byte) (socket, error) {
	switch {
	case len(b) >= headerBytes+4 && binary.NativeEndian.Uint16(b[4:]) == unix.NLMSG_ERROR:
		if code := -int32(binary.NativeEndian.Uint32(b[headerBytes:])); unix.Errno(code) != unix.ENOENT {
			return socket{}, unix.Errno(code)
		}
		return socket{}, errNone
	case len(b) < answerBytes || binary.NativeEndian.Uint16(b[4:]) != sockDiagByFamily:
		return socket{}, errors.New("the kernel's answer has another form")
	case b[stateAt] != established || binary.NativeEndian.Uint32(b[inodeAt:]) == 0:
		return socket{}, errNone
	}
	return socket{int(binary.NativeEndian.Uint32(b[uidAt:])), uint64(binary.NativeEndian.Uint32(b[inodeAt:]))}, nil
}

// inTable looks a connection up in the kernel's tables.
func inTable(near, far netip.AddrPort) (socket, error) {
	for _, name := range []string{"/proc/net/tcp", "/proc/net/tcp6"} { // one of IPv4 may be in either
		f, err := os.Open(name)
		if err != nil {
			continue
		}
		own, err := readTable(f, near, far)
		_ = f.Close()
		if !errors.Is(err, errNone) {
			return own, err
		}
	}
	return socket{}, errNone
}

// readTable finds the socket whose own end is far in a table as proc_net_tcp
// describes it: number, own end, other end, state, …, user (8th), …, inode (10th).
func readTable(r io.Reader, near, far netip.AddrPort) (socket, error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		f := strings.Fields(lines.Text())
		if len(f) < 10 || f[3] != "01" || f[9] == "0" {
			continue
		}
		own, ok1 := tableEnd(f[1])
		other, ok2 := tableEnd(f[2])
		if ok1 && ok2 && own == far && other == near {
			uid, err1 := strconv.Atoi(f[7])
			inode, err2 := strconv.ParseUint(f[9], 10, 64)
			return socket{uid, inode}, errors.Join(err1, err2)
		}
	}
	if err := lines.Err(); err != nil {
		return socket{}, err
	}
	return socket{}, errNone
}

// tableEnd reads an end as the table has it: words of four bytes in the machine's order,
// and the port.
func tableEnd(text string) (netip.AddrPort, bool) {
	host, port, ok := strings.Cut(text, ":")
	b, err := hex.DecodeString(host)
	n, err2 := strconv.ParseUint(port, 16, 16)
	if !ok || err != nil || err2 != nil || len(b)%4 != 0 {
		return netip.AddrPort{}, false
	}
	if binary.NativeEndian.Uint16([]byte{1, 0}) == 1 {
		for word := range slices.Chunk(b, 4) {
			slices.Reverse(word)
		}
	}
	a, ok := netip.AddrFromSlice(b)
	return plain(netip.AddrPortFrom(a, uint16(n))), ok
}
