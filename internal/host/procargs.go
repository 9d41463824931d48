package host

import (
	"bytes"
	"encoding/binary"
	"errors"
)

// parseStart reads what macOS tells of a process's start (kern.procargs2): the number of its
// arguments in four bytes, the path of its program's file, zero bytes up to where the arguments
// begin, the arguments and the environment, each with a zero byte behind it. Behind the
// environment are more, after an empty one.
func parseStart(raw []byte) (program string, args []string, environ []byte, err error) {
	errCut := errors.New("what the kernel says of the process's start is cut off")
	if len(raw) < 4 {
		return "", nil, nil, errCut
	}
	count := int64(int32(binary.NativeEndian.Uint32(raw)))
	path, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok || count < 0 {
		return "", nil, nil, errCut
	}
	rest = bytes.TrimLeft(rest, "\x00")
	for range count {
		arg, more, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return "", nil, nil, errCut
		}
		args, rest = append(args, string(arg)), more
	}
	left := rest
	for len(left) > 0 && left[0] != 0 {
		_, more, ok := bytes.Cut(left, []byte{0})
		if !ok {
			more = nil // the last one, cut off
		}
		left = more
	}
	return string(path), args, rest[:len(rest)-len(left)], nil
}
