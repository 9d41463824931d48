// Package service makes panebridge a service of the machine's service manager: systemd's
// units and launchd's property list, and what installs, removes and looks at them.
//
// A unit is a Go value (Unit, Agent) that's rendered whole; nothing edits the text of one
// that's there. Under systemd there are two units. panebridge.service is the daemon, with
// its hardening. panebridge-tmux.service starts tmux servers for it, has no hardening, and
// when it stops, what it started goes on: so agents outlive whatever becomes of the daemon,
// and nothing that was taken from the daemon is missing in them.
//
// What an installation does is a list of steps, each with its opposite: the first that
// fails has those before it undone. It calls systemctl, loginctl and launchctl by a Caller,
// and knows nothing of the daemon but its command line.
package service
