// Package api serves panebridge's HTTP API through two doors: a Unix socket
// for the command line, and a loopback TCP port for the page, whose browsers sign
// their requests.
//
// Both doors serve the same calls (routes.go). What the TCP door asks for in
// addition is in door.go, who may come by it in internal/browsers. Events are server-sent events: broker.go hears what
// happens to sessions, stream.go carries it to one client. A stream queues no
// payloads: it keeps a position in the output log and reads on from there when
// it's woken, so that a slow client costs no memory and loses nothing.
//
// The package knows the domain (sessions) and nothing else of panebridge; what
// it needs it declares in needs.go.
package api
