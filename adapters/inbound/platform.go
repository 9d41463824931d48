package inbound

import (
	"context"
	"errors"
	"io"

	"github.com/panebridge/panebridge/adapters"
)

// ErrTooLarge says that a file has more bytes than allowed.
var ErrTooLarge = errors.New("the file is too large")

// Platform is what Inbound needs of an adapter, beside the outbound
// adapters.Adapter.
type Platform interface {
	// Name is the adapter's, as in targets: "telegram".
	Name() string
	// Answer tells the person who pressed a button what came of it, in a short text
	// that vanishes; "" only ends the wait. It takes no slot.
	Answer(ctx context.Context, press Event, text string) error
	// Fetch writes a file's content to w, at most limit bytes: a larger one is an
	// error that wraps ErrTooLarge, after at most limit bytes were written.
	Fetch(ctx context.Context, f File, limit int64, w io.Writer) error
	// Link is an address that opens a message, or a thread if message is ""; "": there's
	// none.
	Link(place adapters.Target, message string) string
	// SetCommands has the platform offer these commands as people type. It calls only
	// if they've changed since the last time, over restarts too.
	SetCommands(ctx context.Context, commands []CommandInfo) error
}

// CommandInfo is a command as platforms show it.
type CommandInfo struct {
	Name string // "new"
	Args string // "[agent] [folder]"; "": none
	Help string // one short sentence, at most 100 characters
	// Params are the arguments one by one, where a platform asks for them so.
	Params []Param
}
