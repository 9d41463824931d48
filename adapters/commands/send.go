package commands

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/internal/regular"
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
	path, data, err := files.ReadFile(a.Session.Cwd, a.args, a.runner.Hub.Shape(a.Event.Place).MaxFile)
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
func (s SentFiles) ReadFile(cwd, text string, largest int) (path string, data []byte, err error) {
	if path, err = s.inFolder(cwd, text); err != nil {
		return "", nil, err
	}
	data, err = s.read(cwd, path, min(largest, maxSent))
	return path, data, err
}

// inFolder is the path of a file in a session's folder, below it.
func (s SentFiles) inFolder(cwd, text string) (string, error) {
	switch {
	case len(text) > cards.MaxOfferArgs || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl):
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

// read returns the content of a file in a session's folder. Links aren't followed:
// they'd lead around the names that are kept back.
func (s SentFiles) read(cwd, path string, largest int) ([]byte, error) {
	full := filepath.Join(cwd, path)
	if why := keptBack(full, s.StateDir); why != "" {
		return nil, fmt.Errorf("nothing is sent of %s: %s", path, why)
	}
	f, err := openRegularFile(cwd, path)
	switch {
	case errors.Is(err, errNoFolder):
		return nil, fmt.Errorf("there's no folder %s any more, or it isn't one that panebridge may read", s.ShownPath(cwd))
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there's no file %s in %s", path, s.ShownPath(cwd))
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf("panebridge may not read %s", path)
	case err != nil:
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	data, err := io.ReadAll(io.LimitReader(f, int64(largest)+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read %s: %w", path, err)
	case len(data) > largest:
		return nil, fmt.Errorf("at most %d kB can be sent here, and %s has more", largest/1000, path)
	case len(data) == 0:
		return nil, fmt.Errorf("there's nothing in %s, and empty files can't be sent", path)
	case holdsKey(data):
		return nil, fmt.Errorf("nothing is sent of %s: there's a private key in it", path)
	}
	return data, nil
}

// errNoFolder says that a session's folder isn't one now.
var errNoFolder = errors.New("there's no folder")

// openRegularFile opens a regular file below a folder that has no other name, through real folders only.
func openRegularFile(base, path string) (f *os.File, err error) {
	r, err := regular.OpenBase(base)
	if err != nil {
		return nil, errNoFolder
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	names := strings.Split(filepath.ToSlash(path), "/")
	for _, name := range names[:len(names)-1] {
		next, err := regular.OpenFolder(r, name)
		if err != nil {
			return nil, err
		}
		if err := r.Close(); err != nil {
			return nil, errors.Join(err, next.Close())
		}
		r = next
	}
	name := names[len(names)-1]
	before, err := r.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.Mode().IsRegular() {
		return nil, fmt.Errorf("only plain files are sent, not folders, links and devices; %s is one", path)
	}
	if s, ok := before.Sys().(*syscall.Stat_t); ok && s.Nlink > 1 {
		return nil, fmt.Errorf("%s has another name elsewhere, under which it may be kept back: send a copy of it", path)
	}
	f, err = r.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that takes its place holds nobody up
	if err != nil {
		return nil, err
	}
	if opened, err := f.Stat(); err != nil || !os.SameFile(before, opened) {
		return nil, errors.Join(fmt.Errorf("somebody replaced %s meanwhile; try it again", path), err, f.Close())
	}
	return f, nil
}

// What isn't sent to chats, by names in lower case. It's a net below people who
// mistype or are talked into something, not a wall: whoever may type into a session
// can read all that its user can.
var (
	// Folders with nothing but secrets, or with things that only programs read.
	keptFolders = []string{ //nolint:gochecknoglobals // a constant table
		".git", ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".gcloud", "gcloud", ".password-store", ".mozilla", "keyrings",
	}
	keptNames = []string{ //nolint:gochecknoglobals // a constant table, as path.Match reads it
		".env", ".env.*", "*.env", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.p8", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.gpg", "*.asc",
		"id_*", "*_rsa", "*_ed25519", "*_ecdsa", "known_hosts", "authorized_keys",
		"*credential*", "*secret*", "*password*", "*passwd*", "*.token", "token", "*-token", "*_token", "auth.json", "service-account*.json",
		".netrc", "_netrc", ".pgpass", ".my.cnf", ".npmrc", ".pypirc", ".htpasswd", ".claude.json", "kubeconfig", "shadow", "gshadow",
		"*.tfstate", "*.tfstate.*", "*.tfvars", "*_history",
	}
	// Of those, what's made to be shown.
	sentNames = []string{".env.example", ".env.sample", ".env.template", ".env.dist"} //nolint:gochecknoglobals // a constant table
	// The kernel's folders, where environments of programs are files.
	kernelFolders = []string{"/proc", "/sys", "/dev"} //nolint:gochecknoglobals // a constant table
)

// keptBack says why a file isn't sent, as a sentence's end; "": it may be.
func keptBack(full, stateDir string) string {
	for _, dir := range append([]string{stateDir}, kernelFolders...) {
		if dir != "" && isBelow(full, dir) {
			return "it's in " + dir
		}
	}
	parts := strings.Split(strings.ToLower(filepath.ToSlash(full)), "/")
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains(keptFolders, dir) {
			return "what's in " + dir + " is kept back"
		}
	}
	name := parts[len(parts)-1]
	if slices.Contains(sentNames, name) {
		return ""
	}
	for _, pattern := range keptNames {
		if ok, _ := filepath.Match(pattern, name); ok { // the patterns are fixed
			return "files named like " + pattern + " are kept back"
		}
	}
	return ""
}

// isBelow says whether a path is in a folder, with all links followed too.
func isBelow(path, dir string) bool {
	in := func(path, dir string) bool {
		rel, err := filepath.Rel(dir, path)
		return err == nil && filepath.IsLocal(rel)
	}
	if in(path, dir) {
		return true
	}
	realPath, err1 := filepath.EvalSymlinks(path)
	realDir, err2 := filepath.EvalSymlinks(dir)
	return err1 == nil && err2 == nil && in(realPath, realDir)
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
