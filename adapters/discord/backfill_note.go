package discord

import (
	"cmp"
	"context"
	"fmt"
)

// noteSeen is the newest message that was taken care of: overall, or with an id behind it
// in one channel or thread.
const noteSeen = "seen"

// advance takes in how far a place has been read. mu is held.
func (b *backfill) advance(channel, id string) {
	if id == "" {
		return
	}
	b.most = later(b.most, id)
	if was := b.seen[channel]; was == "" || later(was, id) != was {
		b.seen[channel] = id
		b.newer[channel] = true
	}
}

// later returns the greater one of two ids; "" is less than all.
func later(a, b string) string {
	if c := cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b)); c < 0 {
		return b
	}
	return a
}

// from returns the message after which a place is read; "": nothing there is old.
func (b *backfill) from(ctx context.Context, id string) (string, error) {
	b.mu.Lock()
	seen, base, noted := b.seen[id], b.base, b.noted
	b.mu.Unlock()
	if seen != "" {
		return seen, nil
	}
	var err error
	if !noted {
		if base, err = b.g.opt.Notes.Note(ctx, noteSeen); err != nil {
			return "", fmt.Errorf("read how far Discord was read: %w", err)
		}
	}
	seen, err = b.g.opt.Notes.Note(ctx, noteSeen+" "+id)
	if err != nil {
		return "", fmt.Errorf("read how far Discord was read: %w", err)
	}
	if !isID(base) {
		base = ""
	}
	if !isID(seen) {
		seen = base
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.base, b.noted = base, true
	b.most = later(b.most, base)
	return seen, nil
}

// note writes down how far places have been read. Where places begin that have no note
// is only moved on when nothing is missing anywhere.
func (b *backfill) note(ctx context.Context) {
	b.mu.Lock()
	todo := map[string]string{}
	for id := range b.newer {
		todo[noteSeen+" "+id] = b.seen[id]
	}
	base := ""
	if len(b.order) == 0 && b.noted && b.most != b.base {
		base = b.most
		todo[noteSeen] = base
	}
	b.newer = map[string]bool{}
	b.mu.Unlock()
	for key, value := range todo {
		if err := b.g.opt.Notes.PutNote(ctx, key, value); err != nil {
			if ctx.Err() == nil {
				b.g.log.WarnContext(ctx, "noting how far Discord was read failed", "err", err)
			}
			return // it's read from the older note on
		}
	}
	if base != "" {
		b.mu.Lock()
		b.base = base
		b.mu.Unlock()
	}
}
