package cards

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"image/png"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// Exhibits keeps what sessions show.
type Exhibits interface {
	// WaitingExhibits returns those that aren't in all of their chats yet, the oldest first. It does no I/O.
	WaitingExhibits() []sessions.Exhibit
	// ExhibitData returns what's in one. It does disk I/O.
	ExhibitData(ctx context.Context, id string) ([]byte, error)
	// SettleExhibit keeps what became of one in a chat, and FinishExhibit that it's in all of them. They do
	// disk I/O.
	SettleExhibit(ctx context.Context, id string, p sessions.ExhibitPlace) error
	FinishExhibit(ctx context.Context, id string) error
}

const (
	// exhibitsAtOnce is how many exhibits a place is sent at a time: they're in memory, and stand in their order.
	exhibitsAtOnce = 2
	// bindWithin is how long after an exhibit a binding may be made that has it, too: a rule's is made a moment
	// after its session.
	bindWithin = 5 * time.Second
	// exhibitFor is how long an exhibit waits for a chat that doesn't show its session at the moment.
	exhibitFor = 24 * time.Hour
)

// HandleExhibit takes in that a session shows something. It returns at once.
func (k *Clerk) HandleExhibit(sessions.ID) { k.reconciler.lookSoon() }

// exhibitCards want each exhibit once wherever its session is mirrored.
type exhibitCards struct{ clerk *Clerk }

// wantedCards implements cardSource.
func (ec exhibitCards) wantedCards(ctx context.Context, now time.Time) (out []Wanted, next time.Time, err error) {
	if ec.clerk.Exhibits == nil {
		return nil, time.Time{}, nil
	}
	begun := ec.begunPlaces()
	busy := map[adapters.Target]int{}
	for _, e := range ec.clerk.Exhibits.WaitingExhibits() {
		wants, at, err := ec.wantedOf(ctx, e, begun, now)
		if err != nil {
			return out, now.Add(retrySoon), err
		}
		if !at.IsZero() && (next.IsZero() || at.Before(next)) {
			next = at
		}
		for _, w := range wants {
			if busy[w.Place]++; busy[w.Place] <= exhibitsAtOnce {
				out = append(out, w)
			}
		}
	}
	return out, next, nil
}

// begunPlaces are where exhibits may stand already, by their cards' subjects: there they're posted again, wherever
// the session is mirrored by now.
func (ec exhibitCards) begunPlaces() map[string]adapters.Target {
	out := map[string]adapters.Target{}
	for at, c := range ec.clerk.reconciler.cards {
		if at.Kind == KindExhibit && (c.Begun || c.waits) {
			out[at.Subject] = at.Place
		}
	}
	return out
}

// wantedOf are the cards of an exhibit, and when to look again; zero: when something changes. Where it isn't to be
// any more is settled, and so is the exhibit when all places are.
func (ec exhibitCards) wantedOf(ctx context.Context, e sessions.Exhibit, begun map[string]adapters.Target, now time.Time) (out []Wanted, next time.Time, err error) {
	s, err := ec.clerk.Sessions.Get(string(e.Session))
	over := err != nil || now.Sub(e.At) >= exhibitFor
	waits := false
	for _, st := range ec.clerk.Hub.Status(e.Session) {
		b := string(st.Binding.ID)
		if _, settled := e.PlaceOf(b); settled || st.Binding.CreatedAt.After(e.At.Add(bindWithin)) {
			continue
		}
		subject := e.ID + " " + b
		place, again := begun[subject]
		switch {
		case over, !st.Binding.Active() && !again, !st.Open && !again && s.State == sessions.StateEnded:
			err := ec.clerk.Exhibits.SettleExhibit(ctx, e.ID, sessions.ExhibitPlace{Binding: b, Place: st.Target.String(), State: sessions.ExhibitGone, At: now})
			if err != nil {
				return out, next, err
			}
			continue
		case again:
		case !st.Open:
			waits = true
			continue
		default:
			place = st.Target
		}
		if waits = true; !again && place.Thread == "" && ec.clerk.Hub.Shape(place).OwnThread && now.Before(e.At.Add(threadWithin)) {
			next = earlier(next, now, e.At.Add(threadWithin))
			continue
		}
		out = append(out, ec.wanted(e, s.Name, subject, b, place))
	}
	// A session that has just begun may have no binding yet.
	if until := s.CreatedAt.Add(bindWithin); !waits && !over && now.Before(until) {
		return out, earlier(next, now, until), nil
	}
	if waits {
		return out, next, nil
	}
	return out, next, ec.clerk.Exhibits.FinishExhibit(ctx, e.ID)
}

// wanted is the card of an exhibit at a place.
func (ec exhibitCards) wanted(e sessions.Exhibit, name, subject, binding string, place adapters.Target) Wanted {
	settled := sessions.ExhibitPlace{Binding: binding, Place: place.String(), State: sessions.ExhibitShown}
	if largest := ec.clerk.Hub.Shape(place).MaxFile; e.Size > int64(largest) {
		settled.State, settled.Limit = sessions.ExhibitTooLarge, int64(largest)
	}
	settle := func(ctx context.Context, p sessions.ExhibitPlace) error {
		p.At = time.Now()
		err := ec.clerk.Exhibits.SettleExhibit(ctx, e.ID, p)
		ec.clerk.reconciler.lookSoon()
		return err
	}
	return Wanted{
		Spot: Spot{KindExhibit, subject, place}, Session: e.Session, Class: qos.Final, Shows: e.ID, Once: true,
		Post:  func(ctx context.Context) (adapters.Post, error) { return ec.post(ctx, e, name, place, settled.Limit) },
		Stood: func(ctx context.Context) error { return settle(ctx, settled) },
		GivenUp: func(ctx context.Context) error {
			return settle(ctx, sessions.ExhibitPlace{Binding: binding, Place: settled.Place, State: sessions.ExhibitGone})
		},
	}
}

// post is the message that has an exhibit. limit is what the place takes, where that's less; 0: it takes it.
func (ec exhibitCards) post(ctx context.Context, e sessions.Exhibit, name string, place adapters.Target, limit int64) (adapters.Post, error) {
	file := sessions.Legible(ec.clerk.Masked(e.Name))
	p := adapters.Post{Text: wording.Bold(cmp.Or(name, "The session")) + " shows " + wording.Plain(file), Behind: true, Elsewhere: ec.clerk.ChatBeside(place)}
	if e.Outside {
		p.Text += ", from " + wording.Plain(sessions.Legible(ec.clerk.ShownPath(e.Path)))
	}
	if limit > 0 {
		p.Text += fmt.Sprintf(". It has %s, and at most %s can be sent here; it’s on the page.", kilobytes(e.Size), kilobytes(limit))
	}
	if e.Caption != "" {
		p.Text += "\n\n" + wording.Code(sessions.Legible(ec.clerk.Masked(e.Caption)))
	}
	if limit > 0 {
		return p, nil
	}
	data, err := ec.clerk.Exhibits.ExhibitData(ctx, e.ID)
	if err != nil {
		return p, err
	}
	if isPhoto(data) {
		p.Picture, p.PictureName = data, file
	} else {
		p.File = &adapters.File{Name: file, Data: data}
	}
	return p, nil
}

// kilobytes is a size as people read it.
func kilobytes(n int64) string { return fmt.Sprintf("%d kB", (n+999)/1000) }

// What all platforms take as a picture: Telegram's photos have at most 10,000 pixels in width and height together,
// and 20 times as many one way as the other
// (core.telegram.org/bots/api#sendphoto).
const (
	maxPhotoSides = 10_000
	maxPhotoRatio = 20
)

// isPhoto reports whether a file is a PNG that platforms take as a picture.
func isPhoto(data []byte) bool {
	c, err := png.DecodeConfig(bytes.NewReader(data))
	return err == nil && c.Width > 0 && c.Height > 0 && c.Width+c.Height <= maxPhotoSides && c.Width <= maxPhotoRatio*c.Height && c.Height <= maxPhotoRatio*c.Width
}
