// Package probes answers /healthz and /readyz, for service managers, containers and monitoring.
//
// What lives here: a [Board], which asks the parts of a daemon one after the other whether they work and keeps what
// they answered, and a [Port], which serves that and the metrics to who has no access to the socket.
//
// What may not: any text that a part makes up. A reason is one of the constants of this package, so that no name of
// a session, no path and no secret gets out by a door without a lock.
package probes
