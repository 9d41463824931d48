#!/bin/sh
# What a package says when it's removed: where the state is, which it leaves. dpkg calls
# it with what's done, rpm with how many are left, apk with the version.
set -eu

case ${1:-} in
upgrade | failed-upgrade | deconfigure | [1-9]) exit 0 ;;
esac

# state prints the folders that are there, of all users with a home.
state() {
	[ -r /etc/passwd ] || return 0
	while IFS=: read -r _ _ _ _ _ home _; do
		case $home in "" | /) continue ;; esac
		for folder in "$home/.local/state/panebridge" "$home/.config/panebridge"; do
			[ ! -d "$folder" ] || printf '  %s\n' "$folder"
		done
	done </etc/passwd
}

found=$(state | sort -u)
if [ -n "$found" ]; then
	printf 'panebridge: what it kept and its settings stay, for you to delete:\n%s\n' "$found"
else
	echo 'panebridge: nothing of it is left. What it would keep is in ~/.local/state/panebridge and ~/.config/panebridge of who ran it.'
fi
