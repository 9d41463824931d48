#!/bin/sh
# Fails if `make generate` changes a file. What counts is the state before and
# after, so it works with uncommitted changes too.
set -eu

cd "$(dirname "$0")/.."

# Hash and name of every file that git tracks or would track.
state() {
	git ls-files --cached --others --exclude-standard | sort -u | while IFS= read -r file; do
		if [ -f "$file" ]; then
			printf '%s %s\n' "$(git hash-object --no-filters -- "$file")" "$file"
		fi
	done
}

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

state >"$tmp/before"
make --no-print-directory generate
state >"$tmp/after"

if ! cmp -s "$tmp/before" "$tmp/after"; then
	echo 'Generated files were out of date and have been written anew; look at them and commit them:' >&2
	# Lines that are in one state only, by name.
	sort "$tmp/before" "$tmp/after" | uniq -u | cut -d ' ' -f 2- | sort -u >&2
	exit 1
fi
