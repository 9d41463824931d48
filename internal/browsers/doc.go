// Package browsers decides which requests of browsers are the owner's. It knows three
// things:
//
//   - A one-time token (token.go) lets one browser in. It stands in the address that the
//     daemon prints, lives ten minutes at most, and dies with the daemon.
//   - Each browser has a key of its own (browsers.go): the page makes it, the browser
//     keeps it where no script can read it and no other port can use it, and the daemon
//     knows its public half. It's good for thirty days and is changed every week.
//   - Each request is signed with that key (signature.go), in one fixed form of HTTP
//     Message Signatures (RFC 9421). A signature holds for one request, to one address, of
//     one start of the daemon, once.
//
// So nothing that another server receives in the daemon's place is of any use to it
// later: it has seen no secret, and what was signed can't be sent again. A start has a
// random name that's part of what's signed. Without it a server that took the port could
// have an open page sign requests with times to come.
//
// The package does no I/O but by its Store, and speaks no HTTP but to read headers.
package browsers
