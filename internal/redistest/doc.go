// Package redistest runs real Redis servers for tests and benchmarks: one by itself,
// with Sentinels and a replica, or a Cluster; paused, killed, started anew, and with a
// clock that can be moved (Debian's faketime). It's test code in ordinary files.
package redistest
