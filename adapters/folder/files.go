package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"sync"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/qos"
)

var (
	errOnlyText = errors.New("a file shows texts only")
	errNotThere = errors.New("the message isn't there any more")
)

// files is the folder. Nothing outside of it is reached, whatever links are in it.
type files struct {
	path string
	mu   sync.Mutex // held by whoever makes a number
}

// Call implements adapters.Adapter. A file is there with all its text, or not at all: no call is ever
// in doubt.
func (f *files) Call(_ context.Context, op adapters.Op) adapters.Reply {
	root, err := regular.OpenBase(f.path)
	if err != nil {
		return adapters.Reply{Outcome: qos.Failed, Err: fmt.Errorf("open adapters.folder.path: %w", err)}
	}
	defer root.Close()
	id, err := f.do(root, path.Join(op.Target.Chat, op.Target.Thread), op)
	switch {
	case err == nil:
		return adapters.Reply{Outcome: qos.Delivered, ID: id}
	case errors.Is(err, errNotThere):
		return adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingMessage, Err: err}
	case errors.Is(err, fs.ErrNotExist) && op.Target.Thread != "":
		return adapters.Reply{Outcome: qos.Rejected, Missing: adapters.MissingThread, Err: err}
	}
	return adapters.Reply{Outcome: qos.Failed, Err: err} // the disk is full, say
}

func (f *files) do(root *os.Root, at string, op adapters.Op) (id string, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := root.MkdirAll(op.Target.Chat, 0o700); err != nil {
		return "", err
	}
	if id, err = next(root, at); err != nil {
		return "", err
	}
	text, name := []byte(op.Text+"\n"), id+".txt"
	switch op.Kind {
	case adapters.KindSend:
	case adapters.KindEdit:
		id, name = op.Message, op.Message+".txt"
		if _, err := root.Lstat(path.Join(at, name)); err != nil {
			return "", errNotThere
		}
	case adapters.KindFile:
		err = put(root, path.Join(at, id+"-"+path.Base(op.File.Name)), op.File.Data)
	case adapters.KindThread:
		err, name = root.Mkdir(path.Join(at, id), 0o700), id+"/title.txt"
	case adapters.KindRename:
		name = "title.txt"
	case adapters.KindClose, adapters.KindOpen:
		return "", nil // a folder is neither
	}
	if err != nil {
		return "", err
	}
	return id, put(root, path.Join(at, name), text)
}

// next is a number that nothing in a folder begins with.
func next(root *os.Root, at string) (string, error) {
	dir, err := root.Open(at)
	if err != nil {
		return "", err
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	last := 0
	for _, name := range names {
		n, _ := strconv.Atoi(name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]) // 0: none
		last = max(last, n)
	}
	return strconv.Itoa(last + 1), err
}

// put makes or replaces a file, at once with all its text.
func put(root *os.Root, name string, text []byte) error {
	if err := root.WriteFile(name+".new", text, 0o600); err != nil {
		return err
	}
	return root.Rename(name+".new", name)
}
