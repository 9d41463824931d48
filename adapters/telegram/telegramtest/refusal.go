package telegramtest

import (
	"fmt"
	"net/http"
	"time"
)

// refusal is an answer that isn't ok. The words are Telegram's own, because
// clients have nothing else to tell one 400 from another.
type refusal struct {
	code       int
	text       string
	retryAfter time.Duration // whole seconds
	migrateTo  int64
}

func badRequest(format string, args ...any) *refusal {
	return &refusal{code: http.StatusBadRequest, text: "Bad Request: " + fmt.Sprintf(format, args...)}
}

func forbidden(text string) *refusal {
	return &refusal{code: http.StatusForbidden, text: "Forbidden: " + text}
}

func conflict(text string) *refusal {
	return &refusal{code: http.StatusConflict, text: "Conflict: " + text}
}

func tooMany(retryAfter time.Duration) *refusal {
	seconds := wholeSeconds(retryAfter)
	return &refusal{
		code: http.StatusTooManyRequests, retryAfter: seconds,
		text: fmt.Sprintf("Too Many Requests: retry after %d", int(seconds.Seconds())),
	}
}

// complaint is what a parser has against a text, in Telegram's words: they begin
// with a capital.
type complaint string

func (c complaint) Error() string { return string(c) }

func complain(format string, args ...any) error {
	return complaint(fmt.Sprintf(format, args...))
}

// wholeSeconds rounds up: a client that waits what it's told must not come too
// early.
func wholeSeconds(d time.Duration) time.Duration {
	return max(time.Second, (d + time.Second - 1).Truncate(time.Second))
}

var (
	errUnauthorized = &refusal{code: http.StatusUnauthorized, text: "Unauthorized"}
	errNotFound     = &refusal{code: http.StatusNotFound, text: "Not Found"}
	errTooLarge     = &refusal{code: http.StatusRequestEntityTooLarge, text: "Request Entity Too Large"}
)
