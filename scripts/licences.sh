#!/bin/sh
# Fails if a module in a release has a licence that isn't known to go with ours, or none
# that's found. Reads the SBOMs in dist; needs jq.
#
# usage: scripts/licences.sh [SBOM]...
set -eu

cd "$(dirname "$0")/.."
[ $# -gt 0 ] || set -- dist/*.cdx.json
[ -f "$1" ] || {
	echo "licences: there's no $1: make release-snapshot" >&2
	exit 1
}

# Each asks for its text to be passed on, and no more. MPL-2.0 holds for its own files.
known='["0BSD","Apache-2.0","BSD-2-Clause","BSD-3-Clause","BSL-1.0","CC0-1.0","ISC","MIT","MPL-2.0","Unlicense","Zlib"]'

# What the SBOM's program takes for another: these files were read. Go's own modules have
# Google's BSD-3-Clause, chroma has MIT.
read='{"golang.org/x/":"BSD-Source-Code","github.com/alecthomas/chroma/v2":"OFL-1.1-no-RFN"}'

wrong=$(jq -r --argjson known "$known" --argjson read "$read" '
	.components[] | select(.purl != null)
	| {name: "\(.name) \(.version)", licences: [(.evidence.licenses // .licenses // [])[] | .license.id // .license.name // .expression]}
	| .name as $name
	| [$read | to_entries[] | .key as $begins | select($name | startswith($begins)) | .value] as $misread
	| select(.licences == [] or (.licences - $known - $misread) != [])
	| "\(.name): \(if .licences == [] then "no licence was found" else .licences | join(", ") end)"
' "$@" | sort -u)
if [ -n "$wrong" ]; then
	printf 'Look at these, and add what is all right to %s:\n%s\n' "$0" "$wrong" >&2
	exit 1
fi
echo "licences: those of $(jq -s '[.[].components[].purl] | unique | length' "$@") modules go with ours"
