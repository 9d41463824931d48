// Package platformtest is what the tests of the chat platforms share that takes more of a
// daemon than a hub: what's inbound, a database, recordings of agents. A platform's tests
// bring its adapter, its stand-in, and what people see and do there; the suites here play
// the same on each. What takes a hub at most is in adaptertest.
package platformtest
