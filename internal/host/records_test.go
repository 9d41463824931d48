package host

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/panebridge/panebridge/internal/drawtest"
)

// text is an argument, a variable or a path: anything without a zero byte.
func text(least int) *rapid.Generator[string] {
	return rapid.StringOfN(rapid.SampledFrom([]rune("a=/ é\n")), least, 12, -1)
}

// What macOS tells of a process's start is read to the letter, and what's cut off is an error or a
// shorter environment, never another one.
func TestAStartOfAnyArgumentsIsRead(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		program := text(1).Draw(t, "program")
		args := rapid.SliceOfN(text(0), 0, 5).Draw(t, "arguments")
		environ := rapid.SliceOfN(text(1), 0, 5).Draw(t, "environment")
		if len(args) > 0 {
			args[0] = "x" + args[0] // an empty name would be padding
		}
		raw := binary.NativeEndian.AppendUint32(nil, uint32(len(args)))
		raw = append(raw, program...)
		raw = append(raw, make([]byte, rapid.IntRange(1, 8).Draw(t, "padding"))...)
		for _, one := range args {
			raw = append(append(raw, one...), 0)
		}
		begins := len(raw)
		for _, one := range environ {
			raw = append(append(raw, one...), 0)
		}
		whole := raw[begins:]
		raw = append(raw, "\x00ptr_munge=1\x00"...)
		if len(args) == 0 && len(environ) > 0 {
			return // padding and an environment can't be told apart without arguments
		}
		gotProgram, gotArgs, gotEnviron, err := parseStart(raw)
		if err != nil || gotProgram != program || !slices.Equal(gotArgs, args) || !bytes.Equal(gotEnviron, whole) && len(args) > 0 {
			t.Fatalf("%q %q %q, %v; want %q %q %q", gotProgram, gotArgs, gotEnviron, err, program, args, whole)
		}
		cut := rapid.IntRange(0, begins-1).Draw(t, "cut")
		if _, got, _, err := parseStart(raw[:cut]); err == nil && len(got) == len(args) && len(args) > 0 {
			t.Fatalf("what's cut off at %d of %d is read as %q", cut, begins, got)
		}
	})
}

// Of FreeBSD's records of files each is read, and those behind one that's cut off aren't.
func TestRecordsOfFilesAreRead(t *testing.T) {
	drawtest.Check(t, func(t *rapid.T) {
		var raw []byte
		var want []kinfoFile
		for range rapid.IntRange(0, 4).Draw(t, "files") {
			f := kinfoFile{rapid.IntRange(-5, 300).Draw(t, "descriptor"), text(0).Draw(t, "path")}
			record := make([]byte, kinfoPathAt)
			record = append(append(record, f.path...), 0)
			record = append(record, make([]byte, rapid.IntRange(0, 8).Draw(t, "padding"))...)
			binary.NativeEndian.PutUint32(record, uint32(len(record)))
			binary.NativeEndian.PutUint32(record[kinfoDescriptorAt:], uint32(f.descriptor))
			raw, want = append(raw, record...), append(want, f)
		}
		if got := parseKinfoFiles(raw); !slices.Equal(got, want) {
			t.Fatalf("%+v, want %+v", got, want)
		}
		cut := rapid.IntRange(0, len(raw)).Draw(t, "cut")
		got := parseKinfoFiles(raw[:cut])
		if len(got) > len(want) || !slices.Equal(got, want[:len(got)]) || cut < len(raw) && len(got) == len(want) {
			t.Fatalf("cut at %d of %d: %+v, want the beginning of %+v", cut, len(raw), got, want)
		}
	})
}
