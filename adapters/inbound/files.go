package inbound

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

const (
	maxNameLen  = 80 // bytes of a file's name, without what's added here
	fetchTries  = 3
	fetchWithin = 2 * time.Minute // one try
)

// inFolder is where files go within a session's folder. A .gitignore beside it
// keeps them out of the session's commits.
const (
	ourFolder = ".panebridge"
	inFolder  = "in"
)

// saveFiles puts a message's files where the session's agent can read them, and returns
// their paths. problem says why they can't be had; nothing should be typed then.
//
// A file's name depends on the message alone, and it appears with all its content
// at once, so that it's fetched once, whatever happens in between.
func (in *Inbound) saveFiles(ctx context.Context, ev intake.Event, files []intake.Attachment, to sessions.Session) (paths []string, problem string, err error) {
	if len(files) > intake.MaxFiles {
		return nil, fmt.Sprintf("At most %d files are taken at a time, these are %d.", intake.MaxFiles, len(files)), nil
	}
	p := in.Platforms[ev.Place.Adapter]
	if p == nil || in.opt.MaxFile < 0 {
		return nil, "Files aren't taken here; max_file_mb in the configuration says so.", nil
	}
	for _, f := range files {
		if f.Size > in.opt.MaxFile {
			return nil, in.tooLarge(f), nil
		}
	}
	folder, path, err := openFilesFolder(in.opt.StateDir, to)
	if err != nil {
		in.Log.Warn("a session has no folder for files", "session", to.ID, "err", err)
		return nil, "There's no folder that files can be saved in: neither the session's own nor panebridge's takes them.", nil
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	for i, f := range files {
		name := fileName(ev.Key, i, f)
		err := in.fetchFile(ctx, p, f, folder, name)
		switch {
		case errors.Is(err, intake.ErrTooLarge):
			return nil, in.tooLarge(f), nil
		case ctx.Err() != nil:
			return nil, "", fmt.Errorf("fetch a file: %w", err)
		case err != nil:
			in.Log.Warn("fetch a file", "session", to.ID, "target", ev.Place.String(), "kind", f.Kind, "err", err)
			what, again := "The file", "it again, or the text alone."
			if len(files) > 1 {
				what, again = fmt.Sprintf("File %d of %d, %s,", i+1, len(files), shownFileName(f)), "them again, or the text alone."
			}
			return nil, what + " " + in.whyMissing(err, path) + again, nil
		}
		paths = append(paths, filepath.Join(path, name))
	}
	return paths, "", nil
}

// errUnsaved says that a file can't be saved, however often it's fetched.
var errUnsaved = errors.New("it can't be saved")

// whyMissing goes on behind the name of a file that isn't there: why, and what to do before it's sent again.
func (in *Inbound) whyMissing(err error, folder string) string {
	switch {
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "couldn't be saved: the disk of " + in.ShownPath(folder) + " or its quota is full. Free some space there, then send "
	case errors.Is(err, errUnsaved):
		return "couldn't be saved in " + in.ShownPath(folder) + "; panebridge's log says why. See to the folder, then send "
	default:
		return "couldn't be fetched. Send "
	}
}

func (in *Inbound) tooLarge(f intake.Attachment) string {
	return fmt.Sprintf("The file %s is too large: at most %d MB are taken.", shownFileName(f), in.opt.MaxFile>>20)
}

// shownFileName is a file's name as a person sees it.
func shownFileName(f intake.Attachment) string {
	if f.Name == "" {
		return "(" + string(f.Kind) + ")"
	}
	return strings.ToValidUTF8(f.Name, "?")
}

// quotedPath is a path as it's typed: agents and shells read it as it is, and a shell runs nothing that a folder's
// name has. Double quotes are what agents know of paths with spaces.
func quotedPath(path string) string {
	switch {
	case strings.ContainsAny(path, "$`\"'\\!*?[]{}()<>|&;#^=~"):
		return "'" + strings.NewReplacer("'", `'\''`, `\`, `'\\'`).Replace(path) + "'" // fish reads backslashes between quotes
	case strings.ContainsFunc(path, unicode.IsSpace):
		return `"` + path + `"`
	}
	return path
}

// FilesFolder is the folder in the state folder that has the files of sessions whose own folders take
// none, each in one that's named by its session's id.
const FilesFolder = "files"

// openFilesFolder opens the folder for a session's files: in the session's own folder, where
// its agent may read without asking anybody; else in the state folder.
func openFilesFolder(stateDir string, s sessions.Session) (*os.Root, string, error) {
	var first error
	if filepath.IsAbs(s.Cwd) {
		r, err := openIn(s.Cwd, false, ourFolder, inFolder)
		if err == nil {
			return r, filepath.Join(s.Cwd, ourFolder, inFolder), nil
		}
		first = err
	}
	if stateDir == "" {
		return nil, "", errors.Join(first, errors.New("there's no state folder"))
	}
	r, err := openIn(stateDir, true, FilesFolder, string(s.ID))
	if err != nil {
		return nil, "", errors.Join(first, err)
	}
	return r, filepath.Join(stateDir, FilesFolder, string(s.ID)), nil
}

// openIn opens a folder below a base, made where it's missing. Each step must be a
// real folder: a link would lead to where somebody else wants files to be; and this
// user's alone: others would put files of theirs in the place of what was sent. Outside of
// the state folder git ignores what's made.
func openIn(base string, state bool, names ...string) (r *os.Root, err error) {
	if r, err = regular.OpenBase(base); err != nil {
		return nil, err
	}
	for i, name := range names {
		next, err := regular.MakeOwnFolder(r, name)
		if err == nil && !state && i == 0 {
			err = ignoreAll(next)
		}
		err = errors.Join(err, r.Close())
		if err != nil {
			if next != nil {
				err = errors.Join(err, next.Close())
			}
			return nil, err
		}
		r = next
	}
	return r, nil
}

// ignoreAll keeps what's in a folder out of git. An empty file is one that found no room when it was written.
func ignoreAll(r *os.Root) error {
	const name = ".gitignore"
	if info, err := r.Lstat(name); err == nil && (!info.Mode().IsRegular() || info.Size() > 0) {
		return nil
	}
	f, err := r.OpenFile(name, os.O_CREATE|os.O_WRONLY|syscall.O_NONBLOCK, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("*\n")
	return errors.Join(err, f.Close())
}

// fetchFile gets a file into a folder, unless it's there already.
func (in *Inbound) fetchFile(ctx context.Context, p intake.InboundAdapter, f intake.Attachment, into *os.Root, name string) error {
	if info, err := into.Lstat(name); err == nil {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("save %s: something that isn't a file has its name", name)
		}
		return removePart(into, name)
	}
	var err error
	for try := range fetchTries {
		if try > 0 {
			if err := sessions.Pause(ctx, intake.BackOff(try)); err != nil {
				return err
			}
		}
		if err = in.fetchOnce(ctx, p, f, into, name); err == nil || errors.Is(err, intake.ErrTooLarge) || errors.Is(err, errUnsaved) || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (in *Inbound) fetchOnce(ctx context.Context, p intake.InboundAdapter, f intake.Attachment, into *os.Root, name string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, fetchWithin)
	defer cancel()
	if err := removePart(into, name); err != nil {
		return unsaved(err)
	}
	part := partName(name)
	w, err := into.OpenFile(part, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return unsaved(err)
	}
	defer func() {
		if gone := into.Remove(part); err == nil {
			err = unsaved(gone)
		}
	}()
	to := &limitedWriter{w: w, left: in.opt.MaxFile}
	err = p.Fetch(ctx, f, in.opt.MaxFile, to)
	if failed := errors.Join(to.failed, w.Close()); failed != nil {
		return unsaved(failed)
	}
	if err != nil {
		return err
	}
	return unsaved(into.Link(part, name)) // which replaces nothing
}

func unsaved(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w: %w", errUnsaved, err)
}

// partName is what a file is called while it's fetched.
func partName(name string) string { return ".part-" + name }

// removePart removes what a daemon that was killed while it fetched a file has left. Once the file has
// its name that's a second one, with which /send would refuse it.
func removePart(in *os.Root, name string) error {
	if err := in.Remove(partName(name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// limitedWriter is a writer that takes no more than what was agreed on.
type limitedWriter struct {
	w      io.Writer
	left   int64
	failed error // of w
}

func (l *limitedWriter) Write(b []byte) (int, error) {
	if int64(len(b)) > l.left {
		return 0, intake.ErrTooLarge
	}
	n, err := l.w.Write(b)
	l.left -= int64(n)
	if err != nil {
		l.failed = err
	}
	return n, err
}

// fileName is the name that file i of a message gets: what's left of its own where
// only letters, digits and a few signs are, and a mark that tells it from all others.
func fileName(key string, i int, f intake.Attachment) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %d", key, i))
	mark := hex.EncodeToString(sum[:6])
	name := safeName(f.Name)
	if name == "" {
		name = map[intake.FileKind]string{intake.FilePhoto: "photo.jpg", intake.FileVoice: "voice.ogg"}[f.Kind]
	}
	if name == "" {
		name = "file"
	}
	ext := filepath.Ext(name)
	if len(ext) > 12 || len(ext) == len(name) {
		ext = ""
	}
	return strings.TrimSuffix(name, ext) + "-" + mark + ext
}

// safeName makes a name harmless: no folder, no hidden file, no option, nothing that
// a shell or terminal reads as more than a name.
func safeName(name string) string {
	if i := strings.LastIndexAny(name, `/\`); i >= 0 {
		name = name[i+1:]
	}
	name = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError:
			return '_'
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), strings.ContainsRune("._-+", r):
			return r
		default:
			return '_'
		}
	}, name)
	name = strings.TrimLeft(name, ".-_+")
	ext := filepath.Ext(name)
	if len(ext) > 12 {
		ext = ""
	}
	base := strings.TrimSuffix(name, ext)
	for len(base)+len(ext) > maxNameLen {
		_, n := utf8.DecodeLastRuneInString(base)
		base = base[:len(base)-n]
	}
	return strings.TrimRight(base+ext, "._")
}
