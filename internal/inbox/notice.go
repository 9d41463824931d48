package inbox

import (
	"fmt"
	"slices"
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
