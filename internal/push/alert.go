package push

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters/wording"
	"github.com/panebridge/panebridge/sessions"
)

// Kind is what an alert is about.
type Kind string

// The kinds of alert.
const (
	Question Kind = "question"
	End      Kind = "end"
	Failure  Kind = "error"
)

// Lengths of what's shown, in runes: phones cut what's longer. With their names both and their JSON
// they're within recordBytes, whatever the characters are.
const (
	maxTitle = 80
	maxText  = 240
)

// Alert is what devices show of a session. Its texts are masked.
type Alert struct {
	Session sessions.ID `json:"session"`
	Key     string      `json:"key"` // its kind and what it's about: another one has another
	Kind    Kind        `json:"kind"`
	Text    string      `json:"text"`
	At      time.Time   `json:"at"`

	// turn is the one of which Text is to say more, before it's kept.
	turn sessions.Turn
}

// saying is the alert of a turn's end with what the turn said.
func (a Alert) saying(words string) Alert {
	if words = wording.OneLine(words); words != "" {
		a.Text = wording.CutEnd(a.Text+": "+words, maxText)
	}
	a.turn = sessions.Turn{}
	return a
}

func keyOf(kind Kind, about string) string { return string(kind) + ":" + about }

// kindOf is the kind of an alert of which the key is known, in doubt or not.
func kindOf(key string) Kind {
	kind, _, _ := strings.Cut(sureOf(key), ":")
	return Kind(kind)
}

// inDoubt is the key of an alert that a device may show: a message about it was begun, and whether the
// push service took it isn't known. It's no other alert's, so something is sent once more.
func inDoubt(key string) string { return "?" + sureOf(key) }

// sureOf is such a key without its doubt.
func sureOf(key string) string { return strings.TrimPrefix(key, "?") }

// newQuestion is the alert of a question, which is masked.
func newQuestion(p sessions.Prompt) Alert {
	text := cmp.Or(wording.OneLine(p.Dialog.Title), wording.OneLine(p.Dialog.About()), "It asks something")
	if p.Dialog.Kind == sessions.PromptInquiry { // else it could pass for an alert of panebridge's own, as "Done" does
		const lead = "It asks, in its own words: “"
		text = lead + wording.CutEnd(text, maxText-len(lead)) + "”"
	}
	return Alert{Session: p.Session, Key: keyOf(Question, p.ID), Kind: Question, Text: wording.CutEnd(text, maxText), At: p.OpenedAt}
}

// newTurnEnd is the alert of a turn's end.
func newTurnEnd(id sessions.ID, t sessions.Turn, now time.Time) Alert {
	a := Alert{Session: id, Kind: End, Text: "Done", At: now, turn: t}
	if took := t.EndedAt.Sub(t.StartedAt); !t.StartedAt.IsZero() && took >= time.Second {
		a.Text = "Done in " + wording.Age(took)
	}
	if !t.Well() {
		a.Kind, a.turn = Failure, sessions.Turn{}
		a.Text = "Failed: " + cmp.Or(wording.OneLine(t.Failed), statusText(t.Status))
	}
	a.Key, a.Text = keyOf(a.Kind, "turn "+strconv.FormatInt(t.Number, 10)), wording.CutEnd(a.Text, maxText)
	return a
}

func statusText(status *int) string {
	if status == nil {
		return "it doesn't say why"
	}
	return "exit status " + strconv.Itoa(*status)
}

// newExit is the alert of a program's end.
func newExit(s sessions.Session) Alert {
	a := Alert{Session: s.ID, Key: exitPrefix + strconv.FormatInt(s.EndedAt.Unix(), 10), Kind: End, Text: "It has ended", At: s.EndedAt}
	if e := s.Exit; e != nil && e.Signal != "" {
		a.Text += " by " + e.Signal
	} else if e != nil && e.Status > 0 {
		a.Text += fmt.Sprintf(" with exit status %d", e.Status)
	}
	return a
}

// newUnreadable is the alert of a session that can't be read.
func newUnreadable(id sessions.ID, reason string, now time.Time) Alert {
	text := "It can't be read: " + cmp.Or(wording.OneLine(reason), "it isn't known why")
	return Alert{Session: id, Key: unreadablePrefix + strconv.FormatInt(now.Unix(), 10), Kind: Failure, Text: wording.CutEnd(text, maxText), At: now}
}

const (
	exitPrefix       = string(End) + ":session "
	unreadablePrefix = string(Failure) + ":unreadable "
)

func (a Alert) isExit() bool       { return strings.HasPrefix(a.Key, exitPrefix) }
func (a Alert) isUnreadable() bool { return strings.HasPrefix(a.Key, unreadablePrefix) }

// overTexts say of an alert that holds no longer why it doesn't.
var overTexts = map[Kind]string{ //nolint:gochecknoglobals // a constant table
	Question: "Answered", End: "It goes on", Failure: "It goes on",
}

// notification is what the service worker gets (static/worker.js): one alert, or that one holds no longer.
type notification struct {
	Tag     string      `json:"tag"` // of a notification: a session has one
	Session sessions.ID `json:"session"`
	Title   string      `json:"title"`
	Text    string      `json:"text"`
	Key     string      `json:"key"`            // of the alert
	Over    bool        `json:"over,omitempty"` // it holds no longer
	Sent    int64       `json:"sent"`           // one of sentNumbers: what has a lesser one doesn't take the place of this
}

// topicOf names a session's alerts to the push service, which replaces what waits there by what's newer.
// It doesn't say which session it is: 192 bits as base64url, the 32 characters that RFC 8030 allows.
func topicOf(auth string, id sessions.ID) string {
	sum := sha256.Sum256([]byte("panebridge alerts " + auth + " " + string(id)))
	return base64.RawURLEncoding.EncodeToString(sum[:24])
}
