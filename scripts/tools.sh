#!/bin/sh
# Prints the path of a development tool, having installed it first if need be.
#
# usage: scripts/tools.sh golangci-lint|gofumpt|actionlint
#
# The versions are pinned here and not by tool lines in go.mod, which would
# draw hundreds of modules into it. A tool is built by the Go that builds
# panebridge (golangci-lint refuses code for a newer Go than its own) and kept
# in .cache/tools under both versions, so that a change of either builds anew.
set -eu

cd "$(dirname "$0")/.."

case "${1:-}" in
golangci-lint)
	module=github.com/golangci/golangci-lint/v2/cmd/golangci-lint
	version=v2.15.0
	note=' (some minutes, this once)'
	;;
actionlint)
	module=github.com/rhysd/actionlint/cmd/actionlint
	version=v1.7.12
	note=''
	;;
gofumpt)
	module=mvdan.cc/gofumpt
	version=v0.12.0
	note=''
	;;
*)
	echo "usage: $0 golangci-lint|gofumpt|actionlint" >&2
	exit 2
	;;
esac

go=${GO:-go}
goversion=$("$go" env GOVERSION)
dir=$PWD/.cache/tools/$goversion/$1@$version

if [ ! -x "$dir/$1" ]; then
	echo "Installing $1 $version into .cache/tools$note" >&2
	GOBIN=$dir GOFLAGS='' GOTOOLCHAIN=$goversion "$go" install "$module@$version" >&2
fi
echo "$dir/$1"
