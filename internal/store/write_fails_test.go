//go:build linux

package store

import (
	"errors"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/sessions"
)

// refuseWrites has the kernel refuse writes to files in this process from now on, for good: all that say where, and
// large ones.
func refuseWrites(t *testing.T, why syscall.Errno) {
	t.Helper()
	const (
		number, size = 0, 32 // in struct seccomp_data: the call's, and the low half of its third argument
		tsync        = 1     // SECCOMP_FILTER_FLAG_TSYNC
	)
	load := func(at uint32) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_LD | unix.BPF_W | unix.BPF_ABS, K: at}
	}
	jump := func(how uint16, k uint32, yes, no uint8) unix.SockFilter {
		return unix.SockFilter{Code: unix.BPF_JMP | unix.BPF_K | how, K: k, Jt: yes, Jf: no}
	}
	end := func(k uint32) unix.SockFilter { return unix.SockFilter{Code: unix.BPF_RET | unix.BPF_K, K: k} }
	filter := []unix.SockFilter{
		load(number),
		jump(unix.BPF_JEQ, unix.SYS_PWRITE64, 3, 0),
		jump(unix.BPF_JEQ, unix.SYS_WRITE, 0, 3),
		load(size),
		jump(unix.BPF_JGE, 4096, 0, 1),
		end(unix.SECCOMP_RET_ERRNO | uint32(why)),
		end(unix.SECCOMP_RET_ALLOW),
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	if _, _, err := unix.Syscall(unix.SYS_SECCOMP, unix.SECCOMP_SET_MODE_FILTER, tsync, uintptr(unsafe.Pointer(&program))); err != 0 {
		t.Skipf("the kernel can't be told to refuse writes: %v", err)
	}
}

// SQLite says the same of a write that's refused for want of a quota's room and of one that fails. They're told apart,
// and nothing is acknowledged.
func TestAWriteThatFailsIsNotOneThatFindsNoRoom(t *testing.T) {
	for name, tt := range map[string]struct {
		why  syscall.Errno
		want error
	}{"fails": {unix.EIO, ErrUnwritable}, "quota": {unix.EDQUOT, ErrFull}, "full": {unix.ENOSPC, ErrFull}} {
		t.Run(name, func(t *testing.T) {
			if !inMountNamespace(t) { // a process of its own
				return
			}
			s := mustOpen(t, dbPath(t), Options{})
			mustPut(t, s, "pb_1")
			refuseWrites(t, tt.why)
			err := s.PutReceipt(t.Context(), sessions.Receipt{ID: "in_1", Session: "pb_1", State: sessions.ReceiptStored})
			if !errors.Is(err, tt.want) || !errors.Is(err, sessions.ErrUnavailable) {
				t.Errorf("an input is answered with %v", err)
			}
			if err := s.Health(t.Context()); !errors.Is(err, tt.want) || !errors.Is(s.Failing(), tt.want) {
				t.Errorf("its health is %v", err)
			}
			if r, err := s.Receipt(t.Context(), "in_1"); err == nil {
				t.Errorf("there's %+v", r)
			}
		})
	}
}
