// Package sessions is the domain: what a session is, what it prints, what is
// written and asked in it, and the Manager that owns their life cycle. How something is typed
// is package typing's.
//
// It imports nothing else of panebridge. What it needs from outside (a store,
// tmux panes, pollers) it declares here as small interfaces; internal/app
// wires the real ones in.
//
// Who owns what: Manager owns the registry of sessions (its mutex mu is never held
// during I/O); each Session's input is owned by one typist goroutine, which has
// its Hand type; lines, gaps and turns are owned by the output log
// (internal/store) and never kept in memory here.
package sessions
