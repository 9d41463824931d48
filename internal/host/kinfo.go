package host

import (
	"bytes"
	"encoding/binary"
)

// kinfoFile is a file that FreeBSD says a process has.
type kinfoFile struct {
	descriptor int    // below 0: its folder, its root, its program
	path       string // "": the kernel has none for it
}

// Where the numbers stand in FreeBSD's struct kinfo_file (sys/user.h). Records are cut behind
// the path, so that their size is told by their first number.
const (
	kinfoDescriptorAt = 8
	kinfoPathAt       = 368
)

// parseKinfoFiles reads the records of files, up to one that's cut off.
func parseKinfoFiles(raw []byte) []kinfoFile {
	var all []kinfoFile
	for len(raw) >= kinfoPathAt {
		size := int(int32(binary.NativeEndian.Uint32(raw)))
		if size < kinfoPathAt || size > len(raw) {
			break
		}
		path, _, _ := bytes.Cut(raw[kinfoPathAt:size], []byte{0})
		all = append(all, kinfoFile{int(int32(binary.NativeEndian.Uint32(raw[kinfoDescriptorAt:]))), string(path)})
		raw = raw[size:]
	}
	return all
}
