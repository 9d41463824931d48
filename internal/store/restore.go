package store

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/panebridge/panebridge/internal/regular"
)

// A backup that's restored stands beside the database under one of these names, until it has the database's.
const (
	// stagePartSuffix: it isn't whole yet, or wasn't looked at.
	stagePartSuffix = "-restore-part"
	// stagedSuffix: it's whole and sound, and waits until nobody has the database open.
	stagedSuffix = "-restore"
	// settledSuffix: what must not happen twice was taken out of it; it's about to get the name.
	settledSuffix = "-restored"
)

// sqliteMagic is how a database begins.
const sqliteMagic = "SQLite format 3\x00"

// Stage looks whether a backup can be restored over the database at path and, if so, lays it beside that, with the
// newest schema. Nothing else changes: FinishRestore puts it in place. It blocks until all of the backup was read,
// compared with its sum and checked. What was laid there before is replaced. ErrNoBackup, ErrTooNew.
//
// A database that another program has copied, without a label, is taken if it's sound; its label says no time then.
func Stage(ctx context.Context, path, backup string) (label BackupLabel, err error) {
	file, info, err := regular.OpenAnybodys(backup)
	if err != nil {
		return label, fmt.Errorf("open the backup: %w", err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if state, err := os.Stat(path); err == nil && os.SameFile(info, state) {
		return label, fmt.Errorf("%s is the database itself: give the name of a backup", backup)
	}
	if label, err = readLabel(file, info.Size()); err != nil {
		return label, fmt.Errorf("read %s: %w", backup, err)
	}
	part := path + stagePartSuffix
	held, err := beginPart(part)
	if err != nil {
		return label, explain("restore "+backup, path, err)
	}
	defer func() { err = errors.Join(err, removeAll(part), held.Close()) }()
	if log, gone := os.Stat(backup + walSuffix); label.SHA256 == "" && gone == nil && log.Size() > 0 {
		_, _, err = copyDatabase(ctx, backup, part) // a part of it stands in there
	} else {
		err = copySummed(file, held, label, info.Size())
	}
	if err != nil {
		return label, explainStaging(backup, path, err)
	}
	schema, err := examineCopy(ctx, part)
	if errors.Is(kindOf(err), ErrDamaged) {
		err = fmt.Errorf("%w: it's damaged (%w)", ErrNoBackup, err)
	}
	if err != nil {
		return label, explainStaging(backup, path, err)
	}
	if label.Schema = schema; label.Bytes == 0 {
		label.Bytes = info.Size()
	}
	if err := bringUp(ctx, part, label.Version); err != nil {
		return label, explainStaging(backup, path, err)
	}
	if err := errors.Join(syncFile(part), os.Rename(part, path+stagedSuffix), syncFolder(path)); err != nil {
		return label, explainStaging(backup, path, err)
	}
	return label, nil
}

// explainStaging wraps an error. What SQLite says of a backup is no damage of the database's.
func explainStaging(backup, path string, err error) error {
	if errors.Is(err, ErrNoBackup) || errors.Is(err, ErrTooNew) {
		return fmt.Errorf("restore %s: %w", backup, err)
	}
	return explainCopy("restore "+backup, path, err)
}

// readLabel reads the label of a backup; zero if it's a database without one.
func readLabel(file io.ReaderAt, size int64) (label BackupLabel, err error) {
	begins := make([]byte, len(sqliteMagic))
	if _, err := file.ReadAt(begins, 0); err != nil && !errors.Is(err, io.EOF) {
		return label, err
	}
	if string(begins) != sqliteMagic {
		return label, fmt.Errorf("%w: it's no database", ErrNoBackup)
	}
	block := make([]byte, labelBytes)
	if size < labelBytes {
		return label, fmt.Errorf("%w: its end is missing", ErrNoBackup)
	}
	if _, err := file.ReadAt(block, size-labelBytes); err != nil {
		return label, err
	}
	text, is := bytes.CutPrefix(block, []byte(labelMagic))
	if !is {
		return label, nil // its size is looked at where it's copied
	}
	if err := json.Unmarshal(text, &label); err != nil {
		return label, fmt.Errorf("%w: its label is damaged: %w", ErrNoBackup, err)
	}
	switch {
	case label.Format > labelFormat:
		return label, fmt.Errorf("%w: panebridge %s made it, in a form that this one doesn't know: %w", ErrNoBackup, label.Version, ErrTooNew)
	case label.Bytes != size-labelBytes:
		return label, fmt.Errorf("%w: it has %d bytes, and had %d", ErrNoBackup, size, label.Bytes+labelBytes)
	}
	return label, nil
}

// copySummed copies a backup's database into an empty file, and compares it with the label.
func copySummed(file io.ReaderAt, to *os.File, label BackupLabel, size int64) error {
	if label.SHA256 != "" {
		size = label.Bytes
	} else if says, err := sizeInHeader(file); err != nil || says != size {
		return errors.Join(fmt.Errorf("%w: it has %d bytes, and had %d", ErrNoBackup, size, says), err)
	}
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(to, sum), io.NewSectionReader(file, 0, size)); err != nil {
		return err
	}
	if label.SHA256 != "" && hex.EncodeToString(sum.Sum(nil)) != label.SHA256 {
		return fmt.Errorf("%w: its sum isn't that of what was written, so something in it has changed since", ErrNoBackup)
	}
	return nil
}

// sizeInHeader is how many bytes a database has as its header says (sqlite.org/fileformat2.html, 1.3).
func sizeInHeader(file io.ReaderAt) (int64, error) {
	var header [32]byte
	if _, err := file.ReadAt(header[:], 0); err != nil {
		return 0, err
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 64 << 10
	}
	return page * int64(binary.BigEndian.Uint32(header[28:])), nil
}

// openStaged opens a database that nobody else has open, to write to it; it has all in its file when it's closed.
func openStaged(ctx context.Context, path string) (single, error) {
	name, err := dsn(path, writes[0], writes[1], "journal_mode(DELETE)", "synchronous(FULL)")
	if err != nil {
		return single{}, err
	}
	return openSingle(ctx, name+"&mode=rw")
}

// bringUp gives a copy the newest schema. What it has that panebridge doesn't make, which would run as it's written to,
// is refused.
func bringUp(ctx context.Context, path, version string) (err error) {
	db, err := openStaged(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.close()) }()
	var strange int
	if err := db.conn.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table', 'index')`).Scan(&strange); err != nil {
		return err
	}
	if strange > 0 {
		return fmt.Errorf("%w: it has triggers or views, which panebridge doesn't make", ErrNoBackup)
	}
	_, _, err = migrate(ctx, db.conn, migrations(), newestSchema)
	if errors.Is(err, ErrTooNew) && version != "" {
		err = fmt.Errorf("panebridge %s made it: %w", version, err)
	}
	return err
}

// IsStaged reports whether a backup waits to be put in the place of the database at path.
func IsStaged(path string) bool {
	return slices.ContainsFunc([]string{stagedSuffix, settledSuffix}, func(suffix string) bool {
		_, err := os.Lstat(path + suffix)
		return err == nil
	})
}

// StagedName is where a backup lies that waits to be put in the place of the database at path.
func StagedName(path string) string { return path + stagedSuffix }

// Restored is what became of a backup that was put in place; zero: none was.
type Restored struct {
	Placed bool
	Kept   string // where the database is that was there before; "": none was
	// Blind says that it couldn't be read, so nobody knows what was sent and taken since the backup.
	Blind bool
}

// FinishRestore puts a backup in place that waits for it: see Stage. What was there before gets another name beside it.
// Only who has the state folder alone may call it, before the database is opened; others may have it open for moments. What the
// backup has still to do was done since, as far as anybody knows, and isn't done again: see settle. A kill at any
// moment leaves the one or the other, and the next call does the rest.
func FinishRestore(ctx context.Context, path string, log *slog.Logger) (out Restored, err error) {
	if !IsStaged(path) {
		return out, nil
	}
	defer func() { err = explain("put the backup in place", path, err) }()
	for _, suffix := range []string{stagedSuffix, settledSuffix} {
		if err := checkFile(path + suffix); err != nil {
			return out, err
		}
	}
	gate, err := openEntrance(path, gateWaitOthers)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, gate.close()) }()
	defer gate.enter()()
	if _, gone := os.Lstat(path + settledSuffix); isGone(gone) {
		if err := settle(ctx, path, log); err != nil {
			return out, err
		}
		if err := errors.Join(os.Rename(path+stagedSuffix, path+settledSuffix), syncFolder(path)); err != nil {
			return out, err
		}
	}
	if out.Blind, err = isBlind(ctx, path+settledSuffix); err != nil {
		return out, err
	}
	if out.Kept, err = setReplacedAside(path); err != nil {
		return out, err
	}
	if err := errors.Join(giveName(path+settledSuffix, path), syncFolder(path)); err != nil {
		return out, err
	}
	out.Placed = true
	return out, nil
}

// setReplacedAside gives a database another name, with its write-ahead log. A kill between the two is made good.
func setReplacedAside(path string) (kept string, err error) {
	if _, err := os.Lstat(path); err == nil {
		kept = nameAside(path, replacedSuffix)
		for _, err := os.Lstat(kept); err == nil; _, err = os.Lstat(kept) { // restored twice within a second
			time.Sleep(50 * time.Millisecond)
			kept = nameAside(path, replacedSuffix)
		}
		if err := os.Rename(path, kept); err != nil {
			return "", err
		}
	} else {
		all, err := Asides(path)
		if err != nil {
			return "", err
		}
		for _, a := range all { // the last is the newest
			if a.kind == replacedSuffix {
				kept = a.Path
			}
		}
	}
	if kept == "" {
		return "", nil
	}
	if _, err := os.Lstat(kept + walSuffix); err == nil {
		return kept, nil
	}
	if err := os.Rename(path+walSuffix, kept+walSuffix); err != nil && !isGone(err) {
		return kept, err
	}
	return kept, nil
}
