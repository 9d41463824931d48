package transcript

import (
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

const (
	chunkLen = 256 << 10 // bytes read at a time
	// maxLine is the longest line that's given, bytes. Lines of some MB are ordinary:
	// pictures are kept in them.
	maxLine = 8 << 20
	markLen = 256 // bytes before the place by which a file is known again
)

// errRewritten says that a file isn't the one that was read: it was truncated, or
// has another text before the place up to which it was read.
var errRewritten = errors.New("the file was written anew")

// A fileTail gives the lines of a file that grows, each byte of it read once. It asks
// the file system only for the file's size and time while nothing is new.
type fileTail struct {
	path  string
	limit int // maxLine, less in tests

	file    *os.File
	info    fs.FileInfo // of file, when it was opened
	changed time.Time   // of the file, when it was last read to its end

	// buf[start:] was read and not yet given; up to markLen bytes before it were. There's
	// no newline in buf[start:searched].
	buf             []byte
	start, searched int
	offset          int64 // of buf[start] in the file
	inside          bool  // offset is in a line that's too long

	// The bytes before offset, while they aren't in buf: their number and fingerprint.
	marked int
	mark   uint64
}

// fingerprint tells texts apart: their length and a checksum that machines have an
// instruction for.
func fingerprint(text []byte) uint64 {
	return uint64(len(text))<<32 | uint64(crc32.Checksum(text, castagnoli))
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli) //nolint:gochecknoglobals // a constant table that needs a call

// nextLine returns the next whole line that was read, without its end; false if there's
// none. long says that it was too long, and line has none of it. It's valid until
// the next call of a method.
func (t *fileTail) nextLine() (line []byte, long, ok bool) {
	pending := t.buf[t.start:]
	i := bytes.IndexByte(t.buf[t.searched:], '\n')
	if i < 0 {
		t.searched = len(t.buf)
		if len(pending) > t.limit {
			t.inside = true
			t.advance(len(pending))
		}
		return nil, false, false
	}
	n := t.searched + i - t.start
	t.advance(n + 1)
	if t.inside || n > t.limit {
		t.inside = false
		return nil, true, true
	}
	return bytes.TrimSuffix(pending[:n], []byte{'\r'}), false, true
}

// advance says that n pending bytes are done with.
func (t *fileTail) advance(n int) {
	t.start += n
	t.searched = t.start
	t.offset += int64(n)
}

// readOn reads on; false if there's nothing new. errRewritten: see there.
func (t *fileTail) readOn() (bool, error) {
	info, err := os.Stat(t.path)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = nil // not yet, or no more
		}
		return false, err
	}
	same := t.file != nil && os.SameFile(t.info, info)
	end := t.offset + int64(len(t.buf)-t.start)
	if same && info.Size() == end && info.ModTime().Equal(t.changed) {
		return false, nil
	}
	if !same {
		if err := t.open(); err != nil {
			return false, err
		}
	}
	if info.Size() < end {
		return false, errRewritten
	}
	n, err := t.readAt(end)
	if err != nil {
		return false, err
	}
	if n < chunkLen {
		t.changed = info.ModTime()
	}
	return n > 0, nil
}

func (t *fileTail) open() error {
	if err := t.close(); err != nil {
		return err
	}
	file, info, err := regular.Open(t.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	t.file, t.info, t.changed = file, info, time.Time{}
	return nil
}

// readAt appends a chunk from the file's offset end on, having seen that what
// stands before it is what was read before.
func (t *fileTail) readAt(end int64) (int, error) {
	if t.file == nil {
		return 0, nil
	}
	if err := t.recognise(end); err != nil {
		return 0, err
	}
	t.compact()
	t.buf = slices.Grow(t.buf, chunkLen)
	n, err := t.file.ReadAt(t.buf[len(t.buf):len(t.buf)+chunkLen], end)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	t.buf = t.buf[:len(t.buf)+n]
	return n, nil
}

// recognise compares what the file has before its offset end with what was read
// there.
func (t *fileTail) recognise(end int64) error {
	var there [markLen]byte
	before := there[:min(markLen, len(t.buf))]
	if t.marked > 0 {
		before = there[:t.marked]
	}
	n, err := t.file.ReadAt(before, end-int64(len(before)))
	if err != nil && !errors.Is(err, io.EOF) {
		return err
	}
	switch {
	case n < len(before):
		return errRewritten
	case t.marked == 0 && !bytes.Equal(before, t.buf[len(t.buf)-n:]):
		return errRewritten
	case t.marked > 0 && fingerprint(before) != t.mark:
		return errRewritten
	case t.marked > 0: // the first read since the tail was made at a place
		t.buf = append(t.buf[:0], before...)
		t.start, t.searched, t.marked = n, n, 0
	}
	return nil
}

// compact makes room in buf: it drops what was given, but for markLen bytes, and
// lets go of a buffer that a long line has left.
func (t *fileTail) compact() {
	drop := t.start - markLen
	if drop <= 0 {
		return
	}
	kept := t.buf[drop:]
	if cap(t.buf) > 8*chunkLen && len(kept) < chunkLen {
		t.buf = make([]byte, 0, 2*chunkLen)
	}
	t.buf = append(t.buf[:0], kept...)
	t.start -= drop
	t.searched -= drop
}

// seekTo makes the tail go on at an offset of the file as it's now.
func (t *fileTail) seekTo(offset int64) error {
	t.buf, t.start, t.searched, t.marked = t.buf[:0], 0, 0, 0
	t.offset, t.inside, t.changed = offset, false, time.Time{}
	if offset == 0 {
		return nil
	}
	t.buf = slices.Grow(t.buf, markLen)[:min(markLen, offset)]
	n, err := t.file.ReadAt(t.buf, offset-int64(len(t.buf)))
	if err != nil && !errors.Is(err, io.EOF) {
		n = 0
	}
	if n < len(t.buf) {
		return errRewritten
	}
	t.start, t.searched = n, n
	return nil
}

// fingerprintBefore returns the number and the fingerprint of the bytes before offset.
func (t *fileTail) fingerprintBefore() (n int, mark uint64) {
	if t.marked > 0 {
		return t.marked, t.mark
	}
	before := t.buf[max(0, t.start-markLen):t.start]
	if len(before) == 0 {
		return 0, 0
	}
	return len(before), fingerprint(before)
}

func (t *fileTail) close() error {
	if t.file == nil {
		return nil
	}
	err := t.file.Close()
	t.file = nil
	return err
}
