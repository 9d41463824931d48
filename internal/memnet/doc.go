// Package memnet serves handlers, on a listener or without any network at all:
// a Network joins clients and servers of one process by pipes instead of sockets,
// so that a test in a synctest bubble waits on nothing from outside it. The
// stand-ins for the platforms are served by it. Nothing of it is for production.
package memnet
