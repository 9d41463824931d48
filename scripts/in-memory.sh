#!/bin/sh
# Runs a command whose temporary files are in memory, where that's possible, and
# removes them when it ends. Tests write some 7 GB in all, databases and programs: on
# a disk they take a third longer.
#
# usage: scripts/in-memory.sh COMMAND [ARGUMENT]...
#
# The files are on a file system that nobody but the command sees, and that ends with
# it, at an empty folder: /mnt or /srv, as a socket's path has at most 103 bytes and
# /tmp is as short. That needs Linux, root and 12 GB of free memory. Where one is
# missing, or TMPDIR is set, the command runs as it would without this script.
set -eu

needs=12582912 # KiB

available() { awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || true; }

in_memory() {
	unshare --mount sh -ec 'mount -t tmpfs -o size=8g,mode=1777 tmpfs "$TMPDIR"; exec "$@"' sh "$@"
}

kib=$(available)
if [ -z "${TMPDIR:-}" ] && [ "$(id -u)" -eq 0 ] && [ "${kib:-0}" -ge "$needs" ]; then
	for TMPDIR in /mnt /srv; do
		export TMPDIR
		if [ -d "$TMPDIR" ] && [ -z "$(ls -A "$TMPDIR")" ] && in_memory true 2>/dev/null; then
			in_memory "$@"
			exit
		fi
	done
	unset TMPDIR
fi
exec "$@"
