package folder

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/sessions"
)

const (
	lookEvery   = time.Second
	maxSaid     = 64 << 10               // of what's taken of a file, in bytes
	said, taken = "say.txt", "say.taken" // what people write, and the same while it's being stored
)

// reader is what inbound needs of a folder: next to nothing. A file has neither buttons nor addresses, and
// offers no commands.
type reader struct{}

func (reader) Name() string                                                     { return Name }
func (reader) TellPresser(context.Context, intake.Event, string) error          { return nil }
func (reader) Link(adapters.Target, string) string                              { return "" }
func (reader) SetCommands(context.Context, []intake.CommandInfo) error          { return nil }
func (reader) Fetch(context.Context, intake.Attachment, int64, io.Writer) error { return errOnlyText }

// update is what somebody has written, as the journal keeps it.
type update struct {
	Place adapters.Target
	User  string // the number of the user to whom the file belongs
	File  uint64 // its own
	Text  string
	At    time.Time
}

// decode reads an update.
func decode(raw []byte) (intake.Event, bool, error) {
	var u update
	if err := json.Unmarshal(raw, &u); err != nil {
		return intake.Event{}, false, fmt.Errorf("read what was written: %w", err)
	}
	return intake.Event{
		Key: u.key(), At: u.At, Place: u.Place, Person: intake.Person{ID: Name + ":" + u.User, Name: u.User},
		Action: intake.Said{Text: u.Text},
	}, true, nil
}

// key is the same when the same file is taken again.
func (u update) key() string { return fmt.Sprintf("%s %d %d", u.Place, u.File, u.At.UnixNano()) }

// watch takes what people write, until ctx ends.
func (f *files) watch(ctx context.Context, into *intake.Queue, log *slog.Logger) error {
	for sessions.Pause(ctx, lookEvery) == nil {
		if err := f.look(ctx, into); err != nil && ctx.Err() == nil {
			log.WarnContext(ctx, "look for what was written", "err", err)
		}
	}
	return nil
}

func (f *files) look(ctx context.Context, into *intake.Queue) error {
	root, err := regular.OpenBase(f.path)
	if err != nil {
		return err
	}
	defer root.Close()
	var errs []error
	for _, pattern := range []string{"*/" + taken, "*/*/" + taken, "*/" + said, "*/*/" + said} {
		names, _ := fs.Glob(root.FS(), pattern) // the pattern is right
		for _, name := range names {
			errs = append(errs, take(ctx, root, name, into))
		}
	}
	return errors.Join(errs...)
}

// take stores what a file says, and removes it. It's set aside first: what's written meanwhile stays.
func take(ctx context.Context, root *os.Root, name string, into *intake.Queue) error {
	info, err := root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || time.Since(info.ModTime()) < lookEvery {
		return err
	}
	aside := path.Join(path.Dir(name), taken)
	if name != aside {
		if _, err := root.Lstat(aside); err == nil {
			return nil // that's first
		}
		if err := root.Rename(name, aside); err != nil {
			return err
		}
	}
	u, err := read(root, aside)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(u)
	if err == nil && u.Text != "" {
		err = into.Keep(ctx, []intake.Update{{Key: u.key(), Raw: raw, KeptAt: time.Now()}})
	}
	if err != nil {
		return err
	}
	return root.Remove(aside)
}

// read reads a file that nobody waits for: a pipe is none.
func read(root *os.Root, name string) (update, error) {
	file, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return update{}, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return update{}, err
	}
	owner, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.Mode().IsRegular() {
		return update{}, fmt.Errorf("read %s: it's no file", name)
	}
	text, err := io.ReadAll(io.LimitReader(file, maxSaid))
	place := adapters.Target{Adapter: Name, Chat: path.Dir(name)}
	if chat, thread, in := strings.Cut(place.Chat, "/"); in {
		place.Chat, place.Thread = chat, thread
	}
	return update{Place: place, User: strconv.FormatUint(uint64(owner.Uid), 10), File: owner.Ino, Text: strings.TrimSpace(string(text)), At: info.ModTime()}, err
}
