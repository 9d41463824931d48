package api

import (
	"context"
	"errors"
	"net/http"

	"github.com/panebridge/panebridge/sessions"
)

// Error is what the API answers when a call fails: {"error":{code,message}}.
type Error struct {
	Status  int    `json:"-"`       // HTTP status
	Code    string `json:"code"`    // a word that doesn't change between versions
	Message string `json:"message"` // a sentence for people
	// Prompt is the one that couldn't be answered, as it is now.
	Prompt *Prompt `json:"prompt,omitempty"`
	// SigningStart is what to sign for, if it was signed for something else.
	*SigningStart
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Inside says that the call wasn't made since it came from a session's pane.
func (e *Error) Inside() bool { return e.Code == codeInside }

// The codes that don't stem from an error of package sessions alone.
const (
	codeBadRequest   = "bad_request"
	codeForbidden    = "forbidden"
	codeInternal     = "internal"
	codeMethod       = "method_not_allowed"
	codeMediaType    = "unsupported_media_type"
	codeNotFound     = "not_found"
	codeReplayed     = "replayed"
	codeStale        = "stale"
	codeTooLarge     = "too_large"
	codeTooMany      = "too_many"
	codeUnauthorized = "unauthorized"
	codeUnavailable  = "unavailable"
)

func badRequest(message string) *Error {
	return &Error{Status: http.StatusBadRequest, Code: codeBadRequest, Message: message}
}

// toError finds status and code of an error.
func toError(err error) *Error {
	if e, ok := errors.AsType[*Error](err); ok {
		return e
	}
	status, code := statusOf(err)
	return &Error{Status: status, Code: code, Message: err.Error()}
}

func statusOf(err error) (int, string) {
	switch {
	case errors.Is(err, sessions.ErrUnknown):
		return http.StatusNotFound, "unknown"
	case errors.Is(err, sessions.ErrEnded):
		return http.StatusGone, "ended"
	case errors.Is(err, sessions.ErrConflict):
		return http.StatusConflict, "conflict"
	case errors.Is(err, sessions.ErrInvalid):
		return http.StatusUnprocessableEntity, "invalid"
	case errors.Is(err, sessions.ErrUnavailable), errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return http.StatusServiceUnavailable, codeUnavailable
	default:
		return http.StatusInternalServerError, codeInternal
	}
}
