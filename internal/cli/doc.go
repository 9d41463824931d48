// Package cli is panebridge's command line: one file per command, named after
// it (sessions_new.go is `panebridge sessions new`).
//
// What lives here: parsing, printing, signals, exit codes, and what `doctor`
// looks at. Commands that need the daemon speak to it through
// internal/api/client; `run` and `demo` are the daemon, by way of internal/app.
//
// What may not: anything that another way into panebridge would need as well.
// That belongs behind the API.
//
// Results go to standard output, as text or, with --json, as JSON; everything
// else goes to standard error, errors as one sentence that says what to do.
// exit.go has the exit codes. Commands are made by constructor functions and
// share a program value; there are no globals.
package cli
