// Package platform says what a chat platform is to the rest of panebridge, which knows none by name.
//
// A platform is a folder with a function that returns its Descriptor, and one line in adapters/all.
// docs/adapters.md shows how to write one; adapters/folder is the smallest.
package platform

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/exchange"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
	"github.com/panebridge/panebridge/internal/regular"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Descriptor is all that's known of a platform before it's on. What's nil it doesn't have.
type Descriptor struct {
	config.PlatformForm        // its name, and its section of the configuration
	Title               string // as people call it: "Telegram"
	// Limits are its windows, before anything is learned.
	Limits func() qos.Limits
	// New makes the platform of a section, which Default has made. It calls nothing; what it needs of
	// the notes it reads. A Host with nothing but Knows only has the section checked: Run isn't called
	// then. The error joins all that's wrong with the section.
	New func(ctx context.Context, section config.Section, host Host) (Platform, error)

	// Examine looks at the bot and at the chats that the section names, for `doctor`; running says
	// that a daemon uses them. It makes calls, and ends with ctx.
	Examine func(ctx context.Context, section config.Section, running bool) []findings.Finding
	// Setup begins the first setting up of the platform, for `init`. It calls nothing.
	Setup func() Setup
	// PrivateChat is the id of a person's private chat with the bot; "": it isn't known.
	PrivateChat func(ctx context.Context, notes Notes, person string) (chat string, err error)
}

// Platform is a platform that's on. Its two halves it must have; what else it has it implements:
// BackgroundRunner, Reloader, HealthTeller, Sharer.
type Platform interface {
	Outbound() adapters.Adapter
	Inbound() intake.InboundAdapter
}

// BackgroundRunner is a platform that does something all the time, such as taking in what people do.
type BackgroundRunner interface {
	// Run blocks until ctx ends, and returns when all that it started has ended.
	Run(ctx context.Context) error
}

// Reloader is a platform whose section may change while it runs.
type Reloader interface {
	// Reload takes in what may change. It returns at once, and may be called before Run.
	Reload(section config.Section)
}

// HealthTeller is a platform that knows how well updates come in.
type HealthTeller interface {
	// Health may be called at any time, and returns at once.
	Health() intake.Health
}

// Sharer is a platform that hands each update to one reader.
type Sharer interface {
	// SharedWith says who else may get the updates, to begin a sentence with: "Another panebridge";
	// "": nobody does, as far as is known. It returns at once.
	SharedWith() string
}

// Host is what a platform has of the daemon. Its functions may be called from several goroutines, once
// Run has been.
type Host struct {
	Notes   Notes
	Journal intake.Journal
	Logger  *slog.Logger

	// Commands are those that people have.
	Commands []intake.CommandInfo
	// Handle and GaveUp are for the platform's intake.Queue.
	Handle func(ctx context.Context, e intake.Event) error
	GaveUp func(e intake.Event)
	// Expired takes in that updates between two moments are lost to us.
	Expired func(from, to time.Time) error
	// Learn takes in what answers say about limits.
	Learn func(s qos.Scope, l qos.Learned)
	// Panicked counts an answer that panicked and was contained.
	Panicked func()

	// Knows says whether a chat may be written to that the section doesn't name: it was paired. It's
	// asked before Run, too.
	Knows func(t adapters.Target) bool
	// Uses says whether a session is bound anywhere in a chat, Shows whether one is at this very place.
	Uses, Shows func(t adapters.Target) bool
	// Mirrored are the places that show living sessions, or would if nobody had closed them.
	Mirrored func() []adapters.Target
	// Yields says why another process reads the bot's updates, and what that means; "": none does.
	// SharedWith is Sharer's, as far as Redis knows it.
	Yields, SharedWith func() string

	// These are inbound.Inbound's of the same names, for what's owed at once.
	Admits   func(e intake.Event) bool
	Complete func(e intake.Event, command, param, begun string) []intake.Completion
	Offered  func(ctx context.Context, data string) bool
	Concerns func(e intake.Event) bool
}

// Notes are what a platform keeps over restarts, by its own keys.
type Notes interface {
	// Note returns ""  for what was never put.
	Note(ctx context.Context, key string) (string, error)
	PutNote(ctx context.Context, key, value string) error
}

// ReadToken returns a bot's token, from the configuration or from the file that it names. platform is its name
// there. It reads the disk.
func ReadToken(inline config.Secret, file, platform string) (string, error) {
	if file == "" {
		return strings.TrimSpace(inline.Reveal()), nil
	}
	text, err := regular.Read(file, findings.MaxSecretFile)
	if err != nil {
		return "", &TokenFileError{fmt.Errorf("read adapters.%s.token_file: %w", platform, err), err}
	}
	return strings.TrimSpace(string(text)), nil
}

// TokenFileError is the error of a token's file that can't be read; Why is without where it stands.
type TokenFileError struct {
	error
	Why error
}

func (e *TokenFileError) Unwrap() error { return e.error }

// CommandMenu is a list of commands that a platform shows. It's sent only when it's another than the platform has,
// over restarts too: who sends the same too often is silenced for minutes.
type CommandMenu struct {
	Title string // of the platform
	Notes Notes
	// SentNote and SilenceNote are keys: of which list was sent last, and of until when the platform wants none.
	SentNote, SilenceNote string
}

// Send calls send, unless owner has this list already or the platform has ordered silence. Such an order is noted.
// The notes are on disk.
func (m CommandMenu) Send(ctx context.Context, owner string, list any, send func() error) error {
	body, err := json.Marshal(list)
	if err != nil {
		return fmt.Errorf("encode the commands: %w", err)
	}
	sum := sha256.Sum256(slices.Concat([]byte(owner), body))
	want := hex.EncodeToString(sum[:8])
	has, err := m.Notes.Note(ctx, m.SentNote)
	if err != nil || has == want {
		return err
	}
	silence, err := m.Notes.Note(ctx, m.SilenceNote)
	if err != nil {
		return err
	}
	if until, err := time.Parse(time.RFC3339, silence); err == nil && time.Now().Before(until) {
		return fmt.Errorf("set the commands: %s wants none until %s", m.Title, until.Format(time.TimeOnly))
	}
	err = send()
	if after := exchange.RetryAfter(err); after > 0 {
		return errors.Join(err, m.Notes.PutNote(ctx, m.SilenceNote, time.Now().Add(after).Add(time.Second).Format(time.RFC3339)))
	}
	if err != nil {
		return err
	}
	return m.Notes.PutNote(ctx, m.SentNote, want)
}

// OfferCommands sets the platform's commands, again and again until that works or ctx ends. It blocks until then.
func (h Host) OfferCommands(ctx context.Context, p intake.InboundAdapter) {
	for rest := time.Second; p.SetCommands(ctx, h.Commands) != nil; rest = min(2*rest, 5*time.Minute) {
		if sessions.Pause(ctx, rest) != nil {
			return
		}
	}
}
