package polling

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"maps"
	"slices"
)

// The engine's state is stored with every capture that brings something, so its
// hashes are packed: as numbers in JSON they'd take three times the space.

// hashRun are the hashes of consecutive rows.
type hashRun []uint64

// rowHashes are hashes of rows by their absolute numbers.
type rowHashes map[int64]uint64

var errPacked = errors.New("packed row hashes are cut short")

// MarshalText packs the hashes, eight bytes each.
func (h hashRun) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 8*len(h))
	for _, v := range h {
		raw = binary.LittleEndian.AppendUint64(raw, v)
	}
	return base64.RawStdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText is the reverse.
func (h *hashRun) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	if len(raw)%8 != 0 {
		return errPacked
	}
	*h = make(hashRun, 0, len(raw)/8)
	for ; len(raw) > 0; raw = raw[8:] {
		*h = append(*h, binary.LittleEndian.Uint64(raw))
	}
	return nil
}

// MarshalText packs the rows in their order: the distance from the row before,
// then the hash.
func (h rowHashes) MarshalText() ([]byte, error) {
	raw := make([]byte, 0, 9*len(h)+8)
	last := int64(0)
	for _, abs := range slices.Sorted(maps.Keys(h)) {
		raw = binary.AppendVarint(raw, abs-last)
		raw = binary.LittleEndian.AppendUint64(raw, h[abs])
		last = abs
	}
	return base64.RawStdEncoding.AppendEncode(nil, raw), nil
}

// UnmarshalText is the reverse.
func (h *rowHashes) UnmarshalText(text []byte) error {
	raw, err := base64.RawStdEncoding.AppendDecode(nil, text)
	if err != nil {
		return err
	}
	*h = rowHashes{}
	for abs := int64(0); len(raw) > 0; {
		step, n := binary.Varint(raw)
		if n <= 0 || len(raw) < n+8 {
			return errPacked
		}
		abs += step
		(*h)[abs] = binary.LittleEndian.Uint64(raw[n:])
		raw = raw[n+8:]
	}
	return nil
}
