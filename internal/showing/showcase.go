package showing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/panebridge/panebridge/sessions"
)

const (
	// maxWaiting and maxWaitingBytes bound a session's exhibits that aren't in its chats yet.
	maxWaiting      = 20
	maxWaitingBytes = 40 << 20
	// maxKept and maxKeptBytes bound what's kept of a session's exhibits: those before are forgotten.
	maxKept      = 200
	maxKeptBytes = 64 << 20
	// exhibitPrefix begins the ids of exhibits.
	exhibitPrefix = "ex_"
)

// ExhibitStore keeps exhibits. Methods do disk I/O; after an error nothing was written.
type ExhibitStore interface {
	// Exhibit returns one by its id; sessions.ErrUnknown: there's none (any more).
	Exhibit(ctx context.Context, id string) (sessions.Exhibit, error)
	// Exhibits returns those of a session, the newest first.
	Exhibits(ctx context.Context, id sessions.ID) ([]sessions.Exhibit, error)
	// WaitingExhibits returns those that aren't done, the oldest first.
	WaitingExhibits(ctx context.Context) ([]sessions.Exhibit, error)
	// ExhibitData returns what's in one; sessions.ErrUnknown as Exhibit.
	ExhibitData(ctx context.Context, id string) ([]byte, error)
	// AddExhibit inserts one with its content, and deletes those with the ids forget.
	AddExhibit(ctx context.Context, e sessions.Exhibit, data []byte, forget []string) error
	// PutExhibit replaces all of one but its content. One that isn't there stays away.
	PutExhibit(ctx context.Context, e sessions.Exhibit) error
}

// ShowcaseOptions are a Showcase's parts. All but Logger are needed.
type ShowcaseOptions struct {
	Store ExhibitStore
	// Get finds a session by id. It does no I/O.
	Get func(id string) (sessions.Session, error)
	// Changed is told when there's something new to be shown, or it's wherever it's to be. It must not block.
	Changed func(id sessions.ID)
	Logger  *slog.Logger
}

// Showcase keeps what programs show until it's in all chats of their sessions, and after that for the page.
// Its methods may be called by any goroutine; call Load first.
type Showcase struct {
	opt ShowcaseOptions

	changing sync.Mutex // held by what changes an exhibit, also during I/O

	mu      sync.Mutex // guards what's below; never held during I/O
	waiting map[string]*waitingExhibit
	newest  map[sessions.ID]string // ids
	pace    pace
}

// waitingExhibit is one that isn't done.
type waitingExhibit struct {
	sessions.Exhibit

	done chan struct{} // closed when it is
}

// NewShowcase makes one.
func NewShowcase(opt ShowcaseOptions) *Showcase {
	if opt.Logger == nil {
		opt.Logger = slog.New(slog.DiscardHandler)
	}
	return &Showcase{opt: opt, waiting: map[string]*waitingExhibit{}, newest: map[sessions.ID]string{}, pace: pace{}}
}

// Load reads what waits for chats.
func (c *Showcase) Load(ctx context.Context) error {
	all, err := c.opt.Store.WaitingExhibits(ctx)
	if err != nil {
		return fmt.Errorf("load what programs show: %w", err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range all {
		c.waiting[e.ID] = &waitingExhibit{e, make(chan struct{})}
	}
	return nil
}

// Known returns what was shown by a request; sessions.ErrUnknown: nothing, sessions.ErrConflict: something else with
// its key, sessions.ErrInvalid: it can't be shown so. It may do disk I/O.
func (c *Showcase) Known(ctx context.Context, id sessions.ID, r sessions.ExhibitRequest) (sessions.Exhibit, error) {
	if err := errors.Join(checkKey(r.Key), checkCaption(r.Caption)); err != nil {
		return sessions.Exhibit{}, err
	}
	e, err := c.Exhibit(ctx, exhibitID(id, r))
	if err == nil && e.Digest != digestOf(r.Path, r.Caption) {
		err = fmt.Errorf("%w: something else was shown with this key", sessions.ErrConflict)
	}
	return e, err
}

func exhibitID(id sessions.ID, r sessions.ExhibitRequest) string {
	return exhibitPrefix + digestOf(string(id), r.Key)
}

// Show shows a file. The same key of a session shows once: the answer is the exhibit as it stands. It's stored
// when Show returns. Errors are as those of Inquirer.Ask.
func (c *Showcase) Show(ctx context.Context, s sessions.Session, r sessions.ExhibitRequest, f sessions.ExhibitFile) (sessions.Exhibit, error) {
	now := time.Now()
	e := sessions.Exhibit{
		ID: exhibitID(s.ID, r), Session: s.ID, Name: filepath.Base(f.Path), Path: f.Path, Caption: strings.TrimSpace(r.Caption), Size: int64(len(f.Data)),
		Type: http.DetectContentType(f.Data), Outside: f.Outside, Digest: digestOf(r.Path, r.Caption), At: now,
	}
	c.changing.Lock()
	defer c.changing.Unlock()
	if was, err := c.Known(ctx, s.ID, r); !errors.Is(err, sessions.ErrUnknown) {
		return was, err
	}
	if now, err := c.opt.Get(string(s.ID)); err != nil || now.State == sessions.StateEnded {
		return e, cmp.Or(err, fmt.Errorf("show something in %s: %w", s.Name, sessions.ErrEnded))
	}
	if err := c.checkPace(s, e); err != nil {
		return e, err
	}
	kept, err := c.opt.Store.Exhibits(ctx, s.ID)
	if err != nil {
		return e, err
	}
	if err := c.opt.Store.AddExhibit(ctx, e, f.Data, forgotten(kept, e.Size)); err != nil {
		return e, err
	}
	c.mu.Lock()
	c.waiting[e.ID] = &waitingExhibit{e, make(chan struct{})}
	c.newest[s.ID] = e.ID
	c.pace.note(s.ID, now)
	c.mu.Unlock()
	c.opt.Changed(s.ID)
	return e, nil
}

// checkCaption says what's no caption of an exhibit.
func checkCaption(caption string) error {
	if n := utf8.RuneCountInString(caption); n > sessions.MaxExhibitCaption {
		return fmt.Errorf("%w caption: it has %d characters, and at most %d stand beside a file", sessions.ErrInvalid, n, sessions.MaxExhibitCaption)
	}
	if strings.ContainsFunc(caption, func(r rune) bool { return unicode.IsControl(r) && !unicode.IsSpace(r) }) {
		return fmt.Errorf("%w caption: it has control characters", sessions.ErrInvalid)
	}
	return nil
}

// checkPace refuses what's shown too often.
func (c *Showcase) checkPace(s sessions.Session, e sessions.Exhibit) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	n, bytes := 0, e.Size
	for _, w := range c.waiting {
		if w.Session == s.ID {
			n++
			bytes += w.Size
		}
	}
	if n >= maxWaiting || n > 0 && bytes > maxWaitingBytes {
		return fmt.Errorf("%w: %d files of %s aren't in its chats yet; wait until one of them is", sessions.ErrTooMany, n, s.Name)
	}
	if !c.pace.allows(s.ID, e.At) {
		return fmt.Errorf("%w: %s has shown %d files in a minute; wait a minute", sessions.ErrTooMany, s.Name, maxPerMinute)
	}
	return nil
}

// forgotten are the ids of those of a session's exhibits, the newest first, that go for a new one.
func forgotten(kept []sessions.Exhibit, size int64) (out []string) {
	n, bytes := 1, size
	for _, e := range kept {
		n++
		if bytes += e.Size; e.Done && (n > maxKept || bytes > maxKeptBytes) {
			out = append(out, e.ID)
		}
	}
	return out
}

// Exhibit returns one by its id; sessions.ErrUnknown: there's none (any more). It may do disk I/O.
func (c *Showcase) Exhibit(ctx context.Context, id string) (sessions.Exhibit, error) {
	c.mu.Lock()
	w := c.waiting[id]
	if w != nil {
		defer c.mu.Unlock()
		return w.Exhibit, nil
	}
	c.mu.Unlock()
	return c.opt.Store.Exhibit(ctx, id)
}

// Await returns an exhibit when it's in all of its chats, or as it stands after that time.
func (c *Showcase) Await(ctx context.Context, id string, within time.Duration) (sessions.Exhibit, error) {
	c.mu.Lock()
	w := c.waiting[id]
	c.mu.Unlock()
	if w != nil {
		timer := time.NewTimer(within)
		defer timer.Stop()
		select {
		case <-w.done:
		case <-timer.C:
		case <-ctx.Done():
			return sessions.Exhibit{}, ctx.Err()
		}
	}
	return c.Exhibit(ctx, id)
}

// Exhibits returns those of a session, the newest first. It does disk I/O.
func (c *Showcase) Exhibits(ctx context.Context, id sessions.ID) ([]sessions.Exhibit, error) {
	return c.opt.Store.Exhibits(ctx, id)
}

// ExhibitData returns what's in one. It does disk I/O.
func (c *Showcase) ExhibitData(ctx context.Context, id string) ([]byte, error) {
	return c.opt.Store.ExhibitData(ctx, id)
}

// Newest returns the id of what a session has shown last in this run of the daemon; "": nothing.
func (c *Showcase) Newest(id sessions.ID) string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.newest[id]
}

// WaitingExhibits returns those that aren't in all of their chats yet, the oldest first. It does no I/O.
func (c *Showcase) WaitingExhibits() []sessions.Exhibit {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []sessions.Exhibit
	for _, w := range c.waiting {
		e := w.Exhibit
		e.Places = slices.Clone(e.Places)
		out = append(out, e)
	}
	slices.SortFunc(out, func(a, b sessions.Exhibit) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return out
}

// SettleExhibit keeps what became of an exhibit in a chat. It does disk I/O.
func (c *Showcase) SettleExhibit(ctx context.Context, id string, p sessions.ExhibitPlace) error {
	return c.change(ctx, id, func(e *sessions.Exhibit) {
		if _, ok := e.PlaceOf(p.Binding); !ok {
			e.Places = append(slices.Clone(e.Places), p)
		}
	})
}

// FinishExhibit keeps that an exhibit is in all of its chats. It does disk I/O.
func (c *Showcase) FinishExhibit(ctx context.Context, id string) error {
	return c.change(ctx, id, func(e *sessions.Exhibit) { e.Done = true })
}

// change changes one that waits, and stores it.
func (c *Showcase) change(ctx context.Context, id string, change func(e *sessions.Exhibit)) error {
	c.changing.Lock()
	defer c.changing.Unlock()
	c.mu.Lock()
	w := c.waiting[id]
	c.mu.Unlock()
	if w == nil {
		return nil
	}
	e := w.Exhibit
	change(&e)
	if err := c.opt.Store.PutExhibit(context.WithoutCancel(ctx), e); err != nil {
		return err
	}
	c.mu.Lock()
	if w.Exhibit = e; e.Done {
		delete(c.waiting, id)
	}
	c.mu.Unlock()
	if e.Done {
		close(w.done)
		c.opt.Changed(e.Session)
	}
	return nil
}
