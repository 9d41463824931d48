package sessions

import (
	"errors"
	"fmt"
)

// Errors of this package; find them with errors.Is.
var (
	// ErrUnknown: there is no session (or receipt) of that id or name.
	ErrUnknown = errors.New("unknown")
	// ErrEnded: the session has ended; nothing can be typed into it.
	ErrEnded = errors.New("session has ended")
	// ErrConflict: the request contradicts what is (a second adoption, a name in use, a receipt already typed).
	ErrConflict = errors.New("conflict")
	// ErrInvalid: the request itself is wrong.
	ErrInvalid = errors.New("invalid")
	// ErrUnavailable: what is needed for it (a tmux server, the disk) isn't there at the moment.
	ErrUnavailable = errors.New("unavailable")
	// ErrUncertain: the connection was lost in between, so it's unknown whether it was done.
	ErrUncertain = errors.New("it's unknown whether it was done")
)

// RefusedError is an ErrConflict with its reason for people.
type RefusedError struct{ Why string }

// Error says that it's a conflict, and why.
func (e *RefusedError) Error() string { return ErrConflict.Error() + ": " + e.Why }

// Is reports whether target is ErrConflict.
func (e *RefusedError) Is(target error) bool { return target == ErrConflict }

// Refuse returns a RefusedError.
func Refuse(format string, args ...any) error {
	return &RefusedError{Why: fmt.Sprintf(format, args...)}
}
