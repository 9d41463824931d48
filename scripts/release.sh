#!/bin/sh
# Makes a release of the commit that's checked out, in dist: archives, packages, a
# formula, SBOMs and checksums. Needs Go, git and make's tools.
#
# usage: scripts/release.sh [--only SYSTEM/PROCESSOR] [--snapshot] [ARGUMENT of goreleaser]...
#
# --only makes what's for one of the systems, such as linux/amd64, to try it.
# Without --snapshot the commit has a tag, and goreleaser makes a draft of the release
# with GITHUB_TOKEN.
set -eu

cd "$(dirname "$0")/.."

only=''
if [ "${1:-}" = --only ]; then
	only=$2
	shift 2
fi

goreleaser=$(scripts/tools.sh goreleaser)
sbom=$(scripts/tools.sh cyclonedx-gomod)
PATH=${sbom%/*}:$PATH
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export PATH SOURCE_DATE_EPOCH
# What's in the packages mustn't depend on who makes them.
umask 022
export TZ=UTC LC_ALL=C GOFLAGS='' GOAMD64=v1 GOARM64=v8.0 GOTOOLCHAIN=local

version=$(git describe --tags --exact-match 2>/dev/null || git rev-parse --short HEAD)
rm -rf bin/packaged
CGO_ENABLED=0 "${GO:-go}" run -trimpath -buildvcs=false ./cmd/pbdocs -version "$version" bin/packaged
# An apk has its scripts with the times that they have on the disk.
cp packaging/*.sh bin/packaged
touch -d "@$SOURCE_DATE_EPOCH" bin/packaged/*.sh
if [ -n "$only" ]; then
	mkdir -p bin
	sed "s|^    goos: .*|    goos: [${only%/*}]|; s|^    goarch: .*|    goarch: [${only#*/}]|" .goreleaser.yaml >bin/only.yaml
	set -- --config bin/only.yaml "$@"
fi
exec "$goreleaser" release --clean "$@"
