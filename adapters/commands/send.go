package commands

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

// maxSent is the size in bytes of the largest file that's sent. It's in memory while it
// waits.
const maxSent = 20 << 20

// sendFile sends a file of the session's folder to the chat.
func sendFile(a *Invocation) error {
	if a.args == "" {
		return errors.New("write /send and the path of a file in the session's folder")
	}
	files := SentFiles{StateDir: a.runner.StateDir, ShownPath: a.runner.ShownPath}
	path, data, err := files.ReadFile(a.Session, a.args, a.runner.Hub.Shape(a.Event.Place).MaxFile)
	if err != nil {
		return err
	}
	return a.post(adapters.Post{Text: wording.Plain(path), File: &adapters.File{Name: filepath.Base(path), Data: data}})
}

// SentFiles reads files of sessions' folders that people ask for.
type SentFiles struct {
	StateDir  string                   // the state folder, of which nothing is sent
	ShownPath func(path string) string // a folder as people are told of it
}

// ReadFile returns the content of a file of at most so many bytes, and of no more than maxSent, in a session's folder, by
// its path from there or its whole path. It returns its path from there, too. The error is told to people.
func (s SentFiles) ReadFile(of sessions.Session, text string, largest int) (path string, data []byte, err error) {
	if path, err = s.inFolder(of.Cwd, text); err != nil {
		return "", nil, err
	}
	base, err := s.baseOf(of)
	if err != nil {
		return "", nil, err
	}
	data, err = s.read(base, path, min(largest, maxSent))
	return path, data, err
}

// ReadAnywhere returns the content of a file of at most so many bytes, and of no more than maxSent, wherever it is, by
// its path from the session's folder, or its whole path. outside says that it isn't below that folder: then path is where
// it really is, without links. Else it's the path from there. The error is told to people.
func (s SentFiles) ReadAnywhere(of sessions.Session, text string, largest int) (path string, outside bool, data []byte, err error) {
	base, baseErr := s.baseOf(of)
	if path, err = s.inFolder(of.Cwd, text); err == nil && baseErr == nil {
		data, err = s.read(base, path, min(largest, maxSent))
		return path, false, data, err
	}
	if !isPath(text) || !filepath.IsAbs(of.Cwd) {
		return "", false, nil, err
	}
	if path = filepath.Clean(text); !filepath.IsAbs(path) {
		path = filepath.Join(of.Cwd, path)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", false, nil, fmt.Errorf("there's no file %s, or it isn't one that panebridge may read", path)
	}
	path = filepath.Join(folder, filepath.Base(path))
	if home := cmp.Or(of.RealCwd, base); home != "" { // another name of the session's folder
		if rel, err := filepath.Rel(home, path); err == nil && filepath.IsLocal(rel) {
			data, err = s.read(home, rel, min(largest, maxSent))
			return rel, false, data, err
		}
	}
	data, err = s.read("/", strings.TrimPrefix(path, "/"), min(largest, maxSent))
	return path, true, data, err
}

// baseOf is the path of a session's folder without links. It's an error if that isn't where it was when the session
// began: its program may have put a link there.
func (s SentFiles) baseOf(of sessions.Session) (string, error) {
	base, err := filepath.EvalSymlinks(of.Cwd)
	if err != nil {
		return "", s.noFolder(of.Cwd)
	}
	info, err := os.Stat(base)
	switch {
	case err != nil || !info.IsDir():
		return "", s.noFolder(of.Cwd)
	case of.RealCwd != "" && base != of.RealCwd:
		return "", fmt.Errorf("%s is another folder than when the session began, so nothing of it is the session's", s.ShownPath(of.Cwd))
	}
	return base, nil
}

func (s SentFiles) noFolder(path string) error {
	return fmt.Errorf("there's no folder %s any more, or it isn't one that panebridge may read", s.ShownPath(path))
}

// isPath reports whether a text can be a file's path.
func isPath(text string) bool {
	return len(text) <= cards.MaxOfferArgs && text != "" && utf8.ValidString(text) && !strings.ContainsFunc(text, unicode.IsControl)
}

// inFolder is the path of a file in a session's folder, below it.
func (s SentFiles) inFolder(cwd, text string) (string, error) {
	switch {
	case !isPath(text):
		return "", errors.New("that isn't a file's path: write one line without control characters")
	case !filepath.IsAbs(cwd):
		return "", errors.New("nobody knows in which folder this session works; only sessions with a folder can send files")
	}
	path := filepath.Clean(text)
	if filepath.IsAbs(path) {
		rel, err := filepath.Rel(cwd, path)
		if err != nil {
			return "", fmt.Errorf("find %s: %w", path, err)
		}
		path = rel
	}
	if !filepath.IsLocal(path) || path == "." {
		return "", fmt.Errorf("only files in the session's folder can be sent, which is %s", s.ShownPath(cwd))
	}
	return path, nil
}

// read returns the content of a file below a folder. Links aren't followed, neither to the folder nor from there:
// they'd lead around the names that are kept back.
func (s SentFiles) read(base, path string, largest int) ([]byte, error) {
	full, name := filepath.Join(base, path), path
	if base == "/" { // it's no folder of a session's
		name = full
	}
	if why := regular.KeptBack(full, s.StateDir); why != "" {
		return nil, fmt.Errorf("nothing is sent of %s: %s", name, why)
	}
	f, err := regular.OpenBelowReal(base, path)
	switch {
	case errors.Is(err, regular.ErrNoFolder):
		return nil, s.noFolder(base)
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there's no file %s in %s", name, s.ShownPath(base))
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("panebridge may not read %s", name)
	case err != nil:
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(largest)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", name, err)
	case len(data) > largest:
		return nil, fmt.Errorf("at most %d kB can be sent here, and %s has more", largest/1000, name)
	case len(data) == 0:
		return nil, fmt.Errorf("there's nothing in %s, and empty files can't be sent", name)
	case holdsKey(data):
		return nil, fmt.Errorf("nothing is sent of %s: there's a private key in it", name)
	}
	return data, nil
}

// holdsKey says whether there's a private key in PEM in a file.
func holdsKey(data []byte) bool {
	for rest := data; ; {
		i := bytes.Index(rest, []byte("-----BEGIN "))
		if i < 0 {
			return false
		}
		rest = rest[i+len("-----BEGIN "):]
		if line, _, _ := bytes.Cut(rest, []byte("\n")); bytes.Contains(line, []byte("PRIVATE KEY-----")) {
			return true
		}
	}
}
