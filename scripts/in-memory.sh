#!/bin/sh
# Runs a command whose temporary files are in memory, where that's possible, and
# removes them when it ends. Tests write some 7 GB in all, databases and programs: on
# a disk they take a third longer.
#
# usage: scripts/in-memory.sh COMMAND [ARGUMENT]...
#
# The files are on a file system that nobody else sees and that ends with the
# command. That needs Linux, root and 12 GB of free memory. Where one is missing, or
# TMPDIR is set, the command runs as it would without this script.
set -eu

needs=12582912 # KiB
size=8g

available() { awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || true; }

kib=$(available)
if [ -n "${TMPDIR:-}" ] || [ "$(id -u)" -ne 0 ] || [ "${kib:-0}" -lt "$needs" ]; then
	exec "$@"
fi
dir=$(mktemp -d /tmp/pbXXXX) # short: a socket's path has at most 108 bytes
trap 'rmdir "$dir"' EXIT
trap 'exit 130' INT TERM
in_memory() {
	unshare --mount sh -ec 'dir=$1 size=$2; shift 2; mount -t tmpfs -o "size=$size,mode=1777" tmpfs "$dir"; exec "$@"' sh "$dir" "$size" "$@"
}
if in_memory true 2>/dev/null; then
	TMPDIR=$dir in_memory "$@"
else
	"$@"
fi
