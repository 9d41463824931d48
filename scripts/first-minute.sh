#!/bin/sh
# Installs a release as somebody would who has a Debian with nothing on it, once by each
# way that docs/install.md names for it, until a message from a chat is answered; then
# removes it, and looks what's left. The chat is a stand-in. Needs root, and Debian's
# archive.
#
# usage: scripts/first-minute.sh [DIST]
#
#   DIST  the folder of a release, else dist, which is made if it isn't there
set -eu

cd "$(dirname "$0")/.."
dist=${1:-$PWD/dist}

scripts/install.sh debian
if [ ! -f "$dist/checksums.txt" ]; then
	scripts/release.sh --only "linux/$("${GO:-go}" env GOARCH)" --snapshot
fi
PANEBRIDGE_DIST=$(cd "$dist" && pwd) "${GO:-go}" test -count=1 -timeout 30m -run 'TestFirstMinute' -v ./internal/installtest
