package redisbucket

import (
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/panebridge/panebridge/internal/regular"
)

// note is what a process keeps about its membership over restarts.
type note struct {
	Member string `json:"member"`
	// Joined: it has been admitted and hasn't signed off, so that Redis holds its
	// share back while it's away.
	Joined bool `json:"joined"`
	// MaxProcesses is what it was admitted with: what's held back is that part.
	MaxProcesses int `json:"max_processes"`
	// Members are all that are known, and Left those that signed off so lately that
	// their calls may count, so that a Redis that has lost them can be told.
	Members []string `json:"members"`
	Left    []string `json:"left,omitempty"`
	// Seen is the time at Redis, in microseconds, at which these two last changed.
	Seen int64 `json:"seen"`
}

// maxNote is how many bytes a note has at most: some thousands of members.
const maxNote = 1 << 20

// loadNote reads the note, or begins a new one. An empty path keeps nothing.
func loadNote(path string) (note, error) {
	if path != "" {
		text, err := regular.Read(path, maxNote)
		if err == nil {
			var n note
			if err := json.Unmarshal(text, &n); err != nil || n.Member == "" {
				return note{}, fmt.Errorf("read %s: it isn't a membership; delete it to join as somebody new (%w)", path, err)
			}
			return n, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return note{}, fmt.Errorf("read the membership: %w", err)
		}
	}
	id := make([]byte, 8)
	_, _ = rand.Read(id) // it never fails
	return note{Member: hex.EncodeToString(id)}, nil
}

// save makes the note durable.
func (n note) save(path string) error {
	if path == "" {
		return nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := writeDurably(path, append(text, '\n')); err != nil {
		return fmt.Errorf("keep the membership: %w", err)
	}
	return nil
}

func (n note) equal(o note) bool {
	return n.Member == o.Member && n.Joined == o.Joined && n.MaxProcesses == o.MaxProcesses &&
		slices.Equal(n.Members, o.Members) && slices.Equal(n.Left, o.Left)
}

// setMembers takes in who there is at a time of Redis.
func (n *note) setMembers(members []BucketMember, at int64) {
	var there, left []string
	for _, m := range members {
		if m.Left {
			left = append(left, m.ID)
		} else {
			there = append(there, m.ID)
		}
	}
	slices.Sort(there)
	slices.Sort(left)
	if !slices.Equal(there, n.Members) || !slices.Equal(left, n.Left) {
		n.Members, n.Left, n.Seen = there, left, at
	}
}

// save makes the note durable, if it has changed. Only serve calls it.
func (b *Budget) save() error {
	b.mu.Lock()
	n := b.note
	same := n.equal(b.saved)
	b.mu.Unlock()
	if same {
		return nil
	}
	if err := n.save(b.opt.StateFile); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.saved = n
	return nil
}

func (b *Budget) saveOrWarn() {
	if err := b.save(); err != nil {
		b.opt.Logger.Warn("keep the list of members", "err", err)
	}
}

func writeDurably(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(f.Name()) }() // it's gone if all went well
	_, err = f.Write(text)
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path) + string(os.PathSeparator))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
