package inbound

import (
	"context"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/access"
	"github.com/panebridge/panebridge/sessions"
)

// Store keeps what must be known after a restart. Methods do disk I/O and may be
// called at the same time. What they wrote survives a crash of the process when they
// return nil; after an error nothing was written.
type Store interface {
	access.Store
	AuditStore
	ReplyStore
	OfferStore
	WaitingStore
	OriginStore
	PreferenceStore
	LogStore
	PromptStore
	AttentionStore
	// MessageSession returns the session of which a message in a chat shows lines;
	// sessions.ErrUnknown if it's none of ours.
	MessageSession(ctx context.Context, adapter, chat, message string) (sessions.ID, error)
	// MoveChat has all that's kept for a chat follow it to another id, where messages have other
	// numbers.
	MoveChat(ctx context.Context, adapter, from, to string) error
	// Followed says whether everything has followed a chat to its new id, as PutFollowed keeps.
	Followed(ctx context.Context, m adapters.Move) (bool, error)
	PutFollowed(ctx context.Context, m adapters.Move) error
	// ForgetInbound drops what isn't needed any more: offers, codes and waiting texts
	// that expired before a time, origins that are done and were made before it.
	ForgetInbound(ctx context.Context, before time.Time) error
}

// sessionsAt returns the living sessions that a place mirrors, of those bindings
// that are wanted.
func (in *Inbound) sessionsAt(place adapters.Target, want func(adapters.Binding) bool) []sessions.Session {
	var out []sessions.Session
	for _, b := range in.opt.Hub.At(place) {
		if !want(b) {
			continue
		}
		if s, err := in.opt.Sessions.Get(string(b.Session)); err == nil && s.State != sessions.StateEnded {
			out = append(out, s)
		}
	}
	return out
}
