package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/adapters/platform"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/internal/statedir"
	"github.com/panebridge/panebridge/internal/store"
)

// FirstFiles are the files that `panebridge init` writes.
type FirstFiles struct {
	File string // the configuration's, an absolute path
	platform.FirstConfig
}

const firstHead = `# Written by "panebridge init". "panebridge config check" says whether a change is
# right; all keys and their defaults are in config.example.yaml.

`

// Check returns what stands in the way of Write: a token that's there and is another.
// It's called early, so that nobody answers questions for nothing.
func (f FirstFiles) Check() error {
	there, err := regular.Read(f.TokenFile, findings.MaxSecretFile)
	switch {
	case errors.Is(err, fs.ErrNotExist) || f.Token.Reveal() == "":
		return nil
	case err != nil:
		return fmt.Errorf("read the token that's there: %w", err)
	case strings.TrimSpace(string(there)) != f.Token.Reveal():
		return fmt.Errorf("%s already has another token, and isn't overwritten: move it away, or put the new token into a file of your own and give --token-file", f.TokenFile)
	}
	return nil
}

// Write writes the token's file and the configuration, both of which only this user
// can read. Neither replaces a file; written is false if there's a configuration
// already, and then only the token's file is made. After an error nothing is left.
func (f FirstFiles) Write(env config.Env) (written bool, err error) {
	text := []byte(firstHead + f.YAML)
	if _, err := all.Form().Parse(f.File, text, env); err != nil {
		return false, fmt.Errorf("make the configuration: %w", err)
	}
	var undo []func() error
	defer func() {
		for i := len(undo) - 1; err != nil && i >= 0; i-- {
			_ = undo[i]() // the first error is the one to tell of
		}
	}()
	for _, path := range []string{f.File, f.TokenFile} {
		made, err := makeFolder(filepath.Dir(path))
		undo = append(undo, made...)
		if err != nil {
			return false, err
		}
	}
	if f.Token.Reveal() != "" && !exists(f.TokenFile) {
		if err := writeNew(f.TokenFile, []byte(f.Token.Reveal()+"\n")); err != nil {
			return false, err
		}
		undo = append(undo, func() error { return os.Remove(f.TokenFile) })
	}
	err = writeNew(f.File, text)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

// KeepToken writes the token's file alone, with its folder, if it isn't there yet.
func (f FirstFiles) KeepToken() error {
	if err := f.Check(); err != nil || f.Token.Reveal() == "" || exists(f.TokenFile) {
		return err
	}
	if _, err := makeFolder(filepath.Dir(f.TokenFile)); err != nil {
		return err
	}
	return writeNew(f.TokenFile, []byte(f.Token.Reveal()+"\n"))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// makeFolder makes a folder and those above it that are missing. It returns how each
// is removed again.
func makeFolder(dir string) (undo []func() error, err error) {
	for above := dir; !exists(above); above = filepath.Dir(above) {
		undo = append([]func() error{func() error { return os.Remove(above) }}, undo...)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return undo, fmt.Errorf("make the configuration's folder: %w", err)
	}
	return undo, nil
}

// writeNew writes a file that isn't there yet, or nothing.
func writeNew(path string, text []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("make %s: %w", filepath.Base(path), err)
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return errors.Join(fmt.Errorf("write %s: %w", path, err), os.Remove(path))
	}
	return nil
}

// KeepUpdates puts updates into the journal of a state folder's daemon, which is a platform's, the one with the key
// handled as handled. It returns when it's durable, or ctx ends: what hangs isn't waited for.
func KeepUpdates(ctx context.Context, stateDir, platform string, updates []intake.Update, handled string) error {
	if err := statedir.Make(stateDir); err != nil {
		return err
	}
	kept := make(chan error, 1)
	go func() {
		db, err := store.OpenInbox(ctx, statedir.DatabasePath(stateDir))
		if err == nil {
			err = errors.Join(db.KeepUpdates(ctx, platform, updates, handled), db.Close())
		}
		kept <- err
	}()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case err := <-kept:
		return err
	}
}
