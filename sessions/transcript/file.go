package transcript

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"slices"
)

// ringLen is by how many lines the place is found again in a file that was written
// anew. Claude Code takes back a line or two at the end of its file.
const ringLen = 32

// decoder turns the lines of one format into records. Its exported fields are its
// state, which is kept in the cursor.
type decoder interface {
	// decode appends what a line tells to out. A line that isn't valid JSON or of a
	// type that isn't known isn't understood. It keeps nothing of line.
	decode(line []byte, out []Record) (records []Record, understood bool)
}

// fileSource reads a file of lines that grows.
type fileSource struct {
	tail  fileTail
	fresh func() decoder
	dec   decoder
	last  []uint64 // position.Last
	lost  int64    // position.Skipped
}

func openFile(path string, fresh func() decoder, at readPosition) (*fileSource, error) {
	s := &fileSource{
		tail: fileTail{path: path, limit: maxLine, offset: at.Offset, inside: at.Inside, marked: at.MarkLen, mark: at.Mark},
		dec:  fresh(), fresh: fresh,
		last: at.Last, lost: at.Skipped,
	}
	if len(at.State) > 0 {
		if err := json.Unmarshal(at.State, s.dec); err != nil {
			return nil, fmt.Errorf("open transcript %s: %w: %w", path, ErrCursor, err)
		}
	}
	return s, nil
}

// ErrMore says that a transcript has so much that tells nothing that reading goes on another time.
var ErrMore = errors.New("there is more")

const (
	// skipAtOnce is how many chunks that tell nothing are read at once: 16 MB, some 10 ms.
	skipAtOnce = 64
	// findWithin is how much of a file that was written anew is searched for the place, bytes.
	findWithin = 1 << 30
)

func (s *fileSource) read(ctx context.Context, limit int) ([]Record, error) {
	var out []Record
	for chunks := 0; ; chunks++ {
		if out = s.decode(out, limit); len(out) >= limit {
			return out, nil
		}
		if chunks >= skipAtOnce {
			if len(out) == 0 {
				return nil, ErrMore
			}
			return out, nil
		}
		err := ctx.Err()
		more := false
		if err == nil {
			more, err = s.tail.readOn()
		}
		if errors.Is(err, errRewritten) {
			more, err = true, s.findPlace(ctx)
		}
		if err != nil && len(out) == 0 {
			return nil, err
		}
		if err != nil || !more {
			return out, nil //nolint:nilerr // an error comes again
		}
	}
}

// decode decodes the lines that were read, until out has limit records.
func (s *fileSource) decode(out []Record, limit int) []Record {
	for len(out) < limit {
		line, long, ok := s.tail.nextLine()
		if !ok {
			break
		}
		if long {
			s.lost++
			continue
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		before := len(out)
		var understood bool
		out, understood = s.dec.decode(line, out)
		if !understood {
			s.lost++
			out = s.rest(line, out)
		}
		if len(out) > before {
			s.remember(fingerprint(line))
		}
	}
	return out
}

// rest decodes the whole record at the end of a damaged line. A program that was
// ended while it wrote leaves half a line, and its next record is appended to it.
func (s *fileSource) rest(line []byte, out []Record) []Record {
	if valid(line) {
		return out
	}
	const tries = 50
	for at, i := 1, 0; i < tries; i++ {
		n := bytes.Index(line[at:], []byte(`{"`))
		if n < 0 {
			break
		}
		at += n
		if tail := line[at:]; valid(tail) {
			out, _ = s.dec.decode(tail, out)
			break
		}
		at++
	}
	return out
}

func (s *fileSource) remember(line uint64) {
	if len(s.last) == ringLen {
		s.last = slices.Delete(s.last, 0, 1)
	}
	s.last = append(s.last, line)
}

// findPlace finds the place in a file that was written anew: after the last line
// that's known to have given records, or its beginning if it has none of them.
func (s *fileSource) findPlace(ctx context.Context) error {
	place, err := s.lastKnown(ctx)
	if err != nil {
		return err
	}
	if place == 0 {
		s.dec, s.last = s.fresh(), nil
	}
	err = s.tail.seekTo(place)
	if errors.Is(err, errRewritten) { // once more, meanwhile
		return s.tail.seekTo(0)
	}
	return err
}

// lastKnown returns the offset after the last line that's among s.last, 0 if none
// is.
func (s *fileSource) lastKnown(ctx context.Context) (int64, error) {
	var place, offset int64
	if len(s.last) == 0 {
		return 0, nil
	}
	in := bufio.NewReaderSize(io.NewSectionReader(s.tail.file, 0, 1<<62), chunkLen)
	sum, length := uint32(0), 0
	for {
		part, err := in.ReadSlice('\n')
		offset += int64(len(part))
		text := part
		if err == nil {
			text = part[:len(part)-1]
		}
		if length == 0 && err == nil {
			text = bytes.TrimSuffix(text, []byte{'\r'})
		}
		sum = crc32.Update(sum, castagnoli, text)
		length += len(text)
		switch {
		case err == nil:
			if slices.Contains(s.last, uint64(length)<<32|uint64(sum)) {
				place = offset
			}
			sum, length = 0, 0
		case errors.Is(err, io.EOF) || offset > findWithin:
			return place, nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
	}
}

func (s *fileSource) position() readPosition {
	state, err := json.Marshal(s.dec)
	if err != nil { // plain strings and numbers
		panic(err)
	}
	n, mark := s.tail.fingerprintBefore()
	return readPosition{
		Offset: s.tail.offset, MarkLen: n, Mark: mark, Inside: s.tail.inside,
		Last: slices.Clone(s.last), Skipped: s.lost, State: state,
	}
}

func (s *fileSource) skipped() int64 { return s.lost }

func (s *fileSource) close() error { return s.tail.close() }
