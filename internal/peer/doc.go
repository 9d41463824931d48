// Package peer tells whose a connection over the loopback interface is. A program of any
// user of a machine reaches a loopback port; the kernel knows which user that is. It knows
// the same of a Unix socket's other end.
package peer
