package transcript

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
)

// Formats are all formats that can be read.
func Formats() []Format {
	return []Format{Claude, Codex, Gemini, OpenCode, Qwen, Pi, Demo}
}

// A Reader reads one transcript, each part of it once. It isn't safe for use by
// several goroutines.
type Reader struct {
	ref Ref
	src source
}

// source is one way of keeping a transcript: lines in a file, or a database.
type source interface {
	// read returns what's new, nil if there's nothing. It gives records or an error,
	// never both: what it gave isn't given again.
	read(ctx context.Context, limit int) ([]Record, error)
	position() readPosition
	skipped() int64
	close() error
}

// defaultLimit is how many records a Read gives that doesn't say.
const defaultLimit = 1000

// Open opens a transcript at a cursor that Cursor gave, or at its beginning if
// cursor is empty. The transcript need not be there yet: agents write theirs with
// the first prompt. A damaged cursor, or one of another transcript, is an error.
func Open(ref Ref, cursor []byte) (*Reader, error) {
	if !filepath.IsAbs(ref.Path) {
		return nil, fmt.Errorf("open transcript %q: its path must be absolute", ref.Path)
	}
	pos, err := decodeCursor(ref, cursor)
	if err != nil {
		return nil, err
	}
	if ref.Format == OpenCode {
		src, err := openDatabase(ref, pos)
		if err != nil {
			return nil, err
		}
		return &Reader{ref, src}, nil
	}
	if family := families[ref.Format]; family != nil {
		src, err := family(ref.Path, pos)
		if err != nil {
			return nil, err
		}
		return &Reader{ref, src}, nil
	}
	fresh := decoders[ref.Format]
	if fresh == nil {
		return nil, fmt.Errorf("open transcript: unknown format %q; known are %v", ref.Format, Formats())
	}
	src, err := openFile(ref.Path, fresh, pos)
	if err != nil {
		return nil, err
	}
	return &Reader{ref, src}, nil
}

// families open the formats of which files of sub-agents are read besides.
var families = map[Format]func(path string, at readPosition) (source, error){Claude: openClaude, Codex: openCodex, Gemini: openGemini, Qwen: openQwen} //nolint:gochecknoglobals // a constant table

// decoders make the decoder of each format that's lines of JSON in a file.
var decoders = map[Format]func() decoder{ //nolint:gochecknoglobals // a constant table
	Claude: func() decoder { return &claudeDecoder{} },
	Codex:  func() decoder { return &codexDecoder{} },
	Gemini: func() decoder { return &geminiDecoder{} },
	Qwen:   func() decoder { return &qwenDecoder{} },
	Pi:     func() decoder { return &piDecoder{} },
	Demo:   func() decoder { return &demoDecoder{} },
}

// Read returns what's new, in order, about limit records at most (0: 1000), and none
// if there's nothing new; it doesn't wait for more. After an error the reader can
// be read again: nothing is lost by it; ErrMore says that it has to be. A transcript that isn't there has nothing
// new.
func (r *Reader) Read(ctx context.Context, limit int) ([]Record, error) {
	if r.src == nil {
		return nil, errors.New("read transcript: the reader is closed")
	}
	if limit <= 0 {
		limit = defaultLimit
	}
	records, err := r.src.read(ctx, limit)
	if err != nil {
		return nil, fmt.Errorf("read transcript %s: %w", r.ref.Path, err)
	}
	return records, nil
}

// Cursor says how far the transcript was read, some hundred bytes of JSON: a
// Reader opened with it gives what comes after the last record that Read gave.
func (r *Reader) Cursor() []byte {
	if r.src == nil {
		return nil
	}
	return encodeCursor(r.ref, r.src.position())
}

// Skipped is how many records weren't understood so far, those before the cursor
// included: damaged ones, ones that are too long, and those of an unknown type.
func (r *Reader) Skipped() int64 {
	if r.src == nil {
		return 0
	}
	return r.src.skipped()
}

// Ref says what is read.
func (r *Reader) Ref() Ref { return r.ref }

// Close ends the reader. It may be called twice.
func (r *Reader) Close() error {
	if r.src == nil {
		return nil
	}
	err := r.src.close()
	r.src = nil
	return err
}
