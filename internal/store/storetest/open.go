// Package storetest opens stores for tests.
package storetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/panebridge/panebridge/internal/store"
)

// Open opens the store at path. Where there's no database it begins with a copy of an empty one that's made once in
// a process: the migrations of a new one take 28 ms, of which a test that opens hundreds feels each.
func Open(ctx context.Context, path string) (*store.Store, error) {
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		content, err := empty()
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, content, 0o600); err != nil {
			return nil, err
		}
	}
	return store.Open(ctx, path, store.Options{})
}

// empty is the content of an empty database.
var empty = sync.OnceValues(func() (content []byte, err error) {
	dir, err := os.MkdirTemp("", "empty")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	path := filepath.Join(dir, "db")
	db, err := store.Open(context.Background(), path, store.Options{})
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(path)
})
