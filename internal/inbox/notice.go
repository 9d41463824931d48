package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/panebridge/panebridge/sessions"
)

// NoticeType says what a notice is about.
type NoticeType string

// The types.
const (
	Complete NoticeType = "complete" // a piece of work is done; by itself: a turn has ended
	Waiting  NoticeType = "waiting"  // who sent it can't go on without somebody; by itself: what it asks can't be read
	Question NoticeType = "question" // somebody is asked that
	Info     NoticeType = "info"     // by itself: it has ended
)

// NoticeTypes are all there are.
func NoticeTypes() []NoticeType { return []NoticeType{Complete, Waiting, Question, Info} }

// ParseNoticeType reads a type.
func ParseNoticeType(word string) (NoticeType, error) {
	if t := NoticeType(word); slices.Contains(NoticeTypes(), t) {
		return t, nil
	}
	return "", fmt.Errorf("%w type %q: it's one of complete, waiting, question, info", sessions.ErrInvalid, word)
}

// Notice is told once to who listens. The JSON form is what `panebridge listen` prints.
type Notice struct {
	Seq int64   `json:"-"` // grows in the order in which notices were committed
	To  Address `json:"-"` // "": whoever is in no fleet
	// Session is where it came from; "": from outside of any. It's not told of notices that
	// are taken.
	Session Address    `json:"-"`
	At      time.Time  `json:"ts"`
	From    string     `json:"from"`
	Type    NoticeType `json:"type"`
	Msg     string     `json:"msg"`
	// Redelivered says that a listener took it before and ended before it could say that
	// it was printed: it may have been.
	Redelivered bool `json:"redelivered,omitempty"`
}

// System is the name of who leaves a notice outside of any session: cron, CI.
const System = "system"

// Listener is a process that waits for notices.
type Listener struct {
	ID      int64
	Session Address // whose notices
	// Common says that it also takes those that are for nobody in particular.
	Common  bool
	Process ProcessID
	Bell    string // name of its bell, see Bells
}

// ProcessID tells one process of this host from any other: the kernel uses ids again.
type ProcessID struct {
	PID     int
	Started int64 // when, in the kernel's own count; 0: it can't be told
}

// RemindEvery is how often a director's agent is told at most that nobody listens.
const RemindEvery = 30 * time.Second

// ReminderStore keeps what directors' agents were told, over restarts. Methods are as those
// of Store.
type ReminderStore interface {
	NoticeStore
	Reminders(ctx context.Context) (map[sessions.ID]Reminded, error)
	PutReminder(ctx context.Context, id sessions.ID, r Reminded) error
}

// Reminded is what a director's agent was told last.
type Reminded struct {
	Conversation string    // that was told how to listen; "": none
	At           time.Time // when it was told that nobody listens; zero: never
}

// Reminders are what directors' agents are told in answer to their hooks: how to listen when
// a conversation begins, and, while members are at work and nobody listens, to do so.
type Reminders struct {
	store ReminderStore

	mu   sync.Mutex
	last map[sessions.ID]Reminded
}

// LoadReminders goes on with what was told before.
func LoadReminders(ctx context.Context, store ReminderStore) (*Reminders, error) {
	last, err := store.Reminders(ctx)
	return &Reminders{store: store, last: last}, err
}

// AtStart is what an agent is told whose conversation begins; "": it was told. members are
// those of the fleets that it directs.
func (r *Reminders) AtStart(ctx context.Context, id sessions.ID, conversation string, fleets []string, members []Party) (string, error) {
	r.mu.Lock()
	now, known := r.last[id]
	if known && now.Conversation == conversation {
		r.mu.Unlock()
		return "", nil
	}
	now.Conversation = conversation
	r.last[id] = now
	r.mu.Unlock()
	names := make([]string, len(members))
	for i, p := range members {
		names[i] = p.Name
	}
	return fmt.Sprintf("You direct the panebridge fleet %s (members: %s). Send work with `panebridge send --to NAME --text …`. "+
		"Run `panebridge listen` in the background to hear of ends of turns, questions and notices of the members: it prints them as JSON lines and ends; start it again after each. "+
		"`panebridge skill` tells the rest.", strings.Join(fleets, " and "), strings.Join(names, ", ")), r.store.PutReminder(ctx, id, now)
}

// AfterTool is what an agent is told that has used a tool, at most once in RemindEvery: that
// members are at work, which busy names, and nobody listens for their notices. "": nothing.
func (r *Reminders) AfterTool(ctx context.Context, id sessions.ID, busy func() []string) (string, error) {
	if r.reminded(id) {
		return "", nil
	}
	at := busy()
	if len(at) == 0 {
		return "", nil
	}
	if heard, err := Listens(ctx, r.store, Address(id)); err != nil || heard {
		return "", err
	}
	r.mu.Lock()
	if r.early(id) { // another tool ended at the same time
		r.mu.Unlock()
		return "", nil
	}
	now := r.last[id]
	now.At = time.Now()
	r.last[id] = now
	r.mu.Unlock()
	return "Members of your panebridge fleet are at work: " + strings.Join(at, ", ") +
		". Nobody listens for their notices: run `panebridge listen` in the background.", r.store.PutReminder(ctx, id, now)
}

func (r *Reminders) reminded(id sessions.ID) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.early(id)
}

// early says whether a session was reminded just now; r.mu is held. The clock may have been
// set back since.
func (r *Reminders) early(id sessions.ID) bool {
	since := time.Since(r.last[id].At)
	return since >= 0 && since < RemindEvery
}
