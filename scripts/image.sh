#!/bin/sh
# Makes an OCI image of Debian's packages and ours, as one archive, without a container
# runtime and without an image to begin with. Beside it stand the list of its packages and
# its sum. Needs root, mmdebstrap, umoci, and Debian's archive.
#
# usage: scripts/image.sh [--mirror LINE]... [--twice] DEB FOLDER
#
#   --mirror LINE  where packages come from, as in apt's list of sources, else Debian's own
#                  archive and its security updates. A snapshot of it makes the same image
#                  at any time: deb [check-valid-until=no] http://snapshot.debian.org/…
#   --twice        make it twice, and fail if the bytes differ
#   DEB            a release's package, whose processor is this machine's
#   FOLDER         where the archive goes
set -eu

cd "$(dirname "$0")/.."
suite=trixie

wrong_usage() {
	sed -n 's/^# usage: /usage: /p' "$0" >&2
	exit 2
}
sources() {
	printf '%s\n' "deb http://deb.debian.org/debian $suite main" "deb http://deb.debian.org/debian $suite-updates main" \
		"deb http://security.debian.org/debian-security $suite-security main"
}

mirrors=''
twice=''
while [ $# -gt 2 ]; do
	case $1 in
	--mirror)
		mirrors="$mirrors$2
"
		shift
		;;
	--twice) twice=yes ;;
	*) wrong_usage ;;
	esac
	shift
done
if [ $# -ne 2 ] || [ ! -f "$1" ]; then wrong_usage; fi
package=$1
folder=$2
mkdir -p "$folder"

work=$(mktemp -d "${TMPDIR:-/tmp}/image.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
chmod 755 "$work" # apt's own user reads there

SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
umask 022
created=$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
commit=$(git rev-parse HEAD)
processor=$(dpkg-deb --field "$package" Architecture)
version=$(dpkg-deb --field "$package" Version)
name=panebridge_$(printf %s "$version" | tr '~' -)_linux_$processor
cp "$package" "$work/panebridge.deb"
[ -n "$mirrors" ] || mirrors=$(sources)
printf '%s\n' "$mirrors" | sed '/^$/d' >"$work/mirrors"
sources >"$work/sources"

# What's done in the image's root, as its packages are there. tini is its first process: it
# takes care of what agents leave running.
cat >"$work/finish" <<-'END'
	#!/bin/sh
	set -eu
	root=$1
	work=${0%/*}
	cp "$work/panebridge.deb" "$root/panebridge.deb"
	chroot "$root" dpkg --install /panebridge.deb
	rm "$root/panebridge.deb"
	cp "$work/sources" "$root/etc/apt/sources.list"
	chroot "$root" useradd --uid 1000 --create-home --shell /bin/bash panebridge
	home=/home/panebridge
	for folder in .config .config/panebridge .local .local/bin .local/state .local/state/panebridge; do
		chroot "$root" install -d -o 1000 -g 1000 -m 0755 "$home/$folder"
	done
	chmod 0700 "$root$home/.config/panebridge" "$root$home/.local/state/panebridge"
	chroot "$root" dpkg-query --show --showformat '${Package} ${Version} ${Architecture}\n' >"$work/packages"
	# What tells the time at which it was made, or on what.
	rm -f "$root"/etc/passwd- "$root"/etc/group- "$root"/etc/shadow- "$root"/etc/gshadow- "$root"/etc/subuid- "$root"/etc/subgid-
	rm -rf "$root"/var/log/* "$root"/var/cache/* "$root"/var/lib/apt/lists/* "$root"/var/lib/dpkg/*-old "$root"/tmp/* "$root"/run/*
	: >"$root/etc/machine-id"
END
chmod 755 "$work/finish"

# build OUT makes the archive.
build() {
	rm -rf "$work/root.tar" "$work/layout"
	mmdebstrap --quiet --mode=root --variant=minbase --include=tmux,ca-certificates,tini --architectures="$processor" \
		--dpkgopt='path-exclude=/usr/share/doc/*' --dpkgopt='path-include=/usr/share/doc/*/copyright' --dpkgopt='path-include=/usr/share/doc/panebridge/*' \
		--dpkgopt='path-exclude=/usr/share/locale/*' --dpkgopt='path-exclude=/usr/share/man/*' \
		--customize-hook="$work/finish \"\$1\"" \
		--customize-hook='rm -f "$1"/etc/apt/apt.conf.d/99mmdebstrap' \
		"$suite" "$work/root.tar" - <"$work/mirrors" >&2

	image=$work/layout:panebridge:$version_tag # the name that runtimes give it
	umoci init --layout "$work/layout"
	umoci new --image "$image"
	umoci raw add-layer --image "$image" --history.created "$created" --history.created_by "scripts/image.sh" "$work/root.tar"
	umoci config --image "$image" --no-history --created "$created" --architecture "$processor" --os linux \
		--config.user 1000:1000 --config.workingdir /home/panebridge \
		--config.entrypoint /usr/bin/tini --config.entrypoint -- --config.entrypoint /usr/bin/panebridge --config.cmd run \
		--config.env PATH=/home/panebridge/.local/bin:/usr/local/bin:/usr/bin:/bin --config.env HOME=/home/panebridge --config.env LANG=C.UTF-8 \
		--config.volume /home/panebridge/.config/panebridge --config.volume /home/panebridge/.local/state/panebridge \
		--config.stopsignal SIGTERM \
		--config.label org.opencontainers.image.title=panebridge --config.label "org.opencontainers.image.version=$version" \
		--config.label "org.opencontainers.image.revision=$commit" --config.label org.opencontainers.image.licenses=MIT \
		--config.label org.opencontainers.image.source=https://github.com/panebridge/panebridge \
		--config.label "org.opencontainers.image.base.name=debian:$suite" \
		--config.label "packages.sha256=$(sha256sum <"$work/packages" | cut -d ' ' -f 1)"
	umoci gc --layout "$work/layout"
	tar --sort=name --format=ustar --owner=0 --group=0 --numeric-owner --mode=u+rw,go+r,go-w,a+X --mtime="@$SOURCE_DATE_EPOCH" -C "$work/layout" -cf "$1" .
}

version_tag=$(printf %s "$version" | tr '~+' '--')
build "$work/one"
if [ -n "$twice" ]; then
	sleep 2
	build "$work/two"
	if ! cmp "$work/one" "$work/two"; then
		mkdir -p "$folder/differ"
		mv "$work/one" "$work/two" "$folder/differ"
		echo "image: two builds differ: see $folder/differ" >&2
		exit 1
	fi
	echo 'image: two builds have the same bytes' >&2
fi
mv "$work/one" "$folder/$name.oci.tar"
cp "$work/packages" "$folder/$name.packages.txt"
(cd "$folder" && sha256sum "$name.oci.tar" >"$name.oci.tar.sha256")
echo "$folder/$name.oci.tar"
