package intake

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// Telegram sends each file of an album as an update of its own. All of them name the
// album, and one has the caption. How many there are isn't told
// (core.telegram.org/bots/api#message, media_group_id).
//
// The first part waits for the others, and its place with it. What has come when the
// time is over is one event, under the first part's key; what comes later is another.
// So that a crash doesn't change what was begun, the parts are marked as tried before
// it's handled, and settled after it, the first part last each time: while it waits
// untried, nothing was begun; once it's tried, the parts that were tried are its.
const (
	// albumWithin is how long after the newest part another is waited for. They come
	// within a second as a rule, in one answer of the platform's or two.
	albumWithin = 1500 * time.Millisecond
	// albumAfterStart is the same for what was left over from before a start: the
	// platform has to be reached first.
	albumAfterStart = 10 * time.Second
)

// albumOf is the album that an event is a part of; "": none. Nobody can add to
// somebody else's.
func albumOf(e Event) string {
	said, ok := e.Action.(Said)
	if !ok || said.Album == "" {
		return ""
	}
	return e.Person.ID + " " + said.Album
}

// joinParts makes one event of an album's parts, in their order. It has the first one's
// key and message.
func joinParts(parts []Event) Event {
	e := parts[0]
	if albumOf(e) == "" {
		return e
	}
	var whole Said
	for _, p := range parts {
		said := p.Action.(Said) //nolint:forcetypeassert // parts of an album are such
		if whole.Text != "" && said.Text != "" {
			whole.Text += "\n"
		}
		whole.Text += said.Text
		if whole.ReplyTo == "" {
			whole.ReplyTo, whole.Quoted = said.ReplyTo, said.Quoted
		}
		whole.Files = append(whole.Files, said.Files...)
	}
	e.Action = whole
	return e
}

// firstUpdates returns the updates that are a place's next event, and until when more of them
// are waited for.
func (l *placeLane) firstUpdates() (of []int64, until time.Time) {
	front := l.waiting[0]
	of, until = []int64{front.seq}, front.until
	if front.album == "" {
		return of, time.Time{}
	}
	for _, t := range l.waiting[1:] {
		if t.album == front.album {
			of, until = append(of, t.seq), t.until
		}
		if len(of) == MaxFiles {
			return of, time.Time{}
		}
	}
	return of, until
}

// dropUpdates takes out what was settled, the first among it.
func (l *placeLane) dropUpdates(settled []int64) {
	l.waiting = l.waiting[1:]
	if len(settled) > 1 {
		l.waiting = slices.DeleteFunc(l.waiting, func(t ticket) bool { return slices.Contains(settled, t.seq) })
	}
}

// loadAlbum loads the other parts of an album. If it was begun before, those that weren't
// there then aren't among them.
func (q *Queue) loadAlbum(ctx context.Context, first Update, others []int64) (parts []Update, events []Event, err error) {
	for _, seq := range others {
		u, there, err := q.loadUpdate(ctx, seq)
		if err != nil {
			return nil, nil, err
		}
		if !there || first.Tries > 0 && u.Tries == 0 {
			continue
		}
		if e, ok, err := q.decodeUpdate(u); ok && err == nil {
			parts, events = append(parts, u), append(events, e)
		}
	}
	return parts, events, nil
}

// countTry counts a try of an update and marks the other parts of its album.
func (q *Queue) countTry(ctx context.Context, first Update, parts []Update) error {
	for _, u := range parts {
		if u.Tries > 0 {
			continue
		}
		if err := q.opts.Journal.Try(ctx, u.Seq, 1); err != nil {
			return fmt.Errorf("mark update %d as a part of update %d: %w", u.Seq, first.Seq, err)
		}
	}
	if err := q.opts.Journal.Try(ctx, first.Seq, first.Tries+1); err != nil {
		return fmt.Errorf("count the tries of update %d: %w", first.Seq, err)
	}
	return nil
}
