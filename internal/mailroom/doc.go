// Package mailroom carries the agents' mail and notices in a running daemon: it types previews into
// panes, shows people theirs in chats, and tells directors what becomes of their members. What mail
// is, and its rules, are in internal/inbox.
package mailroom
