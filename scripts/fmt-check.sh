#!/bin/sh
# Fails if a Go file isn't formatted with gofumpt. The order of imports is
# checked by golangci-lint (gci).
set -eu

cd "$(dirname "$0")/.."

gofumpt=$(scripts/tools.sh gofumpt)
unformatted=$("$gofumpt" -l .)
if [ -n "$unformatted" ]; then
	echo "Not formatted; run \`make fmt\`:" >&2
	echo "$unformatted" >&2
	exit 1
fi
