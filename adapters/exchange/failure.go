package exchange

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/panebridge/panebridge/adapters"
	"github.com/panebridge/panebridge/qos"
	"github.com/panebridge/panebridge/sessions"
)

// CallFailure is a call that wasn't accepted, and what that means. It holds neither secrets nor texts of
// users.
type CallFailure struct {
	Platform   string // as people call it
	Call       string // the platform's name of it; "" if it's not known
	Deed       string // what it does that people see, in plain words; "": nobody sees it
	Status     int    // of HTTP, or what the platform says in its place; 0: no answer came
	Code       int    // the platform's own number of the refusal; 0: there's none
	Text       string // why, as a sentence, for people
	Outcome    qos.CallOutcome
	Over       bool          // of Uncertain: it can't arrive any more
	RetryAfter time.Duration // as ordered, never clamped
	Global     bool          // the order is for the whole bot
	Cause      error
}

// Reason is why, in words: "the bot may not manage topics".
func (f *CallFailure) Reason() string { return f.Text }

// Error says what wasn't done and why: "make the topic: the bot may not manage topics (400)". Calls
// that nobody sees have the platform's own name: "call getUpdates: 502: Bad Gateway".
func (f *CallFailure) Error() string {
	call, code := cmp.Or(f.Call, f.Platform), cmp.Or(f.Code, f.Status)
	switch {
	case f.Deed != "" && code == 0:
		return f.Deed + ": " + f.Text
	case f.Deed != "":
		return f.Deed + ": " + f.Text + " (" + strconv.Itoa(code) + ")"
	case code == 0:
		return "call " + call + ": " + f.Text
	}
	return "call " + call + ": " + strconv.Itoa(code) + ": " + f.Text
}

func (f *CallFailure) Unwrap() error { return f.Cause }

// Reply is the failure as package adapters reads it, but for what's missing there, and for Err: who
// embeds a CallFailure sets it.
func (f *CallFailure) Reply() adapters.Reply {
	return adapters.Reply{Outcome: f.Outcome, Over: f.Over, RetryAfter: f.RetryAfter, Global: f.Global, Err: f}
}

func (f *CallFailure) base() *CallFailure { return f }

// Of finds the Failure in an error, also one that another type embeds.
func Of(err error) (f *CallFailure, ok bool) {
	found, ok := errors.AsType[interface {
		error
		base() *CallFailure
	}](err)
	if !ok {
		return nil, false
	}
	return found.base(), true
}

// IsUnauthorized says whether the platform didn't take the token.
func IsUnauthorized(err error) bool {
	f, ok := Of(err)
	return ok && f.Status == http.StatusUnauthorized
}

// IsUnreachable says whether the platform gave no answer: none came, or somebody in between or a server in trouble gave one.
func IsUnreachable(err error) bool {
	f, ok := Of(err)
	return ok && (f.Status < http.StatusMultipleChoices || f.Status >= http.StatusInternalServerError)
}

// RetryAfter is for how long the platform has ordered to make no call; 0: the error has no such order.
func RetryAfter(err error) time.Duration {
	if f, ok := Of(err); ok {
		return f.RetryAfter
	}
	return 0
}

// Passing wraps a failure that may pass by itself into sessions.ErrUnavailable: the platform couldn't be reached,
// or not now.
func Passing(err error) error {
	f, ok := Of(err)
	if !ok || f.Status != 0 && f.Status != http.StatusTooManyRequests && f.Status < http.StatusInternalServerError {
		return err
	}
	return fmt.Errorf("%w: %w", sessions.ErrUnavailable, err)
}

// Refused is the failure of a call that was answered with an error; the adapter says what that means.
func (x *Exchange) Refused(call string, a Response) CallFailure {
	return CallFailure{Platform: x.Platform, Call: call, Deed: x.Deeds[call], Status: a.Status, Outcome: qos.Rejected}
}

// Foreign is the failure of an answer that isn't the platform's: somebody in between gave it. Only
// status and headers are of use; the page may quote what was asked. RetryAfter is the adapter's to
// read.
func (x *Exchange) Foreign(call string, a Response) CallFailure {
	f := x.Refused(call, a)
	f.Text = "no answer of " + x.Platform + "'s: check api_url, and the proxy if there's one"
	switch {
	case a.Status == http.StatusTooManyRequests:
		f.Outcome = qos.Throttled
	case a.Status >= http.StatusMultipleChoices && a.Status < http.StatusInternalServerError:
		f.Outcome = qos.Failed // it wasn't passed on
	default:
		f.Outcome, f.Over = qos.Uncertain, true
	}
	return f
}

// Failed is the failure of a call that has no answer.
func (x *Exchange) Failed(call string, outcome qos.CallOutcome, err error) CallFailure {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err // without the address, which may have the token
	}
	f := CallFailure{Platform: x.Platform, Call: call, Deed: x.Deeds[call], Outcome: outcome, Text: x.Clean(err.Error())}
	if f.Text == err.Error() {
		f.Cause = err
	}
	return f
}

// Unreadable is the failure of a call whose answer leaves open whether it was done.
func (x *Exchange) Unreadable(call string, err error) CallFailure {
	f := x.Failed(call, qos.Uncertain, fmt.Errorf("read the answer: %w", err))
	f.Over = true
	return f
}

// maxSaid is how much of what a platform says is kept, in bytes.
const maxSaid = 200

// Harmless is what a platform says, in one line of plain characters.
func Harmless(said string) string {
	said = strings.Map(func(r rune) rune {
		if r != '…' && (r < ' ' || r > '~') {
			return '?'
		}
		return r
	}, said)
	if len(said) > maxSaid {
		said = strings.ToValidUTF8(said[:maxSaid], "")
	}
	return said
}
