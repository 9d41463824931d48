#!/bin/bash
# Builds a release of the commit that's checked out twice, in two folders of different
# names at two times, and says of each archive, package, SBOM and list whether its bytes
# are the same. Exits 1 if any aren't.
#
# usage: scripts/same-bytes.sh [--only SYSTEM/PROCESSOR]
#
#   --only   what's for one of the systems
#
# The second build has a cache of its own, another time zone, another umask and a later
# time.
set -euo pipefail

cd "$(dirname "$0")/.."
only=()
while [ $# -gt 0 ]; do
	case $1 in
	--only)
		only=(--only "$2")
		shift
		;;
	*)
		sed -n 's/^# usage: /usage: /p' "$0" >&2
		exit 2
		;;
	esac
	shift
done
top=$PWD
work=$(mktemp -d "${TMPDIR:-/tmp}/same.XXXXXX")
trap 'chmod -R u+w "$work"; rm -rf "$work"' EXIT

# build FOLDER: a release of HEAD in a clone.
build() {
	git clone --quiet --no-hardlinks "$top" "$1"
	ln -s "$top/.cache" "$1/.cache"
	"$1/scripts/release.sh" "${only[@]}" --snapshot >"$1.log" 2>&1 || {
		tail -40 "$1.log" >&2
		exit 1
	}
}

# sums FOLDER: of all that people get. The list of artifacts and what goreleaser made of
# its configuration name folders and times, and are for nobody else.
sums() {
	(cd "$1/dist" && find . -type f ! -name artifacts.json ! -name config.yaml ! -name metadata.json -print0 | sort -z | xargs -0 sha256sum)
}

SECONDS=0
mkdir -p "$work/one" "$work/two/a longer path"
(umask 022 && build "$work/one/panebridge")
echo "the first build took $SECONDS s"
SECONDS=0
(
	umask 077
	export TZ=Asia/Kathmandu GOCACHE=$work/cache
	sleep 2
	build "$work/two/a longer path/p"
)
echo "the second build took $SECONDS s"

sums "$work/one/panebridge" >"$work/first"
sums "$work/two/a longer path/p" >"$work/second"
echo "$(wc -l <"$work/first") files, $(du -sh "$work/one/panebridge/dist" | cut -f 1)"
if ! diff "$work/first" "$work/second"; then
	echo 'the builds differ (see above)' >&2
	exit 1
fi
echo 'all files are the same'
