package platform

import (
	"context"
	"errors"

	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/config"
	"github.com/panebridge/panebridge/internal/findings"
)

// Setup is how `panebridge init` sets a platform up for the first time, question by question.
type Setup struct {
	Short, Long, Example string // help of the command
	Flags                []Flag // which answer questions beforehand
	// Run asks what no flag has answered, and has the host write the configuration. It blocks until that's done or
	// ctx ends, and leaves nothing behind after an error, unless that's an ErrPartlyKept or says so.
	Run func(ctx context.Context, host SetupHost) error
}

// Flag is one of a command.
type Flag struct {
	Name, Help string // in Help, backquotes are around the value's name
	Value      any    // a *string or a *int64, into which it's read
	Given      *bool  // set if it's given; nil: nobody asks
}

// ErrPartlyKept is an error, besides another, of a setup that has put into the database some of what waited for the
// bot, and ended before there's a configuration.
var ErrPartlyKept = errors.New("the oldest of what waited is in the database")

// Asker asks whoever runs the program. Its methods do so until there's an answer, or ctx ends. orFlags says which
// flags would have answered it.
type Asker interface {
	Ask(ctx context.Context, question, orFlags string) (string, error)
	AskSecret(ctx context.Context, question, orFlags string) (string, error)
	// AskYesNo returns other for an empty answer.
	AskYesNo(ctx context.Context, question string, other bool, orFlags string) (bool, error)
	// HasPerson says whether a person is there, who can correct something and try again.
	HasPerson() bool
}

// SetupHost is what a setup has of the program.
type SetupHost struct {
	Asker
	Printf       func(format string, args ...any) error
	PrintFinding func(f findings.Finding) error
	// UsageErrorf makes the error of a flag that was given wrongly.
	UsageErrorf func(format string, args ...any) error

	Title string // of the platform: "Telegram"
	Again string // the command that begins this setup: "panebridge init"

	File     string // the configuration's, an absolute path
	Exists   bool   // there's one already, which isn't changed
	StateDir string // the daemon's folder, an absolute path
	// KeepUpdates puts updates into the daemon's journal, the one with the key handled as handled. It returns when
	// that's durable, or ctx ends: what hangs isn't waited for.
	KeepUpdates func(ctx context.Context, updates []intake.Update, handled string) error

	// CheckToken says what stands in the way of Write: another token that's there. KeepToken writes the token's file
	// alone. Write writes that file and the configuration, and tells the person how to go on.
	CheckToken, KeepToken func(c FirstConfig) error
	Write                 func(ctx context.Context, c FirstConfig) error
}

// FirstConfig is what a setup has found out.
type FirstConfig struct {
	Token     config.Secret // to be written to TokenFile; empty: it's there
	TokenFile string        // an absolute path
	YAML      string        // the configuration; it begins a line
	Mirrors   bool          // it mirrors sessions by themselves
	Undone    bool          // something is still to be put right
	Written   func()        // called when the files are there
	// Greet sends a text to the chat that was set up, which rings nobody. Nil: there's no place for one. It blocks until
	// the platform has answered.
	Greet func(ctx context.Context, text string) error
}
