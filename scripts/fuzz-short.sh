#!/bin/sh
# Runs every fuzz target of the module for a while, one after the other.
#
# usage: scripts/fuzz-short.sh [DURATION]     (10s)
set -eu

cd "$(dirname "$0")/.."

go=${GO:-go}
duration=${1:-10s}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# `go test -list` prints a package's targets, then "ok <package> <seconds>".
"$go" test -list '^Fuzz' ./... >"$tmp/list" || {
	cat "$tmp/list" >&2
	exit 1
}
awk '/^Fuzz/ { name[n++] = $1 }
     /^ok/   { for (i = 0; i < n; i++) print $2, name[i]; n = 0 }' "$tmp/list" >"$tmp/targets"

failed=0
while read -r package target; do
	echo "== $package $target for $duration"
	"$go" test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "$package" </dev/null || failed=1
done <"$tmp/targets"

echo "$(wc -l <"$tmp/targets" | tr -d ' ') fuzz targets"
exit $failed
