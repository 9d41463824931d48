package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"unicode/utf8"

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
	codeRole         = "role"
	codeStale        = "stale"
	codeTooLarge     = "too_large"
	codeTooMany      = "too_many"
	codeUnauthorized = "unauthorized"
	codeUnavailable  = "unavailable"
	codeWaiting      = "waiting"
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
	case errors.Is(err, sessions.ErrNobody):
		return http.StatusConflict, "nobody"
	case errors.Is(err, sessions.ErrTooMany):
		return http.StatusTooManyRequests, codeTooMany
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

const (
	// maxBodyBytes bounds every body but an input's.
	maxBodyBytes = 64 << 10
	// maxInputBodyBytes leaves room for a text of the greatest size in which
	// JSON writes every byte as \u00XX, and for what's around it.
	maxInputBodyBytes = 6*sessions.MaxInputBytes + 4<<10
)

// readJSON reads a body of at most limit bytes into v. It insists on the JSON
// content type, which a foreign page can't send without asking first, and on
// known fields, so that a misspelt one is an error and not a surprise.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64, v any) error {
	if ct, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || ct != "application/json" {
		return &Error{
			Status: http.StatusUnsupportedMediaType, Code: codeMediaType,
			Message: "the Content-Type must be application/json",
		}
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err != nil {
		return bodyError(err)
	}
	if !utf8.Valid(body) { // the decoder would put U+FFFD in place of what was written
		return bodyError(errors.New("it isn't valid UTF-8"))
	}
	if hasLoneSurrogate(body) { // it would do so here, too
		return bodyError(errors.New(`it has half of a character: an escape from \ud800 to \udfff without its other half`))
	}
	if bytes.Equal(bytes.TrimSpace(body), []byte("null")) { // the decoder would leave v as it is
		return bodyError(errors.New("it's null"))
	}
	dec := json.NewDecoder(bytes.NewReader(body))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return bodyError(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return bodyError(errors.New("there is more than one JSON value"))
	}
	return nil
}

// hasLoneSurrogate reports whether a text of JSON has an escape that's half of a UTF-16 pair,
// without its other half.
func hasLoneSurrogate(text []byte) bool {
	high := false // the escape right before is the first half
	for i := 0; i < len(text); i++ {
		unit, escaped := uint64(0), text[i] == '\\'
		if escaped && i+6 <= len(text) && text[i+1] == 'u' {
			unit, _ = strconv.ParseUint(string(text[i+2:i+6]), 16, 32) // what's no number is the decoder's to refuse
		}
		low := unit >= 0xdc00 && unit <= 0xdfff
		if low != high {
			return true
		}
		high = unit >= 0xd800 && unit <= 0xdbff
		switch {
		case unit > 0:
			i += 5
		case escaped:
			i++
		}
	}
	return high
}

func bodyError(err error) *Error {
	if tooLarge, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return &Error{
			Status: http.StatusRequestEntityTooLarge, Code: codeTooLarge,
			Message: fmt.Sprintf("the body is larger than %d bytes", tooLarge.Limit),
		}
	}
	return badRequest("reading the JSON body: " + err.Error())
}

func writeJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false) // the content type and nosniff keep it from being taken for HTML
	_ = enc.Encode(v)        // a client that has gone is no error
}

func writeError(w http.ResponseWriter, e *Error) {
	writeJSON(w, e.Status, struct {
		Error *Error `json:"error"`
	}{e})
}
