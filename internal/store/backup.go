package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/panebridge/panebridge/internal/regular"
)

// A backup is an SQLite database, and behind its last page a label of labelBytes: labelMagic, a BackupLabel as JSON,
// and blanks. SQLite reads as far as the database's header says, so any of its programs can open a backup.
const (
	labelMagic  = "\npanebridge backup\n"
	labelBytes  = 4096
	labelFormat = 1
	// partSuffix is behind a backup's name until it's whole.
	partSuffix = ".part"
)

// Errors of backups; find them with errors.Is.
var (
	// ErrExists: a file has the name already.
	ErrExists = errors.New("a file has that name already")
	// ErrNoBackup: a file isn't a backup, or isn't whole any more.
	ErrNoBackup = errors.New("it isn't a backup that can be restored")
)

// BackupLabel says what a backup is.
type BackupLabel struct {
	Format  int       `json:"format"`
	Version string    `json:"panebridge"` // of the program that made it
	Schema  int       `json:"schema"`     // of the database
	At      time.Time `json:"at"`         // it has what was stored by then
	Bytes   int64     `json:"bytes"`      // of the database, which is all before the label
	SHA256  string    `json:"sha256"`     // of these bytes, in hexadecimal digits
}

// BackupOptions say how a backup is made.
type BackupOptions struct {
	Version   string // of this program
	Overwrite bool   // a file that has the name is replaced
}

// Backup writes a copy of the database at path, as it is at one moment, into another file, and returns what that is.
// Others may write meanwhile, and aren't held up; the write-ahead log gets no shorter until it's over. What was deleted
// isn't in the copy. It blocks until the copy is whole, was checked, and is on the disk; until then it has another
// name, and where it fails or is killed, what had the name has it still.
//
// The schema stays as it is, so a newer panebridge can back up what an older one has and goes on writing. ErrExists
// if a file has the name and isn't to be replaced.
func Backup(ctx context.Context, path, into string, o BackupOptions) (BackupLabel, error) {
	if err := checkBackupName(path, into, o.Overwrite); err != nil {
		return BackupLabel{}, err
	}
	if err := Unsound(path); err != nil {
		return BackupLabel{}, err
	}
	part := into + partSuffix
	held, err := beginPart(part)
	if err != nil {
		return BackupLabel{}, explain("back up into "+into, into, err)
	}
	label, err := writeBackup(ctx, path, part, held, o.Version)
	if err == nil && !isAt(held, part) {
		err = fmt.Errorf("another file has the name %s now", part)
	}
	if err == nil {
		err = publishBackup(part, into, o.Overwrite)
	}
	if err != nil {
		err = errors.Join(err, removeAll(part))
	}
	return label, errors.Join(err, held.Close())
}

// checkBackupName refuses names under which a backup would be lost, or would take something else's place.
func checkBackupName(path, into string, overwrite bool) error {
	info, err := os.Lstat(into)
	switch {
	case errors.Is(err, os.ErrNotExist):
	case err != nil:
		return fmt.Errorf("look at %s: %w", into, err)
	case info.IsDir():
		return fmt.Errorf("%s is a folder: give a file's name in it", into)
	case !info.Mode().IsRegular():
		return fmt.Errorf("%s is no ordinary file, and a backup doesn't take its place: give another name", into)
	case !overwrite:
		return fmt.Errorf("%s: %w", into, ErrExists)
	}
	folder, err := filepath.Abs(filepath.Dir(into))
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return fmt.Errorf("find the folder of %s: %w", into, err)
	}
	state, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return fmt.Errorf("look at the state folder: %w", err)
	}
	for ; ; folder = filepath.Dir(folder) {
		if here, err := os.Stat(folder); err == nil && os.SameFile(here, state) {
			return fmt.Errorf("%s is in the state folder, with which it would be lost: give a name elsewhere, on another disk at best", into)
		}
		if folder == filepath.Dir(folder) {
			return nil
		}
	}
}

// beginPart makes an empty file for this user alone and locks it, so that what a kill has left can be told from what
// somebody is at work on. What was left is replaced, unless it's another user's.
func beginPart(part string) (*os.File, error) {
	old, err := regular.OpenKept(part, 0)
	if err == nil {
		err = lock(old, unix.LOCK_EX|unix.LOCK_NB)
		if errors.Is(err, unix.EWOULDBLOCK) {
			return nil, errors.Join(fmt.Errorf("somebody else writes %s just now: wait until that's over, or give another name", part), old.Close())
		}
		if err = errors.Join(err, os.Remove(part), old.Close()); err != nil {
			return nil, err
		}
	} else if !isGone(err) {
		return nil, err
	}
	file, err := regular.OpenKept(part, os.O_CREATE|os.O_EXCL)
	if err != nil {
		return nil, err
	}
	if err := lock(file, unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// writeBackup writes the database and the label into an empty file that's held open.
func writeBackup(ctx context.Context, path, part string, held *os.File, version string) (label BackupLabel, err error) {
	label = BackupLabel{Format: labelFormat, Version: version}
	doing := "back up " + path
	if label.Schema, label.At, err = copyDatabase(ctx, path, part); err != nil {
		if errors.Is(kindOf(err), ErrFull) || errors.Is(kindOf(err), ErrUnwritable) {
			return label, explain("write "+part, part, err)
		}
		return label, explain(doing, path, err)
	}
	sum := sha256.New()
	if label.Bytes, err = io.Copy(sum, io.NewSectionReader(held, 0, 1<<62)); err != nil {
		return label, explain("read "+part, part, err)
	}
	label.SHA256 = hex.EncodeToString(sum.Sum(nil))
	text, err := json.Marshal(label)
	if err != nil {
		return label, err
	}
	block := bytes.Repeat([]byte(" "), labelBytes)
	copy(block, labelMagic+string(text)+"\n")
	block[labelBytes-1] = '\n'
	if _, err = held.WriteAt(block, label.Bytes); err == nil {
		err = held.Sync()
	}
	return label, explainCopy("write "+part, part, err)
}

// explainCopy is explain for what's written without SQLite as well.
func explainCopy(doing, path string, err error) error {
	if kind := kindOfDisk(err); err != nil && kindOf(err) == nil && kind != nil {
		return fmt.Errorf("%s: %w: %w", doing, kind, err)
	}
	return explain(doing, path, err)
}

// copyDatabase copies a database as it is at one moment into an empty file, and returns which schema it has and when that was.
func copyDatabase(ctx context.Context, path, part string) (schema int, at time.Time, err error) {
	if _, err := os.Lstat(path); err != nil {
		return 0, at, err
	}
	if err := checkFiles(path); err != nil {
		return 0, at, err
	}
	name, err := dsn(path, writes[0])
	if err != nil {
		return 0, at, err
	}
	from, err := openSingle(ctx, name+"&mode=rw") // which makes none; to read alone, SQLite needs to write its index
	if err != nil {
		return 0, at, err
	}
	defer func() { err = errors.Join(err, from.close()) }()
	at = time.Now().UTC()
	if _, err := from.conn.ExecContext(ctx, "VACUUM INTO ?", part); err != nil {
		return 0, at, err
	}
	schema, err = examineCopy(ctx, part)
	return schema, at, err
}

// examineCopy reads all of a database that nobody writes to, of whatever version, and returns that; ErrNoBackup if it
// isn't sound, or empty.
func examineCopy(ctx context.Context, path string) (schema int, err error) {
	name, err := dsn(path, "query_only(1)")
	if err != nil {
		return 0, err
	}
	db, err := openSingle(ctx, name+"&mode=ro")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	if schema, err = version(ctx, db.conn); err != nil {
		return 0, err
	}
	if schema == 0 {
		return 0, fmt.Errorf("%w: there's nothing of panebridge's in it", ErrNoBackup)
	}
	problems, err := quickCheck(ctx, db.conn)
	if err == nil && strings.Join(problems, "") != "ok" {
		err = fmt.Errorf("%w: it's damaged: %s", ErrNoBackup, strings.Join(problems, "; "))
	}
	return schema, err
}

// publishBackup gives a whole backup its name, and has the disk keep that.
func publishBackup(part, into string, overwrite bool) error {
	if overwrite {
		if err := os.Rename(part, into); err != nil {
			return err
		}
		return syncFolder(into)
	}
	err := os.Link(part, into) // which replaces nothing, as a rename would
	switch {
	case err == nil:
		err = os.Remove(part)
	case errors.Is(err, os.ErrExist):
		return fmt.Errorf("%s: %w", into, ErrExists)
	default: // a file system without links
		if _, there := os.Lstat(into); there == nil {
			return fmt.Errorf("%s: %w", into, ErrExists)
		}
		err = os.Rename(part, into)
	}
	return errors.Join(err, syncFolder(into))
}

// syncFolder has the disk keep which names there are beside a file.
func syncFolder(path string) error {
	folder, err := regular.OpenBase(filepath.Dir(path))
	if err != nil {
		return err
	}
	defer func() { _ = folder.Close() }()
	file, err := folder.Open(".")
	if err != nil {
		return err
	}
	err = file.Sync()
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOTSUP) { // file systems that keep no order, such as FUSE's
		err = nil
	}
	return errors.Join(err, file.Close())
}
