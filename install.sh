#!/bin/sh
# Installs panebridge for the user who runs this: the program, manual pages and
# completions. Needs no root, and changes nothing outside of the folders it names.
#
#   curl -fsSL https://github.com/panebridge/panebridge/releases/latest/download/install.sh | sh
#
# usage: install.sh [--version VERSION] [--prefix FOLDER] [--base-url URL]
#        install.sh --uninstall [--prefix FOLDER]
#
#   --version VERSION  such as v1.2.3, else the newest (or PANEBRIDGE_VERSION)
#   --prefix FOLDER    put all below it, as in /usr/local, else ~/.local/bin and
#                      your data folder (or PANEBRIDGE_PREFIX)
#   --base-url URL     a folder with checksums.txt and archives (or PANEBRIDGE_BASE_URL)
#   --uninstall        remove what this has installed; settings and logs stay
#
# Run again it upgrades. Nothing is put in place before the archive's sum is right, and
# the program is replaced in one step. A sum tells of a broken download, and no more: who
# can change the archives at that address can change the sums.

# A shell that reads this from a pipe runs nothing of it unless all of it has come.
{
	set -eu
	umask 022
	unset CDPATH

	releases=https://github.com/panebridge/panebridge/releases
	temporary=''
	staged=''
	ready=''

	say() { printf 'install: %s\n' "$*" >&2; }
	die() {
		say "$@"
		exit 1
	}
	wrong_usage() {
		say "$@"
		exit 2
	}
	have() { command -v "$1" >/dev/null 2>&1; }

	# shellcheck disable=SC2317 # the trap calls it
	clean_up() {
		[ -z "$temporary" ] || rm -rf "$temporary"
		[ -z "$staged" ] || rm -f "$staged"
		[ -z "$ready" ] || rm -f "$ready"
	}

	usage() {
		cat <<-'EOF'
			usage: install.sh [--version VERSION] [--prefix FOLDER] [--base-url URL]
			       install.sh --uninstall [--prefix FOLDER]

			Installs panebridge for the user who runs this; run again it upgrades.
			--version VERSION  such as v1.2.3, else the newest (or PANEBRIDGE_VERSION)
			--prefix FOLDER    put all below it, else ~/.local/bin and your data folder (or PANEBRIDGE_PREFIX)
			--base-url URL     a folder with checksums.txt and archives (or PANEBRIDGE_BASE_URL)
			--uninstall        remove what this has installed; settings and logs stay
		EOF
	}

	read_arguments() {
		version=${PANEBRIDGE_VERSION:-}
		prefix=${PANEBRIDGE_PREFIX:-}
		base=${PANEBRIDGE_BASE_URL:-}
		action=install
		while [ $# -gt 0 ]; do
			case $1 in
			--uninstall) action=uninstall ;;
			-h | --help)
				usage
				exit 0
				;;
			--version | --prefix | --base-url)
				[ $# -gt 1 ] || wrong_usage "$1 takes a value; --help says more"
				case $1 in
				--version) version=$2 ;;
				--prefix) prefix=$2 ;;
				--base-url) base=$2 ;;
				esac
				shift
				;;
			*) wrong_usage "$1 isn't known; --help says what is" ;;
			esac
			shift
		done
		case $version in
		'') ;;
		*[!0-9A-Za-z.+-]* | *..* | .*) wrong_usage "$version is no version: it's such as v1.2.3" ;;
		v*) ;;
		*) version=v$version ;;
		esac
		if [ -z "$base" ]; then
			base=$releases/latest/download
			[ -z "$version" ] || base=$releases/download/$version
		fi
		base=${base%/}
		# What comes over plain HTTP can be anybody's, and so can the sums.
		case $base in
		https://*) ;;
		http://*@*) wrong_usage "$base isn't https://" ;;
		http://127.0.0.1 | http://127.0.0.1[:/]* | http://localhost | http://localhost[:/]* | 'http://[::1]' | 'http://[::1]'[:/]*) ;;
		*) wrong_usage "$base isn't https://" ;;
		esac
	}

	find_folders() {
		home=${HOME:-}
		if [ -n "$prefix" ]; then
			case $prefix in
			/*) ;;
			*) prefix=$(pwd)/$prefix ;;
			esac
			bin=$prefix/bin
			data=$prefix/share
			fish=$data/fish/vendor_completions.d
		else
			case $home in
			/*) ;;
			*) die "HOME isn't a folder: set it, or give --prefix" ;;
			esac
			bin=$home/.local/bin
			data=${XDG_DATA_HOME:-}
			case $data in
			/*) ;;
			*) data=$home/.local/share ;; # the standard has others ignored
			esac
			fish=$data/fish/vendor_completions.d
		fi
		man=$data/man/man1
		bash=$data/bash-completion/completions
		zsh=$data/zsh/site-functions
		program=$bin/panebridge
		if [ -d "$program" ]; then
			die "$program is a folder: move it away, or give another --prefix"
		fi
	}

	find_system() {
		os=$(uname -s)
		arch=$(uname -m)
		case $os in
		Linux) system=linux ;;
		Darwin) system=darwin ;;
		FreeBSD) system=freebsd ;;
		*) die "there's no release for $os, only for Linux, macOS and FreeBSD" ;;
		esac
		case $arch in
		x86_64 | amd64) machine=amd64 ;;
		aarch64 | arm64) machine=arm64 ;;
		*) die "there's no release for $arch, only for amd64 and arm64. With Go: go install github.com/panebridge/panebridge/cmd/panebridge@latest" ;;
		esac
		# A shell under Rosetta is told that the machine is Intel's.
		if [ "$system-$machine" = darwin-amd64 ] && [ "$(sysctl -n sysctl.proc_translated 2>/dev/null || echo 0)" = 1 ]; then
			machine=arm64
		fi
	}

	# fetch_file URL FILE BYTES: the whole answer, or failure. An answer that stops is given up after
	# half a minute, one that doesn't end at that many bytes, one that comes by another protocol
	# than it was asked by at the end.
	fetch_file() {
		(
			# In blocks of 512 bytes, or of 1,024 in some shells.
			ulimit -f $(($3 / 512)) 2>/dev/null || true
			protocol=${1%%:*}
			if have curl; then
				exec curl -gfsSL --proto "=$protocol" --proto-redir "=$protocol" --connect-timeout 20 --speed-limit 100 --speed-time 30 -o "$2" "$1"
			elif have wget; then
				# GNU's would try twenty times; others don't know how to be told.
				once=''
				case $(wget --version 2>/dev/null || true) in *GNU*) once='-nv --tries=2' ;; esac
				if ! wget -S $once -T 30 -O "$2" "$1" 2>"$temporary/said"; then
					grep -v '^ ' "$temporary/said" >&2 || true
					exit 1
				fi
				if leads_elsewhere "$temporary/said" "$protocol"; then
					die "$1 leads to an address that isn't $protocol://"
				fi
				exit 0
			elif have fetch; then # FreeBSD's, which doesn't say where it was led
				exec fetch -q -T 30 -o "$2" "$1"
			fi
			die 'neither curl nor wget is here: install one of them'
		)
	}

	# leads_elsewhere FILE PROTOCOL: is there a redirect to another protocol among a server's headers?
	leads_elsewhere() {
		awk -v "want=$2" '
			tolower($1) == "location:" {
				at = tolower($2)
				if (at ~ /^[a-z][a-z0-9+.-]*:/ && index(at, want ":") != 1) found = 1
			}
			END { exit !found }
		' "$1"
	}

	# sum_of FILE prints its SHA-256 in hexadecimal digits.
	sum_of() {
		if have sha256sum; then
			sha256sum <"$1" | cut -d ' ' -f 1
		elif have shasum; then
			shasum -a 256 <"$1" | cut -d ' ' -f 1
		elif have sha256; then
			sha256 -q "$1"
		elif have openssl; then
			openssl dgst -sha256 -r <"$1" | cut -d ' ' -f 1
		else
			die 'none of sha256sum, shasum, sha256 and openssl is here, so the download cannot be checked'
		fi
	}

	# is_page FILE: is it a web page, as a proxy or a sign-in answers in place of a file?
	is_page() {
		head -c 512 "$1" | tr -d '\0' | grep -qi '<html\|<!doctype'
	}

	# choose_archive reads checksums.txt: the one archive for this system, and its sum.
	choose_archive() {
		found=$(awk -v "end=_${system}_$machine.tar.gz" '
			NF == 2 && length($1) == 64 && $1 !~ /[^0-9a-f]/ && $2 ~ /^panebridge_[0-9A-Za-z.+~-]+_[a-z]+_[a-z0-9]+\.tar\.gz$/ &&
				substr($2, length($2) - length(end) + 1) == end { print $1, $2 }
		' "$temporary/checksums.txt")
		case $found in
		'')
			! is_page "$temporary/checksums.txt" || die "$base/checksums.txt is a web page: is there a proxy or a sign-in between?"
			die "$base/checksums.txt has no archive for $system $machine"
			;;
		*"
"*) die "$base/checksums.txt has several archives for $system $machine: choose one by --version and its --base-url" ;;
		esac
		sum=${found%% *}
		archive=${found#* }
	}

	download() {
		temporary=$(mktemp -d "${TMPDIR:-/tmp}/panebridge.XXXXXX") || die "no temporary folder can be made in ${TMPDIR:-/tmp}"
		say "looking for $system $machine at $base"
		fetch_file "$base/checksums.txt" "$temporary/checksums.txt" 1000000 || die "$base/checksums.txt can't be fetched (see above): nothing was changed"
		choose_archive
		fetch_file "$base/$archive" "$temporary/$archive" 300000000 || die "$archive can't be fetched whole (see above): nothing was changed; try again"
		got=$(sum_of "$temporary/$archive")
		if [ "$got" != "$sum" ]; then
			! is_page "$temporary/$archive" || die "what came in place of $archive is a web page: is there a proxy or a sign-in between? Nothing was changed"
			die "$archive has another sum than checksums.txt says ($got instead of $sum): nothing was changed; try again"
		fi
		say "its sum is right: $archive"
		mkdir "$temporary/x"
		tar -xzf "$temporary/$archive" -C "$temporary/x" || die "$archive can't be unpacked (see above): nothing was changed"
		unpacked=$temporary/x/${archive%.tar.gz}
		for file in panebridge completions/panebridge.bash completions/panebridge.zsh completions/panebridge.fish man/man1/panebridge.1; do
			if [ ! -f "$unpacked/$file" ] || [ -L "$unpacked/$file" ]; then
				die "$archive has no $file: nothing was changed"
			fi
		done
	}

	# folder FOLDER makes one that files can be put into.
	folder() {
		mkdir -p "$1" 2>/dev/null || die "$1 can't be made: nothing was changed; give another --prefix"
		[ -w "$1" ] || die "$1 can't be written to: nothing was changed; give another --prefix"
	}

	# place FILE TARGET MODE puts a file in place in one step: a reader sees the old or the new.
	place() {
		staged=$(mktemp "${2%/*}/.panebridge.XXXXXX") || die "nothing can be made in ${2%/*}"
		cp "$1" "$staged" || die "$2 can't be written (is the disk full?)"
		chmod "$3" "$staged"
		mv -f "$staged" "$2"
		staged=''
	}

	# is_running: does a daemon of this user answer?
	is_running() {
		[ -x "$program" ] || return 1
		code=0
		"$program" status >/dev/null 2>&1 </dev/null || code=$?
		[ "$code" -eq 0 ] || [ "$code" -eq 4 ]
	}

	install_program() {
		find_system
		if [ -e "$program" ]; then
			before=$("$program" version 2>/dev/null </dev/null | cut -d ' ' -f 2) || before=''
		fi
		download
		for at in "$bin" "$man" "$bash" "$zsh" "$fish"; do
			folder "$at"
			# What runs that were killed have left.
			find "$at" -name '.panebridge.??????' -type f -mtime +0 -exec rm -f {} +
		done

		# Tried where it'll be: not every temporary folder may hold programs.
		ready=$(mktemp "$bin/.panebridge.XXXXXX") || die "nothing can be made in $bin"
		cp "$unpacked/panebridge" "$ready" || die "$bin can't be written to (is the disk full?): nothing was changed"
		chmod 755 "$ready"
		after=$("$ready" version </dev/null | cut -d ' ' -f 2) || after=''
		[ -n "$after" ] || die "the program in $archive doesn't run here (see above): nothing was changed"

		# With the pages of commands that are no more.
		rm -f "$man"/panebridge.1 "$man"/panebridge-*.1
		cp "$unpacked"/man/man1/panebridge*.1 "$man" || die "$man can't be written (is the disk full?)"
		chmod 644 "$man"/panebridge*.1
		place "$unpacked/completions/panebridge.bash" "$bash/panebridge" 644
		place "$unpacked/completions/panebridge.zsh" "$zsh/_panebridge" 644
		place "$unpacked/completions/panebridge.fish" "$fish/panebridge.fish" 644
		mv -f "$ready" "$program"
		ready=''

		if [ -n "${before:-}" ] && [ "$before" != "$after" ]; then
			say "upgraded $program from $before to $after"
		elif [ -n "${before:-}" ]; then
			say "installed $program anew, which was $after before"
		else
			say "installed panebridge $after as $program"
		fi
		say "manual pages are in $man, completions in $bash, $zsh and $fish"
		say_next
	}

	say_next() {
		if is_running; then
			say 'a daemon is running: it goes on as it was until you restart it. Its sessions go on meanwhile.'
		fi
		found=$(command -v panebridge || true)
		call=panebridge
		if [ -z "$found" ]; then
			call=$program
			say "$bin isn't in your PATH. Add this to your shell's profile: export PATH=\"$bin:\$PATH\""
		elif [ "$found" != "$program" ]; then
			call=$program
			say "another panebridge comes first in your PATH: $found"
		fi
		case ${SHELL:-} in
		*/zsh) say "for completions in zsh, add this to ~/.zshrc, before compinit: fpath=($zsh \$fpath)" ;;
		esac
		have tmux || say 'tmux is missing, and needed: install it by your package manager (3.2 or newer)'
		say "next: $call init"
	}

	remove_program() {
		if is_running; then
			die 'a daemon is running: stop it first. Nothing was changed'
		fi
		removed=''
		for file in "$program" "$man"/panebridge.1 "$man"/panebridge-*.1 "$bash/panebridge" "$zsh/_panebridge" "$fish/panebridge.fish"; do
			if [ -f "$file" ] || [ -L "$file" ]; then
				rm -f "$file" || die "$file can't be removed"
				removed=yes
			fi
		done
		if [ -z "$removed" ]; then
			die "there's no panebridge in $bin: if it was installed with --prefix, give that again"
		fi
		for at in "$bin" "$bash" "$zsh" "$fish"; do
			rm -f "$at"/.panebridge.??????
		done
		if [ -z "$prefix" ]; then # a prefix's folders are others', too
			rmdir "$man" "${man%/*}" "$bash" "${bash%/*}" "$zsh" "${zsh%/*}" "$fish" "${fish%/*}" "$home/.local/share" "$bin" 2>/dev/null || true
		fi
		say "removed panebridge from $bin, with its manual pages and completions"
		say "its state stays in ${PANEBRIDGE_STATE_DIR:-${XDG_STATE_HOME:-$home/.local/state}/panebridge}, its settings in ${XDG_CONFIG_HOME:-$home/.config}/panebridge"
		say 'hooks that "panebridge hooks install" wrote stay in the agents'"'"' settings: they call a program that is gone, and you can delete them'
	}

	main() {
		read_arguments "$@"
		find_folders
		trap clean_up EXIT
		trap 'exit 1' HUP INT TERM
		case $action in
		install) install_program ;;
		uninstall) remove_program ;;
		esac
	}

	main "$@"
	exit
}
