// Package callers knows who calls the API: where the program at the other end of a connection was
// begun, and what people say to a call that comes from a session's own pane.
package callers
