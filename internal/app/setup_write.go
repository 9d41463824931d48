package app

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/panebridge/panebridge/adapters/all"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
)

// FirstTelegram is what a first configuration says of Telegram. Titles and names only
// stand in comments, and have no line ends.
type FirstTelegram struct {
	File      string        // the configuration's, an absolute path
	Token     config.Secret // to be written to TokenFile; empty: it's there
	TokenFile string        // an absolute path
	APIURL    string        // "": Telegram's
	Proxy     string        // "": none
	Chat      TelegramChat
	Title     string
	Admin     int64 // a person's number
	Name      string
	Mirror    string // pattern of the names of sessions that are mirrored to the chat; "": none by itself
}

// TokenFileBeside is where the token goes that belongs to a configuration.
func TokenFileBeside(file string) string { return filepath.Join(filepath.Dir(file), "telegram-token") }

// YAML is the configuration.
func (f FirstTelegram) YAML() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("adapters:")
	line("  telegram:")
	line("    enabled: true")
	line("    token_file: %s", scalar(f.TokenFile))
	if f.APIURL != "" {
		line("    api_url: %s", scalar(f.APIURL))
	}
	if f.Proxy != "" {
		line("    proxy: %s", scalar(f.Proxy))
	}
	line("    chats:")
	line("      - {id: %d, topics: %t}%s", f.Chat.ID, f.Chat.Topics, comment(f.Title))
	line("access:")
	line("  admins: [%q]%s", "telegram:"+strconv.FormatInt(f.Admin, 10), comment(f.Name))
	if f.Mirror != "" {
		line("mirrors:")
		line("  - {session: %s, to: %q, view: stream, input: true}", scalar(f.Mirror), "telegram:"+strconv.FormatInt(f.Chat.ID, 10))
	}
	return b.String()
}

// scalar is a text as YAML, of which JSON is a part, that stands for itself: ${ is
// that of a variable.
func scalar(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(strings.ReplaceAll(text, "${", "$${")) // a text to a strings.Builder
	return strings.TrimSuffix(b.String(), "\n")
}

func comment(text string) string {
	if text == "" {
		return ""
	}
	return " # " + text
}

const firstHead = `# Written by "panebridge init". "panebridge config check" says whether a change is
# right; all keys and their defaults are in config.example.yaml.

`

// Check returns what stands in the way of Write: a token that's there and is another.
// It's called early, so that nobody answers questions for nothing.
func (f FirstTelegram) Check() error {
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
func (f FirstTelegram) Write(env config.Env) (written bool, err error) {
	text := []byte(firstHead + f.YAML())
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
func (f FirstTelegram) KeepToken() error {
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
