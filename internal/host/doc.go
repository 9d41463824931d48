// Package host asks the machine about processes, terminals and connections. All that differs
// between systems lives here: what Linux has in /proc, what macOS and FreeBSD answer to
// sysctl(3) and proc_info, and what the three call differently.
//
// No other package reads /proc. Where a system doesn't tell something, the functions return a
// NotKnownError, which also says what follows from that; Facts has the whole table. What's
// written for macOS and FreeBSD is compiled and vetted on Linux, and hasn't run on either:
// docs/platforms.md says what has run where.
//
// Nothing here starts a program, and nothing keeps state. What's asked about a process is
// true of one moment: another may have its number a moment later, and Stat.Start tells them
// apart.
package host
