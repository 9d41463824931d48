package inbound

import (
	"context"
	"fmt"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/cards"
	"github.com/panebridge/panebridge/adapters/intake"
	"github.com/panebridge/panebridge/sessions"
)

// Entry is one input in the audit log: who did what, where and when, and what
// became of it. It holds no text: what's typed is in its receipt, which goes when
// receipts do. The hash tells whether a text that somebody shows is the one, until the session is forgotten: a short
// text can be guessed from it.
type Entry struct {
	Key    string // Event.Key
	At     time.Time
	Place  adapters.Target
	Person string // Person.ID
	Name   string // as the platform showed it then
	// Kind is text, edit, file, command, button or pair.
	Kind string
	// What is the command's name, the button's Do, the role that a code gave; "" for
	// texts.
	What    string
	Session sessions.ID // "": none
	Bytes   int         // of the text; of arguments for a command
	Hash    string      // the first 16 hexadecimal digits of the text's SHA-256; "": no text, or one that was forgotten
	// Outcome is what became of it, in a word or two, or the id of its receipt. "": it
	// was begun, and not finished.
	Outcome string
}

// AuditStore keeps the audit log: the newest 100,000 entries.
type AuditStore interface {
	// BeginEntry adds an entry, unless there's one of its key, and returns the one
	// that was there before; nil: none.
	BeginEntry(ctx context.Context, e Entry) (*Entry, error)
	// EndEntry fills in what became of an input: What, Session, Outcome. With that it keeps what
	// answers it, both or none: see ReplyStore.
	EndEntry(ctx context.Context, e Entry, replies []cards.Reply) error
	// Entries returns the newest, the newest first.
	Entries(ctx context.Context, limit int) ([]Entry, error)
}

// entryOf is an event as the audit log begins it.
func entryOf(ev intake.Event) Entry {
	e := Entry{Key: ev.Key, At: time.Now(), Place: ev.Place, Person: ev.Person.ID, Name: ev.Person.Name}
	text := ""
	switch a := ev.Action.(type) {
	case intake.Said:
		text, e.Kind = a.Text, "text"
		if name, _, ok := intake.ReadCommand(a.Text); ok {
			e.Kind, e.What = "command", name
		}
		if len(a.Files) > 0 {
			e.Kind = "file"
		}
		if name, _, ok := intake.ReadCommand(a.Text); ok && name == "pair" {
			text = "" // a hash of a code would give it away
		}
	case intake.Edited:
		text, e.Kind = a.Text, "edit"
	case intake.Pressed:
		e.Kind = "button"
	}
	e.Bytes = len(text)
	if text != "" {
		e.Hash = cards.DigestOf(text)
	}
	return e
}

// recordWhole writes a whole entry of what has happened, with what answers it. An error says that the event
// is to come again.
func (in *Inbound) recordWhole(ctx context.Context, ev intake.Event, as Entry, answer func()) error {
	e := entryOf(ev)
	e.Kind, e.What = as.Kind, as.What
	before, err := in.opt.Store.BeginEntry(ctx, e)
	if err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	defer in.BeginHandling(ev.Key, before != nil)()
	answer()
	e.Outcome = as.Outcome
	return in.endEntry(ctx, e)
}

// endEntry writes what became of an event, with what answers it.
func (in *Inbound) endEntry(ctx context.Context, e Entry) error {
	replies, wrote := in.Unseen(e.Key)
	if err := in.opt.Store.EndEntry(ctx, e, replies); err != nil {
		return fmt.Errorf("write the audit log: %w", err)
	}
	wrote()
	return nil
}
