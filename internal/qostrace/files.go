package qostrace

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
)

// keyName is the file of the key that makes numbers of names.
const keyName = "key"

const keyBytes = 32

// headBytes is more than a file's first line has.
const headBytes = 512

// Folder is that of the recordings, in the state folder.
const Folder = "qos"

// openFolder opens the folder of the recordings, which it makes if need be.
func openFolder(stateDir string) (*os.Root, error) {
	base, err := regular.OpenBase(stateDir)
	if err != nil {
		return nil, fmt.Errorf("open the state folder: %w", err)
	}
	defer func() { _ = base.Close() }()
	in, err := regular.MakeOwnFolder(base, Folder)
	if err != nil {
		return nil, fmt.Errorf("make the folder of recordings: %w", err)
	}
	return in, nil
}

// readKey returns the folder's key, which it makes if need be.
func readKey(in *os.Root) ([]byte, error) {
	f, err := openOwn(in, keyName, unix.O_RDWR|unix.O_CREAT)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	key := make([]byte, keyBytes)
	if _, err := io.ReadFull(f, key); err == nil {
		return key, nil
	}
	_, _ = rand.Read(key) // never fails
	if _, err := f.WriteAt(key, 0); err != nil {
		return nil, fmt.Errorf("write the key of recordings: %w", err)
	}
	return key, nil
}

// openOwn opens a file of ours that no link leads to, and waits for no pipe in its place. It makes it with mode 0600.
func openOwn(in *os.Root, name string, flags int) (*os.File, error) {
	f, err := in.OpenFile(name, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a recording: %w", err)
	}
	info, err := f.Stat()
	if err == nil {
		err = regular.CheckOwn(name, info)
	}
	if err == nil && !info.Mode().IsRegular() {
		err = fmt.Errorf("%s is no regular file", name)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// FileName is the name of an adapter's file of a day.
func FileName(adapter, day string) string { return adapter + "-" + day + ".jsonl" }

// openFile opens a day's file to append to it, and ends a line that was cut short: by a kill, or by a disk without room.
// Where that's the first one, the file begins anew.
func openFile(in *os.Root, adapter, day string) (*os.File, int64, error) {
	f, err := openOwn(in, FileName(adapter, day), unix.O_RDWR|unix.O_CREAT|unix.O_APPEND)
	if err != nil {
		return nil, 0, err
	}
	size, err := endLine(f)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open a recording: %w", err), f.Close())
	}
	return f, size, nil
}

func endLine(f *os.File) (size int64, err error) {
	info, err := f.Stat()
	if err != nil || info.Size() == 0 {
		return 0, err
	}
	last := make([]byte, 1)
	if _, err := f.ReadAt(last, info.Size()-1); err != nil {
		return 0, err
	}
	if last[0] == '\n' {
		return info.Size(), nil
	}
	head := make([]byte, headBytes)
	n, err := f.ReadAt(head, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	if info.Size() < headBytes && !bytes.Contains(head[:n], []byte{'\n'}) {
		return 0, f.Truncate(0)
	}
	_, err = f.WriteString("\n")
	return info.Size() + 1, err
}

// forgetOld deletes an adapter's files of days before the last so many.
func forgetOld(in *os.Root, adapter, today string, keep int) error {
	day, err := time.Parse(time.DateOnly, today)
	if err != nil {
		return fmt.Errorf("read a day: %w", err)
	}
	first := day.AddDate(0, 0, 1-keep).Format(time.DateOnly)
	entries, err := fs.ReadDir(in.FS(), ".")
	if err != nil {
		return fmt.Errorf("look for old recordings: %w", err)
	}
	for _, e := range entries {
		name, ours := strings.CutPrefix(e.Name(), adapter+"-")
		name, ours2 := strings.CutSuffix(name, ".jsonl")
		if _, err := time.Parse(time.DateOnly, name); !ours || !ours2 || err != nil || name >= first {
			continue
		}
		if err := in.Remove(e.Name()); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("delete an old recording: %w", err)
		}
	}
	return nil
}
