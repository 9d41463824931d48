#!/bin/sh
# Fetches the files of others that are kept in the tree anew from npm, and fails if one isn't what
# VENDORED.md says.
#
# usage: scripts/vendor.sh
#
# Each row of the table there has the file, its npm package with the version, where it is in the
# package, its licence and its SHA-256.
set -eu

cd "$(dirname "$0")/.."

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

sed -n 's/^| `\([^`]*\)` | `\([^`]*\)` | `\([^`]*\)` | [^|]* | `\([0-9a-f]*\)` |$/\1 \2 \3 \4/p' VENDORED.md >"$dir/list"
[ -s "$dir/list" ] || {
	echo "VENDORED.md has no row" >&2
	exit 1
}
while read -r file package path sum; do
	name=$(cd "$dir" && npm pack --silent --ignore-scripts "$package")
	tar -xzf "$dir/$name" -C "$dir"
	echo "$sum  $dir/package/$path" | sha256sum -c --quiet - || {
		echo "$package has another $path than VENDORED.md says" >&2
		exit 1
	}
	mkdir -p "$(dirname "$file")"
	cp "$dir/package/$path" "$file"
	rm -rf "$dir/package"
	echo "$file: $package"
done <"$dir/list"
