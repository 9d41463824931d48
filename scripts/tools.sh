#!/bin/sh
# Prints the path of a development tool, having installed it first if need be.
#
# usage: scripts/tools.sh golangci-lint|gofumpt|actionlint|goreleaser|cyclonedx-gomod|govulncheck
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
goreleaser)
	module=github.com/goreleaser/goreleaser/v2
	version=v2.16.0 # later ones need a module that not every proxy serves, or a newer Go
	note=' (some minutes, this once)'
	;;
cyclonedx-gomod)
	module=github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod
	version=v1.10.0
	note=''
	;;
govulncheck)
	module=golang.org/x/vuln/cmd/govulncheck
	version=v1.9.0
	note=''
	;;
*)
	sed -n 's/^# usage: /usage: /p' "$0" >&2
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
