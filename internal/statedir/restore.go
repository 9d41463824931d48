package statedir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/panebridge/panebridge/internal/search"
	"github.com/panebridge/panebridge/internal/store"
)

// FinishRestore is store.FinishRestore for a state folder that the caller has opened. The index of words goes before: it's
// about the lines of the database that's replaced, and is made anew.
func FinishRestore(ctx context.Context, dir string, log *slog.Logger) (out store.Restored, err error) {
	path := DatabasePath(dir)
	if !store.IsStaged(path) {
		return out, nil
	}
	for _, name := range search.FileNames(filepath.Join(dir, search.File)) {
		if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
			return out, fmt.Errorf("remove the index of words: %w", err)
		}
	}
	return store.FinishRestore(ctx, path, log)
}
